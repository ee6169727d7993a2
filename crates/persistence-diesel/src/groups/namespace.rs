//! Namespaces.

use chrono::{NaiveDate, NaiveDateTime};
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{self, NamespaceId, UserId};
use hexforge_domain::namespace::port::Namespaces;
use hexforge_domain::namespace::{Namespace, NamespacePath};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

use crate::database::backend::{self, Backend};
use crate::database::schema::namespaces;
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::projects::project::row::to_visibility;
use crate::query::access;
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::search::{Search, Texts};
use crate::query::sql::Sql;

/// A row of `namespaces`, without the columns that only searches read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = namespaces)]
pub(crate) struct NamespaceRow {
    id: i64,
    path: String,
    name: String,
    owner_id: Option<i64>,
    description: String,
    visibility_level: i32,
    lfs_enabled: Option<bool>,
    request_access_enabled: bool,
    share_with_group_lock: bool,
    avatar: Option<String>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<NamespaceRow> for Namespace {
    type Error = StoreError;

    fn try_from(row: NamespaceRow) -> Result<Self, StoreError> {
        Ok(Namespace {
            id: NamespaceId(row.id),
            path: NamespacePath::stored(row.path),
            name: row.name,
            owner: row.owner_id.map(UserId),
            description: row.description,
            visibility: to_visibility(row.visibility_level)?,
            lfs_enabled: row.lfs_enabled,
            request_access_enabled: row.request_access_enabled,
            share_with_group_lock: row.share_with_group_lock,
            avatar: row.avatar,
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
        })
    }
}

impl DieselTx<'_> {
    /// Returns the namespaces with these ids, in the order of the ids.
    pub(crate) fn namespaces_by_id(&mut self, ids: &[i64]) -> Result<Vec<Namespace>, StoreError> {
        self.cached_rows(
            ids,
            |cache| &mut cache.namespaces,
            |namespace: &Namespace| namespace.id.0,
            |tx, ids| {
                let mut rows: Vec<NamespaceRow> = tx.by_ids(ids, |conn, ids| {
                    let rows = namespaces::table.filter(namespaces::id.among(ids));
                    rows.select(NamespaceRow::as_select()).load(conn)
                })?;
                page::arrange(&mut rows, ids, |row| row.id);
                tx.convert_rows(rows)
            },
        )
    }
}

/// The condition that the name or path of a namespace contains the search text.
fn matches_search(search: &Search, backend: Backend) -> Option<Sql> {
    if let (Search::Indexed(_), Backend::Sqlite) = (search, backend) {
        let matching = search.matching(&Texts::Namespaces, backend)?;
        return Some(Sql::new("namespaces.id IN (").then(matching).sql(")"));
    }
    name_or_path_contains(search)
}

/// The per-row condition that the name or path contains the search text.
pub(crate) fn name_or_path_contains(search: &Search) -> Option<Sql> {
    let name = search.within("namespaces.name_folded")?;
    let path = search.within("namespaces.path_folded")?;
    Some(Sql::new("(").then(name).sql(" OR ").then(path).sql(")"))
}

impl Namespaces for DieselTx<'_> {
    fn find(&mut self, id: NamespaceId) -> Result<Option<Namespace>, StoreError> {
        self.cached_row(
            id.0,
            |cache| &mut cache.namespaces,
            |tx| {
                tx.read_row(|conn| {
                    namespaces::table
                        .find(id.0)
                        .select(NamespaceRow::as_select())
                        .get_result::<NamespaceRow>(conn)
                        .optional()
                })
            },
        )
    }

    fn find_all(&mut self, ids: &[NamespaceId]) -> Result<Vec<Namespace>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        self.namespaces_by_id(&ids)
    }

    fn find_by_path(&mut self, path: &NamespacePath) -> Result<Option<Namespace>, StoreError> {
        let folded = path.folded();
        if let Some(cache) = self.cache()
            && let Some(id) = cache.namespace_paths.get(&folded)
            && let Some(Some(found)) = cache.namespaces.get(id)
        {
            return Ok(Some(found.clone()));
        }
        let found: Option<Namespace> = self.read_row(|conn| {
            namespaces::table
                .filter(namespaces::path_folded.eq(&folded))
                .select(NamespaceRow::as_select())
                .get_result::<NamespaceRow>(conn)
                .optional()
        })?;
        if let (Some(found), Some(cache)) = (&found, self.cache()) {
            cache.namespace_paths.insert(folded, found.id.0);
            cache.namespaces.insert(found.id.0, Some(found.clone()));
        }
        Ok(found)
    }

    fn find_by_name(&mut self, name: &str) -> Result<Option<Namespace>, StoreError> {
        if backend::contains_nul(name) {
            return Ok(None);
        }
        self.read_row(|conn| {
            namespaces::table
                .filter(namespaces::name.eq(name))
                .order(namespaces::id)
                .select(NamespaceRow::as_select())
                .first(conn)
                .optional()
        })
    }

    fn find_target(&mut self, target: &str) -> Result<Option<Namespace>, StoreError> {
        if backend::contains_nul(target) {
            return Ok(None);
        }
        if let Some(id) = id::parse(target)
            && let Some(found) = Namespaces::find(self, NamespaceId(id))?
        {
            return Ok(Some(found));
        }
        let folded = target.to_lowercase();
        let by_path = self.read_row(|conn| {
            namespaces::table
                .filter(namespaces::path_folded.eq(&folded))
                .select(NamespaceRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        if by_path.is_some() {
            return Ok(by_path);
        }
        self.read_row(|conn| {
            namespaces::table
                .filter(namespaces::name_folded.eq(&folded))
                .order(namespaces::id)
                .select(NamespaceRow::as_select())
                .first(conn)
                .optional()
        })
    }

    fn personal(&mut self, owner: UserId) -> Result<Option<Namespace>, StoreError> {
        self.read_row(|conn| {
            namespaces::table
                .filter(namespaces::owner_id.eq(owner.0))
                .select(NamespaceRow::as_select())
                .get_result(conn)
                .optional()
        })
    }

    /// Three queries: the total, the ids, the rows.
    fn list(
        &mut self,
        of: Option<(UserId, NaiveDate)>,
        search: Option<&str>,
        page: Page,
    ) -> Result<Paged<Namespace>, StoreError> {
        let name = format!("namespaces {of:?} {search:?}");
        let of_user = of.map(|(user, today)| {
            Sql::new("namespaces.id IN (")
                .then(access::personal_namespace_of(user))
                .sql(" UNION ALL ")
                .then(access::groups_of(user, today))
                .sql(")")
        });
        let search_condition = matches_search(&Search::new(search), self.backend());
        let fitting = Sql::new("SELECT namespaces.id FROM namespaces")
            .filter([of_user, search_condition].into_iter().flatten());
        let total = self.total(&name, &fitting)?;
        let ids = self.ids(fitting.sql(" ORDER BY namespaces.id DESC").page(page))?;
        Ok(Paged { items: self.namespaces_by_id(&ids)?, total })
    }

    fn insert_personal(
        &mut self,
        owner: UserId,
        path: &NamespacePath,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let values = (
            namespaces::path.eq(path.as_str()),
            namespaces::path_folded.eq(path.folded()),
            namespaces::name.eq(path.as_str()),
            namespaces::name_folded.eq(path.folded()),
            namespaces::owner_id.eq(owner.0),
            namespaces::created_at.eq(to_naive(at)),
            namespaces::updated_at.eq(to_naive(at)),
        );
        self.write(|conn| diesel::insert_into(namespaces::table).values(values).execute(conn))
    }

    fn rename_personal(
        &mut self,
        owner: UserId,
        path: &NamespacePath,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let values = (
            namespaces::path.eq(path.as_str()),
            namespaces::path_folded.eq(path.folded()),
            namespaces::name.eq(path.as_str()),
            namespaces::name_folded.eq(path.folded()),
            namespaces::updated_at.eq(to_naive(at)),
        );
        let own = namespaces::table.filter(namespaces::owner_id.eq(owner.0));
        self.write(|conn| diesel::update(own).set(values).execute(conn))
    }
}
