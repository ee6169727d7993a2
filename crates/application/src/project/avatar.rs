//! The picture of a project: a file at the root of its default branch.

use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::{Blob, GitError, Repository};
use hexforge_domain::project::{Project, ProjectRef};

use crate::access;
use crate::app::App;
use crate::error::{Error, Thing};

/// The names of such files; the first that is there counts.
const NAMES: [&str; 3] = ["logo.png", "logo.jpg", "logo.gif"];

/// Larger files are no pictures of projects.
const LARGEST: u64 = 2 << 20;

/// The picture of a branch at one commit. Trees are read before a transaction begins, since that may take long.
pub(crate) struct FoundAvatar {
    branch: Option<BranchName>,
    tip: Option<ObjectId>,
    file: Option<&'static str>,
}

impl FoundAvatar {
    /// Reads which file of a branch is a picture.
    pub(crate) fn read(
        repository: &dyn Repository,
        branch: Option<&BranchName>,
    ) -> Result<Self, GitError> {
        let tip = tip(repository, branch)?;
        let mut file = None;
        for name in NAMES {
            if file.is_none() && blob_at(repository, tip, name)?.is_some() {
                file = Some(name);
            }
        }
        Ok(Self { branch: branch.cloned(), tip, file })
    }

    /// Returns the file to store for a project that is locked, or the stored file when the branch was changed since it
    /// was read. Each change of a branch stores its picture with the record of the change, so the newest picture stays.
    /// Reads one ref.
    pub(crate) fn or_stored(
        &self,
        repository: &dyn Repository,
        branch: Option<&BranchName>,
        stored: Option<&str>,
    ) -> Result<Option<String>, GitError> {
        let is_current = self.branch.as_ref() == branch && self.tip == tip(repository, branch)?;
        Ok(if is_current { self.file } else { stored }.map(str::to_owned))
    }
}

fn tip(
    repository: &dyn Repository,
    branch: Option<&BranchName>,
) -> Result<Option<ObjectId>, GitError> {
    branch.map_or(Ok(None), |branch| repository.ref_target(&branch.full()))
}

fn blob_at(
    repository: &dyn Repository,
    tip: Option<ObjectId>,
    name: &str,
) -> Result<Option<Blob>, GitError> {
    let Some(tip) = tip else { return Ok(None) };
    Ok(repository.blob_at(tip, name)?.filter(|blob| blob.size <= LARGEST))
}

/// A picture and the name of its file.
pub struct Picture {
    pub name: String,
    pub content: Vec<u8>,
}

/// The picture of a project, for those who may read it. To all others it is not found.
pub fn get(app: &App, actor: Actor, named: &ProjectRef) -> Result<Picture, Error> {
    let missing = || Error::NotFound(Thing::Record);
    let found =
        app.store.read(|tx| access::project(tx, actor, ProjectAbility::Read, named, app.today()));
    let project: Project = match found {
        Ok(project) => project,
        Err(Error::Store(error)) => return Err(error.into()),
        Err(_) => return Err(missing()),
    };
    let name = project.avatar.ok_or_else(missing)?;
    let repository = app.git.open(project.id)?;
    let tip = tip(&*repository, project.default_branch.as_ref())?;
    let found = blob_at(&*repository, tip, &name)?;
    let mut content = Vec::new();
    repository.write_blob(found.ok_or_else(missing)?.id, &mut content)?;
    Ok(Picture { name, content })
}
