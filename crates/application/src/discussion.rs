//! The discussion of an issue, a merge request or a snippet as its page shows it.

use hexforge_domain::award::Award;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::tracker::NoteAbility;
use hexforge_domain::ports::store::Tx;

use crate::access::tracker::Tracker;
use crate::error::Error;
use crate::note::subject::Subject;
use crate::view::award::{self as award_view, AwardView};
use crate::view::note::{self as note_view, NoteView};

/// The maximum number of awards that a page shows.
const MANY_AWARDS: Page = Page::Numbered { number: 1, size: 100 };

/// The notes and awards of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discussion {
    /// The notes, oldest first.
    pub notes: Paged<DiscussionNote>,
    /// The awards of the subject itself, oldest first.
    pub awards: Vec<AwardView>,
}

/// A note, and what the actor may do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscussionNote {
    pub view: NoteView,
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
        let notes = notes.map(|view| DiscussionNote {
            may_update: may(NoteAbility::Update, &view),
            may_delete: may(NoteAbility::Delete, &view),
            view,
        });
        let awards: Paged<Award> = tx.awards().list(subject.awardable(), MANY_AWARDS)?;
        Ok(Self { notes, awards: award_view::page(tx, awards)?.items })
    }
}
