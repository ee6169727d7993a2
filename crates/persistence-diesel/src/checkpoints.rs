//! Copies what SQLite has committed from its log into the database, beside the transactions.
//!
//! SQLite itself would do that within a commit, every thousand pages: that commit takes ten times as long as others, and
//! all that write wait for it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use diesel::connection::SimpleConnection;

use crate::connection::{DatabaseUrl, DbConn, Role};

/// The size of the log from which on it is copied, in bytes.
const LONG_LOG: u64 = 4 << 20;

/// The pages in the log from which on a commit copies them itself: 64 MB. Only a thread that fails lets the log grow so
/// long.
pub(crate) const LONGEST_LOG: u32 = 16_384;

/// The time between two looks at the log.
const INTERVAL: Duration = Duration::from_millis(200);

/// A thread that copies. It ends when this is dropped.
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
    has_news: bool,
    is_over: bool,
}

impl Checkpoints {
    /// Starts for a database file. Without a thread SQLite copies in its own way.
    pub fn start(file: &Path) -> Self {
        let shared = Arc::<Shared>::default();
        let (watched, file) = (Arc::clone(&shared), file.to_owned());
        let run = move || watched.run(&file);
        let thread = std::thread::Builder::new().name("checkpoints".into()).spawn(run).ok();
        Self { shared, thread }
    }

    /// Says that something was committed.
    pub fn committed(&self) {
        let mut state = self.shared.state();
        if !state.has_news {
            state.has_news = true;
            self.shared.changed.notify_one();
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
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

    fn run(&self, file: &Path) {
        let mut log = file.as_os_str().to_owned();
        log.push("-wal");
        let log = PathBuf::from(log);
        let mut connection = None;
        while self.wait_for_news() {
            let length = std::fs::metadata(&log).map_or(0, |log| log.len());
            // A failure is no loss: the next look tries again, and the log keeps everything.
            if length >= LONG_LOG && copy(&mut connection, file).is_none() {
                connection = None;
            }
        }
    }

    /// Waits until something was committed, and then for a while; returns false at the end.
    fn wait_for_news(&self) -> bool {
        let idle = |state: &mut State| !state.has_news && !state.is_over;
        let state = self.changed.wait_while(self.state(), idle);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(state, INTERVAL, |state| !state.is_over);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.has_news = false;
        !state.is_over
    }
}

/// Copies as much as possible without waiting for anybody.
fn copy(connection: &mut Option<DbConn>, file: &Path) -> Option<()> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(DatabaseUrl::Sqlite(file.to_owned()).connect(Role::Writer).ok()?),
    };
    connection.batch_execute("PRAGMA wal_checkpoint(PASSIVE)").ok()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_long_log_is_copied_and_begun_anew() {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let file = folder.path().join("test.db");
        let mut writer = DatabaseUrl::Sqlite(file.clone()).connect(Role::Writer).expect("new");
        let checkpoints = Checkpoints::start(&file);
        writer.batch_execute("CREATE TABLE t (x BLOB)").expect("the database is empty");
        let fill = "INSERT INTO t VALUES (randomblob(5000000))";
        writer.batch_execute(fill).expect("there is room");
        let is_copied = || std::fs::metadata(&file).is_ok_and(|file| file.len() > LONG_LOG);
        assert!(!is_copied(), "no commit copies");
        checkpoints.committed();
        let until = Instant::now() + Duration::from_secs(60);
        while !is_copied() {
            assert!(Instant::now() < until, "nobody copies");
            std::thread::sleep(Duration::from_millis(10));
        }
        let length =
            || std::fs::metadata(folder.path().join("test.db-wal")).map_or(0, |log| log.len());
        let before = length();
        writer.batch_execute(fill).expect("there is room");
        assert!(length() < before + LONG_LOG, "the log is used again from its begin");
    }
}
