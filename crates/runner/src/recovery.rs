//! The private folders of builds, and recovery of builds whose runner was killed: the next run sends the rest of
//! their logs and reports how they ended.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::api::Api;
use crate::config::Runner;
use crate::error::Error;
use crate::log::Log;
use crate::protocol::Assignment;
use crate::remove::remove_all;
use crate::sender::{self, Sent, Target};
use crate::user;

/// The file that says which build a folder belongs to. Its runner locks it.
const RECORD: &str = "record";

/// The file that says how the build ended.
const RESULT: &str = "result";

/// The age of folders that are removed although their builds are unknown here.
const OLD: Duration = Duration::from_secs(24 * 3600);

/// The build of a folder.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Record {
    url: String,
    runner: i64,
    build: i64,
    token: String,
}

/// The folder for the private files of a build. Removed when it is dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    _lock: File,
    is_kept: bool,
}

impl PrivateFolder {
    /// Makes the folder of a build.
    /// # Errors
    /// It cannot be written.
    pub fn create(builds_dir: &Path, runner: &Runner, given: &Assignment) -> Result<Self, Error> {
        let parent = parent(builds_dir);
        fs::create_dir_all(&parent).map_err(Error::at(&parent))?;
        let parent = fs::canonicalize(&parent).map_err(Error::at(&parent))?;
        let folder = tempfile::Builder::new()
            .prefix(&format!("build-{}-", given.id))
            .tempdir_in(&parent)
            .map_err(Error::at(&parent))?;
        let record = Record {
            url: runner.url.clone(),
            runner: runner.id,
            build: given.id,
            token: given.token.clone(),
        };
        let new = folder.path().join("record.new");
        let lock = File::create_new(&new).map_err(Error::at(&new))?;
        let text = serde_json::to_vec(&record).map_err(|error| Error::step(error.to_string()))?;
        fs::write(&new, text).map_err(Error::at(&new))?;
        flock(&lock, FlockOperation::LockExclusive)
            .map_err(|error| Error::at(&new)(error.into()))?;
        // From now on it counts, and it is locked.
        fs::rename(&new, folder.path().join(RECORD)).map_err(Error::at(&new))?;
        if runner.build_user()?.is_some() {
            user::open_folder(&parent)?;
            user::open_folder(folder.path())?;
        }
        Ok(Self { path: folder.keep(), _lock: lock, is_kept: false })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of the log.
    pub fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    /// Stores the result of the build before it is reported.
    pub fn store_result(&self, succeeded: bool) {
        if let Err(error) = fs::write(self.path.join(RESULT), if succeeded { "1" } else { "0" }) {
            tracing::warn!(%error, "the result of a build cannot be stored");
        }
    }

    /// Keeps the folder for the next run, because the result could not be reported.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Removes the folder when it is dropped.
    fn discard(&mut self) {
        self.is_kept = false;
    }

    fn has_succeeded(&self) -> Option<bool> {
        let text = fs::read_to_string(self.path.join(RESULT)).ok()?;
        Some(text == "1")
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        if !self.is_kept
            && let Err(error) = remove_all(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "the folder of a build cannot be removed");
        }
    }
}

fn parent(builds_dir: &Path) -> PathBuf {
    builds_dir.join("tmp")
}

/// A build whose runner was killed.
#[derive(Debug)]
pub struct Abandoned {
    private: PrivateFolder,
    record: Record,
    runner: Runner,
}

/// Finds the builds of these runners whose process was killed, and removes what is left of old ones.
pub fn abandoned(builds_dir: &Path, runners: &[Runner]) -> Vec<Abandoned> {
    let mut found = Vec::new();
    for entry in fs::read_dir(parent(builds_dir)).into_iter().flatten().flatten() {
        let path = entry.path();
        match open(&path) {
            Some((record, lock)) => {
                let mut runners = runners.iter();
                let runner =
                    runners.find(|one| one.id == record.runner && one.url == record.url).cloned();
                match runner {
                    Some(runner) => {
                        // The report may be interrupted at any time, and then it is for the next run.
                        let private = PrivateFolder { path, _lock: lock, is_kept: true };
                        found.push(Abandoned { private, record, runner });
                    }
                    None => remove_if_old(&path),
                }
            }
            // It is in use, or its runner was killed before there was a record.
            None if path.join(RECORD).exists() => (),
            None => remove_if_old(&path),
        }
    }
    found
}

/// Reads and locks a record, unless a running process has locked it.
fn open(folder: &Path) -> Option<(Record, File)> {
    let file = File::open(folder.join(RECORD)).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    // The other process may have removed the folder in between.
    let text = fs::read(folder.join(RECORD)).ok()?;
    Some((serde_json::from_slice(&text).ok()?, file))
}

fn remove_if_old(folder: &Path) {
    let modified = fs::symlink_metadata(folder).and_then(|metadata| metadata.modified());
    if modified.ok().and_then(|then| then.elapsed().ok()).is_some_and(|age| age > OLD) {
        let _ = remove_all(folder);
    }
}

impl Abandoned {
    /// Sends the rest of the log and reports the result, or that the runner was killed. The folder of the build stays
    /// until the server has taken or refused both.
    pub async fn report(self) {
        let Self { mut private, record, runner } = self;
        let (build, result) = (record.build, private.has_succeeded());
        let (api, log) = match (Api::new(&record.url), Log::open(&private.log())) {
            (Ok(api), Ok(log)) => (api, Arc::new(log)),
            (Err(error), _) | (_, Err(error)) => {
                tracing::warn!(build, %error, "what is left of a build cannot be reported");
                return;
            }
        };
        if result.is_none() {
            log.line("ERROR: Build failed: the runner was killed while the build ran");
            // The next run must not write the line again.
            private.store_result(false);
        }
        log.close();
        let target = Target { api, build, token: record.token };
        let (_open, closed) = watch::channel(true);
        let sent = sender::send(target.clone(), Arc::clone(&log), closed).await;
        let is_done = match sent {
            Sent::Refused => true,
            Sent::All => {
                let end = log.final_report(result.unwrap_or_default());
                let done = sender::finish(&target, &runner.token, &end, Some(&log), OLD).await;
                tracing::info!(
                    build,
                    reported = done.is_ok(),
                    "a build of a killed runner was found"
                );
                // Other errors mean that the server did not answer.
                done.is_ok() || done.is_err_and(|error| error.status().is_some())
            }
        };
        if is_done {
            private.discard();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given() -> Assignment {
        let text = r#"{"id":9,"ref":"master","sha":"ab","name":"job","token":"t","project_id":2,
            "repo_url":"http://x/a/b.git"}"#;
        serde_json::from_str(text).expect("valid")
    }

    #[test]
    fn builds_of_killed_runners_are_found_and_those_of_running_ones_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let runner = Runner { id: 3, url: "http://x".into(), ..Runner::default() };
        let found = || abandoned(folder.path(), std::slice::from_ref(&runner));
        assert!(found().is_empty());
        let private = PrivateFolder::create(folder.path(), &runner, &given()).expect("made");
        private.store_result(true);
        assert!(found().is_empty(), "its runner is alive");
        let path = private.path().to_owned();
        // As if the process had been killed: the lock is gone, the folder stays.
        let copy = folder.path().join("tmp/build-9-copy");
        fs::create_dir(&copy).expect("made");
        for file in [RECORD, RESULT] {
            fs::copy(path.join(file), copy.join(file)).expect("copied");
        }
        drop(private);
        assert!(!path.exists());
        let left = found();
        assert_eq!((left.len(), left[0].record.build), (1, 9));
        assert_eq!(left[0].private.has_succeeded(), Some(true));
        assert!(found().is_empty(), "it is being reported");
        drop(left);
        assert!(copy.exists(), "nothing was reported");
        let mut left = found();
        left[0].private.discard();
        drop(left);
        assert!(!copy.exists());
        let other = Runner { id: 4, ..runner.clone() };
        let _private = PrivateFolder::create(folder.path(), &other, &given()).expect("made");
        assert!(found().is_empty(), "it belongs to another runner");
    }
    /// Nobody listens at the address of the server.
    #[tokio::test]
    async fn an_interrupted_report_keeps_the_log_for_the_next_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let runner = Runner { id: 3, url: "http://127.0.0.1:1".into(), ..Runner::default() };
        let mut private = PrivateFolder::create(folder.path(), &runner, &given()).expect("made");
        let log = private.log();
        fs::write(&log, "begun\n").expect("written");
        private.keep();
        drop(private);
        for _ in 0..2 {
            let mut left = abandoned(folder.path(), std::slice::from_ref(&runner));
            let report = left.pop().expect("it is there").report();
            let pause = Duration::from_millis(300);
            assert!(tokio::time::timeout(pause, report).await.is_err(), "the server is away");
        }
        let text = fs::read_to_string(&log).expect("it is kept");
        let line = "ERROR: Build failed: the runner was killed while the build ran\n";
        assert_eq!(text, format!("begun\n{line}"));
    }
}
