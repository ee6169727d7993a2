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

use crate::database::schema::{project_hooks, projects};
use crate::database::seal::{Purpose, Seals};
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::page;

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

impl ProjectHookRow {
    fn read(self, seals: &Seals) -> Result<ProjectHook, StoreError> {
        let row = self;
        Ok(ProjectHook {
            id: ProjectHookId(row.id),
            project: ProjectId(row.project_id),
            settings: ProjectHookSettings {
                url: HookUrl::stored(seals.open(Purpose::HookUrl, &row.url)?),
                token: seals.open_opt(Purpose::HookToken, row.token.as_deref())?,
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
            created_at: to_utc(row.created_at),
        })
    }
}

/// The columns that an update sets: `None` becomes null.
#[derive(AsChangeset, Insertable)]
#[diesel(table_name = project_hooks, treat_none_as_null = true)]
struct ProjectHookValues {
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
    updated_at: NaiveDateTime,
}

impl ProjectHookValues {
    fn new(
        seals: &Seals,
        settings: &ProjectHookSettings,
        at: Timestamp,
    ) -> Result<Self, StoreError> {
        let switches = settings.switches;
        Ok(Self {
            url: seals.seal(Purpose::HookUrl, settings.url.as_str())?,
            token: seals.seal_opt(Purpose::HookToken, settings.token.as_ref())?,
            push_events: switches.push,
            tag_push_events: switches.tag_push,
            issues_events: switches.issues,
            merge_requests_events: switches.merge_requests,
            note_events: switches.note,
            build_events: switches.build,
            pipeline_events: switches.pipeline,
            wiki_page_events: switches.wiki_page,
            enable_ssl_verification: settings.enable_ssl_verification,
            updated_at: to_naive(at),
        })
    }
}

impl DieselTx<'_> {
    fn read_project_hooks(
        &mut self,
        rows: Vec<ProjectHookRow>,
    ) -> Result<Vec<ProjectHook>, StoreError> {
        let seals = self.seals;
        self.fail_on_error(rows.into_iter().map(|row| row.read(seals)).collect())
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
        let items = self.read_project_hooks(rows)?;
        Ok(Paged { items, total: total.unsigned_abs() })
    }

    fn of_projects(&mut self, projects: &[ProjectId]) -> Result<Vec<ProjectHook>, StoreError> {
        let ids: Vec<i64> = projects.iter().map(|id| id.0).collect();
        let mut rows: Vec<ProjectHookRow> = self.by_ids(&ids, |conn, ids| {
            project_hooks::table
                .filter(project_hooks::project_id.eq_any(ids))
                .filter(project_hooks::project_id.eq_any(projects::table.select(projects::id)))
                .select(ProjectHookRow::as_select())
                .load(conn)
        })?;
        rows.sort_unstable_by_key(|row| row.id);
        self.read_project_hooks(rows)
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
        Ok(self.read_project_hooks(row.into_iter().collect())?.pop())
    }

    fn insert(
        &mut self,
        project: ProjectId,
        new: ProjectHookSettings,
        at: Timestamp,
    ) -> Result<ProjectHook, StoreError> {
        let hook = self.fail_on_error(ProjectHookValues::new(self.seals, &new, at))?;
        let values = (
            project_hooks::project_id.eq(project.0),
            hook,
            project_hooks::created_at.eq(to_naive(at)),
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
        let values = self.fail_on_error(ProjectHookValues::new(self.seals, settings, at))?;
        self.write(|conn| diesel::update(project_hooks::table.find(id.0)).set(values).execute(conn))
    }

    fn delete(&mut self, id: ProjectHookId) -> Result<(), StoreError> {
        self.write(|conn| diesel::delete(project_hooks::table.find(id.0)).execute(conn))
    }
}
