//! Fake of the activity events.

use super::tx::{FakeTx, Tables};
use chrono::NaiveDate;
use hexforge_domain::event::port::Events;
use hexforge_domain::event::{Event, NewEvent};
use hexforge_domain::id::{EventId, ProjectId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::query::Viewer;

impl Tables {
    /// Returns whether the viewer may see the issue of an event. Events without an issue are always
    /// visible.
    fn is_visible(&self, event: &Event, clearance: Clearance, today: NaiveDate) -> bool {
        let Some(id) = event.target.as_ref().and_then(|target| target.belongs_to?.issue()) else {
            return true;
        };
        let issue = self.issues.iter().find(|issue| issue.id == id);
        issue.is_some_and(|issue| self.is_cleared(issue, clearance, today))
    }
}

impl Events for FakeTx {
    fn insert(&mut self, new: NewEvent) -> Result<Event, StoreError> {
        self.require_user(new.author)?;
        self.require_project(new.project)?;
        let event = Event {
            id: EventId(self.next_id()),
            project: new.project,
            author: new.author,
            action: new.action,
            target: new.target,
            push: new.push,
            created_at: new.at,
        };
        self.tables.events.push(event.clone());
        Ok(event)
    }

    fn authored_by(
        &mut self,
        author: UserId,
        viewer: Viewer,
        clearance: Clearance,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Event>, StoreError> {
        let tables = &self.tables;
        let seen = |event: &Event| {
            let project = tables.projects.get(&event.project);
            project.is_some_and(|project| tables.sees(viewer, project, today))
                && tables.is_visible(event, clearance, today)
        };
        let newest_first = tables.events.iter().rev().filter(|event| event.author == author);
        Ok(page.slice(newest_first.filter(|event| seen(event)).cloned().collect()))
    }

    fn of_project(
        &mut self,
        project: ProjectId,
        clearance: Clearance,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Event>, StoreError> {
        let newest_first = self.tables.events.iter().rev();
        let visible = newest_first.filter(|event| {
            event.project == project && self.tables.is_visible(event, clearance, today)
        });
        Ok(page.slice(visible.cloned().collect()))
    }
}
