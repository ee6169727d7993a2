//! Groups: namespaces without an owner.

use chrono::{NaiveDate, NaiveDateTime};
use diesel::prelude::*;
use hexforge_domain::group::port::Groups;
use hexforge_domain::group::{GroupFilter, GroupRef, NewGroup};
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::member::{AccessLevel, is_in_force};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::visibility::Visibility;

use crate::database::backend;
use crate::database::schema::{group_members, namespaces, projects};
use crate::database::time::to_naive;
use crate::database::tx::DieselTx;
use crate::groups::member::to_access_level;
use crate::groups::namespace::NamespaceRow;
use crate::projects::project::row::to_visibility;
use crate::query::access;
use crate::query::sql::Sql;

/// The columns that an update sets: `None` becomes null.
#[derive(AsChangeset, Insertable)]
#[diesel(table_name = namespaces, treat_none_as_null = true)]
struct GroupValues<'a> {
    path: &'a str,
    path_folded: String,
    name: &'a str,
    name_folded: String,
    description: &'a str,
    visibility_level: i32,
    lfs_enabled: Option<bool>,
    request_access_enabled: bool,
    share_with_group_lock: bool,
    avatar: Option<&'a str>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl<'a> From<&'a Namespace> for GroupValues<'a> {
    fn from(group: &'a Namespace) -> Self {
        Self {
            path: group.path.as_str(),
            path_folded: group.path.folded(),
            name: &group.name,
            name_folded: group.name.to_lowercase(),
            description: &group.description,
            visibility_level: group.visibility.level(),
            lfs_enabled: group.lfs_enabled,
            request_access_enabled: group.request_access_enabled,
            share_with_group_lock: group.share_with_group_lock,
            avatar: group.avatar.as_deref(),
            created_at: to_naive(group.created_at),
            updated_at: to_naive(group.updated_at),
        }
    }
}

impl Groups for DieselTx<'_> {
    fn find(&mut self, group: &GroupRef) -> Result<Option<Namespace>, StoreError> {
        if backend::contains_nul(group.as_path()) {
            return Ok(None);
        }
        let path = group.as_path();
        let by_path = self.read_row(|conn| {
            namespaces::table
                .filter(namespaces::path_folded.eq(path.to_ascii_lowercase()))
                .filter(namespaces::path.eq(path))
                .filter(namespaces::owner_id.is_null())
                .select(NamespaceRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        match (by_path, group.as_id()) {
            (None, Some(id)) => self.read_row(|conn| {
                namespaces::table
                    .find(id.0)
                    .filter(namespaces::owner_id.is_null())
                    .select(NamespaceRow::as_select())
                    .get_result(conn)
                    .optional()
            }),
            (found, _) => Ok(found),
        }
    }

    fn lock(&mut self, id: NamespaceId) -> Result<Option<Namespace>, StoreError> {
        self.read_row(|conn| {
            load_locked!(
                conn,
                namespaces::table
                    .find(id.0)
                    .filter(namespaces::owner_id.is_null())
                    .select(NamespaceRow::as_select()),
                NamespaceRow,
                exclusive
            )
        })
    }

    fn lock_to_delete(&mut self, id: NamespaceId) -> Result<(), StoreError> {
        // The removal also touches forks in other namespaces. All locks are taken in the global lock order.
        self.lock_rows(
            Sql::new("SELECT id FROM namespaces WHERE owner_id IS NULL AND id = ")
                .id(id.0)
                .sql(" FOR UPDATE"),
        )?;
        self.lock_projects(Sql::new("namespace_id = ").id(id.0), None)
    }

    fn prevent_deletion(&mut self, id: NamespaceId) -> Result<(), StoreError> {
        self.lock_rows(
            Sql::new("SELECT id FROM namespaces WHERE id = ").id(id.0).sql(" FOR KEY SHARE"),
        )
    }

    fn list(
        &mut self,
        filter: &GroupFilter,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Namespace>, StoreError> {
        self.list_groups(filter, today, page)
    }

    /// Three queries: the total, the ids, the rows.
    fn owned_by(
        &mut self,
        user: UserId,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Namespace>, StoreError> {
        let owned = access::groups_owned_by(user, today);
        let total = self.total(&format!("groups owned by {user} on {today}"), &owned)?;
        let ids = self.ids(owned.sql(" ORDER BY group_id DESC").page(page))?;
        Ok(Paged { items: self.namespaces_by_id(&ids)?, total })
    }

    fn level(
        &mut self,
        group: NamespaceId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<Option<AccessLevel>, StoreError> {
        let found: Option<(i32, Option<NaiveDate>)> = self.run(|conn| {
            group_members::table
                .find((group.0, user.0))
                .select((group_members::access_level, group_members::expires_at))
                .get_result(conn)
                .optional()
        })?;
        let level = found.filter(|(_, expires_at)| is_in_force(*expires_at, today));
        self.fail_on_error(level.map(|(level, _)| to_access_level(level)).transpose())
    }

    fn highest_visibility_inside(
        &mut self,
        group: NamespaceId,
    ) -> Result<Option<Visibility>, StoreError> {
        let highest: Option<i32> = self.run(|conn| {
            projects::table
                .filter(projects::namespace_id.eq(group.0))
                .select(diesel::dsl::max(projects::visibility_level))
                .get_result(conn)
        })?;
        self.fail_on_error(highest.map(to_visibility).transpose())
    }

    fn insert(&mut self, new: NewGroup) -> Result<Namespace, StoreError> {
        let mut group = Namespace {
            id: NamespaceId(0),
            path: new.path,
            name: new.name.as_str().to_owned(),
            owner: None,
            description: new.description.into_string(),
            visibility: new.visibility,
            lfs_enabled: new.lfs_enabled,
            request_access_enabled: new.request_access_enabled,
            share_with_group_lock: false,
            avatar: None,
            created_at: new.at,
            updated_at: new.at,
        };
        let values = GroupValues::from(&group);
        let id = self.run(|conn| {
            diesel::insert_into(namespaces::table)
                .values(values)
                .returning(namespaces::id)
                .get_result(conn)
        })?;
        group.id = NamespaceId(id);
        Ok(group)
    }

    fn update(&mut self, group: &Namespace) -> Result<(), StoreError> {
        let values = GroupValues::from(group);
        let row = namespaces::table.find(group.id.0).filter(namespaces::owner_id.is_null());
        self.write(|conn| diesel::update(row).set(values).execute(conn))
    }

    fn delete(&mut self, group: NamespaceId) -> Result<(), StoreError> {
        self.lock_to_delete(group)?;
        let row = namespaces::table.find(group.0).filter(namespaces::owner_id.is_null());
        let inside = self.first_projects_in(Sql::new("").id(group.0))?;
        if self.run(|conn| diesel::delete(row).execute(conn))? > 0
            && self.remove_below_projects(&inside)?
        {
            self.remove_below_namespace(group)?;
        }
        Ok(())
    }
}
