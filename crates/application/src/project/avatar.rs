//! The avatar of a project: an image file at the root of its default branch.

use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::{Blob, GitError, Repository};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::refs::Snapshot;

use crate::app::App;
use crate::error::{Entity, Error};
use crate::repository::open;

/// The file names of avatars; the first that exists is used.
const NAMES: [&str; 3] = ["logo.png", "logo.jpg", "logo.gif"];

/// The maximum size of an avatar, in bytes. Larger files are ignored.
const MAX_BYTES: u64 = 2 << 20;

/// The avatar of a branch at one commit. Trees are read before a transaction begins, because reading may take long.
pub(crate) struct FoundAvatar {
    branch: Option<BranchName>,
    tip: Option<ObjectId>,
    /// `None` when the branch cannot be read.
    file: Option<Option<&'static str>>,
}

impl FoundAvatar {
    /// Looks for the avatar file of a branch.
    pub(crate) fn read(
        repository: &dyn Repository,
        branch: Option<&BranchName>,
    ) -> Result<Self, GitError> {
        let tip = tip(repository.refs(), branch);
        let file = match find_file(repository, tip) {
            // A corrupt branch must not block a change, least of all the one that repairs it.
            Err(GitError::Corrupt(_) | GitError::Missing | GitError::TooLarge) => None,
            file => Some(file?),
        };
        Ok(Self { branch: branch.cloned(), tip, file })
    }

    /// Stores the default branch and the avatar of a locked project with these refs. Keeps the stored avatar when the
    /// branch changed after it was read: that other change stored its own avatar.
    pub(crate) fn store(
        &self,
        tx: &mut dyn Tx,
        before: Project,
        refs: &Snapshot,
    ) -> Result<Project, StoreError> {
        let default_branch = refs.default_branch();
        if default_branch != before.default_branch {
            tx.projects().set_default_branch(before.id, default_branch.as_ref())?;
        }
        let is_current =
            self.branch == default_branch && self.tip == tip(refs, default_branch.as_ref());
        let avatar = match self.file {
            Some(file) if is_current => file.map(str::to_owned),
            Some(_) | None => before.avatar.clone(),
        };
        if avatar != before.avatar {
            tx.projects().set_avatar(before.id, avatar.as_deref())?;
        }
        Ok(Project { default_branch, avatar, ..before })
    }
}

/// Returns the first avatar file name that exists in a commit.
fn find_file(
    repository: &dyn Repository,
    tip: Option<ObjectId>,
) -> Result<Option<&'static str>, GitError> {
    for name in NAMES {
        if blob_at(repository, tip, name)?.is_some() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn tip(refs: &Snapshot, branch: Option<&BranchName>) -> Option<ObjectId> {
    refs.target(&branch?.full())
}

fn blob_at(
    repository: &dyn Repository,
    tip: Option<ObjectId>,
    name: &str,
) -> Result<Option<Blob>, GitError> {
    let Some(tip) = tip else { return Ok(None) };
    Ok(repository.blob_at(tip, name)?.filter(|blob| blob.size <= MAX_BYTES))
}

/// The content of an avatar and its file name.
pub struct AvatarFile {
    pub name: String,
    pub content: Vec<u8>,
}

/// Returns the avatar of a project to a reader of the project. Other callers get the error of a missing file.
pub fn get(app: &App, actor: Actor, named: &ProjectRef) -> Result<AvatarFile, Error> {
    let missing = || Error::NotFound(Entity::Record);
    let found = app.store.read(|tx| app.requester(actor).project(tx, ProjectAbility::Read, named));
    let project: Project = match found {
        Ok(project) => project,
        Err(Error::Store(error)) => return Err(error.into()),
        Err(_) => return Err(missing()),
    };
    let name = project.avatar.ok_or_else(missing)?;
    let repository = open::open_for(app, project.id, Caller::new(actor, None))?;
    let tip = tip(repository.refs(), project.default_branch.as_ref());
    let found = blob_at(&*repository, tip, &name)?;
    let mut content = Vec::new();
    repository.write_blob(found.ok_or_else(missing)?.id, &mut content)?;
    Ok(AvatarFile { name, content })
}
