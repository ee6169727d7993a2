//! Builds, and external commit statuses.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::build::port::Builds;
use hexforge_domain::build::{
    Artifacts, Build, BuildDefinition, BuildFilter, BuildKind, NewBuild, Silence, StageSummary,
    StatusFilter, Tags,
};
use hexforge_domain::ci::status::Status;
use hexforge_domain::ci::when::When;
use hexforge_domain::id::{BuildId, DefinitionId, PipelineId, ProjectId, RunnerId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::runner::Runner;

use crate::ci::build_definition;
use crate::ci::build_list;
use crate::ci::pipeline::parse_status;
use crate::database::backend;
use crate::database::json;
use crate::database::schema::{build_definitions, builds, projects};
use crate::database::time::{to_naive, to_naive_opt, to_utc, to_utc_opt};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::sql::Sql;
use crate::removal;

const JOB: &str = "build";
const EXTERNAL: &str = "external";

#[derive(Queryable, Selectable)]
#[diesel(table_name = builds)]
struct BuildRow {
    id: i64,
    project_id: i64,
    pipeline_id: i64,
    definition_id: Option<i64>,
    kind: String,
    name: String,
    stage: String,
    stage_index: i32,
    status: String,
    run_when: String,
    allow_failure: bool,
    tags: String,
    superseded: bool,
    user_id: Option<i64>,
    runner_id: Option<i64>,
    coverage: Option<String>,
    target_url: Option<String>,
    description: Option<String>,
    artifacts_name: Option<String>,
    artifacts_size: Option<i64>,
    artifacts_expire_at: Option<NaiveDateTime>,
    erased_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
    queued_at: Option<NaiveDateTime>,
    started_at: Option<NaiveDateTime>,
    finished_at: Option<NaiveDateTime>,
}

impl TryFrom<BuildRow> for Build {
    type Error = StoreError;

    fn try_from(row: BuildRow) -> Result<Self, StoreError> {
        let kind = match (row.kind.as_str(), row.definition_id) {
            (JOB, Some(definition)) => BuildKind::Job(DefinitionId(definition)),
            (EXTERNAL, None) => {
                BuildKind::External { target_url: row.target_url, description: row.description }
            }
            _ => return Err(StoreError::Corrupt("kind of a build")),
        };
        let artifacts = match (row.artifacts_name, row.artifacts_size) {
            (Some(file_name), Some(size)) => Some(Artifacts {
                file_name,
                size: size.unsigned_abs(),
                expire_at: to_utc_opt(row.artifacts_expire_at),
            }),
            _ => None,
        };
        let coverage = row.coverage.map(|text| text.parse::<f64>()).transpose();
        Ok(Build {
            id: BuildId(row.id),
            project: ProjectId(row.project_id),
            pipeline: PipelineId(row.pipeline_id),
            kind,
            name: row.name,
            stage: row.stage,
            stage_index: row.stage_index,
            status: parse_status(&row.status)?,
            when: When::parse(&row.run_when).ok_or(StoreError::Corrupt("`when` of a build"))?,
            allow_failure: row.allow_failure,
            tags: tags_from_text(&row.tags)?,
            superseded: row.superseded,
            user: row.user_id.map(UserId),
            runner: row.runner_id.map(RunnerId),
            coverage: coverage.map_err(|_| StoreError::Corrupt("coverage of a build"))?,
            artifacts,
            erased_at: to_utc_opt(row.erased_at),
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
            queued_at: to_utc_opt(row.queued_at),
            started_at: to_utc_opt(row.started_at),
            finished_at: to_utc_opt(row.finished_at),
        })
    }
}

/// Returns the stored text of tags. Equal tags always have the same text.
pub(crate) fn tags_to_text(tags: &Tags) -> String {
    let words: Vec<String> = tags.iter().map(backend::without_nul).collect();
    json::to_text(&words)
}

pub(crate) fn tags_from_text(text: &str) -> Result<Tags, StoreError> {
    let words: Vec<String> = json::from_text(text).ok_or(StoreError::Corrupt("tags"))?;
    Ok(words.into_iter().collect())
}

impl DieselTx<'_> {
    /// Returns the builds with these ids, in the order of the ids.
    pub(crate) fn builds_by_id(&mut self, ids: &[i64]) -> Result<Vec<Build>, StoreError> {
        let mut rows: Vec<BuildRow> = self.by_ids(ids, |conn, ids| {
            builds::table.filter(builds::id.among(ids)).select(BuildRow::as_select()).load(conn)
        })?;
        page::arrange(&mut rows, ids, |row| row.id);
        self.convert_rows(rows)
    }
}

impl Builds for DieselTx<'_> {
    /// Two queries, and one for the total unless the page shows the end of the list.
    fn list(
        &mut self,
        project: ProjectId,
        filter: &BuildFilter,
        page: Page,
    ) -> Result<Paged<Build>, StoreError> {
        let fitting = build_list::jobs(project, filter);
        let (ids, total) = self.page_of(fitting, " ORDER BY id DESC", page, || {
            format!("builds of {project} {filter:?}")
        })?;
        Ok(Paged { items: self.builds_by_id(&ids)?, total })
    }

    fn statuses(
        &mut self,
        project: ProjectId,
        filter: &StatusFilter,
        page: Page,
    ) -> Result<Paged<Build>, StoreError> {
        let Some(fitting) = build_list::statuses(project, filter) else {
            return Ok(page.slice(vec![]));
        };
        let (ids, total) = self.page_of(fitting, " ORDER BY id", page, || {
            format!("statuses in {project} {filter:?}")
        })?;
        Ok(Paged { items: self.builds_by_id(&ids)?, total })
    }

    fn find(&mut self, id: BuildId) -> Result<Option<Build>, StoreError> {
        let its_project = projects::table.filter(projects::id.eq(builds::project_id));
        self.read_row(|conn| {
            builds::table
                .find(id.0)
                .filter(diesel::dsl::exists(its_project))
                .select(BuildRow::as_select())
                .get_result(conn)
                .optional()
        })
    }

    fn find_all(&mut self, ids: &[BuildId]) -> Result<Vec<Build>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        self.builds_by_id(&ids)
    }

    fn of_pipeline(&mut self, pipeline: PipelineId) -> Result<Vec<Build>, StoreError> {
        self.read_rows(|conn| {
            builds::table
                .filter(builds::pipeline_id.eq(pipeline.0))
                .order(builds::id)
                .select(BuildRow::as_select())
                .load(conn)
        })
    }

    fn stages_of(
        &mut self,
        pipelines: &[PipelineId],
    ) -> Result<Vec<(PipelineId, StageSummary)>, StoreError> {
        let ids: Vec<i64> = pipelines.iter().map(|pipeline| pipeline.0).collect();
        let rows: Vec<(i64, i32, String, String, bool)> = self.by_ids(&ids, |conn, ids| {
            let columns = (
                builds::pipeline_id,
                builds::stage_index,
                builds::stage,
                builds::status,
                builds::allow_failure,
            );
            builds::table
                .filter(builds::pipeline_id.among(ids))
                .filter(builds::superseded.eq(false))
                .select(columns)
                .distinct()
                .load(conn)
        })?;
        let row =
            |(pipeline, index, name, status, allow_failure): (i64, i32, String, String, bool)| {
                let status = parse_status(&status)?;
                Ok((PipelineId(pipeline), StageSummary { index, name, status, allow_failure }))
            };
        let stages: Result<Vec<_>, StoreError> = rows.into_iter().map(row).collect();
        let mut stages = stages?;
        stages.sort_by_key(|(pipeline, stage)| {
            (*pipeline, stage.index, stage.status.as_str(), stage.allow_failure)
        });
        Ok(stages)
    }

    fn define(
        &mut self,
        pipeline: PipelineId,
        definition: &BuildDefinition,
    ) -> Result<DefinitionId, StoreError> {
        let values = (
            build_definitions::pipeline_id.eq(pipeline.0),
            build_definitions::commands.eq(backend::without_nul(&definition.commands)),
            build_definitions::options.eq(build_definition::options_to_text(&definition.options)),
            build_definitions::variables
                .eq(build_definition::variables_to_text(&definition.variables)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(build_definitions::table)
                .values(values)
                .returning(build_definitions::id)
                .get_result(conn)
        })?;
        Ok(DefinitionId(id))
    }

    fn definition(&mut self, id: DefinitionId) -> Result<Option<BuildDefinition>, StoreError> {
        let row: Option<(String, String, String)> = self.run(|conn| {
            build_definitions::table
                .find(id.0)
                .select((
                    build_definitions::commands,
                    build_definitions::options,
                    build_definitions::variables,
                ))
                .get_result(conn)
                .optional()
        })?;
        let Some((commands, options, variables)) = row else { return Ok(None) };
        let definition = build_definition::from_texts(commands, &options, &variables);
        let corrupt = StoreError::Corrupt("definition of a build");
        self.fail_on_error(definition.map(Some).ok_or(corrupt))
    }

    fn insert(&mut self, new: NewBuild) -> Result<Build, StoreError> {
        let earlier = builds::table
            .filter(builds::pipeline_id.eq(new.pipeline.0))
            .filter(builds::name.eq(backend::without_nul(&new.name)))
            .filter(builds::superseded.eq(false));
        self.run(|conn| diesel::update(earlier).set(builds::superseded.eq(true)).execute(conn))?;
        let (kind, definition, target_url, description) = match &new.kind {
            BuildKind::Job(definition) => (JOB, Some(definition.0), None, None),
            BuildKind::External { target_url, description } => {
                (EXTERNAL, None, target_url.as_deref(), description.as_deref())
            }
        };
        let queued = (new.status == Status::Pending).then_some(new.at);
        let values = (
            (
                builds::project_id.eq(new.project.0),
                builds::pipeline_id.eq(new.pipeline.0),
                builds::definition_id.eq(definition),
                builds::kind.eq(kind),
                builds::name.eq(backend::without_nul(&new.name)),
                builds::stage.eq(backend::without_nul(&new.stage)),
                builds::stage_index.eq(new.stage_index),
                builds::status.eq(new.status.as_str()),
                builds::run_when.eq(new.when.as_str()),
                builds::allow_failure.eq(new.allow_failure),
            ),
            (
                builds::tags.eq(tags_to_text(&new.tags)),
                builds::superseded.eq(false),
                builds::user_id.eq(new.user.map(|user| user.0)),
                builds::target_url.eq(target_url.map(backend::without_nul)),
                builds::description.eq(description.map(backend::without_nul)),
                builds::created_at.eq(to_naive(new.at)),
                builds::updated_at.eq(to_naive(new.at)),
                builds::queued_at.eq(to_naive_opt(queued)),
            ),
        );
        let id = self.run(|conn| {
            diesel::insert_into(builds::table).values(values).returning(builds::id).get_result(conn)
        })?;
        Ok(Build {
            id: BuildId(id),
            project: new.project,
            pipeline: new.pipeline,
            kind: new.kind,
            name: new.name,
            stage: new.stage,
            stage_index: new.stage_index,
            status: new.status,
            when: new.when,
            allow_failure: new.allow_failure,
            tags: new.tags,
            superseded: false,
            user: new.user,
            runner: None,
            coverage: None,
            artifacts: None,
            erased_at: None,
            created_at: new.at,
            updated_at: new.at,
            queued_at: queued,
            started_at: None,
            finished_at: None,
        })
    }

    fn update(&mut self, build: &Build) -> Result<(), StoreError> {
        let artifacts = build.artifacts.as_ref();
        let size = |file: &Artifacts| i64::try_from(file.size).unwrap_or(i64::MAX);
        let values = (
            builds::status.eq(build.status.as_str()),
            builds::user_id.eq(build.user.map(|user| user.0)),
            builds::runner_id.eq(build.runner.map(|runner| runner.0)),
            builds::coverage.eq(build.coverage.map(|coverage| coverage.to_string())),
            builds::artifacts_name.eq(artifacts.map(|file| backend::without_nul(&file.file_name))),
            builds::artifacts_size.eq(artifacts.map(size)),
            builds::artifacts_expire_at.eq(to_naive_opt(artifacts.and_then(|file| file.expire_at))),
            builds::erased_at.eq(to_naive_opt(build.erased_at)),
            builds::updated_at.eq(to_naive(build.updated_at)),
            builds::queued_at.eq(to_naive_opt(build.queued_at)),
            builds::started_at.eq(to_naive_opt(build.started_at)),
            builds::finished_at.eq(to_naive_opt(build.finished_at)),
        );
        let row = builds::table.find(build.id.0);
        self.write(|conn| diesel::update(row).set(values).execute(conn))
    }

    fn next_for(&mut self, runner: &Runner, limit: u32) -> Result<Vec<Build>, StoreError> {
        let ids = self.pending_for(runner, limit)?;
        if ids.is_empty() { Ok(vec![]) } else { self.builds_by_id(&ids) }
    }

    fn running_on(&mut self, runner: RunnerId) -> Result<Vec<Build>, StoreError> {
        let ids = self.ids(
            Sql::new("SELECT id FROM builds WHERE status = 'running' AND kind = 'build' AND runner_id = ")
                .id(runner.0)
                .sql(" AND ")
                .then(removal::project_exists("builds.project_id"))
                .sql(" ORDER BY id"),
        )?;
        self.builds_by_id(&ids)
    }

    fn silent_since(&mut self, since: Silence, limit: u32) -> Result<Vec<Build>, StoreError> {
        let ids = self.ids(
            Sql::new(
                "SELECT id FROM builds \
                 WHERE status IN ('pending', 'running') AND kind = 'build' AND updated_at <= ",
            )
            .moment(to_naive(since.pending.max(since.running)))
            .sql(" AND (status = 'pending' AND updated_at <= ")
            .moment(to_naive(since.pending))
            .sql(" OR status = 'running' AND updated_at <= ")
            .moment(to_naive(since.running))
            .sql(") AND ")
            .then(removal::project_exists("builds.project_id"))
            .sql(" ORDER BY updated_at, id LIMIT ")
            .id(i64::from(limit)),
        )?;
        self.builds_by_id(&ids)
    }

    fn with_artifacts_expired(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Build>, StoreError> {
        let ids = self.ids(
            Sql::new("SELECT id FROM builds WHERE artifacts_expire_at <= ")
                .moment(to_naive(now))
                .sql(" AND ")
                .then(removal::project_exists("builds.project_id"))
                .sql(" ORDER BY artifacts_expire_at, id LIMIT ")
                .id(i64::from(limit)),
        )?;
        self.builds_by_id(&ids)
    }
}
