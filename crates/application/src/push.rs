//! Changing branches and tags, by whatever way: the rules before, and everything that follows.
//!
//! Refs and rows cannot be changed in one step. The change of the refs is noted on disk first, with who made
//! it; then the rows are written; then the note goes. What a crash leaves between is recorded by
//! [`settle_all`] at the next start, or before the next change of the same repository.

mod received;
mod told;

use std::fmt;

use hexforge_domain::branch::protection::{DeveloperRights, Protection};
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
    let facts = facts(app, actor, project, repository)?;
    for change in changes {
        let action = action(repository, change)?;
        if let Err(refusal) = facts.check(&RefKind::of(&change.name), action) {
            return Ok(Pushed::Declined(refusal));
        }
    }
    make(app, actor, project, repository, changes)?;
    Ok(Pushed::Done)
}

/// Changes one ref without asking the rules for pushes: removing a tag through the interface has its own.
pub(crate) fn unchecked(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
    change: RefChange,
) -> Result<(), Error> {
    make(app, actor, project, repository, &[change])
}

fn make(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
    changes: &[RefChange],
) -> Result<(), Error> {
    let user = access::own_account(actor)?;
    settle(app, Some(project.id))?;
    let note = Note { user, had_branches: repository.has_branches()? };
    let key = repository.update(changes, &note.to_string())?;
    let recorded = record(app, project.id, note, &key, changes);
    finish(app, &key, recorded)
}

/// What has to be known of a change to record it, also after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Note {
    /// Who made it.
    user: UserId,
    /// Whether there were branches before.
    had_branches: bool,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.user, if self.had_branches { "" } else { FIRST })
    }
}

/// Ends the note of a change before which there was no branch.
const FIRST: &str = " first";

impl Note {
    fn parse(text: &str) -> Self {
        let (user, had_branches) = match text.strip_suffix(FIRST) {
            Some(user) => (user, false),
            None => (text, true),
        };
        Self { user: user.parse().map(UserId).unwrap_or(UserId(0)), had_branches }
    }
}

/// Records what processes that are gone left unrecorded.
pub fn settle_all(app: &App) -> Result<(), Error> {
    settle(app, None)
}

fn settle(app: &App, project: Option<ProjectId>) -> Result<(), Error> {
    for Unsettled { key, project, note, changes } in app.git.unsettled(project)? {
        let recorded = record(app, project, Note::parse(&note), &key, &changes);
        finish(app, &key, recorded)?;
    }
    Ok(())
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

/// Writes the rows that follow from a change: the lines of the feeds, the news for hooks, the default branch.
fn record(
    app: &App,
    project: ProjectId,
    note: Note,
    key: &ChangeKey,
    changes: &[RefChange],
) -> Result<(), Error> {
    let repository = app.git.open(project)?;
    let default = repository.default_branch()?;
    let changed: Vec<(RefChange, told::Told)> = changes
        .iter()
        .filter(|change| RefKind::of(&change.name) != RefKind::Other)
        .map(|change| {
            Ok((change.clone(), told::told(repository.as_ref(), default.as_ref(), change)?))
        })
        .collect::<Result<_, GitError>>()?;
    let now = app.clock.now();
    let first_default = default.as_ref().filter(|default| {
        let full = default.full();
        !note.had_branches
            && changes.iter().any(|change| change.name == full && change.old.is_none())
    });
    if let Some(default) = first_default {
        repository.set_head(default)?;
    }
    let rows = |tx: &mut dyn Tx| -> Result<(), Error> {
        // A project or user that is gone meanwhile needs no record.
        let Some(found) = tx.projects().lock(project)? else { return Ok(()) };
        let Some(user) = tx.users().find(note.user)? else { return Ok(()) };
        if !tx.settled_changes().record(key, now)? {
            return Ok(());
        }
        tx.projects().set_default_branch(project, default.as_ref())?;
        if let Some(default) = first_default {
            let developers = DeveloperRights::default();
            let protection = Protection { pattern: default.as_str().to_owned(), developers };
            tx.protections().put(project, &protection)?;
        }
        let found = Project { default_branch: default.clone(), ..found };
        let placed = view::placed(tx, found)?;
        if !changed.is_empty() {
            tx.projects().touch(project, now)?;
        }
        for (change, told) in &changed {
            let push = told::push(&placed, &user, change, told.clone());
            tx.events().insert(event(&push, now))?;
            tx.outbox().record(&SystemEvent::Pushed(Box::new(push)), now)?;
        }
        Ok(())
    };
    // The refs are changed already, so that trying again is for here and nobody else.
    let mut tries = 1;
    loop {
        match app.store.write(rows) {
            Err(Error::Store(StoreError::Busy)) if tries < TRIES => tries += 1,
            outcome => return outcome,
        }
    }
}

/// How often rows are written that others are in the way of.
const TRIES: u32 = 4;

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
        for had_branches in [true, false] {
            let note = Note { user: UserId(7), had_branches };
            assert_eq!(Note::parse(&note.to_string()), note);
        }
        assert_eq!(Note::parse("7"), Note { user: UserId(7), had_branches: true });
    }
}
