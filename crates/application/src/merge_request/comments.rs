//! Comments: the old form of notes on merge requests.

use hexforge_domain::id::MergeRequestId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::project::ProjectRef;

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::note::{self, NoteFields, NoteOutcome};
use crate::view::note::NoteView;

/// Lists the notes on a merge request, oldest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
    page: Page,
) -> Result<Paged<NoteView>, Error> {
    require_read(app, actor, named, id)?;
    note::list(app, actor, named, id.into(), page)
}

/// Writes a note on a merge request.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
    fields: &NoteFields,
) -> Result<NoteOutcome, Error> {
    require_read(app, actor, named, id)?;
    note::create(app, actor, named, id.into(), fields)
}

/// Returns an error unless the actor may read the merge request. Comments report that with another status than notes.
fn require_read(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
) -> Result<(), Error> {
    access::own_account(actor)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        tracker.merge_request(tx, MergeRequestAbility::Read, id).map(drop)
    })
}
