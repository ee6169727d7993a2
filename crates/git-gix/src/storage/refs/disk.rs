//! Reads the ref files of a repository that git or an earlier release wrote.

use std::path::Path;

use gix::bstr::ByteSlice;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::refs::{Ref, RepositoryState};

use crate::content::peel::Peeler;
use crate::error::failed;
use crate::storage::open::open_folder;

/// The refs read from the files of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefsOnDisk {
    /// The full name of the ref that HEAD points to.
    pub head: String,
    /// All refs, by name.
    pub refs: Vec<Ref>,
    /// Messages about refs that were skipped because they cannot be taken over.
    pub wrong: Vec<String>,
}

impl Default for RefsOnDisk {
    /// The refs of a new repository.
    fn default() -> Self {
        Self { head: RepositoryState::FIRST_HEAD.to_owned(), refs: vec![], wrong: vec![] }
    }
}

/// The longest name of a ref, in bytes.
const LONGEST_NAME: usize = 1000;

/// Reads the refs of the repository in a folder.
pub fn read(folder: &Path) -> Result<RefsOnDisk, GitError> {
    let repo = open_folder(folder)?.to_thread_local();
    let mut read = RefsOnDisk::default();
    match repo.head_name() {
        Ok(Some(name)) => match name.as_bstr().to_str() {
            Ok(name) => read.head = name.to_owned(),
            Err(_) => {
                let name = name.as_bstr();
                read.wrong.push(format!("HEAD points to {name}, which is not valid UTF-8"));
            }
        },
        Ok(None) => read.wrong.push("HEAD points to no branch".to_owned()),
        Err(error) => read.wrong.push(format!("HEAD cannot be read: {error}")),
    }
    let mut peeler = Peeler::new(&repo);
    let platform = repo.references().map_err(failed)?;
    for reference in platform.all().map_err(failed)? {
        let mut reference = match reference {
            Ok(reference) => reference,
            Err(error) => {
                read.wrong.push(format!("a ref cannot be read: {error}"));
                continue;
            }
        };
        let name = reference.name().as_bstr().to_owned();
        let (Ok(name), Ok(target)) = (name.to_str(), reference.follow_to_object()) else {
            read.wrong.push(format!("the ref {name} cannot be taken over"));
            continue;
        };
        if name.len() > LONGEST_NAME {
            read.wrong.push(format!("the ref name {name} is too long"));
            continue;
        }
        match peeler.read_ref(name.to_owned(), target.detach()) {
            Ok(found) => read.refs.push(found),
            Err(error @ (GitError::Corrupt(_) | GitError::Missing)) => {
                read.wrong.push(format!("the target of {name} cannot be read: {error}"));
            }
            // I/O errors of the machine may be temporary, so the whole read fails.
            Err(error) => return Err(error),
        }
    }
    read.refs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(read)
}
