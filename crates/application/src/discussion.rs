//! The discussion of an issue, a merge request or a snippet as its page shows it.

use hexforge_domain::award::{Award, Awardable};
use hexforge_domain::id::{NoteId, TodoId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::tracker::NoteAbility;
use hexforge_domain::ports::store::{StoreError, Tx};

use crate::access::tracker::Tracker;
use crate::error::Error;
use crate::note::subject::Subject;
use crate::view::award::{self as award_view, AwardView};
use crate::view::note::{self as note_view, NoteView};

/// The maximum number of awards that a page shows.
const MANY_AWARDS: Page = Page::Numbered { number: 1, size: 100 };

/// The maximum number of awards of all notes on a page.
const MANY_AWARDS_OF_NOTES: u32 = 1000;

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
        let of_notes = awards_of_notes(tx, &notes.items)?;
        let awards_of = |view: &NoteView| {
            let on = Awardable::Note(view.note.id);
            of_notes.iter().filter(|award| award.award.on == on).cloned().collect()
        };
        let notes = notes.map(|view| DiscussionNote {
            awards: awards_of(&view),
            may_update: may(NoteAbility::Update, &view),
            may_delete: may(NoteAbility::Delete, &view),
            view,
        });
        let awards: Paged<Award> = tx.awards().list(subject.awardable(), MANY_AWARDS)?;
        let todo = match (tracker.requester.actor.user(), subject.id().issuable()) {
            (Some(user), Some(_)) => tx.todos().find_pending(user, subject.id())?,
            _ => None,
        };
        let awards = award_view::page(tx, awards)?.items;
        Ok(Self { notes, awards, todo: todo.map(|todo| todo.id) })
    }
}

fn awards_of_notes(tx: &mut dyn Tx, notes: &[NoteView]) -> Result<Vec<AwardView>, StoreError> {
    let notes = notes.iter().filter(|view| !view.note.system);
    let notes: Vec<NoteId> = notes.map(|view| view.note.id).collect();
    if notes.is_empty() {
        return Ok(vec![]);
    }
    let items = tx.awards().of_notes(&notes, MANY_AWARDS_OF_NOTES)?;
    let awards = Paged { total: items.len() as u64, items };
    Ok(award_view::page(tx, awards)?.items)
}
