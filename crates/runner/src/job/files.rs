//! The files that a build receives and leaves: caches, artifacts of earlier builds, and its own artifacts.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::Job;
use crate::api::artifacts::Upload;
use crate::archive::MAX_UNPACKED;
use crate::archive::packing::pack;
use crate::archive::selection::select;
use crate::archive::unpacking::unpack;
use crate::cache::Caches;
use crate::error::Error;
use crate::plan::{ArtifactsPlan, CachePlan, Selection};
use crate::protocol::{Assignment, EarlierBuild};
use crate::user;

impl Job<'_> {
    /// Restores the cache. A cache is only an acceleration, so the build goes on without it.
    pub(super) async fn restore_cache(&self) {
        let Some(CachePlan { key, .. }) = &self.plan.cache else { return };
        let (caches, project, folder) =
            (self.caches(), self.assignment.project_id, self.folders.project.clone());
        let (wanted, user, goes_on) = (key.clone(), self.user.clone(), self.goes_on(self.deadline));
        let restored = blocking(move || {
            let archive = caches.open(project, &wanted)?;
            let restore =
                |archive| user::run_as(user.as_ref(), || unpack(archive, &folder, &goes_on));
            archive.map(restore).transpose()
        });
        let restored = restored.await;
        self.log.line(&match restored {
            Ok(Some(unpacked)) => format!("Restored cache {key}: {unpacked}"),
            Ok(None) => format!("There is no cache {key} yet"),
            Err(error) => format!("WARNING: cache {key} could not be restored: {error}"),
        });
    }

    /// Stores the cache, until `deadline`. A failure is a warning in the log.
    pub(super) async fn store_cache(&mut self, deadline: Instant) {
        let Some(CachePlan { key, files }) = &self.plan.cache else { return };
        let goes_on = self.goes_on(deadline);
        let stored = match self.select(files, deadline).await {
            Ok(files) => {
                let (caches, project, folder) =
                    (self.caches(), self.assignment.project_id, self.folders.project.clone());
                let (key, user) = (key.clone(), self.user.clone());
                let write =
                    move |out| user::run_as(user.as_ref(), || pack(&folder, &files, out, &goes_on));
                blocking(move || caches.store(project, &key, write)).await
            }
            Err(error) => Err(error),
        };
        self.log.line(&match stored {
            Ok(files) => format!("Stored cache {key}: {files} files"),
            Err(error) => format!("WARNING: cache {key} could not be stored: {error}"),
        });
    }

    fn caches(&self) -> Caches {
        Caches::new(self.context.builds_dir.join("cache").join(self.context.runner.server_key()))
    }

    /// Downloads and unpacks the artifacts of earlier builds, within the time limit of the build.
    pub(super) async fn get_dependencies(&self) -> Result<(), Error> {
        for build in &self.plan.dependencies {
            self.get_dependency(build)
                .await
                .map_err(|error| Error::step(format!("artifacts of {}: {error}", build.name)))?;
        }
        Ok(())
    }

    async fn get_dependency(&self, build: &EarlierBuild) -> Result<(), Error> {
        self.log.line(&format!("Downloading artifacts of {} ({})", build.name, build.id));
        let file = self.folders.private.join(format!("dependency-{}.zip", build.id));
        let (api, limit) = (&self.context.api, MAX_UNPACKED);
        let download = || api.download_artifacts(build.id, &build.token, &file, limit);
        match self.transfer(self.deadline, download).await {
            // They were removed or have expired since the build was assigned.
            Err(error) if error.status() == Some(404) => {
                self.log.line(&format!("WARNING: {} has no artifacts any more", build.name));
                return Ok(());
            }
            outcome => outcome?,
        }
        let (from, to, user) = (file.clone(), self.folders.project.clone(), self.user.clone());
        let goes_on = self.goes_on(self.deadline);
        let unpacked = blocking(move || {
            let archive = fs::File::open(&from).map_err(Error::at(&from))?;
            user::run_as(user.as_ref(), || unpack(archive, &to, &goes_on))
        });
        let unpacked = unpacked.await?;
        if unpacked.left_out > 0 {
            self.log.line(&format!("Artifacts of {}: {unpacked}", build.name));
        }
        let _ = fs::remove_file(&file);
        Ok(())
    }

    /// Packs and uploads the artifacts until `deadline`, if there are any for this result of the build.
    pub(super) async fn upload_artifacts(
        &mut self,
        succeeded: bool,
        deadline: Instant,
    ) -> Result<(), Error> {
        let Some(ArtifactsPlan { file_name, files, when, expire_in }) = &self.plan.artifacts else {
            return Ok(());
        };
        if !when.applies(succeeded) {
            return Ok(());
        }
        let found = self.select(files, deadline).await?;
        if found.is_empty() {
            self.log.line("WARNING: no files match the artifacts of this job");
            return Ok(());
        }
        let (folder, file) =
            (self.folders.project.clone(), self.folders.private.join("artifacts.zip"));
        let out = fs::File::create(&file).map_err(Error::at(&file))?;
        let (goes_on, user) = (self.goes_on(deadline), self.user.clone());
        let write = move || pack(&folder, &found, out, &goes_on);
        let packed = blocking(move || user::run_as(user.as_ref(), write)).await?;
        self.log.line(&format!("Uploading artifacts {file_name}: {packed} files"));
        let upload = Upload { file: &file, name: file_name, expire_in: expire_in.as_deref() };
        let (api, Assignment { id, token, .. }) = (&self.context.api, self.assignment);
        let sent = self.transfer(deadline, || api.upload_artifacts(*id, token, upload)).await;
        sent.map_err(|error| Error::step(format!("the artifacts could not be uploaded: {error}")))
    }

    /// Returns a function that tells whether `deadline` is not reached and the build is not canceled.
    fn goes_on(&self, deadline: Instant) -> impl Fn() -> bool + Send + Sync + 'static {
        let halted = self.halted.clone();
        move || !*halted.borrow() && Instant::now() < deadline
    }

    /// Returns the files of a selection, if they are found before `deadline`.
    async fn select(
        &mut self,
        chosen: &Selection,
        deadline: Instant,
    ) -> Result<BTreeSet<PathBuf>, Error> {
        for path in &chosen.refused {
            self.log.line(&format!("WARNING: `{path}` is not a path below the project"));
        }
        let (folder, chosen) = (self.folders.project.clone(), chosen.clone());
        let (tracked, user) = (self.tracked.clone(), self.user.clone());
        let goes_on = self.goes_on(deadline);
        let find = move || select(&folder, &chosen, tracked.as_ref(), &goes_on);
        blocking(move || user::run_as(user.as_ref(), find)).await
    }
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(Error::step(error.to_string())))
}
