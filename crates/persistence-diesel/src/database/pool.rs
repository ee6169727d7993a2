//! Connections that are kept open.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use diesel::connection::{InstrumentationEvent, SimpleConnection};
use diesel::r2d2::{ManageConnection, NopErrorHandler, Pool, PooledConnection};
use diesel::{Connection, ConnectionError};
use hexforge_domain::ports::store::StoreError;

use crate::database::connection::{DatabaseUrl, DbConn, Role};
use crate::database::turns::{Turn, Turns};

/// Makes connections for one role.
pub(crate) struct Connector {
    pub url: DatabaseUrl,
    pub role: Role,
    /// Counts the queries of its connections, for tests that bound them.
    pub queries: Option<Arc<AtomicU64>>,
    /// Whether the last connection that was tried could not be made.
    pub is_away: Arc<AtomicBool>,
}

impl ManageConnection for Connector {
    type Connection = DbConn;
    type Error = ConnectionError;

    fn connect(&self) -> Result<DbConn, ConnectionError> {
        let made = self.url.connect(self.role);
        self.is_away.store(made.is_err(), Ordering::Relaxed);
        let mut conn = made?;
        if let Some(queries) = self.queries.clone() {
            conn.set_instrumentation(move |event: InstrumentationEvent<'_>| {
                if let InstrumentationEvent::StartQuery { query, .. } = event
                    && !ends_or_begins(&query.to_string())
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

    /// Asked each time a connection comes back: one whose server is gone is thrown away.
    fn has_broken(&self, conn: &mut DbConn) -> bool {
        std::thread::panicking() || diesel::r2d2::R2D2Connection::is_broken(conn)
    }
}

fn ends_or_begins(query: &str) -> bool {
    ["BEGIN", "COMMIT", "ROLLBACK"].iter().any(|word| query.starts_with(word))
}

/// How long somebody waits for a connection that others use.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often whoever has its turn looks whether a connection is to be had at all.
const GLANCE: Duration = Duration::from_millis(300);

/// Pauses between tries to connect grow up to half of this; so soon after its return a database is in use again.
const RETRY: Duration = Duration::from_secs(2);

/// Connections of one role. The pool itself gives them to whoever is quick, and tells nobody who waits that the last one
/// is broken; so callers wait for a turn first, of which there are as many as connections.
pub(crate) struct Connections {
    pool: Pool<Connector>,
    turns: Turns,
    is_away: Arc<AtomicBool>,
}

/// A connection that nobody else uses.
pub(crate) struct Borrowed<'a> {
    from: &'a Connections,
    conn: Option<PooledConnection<Connector>>,
    #[expect(dead_code, reason = "it ends after the connection is given back")]
    turn: Turn<'a>,
}

impl Connections {
    /// One that nobody else uses. Waits for its turn, but not for a database that is away.
    pub fn get(&self) -> Result<Borrowed<'_>, StoreError> {
        let turn = self.turns.take(Instant::now() + PATIENCE);
        let turn =
            turn.ok_or_else(|| StoreError::Unreachable("all connections are used".into()))?;
        Ok(Borrowed { from: self, conn: Some(self.connection()?), turn })
    }

    fn connection(&self) -> Result<PooledConnection<Connector>, StoreError> {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.pool.get_timeout(GLANCE) {
                Ok(conn) => return Ok(conn),
                Err(error) if self.is_away() || Instant::now() >= end => {
                    return Err(StoreError::Unreachable(Box::new(error)));
                }
                Err(_) => (),
            }
        }
    }

    /// Whether there is no connection, and none to be had. A server that gives no more than there are is not away.
    fn is_away(&self) -> bool {
        self.is_away.load(Ordering::Relaxed) && self.pool.state().connections == 0
    }
}

impl Borrowed<'_> {
    /// Takes another one in place of one that is of no use.
    pub fn renew(&mut self) -> Result<(), StoreError> {
        self.conn = None;
        self.conn = Some(self.from.connection()?);
        Ok(())
    }
}

impl Deref for Borrowed<'_> {
    type Target = DbConn;

    fn deref(&self) -> &DbConn {
        self.conn.as_ref().expect("it is only without one while it is renewed")
    }
}

impl DerefMut for Borrowed<'_> {
    fn deref_mut(&mut self) -> &mut DbConn {
        self.conn.as_mut().expect("it is only without one while it is renewed")
    }
}

/// A pool that opens connections when they are needed, and is ready at once.
pub(crate) fn lazy(connector: Connector, size: u32) -> Connections {
    let is_away = Arc::clone(&connector.is_away);
    let pool = Pool::builder()
        .max_size(size)
        .min_idle(Some(0))
        .connection_timeout(RETRY)
        .idle_timeout(Some(Duration::from_secs(600)))
        .max_lifetime(None)
        .test_on_check_out(false)
        // Who waits is told, and says so once; the pool would say it at each of its tries.
        .error_handler(Box::new(NopErrorHandler))
        .build_unchecked(connector);
    Connections { pool, turns: Turns::new(size), is_away }
}
