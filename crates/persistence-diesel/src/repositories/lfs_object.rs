//! Rows of LFS objects, and the fork networks that they belong to.
//!
//! The root of a project knows the network, because the root outlives the project until its rows are deleted.

use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{ForkNetworkId, ProjectId};
use hexforge_domain::lfs::port::LfsObjects;
use hexforge_domain::lfs::{LfsObject, LfsOid};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::unique::sorted_unique;

use crate::database::schema::{lfs_networks, lfs_objects};
use crate::database::time::to_naive;
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::sql::Sql;

/// The columns of an object.
type ObjectRow = (Vec<u8>, i64);

pub(crate) fn to_object((oid, size): ObjectRow) -> Result<LfsObject, StoreError> {
    let oid = oid.try_into().map_err(|_| StoreError::Corrupt("name of an LFS object"))?;
    Ok(LfsObject { oid: LfsOid::from_bytes(oid), size: size.unsigned_abs() })
}

fn to_i64(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// The network of the root with this alias, as an expression.
const NETWORK: &str = "coalesce(network_id, id)";

/// Selects the ids of the roots of a network.
fn roots_of(network: ForkNetworkId) -> Sql {
    // Two conditions, each with an index.
    Sql::new("SELECT id FROM project_roots WHERE (network_id = ")
        .id(network.0)
        .sql(" OR id = ")
        .id(network.0)
        .sql(" AND network_id IS NULL)")
}

impl DieselTx<'_> {
    /// Adds a new fork to the network of its source.
    pub(crate) fn join_fork_network(
        &mut self,
        fork: ProjectId,
        source: ProjectId,
    ) -> Result<(), StoreError> {
        self.execute(
            Sql::new("UPDATE project_roots SET network_id = (SELECT ")
                .sql(NETWORK)
                .sql(" FROM project_roots WHERE id = ")
                .id(source.0)
                .sql(") WHERE id = ")
                .id(fork.0),
        )
    }

    /// Marks the network of a project root that is about to be deleted as removed, if it is the last root of the
    /// network. Removals run one after the other, so that two roots are not both taken for a remaining one.
    pub(crate) fn leave_fork_network(&mut self, root: i64) -> Result<(), StoreError> {
        self.execute(
            Sql::new("UPDATE lfs_networks SET removed = TRUE WHERE id = (SELECT ")
                .sql(NETWORK)
                .sql(" FROM project_roots WHERE id = ")
                .id(root)
                .sql(") AND NOT EXISTS (SELECT 1 FROM project_roots AS other WHERE other.id <> ")
                .id(root)
                .sql(
                    " AND (other.network_id = lfs_networks.id \
                     OR other.id = lfs_networks.id AND other.network_id IS NULL))",
                ),
        )
    }
}

impl LfsObjects for DieselTx<'_> {
    fn network(&mut self, project: ProjectId) -> Result<Option<ForkNetworkId>, StoreError> {
        let query = Sql::new("SELECT ")
            .sql(NETWORK)
            .sql(" FROM project_roots WHERE NOT removed AND id = ")
            .id(project.0);
        Ok(self.ids(query)?.pop().map(ForkNetworkId))
    }

    fn find(
        &mut self,
        network: ForkNetworkId,
        oid: LfsOid,
    ) -> Result<Option<LfsObject>, StoreError> {
        let row = lfs_objects::table.find((network.0, oid.as_bytes().as_slice()));
        let row = row.select((lfs_objects::oid, lfs_objects::size));
        let found: Option<ObjectRow> = self.run(|conn| row.get_result(conn).optional())?;
        self.fail_on_error(found.map(to_object).transpose())
    }

    fn find_all(
        &mut self,
        network: ForkNetworkId,
        oids: &[LfsOid],
    ) -> Result<Vec<LfsObject>, StoreError> {
        let oids = sorted_unique(oids.iter().map(|oid| oid.as_bytes().to_vec()));
        let rows: Vec<ObjectRow> = self.by_ids(&oids, |conn, oids| {
            lfs_objects::table
                .filter(lfs_objects::network_id.eq(network.0))
                .filter(lfs_objects::oid.among(oids))
                .select((lfs_objects::oid, lfs_objects::size))
                .load(conn)
        })?;
        self.fail_on_error(rows.into_iter().map(to_object).collect())
    }

    fn list(
        &mut self,
        after: Option<(ForkNetworkId, LfsOid)>,
        limit: u32,
    ) -> Result<Vec<(ForkNetworkId, LfsObject)>, StoreError> {
        let columns = (lfs_objects::network_id, (lfs_objects::oid, lfs_objects::size));
        let limit = i64::from(limit);
        // Two queries, because no index serves a comparison of both columns with `OR`: the rest of a network, and then
        // the networks after it.
        let mut rows: Vec<(i64, ObjectRow)> = match after {
            None => Vec::new(),
            Some((network, oid)) => self.run(|conn| {
                lfs_objects::table
                    .filter(lfs_objects::network_id.eq(network.0))
                    .filter(lfs_objects::oid.gt(oid.as_bytes().as_slice()))
                    .order(lfs_objects::oid)
                    .limit(limit)
                    .select(columns)
                    .load(conn)
            })?,
        };
        let rest = limit - i64::try_from(rows.len()).unwrap_or(limit);
        if rest > 0 {
            let network = after.map_or(i64::MIN, |(network, _)| network.0);
            rows.extend(self.run(|conn| {
                lfs_objects::table
                    .filter(lfs_objects::network_id.gt(network))
                    .order((lfs_objects::network_id, lfs_objects::oid))
                    .limit(rest)
                    .select(columns)
                    .load::<(i64, ObjectRow)>(conn)
            })?);
        }
        let to_entry = |(network, row)| Ok((ForkNetworkId(network), to_object(row)?));
        self.fail_on_error(rows.into_iter().map(to_entry).collect())
    }

    fn lock(&mut self, network: ForkNetworkId) -> Result<u64, StoreError> {
        self.execute(
            Sql::new("INSERT INTO lfs_networks (id) VALUES (")
                .id(network.0)
                .sql(") ON CONFLICT DO NOTHING"),
        )?;
        self.lock_rows(
            Sql::new("SELECT id FROM lfs_networks WHERE id = ").id(network.0).sql(" FOR UPDATE"),
        )?;
        self.total_bytes(network)
    }

    fn lock_if_used(&mut self, network: ForkNetworkId) -> Result<bool, StoreError> {
        // A root that is locked cannot be deleted, so the row of the network below is marked as removed with the last
        // root. The lock is the one of a foreign key: it delays no changes of the project.
        self.lock_rows(roots_of(network).sql(" ORDER BY id FOR KEY SHARE"))?;
        let is_used = !self.ids(roots_of(network).sql(" LIMIT 1"))?.is_empty();
        if is_used {
            self.lock(network)?;
        }
        Ok(is_used)
    }

    fn insert(
        &mut self,
        network: ForkNetworkId,
        object: LfsObject,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let size = to_i64(object.size);
        let added = self.execute_counting(
            Sql::new("INSERT INTO lfs_objects (network_id, oid, size, created_at) VALUES (")
                .id(network.0)
                .sql(", ")
                .bytes(Some(object.oid.as_bytes()))
                .sql(", ")
                .id(size)
                .sql(", ")
                .moment(to_naive(at))
                .sql(") ON CONFLICT DO NOTHING"),
        )?;
        if added == 0 {
            return Ok(());
        }
        self.execute(
            Sql::new("UPDATE lfs_networks SET bytes = bytes + ")
                .id(size)
                .sql(" WHERE id = ")
                .id(network.0),
        )
    }

    fn total_bytes(&mut self, network: ForkNetworkId) -> Result<u64, StoreError> {
        let row = lfs_networks::table.find(network.0).select(lfs_networks::bytes);
        let bytes: Option<i64> = self.run(|conn| row.get_result(conn).optional())?;
        Ok(bytes.unwrap_or_default().unsigned_abs())
    }

    fn forget(&mut self, network: ForkNetworkId) -> Result<(), StoreError> {
        self.execute(Sql::new("DELETE FROM lfs_networks WHERE removed AND id = ").id(network.0))
    }
}
