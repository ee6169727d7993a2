//! The picture of a project: a file at the root of its default branch.

use hexforge_domain::branch::BranchName;
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

/// Which file of a branch is a picture.
pub(crate) fn find(
    repository: &dyn Repository,
    branch: Option<&BranchName>,
) -> Result<Option<&'static str>, GitError> {
    for name in NAMES {
        if blob(repository, branch, name)?.is_some() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn blob(
    repository: &dyn Repository,
    branch: Option<&BranchName>,
    name: &str,
) -> Result<Option<Blob>, GitError> {
    let Some(branch) = branch else { return Ok(None) };
    let Some(tip) = repository.ref_target(&branch.full())? else { return Ok(None) };
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
    let found = blob(&*repository, project.default_branch.as_ref(), &name)?;
    let mut content = Vec::new();
    repository.write_blob(found.ok_or_else(missing)?.id, &mut content)?;
    Ok(Picture { name, content })
}
