//! The `Store` port on SQLite and PostgreSQL.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use diesel::connection::SimpleConnection;
use hexforge_domain::ports::store::{Mode, ReadSnapshot, Store, StoreError, Tx, Verdict};
use hexforge_domain::ports::vault::Vault;

use crate::database::backend;
use crate::database::checkpoints::Checkpoints;
use crate::database::connection::{DatabaseUrl, Role};
use crate::database::error;
use crate::database::installation;
use crate::database::migrations;
use crate::database::pool::{self, Borrowed, Connections, Connector};
use crate::database::seal::Seals;
use crate::database::sealing::{self, SealError};
use crate::database::snapshot::DieselSnapshot;
use crate::database::tx::DieselTx;
use crate::query::page::Totals;

/// The number of connections for reading. It exceeds the number of concurrent reading requests (`http-actix`), so
/// that no request waits for a connection that slow queries of other requests hold.
const READERS: u32 = 20;
/// The number of connections to PostgreSQL for writing. Reads have their own connections, so that many writes do
/// not block them. Three processes stay below the 100 connections that PostgreSQL allows by default.
const WRITERS: u32 = 10;

/// The options of a store.
#[derive(Clone, Default)]
pub struct Options {
    /// Counts all queries, for tests that limit their number.
    pub queries: Option<Arc<AtomicU64>>,
    /// Called after each commit that wrote to the outbox. Must return quickly.
    pub on_outbox_write: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Encrypts secrets. Without a vault, every operation that stores or reads a secret fails.
    pub vault: Option<Arc<dyn Vault>>,
}

/// The store of all entities in one database.
pub struct DieselStore {
    readers: Connections,
    /// A single connection on SQLite, which has one writer at a time.
    writers: Connections,
    /// The checkpoint thread, on SQLite only.
    checkpoints: Option<Checkpoints>,
    totals: Arc<Totals>,
    seals: Seals,
    on_outbox_write: Option<Arc<dyn Fn() + Send + Sync>>,
}

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder of the database does not exist and could not be created.
    #[error("the folder {0} could not be created")]
    Folder(PathBuf, #[source] std::io::Error),
    /// The connection failed.
    #[error("the database {0} cannot be opened")]
    Connect(String, #[source] Box<dyn std::error::Error + Send + Sync>),
    /// The schema could not be read or migrated.
    #[error("the database {0} cannot be migrated")]
    Migrate(String, #[source] Box<dyn std::error::Error + Send + Sync>),
}

impl DieselStore {
    /// Opens the database and applies pending migrations.
    pub fn open(url: &DatabaseUrl, options: Options) -> Result<Self, OpenError> {
        migrate(url)?;
        let connector = |role| Connector {
            url: url.clone(),
            role,
            queries: options.queries.clone(),
            is_unreachable: Arc::default(),
        };
        let (readers, writers) = match url {
            DatabaseUrl::Sqlite(_) => (
                pool::lazy(connector(Role::Reader), READERS),
                pool::lazy(connector(Role::Writer), 1),
            ),
            DatabaseUrl::Postgres(_) => (
                pool::lazy(connector(Role::Reader), READERS),
                pool::lazy(connector(Role::Writer), WRITERS),
            ),
        };
        let checkpoints = match url {
            DatabaseUrl::Sqlite(file) => Some(Checkpoints::start(file)),
            DatabaseUrl::Postgres(_) => None,
        };
        let (totals, seals) = (Arc::default(), Seals(options.vault));
        Ok(Self {
            readers,
            writers,
            checkpoints,
            totals,
            seals,
            on_outbox_write: options.on_outbox_write,
        })
    }

    /// Seals secrets that an earlier version stored in plain text. Must be called before the store is used. Costs
    /// one query when there is nothing to seal.
    /// # Errors
    /// [`SealError::OtherKey`] when the database was sealed with another key.
    pub fn seal_plain_texts(&self) -> Result<(), SealError> {
        sealing::run(&mut *self.writers.get()?, &self.seals)
    }

    /// Returns a secret that all machines of the installation share, stored sealed. The first process that needs it
    /// stores the result of `make`.
    pub fn shared_secret<E: From<StoreError>>(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<String, E>,
    ) -> Result<String, E> {
        installation::shared_secret(&mut *self.writers.get()?, &self.seals, name, make)
    }

    /// Deletes a shared secret. The next process that needs it creates another.
    pub fn delete_shared_secret(&self, name: &str) -> Result<(), StoreError> {
        installation::delete_shared_secret(&mut *self.writers.get()?, name)
    }

    fn connection(&self, mode: Mode) -> Result<Borrowed, StoreError> {
        match mode {
            Mode::Read | Mode::Autocommit => self.readers.get(),
            Mode::Write => self.writers.get(),
        }
    }
}

/// Begins a transaction.
pub(crate) fn begin(conn: &mut Borrowed, mode: Mode) -> Result<(), StoreError> {
    if backend::begin(conn, mode).is_ok() {
        return Ok(());
    }
    // The connection may be older than a restart of the database. Nothing was done on it yet, so another connection can
    // be tried. The pool drops broken connections when they are returned.
    renew(conn)?;
    backend::begin(conn, mode).map_err(error::translate)
}

/// Replaces a connection by one that has just been tested.
fn renew(conn: &mut Borrowed) -> Result<(), StoreError> {
    let mut last = None;
    for _ in 0..=READERS.max(WRITERS) {
        conn.renew()?;
        match conn.batch_execute("SELECT 1") {
            Ok(()) => return Ok(()),
            Err(error) => last = Some(error),
        }
    }
    let error = last
        .map_or_else(|| "no connection could be opened".into(), |error| error.to_string().into());
    Err(StoreError::Unreachable(error))
}

/// Applies pending migrations and returns their names.
pub fn migrate(url: &DatabaseUrl) -> Result<Vec<String>, OpenError> {
    if let DatabaseUrl::Sqlite(path) = url
        && let Some(folder) = path.parent()
    {
        std::fs::create_dir_all(folder).map_err(|error| OpenError::Folder(folder.into(), error))?;
    }
    let mut conn = connect(url)?;
    migrations::run(&mut conn).map_err(|error| OpenError::Migrate(url.to_string(), error))
}

/// Returns the names of the pending migrations.
pub fn pending_migrations(url: &DatabaseUrl) -> Result<Vec<String>, OpenError> {
    if let DatabaseUrl::Sqlite(path) = url
        && !path.exists()
    {
        // A check must not create the file. All migrations are pending.
        let names = migrations::names();
        return names
            .map(|(sqlite, _)| sqlite)
            .map_err(|error| OpenError::Migrate(url.to_string(), error));
    }
    let mut conn = connect(url)?;
    migrations::pending(&mut conn).map_err(|error| OpenError::Migrate(url.to_string(), error))
}

fn connect(url: &DatabaseUrl) -> Result<crate::database::connection::DbConn, OpenError> {
    url.connect(Role::Writer).map_err(|error| OpenError::Connect(url.to_string(), Box::new(error)))
}

impl Store for DieselStore {
    fn transact(
        &self,
        mode: Mode,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError> {
        let mut conn = self.connection(mode)?;
        begin(&mut conn, mode)?;
        let mut tx = DieselTx::new(&mut conn, &self.totals, &self.seals, mode);
        let mut verdict = work(&mut tx);
        if mode == Mode::Autocommit && tx.is_lost() {
            // This mode begins no transaction, so the lost connection was not noticed earlier.
            drop(tx);
            renew(&mut conn)?;
            tx = DieselTx::new(&mut conn, &self.totals, &self.seals, mode);
            verdict = work(&mut tx);
        }
        match verdict {
            Verdict::Commit => {
                let wrote_outbox = tx.commit()?;
                if mode == Mode::Write
                    && let Some(checkpoints) = &self.checkpoints
                {
                    checkpoints.wake();
                }
                if wrote_outbox && let Some(on_outbox_write) = &self.on_outbox_write {
                    on_outbox_write();
                }
                Ok(())
            }
            Verdict::RollBack => tx.roll_back(),
        }
    }

    fn snapshot(&self) -> Option<Box<dyn ReadSnapshot>> {
        let (totals, seals) = (Arc::clone(&self.totals), self.seals.clone());
        Some(Box::new(DieselSnapshot::new(self.readers.clone(), totals, seals)))
    }

    fn check_ready(&self) -> Result<(), StoreError> {
        let mut conn = self.connection(Mode::Read)?;
        let pending = migrations::pending_read_only(&mut conn).map_err(StoreError::Failed)?;
        if pending.is_empty() {
            Ok(())
        } else {
            Err(StoreError::Failed(
                format!("migrations are pending: {}", pending.join(", ")).into(),
            ))
        }
    }
}
