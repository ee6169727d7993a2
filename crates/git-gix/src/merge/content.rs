//! Merges the versions of one file.

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::object::Kind;
use gix::objs::tree::EntryKind;
use hexforge_domain::ports::git::GitError;

use super::collect::Version;
use super::text::{self, Markers};
use super::{Labels, OURS, THEIRS};
use crate::error::failed;
use crate::history::compare::Effort;
use crate::history::compare::content::BIG_FILE;
use crate::history::contributors::lines::is_binary;
use crate::writes::NewObjects;

/// The length of conflict markers. It grows by two for each nested merge.
const MARKER_SIZE: usize = 7;

/// A merged version.
pub(super) struct Merged<T> {
    pub(super) version: T,
    pub(super) is_clean: bool,
}

/// Reads and writes the contents of one merge.
pub(super) struct Contents<'a> {
    pub(super) repo: &'a gix::Repository,
    pub(super) effort: &'a Effort,
    pub(super) objects: &'a mut NewObjects,
    /// 0 for the merge itself, more for merges of its bases.
    pub(super) depth: usize,
}

impl Contents<'_> {
    /// Merges two versions of the same type. `names` are the paths of base, ours and theirs. `nested` is 1 when the
    /// result is merged again.
    pub(super) fn merge(
        &mut self,
        base: Option<Version>,
        ours: Version,
        theirs: Version,
        names: &[BString; 3],
        nested: usize,
    ) -> Result<Merged<Version>, GitError> {
        let base_kind = base.map(|base| base.kind);
        let (kind, is_clean) = if ours.kind == theirs.kind || Some(ours.kind) == base_kind {
            (theirs.kind, true)
        } else {
            (ours.kind, Some(theirs.kind) == base_kind)
        };
        let base_id = base.map(|base| base.id);
        let merged = |id: ObjectId, kind: EntryKind, is_clean: bool| Merged {
            version: Version { kind, id },
            is_clean,
        };
        if ours.id == theirs.id || Some(ours.id) == base_id {
            return Ok(merged(theirs.id, kind, is_clean));
        }
        if Some(theirs.id) == base_id {
            return Ok(merged(ours.id, kind, is_clean));
        }
        if ours.is_file() {
            // A base of another type says nothing about the lines.
            let base = base.filter(Version::is_file).map(|base| base.id);
            let (id, is_same) = self.merge_files(base, ours.id, theirs.id, names, nested)?;
            return Ok(merged(id, kind, is_clean && is_same));
        }
        // Links and submodules have no lines to merge. The base of another merge keeps what it had.
        let kept = base.filter(|base| self.depth > 0 && base.is_same_type(&ours));
        let kept = kept.unwrap_or(ours);
        Ok(merged(kept.id, kept.kind, false))
    }

    /// Merges the lines of three files. Returns the id of the result and whether there is no conflict.
    fn merge_files(
        &mut self,
        base: Option<ObjectId>,
        ours: ObjectId,
        theirs: ObjectId,
        names: &[BString; 3],
        nested: usize,
    ) -> Result<(ObjectId, bool), GitError> {
        if !self.effort.has_time() {
            return Err(GitError::TooLarge);
        }
        let texts = (
            base.map_or(Ok(Some(Vec::new())), |base| self.read(base))?,
            self.read(ours)?,
            self.read(theirs)?,
        );
        let (Some(old), Some(one), Some(two)) = texts else {
            // Binary files have no lines. The base of another merge keeps what it had.
            return Ok(match (self.depth, base) {
                (0, _) => (ours, false),
                (_, Some(base)) => (base, true),
                (_, None) => (self.objects.add(Kind::Blob, Vec::new())?, true),
            });
        };
        let labels = Labels::VIRTUAL;
        let is_renamed = names[0] != names[OURS] || names[OURS] != names[THEIRS];
        let label = |side: usize| match is_renamed {
            true => format!("{}:{}", labels.of(side), names[side].as_bstr()),
            false => labels.of(side).to_owned(),
        };
        let (one_label, two_label) = (label(OURS), label(THEIRS));
        let markers = Markers {
            size: MARKER_SIZE + 2 * self.depth + nested,
            ours: one_label.as_bytes(),
            theirs: two_label.as_bytes(),
        };
        let Some(merged) = text::merge(&old, &one, &two, &markers, self.effort) else {
            return Ok((ours, false));
        };
        Ok((self.objects.add(Kind::Blob, merged.bytes)?, merged.is_clean))
    }

    /// The content of a text file; `None` for a binary or large one.
    fn read(&self, id: ObjectId) -> Result<Option<Vec<u8>>, GitError> {
        // The result of a merge may be merged again.
        if let Some(bytes) = self.objects.data(&id) {
            return Ok((!is_binary(bytes)).then(|| bytes.to_vec()));
        }
        let header = self.repo.try_find_header(id).map_err(failed)?;
        let missing = || GitError::Corrupt(format!("the blob {id} is missing"));
        let header = header.filter(|header| header.kind() == Kind::Blob).ok_or_else(missing)?;
        if header.size() > BIG_FILE {
            return Ok(None);
        }
        let mut blob = self.repo.find_object(id).map_err(failed)?;
        let bytes = std::mem::take(&mut blob.data);
        Ok((!is_binary(&bytes)).then_some(bytes))
    }
}
