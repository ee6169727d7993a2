//! The port to the stored activity events.

use chrono::NaiveDate;

use super::{Event, NewEvent};
use crate::id::{ProjectId, UserId};
use crate::issue::query::Clearance;
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;
use crate::project::query::Viewer;

/// The activity of everybody.
pub trait Events {
    /// Writes down what happened.
    fn insert(&mut self, new: NewEvent) -> Result<Event, StoreError>;

    /// Events authored by a user in projects that the viewer may see, newest first: those it is
    /// authorized for, public ones, and internal ones unless it is external. Of what is about
    /// confidential issues only as much as the clearance allows.
    fn authored_by(
        &mut self,
        author: UserId,
        viewer: Viewer,
        clearance: Clearance,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Event>, StoreError>;

    /// Events of a project, newest first; with the same care for confidential issues.
    fn of_project(
        &mut self,
        project: ProjectId,
        clearance: Clearance,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Event>, StoreError>;
}
