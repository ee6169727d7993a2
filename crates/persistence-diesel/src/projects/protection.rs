//! Protected branches.

use diesel::prelude::*;
use hexforge_domain::branch::Protection;
use hexforge_domain::branch::port::Protections;
use hexforge_domain::branch::protection::DeveloperRights;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::StoreError;

use crate::database::backend;
use crate::database::schema::protected_branches;
use crate::database::tx::DieselTx;

#[derive(Queryable, Selectable)]
#[diesel(table_name = protected_branches)]
struct ProtectionRow {
    pattern: String,
    developers_can_push: bool,
    developers_can_merge: bool,
}

impl From<ProtectionRow> for Protection {
    fn from(row: ProtectionRow) -> Self {
        let developers =
            DeveloperRights { push: row.developers_can_push, merge: row.developers_can_merge };
        Protection { pattern: row.pattern, developers }
    }
}

impl Protections for DieselTx<'_> {
    fn list(&mut self, project: ProjectId) -> Result<Vec<Protection>, StoreError> {
        let rows: Vec<ProtectionRow> = self.run(|conn| {
            protected_branches::table
                .filter(protected_branches::project_id.eq(project.0))
                .order(protected_branches::pattern)
                .select(ProtectionRow::as_select())
                .load(conn)
        })?;
        Ok(rows.into_iter().map(Protection::from).collect())
    }

    fn find(
        &mut self,
        project: ProjectId,
        pattern: &str,
    ) -> Result<Option<Protection>, StoreError> {
        if backend::contains_nul(pattern) {
            return Ok(None);
        }
        let row: Option<ProtectionRow> = self.run(|conn| {
            protected_branches::table
                .find((project.0, pattern))
                .select(ProtectionRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        Ok(row.map(Protection::from))
    }

    fn put(&mut self, project: ProjectId, protection: &Protection) -> Result<(), StoreError> {
        let key = (
            protected_branches::project_id.eq(project.0),
            protected_branches::pattern.eq(&protection.pattern),
        );
        let values = (
            protected_branches::developers_can_push.eq(protection.developers.push),
            protected_branches::developers_can_merge.eq(protection.developers.merge),
        );
        self.write(|conn| {
            each_backend!(conn, c => diesel::insert_into(protected_branches::table)
                .values((key, values))
                .on_conflict((protected_branches::project_id, protected_branches::pattern))
                .do_update()
                .set(values)
                .execute(c))
        })
    }

    fn remove(&mut self, project: ProjectId, pattern: &str) -> Result<bool, StoreError> {
        if backend::contains_nul(pattern) {
            return Ok(false);
        }
        let row = protected_branches::table.find((project.0, pattern));
        Ok(self.run(|conn| diesel::delete(row).execute(conn))? > 0)
    }
}
