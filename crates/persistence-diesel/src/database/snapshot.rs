//! A snapshot of the database for the reads of one request, on one connection.

use std::sync::Arc;

use diesel::connection::SimpleConnection;
use hexforge_domain::ports::store::{Mode, ReadSnapshot, StoreError, Tx, Verdict};

use crate::database::pool::{Borrowed, Connections};
use crate::database::seal::Seals;
use crate::database::snapshot_cache::SnapshotCache;
use crate::database::store::begin;
use crate::database::tx::DieselTx;
use crate::query::page::Totals;

/// A snapshot. It begins a transaction at the first read and ends it when it is released or dropped.
pub(crate) struct DieselSnapshot {
    pub readers: Connections,
    pub totals: Arc<Totals>,
    pub seals: Seals,
    /// A connection with the open transaction.
    conn: Option<Borrowed>,
    /// The rows that were read.
    cache: SnapshotCache,
    /// Whether each read has a transaction of its own.
    is_released: bool,
}

impl DieselSnapshot {
    pub fn new(readers: Connections, totals: Arc<Totals>, seals: Seals) -> Self {
        let cache = SnapshotCache::default();
        Self { readers, totals, seals, conn: None, cache, is_released: false }
    }

    /// Ends the transaction, if one is open.
    fn end(&mut self) {
        if let Some(mut conn) = self.conn.take() {
            // If it fails, the pool finds the connection broken.
            let _ = conn.batch_execute("ROLLBACK");
        }
        self.cache.forget_absences();
    }
}

impl ReadSnapshot for DieselSnapshot {
    fn read(
        &mut self,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError> {
        let mut conn = match self.conn.take() {
            Some(conn) => conn,
            None => {
                let mut conn = self.readers.get()?;
                begin(&mut conn, Mode::Read)?;
                conn
            }
        };
        let mut tx = DieselTx::new(&mut conn, &self.totals, &self.seals, Mode::Read);
        tx.resume(std::mem::take(&mut self.cache));
        match (work(&mut tx), tx.suspend()) {
            (_, Some(cache)) => {
                (self.conn, self.cache) = (Some(conn), cache);
                if self.is_released {
                    self.end();
                }
                Ok(())
            }
            // The failed transaction was rolled back; the next read begins another one.
            (Verdict::Commit, None) => Err(StoreError::Aborted),
            (Verdict::RollBack, None) => Ok(()),
        }
    }

    fn release(&mut self) {
        self.is_released = true;
        self.end();
    }
}

impl Drop for DieselSnapshot {
    fn drop(&mut self) {
        self.end();
    }
}
