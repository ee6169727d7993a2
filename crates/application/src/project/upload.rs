//! Uploaded files that texts of a project link to: receives them, and serves them to readers of the project.

use hexforge_domain::id::ProjectId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::uploads::{NewFile, StoredFile};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::project::upload::{UploadKey, UploadName, UploadSecret};

use crate::app::App;
use crate::error::{Entity, Error};
use crate::removal;

/// Returns the id of the project if the actor may upload files to it. Checked before the body of the request is read.
pub fn authorize(app: &App, actor: Actor, named: &ProjectRef) -> Result<ProjectId, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Upload, named)?;
        Ok(project.id)
    })
}

/// A file that is being received. Dropping it before it is finished removes it.
pub struct UploadInProgress {
    key: UploadKey,
    file: Box<dyn NewFile>,
}

/// Starts to receive a file with the name `given`, for a project returned by [`authorize`].
pub fn begin(app: &App, project: ProjectId, given: &str) -> Result<UploadInProgress, Error> {
    let secret = UploadSecret::new(app.random_bytes());
    let key = UploadKey { project, secret, name: UploadName::from_client(given) };
    let file = app.uploads.begin(&key)?;
    Ok(UploadInProgress { key, file })
}

impl UploadInProgress {
    /// Appends a chunk to the file.
    pub fn append(&mut self, chunk: &[u8]) -> Result<(), Error> {
        Ok(self.file.append(chunk)?)
    }

    /// Finishes the upload. Fails with not found when the project was removed meanwhile.
    pub fn finish(self, app: &App) -> Result<UploadKey, Error> {
        let project = self.key.project;
        let finished = self.file.finish();
        // Checked after the file is stored: from now on the removal of the project also deletes the file.
        let found =
            app.store.read::<_, Error>(|tx| Ok(tx.projects().find(&ProjectRef::Id(project))?))?;
        if found.is_none() {
            removal::discard_files_of(app, project);
            return Err(Error::NotFound(Entity::Project));
        }
        finished?;
        Ok(self.key)
    }
}

/// Opens an uploaded file for a reader of the project. Other callers get the error of a missing file,
/// and so does a URL of which any part is wrong.
pub fn open(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    secret: UploadSecret,
    name: UploadName,
) -> Result<StoredFile, Error> {
    let missing = || Error::NotFound(Entity::Record);
    let found = app.store.read(|tx| app.requester(actor).project(tx, ProjectAbility::Read, named));
    let project = match found {
        Ok(project) => project.id,
        Err(Error::Store(error)) => return Err(error.into()),
        Err(_) => return Err(missing()),
    };
    let key = UploadKey { project, secret, name };
    app.uploads.open(&key)?.ok_or_else(missing)
}
