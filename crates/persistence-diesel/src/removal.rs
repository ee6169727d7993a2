//! What the removal of a user, group or project touches beside what goes along, and in which order.

use hexforge_domain::id::UserId;
use hexforge_domain::ports::store::StoreError;

use crate::sql::Sql;
use crate::tx::DieselTx;

impl DieselTx<'_> {
    /// Takes a user and the projects that go with it out of the projects that stay: off the counters of
    /// those it starred, as the creator of those it made, and as the sources of forks. All of these and
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
        let forks = forked_from(going.clone());
        let mut all =
            Sql::new("SELECT id FROM projects WHERE ").then(going).sql(" OR ").then(forks);
        if let Some(others) = others {
            all = all.sql(" OR ").then(others);
        }
        self.hold(all.sql(" ORDER BY id FOR UPDATE"))
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
