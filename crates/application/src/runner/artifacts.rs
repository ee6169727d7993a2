//! Runners upload the artifacts of a build, and download those of earlier builds.

use chrono::TimeDelta;
use hexforge_domain::build::Artifacts;
use hexforge_domain::ci::status::Status;
use hexforge_domain::id::{BuildId, UserId};
use hexforge_domain::ports::uploads::NewFile;
use hexforge_domain::project::upload::UploadName;

use super::assignment::{self, Assignment};
use super::{build_by_token, running_build};
use crate::app::App;
use crate::build::ArtifactsFile;
use crate::error::{Entity, Error, ForbiddenReason};
use crate::pipeline::progress::Progress;

/// Checks that the token allows an upload of artifacts, before the body of the request is read. Returns the user of the
/// build, on whose behalf the upload takes a permit.
pub fn authorize_artifacts(app: &App, id: BuildId, token: &str) -> Result<Option<UserId>, Error> {
    app.store.read(|tx| {
        let build = running_build(app, tx, id, token)?;
        // The settings limit the size of the file.
        app.current_settings(tx)?;
        Ok(build.user)
    })
}

/// Artifacts that are being received. Dropping them before they are finished removes them.
pub struct ArtifactsUpload {
    id: BuildId,
    token: String,
    name: String,
    size: u64,
    file: Box<dyn NewFile>,
}

/// Starts to receive the artifacts of a build, with the file name `given`.
pub fn begin_artifacts(
    app: &App,
    id: BuildId,
    token: &str,
    given: &str,
) -> Result<ArtifactsUpload, Error> {
    let build = app.store.read(|tx| running_build(app, tx, id, token))?;
    let file = app.build_files.begin_artifacts(build.project, id)?;
    let name = UploadName::from_client(given).as_str().to_owned();
    Ok(ArtifactsUpload { id, token: token.to_owned(), name, size: 0, file })
}

impl ArtifactsUpload {
    /// Appends a chunk.
    pub fn append(&mut self, chunk: &[u8]) -> Result<(), Error> {
        self.size += chunk.len() as u64;
        Ok(self.file.append(chunk)?)
    }

    /// Finishes the upload and replaces earlier artifacts. They expire after `expire_in` seconds, or never.
    pub fn finish(self, app: &App, expire_in: Option<i64>) -> Result<Assignment, Error> {
        let now = app.clock.now();
        let Self { id, token, name, size, mut file } = self;
        file.prepare()?;
        let expire_at = expire_in.and_then(TimeDelta::try_seconds);
        let expire_at = expire_at.and_then(|time| now.checked_add_signed(time));
        app.store.write(|tx| {
            let missing = || Error::NotFound(Entity::Unnamed);
            let found = running_build(app, tx, id, &token)?;
            let mut progress = Progress::lock(tx, found.pipeline)?.ok_or_else(missing)?;
            running_build(app, tx, id, &token)?;
            file.finish()?;
            if let Some(build) = progress.build_mut(id) {
                build.artifacts = Some(Artifacts { file_name: name, size, expire_at });
                build.updated_at = now;
            }
            let done = progress.store(tx, now)?;
            assignment::load(app, tx, &done.pipeline, &done.builds, id)
        })
    }
}

/// Opens the artifacts of a build by its token, while a build of its pipeline runs: runners read the artifacts of
/// earlier builds with the tokens of those builds. Also returns the user of the build, on whose behalf the download
/// takes a permit.
pub fn open_artifacts(
    app: &App,
    id: BuildId,
    token: &str,
) -> Result<(Option<UserId>, ArtifactsFile), Error> {
    let build = app.store.read(|tx| {
        let build = build_by_token(app, tx, id, token)?;
        let pipeline = tx.builds().of_pipeline(build.pipeline)?;
        let needed = pipeline.iter().any(|one| one.status == Status::Running);
        if needed {
            Ok(build)
        } else {
            Err(Error::Forbidden(Some(ForbiddenReason::BuildNotRunning)))
        }
    })?;
    Ok((build.user, crate::build::open_artifacts(app, &build)?))
}

/// Removes the artifacts of a build, if there are any.
pub fn remove_artifacts(app: &App, id: BuildId, token: &str) -> Result<(), Error> {
    let now = app.clock.now();
    let build = app.store.write(|tx| {
        let build = running_build(app, tx, id, token)?;
        let missing = || Error::NotFound(Entity::Unnamed);
        let mut progress = Progress::lock(tx, build.pipeline)?.ok_or_else(missing)?;
        running_build(app, tx, id, token)?;
        if let Some(build) = progress.build_mut(id) {
            build.artifacts = None;
        }
        progress.store(tx, now)?;
        Ok::<_, Error>(build)
    })?;
    // After the commit no request can read the files any more.
    Ok(app.build_files.remove_artifacts(build.project, id)?)
}
