//! What the removal of a user, group or project touches beside what goes along, and in which order.

use hexforge_domain::id::UserId;
use hexforge_domain::ports::store::StoreError;

use crate::backend::Backend;
use crate::issue;
use crate::sql::Sql;
use crate::tx::DieselTx;

impl DieselTx<'_> {
    /// Takes a user and the projects that go with it out of the projects that stay: off the counters of
    /// those it starred or wrote issues in, as the creator of those it made, and as the sources of forks. All of these and
    /// the user have to be locked, so that no star comes in between.
    pub(crate) fn forget_in_projects(
        &mut self,
        user: UserId,
        going: Sql,
    ) -> Result<(), StoreError> {
        // One statement for all: PostgreSQL checks every reference of a row that is changed twice, and
        // would wait for namespaces and other users then.
        self.execute(
            Sql::new("UPDATE projects SET creator_id = nullif(creator_id, ")
                .id(user.0)
                .sql("), forked_from_id = CASE WHEN ")
                .then(forked_from(going.clone()))
                .sql(" THEN NULL ELSE forked_from_id END, star_count = star_count - CASE WHEN ")
                .then(starred_by(user))
                .sql(" THEN 1 ELSE 0 END, open_issues_count = open_issues_count - ")
                .then(issue::open_in_project(issue::concerning(user)))
                .sql(" WHERE ")
                .then(known_by(user))
                .sql(" OR ")
                .then(issue::written_in_by(user))
                .sql(" OR ")
                .then(forked_from(going)),
        )
    }

    /// Locks all projects that go, all that lose their source by that, and others, from the lowest id to
    /// the highest. Both conditions are on the columns of `projects`.
    pub(crate) fn hold_projects(
        &mut self,
        going: Sql,
        others: Option<Sql>,
    ) -> Result<(), StoreError> {
        self.hold(going_and(going, others).sql(" ORDER BY id FOR UPDATE"))
    }

    /// Locks the projects that a query gives, from the lowest id to the highest, and then a user, so that
    /// nothing can be hung on it any more. What was hung on it in another project in between would have
    /// that project locked out of order later: then all of these locks are given back and taken again.
    pub(crate) fn hold_with_projects(
        &mut self,
        user: UserId,
        projects: &Sql,
    ) -> Result<(), StoreError> {
        if self.backend() == Backend::Sqlite {
            return Ok(());
        }
        for _ in 0..TRIES {
            self.execute(Sql::new("SAVEPOINT before_projects"))?;
            let held = self.ids(projects.clone().sql(" ORDER BY id FOR UPDATE"))?;
            self.hold(Sql::new("SELECT id FROM users WHERE id = ").id(user.0).sql(" FOR UPDATE"))?;
            let now = self.ids(projects.clone().sql(" ORDER BY id"))?;
            if now.iter().all(|project| held.contains(project)) {
                return Ok(());
            }
            self.execute(Sql::new("ROLLBACK TO SAVEPOINT before_projects"))?;
        }
        Err(self.fail(StoreError::Busy))
    }
}

/// How often the locks of a user are taken before others are said to be in the way.
const TRIES: u32 = 20;

/// The ids of all projects that go, of all that lose their source by that, and of others.
pub(crate) fn going_and(going: Sql, others: Option<Sql>) -> Sql {
    let forks = forked_from(going.clone());
    let all = Sql::new("SELECT id FROM projects WHERE (").then(going).sql(" OR ").then(forks);
    match others {
        Some(others) => all.sql(" OR ").then(others).sql(")"),
        None => all.sql(")"),
    }
}

/// The condition that a user starred a row of `projects`.
fn starred_by(user: UserId) -> Sql {
    Sql::new("id IN (SELECT project_id FROM stars WHERE user_id = ").id(user.0).sql(")")
}

/// The condition that a row of `projects` was forked from one for which a condition holds.
fn forked_from(going: Sql) -> Sql {
    Sql::new("forked_from_id IN (SELECT id FROM projects WHERE ").then(going).sql(")")
}

/// The condition that a user made a row of `projects` or starred it.
pub(crate) fn known_by(user: UserId) -> Sql {
    Sql::new("(creator_id = ").id(user.0).sql(" OR ").then(starred_by(user)).sql(")")
}

/// The condition that work in the name of a user waits to be done on a row of `projects`: it goes with the
/// user, and whoever ends it holds the project.
pub(crate) fn worked_on_for(user: UserId) -> Sql {
    Sql::new("id IN (SELECT project_id FROM repository_tasks WHERE user_id = ").id(user.0).sql(")")
}

/// The condition that a user started a pipeline or build of a row of `projects`: they lose their user, and
/// whoever changes one holds the project.
pub(crate) fn built_for(user: UserId) -> Sql {
    Sql::new("(id IN (SELECT project_id FROM pipelines WHERE user_id = ")
        .id(user.0)
        .sql(") OR id IN (SELECT project_id FROM builds WHERE user_id = ")
        .id(user.0)
        .sql("))")
}
