//! Variables of projects.

use diesel::prelude::*;
use hexforge_domain::id::{ProjectId, VariableId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::ports::vault::Sealed;
use hexforge_domain::variable::port::Variables;
use hexforge_domain::variable::{Variable, VariableKey};

use crate::database::backend;
use crate::database::schema::variables;
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::sql::Sql;

#[derive(Queryable)]
struct VariableRow {
    id: i64,
    project_id: i64,
    key: String,
    value: Vec<u8>,
}

impl From<VariableRow> for Variable {
    fn from(row: VariableRow) -> Self {
        Variable {
            id: VariableId(row.id),
            project: ProjectId(row.project_id),
            key: VariableKey::stored(row.key),
            value: Sealed(row.value),
        }
    }
}

impl Variables for DieselTx<'_> {
    /// Three queries: the total, the ids, the rows.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Variable>, StoreError> {
        let fitting = Sql::new("SELECT id FROM variables WHERE project_id = ").id(project.0);
        let total = self.total(&format!("variables of {project}"), &fitting)?;
        let ids = self.ids(fitting.sql(" ORDER BY id").page(page))?;
        let mut rows: Vec<VariableRow> = self.by_ids(&ids, |conn, ids| {
            variables::table.filter(variables::id.among(ids)).load(conn)
        })?;
        page::arrange(&mut rows, &ids, |row| row.id);
        Ok(Paged { items: rows.into_iter().map(Variable::from).collect(), total })
    }

    fn find(&mut self, project: ProjectId, key: &str) -> Result<Option<Variable>, StoreError> {
        if backend::contains_nul(key) {
            return Ok(None);
        }
        let row: Option<VariableRow> = self.run(|conn| {
            variables::table
                .filter(variables::project_id.eq(project.0))
                .filter(variables::key.eq(key))
                .get_result(conn)
                .optional()
        })?;
        Ok(row.map(Variable::from))
    }

    fn insert(
        &mut self,
        project: ProjectId,
        key: &VariableKey,
        value: &Sealed,
    ) -> Result<Variable, StoreError> {
        let values = (
            variables::project_id.eq(project.0),
            variables::key.eq(key.as_str()),
            variables::value.eq(&value.0),
        );
        let id = self.run(|conn| {
            diesel::insert_into(variables::table)
                .values(values)
                .returning(variables::id)
                .get_result(conn)
        })?;
        Ok(Variable { id: VariableId(id), project, key: key.clone(), value: value.clone() })
    }

    fn update(&mut self, id: VariableId, value: &Sealed) -> Result<(), StoreError> {
        let row = variables::table.find(id.0);
        let value = variables::value.eq(&value.0);
        self.write(|conn| diesel::update(row).set(value).execute(conn))
    }

    fn delete(&mut self, id: VariableId) -> Result<(), StoreError> {
        self.write(|conn| diesel::delete(variables::table.find(id.0)).execute(conn))
    }
}
