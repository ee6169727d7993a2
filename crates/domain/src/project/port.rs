//! The ports to everything that belongs to a project.

use chrono::NaiveDate;

use super::hook::{ProjectHook, ProjectHookSettings};
use super::query::ProjectFilter;
use super::share::{NewShare, Share};
use super::{
    CoverageExpression, NewProject, Project, ProjectGate, ProjectName, ProjectPath, ProjectRef,
    Starred,
};
use crate::Timestamp;
use crate::branch::BranchName;
use crate::id::{NamespaceId, ProjectHookId, ProjectId, UserId};
use crate::paging::{Page, Paged};
use crate::policy::project::Standing;
use crate::ports::store::StoreError;
use crate::text::Secret;

/// All projects.
pub trait Projects {
    /// The project a caller names. Of a path an exact match is preferred to one in another case.
    fn find(&mut self, named: &ProjectRef) -> Result<Option<Project>, StoreError>;

    /// The same project, and no more of it than that.
    fn gate(&mut self, named: &ProjectRef) -> Result<Option<ProjectGate>, StoreError>;

    /// Like [`find`](Self::find) by id; until the transaction ends nobody else changes or locks it.
    fn lock(&mut self, id: ProjectId) -> Result<Option<Project>, StoreError>;

    /// Locks several: their namespaces before all of them, and each from the lowest id to the highest, so that no two
    /// callers wait for each other. Those that are gone are left out.
    fn lock_all(&mut self, ids: &[ProjectId]) -> Result<Vec<Project>, StoreError>;

    /// The projects of these ids, in no particular order.
    fn find_all(&mut self, ids: &[ProjectId]) -> Result<Vec<Project>, StoreError>;

    /// Projects that fit the filter.
    fn list(&mut self, filter: &ProjectFilter, page: Page) -> Result<Paged<Project>, StoreError>;

    /// Everything that memberships and ownership give a user in a project on a day.
    fn standing(
        &mut self,
        project: ProjectId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<Standing, StoreError>;

    /// Those of several projects that a user is authorized for, in no particular order; see
    /// [`ProjectScope`](super::query::ProjectScope).
    fn authorized_among(
        &mut self,
        user: UserId,
        projects: &[ProjectId],
        today: NaiveDate,
    ) -> Result<Vec<ProjectId>, StoreError>;

    /// The projects in a namespace that have exactly that name, or that path ignoring case.
    fn clashing(
        &mut self,
        namespace: NamespaceId,
        name: &ProjectName,
        path: &ProjectPath,
    ) -> Result<Vec<Project>, StoreError>;

    /// How many projects are in a namespace.
    fn count_in(&mut self, namespace: NamespaceId) -> Result<u64, StoreError>;

    /// How many projects are in the personal namespaces of several users; who has none may be left out. It costs the
    /// same however many there are.
    fn count_personal(&mut self, owners: &[UserId]) -> Result<Vec<(UserId, u64)>, StoreError>;

    /// Makes a project that is not archived and has no stars; the forks of its source are one more.
    /// # Errors
    /// [`StoreError::Duplicate`]`("name")` or `("path")` when the namespace has such a project; see
    /// [`clashing`](Self::clashing).
    fn insert(&mut self, new: NewProject) -> Result<Project, StoreError>;

    /// Returns whether a project was made as a fork, so that its repository began as a copy. It stays so when the
    /// project is no longer a fork.
    fn is_copy(&mut self, project: ProjectId) -> Result<bool, StoreError>;

    /// The token by which runners register for a project. The store keeps it sealed.
    fn runners_token(&mut self, project: ProjectId) -> Result<Option<Secret>, StoreError>;

    /// Puts another token in place of the one by which runners register for a project.
    /// # Errors
    /// [`StoreError::Duplicate`]`("runners_token")` when another project has that token; [`StoreError::Gone`] when
    /// there is no such project.
    fn set_runners_token(&mut self, project: ProjectId, token: &Secret) -> Result<(), StoreError>;

    /// Stores every field except the counters and the default branch.
    /// # Errors
    /// See [`insert`](Self::insert); [`StoreError::Gone`] when there is no such source.
    fn update(&mut self, project: &Project) -> Result<(), StoreError>;

    /// Keeps which branch is shown when none is asked for; nothing else of the project changes.
    fn set_default_branch(
        &mut self,
        project: ProjectId,
        branch: Option<&BranchName>,
    ) -> Result<(), StoreError>;

    /// Keeps which file of that branch is the picture of the project; nothing else of it changes.
    fn set_avatar(&mut self, project: ProjectId, file: Option<&str>) -> Result<(), StoreError>;

    /// By which the coverage is found in the logs of a project's builds, if anything was set.
    fn coverage_expression(
        &mut self,
        project: ProjectId,
    ) -> Result<Option<CoverageExpression>, StoreError>;

    /// Sets that, or nothing.
    fn set_coverage_expression(
        &mut self,
        project: ProjectId,
        expression: Option<&CoverageExpression>,
    ) -> Result<(), StoreError>;

    /// Notes that something happened, unless that was noted less than an hour ago. This is no change of
    /// the project.
    fn touch(&mut self, project: ProjectId, at: Timestamp) -> Result<(), StoreError>;

    /// Lowers the visibility of all forks of a project, and of their forks, that is higher than its
    /// own; `at` becomes the last change of those that are lowered.
    fn lower_forks(&mut self, project: ProjectId, at: Timestamp) -> Result<(), StoreError>;

    /// Whether a project was forked from another, or from one that comes from it.
    fn comes_from(&mut self, project: ProjectId, source: ProjectId) -> Result<bool, StoreError>;

    /// Removes a project with all that hangs on it. Its forks stay and are forks no more; its source
    /// has one fork less.
    fn delete(&mut self, project: ProjectId) -> Result<(), StoreError>;
}

/// Who starred what. The counter of a project is kept right by the same calls.
pub trait Stars {
    /// Whether a user starred a project.
    fn find(&mut self, project: ProjectId, user: UserId) -> Result<Starred, StoreError>;

    /// Sets whether a user starred a project, which is a change; `at` becomes the project's last change.
    /// What is set already is not counted again.
    fn put(
        &mut self,
        project: ProjectId,
        user: UserId,
        starred: Starred,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}

/// With which groups projects are shared.
pub trait Shares {
    /// The shares of several projects, by project and then by id, expired ones included.
    fn of(&mut self, projects: &[ProjectId]) -> Result<Vec<Share>, StoreError>;

    /// Shares a project with a group.
    /// # Errors
    /// [`StoreError::Duplicate`]`("share")` when it is shared with that group already.
    fn insert(&mut self, new: NewShare) -> Result<Share, StoreError>;

    /// Ends a share, if there is one.
    fn delete(&mut self, project: ProjectId, group: NamespaceId) -> Result<(), StoreError>;
}

/// The hooks of all projects.
pub trait ProjectHooks {
    /// Hooks of a project, newest first.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<ProjectHook>, StoreError>;

    /// All hooks of several projects, by id.
    fn of(&mut self, projects: &[ProjectId]) -> Result<Vec<ProjectHook>, StoreError>;

    /// One hook, if it is that project's.
    fn find(
        &mut self,
        project: ProjectId,
        id: ProjectHookId,
    ) -> Result<Option<ProjectHook>, StoreError>;

    /// Registers a hook. The same address may be registered more than once.
    fn insert(
        &mut self,
        project: ProjectId,
        new: ProjectHookSettings,
        at: Timestamp,
    ) -> Result<ProjectHook, StoreError>;

    /// Changes a hook in place.
    fn update(
        &mut self,
        id: ProjectHookId,
        settings: &ProjectHookSettings,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Removes a hook.
    fn delete(&mut self, id: ProjectHookId) -> Result<(), StoreError>;
}
