//! Runners.

use chrono::{NaiveDate, NaiveDateTime};
use diesel::prelude::*;
use hexforge_domain::id::{ProjectId, RunnerId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::runner::port::Runners;
use hexforge_domain::runner::query::{RunnerFilter, RunnerScope, RunnerSelection};
use hexforge_domain::runner::{NewRunner, Runner, RunnerInfo};

use crate::ci::build::{tags_from_text, tags_to_text};
use crate::database::backend;
use crate::database::schema::{runner_projects, runner_registration, runners, runners_tokens};
use crate::database::time::{to_naive, to_naive_opt, to_utc, to_utc_opt};
use crate::database::tx::DieselTx;
use crate::query::access;
use crate::query::among::AmongValues;
use crate::query::sql::Sql;

#[derive(Queryable)]
struct RunnerRow {
    id: i64,
    description: String,
    active: bool,
    is_shared: bool,
    run_untagged: bool,
    locked: bool,
    tags: String,
    name: Option<String>,
    version: Option<String>,
    revision: Option<String>,
    platform: Option<String>,
    architecture: Option<String>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
    contacted_at: Option<NaiveDateTime>,
}

impl TryFrom<RunnerRow> for Runner {
    type Error = StoreError;

    fn try_from(row: RunnerRow) -> Result<Self, StoreError> {
        Ok(Runner {
            id: RunnerId(row.id),
            description: row.description,
            active: row.active,
            shared: row.is_shared,
            run_untagged: row.run_untagged,
            locked: row.locked,
            tags: tags_from_text(&row.tags)?,
            info: RunnerInfo {
                name: row.name,
                version: row.version,
                revision: row.revision,
                platform: row.platform,
                architecture: row.architecture,
            },
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
            contacted_at: to_utc_opt(row.contacted_at),
        })
    }
}

/// The columns that a runner reports about itself.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = runners, treat_none_as_null = true)]
struct InfoRow {
    name: Option<String>,
    version: Option<String>,
    revision: Option<String>,
    platform: Option<String>,
    architecture: Option<String>,
}

impl From<&RunnerInfo> for InfoRow {
    fn from(info: &RunnerInfo) -> Self {
        let text = |text: &Option<String>| text.as_deref().map(backend::without_nul);
        Self {
            name: text(&info.name),
            version: text(&info.version),
            revision: text(&info.revision),
            platform: text(&info.platform),
            architecture: text(&info.architecture),
        }
    }
}

/// Selects the ids of the runners that match a filter.
fn matching(filter: &RunnerFilter) -> Sql {
    let scope = match filter.scope {
        None => None,
        Some(RunnerScope::Active) => Some(Sql::new("runners.active")),
        Some(RunnerScope::Paused) => Some(Sql::new("NOT runners.active")),
        Some(RunnerScope::Online { since }) => {
            Some(Sql::new("runners.contacted_at > ").moment(to_naive(since)))
        }
        Some(RunnerScope::Specific) => Some(Sql::new("NOT runners.is_shared")),
        Some(RunnerScope::Shared) => Some(Sql::new("runners.is_shared")),
    };
    let select = "SELECT runners.id FROM runners";
    let of_projects = "SELECT runner_id FROM runner_projects WHERE project_id ";
    match filter.selection {
        RunnerSelection::All => Sql::new(select).filter(scope),
        RunnerSelection::OfProject(project) => {
            let chosen = Sql::new(of_projects)
                .sql("= ")
                .id(project.0)
                .sql(" UNION SELECT id FROM runners WHERE is_shared");
            let chosen = Sql::with([("chosen", chosen)]).sql(select);
            chosen.filter([Some(Sql::new(CHOSEN)), scope].into_iter().flatten())
        }
        RunnerSelection::AccessibleTo { user, today } => {
            let chosen =
                Sql::new(of_projects).sql("IN (").then(access::administered(user, today)).sql(")");
            let chosen = Sql::with([("chosen", chosen)]).sql(select);
            let specific = Sql::new("NOT runners.is_shared");
            chosen.filter([Some(Sql::new(CHOSEN)), Some(specific), scope].into_iter().flatten())
        }
    }
}

const CHOSEN: &str = "runners.id IN (SELECT id FROM chosen)";

impl Runners for DieselTx<'_> {
    fn find(&mut self, id: RunnerId) -> Result<Option<Runner>, StoreError> {
        Ok(Runners::find_all(self, &[id])?.pop())
    }

    fn lock(&mut self, id: RunnerId) -> Result<Option<Runner>, StoreError> {
        let row = Sql::new("SELECT id FROM runners WHERE id = ").id(id.0);
        // Builds refer to the runner, so their transactions go on meanwhile.
        self.lock_rows(row.sql(" FOR NO KEY UPDATE"))?;
        Runners::find(self, id)
    }

    fn find_all(&mut self, ids: &[RunnerId]) -> Result<Vec<Runner>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let rows: Vec<RunnerRow> = self
            .by_ids(&ids, |conn, ids| runners::table.filter(runners::id.among(ids)).load(conn))?;
        self.convert_rows(rows)
    }

    fn insert(&mut self, new: NewRunner) -> Result<Runner, StoreError> {
        let values = (
            runners::description.eq(backend::without_nul(&new.description)),
            runners::active.eq(true),
            runners::is_shared.eq(new.shared),
            runners::run_untagged.eq(new.run_untagged),
            runners::locked.eq(new.locked),
            runners::tags.eq(tags_to_text(&new.tags)),
            InfoRow::from(&new.info),
            runners::created_at.eq(to_naive(new.at)),
            runners::updated_at.eq(to_naive(new.at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(runners::table)
                .values(values)
                .returning(runners::id)
                .get_result(conn)
        })?;
        Ok(Runner {
            id: RunnerId(id),
            description: new.description,
            active: true,
            shared: new.shared,
            run_untagged: new.run_untagged,
            locked: new.locked,
            tags: new.tags,
            info: new.info,
            created_at: new.at,
            updated_at: new.at,
            contacted_at: None,
        })
    }

    fn update(&mut self, runner: &Runner) -> Result<(), StoreError> {
        let values = (
            runners::description.eq(backend::without_nul(&runner.description)),
            runners::active.eq(runner.active),
            runners::is_shared.eq(runner.shared),
            runners::run_untagged.eq(runner.run_untagged),
            runners::locked.eq(runner.locked),
            runners::tags.eq(tags_to_text(&runner.tags)),
            InfoRow::from(&runner.info),
            runners::updated_at.eq(to_naive(runner.updated_at)),
            runners::contacted_at.eq(to_naive_opt(runner.contacted_at)),
        );
        let row = runners::table.find(runner.id.0);
        self.write(|conn| diesel::update(row).set(values).execute(conn))
    }

    fn bind(&mut self, runner: RunnerId, project: ProjectId) -> Result<(), StoreError> {
        let row =
            (runner_projects::runner_id.eq(runner.0), runner_projects::project_id.eq(project.0));
        self.write(|conn| {
            each_backend!(conn, c => diesel::insert_into(runner_projects::table)
                .values(row)
                .on_conflict_do_nothing()
                .execute(c))
        })
    }

    fn is_assigned(&mut self, runner: RunnerId, project: ProjectId) -> Result<bool, StoreError> {
        let assigned = Sql::new("SELECT project_id FROM runner_projects WHERE runner_id = ")
            .id(runner.0)
            .sql(" AND project_id = ")
            .id(project.0);
        Ok(!self.ids(assigned)?.is_empty())
    }

    fn newest_projects(
        &mut self,
        runner: RunnerId,
        authorized: Option<(UserId, NaiveDate)>,
        limit: u32,
    ) -> Result<Vec<ProjectId>, StoreError> {
        let select = "SELECT project_id FROM runner_projects WHERE runner_id = ";
        let assigned = match authorized {
            None => Sql::new(select).id(runner.0),
            Some((user, today)) => Sql::with([("authorized", access::authorized(user, today))])
                .sql(select)
                .id(runner.0)
                .sql(" AND project_id IN (SELECT id FROM authorized)"),
        };
        let newest = assigned.sql(" ORDER BY project_id DESC LIMIT ").id(limit.into());
        Ok(self.ids(newest)?.into_iter().map(ProjectId).collect())
    }

    fn projects_of(
        &mut self,
        runners: &[RunnerId],
    ) -> Result<Vec<(RunnerId, ProjectId)>, StoreError> {
        let ids: Vec<i64> = runners.iter().map(|id| id.0).collect();
        let mut rows: Vec<(i64, i64)> = self.by_ids(&ids, |conn, ids| {
            runner_projects::table
                .filter(runner_projects::runner_id.among(ids))
                .select((runner_projects::runner_id, runner_projects::project_id))
                .load(conn)
        })?;
        rows.sort_unstable();
        rows.dedup();
        Ok(rows
            .into_iter()
            .map(|(runner, project)| (RunnerId(runner), ProjectId(project)))
            .collect())
    }

    fn list(&mut self, filter: &RunnerFilter, page: Page) -> Result<Paged<Runner>, StoreError> {
        let all = matching(filter);
        let total = self.total(&format!("runners {filter:?}"), &all)?;
        let ids = self.ids(all.sql(" ORDER BY runners.id").page(page))?;
        let ids: Vec<RunnerId> = ids.into_iter().map(RunnerId).collect();
        let mut items = Runners::find_all(self, &ids)?;
        items.sort_unstable_by_key(|runner| runner.id);
        Ok(Paged { items, total })
    }

    fn is_accessible(
        &mut self,
        runner: RunnerId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<bool, StoreError> {
        let assigned = Sql::with([("administered", access::administered(user, today))])
            .sql("SELECT runner_id FROM runner_projects WHERE runner_id = ")
            .id(runner.0)
            .sql(" AND project_id IN (SELECT id FROM administered) LIMIT 1");
        Ok(!self.ids(assigned)?.is_empty())
    }

    fn unbind(&mut self, runner: RunnerId, project: ProjectId) -> Result<(), StoreError> {
        let row = runner_projects::table.find((runner.0, project.0));
        self.write(|conn| diesel::delete(row).execute(conn))
    }

    fn rotations(&mut self) -> Result<i64, StoreError> {
        let row = runner_registration::table.find(1_i64).select(runner_registration::rotations);
        self.run(|conn| row.get_result(conn))
    }

    fn rotate(&mut self) -> Result<i64, StoreError> {
        let more = runner_registration::rotations.eq(runner_registration::rotations + 1);
        self.run(|conn| {
            diesel::update(runner_registration::table.find(1_i64))
                .set(more)
                .returning(runner_registration::rotations)
                .get_result(conn)
        })
    }

    fn project_by_token(&mut self, token: &str) -> Result<Option<ProjectId>, StoreError> {
        let proof = self.fail_on_error(self.seals.runners_token_proof(token))?;
        let id: Option<i64> = self.run(|conn| {
            runners_tokens::table
                .filter(runners_tokens::proof.eq(proof))
                .select(runners_tokens::project_id)
                .first(conn)
                .optional()
        })?;
        Ok(id.map(ProjectId))
    }

    fn delete(&mut self, id: RunnerId) -> Result<(), StoreError> {
        self.write(|conn| diesel::delete(runners::table.find(id.0)).execute(conn))
    }
}
