//! Comments on lines: below their lines in a diff, and the names and links of these lines.

use std::collections::HashMap;

use hexforge_application::error::Error;
use hexforge_application::view::note::NoteView;
use hexforge_domain::merge_request::Version;
use hexforge_domain::note::{Note, NoteLine, NotePosition};
use hexforge_domain::repository::FileDiff;

use super::rows::{Kind, Line, Pair};
use super::{DiffView, FileChange, MAX_CONTENT};
use crate::address;
use crate::frame::Frame;
use crate::moment::{Moment, count};
use crate::pages::tracker::Person;
use crate::prose::Prose;
use crate::visible;

/// A comment that is shown below its line.
#[derive(Clone, Debug)]
pub(crate) struct LineNote {
    pub(super) id: i64,
    pub(super) author: Person,
    pub(super) at: Moment,
    pub(crate) body: Prose,
    /// The address of the comment in the discussion.
    pub(super) address: String,
    /// Whether the changes have a newer version: the line may be another one since.
    pub(super) is_of_earlier_version: bool,
    pub(crate) position: NotePosition,
}

impl LineNote {
    /// The comment of a note, if the note is on a line. `discussion` is the address of the discussion.
    pub(crate) fn new(
        view: &NoteView,
        body: Prose,
        frame: &Frame,
        discussion: &str,
    ) -> Option<Self> {
        let position = view.note.position.clone()?;
        Some(Self {
            id: view.note.id.0,
            author: Person::from(&view.author),
            at: frame.moment(view.note.created_at),
            body,
            address: format!("{discussion}#note_{}", view.note.id),
            is_of_earlier_version: false,
            position,
        })
    }

    /// Marks comments that are older than the newest version of the changes.
    #[must_use]
    pub(crate) fn mark_earlier(self, note: &Note, newest: Option<&Version>) -> Self {
        let is_earlier = newest.is_some_and(|version| note.created_at < version.created_at);
        Self { is_of_earlier_version: is_earlier, ..self }
    }
}

impl DiffView {
    /// Shows comments below their lines. Comments on lines that are not shown are left out.
    #[must_use]
    pub(crate) fn with_notes(mut self, notes: Vec<LineNote>) -> Self {
        let mut by_path: HashMap<String, Vec<LineNote>> = HashMap::new();
        for note in notes {
            by_path.entry(note.position.path.clone()).or_default().push(note);
        }
        for file in &mut self.files {
            if let Some(notes) = by_path.remove(&file.raw_path) {
                file.add_notes(notes, self.ignores_white_space);
            }
        }
        self
    }
}

impl FileChange {
    fn add_notes(&mut self, notes: Vec<LineNote>, ignores_white_space: bool) {
        if self.unfold.is_some() {
            self.folded_notes = Some(count(notes.len() as u64, "comment"));
            return;
        }
        let mut by_line: HashMap<NoteLine, Vec<LineNote>> = HashMap::new();
        for note in notes {
            by_line.entry(note.position.line).or_default().push(note);
        }
        // A line that stays is on both sides, and has its comments below the right one.
        let sides = self.pairs.iter_mut().flat_map(|Pair { left, right, .. }| {
            left.iter_mut().filter(|row| row.kind == "removed").chain(right)
        });
        for row in self.rows.iter_mut().chain(sides) {
            // Without its white space, a removed line may equal the added one, and both share a row.
            let is_removed = row.kind == "removed" || ignores_white_space;
            let removed = row.old.filter(|_| is_removed).map(|old| NoteLine::Removed(Some(old)));
            let lines = [removed, row.new.map(NoteLine::Added)];
            let found = lines.into_iter().flatten().filter_map(|line| by_line.remove(&line));
            row.notes = found.flatten().collect();
            row.notes.sort_by_key(|note| note.id);
        }
    }
}

/// The line of a comment as a discussion names and links it.
pub(crate) struct LinePlace {
    /// `src/main.rs:25`.
    pub(crate) name: String,
    pub(crate) is_removed: bool,
    /// The query of the page of the changes that shows the line, also if the file is folded there or the line is
    /// between its hunks.
    pub(crate) query: String,
}

impl From<&NotePosition> for LinePlace {
    fn from(position: &NotePosition) -> Self {
        let NotePosition { path, line } = position;
        let number = line.number().or(line.old_number());
        let number = number.map_or_else(String::new, |number| format!(":{number}"));
        let lines = line.number().map(|number| format!("{number}-{number}"));
        let lines = lines.as_deref().map(|lines| ("lines", lines));
        Self {
            name: visible::name(&format!("{path}{number}")),
            is_removed: matches!(line, NoteLine::Removed(_)),
            query: address::query([("file", path.as_str())].into_iter().chain(lines)),
        }
    }
}

/// Returns the text of a line with its sign. A line between the hunks is found in the new file, whose first bytes `read`
/// returns.
pub(crate) fn find_line(
    diffs: &[FileDiff],
    position: &NotePosition,
    read: impl FnOnce(&str, usize) -> Result<Option<Vec<u8>>, Error>,
) -> Result<Option<String>, Error> {
    let NotePosition { path, line } = position;
    let Some(diff) = diffs.iter().find(|diff| diff.new_path == *path) else { return Ok(None) };
    let is_wanted = |found: &Line| match *line {
        NoteLine::Added(number) => found.new == Some(number),
        NoteLine::Removed(Some(number)) => found.kind == Kind::Removed && found.old == Some(number),
        NoteLine::Removed(None) => false,
    };
    if let Some(found) = Line::parse(&diff.text, false).into_iter().find(is_wanted) {
        return Ok(Some(format!("{}{}", found.kind.sign(), visible::reveal(&found.text))));
    }
    let Some(skipped) = line.number().and_then(|number| number.checked_sub(1)) else {
        return Ok(None);
    };
    let content = read(path, MAX_CONTENT)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&content);
    let found = text.lines().nth(skipped as usize);
    Ok(found.map(|text| format!("{}{}", Kind::Same.sign(), visible::line(text))))
}
