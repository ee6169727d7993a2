//! The JSON form of comments on commits in the outbox.

use hexforge_domain::commit::ObjectId;
use hexforge_domain::outbox::commit_note::CommitNoteEvent;
use hexforge_domain::outbox::project::{NoteRow, Person, ProjectCard};
use hexforge_domain::pipeline::CommitFacts;
use hexforge_domain::repository::{ChangedLine, FileDiff};

use crate::database::json::stored;

stored! {
    CommitNoteEvent {
        user: Person,
        project: ProjectCard,
        note: NoteRow,
        commit: ObjectId,
        facts: CommitFacts,
        #[serde(default)] line: Option<ChangedLine>,
    }

    ChangedLine {
        old: u32,
        new: u32,
        diff: FileDiff,
    }

    FileDiff {
        old_path: String,
        new_path: String,
        #[serde(default)] old_mode: Option<u32>,
        #[serde(default)] new_mode: Option<u32>,
        renamed: bool,
        text: String,
        too_large: bool,
    }
}
