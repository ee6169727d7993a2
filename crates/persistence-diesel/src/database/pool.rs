//! Connection pools.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use diesel::connection::{InstrumentationEvent, SimpleConnection};
use diesel::r2d2::{ManageConnection, NopErrorHandler, Pool, PooledConnection};
use diesel::{Connection, ConnectionError};
use hexforge_domain::ports::store::StoreError;

use crate::database::connection::{DatabaseUrl, DbConn, Role};
use crate::database::fair_semaphore::{FairSemaphore, Permit};

/// Opens connections for one role.
pub(crate) struct Connector {
    pub url: DatabaseUrl,
    pub role: Role,
    /// Counts the queries of the connections, for tests that limit their number.
    pub queries: Option<Arc<AtomicU64>>,
    /// True if the last attempt to connect failed.
    pub is_unreachable: Arc<AtomicBool>,
}

impl ManageConnection for Connector {
    type Connection = DbConn;
    type Error = ConnectionError;

    fn connect(&self) -> Result<DbConn, ConnectionError> {
        let made = self.url.connect(self.role);
        self.is_unreachable.store(made.is_err(), Ordering::Relaxed);
        let mut conn = made?;
        if let Some(queries) = self.queries.clone() {
            conn.set_instrumentation(move |event: InstrumentationEvent<'_>| {
                if let InstrumentationEvent::StartQuery { query, .. } = event
                    && !is_transaction_control(&query.to_string())
                {
                    queries.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        Ok(conn)
    }

    fn is_valid(&self, conn: &mut DbConn) -> Result<(), ConnectionError> {
        conn.batch_execute("SELECT 1").map_err(ConnectionError::CouldntSetupConfiguration)
    }

    /// Called each time a connection is returned to the pool: a broken connection is dropped.
    fn has_broken(&self, conn: &mut DbConn) -> bool {
        std::thread::panicking() || diesel::r2d2::R2D2Connection::is_broken(conn)
    }
}

fn is_transaction_control(query: &str) -> bool {
    ["BEGIN", "COMMIT", "ROLLBACK"].iter().any(|word| query.starts_with(word))
}

/// The longest time a caller waits for a connection that other callers use.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The interval at which a caller that waits for a connection checks whether the database is unreachable.
const CHECK_INTERVAL: Duration = Duration::from_millis(300);

/// The pool pauses between failed connection attempts, for up to half of this time. This bounds the delay until a
/// restarted database is used again.
const RETRY: Duration = Duration::from_secs(2);

/// Connections of one role. The pool of r2d2 is not fair to waiting callers, and does not wake them when the last
/// connection breaks. So callers first wait for a permit, in order of arrival. There are as many permits as
/// connections. Clones share the pool.
#[derive(Clone)]
pub(crate) struct Connections {
    pool: Pool<Connector>,
    semaphore: Arc<FairSemaphore>,
    is_unreachable: Arc<AtomicBool>,
}

/// A connection in exclusive use by one caller.
pub(crate) struct Borrowed {
    from: Connections,
    conn: Option<PooledConnection<Connector>>,
    #[expect(dead_code, reason = "dropped after the connection is returned to the pool")]
    permit: Permit,
}

impl Connections {
    /// Returns a connection in exclusive use. Waits for a free connection, but not for an unreachable database.
    pub fn get(&self) -> Result<Borrowed, StoreError> {
        let permit = self.semaphore.acquire(Instant::now() + MAX_WAIT);
        let permit =
            permit.ok_or_else(|| StoreError::Unreachable("all connections are in use".into()))?;
        Ok(Borrowed { from: self.clone(), conn: Some(self.connection()?), permit })
    }

    fn connection(&self) -> Result<PooledConnection<Connector>, StoreError> {
        let end = Instant::now() + MAX_WAIT;
        loop {
            match self.pool.get_timeout(CHECK_INTERVAL) {
                Ok(conn) => return Ok(conn),
                Err(error) if self.is_unreachable() || Instant::now() >= end => {
                    return Err(StoreError::Unreachable(Box::new(error)));
                }
                Err(_) => (),
            }
        }
    }

    /// Returns true if the pool has no connection and cannot open one. A server that only refuses additional
    /// connections does not count as unreachable.
    fn is_unreachable(&self) -> bool {
        self.is_unreachable.load(Ordering::Relaxed) && self.pool.state().connections == 0
    }
}

impl Borrowed {
    /// Replaces a broken connection by another one.
    pub fn renew(&mut self) -> Result<(), StoreError> {
        self.conn = None;
        self.conn = Some(self.from.connection()?);
        Ok(())
    }
}

impl Deref for Borrowed {
    type Target = DbConn;

    fn deref(&self) -> &DbConn {
        self.conn.as_ref().expect("the connection is absent only while it is renewed")
    }
}

impl DerefMut for Borrowed {
    fn deref_mut(&mut self) -> &mut DbConn {
        self.conn.as_mut().expect("the connection is absent only while it is renewed")
    }
}

/// Creates a pool that opens connections on demand, and none when it is created.
pub(crate) fn lazy(connector: Connector, size: u32) -> Connections {
    let is_unreachable = Arc::clone(&connector.is_unreachable);
    let pool = Pool::builder()
        .max_size(size)
        .min_idle(Some(0))
        .connection_timeout(RETRY)
        .idle_timeout(Some(Duration::from_secs(600)))
        .max_lifetime(None)
        .test_on_check_out(false)
        // Waiting callers get the error and log it once; the pool would log it at each attempt.
        .error_handler(Box::new(NopErrorHandler))
        .build_unchecked(connector);
    Connections { pool, semaphore: Arc::new(FairSemaphore::new(size)), is_unreachable }
}
