//! Changing branches and tags, by whatever way: the rules before, and everything that follows.
//!
//! Refs and rows cannot be changed in one step. The change of the refs is noted on disk first, with who made
//! it; then the rows are written; then the note goes. What a crash leaves between is recorded by
//! [`settle_all`] at the next start, or before the next change of the same repository.

mod closing;
mod note;
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
use hexforge_domain::push::{Push, Reach, RefKind};
use hexforge_domain::tag::Release;

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::issue::mentions::Others;
use crate::pipeline::{create, prepare};
use crate::project::avatar::FoundAvatar;
use crate::tag::release;
use crate::view::project as view;

use note::Note;
pub use received::{Client, receive};
use told::Detail;

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
type Beside<'a> = dyn Fn(&mut dyn Tx) -> Result<(), Error> + 'a;

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
    publishing(app, actor, project, repository, changes, None)
}

/// Like [`all`]; a release is published together with the record of the changes.
pub(crate) fn publishing(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
    changes: &[RefChange],
    release: Option<&Release>,
) -> Result<Pushed, Error> {
    let facts = facts(app, actor, project, repository)?;
    for change in changes {
        let action = action(repository, change)?;
        if let Err(refusal) = facts.check(&RefKind::of(&change.name), action) {
            return Ok(Pushed::Declined(refusal));
        }
    }
    make(app, actor, project, repository, changes, Way::Push, release)?;
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
    make(app, actor, project, repository, &[change], Way::TagRemoval, None)
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
    release: Option<&Release>,
) -> Result<(), Error> {
    let user = access::own_account(actor)?;
    settle(app, Some(project.id))?;
    let note = Note { user, way, release: release.cloned() };
    let key = repository.update(changes, &note.to_string())?;
    made(app, project.id, &note, &key, changes)
}

/// Records a change that is made, and forgets the note of it.
fn made(
    app: &App,
    project: ProjectId,
    note: &Note,
    key: &ChangeKey,
    changes: &[RefChange],
) -> Result<(), Error> {
    let mut tries = 1;
    let recorded = loop {
        match record_noted(app, project, note, key, changes, Detail::Full) {
            Err(Error::Store(StoreError::Busy)) if tries < TRIES => tries += 1,
            outcome => break outcome,
        }
    };
    match finish(app, key, recorded) {
        // It is made and noted, and will be recorded. Whoever tried all of it again would find it made.
        Err(Error::Store(StoreError::Busy)) => Ok(()),
        outcome => outcome,
    }
}

fn record_noted(
    app: &App,
    project: ProjectId,
    note: &Note,
    key: &ChangeKey,
    changes: &[RefChange],
    detail: Detail,
) -> Result<(), Error> {
    let beside = |tx: &mut dyn Tx| match &note.release {
        Some(release) => release::put(tx, project, release, app.clock.now()),
        None => Ok(()),
    };
    record(app, project, note.user, note.way, key, changes, detail, &beside)
}

/// Records what processes that are gone left unrecorded.
pub fn settle_all(app: &App) -> Result<(), Error> {
    // While the database is away nothing can be recorded, and what is left must not count it as a try.
    app.store.ready()?;
    settle(app, None)
}

/// How often the record of a change is tried with everything that is told of it.
const TRIES_IN_FULL: u32 = 5;

fn settle(app: &App, project: Option<ProjectId>) -> Result<(), Error> {
    let mut first = Ok(());
    for Unsettled { key, project, note, changes, tries } in app.git.unsettled(project)? {
        // Whatever it is that keeps it from being recorded, what follows from the change matters more.
        let detail = if tries < TRIES_IN_FULL { Detail::Full } else { Detail::Nothing };
        let note = Note::read(&note, &changes);
        let recorded = record_noted(app, project, &note, &key, &changes, detail);
        // One that cannot be recorded is left, and holds up no other.
        first = first.and(finish(app, &key, recorded));
    }
    first
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
#[expect(clippy::too_many_arguments, reason = "all that is known of a change")]
fn record(
    app: &App,
    project: ProjectId,
    user: UserId,
    way: Way,
    key: &ChangeKey,
    changes: &[RefChange],
    detail: Detail,
    beside: &Beside<'_>,
) -> Result<(), Error> {
    let repository = app.git.open(project)?;
    let repository = repository.as_ref();
    let default = shown_branch(repository, detail, None)?;
    let mut changed = told::all(app, repository, default.as_ref(), way, changes, detail)?;
    let new_default = default.as_ref().filter(|default| {
        let full = default.full();
        changes.iter().any(|change| change.name == full && change.old.is_none())
    });
    if let Some(default) = new_default {
        repository.set_head(default)?;
    }
    let prepared = match detail {
        Detail::Full => changes
            .iter()
            .map(|change| prepare::pushed(app, repository, change))
            .collect::<Result<Vec<_>, GitError>>()?,
        Detail::Nothing => vec![],
    };
    let reach = match way {
        Way::Push => Reach::Everywhere,
        Way::TagRemoval => Reach::Project,
    };
    let avatar = read_avatar(repository, detail, default.as_ref())?;
    let said = closing::said(&mut changed, default.as_ref(), &app.settings.external_url);
    let now = app.clock.now();
    app.store.write(|tx| {
        let user = tx.users().find(user)?;
        let (found, others) = match &user {
            Some(user) => said.locked(app, tx, user, project)?,
            None => (tx.projects().lock(project)?, Others::default()),
        };
        // A project that is gone meanwhile needs no record.
        let Some(found) = found else { return Ok(()) };
        if !tx.settled_changes().record(key, now)? {
            return Ok(());
        }
        // Others may have chosen another one until now; from here on they wait.
        let default = shown_branch(repository, detail, found.default_branch.as_ref())?;
        tx.projects().set_default_branch(project, default.as_ref())?;
        if let Some(default) = default.as_ref().filter(|default| new_default == Some(*default)) {
            protect(tx, project, default)?;
        }
        let avatar = match &avatar {
            Some(avatar) => {
                avatar.or_stored(repository, default.as_ref(), found.avatar.as_deref())?
            }
            None => found.avatar.clone(),
        };
        if avatar != found.avatar {
            tx.projects().set_avatar(project, avatar.as_deref())?;
        }
        let found = Project { default_branch: default, avatar, ..found };
        let placed = view::placed(tx, found)?;
        if !changed.is_empty() {
            tx.projects().touch(project, now)?;
        }
        for change in changes {
            note_ref(tx, project, change)?;
        }
        // Of what somebody did who is gone, nobody is told.
        if let Some(user) = user {
            for (change, told) in changed {
                let push = told::push(&placed, &user, &change, told, reach);
                tx.events().insert(event(&push, now))?;
                tx.outbox().record(&SystemEvent::Pushed(Box::new(push)), now)?;
            }
            for prepared in prepared.iter().flatten() {
                create::of_push(tx, &placed, &user, prepared, now)?;
            }
            said.act(app, tx, &user, &placed.project, &others, now)?;
        }
        beside(tx)
    })
}

/// What goes with a tag, and which pipelines are those of branches and tags that are there.
fn note_ref(tx: &mut dyn Tx, project: ProjectId, change: &RefChange) -> Result<(), StoreError> {
    let present = change.new.is_some();
    match RefKind::of(&change.name) {
        RefKind::Tag(tag) if !present => {
            tx.releases().remove(project, &tag)?;
            tx.pipelines().note_ref(project, true, tag.as_str(), false)
        }
        RefKind::Tag(tag) if change.old.is_none() => {
            tx.pipelines().note_ref(project, true, tag.as_str(), true)
        }
        RefKind::Branch(branch) if change.old.is_none() || !present => {
            tx.pipelines().note_ref(project, false, branch.as_str(), present)
        }
        RefKind::Branch(_) | RefKind::Tag(_) | RefKind::Other => Ok(()),
    }
}

/// The branch that is shown when none is asked for; where little is told, what cannot be read is as it was.
fn shown_branch(
    repository: &dyn Repository,
    detail: Detail,
    before: Option<&BranchName>,
) -> Result<Option<BranchName>, GitError> {
    match (repository.default_branch(), detail) {
        (Err(_), Detail::Nothing) => Ok(before.cloned()),
        (outcome, _) => outcome,
    }
}

/// The picture of the project; `None` where little is told and it cannot be read.
fn read_avatar(
    repository: &dyn Repository,
    detail: Detail,
    branch: Option<&BranchName>,
) -> Result<Option<FoundAvatar>, GitError> {
    match (FoundAvatar::read(repository, branch), detail) {
        (Err(_), Detail::Nothing) => Ok(None),
        (outcome, _) => outcome.map(Some),
    }
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
