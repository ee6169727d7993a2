//! What the removal of a user, group or project touches beside what goes along, and in which order.

pub(crate) mod steps;

use hexforge_domain::id::UserId;
use hexforge_domain::ports::store::StoreError;

use crate::database::backend::Backend;
use crate::database::tx::DieselTx;
use crate::query::sql::Sql;

impl DieselTx<'_> {
    /// Takes a user and the projects that go with it out of the projects that stay: off the counters of
    /// those it starred, as the creator of those it made, and as the sources of forks. All of these and the user have to
    /// be locked, so that no star comes in between.
    pub(crate) fn forget_in_projects(
        &mut self,
        user: UserId,
        going: Sql,
    ) -> Result<(), StoreError> {
        self.hold_fork_counts(going.clone())?;
        // One statement for all: PostgreSQL checks every reference of a row that is changed twice, and
        // would wait for namespaces and other users then.
        self.execute(
            Sql::new("UPDATE projects SET creator_id = nullif(creator_id, ")
                .id(user.0)
                .sql("), forked_from_id = CASE WHEN ")
                .then(forked_from(going.clone()))
                .sql(" THEN NULL ELSE forked_from_id END, star_count = star_count - CASE WHEN ")
                .then(starred_by(user))
                .sql(" THEN 1 ELSE 0 END WHERE ")
                .then(known_by(user))
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
        self.hold(going_and(going.clone(), others).sql(" ORDER BY id FOR UPDATE"))?;
        self.hold_fork_counts(going)
    }

    /// Locks the counters of forks that the projects that go are counted by, from the lowest id to the highest, after
    /// all projects: two removals of several forks would count them in different orders.
    fn hold_fork_counts(&mut self, going: Sql) -> Result<(), StoreError> {
        self.hold(
            Sql::new(
                "SELECT project_id FROM fork_counts WHERE project_id IN \
                 (SELECT forked_from_id FROM projects WHERE ",
            )
            .then(going)
            .sql(") ORDER BY project_id FOR UPDATE"),
        )
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
            if now.iter().all(|project| held.binary_search(project).is_ok()) {
                return Ok(());
            }
            self.execute(Sql::new("ROLLBACK TO SAVEPOINT before_projects"))?;
        }
        Err(self.fail(StoreError::Busy))
    }
}

/// How often the locks of a user are taken before others are said to be in the way.
const TRIES: u32 = 20;

/// The condition that the project of a row is there, for lists that go through the rows of all projects: what a removed
/// one left may not be removed yet.
pub(crate) fn project_is_there(of: &'static str) -> Sql {
    Sql::new("EXISTS (SELECT 1 FROM projects WHERE projects.id = ").sql(of).sql(")")
}

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
