//! The port to the registered runners.

use super::{NewRunner, Runner};
use crate::id::{ProjectId, RunnerId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;

/// All runners.
pub trait Runners {
    /// The runner of that id.
    fn find(&mut self, id: RunnerId) -> Result<Option<Runner>, StoreError>;

    /// The runners of these ids, in no particular order.
    fn find_all(&mut self, ids: &[RunnerId]) -> Result<Vec<Runner>, StoreError>;

    /// All runners, by id.
    fn list(&mut self, page: Page) -> Result<Paged<Runner>, StoreError>;

    /// How often the token was replaced by which runners register for all projects.
    fn rotations(&mut self) -> Result<i64, StoreError>;

    /// Counts one more replacement of that token; answers how many there were now.
    fn rotate(&mut self) -> Result<i64, StoreError>;

    /// Registers an active runner.
    fn insert(&mut self, new: NewRunner) -> Result<Runner, StoreError>;

    /// Stores every field.
    fn update(&mut self, runner: &Runner) -> Result<(), StoreError>;

    /// Binds a runner to a project; what is bound already stays so.
    fn bind(&mut self, runner: RunnerId, project: ProjectId) -> Result<(), StoreError>;

    /// The projects a runner is bound to, by id.
    fn projects(&mut self, runner: RunnerId) -> Result<Vec<ProjectId>, StoreError>;

    /// The projects that these runners are bound to, by the ids of runner and project.
    fn projects_of(
        &mut self,
        runners: &[RunnerId],
    ) -> Result<Vec<(RunnerId, ProjectId)>, StoreError>;

    /// The project for which runners register by this token.
    fn project_by_token(&mut self, token: &str) -> Result<Option<ProjectId>, StoreError>;

    /// Removes a runner. Its builds stay, without a runner.
    fn delete(&mut self, id: RunnerId) -> Result<(), StoreError>;
}
