//! Hooks of projects.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::hook::HookUrl;
use hexforge_domain::id::{ProjectHookId, ProjectId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::hook::{HookSwitches, ProjectHook, ProjectHookSettings};
use hexforge_domain::project::port::ProjectHooks;
use hexforge_domain::text::Secret;

use crate::page;
use crate::schema::project_hooks;
use crate::time::{moment, stored};
use crate::tx::DieselTx;

#[derive(Queryable, Selectable)]
#[diesel(table_name = project_hooks)]
struct ProjectHookRow {
    id: i64,
    project_id: i64,
    url: String,
    token: Option<String>,
    push_events: bool,
    tag_push_events: bool,
    issues_events: bool,
    merge_requests_events: bool,
    note_events: bool,
    build_events: bool,
    pipeline_events: bool,
    wiki_page_events: bool,
    enable_ssl_verification: bool,
    created_at: NaiveDateTime,
}

impl From<ProjectHookRow> for ProjectHook {
    fn from(row: ProjectHookRow) -> Self {
        ProjectHook {
            id: ProjectHookId(row.id),
            project: ProjectId(row.project_id),
            settings: ProjectHookSettings {
                url: HookUrl::stored(row.url),
                token: row.token.map(Secret::new),
                switches: HookSwitches {
                    push: row.push_events,
                    tag_push: row.tag_push_events,
                    issues: row.issues_events,
                    merge_requests: row.merge_requests_events,
                    note: row.note_events,
                    build: row.build_events,
                    pipeline: row.pipeline_events,
                    wiki_page: row.wiki_page_events,
                },
                enable_ssl_verification: row.enable_ssl_verification,
            },
            created_at: moment(row.created_at),
        }
    }
}

/// The columns that an update sets: `None` becomes null.
#[derive(AsChangeset, Insertable)]
#[diesel(table_name = project_hooks, treat_none_as_null = true)]
struct ProjectHookValues<'a> {
    url: &'a str,
    token: Option<&'a str>,
    push_events: bool,
    tag_push_events: bool,
    issues_events: bool,
    merge_requests_events: bool,
    note_events: bool,
    build_events: bool,
    pipeline_events: bool,
    wiki_page_events: bool,
    enable_ssl_verification: bool,
    updated_at: NaiveDateTime,
}

impl<'a> ProjectHookValues<'a> {
    fn new(settings: &'a ProjectHookSettings, at: Timestamp) -> Self {
        let switches = settings.switches;
        Self {
            url: settings.url.as_str(),
            token: settings.token.as_ref().map(Secret::reveal),
            push_events: switches.push,
            tag_push_events: switches.tag_push,
            issues_events: switches.issues,
            merge_requests_events: switches.merge_requests,
            note_events: switches.note,
            build_events: switches.build,
            pipeline_events: switches.pipeline,
            wiki_page_events: switches.wiki_page,
            enable_ssl_verification: settings.enable_ssl_verification,
            updated_at: stored(at),
        }
    }
}

impl ProjectHooks for DieselTx<'_> {
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<ProjectHook>, StoreError> {
        let total: i64 = self.run(|conn| {
            project_hooks::table
                .filter(project_hooks::project_id.eq(project.0))
                .count()
                .get_result(conn)
        })?;
        let rows: Vec<ProjectHookRow> = self.run(|conn| {
            project_hooks::table
                .filter(project_hooks::project_id.eq(project.0))
                .order(project_hooks::id.desc())
                .limit(page::limit(page))
                .offset(page::offset(page))
                .select(ProjectHookRow::as_select())
                .load(conn)
        })?;
        let items = rows.into_iter().map(ProjectHook::from).collect();
        Ok(Paged { items, total: total.unsigned_abs() })
    }

    fn of(&mut self, projects: &[ProjectId]) -> Result<Vec<ProjectHook>, StoreError> {
        let ids: Vec<i64> = projects.iter().map(|id| id.0).collect();
        let mut rows: Vec<ProjectHookRow> = self.by_ids(&ids, |conn, ids| {
            project_hooks::table
                .filter(project_hooks::project_id.eq_any(ids))
                .select(ProjectHookRow::as_select())
                .load(conn)
        })?;
        rows.sort_unstable_by_key(|row| row.id);
        Ok(rows.into_iter().map(ProjectHook::from).collect())
    }

    fn find(
        &mut self,
        project: ProjectId,
        id: ProjectHookId,
    ) -> Result<Option<ProjectHook>, StoreError> {
        let row: Option<ProjectHookRow> = self.run(|conn| {
            project_hooks::table
                .find(id.0)
                .filter(project_hooks::project_id.eq(project.0))
                .select(ProjectHookRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        Ok(row.map(ProjectHook::from))
    }

    fn insert(
        &mut self,
        project: ProjectId,
        new: ProjectHookSettings,
        at: Timestamp,
    ) -> Result<ProjectHook, StoreError> {
        let values = (
            project_hooks::project_id.eq(project.0),
            ProjectHookValues::new(&new, at),
            project_hooks::created_at.eq(stored(at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(project_hooks::table)
                .values(values)
                .returning(project_hooks::id)
                .get_result(conn)
        })?;
        Ok(ProjectHook { id: ProjectHookId(id), project, settings: new, created_at: at })
    }

    fn update(
        &mut self,
        id: ProjectHookId,
        settings: &ProjectHookSettings,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let values = ProjectHookValues::new(settings, at);
        self.run(|conn| diesel::update(project_hooks::table.find(id.0)).set(values).execute(conn))?;
        Ok(())
    }

    fn delete(&mut self, id: ProjectHookId) -> Result<(), StoreError> {
        self.run(|conn| diesel::delete(project_hooks::table.find(id.0)).execute(conn))?;
        Ok(())
    }
}
