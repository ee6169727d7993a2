//! Changing branches and tags, by whatever way: the rules before, and everything that follows.
//!
//! Refs and rows cannot be changed in one step. The change of the refs is noted on disk first, with who made
//! it; then the rows are written; then the note goes. What a crash leaves between is recorded by
//! [`settle_all`] at the next start, or before the next change of the same repository.

mod received;
mod told;

use hexforge_domain::branch::BranchName;
use hexforge_domain::branch::protection::{DeveloperRights, Protected, Protection};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::event::NewEvent;
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::{ProjectAbility, Standing};
use hexforge_domain::policy::push::{PushFacts, PushRefusal, RefAction};
use hexforge_domain::ports::git::{ChangeKey, GitError, RefChange, Repository, Unsettled};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::Project;
use hexforge_domain::push::{Push, RefKind};

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::pipeline::{create, prepare};
use crate::view::project as view;

pub use received::receive;

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It is made, recorded and on disk.
    Done,
    /// The rules do not allow it.
    Declined(PushRefusal),
}

/// How a change came, as far as what is told of it depends on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// As a push, or as what looks like one.
    Push,
    /// A tag was removed through the interface.
    TagRemoval,
}

/// What is stored together with the record of a change.
pub(crate) type Beside<'a> = dyn Fn(&mut dyn Tx) -> Result<(), Error> + 'a;

/// Changes one ref, if the rules for pushes allow it.
pub(crate) fn one(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
    change: RefChange,
) -> Result<Pushed, Error> {
    all(app, actor, project, repository, &[change])
}

/// Changes refs together, if the rules for pushes allow each.
pub fn all(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
    changes: &[RefChange],
) -> Result<Pushed, Error> {
    all_beside(app, actor, project, repository, changes, &|_| Ok(()))
}

/// Like [`all`]; what `beside` stores is stored with the record of the changes.
pub(crate) fn all_beside(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
    changes: &[RefChange],
    beside: &Beside<'_>,
) -> Result<Pushed, Error> {
    let facts = facts(app, actor, project, repository)?;
    for change in changes {
        let action = action(repository, change)?;
        if let Err(refusal) = facts.check(&RefKind::of(&change.name), action) {
            return Ok(Pushed::Declined(refusal));
        }
    }
    make(app, actor, project, repository, changes, Way::Push, beside)?;
    Ok(Pushed::Done)
}

/// Removes a tag without asking the rules for pushes: the interface has its own.
pub(crate) fn remove_tag(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
    change: RefChange,
) -> Result<(), Error> {
    make(app, actor, project, repository, &[change], Way::TagRemoval, &|_| Ok(()))
}

/// How often a change that is made is tried to be recorded while others are in the way.
const TRIES: u32 = 10;

fn make(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
    changes: &[RefChange],
    way: Way,
    beside: &Beside<'_>,
) -> Result<(), Error> {
    let user = access::own_account(actor)?;
    settle(app, Some(project.id))?;
    let key = repository.update(changes, &noted(user, way))?;
    made(app, project.id, user, way, &key, changes, beside)
}

/// Records a change that is made, and forgets the note of it.
fn made(
    app: &App,
    project: ProjectId,
    user: UserId,
    way: Way,
    key: &ChangeKey,
    changes: &[RefChange],
    beside: &Beside<'_>,
) -> Result<(), Error> {
    let mut tries = 1;
    let recorded = loop {
        match record(app, project, user, way, key, changes, beside) {
            // Whoever tried all of it again would find the change made already.
            Err(Error::Store(StoreError::Busy)) if tries < TRIES => tries += 1,
            outcome => break outcome,
        }
    };
    finish(app, key, recorded)
}

/// Records what processes that are gone left unrecorded.
pub fn settle_all(app: &App) -> Result<(), Error> {
    settle(app, None)
}

fn settle(app: &App, project: Option<ProjectId>) -> Result<(), Error> {
    for Unsettled { key, project, note, changes } in app.git.unsettled(project)? {
        let (user, way) = read_note(&note);
        let recorded = record(app, project, user, way, &key, &changes, &|_| Ok(()));
        finish(app, &key, recorded)?;
    }
    Ok(())
}

/// What is noted on disk of who changes something, and how.
fn noted(user: UserId, way: Way) -> String {
    match way {
        Way::Push => user.to_string(),
        Way::TagRemoval => format!("{user} {TAG_REMOVAL}"),
    }
}

const TAG_REMOVAL: &str = "removes a tag";

/// The opposite of [`noted`]. Who cannot be read is nobody.
fn read_note(note: &str) -> (UserId, Way) {
    let (user, way) = match note.split_once(' ') {
        Some((user, TAG_REMOVAL)) => (user, Way::TagRemoval),
        Some((user, _)) => (user, Way::Push),
        None => (note, Way::Push),
    };
    (UserId(user.parse().unwrap_or(0)), way)
}

/// Forgets the note of what is recorded; what could not be recorded is left for later.
fn finish(app: &App, key: &ChangeKey, recorded: Result<(), Error>) -> Result<(), Error> {
    match recorded {
        Ok(()) => Ok(app.git.settle(key)?),
        Err(error) => {
            app.git.leave(key);
            Err(error)
        }
    }
}

/// Writes the rows that follow from a change: the lines of the feeds, the news for hooks, the default branch,
/// the pipelines.
fn record(
    app: &App,
    project: ProjectId,
    user: UserId,
    way: Way,
    key: &ChangeKey,
    changes: &[RefChange],
    beside: &Beside<'_>,
) -> Result<(), Error> {
    let repository = app.git.open(project)?;
    let default = repository.default_branch()?;
    let changed: Vec<(RefChange, told::Told)> = changes
        .iter()
        .filter(|change| RefKind::of(&change.name) != RefKind::Other)
        .map(|change| {
            let told = told::told(repository.as_ref(), default.as_ref(), change)?;
            let told = match way {
                Way::Push => told,
                Way::TagRemoval => told.before_peeled(repository.as_ref())?,
            };
            Ok((change.clone(), told))
        })
        .collect::<Result<_, GitError>>()?;
    let new_default = default.as_ref().filter(|default| {
        let full = default.full();
        changes.iter().any(|change| change.name == full && change.old.is_none())
    });
    if let Some(default) = new_default {
        repository.set_head(default)?;
    }
    let prepared = changes
        .iter()
        .map(|change| prepare::pushed(app, repository.as_ref(), change))
        .collect::<Result<Vec<_>, GitError>>()?;
    let now = app.clock.now();
    app.store.write(|tx| {
        // A project or user that is gone meanwhile needs no record.
        let Some(found) = tx.projects().lock(project)? else { return Ok(()) };
        let Some(user) = tx.users().find(user)? else { return Ok(()) };
        if !tx.settled_changes().record(key, now)? {
            return Ok(());
        }
        tx.projects().set_default_branch(project, default.as_ref())?;
        if let Some(default) = new_default {
            protect(tx, project, default)?;
        }
        let found = Project { default_branch: default.clone(), ..found };
        let placed = view::placed(tx, found)?;
        if !changed.is_empty() {
            tx.projects().touch(project, now)?;
        }
        for (change, told) in &changed {
            if let (RefKind::Tag(tag), None) = (RefKind::of(&change.name), change.new) {
                tx.releases().remove(project, &tag)?;
            }
            let push = told::push(&placed, &user, change, told.clone());
            tx.events().insert(event(&push, now))?;
            tx.outbox().record(&SystemEvent::Pushed(Box::new(push)), now)?;
        }
        for prepared in prepared.iter().flatten() {
            create::of_push(tx, &placed, &user, prepared, now)?;
        }
        beside(tx)
    })
}

/// Protects a branch that became the default one, unless it is protected.
fn protect(tx: &mut dyn Tx, project: ProjectId, branch: &BranchName) -> Result<(), StoreError> {
    if Protected::of(branch.as_str(), &tx.protections().list(project)?).protected {
        return Ok(());
    }
    let developers = DeveloperRights::default();
    let protection = Protection { pattern: branch.as_str().to_owned(), developers };
    tx.protections().put(project, &protection)
}

fn event(push: &Push, at: hexforge_domain::Timestamp) -> NewEvent {
    NewEvent {
        project: push.project.id,
        author: push.user.id,
        action: push.action(),
        target: None,
        push: Some(Box::new(push.clone())),
        at,
    }
}

/// What the rules for pushes need to know.
pub fn facts(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
) -> Result<PushFacts, Error> {
    let first = !repository.has_branches()?;
    app.store.read(|tx| {
        let today = app.today();
        let push = access::check_project(tx, actor, ProjectAbility::PushCode, project, today);
        let may_push = match push {
            Ok(()) => true,
            Err(Error::Store(error)) => return Err(error.into()),
            Err(_) => false,
        };
        // Administrators have the level of their own memberships, too.
        let standing = match actor.user() {
            Some(user) => tx.projects().standing(project.id, user, today)?,
            None => Standing::default(),
        };
        let owner = standing.owner.then_some(AccessLevel::Master);
        Ok(PushFacts {
            may_push,
            admin: matches!(actor, Actor::Admin { .. }),
            level: standing.level.max(owner),
            first,
            protections: tx.protections().list(project.id)?,
        })
    })
}

fn action(repository: &dyn Repository, change: &RefChange) -> Result<RefAction, GitError> {
    Ok(match (change.old, change.new) {
        (None, _) => RefAction::Create,
        (Some(_), None) => RefAction::Delete,
        (Some(old), Some(new)) => {
            if repository.is_ancestor(old, new)? {
                RefAction::FastForward
            } else {
                RefAction::Force
            }
        }
    })
}

/// The name of what a ref was or is, in places where nothing has one too.
pub(crate) fn or_zero(id: Option<ObjectId>) -> ObjectId {
    id.unwrap_or(ObjectId::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_as_they_were_written() {
        for way in [Way::Push, Way::TagRemoval] {
            assert_eq!(read_note(&noted(UserId(7), way)), (UserId(7), way));
        }
        for strange in ["", "x", "7 does what nobody knows"] {
            assert_eq!(read_note(strange).1, Way::Push, "{strange}");
        }
    }
}
