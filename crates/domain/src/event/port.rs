//! The port to the stored activity events.

use chrono::NaiveDate;

use super::query::EventSelection;
use super::{Event, NewEvent};
use crate::Timestamp;
use crate::id::{ProjectId, UserId};
use crate::issue::query::Clearance;
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;
use crate::project::query::Viewer;

/// The activity events of all users.
pub trait Events {
    /// Stores an event.
    fn insert(&mut self, new: NewEvent) -> Result<Event, StoreError>;

    /// The events of an author, newest first, in the projects that the viewer may see; see
    /// [`ProjectScope::VisibleTo`](crate::project::query::ProjectScope::VisibleTo). Events about confidential issues
    /// are included only as far as the clearance allows, and events about snippets that are not public only for the team
    /// of the project.
    fn authored_by(
        &mut self,
        author: UserId,
        viewer: Viewer,
        clearance: Clearance,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Event>, StoreError>;

    /// The events of a project, newest first. Events about confidential issues and snippets are included as in
    /// [`authored_by`](Self::authored_by).
    fn of_project(
        &mut self,
        project: ProjectId,
        clearance: Clearance,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Event>, StoreError>;

    /// The events of a selection, newest first, without their total.
    fn select(&mut self, selection: &EventSelection, page: Page) -> Result<Vec<Event>, StoreError>;

    /// The times of the newest events of a selection since `since`, newest first, at most `limit`.
    fn times(
        &mut self,
        selection: &EventSelection,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<Timestamp>, StoreError>;
}
