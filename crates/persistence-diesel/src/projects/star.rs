//! Stars.

use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::Starred;
use hexforge_domain::project::port::Stars;

use crate::database::schema::{projects, stars};
use crate::database::time::to_naive;
use crate::database::tx::DieselTx;
use crate::query::sql::Sql;

impl Stars for DieselTx<'_> {
    fn find(&mut self, project: ProjectId, user: UserId) -> Result<Starred, StoreError> {
        let found: Option<i64> = self.run(|conn| {
            stars::table
                .find((project.0, user.0))
                .select(stars::user_id)
                .get_result(conn)
                .optional()
        })?;
        Ok(if found.is_some() { Starred::Yes } else { Starred::No })
    }

    fn put(
        &mut self,
        project: ProjectId,
        user: UserId,
        starred: Starred,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        // Locks the project first, like the removal of a user or project.
        self.lock_rows(
            Sql::new("SELECT id FROM projects WHERE id = ").id(project.0).sql(" FOR NO KEY UPDATE"),
        )?;
        let more = match starred {
            Starred::Yes => {
                let row = (stars::project_id.eq(project.0), stars::user_id.eq(user.0));
                let made = self.run(|conn| {
                    each_backend!(conn, c => diesel::insert_into(stars::table)
                        .values(row)
                        .on_conflict_do_nothing()
                        .execute(c))
                })?;
                i32::from(made > 0)
            }
            Starred::No => {
                let row = stars::table.find((project.0, user.0));
                let removed = self.run(|conn| diesel::delete(row).execute(conn))?;
                -i32::from(removed > 0)
            }
        };
        let values = (
            projects::star_count.eq(projects::star_count + more),
            projects::updated_at.eq(to_naive(at)),
        );
        self.write(|conn| diesel::update(projects::table.find(project.0)).set(values).execute(conn))
    }
}
