//! Fake of the repository tasks.

use super::tx::{FakeTx, Tables};
use hexforge_domain::Timestamp;
use hexforge_domain::id::{ProjectId, RepositoryTaskId, UserId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::repository::port::RepositoryTasks;
use hexforge_domain::repository::task::{
    ImportState, MAX_ATTEMPTS, MAX_CONCURRENT_IMPORTS, MAX_CONCURRENT_MERGES, NEVER_FINISHED,
    RepositoryTask, TaskKind,
};
use hexforge_domain::text::Secret;
use std::collections::BTreeMap;

#[derive(Clone, PartialEq)]
pub(super) struct TaskRow {
    pub id: RepositoryTaskId,
    pub project: ProjectId,
    pub kind: TaskKind,
    pub tries: u32,
    /// `None` after the task was given up.
    pub due: Option<Timestamp>,
    pub error: Option<String>,
}

impl TaskRow {
    fn is_import(&self) -> bool {
        matches!(self.kind, TaskKind::Import { .. })
    }

    fn is_merge(&self) -> bool {
        matches!(self.kind, TaskKind::MergeAutomatically { .. })
    }

    /// Returns whether the task is claimed and the claim has not expired.
    fn is_under_way(&self, now: Timestamp) -> bool {
        self.tries > 0 && self.error.is_none() && self.due.is_some_and(|due| due > now)
    }

    /// The user with whom the task is deleted.
    pub fn user(&self) -> Option<UserId> {
        self.kind.owner()
    }
}

impl Tables {
    /// Returns whether a task is due, all older tasks of its project are done or given up, and the
    /// limits of imports and merges allow it.
    fn is_claimable(&self, task: &TaskRow, now: Timestamp) -> bool {
        let older = |other: &&TaskRow| other.project == task.project && other.id < task.id;
        let waiting = self.repository_tasks.iter().filter(older).any(|other| other.due.is_some());
        let under_way = |other: &&TaskRow| {
            other.is_import() && other.user() == task.user() && other.is_under_way(now)
        };
        let others = self.repository_tasks.iter().filter(under_way).count();
        let merging = |other: &&TaskRow| other.is_merge() && other.is_under_way(now);
        let merges = self.repository_tasks.iter().filter(merging).count();
        task.due.is_some_and(|due| due <= now)
            && task.tries < MAX_ATTEMPTS
            && !waiting
            && !(task.is_import() && others as i64 >= MAX_CONCURRENT_IMPORTS)
            && !(task.is_merge() && merges as i64 >= MAX_CONCURRENT_MERGES)
    }

    fn oldest(&self, which: impl Fn(&TaskRow) -> bool) -> Option<RepositoryTaskId> {
        let tasks = self.repository_tasks.iter().filter(|task| which(task));
        tasks.min_by_key(|task| (task.due, task.id)).map(|task| task.id)
    }

    fn task(&mut self, id: RepositoryTaskId) -> Option<&mut TaskRow> {
        self.repository_tasks.iter_mut().find(|task| task.id == id)
    }

    fn claim(&mut self, id: RepositoryTaskId, until: Timestamp) -> Option<RepositoryTask> {
        let task = self.task(id)?;
        task.tries += 1;
        task.due = Some(until);
        task.error = None;
        let kind = task.kind.clone();
        Some(RepositoryTask { id, project: task.project, kind, tries: task.tries })
    }
}

impl FakeTx {
    fn give_up_one(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let is_over =
            |task: &TaskRow| task.tries >= MAX_ATTEMPTS && task.due.is_some_and(|due| due <= now);
        match self.tables.oldest(is_over) {
            Some(id) => self.fail(id, NEVER_FINISHED, None),
            None => Ok(()),
        }
    }
}

impl RepositoryTasks for FakeTx {
    fn insert(
        &mut self,
        project: ProjectId,
        kind: &TaskKind,
        at: Timestamp,
    ) -> Result<RepositoryTaskId, StoreError> {
        self.require_project(project)?;
        let id = RepositoryTaskId(self.next_id());
        let row = TaskRow { id, project, kind: kind.clone(), tries: 0, due: Some(at), error: None };
        if let Some(user) = row.user() {
            self.require_user(user)?;
        }
        self.tables.repository_tasks.push(row);
        Ok(id)
    }

    fn claim(
        &mut self,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<RepositoryTask>, StoreError> {
        self.give_up_one(now)?;
        let oldest = self.tables.oldest(|task| self.tables.is_claimable(task, now));
        Ok(oldest.and_then(|id| self.tables.claim(id, until)))
    }

    fn claim_local(
        &mut self,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<RepositoryTask>, StoreError> {
        self.give_up_one(now)?;
        let is_local = |task: &TaskRow| !task.is_import() && self.tables.is_claimable(task, now);
        let oldest = self.tables.oldest(is_local);
        Ok(oldest.and_then(|id| self.tables.claim(id, until)))
    }

    fn finish(&mut self, id: RepositoryTaskId) -> Result<(), StoreError> {
        self.tables.repository_tasks.retain(|task| task.id != id);
        Ok(())
    }

    fn extend(&mut self, id: RepositoryTaskId, until: Timestamp) -> Result<(), StoreError> {
        let is_running =
            |task: &&mut TaskRow| task.tries > 0 && task.error.is_none() && task.due.is_some();
        if let Some(task) = self.tables.task(id).filter(is_running) {
            task.due = Some(until);
        }
        Ok(())
    }

    fn fail(
        &mut self,
        id: RepositoryTaskId,
        reason: &str,
        again: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let Some(task) = self.tables.task(id) else { return Ok(()) };
        task.error = Some(reason.replace('\0', ""));
        task.due = again;
        if let (None, TaskKind::Import { url, .. }) = (again, &mut task.kind) {
            *url = Secret::new(String::new());
        }
        Ok(())
    }

    fn imports(
        &mut self,
        projects: &[ProjectId],
    ) -> Result<Vec<(ProjectId, ImportState)>, StoreError> {
        let mut newest = BTreeMap::new();
        let asked = self.tables.repository_tasks.iter().filter(|t| projects.contains(&t.project));
        for task in asked.filter(|task| matches!(task.kind, TaskKind::Import { .. })) {
            let state = match (task.due, task.error.clone()) {
                (Some(_), None) => ImportState::Started,
                (Some(_), Some(error)) => ImportState::Retrying(error),
                (None, error) => ImportState::Failed(error.unwrap_or_default()),
            };
            newest.insert(task.project, state);
        }
        Ok(newest.into_iter().collect())
    }
}
