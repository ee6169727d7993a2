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
use super::outside::ReachableObjects;
use crate::content::commit::to_gix;
use crate::error::failed;
use crate::protocol::intake::{Bounds, IntakeError, NewObjects};
use crate::protocol::limits::StopReason;
use crate::storage::pack_summary::{LEAST_OBJECTS, PackSummary, SummaryBuilder};

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
const MOST_FOUND: usize = 1 << 18;

/// The reason why objects are refused.
#[derive(Debug)]
pub(crate) enum CheckError {
    /// An object is referred to that does not exist or is not reachable.
    Missing,
    /// An object that is not allowed in any repository; the text is for the client.
    Forbidden(String),
    /// The deadline passed, or the client disconnected.
    Stopped(StopReason),
    /// The objects could not be read.
    Failed(GitError),
}

impl From<IntakeError> for CheckError {
    fn from(error: IntakeError) -> Self {
        match error {
            IntakeError::Invalid(what) => {
                CheckError::Forbidden(format!("the pack is not valid: it {what}"))
            }
            IntakeError::TooLarge(text) => CheckError::Forbidden(text),
            IntakeError::Disconnected(error) => CheckError::Failed(crate::error::io_failed(error)),
            IntakeError::Busy => CheckError::Failed(GitError::Busy),
            IntakeError::Stopped(stopped) => CheckError::Stopped(stopped),
            IntakeError::Failed(error) => CheckError::Failed(error),
        }
    }
}

impl From<GitError> for CheckError {
    fn from(error: GitError) -> Self {
        CheckError::Failed(error)
    }
}

/// Checks all objects of a pack. Objects outside the pack that they refer to must be among the
/// reachable ones, if `reachable` is given. Returns the summary of a pack that is worth one.
pub(crate) fn pack(
    view: &gix::Repository,
    objects: &NewObjects,
    bounds: &Bounds,
    accepted: &AcceptedFaults,
    reachable: Option<&ReachableObjects<'_>>,
) -> Result<Option<PackSummary>, CheckError> {
    let is_large = objects.len() >= LEAST_OBJECTS;
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
        links: is_large.then(|| SummaryBuilder::new(objects.len())),
    };
    // The bases of deltas are checked first: an error message about the result of a delta would reveal its base.
    for base in objects.bases() {
        let header = view.find_header(*base).map_err(failed)?;
        check.outside.insert(*base, header.kind());
    }
    check.check_outside_reachable()?;
    let each = |id: ObjectId, kind, data: &[u8]| check.check_object(&id, kind, data);
    objects.each_but_blobs(bounds, fits, each)?;
    check.check_outside_reachable()?;
    let finish = |links: SummaryBuilder| {
        links.finish(|number| objects.id_of(number), objects.are_in_order())
    };
    Ok(check.links.and_then(finish))
}

/// Checks that an object is small enough to be read into memory.
fn fits(id: ObjectId, kind: Kind, size: u64) -> Result<(), CheckError> {
    let largest = match kind {
        Kind::Tree | Kind::Blob => LARGEST_TREE,
        Kind::Commit | Kind::Tag => LARGEST_TEXT,
    };
    if size > largest {
        return Err(CheckError::Forbidden(format!("{kind} {id} is too large")));
    }
    Ok(())
}

/// Checks the new values of refs.
pub(super) struct TipCheck<'a> {
    pub(super) view: &'a gix::Repository,
    pub(super) objects: Option<&'a NewObjects>,
    pub(super) reachable: &'a ReachableObjects<'a>,
}

impl TipCheck<'_> {
    /// Returns the names of the refs that may not get their new value.
    pub(super) fn refused_names<'c>(
        &self,
        changes: impl Iterator<Item = &'c RefChange>,
    ) -> Result<std::collections::HashSet<&'c str>, CheckError> {
        let (mut refused, mut outside) = (std::collections::HashSet::new(), Vec::new());
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
                    refused.insert(change.name.as_str());
                }
            }
        }
        // In most pushes all values are reachable, so all are checked together first.
        let all = outside.iter().map(|(_, id, kind)| (*id, *kind)).collect();
        if !self.reachable.has_all(&all)? {
            for (name, id, kind) in outside {
                if !self.reachable.has_all(&std::iter::once((id, kind)).collect())? {
                    refused.insert(name);
                }
            }
        }
        Ok(refused)
    }
}

struct Check<'a> {
    repo: &'a gix::Repository,
    objects: &'a NewObjects,
    bounds: &'a Bounds,
    fsck: Fsck<'a>,
    found: HashMap<ObjectId, Kind>,
    reachable: Option<&'a ReachableObjects<'a>>,
    /// Objects outside the pack that new objects refer to, and whose reachability was not checked yet.
    outside: HashMap<ObjectId, Kind>,
    /// The `.gitmodules` and `.gitattributes` files that were checked.
    read_by_git: HashSet<ObjectId>,
    special_bytes: u64,
    /// Collects the references, if the pack gets a summary.
    links: Option<SummaryBuilder>,
}

impl Check<'_> {
    fn check_object(&mut self, id: &gix::oid, kind: Kind, data: &[u8]) -> Result<(), CheckError> {
        self.fsck.check(kind, data).map_err(|fault| forbidden_fault(id, fault))?;
        let unreadable = || CheckError::Forbidden(format!("{kind} {id} is malformed"));
        match kind {
            Kind::Commit => {
                let commit = gix::objs::CommitRef::from_bytes(data, gix::hash::Kind::Sha1)
                    .map_err(|_| unreadable())?;
                self.check_reference(&commit.tree(), Kind::Tree)?;
                for parent in commit.parents() {
                    self.check_reference(&parent, Kind::Commit)?;
                }
            }
            Kind::Tag => {
                let tag = gix::objs::TagRef::from_bytes(data, gix::hash::Kind::Sha1)
                    .map_err(|_| unreadable())?;
                self.check_reference(&tag.target(), tag.target_kind)?;
            }
            Kind::Tree => {
                for entry in gix::objs::TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1) {
                    let entry = entry.map_err(|_| unreadable())?;
                    self.check_entry(id, entry.filename, entry.mode.kind(), entry.oid)?;
                }
            }
            Kind::Blob => (),
        }
        Ok(())
    }

    fn check_entry(
        &mut self,
        tree: &gix::oid,
        name: &BStr,
        kind: EntryKind,
        id: &gix::oid,
    ) -> Result<(), CheckError> {
        let special = SpecialFile::of(name);
        if special == Some(SpecialFile::Modules) && kind == EntryKind::Link {
            let fault = Fault::GitmodulesSymlink;
            self.fsck.report(fault).map_err(|fault| forbidden_fault(tree, fault))?;
        }
        if !is_good_name(name) {
            let text = format!("tree {tree} has an entry named {:?}, which is not allowed", name);
            return Err(CheckError::Forbidden(text));
        }
        match kind {
            EntryKind::Tree => self.check_reference(id, Kind::Tree),
            EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => {
                self.check_reference(id, Kind::Blob)
            }
            // A submodule: the commit belongs to another repository.
            EntryKind::Commit => Ok(()),
        }?;
        match special {
            Some(special) if kind != EntryKind::Link => self.check_special_file(special, kind, id),
            _ => Ok(()),
        }
    }

    /// Checks a `.gitmodules` or `.gitattributes` file, which git itself interprets.
    fn check_special_file(
        &mut self,
        special: SpecialFile,
        kind: EntryKind,
        id: &gix::oid,
    ) -> Result<(), CheckError> {
        let (no_file, large) = match special {
            SpecialFile::Modules => (Fault::GitmodulesBlob, Fault::GitmodulesLarge),
            SpecialFile::Attributes => (Fault::GitattributesBlob, Fault::GitattributesLarge),
        };
        // An error message about an unreachable file would reveal its contents.
        if self.objects.kind_of(id).is_none() && !self.read_by_git.contains(id) {
            self.check_outside_reachable()?;
        }
        let report = |fault| self.fsck.report(fault).map_err(|fault| forbidden_fault(id, fault));
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
            return Err(CheckError::Forbidden(text.to_owned()));
        }
        let file = self.repo.find_object(id).map_err(failed)?;
        let checked = match special {
            SpecialFile::Modules => self.fsck.check_modules(&file.data),
            SpecialFile::Attributes => self.fsck.check_attributes(&file.data),
        };
        checked.map_err(|fault| forbidden_fault(id, fault))
    }

    fn check_reference(&mut self, id: &gix::oid, kind: Kind) -> Result<(), CheckError> {
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
            None => Err(CheckError::Missing),
            // The answer must not reveal whether an unreachable object exists.
            Some(known) if known != kind && self.objects.kind_of(id).is_none() => {
                Err(CheckError::Missing)
            }
            Some(known) if known != kind => {
                Err(CheckError::Forbidden(format!("object {id} is a {known}, not a {kind}")))
            }
            Some(_) => {
                if self.found.len() == MOST_FOUND {
                    self.check_outside_reachable()?;
                    self.found.clear();
                }
                if self.found.insert(id.to_owned(), kind).is_none() {
                    self.note_link(id);
                }
                Ok(())
            }
        }
    }

    /// Notes the first reference to an object for the summary.
    fn note_link(&mut self, id: &gix::oid) {
        let Some(links) = &mut self.links else { return };
        match self.objects.number_of(id) {
            Some(number) => links.link(number),
            None => links.link_outside(id.to_owned()),
        }
    }

    /// Checks the reachability of the objects outside the pack that were found since the last call.
    fn check_outside_reachable(&mut self) -> Result<(), CheckError> {
        let outside = std::mem::take(&mut self.outside);
        match self.reachable {
            Some(reachable) if !reachable.has_all(&outside)? => Err(CheckError::Missing),
            _ => Ok(()),
        }
    }
}

/// Builds a refusal with git's name and text of the fault.
fn forbidden_fault(id: &gix::oid, fault: Fault) -> CheckError {
    CheckError::Forbidden(format!("object {id}: {}: {}", fault.name(), fault.text()))
}

/// Path names are checked by the rules of HFS+ and NTFS, because clones may be checked out there.
const ALL_PLATFORMS: component::Options =
    component::Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };

/// A file that git interprets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpecialFile {
    Modules,
    Attributes,
}

impl SpecialFile {
    fn of(name: &BStr) -> Option<Self> {
        let as_link =
            gix::validate::path::component(name, Some(component::Mode::Symlink), ALL_PLATFORMS);
        match as_link {
            Err(component::Error::SymlinkedGitModules) => Some(SpecialFile::Modules),
            _ if name.eq_ignore_ascii_case(b".gitattributes") => Some(SpecialFile::Attributes),
            _ => None,
        }
    }
}

/// Whether git itself interprets files of this name.
pub(crate) fn is_special_file(name: &BStr) -> bool {
    SpecialFile::of(name).is_some()
}

/// Whether a new file is one that git itself interprets and refuses, by the rules for pushes.
pub(crate) fn is_refused_file(
    name: &BStr,
    kind: EntryKind,
    content: &[u8],
    accepted: &AcceptedFaults,
) -> bool {
    let fsck = Fsck { accepted };
    let checked = match SpecialFile::of(name) {
        Some(SpecialFile::Modules) if kind == EntryKind::Link => {
            fsck.report(Fault::GitmodulesSymlink)
        }
        Some(SpecialFile::Modules) => fsck.check_modules(content),
        Some(SpecialFile::Attributes) if kind != EntryKind::Link => fsck.check_attributes(content),
        Some(SpecialFile::Attributes) | None => Ok(()),
    };
    checked.is_err()
}

/// Whether a file or directory with this name can be checked out without harm.
pub(crate) fn is_good_name(name: &BStr) -> bool {
    // Windows treats backslashes as slashes.
    let mut parts = name.split_str(b"\\").filter(|part| !part.is_empty());
    gix::validate::path::component(name, None, ALL_PLATFORMS).is_ok()
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
