//! Activity events with their authors, titles and notes, in a bounded number of queries.

use std::collections::HashMap;

use hexforge_domain::event::{Event, EventTarget};
use hexforge_domain::id::{IssueId, MilestoneId, NoteId};
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::User;

use super::note::{self, NoteView};
use super::user::load_users;

/// One entry of an activity feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventView {
    /// The event. The title of its target is the current one.
    pub event: Event,
    /// The author of the event.
    pub author: User,
    /// The note, if the event is about one.
    pub note: Option<NoteView>,
}

/// The kinds of event targets, as feeds show them.
pub mod kind {
    /// An issue.
    pub const ISSUE: &str = "Issue";
    /// A note.
    pub const NOTE: &str = "Note";
    /// A milestone.
    pub const MILESTONE: &str = "Milestone";
}

/// Loads the views of a page of events.
pub fn page(tx: &mut dyn Tx, events: Paged<Event>) -> Result<Paged<EventView>, StoreError> {
    let Paged { items: events, total } = events;
    let authors = load_users(tx, events.iter().map(|event| event.author))?;
    let titles = Titles::load(tx, &events)?;
    let mut notes = load_notes(tx, &events)?;
    // An event is deleted together with its author, so every author exists.
    let view = |mut event: Event| {
        let author = authors.get(&event.author)?.clone();
        let note = event.target.as_ref().and_then(|target| id_of_kind(target, kind::NOTE));
        let note = note.and_then(|id| notes.remove(&NoteId(id)));
        if let Some(target) = &mut event.target
            && let Some(title) = titles.current(target)
        {
            target.title = Some(title);
        }
        Some(EventView { event, author, note })
    };
    Ok(Paged { items: events.into_iter().filter_map(view).collect(), total })
}

/// Returns the id of the target if it has this kind.
fn id_of_kind(target: &EventTarget, kind: &str) -> Option<i64> {
    target.id.filter(|_| target.kind == kind)
}

/// The current titles of event targets.
struct Titles {
    issues: HashMap<IssueId, String>,
    milestones: HashMap<MilestoneId, String>,
}

impl Titles {
    fn load(tx: &mut dyn Tx, events: &[Event]) -> Result<Self, StoreError> {
        let targets = || events.iter().filter_map(|event| event.target.as_ref());
        let issues = sorted_unique(targets().filter_map(|target| target.issue));
        let issues = tx.issues().find_all(&issues)?;
        let milestones = targets().filter_map(|target| id_of_kind(target, kind::MILESTONE));
        let milestones: Vec<MilestoneId> = milestones.map(MilestoneId).collect();
        let milestones = tx.milestones().find_all(&milestones)?;
        Ok(Self {
            issues: issues.into_iter().map(|i| (i.id, i.title.as_str().to_owned())).collect(),
            milestones: (milestones.into_iter())
                .map(|milestone| (milestone.id, milestone.title.as_str().to_owned()))
                .collect(),
        })
    }

    fn current(&self, target: &EventTarget) -> Option<String> {
        match target.issue {
            Some(issue) => self.issues.get(&issue).cloned(),
            None => {
                let id = id_of_kind(target, kind::MILESTONE)?;
                self.milestones.get(&MilestoneId(id)).cloned()
            }
        }
    }
}

fn load_notes(tx: &mut dyn Tx, events: &[Event]) -> Result<HashMap<NoteId, NoteView>, StoreError> {
    let targets = events.iter().filter_map(|event| event.target.as_ref());
    let ids: Vec<NoteId> =
        targets.filter_map(|target| id_of_kind(target, kind::NOTE)).map(NoteId).collect();
    let found = tx.notes().find_all(&ids)?;
    let views = note::page(tx, Paged { items: found, total: 0 })?;
    Ok(views.items.into_iter().map(|view| (view.note.id, view)).collect())
}
