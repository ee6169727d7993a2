//! Whether new objects are good, and lead only to what is there.
//!
//! Everything that is in a repository came in whole: so it is enough to look at each new object once, and to
//! see that whatever it names is new too, or was there before.

use std::collections::HashSet;
use std::path::Path;

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::object::Kind;
use gix::objs::tree::EntryKind;
use gix::validate::path::component;
use hexforge_domain::branch::BranchName;
use hexforge_domain::ports::git::{GitError, RefChange};

use crate::commit::to_gix;
use crate::error::failed;

/// No tree that anybody reads is larger.
const LARGEST_TREE: u64 = 256 << 20;

/// No commit or tag that anybody reads is larger. They are held whole wherever they are shown.
const LARGEST_TEXT: u64 = 16 << 20;

/// How many names of objects that were found are remembered.
const REMEMBERED: usize = 1 << 20;

/// How much is kept of what was unpacked: objects are often based on others.
const OBJECT_CACHE: usize = 32 << 20;

/// What is wrong with objects.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// Something is named that is nowhere.
    Missing,
    /// Something that no repository may have; the text is for the client.
    Forbidden(String),
    /// They could not be read.
    Failed(GitError),
}

impl From<GitError> for Wrong {
    fn from(error: GitError) -> Self {
        Wrong::Failed(error)
    }
}

/// Checks all objects of a pack.
pub(crate) fn pack(view: &gix::Repository, index: &Path) -> Result<(), Wrong> {
    let mut repo = view.clone();
    repo.object_cache_size(OBJECT_CACHE);
    let mut check = Check { repo: &repo, found: HashSet::new() };
    let index = gix::odb::pack::index::File::at(index, gix::hash::Kind::Sha1).map_err(failed)?;
    let mut objects: Vec<(u64, u32)> =
        (0..index.num_objects()).map(|at| (index.pack_offset_at_index(at), at)).collect();
    // In the order of the pack what an object is based on is near.
    objects.sort_unstable();
    for (_, at) in objects {
        check.object(index.oid_at_index(at))?;
    }
    Ok(())
}

/// Whether a ref may be given this value.
pub(super) fn tip(view: &gix::Repository, change: &RefChange) -> Result<bool, GitError> {
    let Some(new) = change.new else { return Ok(true) };
    let header = view.try_find_header(to_gix(new)).map_err(failed)?;
    let is_branch = change.name.starts_with(BranchName::FOLDER);
    Ok(header.is_some_and(|header| header.kind() == Kind::Commit || !is_branch))
}

struct Check<'a> {
    repo: &'a gix::Repository,
    found: HashSet<ObjectId>,
}

impl Check<'_> {
    fn object(&mut self, id: &gix::oid) -> Result<(), Wrong> {
        let header = self.repo.find_header(id).map_err(failed)?;
        if header.kind() == Kind::Blob {
            return Ok(());
        }
        let largest = match header.kind() {
            Kind::Tree | Kind::Blob => LARGEST_TREE,
            Kind::Commit | Kind::Tag => LARGEST_TEXT,
        };
        if header.size() > largest {
            return Err(Wrong::Forbidden(format!("{} {id} is too large", header.kind())));
        }
        let repo = self.repo;
        let object = repo.find_object(id).map_err(failed)?;
        let unreadable = || Wrong::Forbidden(format!("{} {id} is malformed", header.kind()));
        match object.kind {
            Kind::Commit => {
                let commit = gix::objs::CommitRef::from_bytes(&object.data, gix::hash::Kind::Sha1)
                    .map_err(|_| unreadable())?;
                self.leads_to(&commit.tree(), Kind::Tree)?;
                for parent in commit.parents() {
                    self.leads_to(&parent, Kind::Commit)?;
                }
            }
            Kind::Tag => {
                let tag = gix::objs::TagRef::from_bytes(&object.data, gix::hash::Kind::Sha1)
                    .map_err(|_| unreadable())?;
                self.leads_to(&tag.target(), tag.target_kind)?;
            }
            Kind::Tree => {
                for entry in gix::objs::TreeRefIter::from_bytes(&object.data, gix::hash::Kind::Sha1)
                {
                    let entry = entry.map_err(|_| unreadable())?;
                    self.entry(id, entry.filename, entry.mode.kind(), entry.oid)?;
                }
            }
            Kind::Blob => (),
        }
        Ok(())
    }

    fn entry(
        &mut self,
        tree: &gix::oid,
        name: &BStr,
        kind: EntryKind,
        id: &gix::oid,
    ) -> Result<(), Wrong> {
        if !is_good_name(name, kind == EntryKind::Link) {
            let text = format!("tree {tree} has an entry {:?}, which no tree may have", name);
            return Err(Wrong::Forbidden(text));
        }
        match kind {
            EntryKind::Tree => self.leads_to(id, Kind::Tree),
            EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => {
                self.leads_to(id, Kind::Blob)
            }
            // A commit of another repository.
            EntryKind::Commit => Ok(()),
        }
    }

    fn leads_to(&mut self, id: &gix::oid, kind: Kind) -> Result<(), Wrong> {
        if self.found.contains(id) {
            return Ok(());
        }
        match self.repo.try_find_header(id).map_err(failed)? {
            None => Err(Wrong::Missing),
            Some(header) if header.kind() != kind => {
                let text = format!("object {id} is a {} and no {kind}", header.kind());
                Err(Wrong::Forbidden(text))
            }
            Some(_) => {
                if self.found.len() == REMEMBERED {
                    self.found.clear();
                }
                self.found.insert(id.to_owned());
                Ok(())
            }
        }
    }
}

/// Whether a file or folder of this name can do no harm where it is checked out.
fn is_good_name(name: &BStr, is_link: bool) -> bool {
    let options =
        component::Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
    let mode = is_link.then_some(component::Mode::Symlink);
    // Windows takes backslashes for slashes.
    let mut parts = name.split_str(b"\\").filter(|part| !part.is_empty());
    gix::validate::path::component(name, mode, options).is_ok()
        && parts.all(|part| !part.eq_ignore_ascii_case(b".git") && part != b"..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_into_the_repository_or_out_of_the_folder_are_bad() {
        for name in [
            "",
            ".",
            "..",
            ".git",
            ".GIT",
            ".Git",
            "git~1",
            "GIT~1",
            ".git ",
            ".git.",
            "a/b",
            "/",
            ".g\u{200c}it",
            ".git::$INDEX_ALLOCATION",
            "..\\a",
            "a\\.git",
        ] {
            assert!(!is_good_name(name.into(), false), "{name:?}");
        }
        for name in [".gitignore", ".github", "git", "a.git", "...", "a b", "a:b", "\u{fc}", "CON"]
        {
            assert!(is_good_name(name.into(), false), "{name:?}");
        }
        assert!(is_good_name(".gitmodules".into(), false));
        assert!(!is_good_name(".gitmodules".into(), true));
    }
}
