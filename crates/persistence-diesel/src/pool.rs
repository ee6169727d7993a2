//! Connections that are kept open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use diesel::connection::{InstrumentationEvent, SimpleConnection};
use diesel::r2d2::{ManageConnection, Pool};
use diesel::{Connection, ConnectionError};

use crate::connection::{DatabaseUrl, DbConn, Role};

/// Makes connections for one role.
pub(crate) struct Connector {
    pub url: DatabaseUrl,
    pub role: Role,
    /// Counts the queries of its connections, for tests that bound them.
    pub queries: Option<Arc<AtomicU64>>,
}

impl ManageConnection for Connector {
    type Connection = DbConn;
    type Error = ConnectionError;

    fn connect(&self) -> Result<DbConn, ConnectionError> {
        let mut conn = self.url.connect(self.role)?;
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

/// A pool that opens connections when they are needed, and is ready at once.
pub(crate) fn lazy(connector: Connector, size: u32) -> Pool<Connector> {
    Pool::builder()
        .max_size(size)
        .min_idle(Some(0))
        .connection_timeout(Duration::from_secs(30))
        .idle_timeout(Some(Duration::from_secs(600)))
        .max_lifetime(None)
        .test_on_check_out(false)
        .build_unchecked(connector)
}
