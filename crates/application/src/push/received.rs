//! Pushes of git clients.

use std::io::{Read, Write};

use hexforge_domain::limiter::Caller;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::push::PushRefusal;
use hexforge_domain::ports::git::Repository;
use hexforge_domain::ports::git_transport::{HangUp, ReceivedPush};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::push::RefKind;

use super::note::Note;
use super::{Way, facts, made, settle};
use crate::access;
use crate::app::App;
use crate::error::Error;

/// The two ends of the connection to a client that pushes.
pub struct Client<'a> {
    /// What the client sends.
    pub from: &'a mut dyn Read,
    /// Where the report goes.
    pub to: &'a mut dyn Write,
    /// Signaled when the client is gone; the push then ends without a change.
    pub hang_up: &'a HangUp,
}

/// Takes in a push, if the rules allow each change of it, and tells the client what became of it. The caller
/// was let in by [`may_push`](crate::git_access::may_push); that is asked again when everything is here.
pub fn receive(
    app: &App,
    actor: Actor,
    project: &Project,
    client: Client<'_>,
) -> Result<(), Error> {
    let Client { from, to, hang_up } = client;
    let repository = app.git.open_for(project.id, Caller::new(actor, None))?;
    let Some(mut push) = repository.receive(from, hang_up)? else { return Ok(()) };
    // Sending takes time: what is decided now is decided by what is there now.
    let repository = app.git.open(project.id)?;
    match refusal(app, actor, project, repository.as_ref(), push.as_ref())? {
        Some(refusal) => push.decline(&refusal.to_string()),
        None => take(app, actor, project, push.as_mut())?,
    }
    Ok(push.answer(to)?)
}

/// The first thing that the rules do not allow.
fn refusal(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
    push: &dyn ReceivedPush,
) -> Result<Option<PushRefusal>, Error> {
    // It may have been archived or removed meanwhile, and whoever pushes blocked or made less of.
    let found = app.store.read(|tx| {
        let project = tx.projects().find(&ProjectRef::Id(project.id))?;
        Ok::<_, Error>(project.zip(access::anew(tx, actor)?))
    })?;
    let Some((project, actor)) = found else { return Ok(Some(PushRefusal::Project)) };
    let facts = facts(app, actor, &project, repository)?;
    for change in push.changes() {
        let action = push.action(change)?;
        if let Err(refusal) = facts.check(&RefKind::of(&change.name), action) {
            return Ok(Some(refusal));
        }
    }
    Ok(None)
}

fn take(
    app: &App,
    actor: Actor,
    project: &Project,
    push: &mut dyn ReceivedPush,
) -> Result<(), Error> {
    let user = access::own_account(actor)?;
    settle(app, Some(project.id))?;
    let note = Note { user, way: Way::Push, release: None };
    match push.take(&note.to_string())? {
        Some((key, changes)) => made(app, project.id, &note, &key, &changes),
        None => Ok(()),
    }
}
