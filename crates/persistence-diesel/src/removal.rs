//! Updates and locks that the removal of a user, group or project needs on rows that stay.

pub(crate) mod steps;

use hexforge_domain::id::UserId;
use hexforge_domain::ports::store::StoreError;

use crate::database::backend::Backend;
use crate::database::tx::DieselTx;
use crate::query::sql::Sql;

impl DieselTx<'_> {
    /// Removes the references to a user, and to the projects removed with it, from the projects that stay: star
    /// counts, creators, and fork sources. All of these projects and the user must be locked, so that no star is
    /// added meanwhile.
    pub(crate) fn remove_references_in_projects(
        &mut self,
        user: UserId,
        removed: Sql,
    ) -> Result<(), StoreError> {
        self.lock_fork_counts(removed.clone())?;
        // One statement for all changes: if a transaction updates a row twice, PostgreSQL checks all its foreign
        // keys again, and would wait for locks on namespaces and other users.
        self.execute(
            Sql::new("UPDATE projects SET creator_id = nullif(creator_id, ")
                .id(user.0)
                .sql("), forked_from_id = CASE WHEN ")
                .then(forked_from(removed.clone()))
                .sql(" THEN NULL ELSE forked_from_id END, star_count = star_count - CASE WHEN ")
                .then(starred_by(user))
                .sql(" THEN 1 ELSE 0 END WHERE ")
                .then(created_or_starred_by(user))
                .sql(" OR ")
                .then(forked_from(removed)),
        )
    }

    /// Locks the projects to remove, their forks, and `others`, by ascending id. Both conditions are on the columns
    /// of `projects`.
    pub(crate) fn lock_projects(
        &mut self,
        removed: Sql,
        others: Option<Sql>,
    ) -> Result<(), StoreError> {
        self.lock_rows(
            removed_projects_and(removed.clone(), others).sql(" ORDER BY id FOR UPDATE"),
        )?;
        self.lock_fork_counts(removed)
    }

    /// Locks the fork counters of the sources of the removed projects, by ascending id, after all projects. Without
    /// it, two removals of several forks could update the counters in different orders and deadlock.
    fn lock_fork_counts(&mut self, removed: Sql) -> Result<(), StoreError> {
        self.lock_rows(
            Sql::new(
                "SELECT project_id FROM fork_counts WHERE project_id IN \
                 (SELECT forked_from_id FROM projects WHERE ",
            )
            .then(removed)
            .sql(") ORDER BY project_id FOR UPDATE"),
        )
    }

    /// Locks the projects that a query selects, by ascending id, and then a user, so that no row can reference the
    /// user any more. If a row in another project referenced the user meanwhile, that project would later be locked
    /// out of order. In this case the locks are released by a savepoint and taken again.
    pub(crate) fn lock_user_with_projects(
        &mut self,
        user: UserId,
        projects: &Sql,
    ) -> Result<(), StoreError> {
        if self.backend() == Backend::Sqlite {
            return Ok(());
        }
        for _ in 0..LOCK_ATTEMPTS {
            self.execute(Sql::new("SAVEPOINT before_projects"))?;
            let held = self.ids(projects.clone().sql(" ORDER BY id FOR UPDATE"))?;
            self.lock_rows(
                Sql::new("SELECT id FROM users WHERE id = ").id(user.0).sql(" FOR UPDATE"),
            )?;
            let now = self.ids(projects.clone().sql(" ORDER BY id"))?;
            if now.iter().all(|project| held.binary_search(project).is_ok()) {
                return Ok(());
            }
            self.execute(Sql::new("ROLLBACK TO SAVEPOINT before_projects"))?;
        }
        Err(self.fail(StoreError::Busy))
    }
}

/// The number of attempts to lock a user, before the store reports that it is busy.
const LOCK_ATTEMPTS: u32 = 20;

/// The condition that the project of a row exists. Queries across all projects need it, because rows of a removed
/// project may not be deleted yet.
pub(crate) fn project_exists(column: &'static str) -> Sql {
    Sql::new("EXISTS (SELECT 1 FROM projects WHERE projects.id = ").sql(column).sql(")")
}

/// Selects the ids of the projects to remove, of their forks, and of `others`.
pub(crate) fn removed_projects_and(removed: Sql, others: Option<Sql>) -> Sql {
    let forks = forked_from(removed.clone());
    let all = Sql::new("SELECT id FROM projects WHERE (").then(removed).sql(" OR ").then(forks);
    match others {
        Some(others) => all.sql(" OR ").then(others).sql(")"),
        None => all.sql(")"),
    }
}

/// The condition that a user starred a row of `projects`.
fn starred_by(user: UserId) -> Sql {
    Sql::new("id IN (SELECT project_id FROM stars WHERE user_id = ").id(user.0).sql(")")
}

/// The condition that a row of `projects` is a fork of a project that matches a condition.
fn forked_from(removed: Sql) -> Sql {
    Sql::new("forked_from_id IN (SELECT id FROM projects WHERE ").then(removed).sql(")")
}

/// The condition that a user created or starred a row of `projects`.
pub(crate) fn created_or_starred_by(user: UserId) -> Sql {
    Sql::new("(creator_id = ").id(user.0).sql(" OR ").then(starred_by(user)).sql(")")
}

/// The condition that a row of `projects` has repository tasks of a user. They are removed with the user, and a
/// transaction that finishes a task locks the project.
pub(crate) fn has_tasks_of(user: UserId) -> Sql {
    Sql::new("id IN (SELECT project_id FROM repository_tasks WHERE user_id = ").id(user.0).sql(")")
}
