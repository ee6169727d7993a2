//! Branches and their protection.

pub mod merged;
pub mod protect;

use hexforge_domain::branch::protection::{Protected, Protection};
use hexforge_domain::branch::{Branch, BranchName};
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::{GitError, RefChange};
use hexforge_domain::project::{Project, ProjectHeader, ProjectRef};

use crate::app::App;
use crate::error::{Entity, Error, Missing, Refusal};
use crate::push::{self, PushOutcome};
use crate::repository::refs::names_containing;
use crate::repository::{self, open, sight};

/// A branch with its protection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchView {
    /// The branch.
    pub branch: Branch,
    /// The effective protection of the branch.
    pub protection: Protected,
}

impl BranchView {
    fn new(branch: Branch, protections: &[Protection]) -> Self {
        let protection = Protected::of(branch.name.as_str(), protections);
        Self { branch, protection }
    }
}

/// Lists the branches of a project, by name.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    page: Page,
) -> Result<Paged<BranchView>, Error> {
    let (project, protections) = project_to_read(app, actor, named)?;
    let branches = open::open_by_header(app, &project, Caller::BACKGROUND)?.branches(page)?;
    Ok(branches.map(|branch| BranchView::new(branch, &protections)))
}

/// Lists the branches of a project whose names contain a text, in any case of letters, by name.
pub fn search(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    text: &str,
    page: Page,
) -> Result<Paged<BranchView>, Error> {
    let (project, protections) = project_to_read(app, actor, named)?;
    let repository = open::open_by_header(app, &project, Caller::BACKGROUND)?;
    let found = page.slice(names_containing(repository.refs(), BranchName::FOLDER, text));
    let mut items = Vec::new();
    for name in found.items {
        if let Some(branch) = repository.branch(&BranchName::stored(name))? {
            items.push(BranchView::new(branch, &protections));
        }
    }
    Ok(Paged { items, total: found.total })
}

/// Returns one branch.
pub fn get(app: &App, actor: Actor, named: &ProjectRef, name: &str) -> Result<BranchView, Error> {
    let (project, protections) = project_to_read(app, actor, named)?;
    let missing = || Error::NotFound(Entity::Branch);
    let name = BranchName::parse(name).map_err(|_| missing())?;
    let repository = open::open_by_header(app, &project, Caller::BACKGROUND)?;
    let branch = repository.branch(&name)?.ok_or_else(missing)?;
    Ok(BranchView::new(branch, &protections))
}

/// Creates a branch at a branch, a tag or a commit.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    name: &str,
    from: &str,
) -> Result<BranchView, Error> {
    let project = project_to_push(app, actor, named)?;
    let name = BranchName::parse_new(name).map_err(|_| Error::Refused(Refusal::BranchName))?;
    let repository = repository::open(app, project.id)?;
    let exists = || Error::Refused(Refusal::BranchExists);
    if repository.refs().target(&name.full()).is_some() {
        return Err(exists());
    }
    let from = from.trim();
    let tip = sight::resolve(app, actor, project.id, repository.as_ref(), from)?;
    let tip = tip.ok_or(Error::Refused(Refusal::BranchStart))?;
    // Read before the change, so that no branch is created at a corrupt commit.
    let commit = repository.commit(tip)?.ok_or(GitError::Missing)?;
    let change = RefChange { name: name.full(), old: None, new: Some(tip) };
    let outcome = push::change_ref(app, actor, &project, repository.as_ref(), change);
    // A conflict: another request created the branch first, or the name is a folder of other branches.
    let conflict = Conflict { exists: exists(), missing: branch_conflict(&name) };
    conclude(app, project.id, &name.full(), outcome, conflict)?;
    let protections = app.store.read(|tx| tx.protections().list(project.id))?;
    Ok(BranchView::new(Branch { name, commit }, &protections))
}

/// Deletes a branch. Returns `Err(DeletionRefusal)` with the reason when the branch must not be deleted.
pub fn delete(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    name: &str,
) -> Result<Result<(), DeletionRefusal>, Error> {
    let project = project_to_push(app, actor, named)?;
    let missing = || Error::Missing(Missing::Branch);
    let name = BranchName::parse(name).map_err(|_| missing())?;
    let repository = repository::open(app, project.id)?;
    let tip = repository.refs().target(&name.full()).ok_or_else(missing)?;
    if repository.refs().default_branch().as_ref() == Some(&name) {
        return Ok(Err(DeletionRefusal::Default));
    }
    let protections = app.store.read(|tx| tx.protections().list(project.id))?;
    if Protected::of(name.as_str(), &protections).protected {
        return Ok(Err(DeletionRefusal::Protected));
    }
    let change = RefChange { name: name.full(), old: Some(tip), new: None };
    let outcome = push::change_ref(app, actor, &project, repository.as_ref(), change);
    // A conflict: another request moved or deleted the branch meanwhile.
    let conflict = Conflict { exists: branch_conflict(&name), missing: missing() };
    conclude(app, project.id, &name.full(), outcome, conflict).map(Ok)
}

/// The error when a concurrent change or another branch name prevents the change of a branch.
fn branch_conflict(name: &BranchName) -> Error {
    Error::Refused(Refusal::BranchMoved(name.to_string()))
}

/// Why a branch must not be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionRefusal {
    /// It is the default branch.
    Default,
    /// It is protected.
    Protected,
}

/// Maps a refusal of the push rules, for changes through the API.
pub(crate) fn push_refused(refusal: hexforge_domain::policy::push::PushRefusal) -> Error {
    Error::Refused(Refusal::Push(refusal))
}

/// The errors after a conflict, by whether the ref exists now.
pub(crate) struct Conflict {
    pub exists: Error,
    pub missing: Error,
}

/// Maps the outcome of the change of one ref through the API.
pub(crate) fn conclude(
    app: &App,
    project: ProjectId,
    name: &str,
    outcome: Result<PushOutcome, Error>,
    conflict: Conflict,
) -> Result<(), Error> {
    match outcome {
        Ok(PushOutcome::Done) => Ok(()),
        Ok(PushOutcome::Declined(refusal)) => Err(push_refused(refusal)),
        Err(Error::Git(GitError::Conflict(_))) => {
            let exists = repository::refs(app, project)?.target(name).is_some();
            Err(if exists { conflict.exists } else { conflict.missing })
        }
        Err(error) => Err(error),
    }
}

/// Returns the branch with this name.
pub(crate) fn find(app: &App, project: ProjectId, name: &str) -> Result<Branch, Error> {
    let missing = || Error::NotFound(Entity::Branch);
    let name = BranchName::parse(name).map_err(|_| missing())?;
    repository::open(app, project)?.branch(&name)?.ok_or_else(missing)
}

/// Returns the project and its protections, if the actor may read its code.
fn project_to_read(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
) -> Result<(ProjectHeader, Vec<Protection>), Error> {
    app.store.read_autocommit(|tx| {
        let code = ProjectAbility::DownloadCode;
        let project = app.requester(actor).project_header(tx, code, named)?;
        let protections = tx.protections().list(project.id)?;
        Ok((project, protections))
    })
}

/// Returns the project, if the actor may push to it.
pub(crate) fn project_to_push(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
) -> Result<Project, Error> {
    app.store.read(|tx| app.requester(actor).project(tx, ProjectAbility::PushCode, named))
}
