//! Checkpoints the WAL of SQLite on a separate thread.
//!
//! By default SQLite runs a checkpoint within a commit, every thousand pages. That commit takes ten times as long
//! as others, and all writers wait for it.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::sql_types::Integer;
use diesel::{QueryResult, QueryableByName, RunQueryDsl, SqliteConnection};

use crate::database::connection::{DatabaseUrl, DbConn, Role};

/// A checkpoint runs when this many pages of the WAL are not in the database file yet: 4 MiB.
const CHECKPOINT_FROM: i32 = 1024;

/// Writers wait for the checkpoint when the WAL has this many pages: 32 MiB. If transactions commit during every
/// checkpoint, SQLite never reuses the WAL from its beginning, so the WAL would grow without bound.
const FULL_CHECKPOINT_FROM: i32 = 8 * 1024;

/// The time between two checks of the WAL.
const INTERVAL: Duration = Duration::from_millis(200);

/// A thread that runs checkpoints. Dropping this value stops the thread.
pub(crate) struct Checkpoints {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    has_commits: bool,
    is_stopping: bool,
}

impl Checkpoints {
    /// Starts the thread for a database file. If the thread cannot be started, SQLite runs checkpoints itself.
    pub fn start(file: &Path) -> Self {
        let shared = Arc::<Shared>::default();
        let (watched, file) = (Arc::clone(&shared), file.to_owned());
        let run = move || watched.run(&DatabaseUrl::Sqlite(file));
        let thread = std::thread::Builder::new().name("checkpoints".into()).spawn(run).ok();
        Self { shared, thread }
    }

    /// Wakes the thread after a commit.
    pub fn wake(&self) {
        let mut state = self.shared.state();
        if !state.has_commits {
            state.has_commits = true;
            self.shared.changed.notify_one();
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.shared.state().is_stopping = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, database: &DatabaseUrl) {
        let mut connection = None;
        while self.wait_for_commits() {
            if connection.is_none() {
                connection = database.connect(Role::Writer).ok();
            }
            // A failure loses nothing: the WAL keeps all commits, and the next check tries again.
            if let Some(DbConn::Sqlite(sqlite)) = &mut connection
                && checkpoint_if_long(sqlite).is_err()
            {
                connection = None;
            }
        }
    }

    /// Waits for a commit, then for [`INTERVAL`]. Returns false when the thread has to stop.
    fn wait_for_commits(&self) -> bool {
        let idle = |state: &mut State| !state.has_commits && !state.is_stopping;
        let state = self.changed.wait_while(self.state(), idle);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(state, INTERVAL, |state| !state.is_stopping);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.has_commits = false;
        !state.is_stopping
    }
}

/// The number of pages in the WAL, and how many of them are in the database file too.
#[derive(QueryableByName)]
struct Pages {
    #[diesel(sql_type = Integer)]
    log: i32,
    #[diesel(sql_type = Integer)]
    checkpointed: i32,
}

/// Runs a checkpoint if the WAL is long.
fn checkpoint_if_long(sqlite: &mut SqliteConnection) -> QueryResult<()> {
    let run = |sqlite: &mut SqliteConnection, mode: &str| -> QueryResult<Pages> {
        diesel::sql_query(format!("PRAGMA wal_checkpoint({mode})")).get_result(sqlite)
    };
    let pages = run(sqlite, "NOOP")?;
    if pages.log - pages.checkpointed < CHECKPOINT_FROM {
        return Ok(());
    }
    // A PASSIVE checkpoint waits for neither readers nor writers.
    let pages = run(sqlite, "PASSIVE")?;
    if pages.log >= FULL_CHECKPOINT_FROM {
        // A RESTART checkpoint holds the write lock while it copies the few pages written since PASSIVE. If it does
        // not get the lock in time, or readers still need the WAL, it gives up until the next check.
        sqlite.batch_execute("PRAGMA busy_timeout = 100")?;
        run(sqlite, "RESTART")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// Creates a database with a table, and a connection that writes to it.
    fn database(folder: &Path) -> (DatabaseUrl, DbConn) {
        let url = DatabaseUrl::Sqlite(folder.join("test.db"));
        let mut writer = url.connect(Role::Writer).expect("the folder is empty");
        writer.batch_execute("CREATE TABLE t (x BLOB)").expect("the database is empty");
        (url, writer)
    }

    fn insert(writer: &mut DbConn, megabytes: usize) {
        let insert = format!("INSERT INTO t VALUES (randomblob({}))", megabytes << 20);
        writer.batch_execute(&insert).expect("there is room");
    }

    #[test]
    fn a_long_wal_is_copied_beside_the_transactions() {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let (url, mut writer) = database(folder.path());
        let DatabaseUrl::Sqlite(file) = &url else { unreachable!("it is one") };
        let checkpoints = Checkpoints::start(file);
        insert(&mut writer, 5);
        let is_copied = || std::fs::metadata(file).is_ok_and(|file| file.len() > 5 << 20);
        assert!(!is_copied(), "no commit runs a checkpoint");
        checkpoints.wake();
        let until = Instant::now() + Duration::from_secs(60);
        while !is_copied() {
            assert!(Instant::now() < until, "nobody runs a checkpoint");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn the_wal_is_used_again_and_a_short_one_is_left() {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let (url, mut writer) = database(folder.path());
        let Ok(DbConn::Sqlite(mut sqlite)) = url.connect(Role::Writer) else {
            unreachable!("the database is there")
        };
        let length = || {
            let wal = std::fs::metadata(folder.path().join("test.db-wal"));
            wal.expect("the database is open").len() >> 20
        };
        let copied = || {
            let file = std::fs::metadata(folder.path().join("test.db"));
            file.expect("the database is open").len() >> 20
        };
        insert(&mut writer, 2);
        checkpoint_if_long(&mut sqlite).expect("nobody is in the way");
        assert_eq!(copied(), 0, "too short");
        for _ in 0..10 {
            insert(&mut writer, 5);
            checkpoint_if_long(&mut sqlite).expect("nobody is in the way");
        }
        assert!(copied() > 50);
        assert!(length() < 16, "{} MiB", length());
    }
}
