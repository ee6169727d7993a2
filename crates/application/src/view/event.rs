//! Activity events with their authors, titles and notes, in a bounded number of queries.

use std::collections::HashMap;

use hexforge_domain::event::{Event, EventTarget};
use hexforge_domain::id::{MilestoneId, NoteId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::note::Noteable;
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
    /// The number in its project of the issue or merge request that the event is about.
    pub number: Option<i64>,
}

/// The kinds of event targets, as feeds show them.
pub mod kind {
    /// An issue.
    pub const ISSUE: &str = "Issue";
    /// A merge request.
    pub const MERGE_REQUEST: &str = "MergeRequest";
    /// A note.
    pub const NOTE: &str = "Note";
    /// A note on a line of a commit's diff.
    pub const DIFF_NOTE: &str = "LegacyDiffNote";
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
        let note = event.target.as_ref().and_then(note_of);
        let note = note.and_then(|id| notes.remove(&id));
        if let Some(target) = &mut event.target
            && let Some(title) = titles.current(target)
        {
            target.title = Some(title);
        }
        let number = event.target.as_ref().and_then(|target| titles.number(target));
        Some(EventView { event, author, note, number })
    };
    Ok(Paged { items: events.into_iter().filter_map(view).collect(), total })
}

/// Returns the id of the target if it has this kind.
fn id_of_kind(target: &EventTarget, kind: &str) -> Option<i64> {
    target.id.filter(|_| target.kind == kind)
}

/// Returns the note that is the target.
fn note_of(target: &EventTarget) -> Option<NoteId> {
    let id = id_of_kind(target, kind::NOTE).or_else(|| id_of_kind(target, kind::DIFF_NOTE));
    id.map(NoteId)
}

/// The current titles of event targets, and the numbers of issues and merge requests.
struct Titles {
    issuables: HashMap<Issuable, (String, i64)>,
    milestones: HashMap<MilestoneId, String>,
}

impl Titles {
    fn load(tx: &mut dyn Tx, events: &[Event]) -> Result<Self, StoreError> {
        let targets = || events.iter().filter_map(|event| event.target.as_ref());
        let issuable = |target: &EventTarget| target.belongs_to.and_then(Noteable::issuable);
        let issues = sorted_unique(targets().filter_map(|target| issuable(target)?.issue()));
        let issues = tx.issues().find_all(&issues)?;
        let issues = issues.into_iter().map(|issue| {
            let title = issue.title.as_str().to_owned();
            (issue.id.into(), (title, issue.iid))
        });
        let merge_requests =
            sorted_unique(targets().filter_map(|target| issuable(target)?.merge_request()));
        let merge_requests = tx.merge_requests().find_all(&merge_requests)?;
        let merge_requests = merge_requests.into_iter().map(|merge_request| {
            let title = merge_request.title.as_str().to_owned();
            (merge_request.id.into(), (title, merge_request.iid))
        });
        let milestones = targets().filter_map(|target| id_of_kind(target, kind::MILESTONE));
        let milestones: Vec<MilestoneId> = milestones.map(MilestoneId).collect();
        let milestones = tx.milestones().find_all(&milestones)?;
        Ok(Self {
            issuables: issues.chain(merge_requests).collect(),
            milestones: (milestones.into_iter())
                .map(|milestone| (milestone.id, milestone.title.as_str().to_owned()))
                .collect(),
        })
    }

    fn current(&self, target: &EventTarget) -> Option<String> {
        match target.belongs_to {
            Some(on) => self.issuables.get(&on.issuable()?).map(|(title, _)| title.clone()),
            None => {
                let id = id_of_kind(target, kind::MILESTONE)?;
                self.milestones.get(&MilestoneId(id)).cloned()
            }
        }
    }

    fn number(&self, target: &EventTarget) -> Option<i64> {
        let found = self.issuables.get(&target.belongs_to?.issuable()?);
        found.map(|(_, number)| *number)
    }
}

fn load_notes(tx: &mut dyn Tx, events: &[Event]) -> Result<HashMap<NoteId, NoteView>, StoreError> {
    let targets = events.iter().filter_map(|event| event.target.as_ref());
    let ids: Vec<NoteId> = targets.filter_map(note_of).collect();
    let found = tx.notes().find_all(&ids)?;
    let views = note::page(tx, Paged { items: found, total: 0 })?;
    Ok(views.items.into_iter().map(|view| (view.note.id, view)).collect())
}
