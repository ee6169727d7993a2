//! The port to the registered runners.

use chrono::NaiveDate;

use super::query::RunnerFilter;
use super::{NewRunner, Runner};
use crate::id::{ProjectId, RunnerId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// All runners.
pub trait Runners {
    /// Returns the runner with this id.
    fn find(&mut self, id: RunnerId) -> Result<Option<Runner>, StoreError>;

    /// Like [`find`](Self::find), and locks the runner until the transaction ends, if it exists: its fields, and which
    /// projects it is assigned to. A transaction that also locks projects does that before.
    fn lock(&mut self, id: RunnerId) -> Result<Option<Runner>, StoreError>;

    /// Returns the runners with these ids, in no particular order.
    fn find_all(&mut self, ids: &[RunnerId]) -> Result<Vec<Runner>, StoreError>;

    /// Returns a page of the runners that match the filter, ordered by id.
    fn list(&mut self, filter: &RunnerFilter, page: Page) -> Result<Paged<Runner>, StoreError>;

    /// Returns whether a user can access a runner on a day: whether it is assigned to a project in the user's personal
    /// namespace, or in which the user is at least a master, by membership in the project or in its group. Shares do not
    /// count.
    fn is_accessible(
        &mut self,
        runner: RunnerId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<bool, StoreError>;

    /// Returns how often the registration token for shared runners was rotated.
    fn rotations(&mut self) -> Result<i64, StoreError>;

    /// Increments the rotation count of the registration token for shared runners; returns the new
    /// count.
    fn rotate(&mut self) -> Result<i64, StoreError>;

    /// Registers an active runner.
    fn insert(&mut self, new: NewRunner) -> Result<Runner, StoreError>;

    /// Stores every field of a locked runner.
    fn update(&mut self, runner: &Runner) -> Result<(), StoreError>;

    /// Assigns a runner to a project. An existing assignment is left unchanged.
    fn bind(&mut self, runner: RunnerId, project: ProjectId) -> Result<(), StoreError>;

    /// Removes the assignment of a runner to a project.
    fn unbind(&mut self, runner: RunnerId, project: ProjectId) -> Result<(), StoreError>;

    /// Returns whether a runner is assigned to a project.
    fn is_assigned(&mut self, runner: RunnerId, project: ProjectId) -> Result<bool, StoreError>;

    /// Returns the projects with the highest ids that a runner is assigned to, at most `limit`, highest id first. With
    /// `authorized`, only projects that the user is authorized for on the day.
    fn newest_projects(
        &mut self,
        runner: RunnerId,
        authorized: Option<(UserId, NaiveDate)>,
        limit: u32,
    ) -> Result<Vec<ProjectId>, StoreError>;

    /// Returns the project assignments of these runners, ordered by runner and project.
    fn projects_of(
        &mut self,
        runners: &[RunnerId],
    ) -> Result<Vec<(RunnerId, ProjectId)>, StoreError>;

    /// Returns the project with this runner registration token.
    fn project_by_token(&mut self, token: &str) -> Result<Option<ProjectId>, StoreError>;

    /// Deletes a runner. Its builds are kept without a runner.
    fn delete(&mut self, id: RunnerId) -> Result<(), StoreError>;
}
