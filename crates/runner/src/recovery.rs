//! The private folders of builds, and what is left of builds whose runner was killed: the next run sends the rest of
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
pub struct Private {
    path: PathBuf,
    _lock: File,
    is_kept: bool,
}

impl Private {
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
            .map_err(Error::at(&parent))?
            .keep();
        let record = Record {
            url: runner.url.clone(),
            runner: runner.id,
            build: given.id,
            token: given.token.clone(),
        };
        let new = folder.join("record.new");
        let lock = File::create_new(&new).map_err(Error::at(&new))?;
        let text = serde_json::to_vec(&record).map_err(|error| Error::step(error.to_string()))?;
        fs::write(&new, text).map_err(Error::at(&new))?;
        flock(&lock, FlockOperation::LockExclusive)
            .map_err(|error| Error::at(&new)(error.into()))?;
        // From now on it counts, and it is locked.
        fs::rename(&new, folder.join(RECORD)).map_err(Error::at(&new))?;
        if runner.user.is_some() {
            user::open_folder(&parent)?;
            user::open_folder(&folder)?;
        }
        Ok(Self { path: folder, _lock: lock, is_kept: false })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of the log.
    pub fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    /// Stores how the build ended, before the server is told.
    pub fn store_result(&self, succeeded: bool) {
        if let Err(error) = fs::write(self.path.join(RESULT), if succeeded { "1" } else { "0" }) {
            tracing::warn!(%error, "the result of a build cannot be stored");
        }
    }

    /// Lets the folder stay for the next run, because the server was not told about the build.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }

    fn has_succeeded(&self) -> Option<bool> {
        let text = fs::read_to_string(self.path.join(RESULT)).ok()?;
        Some(text == "1")
    }
}

impl Drop for Private {
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
    private: Private,
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
                        let private = Private { path, _lock: lock, is_kept: false };
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
    /// Sends the rest of the log and reports the result, or that the runner was killed.
    pub async fn report(self) {
        let Self { private, record, runner } = self;
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
        }
        log.close();
        let target = Target { api, build, token: record.token };
        let (_open, closed) = watch::channel(true);
        let sent = sender::send(target.clone(), Arc::clone(&log), closed).await;
        if sent == Sent::All {
            let end = log.end(result.unwrap_or_default());
            let done = sender::finish(&target, &runner.token, &end, Some(&log), OLD).await;
            tracing::info!(build, reported = done.is_ok(), "a build of a killed runner was found");
        }
        drop(private);
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
        let private = Private::create(folder.path(), &runner, &given()).expect("made");
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
        assert!(!copy.exists());
        let other = Runner { id: 4, ..runner.clone() };
        let _private = Private::create(folder.path(), &other, &given()).expect("made");
        assert!(found().is_empty(), "it belongs to another runner");
    }
}
