//! Checks that new objects are valid, and that they refer only to objects that exist.
//!
//! Every repository is complete before a push. So it is enough to check each new object once, and to check that every
//! object it refers to is new too, or existed before and [is reachable](super::outside). The contents come from the
//! walk that resolves the deltas, so a long delta chain is not followed again for each object on it.

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::hashtable::{HashMap, HashSet};
use gix::object::Kind;
use gix::objs::tree::EntryKind;
use gix::validate::path::component;
use hexforge_domain::branch::BranchName;
use hexforge_domain::ports::git::{GitError, RefChange};

use super::fsck::{AcceptedFaults, Fault, Fsck};
use super::outside::Reachable;
use crate::content::commit::to_gix;
use crate::error::failed;
use crate::protocol::intake::{Bounds, IntakeError, NewObjects};
use crate::protocol::limits::StopReason;

/// The size limit of a tree in bytes. Trees in use are smaller.
const LARGEST_TREE: u64 = 32 << 20;

/// The size limit of a commit or tag in bytes. They are read into memory completely wherever they are shown.
const LARGEST_TEXT: u64 = 16 << 20;

/// The cost of finding one delta, counted as produced bytes.
const COST_OF_DELTA: u64 = 1024;

/// The limits for `.gitmodules` and `.gitattributes` files of one pack: their number and their bytes.
const MOST_SPECIAL_FILES: usize = 10_000;
const MOST_SPECIAL_BYTES: u64 = 256 << 20;

/// The number of object ids that are cached after they were found.
const REMEMBERED: usize = 1 << 18;

/// The reason why objects are refused.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// An object is referred to that does not exist or is not reachable.
    Missing,
    /// An object that is not allowed in any repository; the text is for the client.
    Forbidden(String),
    /// The deadline passed, or the client hung up.
    Stopped(StopReason),
    /// The objects could not be read.
    Failed(GitError),
}

impl From<IntakeError> for Wrong {
    fn from(error: IntakeError) -> Self {
        match error {
            IntakeError::Invalid(what) => {
                Wrong::Forbidden(format!("the pack is not valid: it {what}"))
            }
            IntakeError::TooLarge(text) => Wrong::Forbidden(text),
            IntakeError::Disconnected(error) => Wrong::Failed(crate::error::io(error)),
            IntakeError::Busy => Wrong::Failed(GitError::Busy),
            IntakeError::Stopped(stopped) => Wrong::Stopped(stopped),
            IntakeError::Failed(error) => Wrong::Failed(error),
        }
    }
}

impl From<GitError> for Wrong {
    fn from(error: GitError) -> Self {
        Wrong::Failed(error)
    }
}

/// Checks all objects of a pack. Objects outside the pack that they refer to must be among the
/// reachable ones, if `reachable` is given.
pub(crate) fn pack(
    view: &gix::Repository,
    objects: &NewObjects,
    bounds: &Bounds,
    accepted: &AcceptedFaults,
    reachable: Option<&Reachable<'_>>,
) -> Result<(), Wrong> {
    let mut check = Check {
        repo: view,
        objects,
        bounds,
        fsck: Fsck { accepted },
        found: HashMap::default(),
        reachable,
        outside: HashMap::default(),
        read_by_git: HashSet::default(),
        special_bytes: 0,
    };
    // The bases of deltas are checked first: an error message about the result of a delta would reveal its base.
    for base in objects.bases() {
        let header = view.find_header(*base).map_err(failed)?;
        check.outside.insert(*base, header.kind());
    }
    check.outside_is_reachable()?;
    let each = |id: ObjectId, kind, data: &[u8]| check.object(&id, kind, data);
    objects.each_but_blobs(bounds, fits, each)?;
    check.outside_is_reachable()
}

/// Checks that an object is small enough to be read into memory.
fn fits(id: ObjectId, kind: Kind, size: u64) -> Result<(), Wrong> {
    let largest = match kind {
        Kind::Tree | Kind::Blob => LARGEST_TREE,
        Kind::Commit | Kind::Tag => LARGEST_TEXT,
    };
    if size > largest {
        return Err(Wrong::Forbidden(format!("{kind} {id} is too large")));
    }
    Ok(())
}

/// Checks the new values of refs.
pub(super) struct Tips<'a> {
    pub(super) view: &'a gix::Repository,
    pub(super) objects: Option<&'a NewObjects>,
    pub(super) reachable: &'a Reachable<'a>,
}

impl Tips<'_> {
    /// Returns the names of the refs that may not get their new value.
    pub(super) fn wrong<'c>(
        &self,
        changes: impl Iterator<Item = &'c RefChange>,
    ) -> Result<std::collections::HashSet<&'c str>, Wrong> {
        let (mut wrong, mut outside) = (std::collections::HashSet::new(), Vec::new());
        for change in changes {
            let Some(new) = change.new.map(to_gix) else { continue };
            let header = self.view.try_find_header(new).map_err(failed)?;
            let is_branch = change.name.starts_with(BranchName::FOLDER);
            match header.map(|header| header.kind()) {
                Some(kind) if kind == Kind::Commit || !is_branch => {
                    // Delta bases that were added to the pack are reachable too.
                    if self.objects.and_then(|objects| objects.kind_of(&new)).is_none() {
                        outside.push((change.name.as_str(), new, kind));
                    }
                }
                Some(_) | None => {
                    wrong.insert(change.name.as_str());
                }
            }
        }
        // In most pushes all values are reachable, so all are checked together first.
        let all = outside.iter().map(|(_, id, kind)| (*id, *kind)).collect();
        if !self.reachable.has_all(&all)? {
            for (name, id, kind) in outside {
                if !self.reachable.has_all(&std::iter::once((id, kind)).collect())? {
                    wrong.insert(name);
                }
            }
        }
        Ok(wrong)
    }
}

struct Check<'a> {
    repo: &'a gix::Repository,
    objects: &'a NewObjects,
    bounds: &'a Bounds,
    fsck: Fsck<'a>,
    found: HashMap<ObjectId, Kind>,
    reachable: Option<&'a Reachable<'a>>,
    /// Objects outside the pack that new objects refer to, and whose reachability was not checked yet.
    outside: HashMap<ObjectId, Kind>,
    /// The `.gitmodules` and `.gitattributes` files that were checked.
    read_by_git: HashSet<ObjectId>,
    special_bytes: u64,
}

impl Check<'_> {
    fn object(&mut self, id: &gix::oid, kind: Kind, data: &[u8]) -> Result<(), Wrong> {
        self.fsck.check(kind, data).map_err(|fault| forbidden(id, fault))?;
        let unreadable = || Wrong::Forbidden(format!("{kind} {id} is malformed"));
        match kind {
            Kind::Commit => {
                let commit = gix::objs::CommitRef::from_bytes(data, gix::hash::Kind::Sha1)
                    .map_err(|_| unreadable())?;
                self.leads_to(&commit.tree(), Kind::Tree)?;
                for parent in commit.parents() {
                    self.leads_to(&parent, Kind::Commit)?;
                }
            }
            Kind::Tag => {
                let tag = gix::objs::TagRef::from_bytes(data, gix::hash::Kind::Sha1)
                    .map_err(|_| unreadable())?;
                self.leads_to(&tag.target(), tag.target_kind)?;
            }
            Kind::Tree => {
                for entry in gix::objs::TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1) {
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
        let special = Special::of(name);
        if special == Some(Special::Modules) && kind == EntryKind::Link {
            let fault = Fault::GitmodulesSymlink;
            self.fsck.report(fault).map_err(|fault| forbidden(tree, fault))?;
        }
        if !is_good_name(name) {
            let text = format!("tree {tree} has an entry named {:?}, which is not allowed", name);
            return Err(Wrong::Forbidden(text));
        }
        match kind {
            EntryKind::Tree => self.leads_to(id, Kind::Tree),
            EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => {
                self.leads_to(id, Kind::Blob)
            }
            // A submodule: the commit belongs to another repository.
            EntryKind::Commit => Ok(()),
        }?;
        match special {
            Some(special) if kind != EntryKind::Link => self.special(special, kind, id),
            _ => Ok(()),
        }
    }

    /// Checks a `.gitmodules` or `.gitattributes` file, which git itself interprets.
    fn special(&mut self, special: Special, kind: EntryKind, id: &gix::oid) -> Result<(), Wrong> {
        let (no_file, large) = match special {
            Special::Modules => (Fault::GitmodulesBlob, Fault::GitmodulesLarge),
            Special::Attributes => (Fault::GitattributesBlob, Fault::GitattributesLarge),
        };
        // An error message about an unreachable file would reveal its contents.
        if self.objects.kind_of(id).is_none() && !self.read_by_git.contains(id) {
            self.outside_is_reachable()?;
        }
        let report = |fault| self.fsck.report(fault).map_err(|fault| forbidden(id, fault));
        if matches!(kind, EntryKind::Tree | EntryKind::Commit) {
            return report(no_file);
        }
        if !self.read_by_git.insert(id.to_owned()) {
            return Ok(());
        }
        self.bounds.check()?;
        let header = self.repo.find_header(id).map_err(failed)?;
        let size = header.size();
        if size > LARGEST_TEXT {
            return report(large);
        }
        // Reading the file applies every delta of its chain, so each delta is charged.
        let deltas = u64::from(header.num_deltas().unwrap_or(0));
        self.bounds.count_produced((deltas + 1).saturating_mul(size + COST_OF_DELTA))?;
        self.special_bytes += size;
        if self.read_by_git.len() > MOST_SPECIAL_FILES || self.special_bytes > MOST_SPECIAL_BYTES {
            let text = "there are too many versions of .gitmodules and .gitattributes";
            return Err(Wrong::Forbidden(text.to_owned()));
        }
        let file = self.repo.find_object(id).map_err(failed)?;
        let checked = match special {
            Special::Modules => self.fsck.modules(&file.data),
            Special::Attributes => self.fsck.attributes(&file.data),
        };
        checked.map_err(|fault| forbidden(id, fault))
    }

    fn leads_to(&mut self, id: &gix::oid, kind: Kind) -> Result<(), Wrong> {
        let known = match self.found.get(id).copied().or_else(|| self.objects.kind_of(id)) {
            Some(known) => Some(known),
            None => {
                self.bounds.check()?;
                let known = self.repo.try_find_header(id).map_err(failed)?;
                let known = known.map(|header| header.kind());
                self.outside.extend(known.map(|kind| (id.to_owned(), kind)));
                known
            }
        };
        match known {
            None => Err(Wrong::Missing),
            // The answer must not reveal whether an unreachable object exists.
            Some(known) if known != kind && self.objects.kind_of(id).is_none() => {
                Err(Wrong::Missing)
            }
            Some(known) if known != kind => {
                Err(Wrong::Forbidden(format!("object {id} is a {known}, not a {kind}")))
            }
            Some(_) => {
                if self.found.len() == REMEMBERED {
                    self.outside_is_reachable()?;
                    self.found.clear();
                }
                self.found.insert(id.to_owned(), kind);
                Ok(())
            }
        }
    }

    /// Checks the reachability of the objects outside the pack that were found since the last call.
    fn outside_is_reachable(&mut self) -> Result<(), Wrong> {
        let outside = std::mem::take(&mut self.outside);
        match self.reachable {
            Some(reachable) if !reachable.has_all(&outside)? => Err(Wrong::Missing),
            _ => Ok(()),
        }
    }
}

/// Builds a refusal with git's name and text of the fault.
fn forbidden(id: &gix::oid, fault: Fault) -> Wrong {
    Wrong::Forbidden(format!("object {id}: {}: {}", fault.name(), fault.text()))
}

/// Path names are checked by the rules of HFS+ and NTFS, because clones may be checked out there.
const EVERYWHERE: component::Options =
    component::Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };

/// A file that git interprets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    Modules,
    Attributes,
}

impl Special {
    fn of(name: &BStr) -> Option<Self> {
        let as_link =
            gix::validate::path::component(name, Some(component::Mode::Symlink), EVERYWHERE);
        match as_link {
            Err(component::Error::SymlinkedGitModules) => Some(Special::Modules),
            _ if name.eq_ignore_ascii_case(b".gitattributes") => Some(Special::Attributes),
            _ => None,
        }
    }
}

/// Whether a file or directory with this name can be checked out without harm.
fn is_good_name(name: &BStr) -> bool {
    // Windows treats backslashes as slashes.
    let mut parts = name.split_str(b"\\").filter(|part| !part.is_empty());
    gix::validate::path::component(name, None, EVERYWHERE).is_ok()
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
            assert!(!is_good_name(name.into()), "{name:?}");
        }
        for name in [".gitignore", ".github", "git", "a.git", "...", "a b", "a:b", "\u{fc}", "CON"]
        {
            assert!(is_good_name(name.into()), "{name:?}");
        }
        assert!(is_good_name(".gitmodules".into()));
    }
}
