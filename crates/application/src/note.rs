//! Notes on issues.

use hexforge_domain::Timestamp;
use hexforge_domain::event::EventAction;
use hexforge_domain::id::{IssueId, NoteId};
use hexforge_domain::issue::{Issue, mention};
use hexforge_domain::note::{NewNote, Note, NoteBody};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::{NoteAbility, TrackerAbility};
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::ProjectRef;

use crate::access;
use crate::access::tracker::{self, Tracker};
use crate::app::App;
use crate::error::{Error, Thing};
use crate::issue::activity::{self, About};
use crate::view::note::{self as view, NoteView};

/// The notes on an issue, oldest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    issue: IssueId,
    page: Page,
) -> Result<Paged<NoteView>, Error> {
    app.store.read(|tx| {
        let tracker = tracker::tracker(tx, actor, named, app.today())?;
        let issue = readable(tx, &tracker, issue, Thing::Notes)?;
        let notes = tx.notes().list(issue.id, page)?;
        Ok(view::page(tx, notes)?)
    })
}

/// One note.
pub fn get(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    issue: IssueId,
    id: NoteId,
) -> Result<NoteView, Error> {
    app.store.read(|tx| {
        let tracker = tracker::tracker(tx, actor, named, app.today())?;
        let issue = readable(tx, &tracker, issue, Thing::Note)?;
        let note = find(tx, &issue, id)?;
        Ok(view::one(tx, note)?)
    })
}

/// Writes a note, which is a change of the issue too.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    issue: IssueId,
    body: &str,
    created_at: Option<Timestamp>,
) -> Result<NoteView, Error> {
    let author = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = tracker::locked(tx, actor, named, app.today())?;
        let issue = readable(tx, &tracker, issue, Thing::Note)?;
        let body = NoteBody::parse(body)?;
        // Only owners may say when something was written.
        let created_at = created_at.filter(|_| tracker.allows(TrackerAbility::DeleteIssues));
        let now = app.clock.now();
        let created_at = created_at.unwrap_or(now);
        let (project, at) = (tracker.project.id, created_at);
        let new = NewNote { project, issue: issue.id, author, body, system: false, created_at, at };
        let note = tx.notes().insert(new)?;
        tx.issues().participate(issue.id, author)?;
        tx.issues().mention(issue.id, &mention::mentioned(note.body.as_str()))?;
        let issue = Issue { updated_at: now, ..issue };
        tx.issues().update(&issue)?;
        let about = About::Note(&note, &issue);
        activity::note(tx, author, EventAction::CommentedOn, about, now)?;
        activity::tell_note(tx, &tracker.project, &issue, &note, now)?;
        Ok(view::one(tx, note)?)
    })
}

/// Changes what a note says.
pub fn update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    issue: IssueId,
    id: NoteId,
    body: &str,
) -> Result<NoteView, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = tracker::locked(tx, actor, named, app.today())?;
        let issue = readable(tx, &tracker, issue, Thing::Note)?;
        let note = find(tx, &issue, id)?;
        tracker.require_for_note(NoteAbility::Update, &issue, &note)?;
        let body = NoteBody::parse(body)?;
        let note = Note { body, updated_by: Some(user), updated_at: app.clock.now(), ..note };
        tx.notes().update(&note)?;
        tx.issues().mention(issue.id, &mention::mentioned(note.body.as_str()))?;
        Ok(view::one(tx, note)?)
    })
}

/// Removes a note, and shows it as it was.
pub fn delete(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    issue: IssueId,
    id: NoteId,
) -> Result<NoteView, Error> {
    app.store.write(|tx| {
        let tracker = tracker::locked(tx, actor, named, app.today())?;
        let issue = readable(tx, &tracker, issue, Thing::Note)?;
        let note = find(tx, &issue, id)?;
        tracker.require_for_note(NoteAbility::Delete, &issue, &note)?;
        let shown = view::one(tx, note)?;
        tx.notes().delete(&shown.note)?;
        Ok(shown)
    })
}

/// The issue of an id. One that the actor does not see is told as the thing that was asked for.
fn readable(tx: &mut dyn Tx, tracker: &Tracker, id: IssueId, thing: Thing) -> Result<Issue, Error> {
    let issue = tx.issues().find(tracker.project.id, id)?;
    let issue = issue.ok_or(Error::NotFound(Thing::Record))?;
    if tracker.sees(&issue) { Ok(issue) } else { Err(Error::NotFound(thing)) }
}

fn find(tx: &mut dyn Tx, issue: &Issue, id: NoteId) -> Result<Note, Error> {
    tx.notes().find(issue.id, id)?.ok_or(Error::NotFound(Thing::Record))
}
