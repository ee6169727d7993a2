//! Background tasks on repositories.

use std::collections::BTreeMap;

use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{ProjectId, RepositoryTaskId, UserId};
use hexforge_domain::merge_request::{BranchPush, RequestBranch};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::repository::port::RepositoryTasks;
use hexforge_domain::repository::task::{
    ImportState, MAX_ATTEMPTS, MAX_CONCURRENT_IMPORTS, MAX_CONCURRENT_MERGES, NEVER_FINISHED,
    RepositoryTask, TaskKind,
};
use hexforge_domain::unique::sorted_unique;

use crate::database::backend;
use crate::database::json::{from_text, stored, to_text};
use crate::database::schema::repository_tasks;
use crate::database::seal::{Purpose, Seals};
use crate::database::time::{to_naive, to_naive_opt};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::sql::Sql;

const IMPORT: &str = "import";

/// The columns of a task's kind.
#[derive(Insertable, Queryable)]
#[diesel(table_name = repository_tasks)]
struct KindRow {
    kind: String,
    source_id: Option<i64>,
    user_id: Option<i64>,
    url: Option<String>,
    data: Option<String>,
}

impl KindRow {
    fn new(kind: &TaskKind, seals: &Seals) -> Result<Self, StoreError> {
        let (word, source_id, url, data) = match kind {
            TaskKind::Copy { source } => ("copy", Some(source.0), None, None),
            TaskKind::Import { url, .. } => (IMPORT, None, Some(url), None),
            TaskKind::RemoveMerged { .. } => ("remove_merged", None, None, None),
            TaskKind::RemoveSourceBranch { branch, head, .. } => {
                let data = BranchHead { branch: branch.clone(), head: *head };
                ("remove_source_branch", None, None, Some(to_text(&data)))
            }
            TaskKind::RefreshMergeRequests(push) => {
                ("refresh_merge_requests", None, None, Some(to_text(push)))
            }
            TaskKind::CloseRequestsOfFork { source, user } => {
                let data = to_text(&ClosingUser { user: *user });
                ("close_requests_of_fork", Some(source.0), None, Some(data))
            }
            TaskKind::StopEnvironments { branches, .. } => {
                let data = DeletedBranches { branches: branches.clone() };
                ("stop_environments", None, None, Some(to_text(&data)))
            }
            TaskKind::MergeAutomatically { branch, head } => {
                let data = BranchHead { branch: branch.clone(), head: *head };
                ("merge_automatically", None, None, Some(to_text(&data)))
            }
        };
        Ok(Self {
            kind: word.to_owned(),
            source_id,
            user_id: kind.owner().map(|user| user.0),
            url: seals.seal_opt(Purpose::ImportUrl, url)?,
            data,
        })
    }

    fn read(self, seals: &Seals) -> Result<TaskKind, StoreError> {
        let user = self.user_id.map(UserId);
        let url = seals.open_opt(Purpose::ImportUrl, self.url.as_deref())?;
        let source = self.source_id.map(ProjectId);
        let data = self.data.as_deref();
        let kind = match (self.kind.as_str(), source, user, url, data) {
            ("copy", Some(source), None, None, None) => Some(TaskKind::Copy { source }),
            (IMPORT, None, Some(user), Some(url), None) => Some(TaskKind::Import { url, user }),
            ("remove_merged", None, Some(user), None, None) => {
                Some(TaskKind::RemoveMerged { user })
            }
            ("remove_source_branch", None, Some(user), None, Some(data)) => {
                let kind = |BranchHead { branch, head }| TaskKind::RemoveSourceBranch {
                    branch,
                    head,
                    user,
                };
                from_text(data).map(kind)
            }
            ("refresh_merge_requests", None, None, None, Some(data)) => {
                from_text(data).map(TaskKind::RefreshMergeRequests)
            }
            ("close_requests_of_fork", Some(source), None, None, Some(data)) => from_text(data)
                .map(|ClosingUser { user }| TaskKind::CloseRequestsOfFork { source, user }),
            ("stop_environments", None, Some(user), None, Some(data)) => from_text(data)
                .map(|DeletedBranches { branches }| TaskKind::StopEnvironments { branches, user }),
            ("merge_automatically", None, None, None, Some(data)) => from_text(data)
                .map(|BranchHead { branch, head }| TaskKind::MergeAutomatically { branch, head }),
            _ => None,
        };
        kind.ok_or(StoreError::Corrupt("repository task"))
    }
}

/// The user who deleted a fork.
struct ClosingUser {
    user: UserId,
}

/// The branches that a push deleted.
struct DeletedBranches {
    branches: Vec<BranchName>,
}

/// A commit of a branch.
struct BranchHead {
    branch: RequestBranch,
    head: ObjectId,
}

stored! {
    BranchPush {
        branch: RequestBranch,
        #[serde(default)] old: Option<ObjectId>,
        #[serde(default)] new: Option<ObjectId>,
        #[serde(rename = "user_id")] user: UserId,
        version: i64,
    }

    ClosingUser {
        #[serde(rename = "user_id")] user: UserId,
    }

    DeletedBranches {
        branches: Vec<BranchName>,
    }

    BranchHead {
        branch: RequestBranch,
        head: ObjectId,
    }
}

/// Selects the tasks that can be claimed: they are due, their project has no older task that is still to be run, and
/// fewer imports of their user, or automatic merges of all projects, are running than the limit allows.
fn claimable(now: Timestamp) -> Sql {
    Sql::new("SELECT task.id FROM repository_tasks AS task WHERE task.due_at <= ")
        .moment(to_naive(now))
        .sql(" AND task.tries < ")
        .id(i64::from(MAX_ATTEMPTS))
        .sql(
            " AND NOT EXISTS (SELECT 1 FROM repository_tasks AS older \
             WHERE older.project_id = task.project_id AND older.id < task.id \
             AND older.due_at IS NOT NULL) \
             AND (task.kind <> 'import' OR (SELECT COUNT(*) FROM repository_tasks AS other \
             WHERE other.user_id = task.user_id AND other.kind = 'import' AND other.tries > 0 \
             AND other.error IS NULL AND other.due_at > ",
        )
        .moment(to_naive(now))
        .sql(") < ")
        .id(MAX_CONCURRENT_IMPORTS)
        .sql(
            ") AND (task.kind <> 'merge_automatically' OR \
             (SELECT COUNT(*) FROM repository_tasks AS merging \
             WHERE merging.kind = 'merge_automatically' AND merging.tries > 0 \
             AND merging.error IS NULL AND merging.due_at > ",
        )
        .moment(to_naive(now))
        .sql(") < ")
        .id(MAX_CONCURRENT_MERGES)
        .sql(")")
}

/// The end of a query that selects the task that is due first.
const FIRST_DUE: &str = " ORDER BY task.due_at, task.id LIMIT 1";

impl DieselTx<'_> {
    /// Locks the project of a task. The removal of a project or user also locks the project before the task.
    fn lock_project_of_task(&mut self, id: RepositoryTaskId) -> Result<(), StoreError> {
        self.lock_rows(
            Sql::new("SELECT id FROM projects WHERE id = (SELECT project_id FROM repository_tasks WHERE id = ")
                .id(id.0)
                .sql(") FOR KEY SHARE"),
        )
    }

    /// Fails one task that has used up its attempts.
    fn fail_exhausted_task(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let query = Sql::new("SELECT task.id FROM repository_tasks AS task WHERE task.due_at <= ")
            .moment(to_naive(now))
            .sql(" AND task.tries >= ")
            .id(i64::from(MAX_ATTEMPTS))
            .sql(FIRST_DUE);
        match self.ids(query)?.into_iter().next() {
            Some(id) => RepositoryTasks::fail(self, RepositoryTaskId(id), NEVER_FINISHED, None),
            None => Ok(()),
        }
    }

    /// Claims the task that a query selects, unless another transaction is claiming it.
    fn claim_selected(
        &mut self,
        query: Sql,
        until: Timestamp,
    ) -> Result<Option<RepositoryTask>, StoreError> {
        let query = query.sql(backend::skip_locked_clause(self.backend()));
        let Some(id) = self.ids(query)?.into_iter().next() else { return Ok(None) };
        let values = (
            repository_tasks::tries.eq(repository_tasks::tries + 1),
            repository_tasks::due_at.eq(to_naive(until)),
            // With the error of an earlier attempt the task would count as waiting, not as running.
            repository_tasks::error.eq(None::<&str>),
        );
        let (project, tries, kind): (i64, i32, KindRow) = self.run(|conn| {
            diesel::update(repository_tasks::table.find(id))
                .set(values)
                .returning((
                    repository_tasks::project_id,
                    repository_tasks::tries,
                    (
                        repository_tasks::kind,
                        repository_tasks::source_id,
                        repository_tasks::user_id,
                        repository_tasks::url,
                        repository_tasks::data,
                    ),
                ))
                .get_result(conn)
        })?;
        let kind = self.fail_on_error(kind.read(self.seals))?;
        Ok(Some(RepositoryTask {
            id: RepositoryTaskId(id),
            project: ProjectId(project),
            kind,
            tries: tries.unsigned_abs(),
        }))
    }
}

impl RepositoryTasks for DieselTx<'_> {
    fn insert(
        &mut self,
        project: ProjectId,
        kind: &TaskKind,
        at: Timestamp,
    ) -> Result<RepositoryTaskId, StoreError> {
        // Inserts of one project are serialized. Otherwise a task could become visible before an older one, and
        // both could be claimed.
        self.lock_rows(
            Sql::new("SELECT id FROM projects WHERE id = ").id(project.0).sql(" FOR NO KEY UPDATE"),
        )?;
        let kind = self.fail_on_error(KindRow::new(kind, self.seals))?;
        let values = (
            repository_tasks::project_id.eq(project.0),
            kind,
            repository_tasks::due_at.eq(to_naive(at)),
            repository_tasks::created_at.eq(to_naive(at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(repository_tasks::table)
                .values(values)
                .returning(repository_tasks::id)
                .get_result(conn)
        })?;
        Ok(RepositoryTaskId(id))
    }

    fn claim(
        &mut self,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<RepositoryTask>, StoreError> {
        self.fail_exhausted_task(now)?;
        self.claim_selected(claimable(now).sql(FIRST_DUE), until)
    }

    fn claim_local(
        &mut self,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<RepositoryTask>, StoreError> {
        self.fail_exhausted_task(now)?;
        let local = claimable(now).sql(" AND task.kind <> 'import'").sql(FIRST_DUE);
        self.claim_selected(local, until)
    }

    fn extend(&mut self, id: RepositoryTaskId, until: Timestamp) -> Result<(), StoreError> {
        self.lock_project_of_task(id)?;
        let running = repository_tasks::table
            .find(id.0)
            .filter(repository_tasks::tries.gt(0))
            .filter(repository_tasks::error.is_null())
            .filter(repository_tasks::due_at.is_not_null());
        let until = repository_tasks::due_at.eq(to_naive(until));
        self.write(|conn| diesel::update(running).set(until).execute(conn))
    }

    fn finish(&mut self, id: RepositoryTaskId) -> Result<(), StoreError> {
        self.lock_project_of_task(id)?;
        self.write(|conn| diesel::delete(repository_tasks::table.find(id.0)).execute(conn))
    }

    fn fail(
        &mut self,
        id: RepositoryTaskId,
        reason: &str,
        again: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        self.lock_project_of_task(id)?;
        let row = repository_tasks::table.find(id.0);
        let values = (
            repository_tasks::error.eq(backend::without_nul(reason)),
            repository_tasks::due_at.eq(to_naive_opt(again)),
        );
        self.write(|conn| match again {
            Some(_) => diesel::update(row).set(values).execute(conn),
            None => {
                let forgotten = repository_tasks::url.eq(None::<&str>);
                diesel::update(row).set((values, forgotten)).execute(conn)
            }
        })
    }

    fn imports(
        &mut self,
        projects: &[ProjectId],
    ) -> Result<Vec<(ProjectId, ImportState)>, StoreError> {
        let ids = sorted_unique(projects.iter().map(|id| id.0));
        let rows: Vec<(i64, bool, Option<String>)> = self.by_ids(&ids, |conn, ids| {
            repository_tasks::table
                .filter(repository_tasks::project_id.among(ids))
                .filter(repository_tasks::kind.eq(IMPORT))
                .order((repository_tasks::project_id, repository_tasks::id))
                .select((
                    repository_tasks::project_id,
                    repository_tasks::due_at.is_null(),
                    repository_tasks::error,
                ))
                .load(conn)
        })?;
        // For several imports of a project the newest one stays.
        let newest: BTreeMap<ProjectId, ImportState> = (rows.into_iter())
            .map(|(project, given_up, error)| {
                let state = match (given_up, error) {
                    (true, error) => ImportState::Failed(error.unwrap_or_default()),
                    (false, Some(error)) => ImportState::Retrying(error),
                    (false, None) => ImportState::Started,
                };
                (ProjectId(project), state)
            })
            .collect();
        Ok(newest.into_iter().collect())
    }
}
