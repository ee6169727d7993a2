//! The port to the stored activity events.

use chrono::NaiveDate;

use super::{Event, NewEvent};
use crate::id::{ProjectId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;
use crate::project::query::Viewer;

/// The activity of everybody.
pub trait Events {
    /// Writes down what happened.
    fn insert(&mut self, new: NewEvent) -> Result<Event, StoreError>;

    /// Events authored by a user in projects that the viewer may see, newest first: those it is
    /// authorized for, public ones, and internal ones unless it is external.
    fn authored_by(
        &mut self,
        author: UserId,
        viewer: Viewer,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Event>, StoreError>;

    /// Events of a project, newest first.
    fn of_project(&mut self, project: ProjectId, page: Page) -> Result<Paged<Event>, StoreError>;
}
