//! Files for the texts of a project: receiving them, and giving them to those who may read the project.

use hexforge_domain::id::ProjectId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::uploads::{NewUpload, StoredUpload};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::project::upload::{UploadName, UploadPlace, UploadSecret};

use crate::app::App;
use crate::error::{Error, Thing};
use crate::removal;

/// The project for which the actor may upload a file; asked before anything of the file is read.
pub fn authorize(app: &App, actor: Actor, named: &ProjectRef) -> Result<ProjectId, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Upload, named)?;
        Ok(project.id)
    })
}

/// A file that is being received. Dropped before it is finished, it leaves nothing behind.
pub struct Receiving {
    place: UploadPlace,
    file: Box<dyn NewUpload>,
}

/// Begins a file that its sender calls `given`, for a project of [`authorize`].
pub fn begin(app: &App, project: ProjectId, given: &str) -> Result<Receiving, Error> {
    // The digest of a secret that nobody keeps is as hard to guess as the secret.
    let random = app.secrets.digest(app.secrets.token().reveal()).0;
    let mut secret = [0; 16];
    secret.copy_from_slice(&random[..16]);
    let place = UploadPlace {
        project,
        secret: UploadSecret::new(secret),
        name: UploadName::from_given(given),
    };
    let file = app.uploads.begin(&place)?;
    Ok(Receiving { place, file })
}

impl Receiving {
    /// Adds to the end of the file.
    pub fn append(&mut self, chunk: &[u8]) -> Result<(), Error> {
        Ok(self.file.append(chunk)?)
    }

    /// Puts the file in its place. A project that was removed meanwhile is not found.
    pub fn finish(self, app: &App) -> Result<UploadPlace, Error> {
        let project = self.place.project;
        let finished = self.file.finish();
        // Asked when the file is in its place: from here on the removal of the project takes it along.
        let found =
            app.store.read::<_, Error>(|tx| Ok(tx.projects().find(&ProjectRef::Id(project))?))?;
        if found.is_none() {
            removal::discard_files_of(app, project);
            return Err(Error::NotFound(Thing::Project));
        }
        finished?;
        Ok(self.place)
    }
}

/// An uploaded file, for those who may read the project. To all others it is not found, whatever of its
/// address is wrong.
pub fn open(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    secret: UploadSecret,
    name: UploadName,
) -> Result<StoredUpload, Error> {
    let missing = || Error::NotFound(Thing::Record);
    let found = app.store.read(|tx| app.requester(actor).project(tx, ProjectAbility::Read, named));
    let project = match found {
        Ok(project) => project.id,
        Err(Error::Store(error)) => return Err(error.into()),
        Err(_) => return Err(missing()),
    };
    let place = UploadPlace { project, secret, name };
    app.uploads.open(&place)?.ok_or_else(missing)
}
