//! The discussion of an issue, a merge request or a snippet as its page shows it.

use hexforge_domain::award::Awardable;
use hexforge_domain::id::{NoteId, TodoId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::tracker::NoteAbility;
use hexforge_domain::ports::store::Tx;

use crate::access::tracker::Tracker;
use crate::error::Error;
use crate::note::subject::Subject;
use crate::view::award::{self as award_view, AwardView};
use crate::view::note::{self as note_view, NoteView};

/// The maximum number of awards of the subject that a page shows. Of all notes there are ten times as many.
const MANY_AWARDS: u32 = 100;

/// The notes and awards of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discussion {
    /// The notes, oldest first.
    pub notes: Paged<DiscussionNote>,
    /// The awards of the subject itself, oldest first.
    pub awards: Vec<AwardView>,
    /// The pending todo of the actor for the subject.
    pub todo: Option<TodoId>,
}

/// A note, and what the actor may do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscussionNote {
    pub view: NoteView,
    /// The awards of the note, oldest first.
    pub awards: Vec<AwardView>,
    pub may_update: bool,
    pub may_delete: bool,
}

impl Discussion {
    /// Loads a page of the notes, and the awards. The caller has checked that the actor sees the subject.
    pub(crate) fn load(
        tx: &mut dyn Tx,
        tracker: &Tracker,
        subject: &Subject,
        page: Page,
    ) -> Result<Self, Error> {
        let reader = tracker.requester.note_reader()?;
        let notes = tx.notes().list(subject.id(), reader, page)?;
        let notes = note_view::page(tx, notes)?;
        let may = |ability, view: &NoteView| {
            tracker.require_for_note(ability, subject.facts(tracker), &view.note).is_ok()
        };
        let noted = notes.items.iter().filter(|view| !view.note.system);
        let noted: Vec<NoteId> = noted.map(|view| view.note.id).collect();
        let items = tx.awards().of_discussion(subject.awardable(), &noted, MANY_AWARDS)?;
        let awards = award_view::page(tx, Paged { total: items.len() as u64, items })?.items;
        let awards_of =
            |on: Awardable| awards.iter().filter(|award| award.award.on == on).cloned().collect();
        let notes = notes.map(|view| DiscussionNote {
            awards: awards_of(Awardable::Note(view.note.id)),
            may_update: may(NoteAbility::Update, &view),
            may_delete: may(NoteAbility::Delete, &view),
            view,
        });
        let awards = awards_of(subject.awardable());
        let todo = match (tracker.requester.actor.user(), subject.id().issuable()) {
            (Some(user), Some(_)) => tx.todos().find_pending(user, subject.id())?,
            _ => None,
        };
        Ok(Self { notes, awards, todo: todo.map(|todo| todo.id) })
    }
}
