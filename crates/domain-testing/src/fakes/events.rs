//! Fake of the activity events.

use super::tx::{FakeTx, Tables};
use chrono::NaiveDate;
use hexforge_domain::Timestamp;
use hexforge_domain::event::port::Events;
use hexforge_domain::event::query::{EventFeed, EventSelection};
use hexforge_domain::event::{Event, NewEvent};
use hexforge_domain::id::{EventId, ProjectId, SnippetId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::note::Noteable;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::query::Viewer;
use hexforge_domain::visibility::Visibility;

impl Tables {
    /// Returns whether the events of a snippet are included; see [`Events::authored_by`].
    fn shows_snippet_events(&self, id: SnippetId, clearance: Clearance, today: NaiveDate) -> bool {
        let user = match clearance {
            Clearance::All => return true,
            Clearance::Own(user) | Clearance::ByRole(user) => Some(user),
            Clearance::Nothing => None,
        };
        let all = self.snippets.iter().map(|(snippet, _)| snippet);
        all.filter(|snippet| snippet.id == id).any(|snippet| {
            let project = snippet.project.and_then(|project| self.projects.get(&project));
            project.is_some_and(|project| {
                let is_team = || user.is_some_and(|user| self.is_authorized(project, user, today));
                project.features.snippets && (snippet.visibility == Visibility::Public || is_team())
            })
        })
    }

    /// Returns whether the viewer may see the issue or snippet of an event. Other events are always
    /// visible.
    fn is_visible(&self, event: &Event, clearance: Clearance, today: NaiveDate) -> bool {
        let belongs_to = event.target.as_ref().and_then(|target| target.belongs_to);
        if let Some(snippet) = belongs_to.and_then(Noteable::snippet) {
            return self.shows_snippet_events(snippet, clearance, today);
        }
        let issue = belongs_to.and_then(Noteable::issuable).and_then(Issuable::issue);
        let Some(id) = issue else { return true };
        let issue = self.issues.iter().find(|issue| issue.id == id);
        issue.is_some_and(|issue| self.is_cleared(issue, clearance, today))
    }
}

impl Tables {
    /// Returns whether an event is in a selection.
    fn is_selected(&self, event: &Event, selection: &EventSelection) -> bool {
        let EventSelection { feed, viewer, clearance, today } = *selection;
        let Some(project) = self.projects.get(&event.project) else { return false };
        let is_in_feed = match feed {
            EventFeed::Author(author) => event.author == author,
            EventFeed::Namespace(namespace) => project.namespace == namespace,
            EventFeed::AuthorizedFor(user) => self.is_authorized(project, user, today),
        };
        is_in_feed && self.sees(viewer, project, today) && self.is_visible(event, clearance, today)
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

    fn select(&mut self, selection: &EventSelection, page: Page) -> Result<Vec<Event>, StoreError> {
        let newest_first = self.tables.events.iter().rev();
        let selected = newest_first.filter(|event| self.tables.is_selected(event, selection));
        Ok(page.slice(selected.cloned().collect()).items)
    }

    fn times(
        &mut self,
        selection: &EventSelection,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<Timestamp>, StoreError> {
        let events = self.select(selection, Page::Whole)?;
        let times = events.into_iter().map(|event| event.created_at);
        Ok(times.filter(|at| *at >= since).take(limit as usize).collect())
    }
}
