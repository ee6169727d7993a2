//! The rows of packs.

use std::collections::HashSet;

use diesel::prelude::*;
use diesel::sql_types::Binary;
use hexforge_domain::Timestamp;
use hexforge_domain::hex;
use hexforge_domain::id::ProjectId;
use hexforge_domain::pack::port::Packs;
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::unique::sorted_unique;

use crate::database::backend;
use crate::database::schema::{condemned_packs, packs, repositories};
use crate::database::time::to_naive;
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::sql::Sql;

fn to_pack_name(bytes: Vec<u8>) -> Result<PackName, StoreError> {
    let bytes = bytes.try_into().map_err(|_| StoreError::Corrupt("name of a pack"))?;
    Ok(PackName::from_bytes(bytes))
}

pub(crate) fn to_pack((sha256, bytes, objects): (Vec<u8>, i64, i64)) -> Result<Pack, StoreError> {
    Ok(Pack {
        name: to_pack_name(sha256)?,
        bytes: bytes.unsigned_abs(),
        objects: objects.unsigned_abs(),
    })
}

fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the names as bytes, sorted and without duplicates.
fn sorted_bytes(names: impl IntoIterator<Item = PackName>) -> Vec<Vec<u8>> {
    sorted_unique(names.into_iter().map(|name| name.as_bytes().to_vec()))
}

impl DieselTx<'_> {
    fn read_names(&mut self, rows: Vec<Vec<u8>>) -> Result<Vec<PackName>, StoreError> {
        self.fail_on_error(rows.into_iter().map(to_pack_name).collect())
    }

    /// Takes advisory locks on these packs until the transaction ends, so that no other transaction adds or
    /// condemns them. All transactions lock packs in the order of their names.
    fn lock_packs(&mut self, names: &[Vec<u8>]) -> Result<(), StoreError> {
        for name in names {
            let lock = format!("pack {}", hex::encode(name));
            self.run(|conn| backend::lock_name(conn, &lock))?;
        }
        Ok(())
    }

    /// Returns the names that have no row in `packs`.
    fn names_without_row(&mut self, names: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, StoreError> {
        let used: Vec<Vec<u8>> = self.by_ids(&names, |conn, names| {
            packs::table.filter(packs::sha256.among(names)).select(packs::sha256).load(conn)
        })?;
        let used: HashSet<Vec<u8>> = used.into_iter().collect();
        Ok(names.into_iter().filter(|name| !used.contains(name)).collect())
    }

    /// Increments the version that invalidates cached pack lists.
    fn increment_packs_version(&mut self, project: ProjectId) -> Result<(), StoreError> {
        let row = repositories::table.find(project.0);
        let raised = repositories::packs_version.eq(repositories::packs_version + 1);
        self.write(|conn| diesel::update(row).set(raised).execute(conn))
    }
}

impl Packs for DieselTx<'_> {
    fn live(&mut self, project: ProjectId) -> Result<Vec<Pack>, StoreError> {
        let rows: Vec<(Vec<u8>, i64, i64)> = self.run(|conn| {
            packs::table
                .filter(packs::project_id.eq(project.0))
                .filter(packs::retired_at.is_null())
                .order(packs::id)
                .select((packs::sha256, packs::bytes, packs::objects))
                .load(conn)
        })?;
        self.fail_on_error(rows.into_iter().map(to_pack).collect())
    }

    fn add(&mut self, project: ProjectId, packs: &[Pack], at: Timestamp) -> Result<(), StoreError> {
        let names = sorted_bytes(packs.iter().map(|pack| pack.name));
        self.lock_packs(&names)?;
        let condemned: Vec<Vec<u8>> = self.by_ids(&names, |conn, names| {
            condemned_packs::table
                .filter(condemned_packs::sha256.among(names))
                .select(condemned_packs::sha256)
                .load(conn)
        })?;
        if !condemned.is_empty() {
            return Err(self.fail(StoreError::Busy));
        }
        for pack in packs {
            self.execute(
                Sql::new(
                    "INSERT INTO packs (project_id, sha256, bytes, objects, created_at) VALUES (",
                )
                .id(project.0)
                .sql(", ")
                .bytes(Some(pack.name.as_bytes()))
                .sql(", ")
                .id(to_i64(pack.bytes))
                .sql(", ")
                .id(to_i64(pack.objects))
                .sql(", ")
                .moment(to_naive(at))
                .sql(") ON CONFLICT (project_id, sha256) DO UPDATE SET retired_at = NULL"),
            )?;
        }
        self.increment_packs_version(project)
    }

    fn retire(
        &mut self,
        project: ProjectId,
        names: &[PackName],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let names = sorted_bytes(names.iter().copied());
        self.run(|conn| {
            let of_project = packs::table.filter(packs::project_id.eq(project.0));
            let live = of_project.filter(packs::retired_at.is_null());
            diesel::update(live.filter(packs::sha256.among(&names)))
                .set(packs::retired_at.eq(to_naive(at)))
                .execute(conn)
        })?;
        self.increment_packs_version(project)
    }

    fn forget_retired(
        &mut self,
        now: Timestamp,
        before: Timestamp,
        limit: u32,
    ) -> Result<u32, StoreError> {
        self.execute(
            Sql::new("UPDATE packs SET retired_at = ")
                .moment(to_naive(now))
                .sql(" WHERE project_id IS NULL AND retired_at IS NULL"),
        )?;
        let removed = self.execute_counting(
            Sql::new("DELETE FROM packs WHERE id IN (SELECT id FROM packs WHERE retired_at < ")
                .moment(to_naive(before))
                .sql(" ORDER BY retired_at, id LIMIT ")
                .id(i64::from(limit))
                // A row that has become live again is kept.
                .sql(") AND retired_at < ")
                .moment(to_naive(before)),
        )?;
        Ok(u32::try_from(removed).unwrap_or(limit))
    }

    fn names_after(
        &mut self,
        name: Option<PackName>,
        limit: u32,
    ) -> Result<Vec<PackName>, StoreError> {
        let query = Sql::new("SELECT DISTINCT sha256 FROM packs");
        let query = match name {
            Some(name) => query.sql(" WHERE sha256 > ").bytes(Some(name.as_bytes())),
            None => query,
        };
        let query = query.sql(" ORDER BY sha256 LIMIT ").id(i64::from(limit));
        let rows = self.run(|conn| query.rows::<Binary>().load::<Vec<u8>>(conn))?;
        self.read_names(rows)
    }

    fn without_row(&mut self, names: &[PackName]) -> Result<Vec<PackName>, StoreError> {
        let unused = self.names_without_row(sorted_bytes(names.iter().copied()))?;
        self.read_names(unused)
    }

    fn condemn(
        &mut self,
        names: &[PackName],
        at: Timestamp,
        abandoned: Timestamp,
    ) -> Result<Vec<PackName>, StoreError> {
        let names = sorted_bytes(names.iter().copied());
        self.lock_packs(&names)?;
        let mut condemned = Vec::new();
        for name in self.names_without_row(names)? {
            let changed = self.execute_counting(
                Sql::new("INSERT INTO condemned_packs (sha256, at) VALUES (")
                    .bytes(Some(&name))
                    .sql(", ")
                    .moment(to_naive(at))
                    .sql(
                        ") ON CONFLICT (sha256) DO UPDATE SET at = excluded.at \
                         WHERE condemned_packs.at < ",
                    )
                    .moment(to_naive(abandoned)),
            )?;
            if changed > 0 {
                condemned.push(name);
            }
        }
        self.read_names(condemned)
    }

    fn condemned_before(
        &mut self,
        moment: Timestamp,
        limit: u32,
    ) -> Result<Vec<PackName>, StoreError> {
        let rows: Vec<Vec<u8>> = self.run(|conn| {
            condemned_packs::table
                .filter(condemned_packs::at.lt(to_naive(moment)))
                .order(condemned_packs::sha256)
                .select(condemned_packs::sha256)
                .limit(i64::from(limit))
                .load(conn)
        })?;
        self.read_names(rows)
    }

    fn release(&mut self, names: &[PackName], at: Timestamp) -> Result<(), StoreError> {
        let names = sorted_bytes(names.iter().copied());
        self.write(|conn| {
            let released = condemned_packs::table.filter(condemned_packs::at.eq(to_naive(at)));
            diesel::delete(released.filter(condemned_packs::sha256.among(&names))).execute(conn)
        })
    }
}
