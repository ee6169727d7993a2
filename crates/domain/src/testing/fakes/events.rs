//! The activity in memory.

use super::tx::FakeTx;
use crate::event::port::Events;
use crate::event::{Event, NewEvent};
use crate::id::{EventId, ProjectId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;
use crate::project::query::Viewer;
use chrono::NaiveDate;

impl Events for FakeTx {
    fn insert(&mut self, new: NewEvent) -> Result<Event, StoreError> {
        self.require(new.author)?;
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
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Event>, StoreError> {
        let tables = &self.tables;
        let seen = |event: &Event| {
            let project = tables.projects.get(&event.project);
            project.is_some_and(|project| tables.sees(viewer, project, today))
        };
        let newest_first = tables.events.iter().rev().filter(|event| event.author == author);
        Ok(page.cut(newest_first.filter(|event| seen(event)).cloned().collect()))
    }

    fn of_project(&mut self, project: ProjectId, page: Page) -> Result<Paged<Event>, StoreError> {
        let newest_first = self.tables.events.iter().rev();
        Ok(page.cut(newest_first.filter(|event| event.project == project).cloned().collect()))
    }
}
