//! The ports to projects and their stars, shares and hooks.

use chrono::NaiveDate;

use super::hook::{ProjectHook, ProjectHookSettings};
use super::query::ProjectFilter;
use super::share::{NewShare, Share};
use super::{
    AdminSettings, BuildSettings, CoverageExpression, NewProject, Project, ProjectHeader,
    ProjectName, ProjectPath, ProjectRef, ProjectWithNamespace, Starred,
};
use crate::Timestamp;
use crate::branch::BranchName;
use crate::id::{NamespaceId, ProjectHookId, ProjectId, UserId};
use crate::paging::{Page, Paged};
use crate::policy::project::ProjectRole;
use crate::ports::store_error::StoreError;
use crate::text::Secret;

/// All projects.
pub trait Projects {
    /// The project with this id or path. An exact match of the path is preferred to a match in another case.
    fn find(&mut self, reference: &ProjectRef) -> Result<Option<Project>, StoreError>;

    /// Like [`find`](Self::find), with the namespace, the owner of the namespace, and whether `reader` starred the
    /// project, in one query.
    fn find_with_namespace(
        &mut self,
        reference: &ProjectRef,
        reader: Option<UserId>,
    ) -> Result<Option<(ProjectWithNamespace, Starred)>, StoreError>;

    /// Like [`find`](Self::find), but reads only the fields of [`ProjectHeader`].
    fn header(&mut self, reference: &ProjectRef) -> Result<Option<ProjectHeader>, StoreError>;

    /// Like [`find`](Self::find) by id, and locks the row: until the transaction ends, no other transaction can change
    /// or lock it.
    fn lock(&mut self, id: ProjectId) -> Result<Option<Project>, StoreError>;

    /// Locks several projects. Locks all their namespaces first and then the projects, both in ascending order of their
    /// ids, so that concurrent callers do not deadlock. Missing projects are left out.
    fn lock_all(&mut self, ids: &[ProjectId]) -> Result<Vec<Project>, StoreError>;

    /// The projects with these ids, in no particular order.
    fn find_all(&mut self, ids: &[ProjectId]) -> Result<Vec<Project>, StoreError>;

    /// The projects that match the filter.
    fn list(&mut self, filter: &ProjectFilter, page: Page) -> Result<Paged<Project>, StoreError>;

    /// The rights of a user in a project on a day, from all memberships and from ownership.
    fn role(
        &mut self,
        project: ProjectId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<ProjectRole, StoreError>;

    /// The projects among `projects` for which a user is authorized, in no particular order; see
    /// [`ProjectScope`](super::query::ProjectScope).
    fn authorized_among(
        &mut self,
        user: UserId,
        projects: &[ProjectId],
        today: NaiveDate,
    ) -> Result<Vec<ProjectId>, StoreError>;

    /// The projects in a namespace that have exactly this name, or this path ignoring case.
    fn find_clashing(
        &mut self,
        namespace: NamespaceId,
        name: &ProjectName,
        path: &ProjectPath,
    ) -> Result<Vec<Project>, StoreError>;

    /// The number of projects in a namespace.
    fn count_in(&mut self, namespace: NamespaceId) -> Result<u64, StoreError>;

    /// The number of projects in the personal namespaces of several users. Users without projects may be left out. The
    /// cost does not depend on the number of projects.
    fn count_personal(&mut self, owners: &[UserId]) -> Result<Vec<(UserId, u64)>, StoreError>;

    /// Creates a project that is not archived and has no stars. Increments the fork counter of its source.
    /// # Errors
    /// [`StoreError::Duplicate`]`("name")` or `("path")` when the namespace has a project with that name or path; see
    /// [`find_clashing`](Self::find_clashing).
    fn insert(&mut self, new: NewProject) -> Result<Project, StoreError>;

    /// Returns whether a project was created as a fork, so that its repository began as a copy. Stays true when the
    /// fork relation is removed.
    fn was_created_as_fork(&mut self, project: ProjectId) -> Result<bool, StoreError>;

    /// The token with which runners register for a project. The store encrypts it.
    fn runners_token(&mut self, project: ProjectId) -> Result<Option<Secret>, StoreError>;

    /// Replaces the token with which runners register for a project.
    /// # Errors
    /// [`StoreError::Duplicate`]`("runners_token")` when another project has that token; [`StoreError::Gone`] when the
    /// project does not exist.
    fn set_runners_token(&mut self, project: ProjectId, token: &Secret) -> Result<(), StoreError>;

    /// Updates every field except the counters and the default branch.
    /// # Errors
    /// See [`insert`](Self::insert); [`StoreError::Gone`] when the source of the fork does not exist.
    fn update(&mut self, project: &Project) -> Result<(), StoreError>;

    /// Sets the default branch. No other field changes.
    fn set_default_branch(
        &mut self,
        project: ProjectId,
        branch: Option<&BranchName>,
    ) -> Result<(), StoreError>;

    /// Sets the path of the avatar image in the default branch. No other field changes.
    fn set_avatar(&mut self, project: ProjectId, file: Option<&str>) -> Result<(), StoreError>;

    /// The regular expression for the coverage in build logs, if one is set.
    fn coverage_expression(
        &mut self,
        project: ProjectId,
    ) -> Result<Option<CoverageExpression>, StoreError>;

    /// Sets or clears the regular expression for the coverage.
    fn set_coverage_expression(
        &mut self,
        project: ProjectId,
        expression: Option<&CoverageExpression>,
    ) -> Result<(), StoreError>;

    /// The settings for builds; those of a project that has none are the default.
    fn build_settings(&mut self, project: ProjectId) -> Result<BuildSettings, StoreError>;

    /// The runners token, coverage expression and settings for builds in one query.
    fn admin_settings(&mut self, project: ProjectId) -> Result<AdminSettings, StoreError>;

    /// Sets the settings for builds. The coverage expression does not change.
    fn set_build_settings(
        &mut self,
        project: ProjectId,
        settings: BuildSettings,
    ) -> Result<(), StoreError>;

    /// Sets the time of the last activity to `at`, unless the stored time is less than an hour earlier. Does not count
    /// as a change of the project.
    fn record_activity(&mut self, project: ProjectId, at: Timestamp) -> Result<(), StoreError>;

    /// Lowers the visibility of all direct and indirect forks of a project to at most its own. `at` becomes the time of
    /// the last change of the forks that are lowered.
    fn lower_forks(&mut self, project: ProjectId, at: Timestamp) -> Result<(), StoreError>;

    /// Returns whether a project is a direct or indirect fork of `source`.
    fn is_fork_of(&mut self, project: ProjectId, source: ProjectId) -> Result<bool, StoreError>;

    /// Deletes a project and everything that belongs to it. Its forks stay as independent projects. Decrements the fork
    /// counter of its source.
    fn delete(&mut self, project: ProjectId) -> Result<(), StoreError>;
}

/// The stars that users gave to projects. Each call also maintains the star counter of the project.
pub trait Stars {
    /// Returns whether a user starred a project.
    fn find(&mut self, project: ProjectId, user: UserId) -> Result<Starred, StoreError>;

    /// Sets whether a user starred a project; `at` becomes the time of the project's last change. Setting the current
    /// state again does not change the counter.
    fn put(
        &mut self,
        project: ProjectId,
        user: UserId,
        starred: Starred,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}

/// The shares of projects with groups.
pub trait Shares {
    /// The shares of several projects, by project and then by id, expired ones included.
    fn of_projects(&mut self, projects: &[ProjectId]) -> Result<Vec<Share>, StoreError>;

    /// Shares a project with a group.
    /// # Errors
    /// [`StoreError::Duplicate`]`("share")` when the project is already shared with that group.
    fn insert(&mut self, new: NewShare) -> Result<Share, StoreError>;

    /// Deletes a share, if there is one.
    fn delete(&mut self, project: ProjectId, group: NamespaceId) -> Result<(), StoreError>;
}

/// The hooks of all projects.
pub trait ProjectHooks {
    /// The hooks of a project, newest first.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<ProjectHook>, StoreError>;

    /// All hooks of several projects, by id.
    fn of_projects(&mut self, projects: &[ProjectId]) -> Result<Vec<ProjectHook>, StoreError>;

    /// The hook with this id, if it belongs to the project.
    fn find(
        &mut self,
        project: ProjectId,
        id: ProjectHookId,
    ) -> Result<Option<ProjectHook>, StoreError>;

    /// Registers a hook. The same URL may be registered more than once.
    fn insert(
        &mut self,
        project: ProjectId,
        new: ProjectHookSettings,
        at: Timestamp,
    ) -> Result<ProjectHook, StoreError>;

    /// Replaces the settings of a hook.
    fn update(
        &mut self,
        id: ProjectHookId,
        settings: &ProjectHookSettings,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Removes a hook.
    fn delete(&mut self, id: ProjectHookId) -> Result<(), StoreError>;
}
