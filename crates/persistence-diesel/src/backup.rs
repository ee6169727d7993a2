//! Backup and restore of the whole database, as a snapshot in parts that fit into an archive.
//!
//! SQLite has one part: a copy of its file. PostgreSQL has one part per table, with a row as JSON in each line, and
//! one part with the sequences. Neither blocks writers.

mod postgres;
mod sqlite;

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::path::Path;

use diesel::prelude::*;
use hexforge_domain::id::{ForkNetworkId, ProjectId};
use hexforge_domain::lfs::{LfsObject, LfsOid};
use hexforge_domain::pack::{Pack, PackName};

use crate::database::connection::{DatabaseUrl, DbConn, Role};
use crate::database::migrations;
use crate::database::schema::{lfs_networks, lfs_objects, packs, projects, repositories};
use crate::repositories::{lfs_object, pack};
use postgres::PostgresRestore;
use sqlite::SqliteRestore;

/// Why a backup or restore failed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A condition that the operator can resolve.
    #[error("{0}")]
    Refused(String),
    /// The database failed.
    #[error("the database cannot be copied")]
    Database(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<diesel::result::Error> for BackupError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(Box::new(error))
    }
}

impl From<ConnectionError> for BackupError {
    fn from(error: ConnectionError) -> Self {
        Self::Database(Box::new(error))
    }
}

/// A receiver of the parts of a database.
pub trait Parts {
    /// Receives one part. Calling `write` produces its content.
    fn receive_part(
        &mut self,
        name: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<(), BackupError>,
    ) -> Result<(), BackupError>;
}

/// The name of the database kind in backups.
pub fn kind(url: &DatabaseUrl) -> &'static str {
    match url {
        DatabaseUrl::Sqlite(_) => "sqlite",
        DatabaseUrl::Postgres(_) => "postgresql",
    }
}

/// A snapshot of a database. It lasts until this value is dropped.
pub struct Snapshot {
    conn: DbConn,
    /// The copy of an SQLite database.
    copy: Option<std::path::PathBuf>,
}

impl Snapshot {
    /// Takes a snapshot of the current state. `scratch` must be a private folder with free space for a copy of the
    /// database.
    pub fn take(url: &DatabaseUrl, scratch: &Path) -> Result<Self, BackupError> {
        match url {
            DatabaseUrl::Sqlite(path) => {
                if !path.exists() {
                    let why = format!("there is no database at {}", path.display());
                    return Err(BackupError::Refused(why));
                }
                let copy = sqlite::copy(url, scratch)?;
                let conn = DatabaseUrl::Sqlite(copy.clone()).connect(Role::Reader)?;
                Ok(Self { conn, copy: Some(copy) })
            }
            DatabaseUrl::Postgres(_) => {
                let mut conn = url.connect(Role::Writer)?;
                if let DbConn::Postgres(conn) = &mut conn {
                    postgres::begin(conn)?;
                }
                Ok(Self { conn, copy: None })
            }
        }
    }

    /// Returns the versions of the applied migrations, oldest first.
    pub fn migrations(&mut self) -> Result<Vec<String>, BackupError> {
        Ok(migrations::applied_versions(&mut self.conn)?)
    }

    /// Passes all parts to a receiver.
    pub fn write_parts(&mut self, parts: &mut dyn Parts) -> Result<(), BackupError> {
        match (&mut self.conn, &self.copy) {
            (DbConn::Postgres(conn), _) => postgres::write_parts(conn, parts),
            (DbConn::Sqlite(_), Some(copy)) => sqlite::write_parts(copy, parts),
            (DbConn::Sqlite(_), None) => Ok(()),
        }
    }

    /// Returns the ids, out of these, of projects that exist in the snapshot.
    pub fn projects(&mut self, ids: &[ProjectId]) -> Result<BTreeSet<ProjectId>, BackupError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let found: Vec<i64> = projects::table
            .filter(projects::id.eq_any(&ids))
            .select(projects::id)
            .load(&mut self.conn)?;
        Ok(found.into_iter().map(ProjectId).collect())
    }

    /// Returns the packs of repositories in the snapshot: at most `limit` after the given name, ordered by name.
    pub fn packs(&mut self, after: Option<PackName>, limit: i64) -> Result<Vec<Pack>, BackupError> {
        let after = after.map(|name| name.as_bytes().to_vec()).unwrap_or_default();
        let found: Vec<(Vec<u8>, i64, i64)> = packs::table
            .filter(packs::retired_at.is_null())
            .filter(packs::project_id.is_not_null())
            .filter(packs::sha256.gt(after))
            .select((packs::sha256, packs::bytes, packs::objects))
            .distinct()
            .order(packs::sha256)
            .limit(limit)
            .load(&mut self.conn)?;
        let packs: Result<Vec<Pack>, _> = found.into_iter().map(pack::to_pack).collect();
        packs.map_err(|_| BackupError::Refused("the database contains an invalid pack name".into()))
    }

    /// Returns the networks with LFS objects in the snapshot, ordered by id.
    pub fn lfs_networks(&mut self) -> Result<Vec<ForkNetworkId>, BackupError> {
        let found: Vec<i64> = lfs_networks::table
            .filter(lfs_networks::removed.eq(false))
            .order(lfs_networks::id)
            .select(lfs_networks::id)
            .load(&mut self.conn)?;
        Ok(found.into_iter().map(ForkNetworkId).collect())
    }

    /// Returns LFS objects of a network in the snapshot: at most `limit` after the given name, ordered by name.
    pub fn lfs_objects(
        &mut self,
        network: ForkNetworkId,
        after: Option<LfsOid>,
        limit: i64,
    ) -> Result<Vec<LfsObject>, BackupError> {
        let after = after.map(|oid| oid.as_bytes().to_vec()).unwrap_or_default();
        let found: Vec<(Vec<u8>, i64)> = lfs_objects::table
            .filter(lfs_objects::network_id.eq(network.0))
            .filter(lfs_objects::oid.gt(after))
            .select((lfs_objects::oid, lfs_objects::size))
            .order(lfs_objects::oid)
            .limit(limit)
            .load(&mut self.conn)?;
        let objects: Result<Vec<LfsObject>, _> =
            found.into_iter().map(lfs_object::to_object).collect();
        objects.map_err(|_| {
            BackupError::Refused("the database contains an invalid name of an LFS object".into())
        })
    }

    /// Returns the number of repositories with packs in the snapshot.
    pub fn repositories(&mut self) -> Result<u64, BackupError> {
        let count: i64 = packs::table
            .filter(packs::retired_at.is_null())
            .select(diesel::dsl::count(packs::project_id).aggregate_distinct())
            .get_result(&mut self.conn)?;
        Ok(count.unsigned_abs())
    }

    /// Returns the projects whose repositories are still in files of an earlier release, in the snapshot.
    pub fn projects_in_files(&mut self) -> Result<Vec<ProjectId>, BackupError> {
        let is_in_files = repositories::refs_version.lt(0).or(repositories::packs_version.lt(0));
        let found: Vec<i64> = repositories::table
            .filter(is_in_files)
            .order(repositories::project_id)
            .select(repositories::project_id)
            .load(&mut self.conn)?;
        Ok(found.into_iter().map(ProjectId).collect())
    }
}

/// A restore in progress. The database becomes visible when the restore is finished, not before.
pub enum Restore {
    /// A restore to a file of the embedded database.
    Sqlite(SqliteRestore),
    /// A restore to a database on a server.
    Postgres(Box<PostgresRestore>),
}

impl Restore {
    /// Begins a restore into an empty database. `applied` are the migrations applied to the backup.
    pub fn begin(url: &DatabaseUrl, applied: &[String]) -> Result<Self, BackupError> {
        let known = migrations::embedded_versions(url).map_err(BackupError::Database)?;
        if let Some(newer) = applied.iter().find(|version| !known.contains(version)) {
            return Err(BackupError::Refused(format!(
                "the backup is of a newer hexforge: it has the migration {newer}, which this version \
                 does not have"
            )));
        }
        match url {
            DatabaseUrl::Sqlite(path) => Ok(Self::Sqlite(SqliteRestore::begin(path)?)),
            DatabaseUrl::Postgres(_) => match url.connect(Role::Writer)? {
                DbConn::Postgres(conn) => {
                    Ok(Self::Postgres(Box::new(PostgresRestore::begin(conn, url, applied)?)))
                }
                DbConn::Sqlite(_) => {
                    Err(BackupError::Refused("the connection is not to PostgreSQL".into()))
                }
            },
        }
    }

    /// Restores one part.
    pub fn restore_part(
        &mut self,
        name: &str,
        content: &mut dyn BufRead,
    ) -> Result<(), BackupError> {
        match self {
            Self::Sqlite(restore) => restore.restore_part(name, content),
            Self::Postgres(restore) => restore.restore_part(name, content),
        }
    }

    /// Makes the restored database visible, and applies pending migrations.
    pub fn finish(self, url: &DatabaseUrl) -> Result<(), BackupError> {
        match self {
            Self::Sqlite(restore) => restore.finish()?,
            Self::Postgres(restore) => restore.finish()?,
        }
        let migrated = crate::database::store::migrate(url);
        migrated.map(drop).map_err(|error| BackupError::Database(Box::new(error)))
    }
}
