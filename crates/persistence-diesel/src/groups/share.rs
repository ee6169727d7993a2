//! Shares of projects with groups.

use chrono::NaiveDate;
use diesel::prelude::*;
use hexforge_domain::group::port::Groups;
use hexforge_domain::id::{NamespaceId, ProjectId, ShareId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::port::Shares;
use hexforge_domain::project::share::{NewShare, Share};
use hexforge_domain::unique::sorted_unique;

use crate::database::schema::{namespaces, project_shares};
use crate::database::tx::DieselTx;
use crate::groups::member::to_access_level;
use crate::query::among::AmongValues;
use crate::query::sql::Sql;

#[derive(Queryable, Selectable)]
#[diesel(table_name = project_shares)]
struct ShareRow {
    id: i64,
    project_id: i64,
    group_id: i64,
    group_access: i32,
    expires_at: Option<NaiveDate>,
}

impl ShareRow {
    fn into_share(self, group_name: String) -> Result<Share, StoreError> {
        Ok(Share {
            id: ShareId(self.id),
            share: NewShare {
                project: ProjectId(self.project_id),
                group: NamespaceId(self.group_id),
                access: to_access_level(self.group_access)?,
                expires_at: self.expires_at,
            },
            group_name,
        })
    }
}

impl Shares for DieselTx<'_> {
    fn of_projects(&mut self, projects: &[ProjectId]) -> Result<Vec<Share>, StoreError> {
        let ids = sorted_unique(projects.iter().map(|id| id.0));
        let rows: Vec<(ShareRow, String)> = self.by_ids(&ids, |conn, ids| {
            project_shares::table
                .inner_join(namespaces::table)
                .filter(project_shares::project_id.among(ids))
                .order((project_shares::project_id, project_shares::id))
                .select((ShareRow::as_select(), namespaces::name))
                .load(conn)
        })?;
        self.fail_on_error(rows.into_iter().map(|(row, group)| row.into_share(group)).collect())
    }

    fn insert(&mut self, new: NewShare) -> Result<Share, StoreError> {
        let values = (
            project_shares::project_id.eq(new.project.0),
            project_shares::group_id.eq(new.group.0),
            project_shares::group_access.eq(new.access.level()),
            project_shares::expires_at.eq(new.expires_at),
        );
        let id = self.run(|conn| {
            diesel::insert_into(project_shares::table)
                .values(values)
                .returning(project_shares::id)
                .get_result(conn)
        })?;
        let group_name = self.run(|conn| {
            namespaces::table.find(new.group.0).select(namespaces::name).get_result(conn)
        })?;
        Ok(Share { id: ShareId(id), share: new, group_name })
    }

    fn delete(&mut self, project: ProjectId, group: NamespaceId) -> Result<(), StoreError> {
        // The removal of a group locks the group before its shares, so this does the same.
        Groups::prevent_deletion(self, group)?;
        self.execute(
            Sql::new("DELETE FROM project_shares WHERE project_id = ")
                .id(project.0)
                .sql(" AND group_id = ")
                .id(group.0),
        )
    }
}
