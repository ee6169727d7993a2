//! The commits of a merge request, which it does not mention.

use hexforge_domain::commit::Commit;
use hexforge_domain::id::MergeRequestId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::merge_request::Ends;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;

use super::version::{self, VersionDraft};
use crate::app::App;
use crate::error::Error;
use crate::issue::mentions::NamedObjects;
use crate::repository::open;

/// Leaves out the commits of a stored request from what its texts name.
pub(crate) fn without(
    app: &App,
    actor: Actor,
    home: &ProjectRef,
    id: MergeRequestId,
    named: NamedObjects,
) -> Result<NamedObjects, Error> {
    if !named.has_commits() {
        return Ok(named);
    }
    let (request, version) = match version::find_newest(app, actor, home, id) {
        Ok(found) => found,
        Err(Error::Store(error)) => return Err(error.into()),
        // The actor may not see the request. The transaction reports that, unless the actor changes an own note.
        Err(_) => return Ok(named),
    };
    let Some(version) = version else { return Ok(named) };
    let repository = open::open_for(app, request.project(), Caller::new(actor, None))?;
    leave_out(named, version::read_commits(&*repository, &version.commits))
}

/// Like [`without`], for a request that is about to be created.
pub(super) fn without_draft(
    app: &App,
    named: NamedObjects,
    draft: &VersionDraft,
    ends: &Ends,
    caller: Caller,
) -> Result<NamedObjects, Error> {
    if !named.has_commits() {
        return Ok(named);
    }
    leave_out(named, draft.read_commits(app, ends.target_project, caller))
}

fn leave_out(named: NamedObjects, own: Result<Vec<Commit>, Error>) -> Result<NamedObjects, Error> {
    match own {
        Ok(own) => Ok(named.without(&own)),
        // Too many commits to tell which of them are named.
        Err(Error::Refused(_)) => Ok(named.without_commits()),
        Err(error) => Err(error),
    }
}
