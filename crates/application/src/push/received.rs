//! Pushes of git clients.

use std::collections::HashMap;
use std::io::{Read, Write};

use hexforge_domain::limiter::Caller;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::push::{PushRefusal, RefAction};
use hexforge_domain::ports::git_transport::{DisconnectSignal, ReceivedPush};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::push::RefKind;
use hexforge_domain::refs::Snapshot;

use super::{ChangeKind, Outcome, RefUpdate, push_facts};
use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::repository::open;

/// The connection to a Git client that pushes.
pub struct Client<'a> {
    /// The stream from the client.
    pub from: &'a mut dyn Read,
    /// The stream to the client, for the report.
    pub to: &'a mut dyn Write,
    /// Signaled when the client has disconnected; the push then ends without a change.
    pub disconnected: &'a DisconnectSignal,
}

/// Receives a push, commits it if the push rules allow each change, and reports the outcome to the client.
/// [`may_push`](crate::git_access::may_push) has let the caller in; permissions are checked again after all data has
/// arrived.
pub fn receive(
    app: &App,
    actor: Actor,
    project: &Project,
    client: Client<'_>,
) -> Result<(), Error> {
    let Client { from, to, disconnected } = client;
    let repository = open::open_for(app, project.id, Caller::new(actor, None))?;
    let Some(mut push) = repository.receive(from, disconnected)? else { return Ok(()) };
    // Sending takes time, so the rules are checked against the current refs.
    let refs = open::refs(app, project.id)?;
    match check_rules(app, actor, project, &refs, push.as_ref())? {
        Err(refusal) => push.refuse_all(&refusal.to_string()),
        Ok(actions) => {
            if let Some(proposal) = push.store_objects(&refs)? {
                let (project, kind) = (project.id, ChangeKind::Push);
                let (release, merged) = (None, None);
                let update = RefUpdate { actor, project, proposal, actions, kind, release, merged };
                commit(app, update, &refs, push.as_mut())?;
            }
        }
    }
    Ok(push.write_report(to)?)
}

/// The actions of the changes by ref name, or the first refusal of the push rules.
type CheckedActions = Result<HashMap<String, RefAction>, PushRefusal>;

/// Checks the push rules before any object is stored. The transaction checks them again.
fn check_rules(
    app: &App,
    actor: Actor,
    project: &Project,
    refs: &Snapshot,
    push: &dyn ReceivedPush,
) -> Result<CheckedActions, Error> {
    // Since the push began, the project may have been archived or removed, and the user blocked or demoted.
    let facts = app.store.read(|tx| {
        let project = tx.projects().find(&ProjectRef::Id(project.id))?;
        match project.zip(access::reload(tx, actor)?) {
            Some((project, actor)) => {
                push_facts(app, tx, app.requester(actor), &project, refs).map(Some)
            }
            None => Ok(None),
        }
    })?;
    let Some(facts) = facts else { return Ok(Err(PushRefusal::Project)) };
    let mut actions = HashMap::new();
    for change in push.changes() {
        let action = push.action(change)?;
        if let Err(refusal) = facts.check(&RefKind::of(&change.name), action) {
            return Ok(Err(refusal));
        }
        actions.insert(change.name.clone(), action);
    }
    Ok(Ok(actions))
}

/// Commits the changes and passes the outcome to the push.
fn commit(
    app: &App,
    update: RefUpdate,
    refs: &Snapshot,
    push: &mut dyn ReceivedPush,
) -> Result<(), Error> {
    match update.commit(app, refs)? {
        Outcome::Declined(refusal) => push.refuse_all(&refusal.to_string()),
        Outcome::NoRoom => push.refuse_for_size(),
        Outcome::Ended(made, after) => push.set_outcomes(&made, after.as_deref().unwrap_or(refs)),
    }
    Ok(())
}
