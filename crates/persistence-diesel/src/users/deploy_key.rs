//! Deploy keys. They are keys without a user, so that ids and fingerprints are unique among all keys.

use chrono::NaiveDate;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::deploy_key::DeployKey;
use hexforge_domain::deploy_key::port::DeployKeys;
use hexforge_domain::id::{KeyId, ProjectId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::key::{Fingerprint, NewSshKey};

use super::key::KeyRow;
use crate::database::schema::{keys, project_deploy_keys};
use crate::database::tx::DieselTx;
use crate::query::access;
use crate::query::page;
use crate::query::sql::Sql;

impl DieselTx<'_> {
    /// Locks a deploy key, so that it is not deleted while a project gets it. Returns false if it does not exist.
    fn lock_deploy_key(&mut self, id: KeyId) -> Result<bool, StoreError> {
        let row = Sql::new("SELECT id FROM keys WHERE user_id IS NULL AND id = ").id(id.0);
        self.lock_rows(row.clone().sql(" FOR UPDATE"))?;
        Ok(!self.ids(row)?.is_empty())
    }
}

impl DeployKeys for DieselTx<'_> {
    fn all(&mut self, page: Page) -> Result<Paged<DeployKey>, StoreError> {
        let total =
            self.total("deploy keys", &Sql::new("SELECT id FROM keys WHERE user_id IS NULL"))?;
        let items = self.read_rows(|conn| {
            keys::table
                .filter(keys::user_id.is_null())
                .order(keys::id.desc())
                .limit(page::limit(page))
                .offset(page::offset(page))
                .load::<KeyRow>(conn)
        })?;
        Ok(Paged { items, total })
    }

    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<DeployKey>, StoreError> {
        let of_project = project_deploy_keys::project_id.eq(project.0);
        let total: i64 = self
            .run(|conn| project_deploy_keys::table.filter(of_project).count().get_result(conn))?;
        let items = self.read_rows(|conn| {
            project_deploy_keys::table
                .inner_join(keys::table)
                .filter(of_project)
                .order(project_deploy_keys::key_id.desc())
                .limit(page::limit(page))
                .offset(page::offset(page))
                .select(keys::all_columns)
                .load::<KeyRow>(conn)
        })?;
        Ok(Paged { items, total: total.unsigned_abs() })
    }

    fn find(&mut self, project: ProjectId, id: KeyId) -> Result<Option<DeployKey>, StoreError> {
        self.read_row(|conn| {
            project_deploy_keys::table
                .inner_join(keys::table)
                .filter(project_deploy_keys::project_id.eq(project.0))
                .filter(project_deploy_keys::key_id.eq(id.0))
                .select(keys::all_columns)
                .get_result::<KeyRow>(conn)
                .optional()
        })
    }

    fn find_by_id(&mut self, id: KeyId) -> Result<Option<DeployKey>, StoreError> {
        self.key_by_id(id)
    }

    fn find_by_fingerprint(&mut self, of: &Fingerprint) -> Result<Option<DeployKey>, StoreError> {
        self.key_by_fingerprint(of)
    }

    fn is_reachable(
        &mut self,
        id: KeyId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<bool, StoreError> {
        let holders = Sql::new(
            "SELECT projects.id FROM projects WHERE projects.id IN \
             (SELECT project_id FROM project_deploy_keys WHERE key_id = ",
        )
        .id(id.0)
        .sql(") AND ")
        .then(access::is_authorized(user, today))
        .sql(" LIMIT 1");
        Ok(!self.ids(holders)?.is_empty())
    }

    fn insert(&mut self, new: NewSshKey, at: Timestamp) -> Result<DeployKey, StoreError> {
        self.insert_key(None, new, at)
    }

    fn attach(&mut self, id: KeyId, project: ProjectId) -> Result<(), StoreError> {
        if !self.lock_deploy_key(id)? {
            return Err(self.fail(StoreError::Gone));
        }
        self.execute(
            Sql::new("INSERT INTO project_deploy_keys (project_id, key_id) VALUES (")
                .id(project.0)
                .sql(", ")
                .id(id.0)
                .sql(") ON CONFLICT DO NOTHING"),
        )
    }

    fn detach(&mut self, id: KeyId, project: ProjectId) -> Result<bool, StoreError> {
        self.lock_deploy_key(id)?;
        let detached = self.run(|conn| {
            diesel::delete(project_deploy_keys::table.find((project.0, id.0))).execute(conn)
        })?;
        if detached == 0 {
            return Ok(false);
        }
        let deleted = self.execute_counting(
            Sql::new("DELETE FROM keys WHERE user_id IS NULL AND id = ").id(id.0).sql(
                " AND NOT EXISTS (SELECT 1 FROM project_deploy_keys \
                 WHERE project_deploy_keys.key_id = keys.id)",
            ),
        )?;
        Ok(deleted > 0)
    }
}
