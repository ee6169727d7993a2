//! Brings the working copy to the commit of a build.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::geteuid;
use tokio::time::Instant;

use super::files::blocking;
use super::{Job, TRIES, check};
use crate::error::Error;
use crate::executor::{Executor, History};
use crate::plan::Strategy;
use crate::process::{self, Output};
use crate::script;
use crate::sender::Pauses;
use crate::user;

impl Job<'_> {
    /// Checks out the commit. While the server is away, waits for it; other failures of git are repeated a few times.
    pub(super) async fn get_sources(&mut self, executor: &Executor) -> Result<(), Error> {
        let mut sources = self.plan.sources.clone();
        if sources.strategy == Strategy::Fetch && executor.history() == History::Nothing {
            sources.strategy = Strategy::Clone;
        }
        let project = self.folders.project.clone();
        let parent = project.parent().unwrap_or(&project);
        user::run_as(self.user.as_ref(), || fs::create_dir_all(parent).map_err(Error::at(parent)))?;
        if sources.strategy != Strategy::None {
            self.remove_foreign_files(executor).await?;
        }
        let mirror = (executor.history() == History::Mirror).then(|| self.folders.mirror());
        let mirror = mirror.as_deref().map(Path::to_string_lossy);
        let (mut pauses, mut failures) = (Pauses::default(), 0);
        loop {
            if failures + 1 == TRIES && sources.strategy == Strategy::Fetch {
                // The repository of an earlier build may be damaged.
                sources.strategy = Strategy::Clone;
            }
            let text = script::sources(&sources, &project.to_string_lossy(), mirror.as_deref());
            let text = executor.before_sources().to_owned() + &text;
            let step = self.runner_step(executor, "sources", &text, parent)?;
            let Err(error) = check(self.execute(&step, self.deadline).await?) else { break };
            let goes_on = !*self.halted.borrow() && Instant::now() < self.deadline;
            if goes_on && !self.wait_for_server(self.deadline).await {
                failures += 1;
            }
            if !goes_on || failures == TRIES {
                return Err(Error::step(format!("the sources could not be fetched: {error}")));
            }
            self.log.line(&format!(
                "WARNING: the sources could not be fetched ({error}): trying again"
            ));
            pauses.wait().await;
        }
        self.tracked = self.list_tracked(executor).await?;
        Ok(())
    }

    /// Removes what an earlier build left, if users of images own a part of it. What stays fails the next step.
    async fn remove_foreign_files(&mut self, executor: &Executor) -> Result<(), Error> {
        let Some(spec) = executor.empty_project() else { return Ok(()) };
        let (project, own) = (self.folders.project.clone(), geteuid().as_raw());
        if !blocking(move || Ok(has_files_of_others(project, own))).await? {
            return Ok(());
        }
        self.log.line("Removing files that users of containers left");
        let spec = self.confined(executor, spec);
        if let Err(error) = check(self.execute(&spec, self.deadline).await?) {
            self.log.line(&format!("WARNING: the files could not be removed: {error}"));
        }
        self.end_step(executor).await;
        Ok(())
    }

    /// Lists the files that were checked out, if untracked files are wanted. Git is not asked after the job, which can
    /// change what git answers.
    async fn list_tracked(
        &mut self,
        executor: &Executor,
    ) -> Result<Option<BTreeSet<PathBuf>>, Error> {
        let (cache, artifacts) = (&self.plan.cache, &self.plan.artifacts);
        let is_wanted = cache.as_ref().is_some_and(|cache| cache.files.untracked)
            || artifacts.as_ref().is_some_and(|artifacts| artifacts.files.untracked);
        if !is_wanted || self.plan.sources.strategy == Strategy::None {
            return Ok(None);
        }
        let project = self.folders.project.clone();
        let text = script::tracked(&project.to_string_lossy());
        let spec = self.runner_step(executor, "tracked", &text, &project)?;
        let listed = Arc::new(Mutex::new(Vec::new()));
        let output: Output = {
            let listed = Arc::clone(&listed);
            Arc::new(move |bytes| {
                listed.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            })
        };
        check(process::run(&spec, output, self.deadline, &mut self.halted).await?).map_err(
            |error| Error::step(format!("the tracked files could not be listed: {error}")),
        )?;
        let listed = std::mem::take(&mut *listed.lock().unwrap_or_else(PoisonError::into_inner));
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(Some(names.map(|name| PathBuf::from(OsString::from_vec(name.to_vec()))).collect()))
    }
}

/// Whether somebody else owns a folder or something in it. Folders that cannot be read are skipped; their owners count.
fn has_files_of_others(folder: PathBuf, own: u32) -> bool {
    let mut paths = vec![folder];
    while let Some(path) = paths.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.uid() != own {
            return true;
        }
        if metadata.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            paths.extend(entries.map(|entry| entry.path()));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_others_are_found_in_folders() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("a/b")).expect("made");
        fs::write(folder.path().join("a/b/file"), "").expect("written");
        // Links are not followed.
        std::os::unix::fs::symlink("/proc/1", folder.path().join("a/link")).expect("linked");
        let own = geteuid().as_raw();
        let found = |own| has_files_of_others(folder.path().to_owned(), own);
        assert!(!found(own) && found(own + 1));
        if own == 0 {
            let file = folder.path().join("a/b/file");
            std::os::unix::fs::chown(file, Some(65_534), None).expect("root may");
            assert!(found(own));
        }
        assert!(!has_files_of_others(folder.path().join("missing"), own));
    }
}
