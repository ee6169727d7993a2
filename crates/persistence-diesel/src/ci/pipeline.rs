//! Pipelines.

use chrono::{DateTime, FixedOffset, NaiveDateTime};
use diesel::dsl::exists;
use diesel::prelude::*;
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{PipelineId, ProjectId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::pipeline::port::Pipelines;
use hexforge_domain::pipeline::{CommitFacts, NewPipeline, Pipeline, PipelineScope};
use hexforge_domain::ports::store::StoreError;

use crate::database::backend::{self, Backend};
use crate::database::schema::{pipelines, projects, ref_pipelines};
use crate::database::time::{to_naive, to_naive_opt, to_utc, to_utc_opt};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::sql::Sql;

/// A row of `pipelines`, without the commit data, which is long and rarely needed.
#[derive(Queryable, Selectable)]
#[diesel(table_name = pipelines)]
struct PipelineRow {
    id: i64,
    project_id: i64,
    user_id: Option<i64>,
    sha: String,
    before_sha: String,
    reference: String,
    tag: bool,
    status: String,
    yaml_errors: Option<String>,
    duration: Option<i64>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
    started_at: Option<NaiveDateTime>,
    finished_at: Option<NaiveDateTime>,
}

/// The columns are the same on both databases. The type has to name one of them.
type Columns = <PipelineRow as Selectable<diesel::pg::Pg>>::SelectExpression;

fn columns() -> Columns {
    <PipelineRow as Selectable<diesel::pg::Pg>>::construct_selection()
}

/// Selects the id of the project of a pipeline.
fn project_of(pipeline: PipelineId) -> Sql {
    Sql::new("SELECT id FROM projects WHERE id = (SELECT project_id FROM pipelines WHERE id = ")
        .id(pipeline.0)
        .sql(")")
}

pub(crate) fn parse_status(word: &str) -> Result<Status, StoreError> {
    Status::parse(word).ok_or(StoreError::Corrupt("status"))
}

fn parse_commit_id(name: &str) -> Result<ObjectId, StoreError> {
    ObjectId::parse(name).ok_or(StoreError::Corrupt("name of a commit"))
}

impl TryFrom<PipelineRow> for Pipeline {
    type Error = StoreError;

    fn try_from(row: PipelineRow) -> Result<Self, StoreError> {
        Ok(Pipeline {
            id: PipelineId(row.id),
            project: ProjectId(row.project_id),
            user: row.user_id.map(UserId),
            sha: parse_commit_id(&row.sha)?,
            before_sha: parse_commit_id(&row.before_sha)?,
            reference: row.reference,
            tag: row.tag,
            status: parse_status(&row.status)?,
            yaml_errors: row.yaml_errors,
            duration: row.duration,
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
            started_at: to_utc_opt(row.started_at),
            finished_at: to_utc_opt(row.finished_at),
        })
    }
}

#[derive(Queryable)]
struct CommitRow {
    pipeline: i64,
    message: String,
    author_name: String,
    author_email: String,
    authored_at: String,
    committed_at: String,
}

impl TryFrom<CommitRow> for (PipelineId, CommitFacts) {
    type Error = StoreError;

    fn try_from(row: CommitRow) -> Result<Self, StoreError> {
        let commit = CommitFacts {
            message: row.message,
            author_name: row.author_name,
            author_email: row.author_email,
            authored_at: parse_date(&row.authored_at)?,
            committed_at: parse_date(&row.committed_at)?,
        };
        Ok((PipelineId(row.pipeline), commit))
    }
}

fn parse_date(text: &str) -> Result<DateTime<FixedOffset>, StoreError> {
    DateTime::parse_from_rfc3339(text).map_err(|_| StoreError::Corrupt("date of a commit"))
}

impl DieselTx<'_> {
    /// Returns the pipelines with these ids, in the order of the ids.
    fn pipelines_by_id(&mut self, ids: &[i64]) -> Result<Vec<Pipeline>, StoreError> {
        let mut rows: Vec<PipelineRow> = self.by_ids(ids, |conn, ids| {
            pipelines::table.filter(pipelines::id.among(ids)).select(columns()).load(conn)
        })?;
        page::arrange(&mut rows, ids, |row| row.id);
        self.convert_rows(rows)
    }
}

impl Pipelines for DieselTx<'_> {
    /// Two queries, and one for the total unless the page shows the end of the list.
    fn list(
        &mut self,
        project: ProjectId,
        scope: PipelineScope,
        page: Page,
    ) -> Result<Paged<Pipeline>, StoreError> {
        let of = |query: &'static str| Sql::new(query).id(project.0);
        const ALL: &str = "SELECT id FROM pipelines WHERE project_id = ";
        const OF_REFS: &str =
            "SELECT pipeline_id FROM ref_pipelines WHERE present AND project_id = ";
        let (fitting, order) = match scope {
            PipelineScope::All => (of(ALL), " ORDER BY id DESC"),
            PipelineScope::Active => {
                (of(ALL).sql(" AND status IN ('pending', 'running')"), " ORDER BY id DESC")
            }
            PipelineScope::Branches => {
                (of(OF_REFS).sql(" AND tag = FALSE"), " ORDER BY pipeline_id DESC")
            }
            PipelineScope::Tags => {
                (of(OF_REFS).sql(" AND tag = TRUE"), " ORDER BY pipeline_id DESC")
            }
        };
        let (ids, total) =
            self.page_of(fitting, order, page, || format!("pipelines of {project} {scope:?}"))?;
        Ok(Paged { items: self.pipelines_by_id(&ids)?, total })
    }

    fn note_ref(
        &mut self,
        project: ProjectId,
        tag: bool,
        reference: &str,
        present: bool,
    ) -> Result<(), StoreError> {
        if backend::contains_nul(reference) {
            return Ok(());
        }
        let row = ref_pipelines::table.find((project.0, tag, reference));
        self.write(|conn| diesel::update(row).set(ref_pipelines::present.eq(present)).execute(conn))
    }

    fn find(&mut self, project: ProjectId, id: PipelineId) -> Result<Option<Pipeline>, StoreError> {
        self.read_row(|conn| {
            pipelines::table
                .find(id.0)
                .filter(pipelines::project_id.eq(project.0))
                .select(columns())
                .get_result::<PipelineRow>(conn)
                .optional()
        })
    }

    fn find_all(&mut self, ids: &[PipelineId]) -> Result<Vec<Pipeline>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        self.pipelines_by_id(&ids)
    }

    fn lock(&mut self, id: PipelineId) -> Result<Option<Pipeline>, StoreError> {
        // Locks the project first, like the removal of a project.
        self.lock_rows(project_of(id).sql(" FOR KEY SHARE"))?;
        let its_project = projects::table.filter(projects::id.eq(pipelines::project_id));
        let query = pipelines::table.find(id.0).filter(exists(its_project)).select(columns());
        self.read_row(|conn| load_locked!(conn, query, PipelineRow))
    }

    fn try_lock(&mut self, id: PipelineId) -> Result<Option<Pipeline>, StoreError> {
        if self.backend() == Backend::Postgres {
            let held = self.ids(project_of(id).sql(" FOR KEY SHARE SKIP LOCKED"))?;
            if held.is_empty() {
                return Ok(None);
            }
        }
        let its_project = projects::table.filter(projects::id.eq(pipelines::project_id));
        let query = pipelines::table.find(id.0).filter(exists(its_project)).select(columns());
        self.read_row(|conn| load_locked!(conn, query, PipelineRow, skip_locked))
    }

    fn newest_with_status(
        &mut self,
        project: ProjectId,
        reference: &str,
        status: Status,
    ) -> Result<Option<Pipeline>, StoreError> {
        if backend::contains_nul(reference) {
            return Ok(None);
        }
        self.read_row(|conn| {
            pipelines::table
                .filter(pipelines::project_id.eq(project.0))
                .filter(pipelines::reference.eq(reference))
                .filter(pipelines::status.eq(status.as_str()))
                .order(pipelines::id.desc())
                .select(columns())
                .first::<PipelineRow>(conn)
                .optional()
        })
    }

    fn of_commit(
        &mut self,
        project: ProjectId,
        sha: ObjectId,
    ) -> Result<Vec<Pipeline>, StoreError> {
        self.read_rows(|conn| {
            pipelines::table
                .filter(pipelines::project_id.eq(project.0))
                .filter(pipelines::sha.eq(sha.to_string()))
                .order(pipelines::id.desc())
                .select(columns())
                .load::<PipelineRow>(conn)
        })
    }

    fn of_commits(
        &mut self,
        project: ProjectId,
        shas: &[ObjectId],
    ) -> Result<Vec<Pipeline>, StoreError> {
        let shas: Vec<String> = shas.iter().map(ToString::to_string).collect();
        let shas: Vec<&str> = shas.iter().map(String::as_str).collect();
        let rows: Vec<PipelineRow> = self.by_ids(&shas, |conn, shas| {
            pipelines::table
                .filter(pipelines::project_id.eq(project.0))
                .filter(pipelines::sha.among(shas))
                .select(columns())
                .load(conn)
        })?;
        self.convert_rows(rows)
    }

    fn commits(
        &mut self,
        ids: &[PipelineId],
    ) -> Result<Vec<(PipelineId, CommitFacts)>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let rows: Vec<CommitRow> = self.by_ids(&ids, |conn, ids| {
            pipelines::table
                .filter(pipelines::id.among(ids))
                .select((
                    pipelines::id,
                    pipelines::commit_message,
                    pipelines::commit_author_name,
                    pipelines::commit_author_email,
                    pipelines::commit_authored_at,
                    pipelines::commit_committed_at,
                ))
                .load(conn)
        })?;
        self.convert_rows(rows)
    }

    fn insert(&mut self, new: NewPipeline) -> Result<Pipeline, StoreError> {
        let values = (
            (
                pipelines::project_id.eq(new.project.0),
                pipelines::user_id.eq(new.user.map(|user| user.0)),
                pipelines::sha.eq(new.sha.to_string()),
                pipelines::before_sha.eq(new.before_sha.to_string()),
                pipelines::reference.eq(&new.reference),
                pipelines::tag.eq(new.tag),
                pipelines::status.eq(new.status.as_str()),
                pipelines::yaml_errors.eq(new.yaml_errors.as_deref().map(backend::without_nul)),
                pipelines::created_at.eq(to_naive(new.at)),
                pipelines::updated_at.eq(to_naive(new.at)),
            ),
            (
                pipelines::commit_message.eq(backend::without_nul(&new.commit.message)),
                pipelines::commit_author_name.eq(backend::without_nul(&new.commit.author_name)),
                pipelines::commit_author_email.eq(backend::without_nul(&new.commit.author_email)),
                pipelines::commit_authored_at.eq(new.commit.authored_at.to_rfc3339()),
                pipelines::commit_committed_at.eq(new.commit.committed_at.to_rfc3339()),
            ),
        );
        let row: PipelineRow = self.run(|conn| {
            diesel::insert_into(pipelines::table)
                .values(values)
                .returning(columns())
                .get_result(conn)
        })?;
        let key = (
            ref_pipelines::project_id.eq(new.project.0),
            ref_pipelines::tag.eq(new.tag),
            ref_pipelines::reference.eq(&new.reference),
        );
        let newest = ref_pipelines::pipeline_id.eq(row.id);
        self.run(|conn| {
            each_backend!(conn, c => diesel::insert_into(ref_pipelines::table)
                .values((key, newest, ref_pipelines::present.eq(true)))
                .on_conflict((
                    ref_pipelines::project_id,
                    ref_pipelines::tag,
                    ref_pipelines::reference,
                ))
                .do_update()
                .set(newest)
                .execute(c))
        })?;
        self.fail_on_error(Pipeline::try_from(row))
    }

    fn update(&mut self, pipeline: &Pipeline) -> Result<(), StoreError> {
        let values = (
            pipelines::status.eq(pipeline.status.as_str()),
            pipelines::duration.eq(pipeline.duration),
            pipelines::updated_at.eq(to_naive(pipeline.updated_at)),
            pipelines::started_at.eq(to_naive_opt(pipeline.started_at)),
            pipelines::finished_at.eq(to_naive_opt(pipeline.finished_at)),
        );
        let row = pipelines::table.find(pipeline.id.0);
        self.write(|conn| diesel::update(row).set(values).execute(conn))
    }
}
