//! All refs of a repository at one moment, kept for as long as nobody changes them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use hexforge_domain::ports::git::GitError;

use super::packed;
use crate::error::{failed, io};
use crate::store::TOO_FRESH;
use crate::text;

/// How often refs are read again that were packed meanwhile.
const ATTEMPTS: usize = 5;

/// A ref.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Without `refs/heads/` or `refs/tags/`.
    pub(crate) name: Box<str>,
    /// The object it holds.
    pub(crate) target: gix::ObjectId,
}

/// All refs.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// In the order of their bytes.
    pub(crate) branches: Vec<Row>,
    /// In the reverse order of their bytes.
    tags: Vec<Row>,
    /// The objects that all refs hold, including refs that are neither branches nor tags. Sorted, without duplicates.
    pub(crate) tips: Vec<gix::ObjectId>,
    /// Those of the tags that lead to commits, once somebody asked.
    of_commits: OnceLock<Vec<Row>>,
    stamps: Vec<Stamp>,
    taken: SystemTime,
}

/// A file or folder and when it was last changed. Git changes refs by renaming files into their folders,
/// so each change of one is a change of its folder.
#[derive(Debug)]
struct Stamp {
    path: PathBuf,
    changed: Option<SystemTime>,
}

impl Stamp {
    fn of(path: PathBuf) -> Self {
        let changed = fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
        Self { path, changed }
    }

    fn is_current(&self) -> bool {
        let now = fs::metadata(&self.path).and_then(|metadata| metadata.modified()).ok();
        now == self.changed
    }
}

impl Snapshot {
    /// Reads all refs.
    pub(crate) fn take(repo: &gix::Repository) -> Result<Self, GitError> {
        read_stable(repo, || Self::take_once(repo))
    }

    fn take_once(repo: &gix::Repository) -> Result<Self, GitError> {
        let taken = SystemTime::now();
        // The stamps come first: a change while we read makes them old.
        let mut stamps = vec![Stamp::of(repo.git_dir().join(packed::FILE))];
        stamp_folders(&repo.git_dir().join("refs"), &mut stamps)?;
        let (mut branches, mut tags, mut tips) = (Vec::new(), Vec::new(), Vec::new());
        read(repo, |name, target| {
            tips.push(target);
            let row = |name| Row { name: text::path(name).into_boxed_str(), target };
            if let Some(name) = name.strip_prefix(b"refs/heads/") {
                branches.push(row(name));
            } else if let Some(name) = name.strip_prefix(b"refs/tags/") {
                tags.push(row(name));
            }
        })?;
        tips.sort_unstable();
        tips.dedup();
        branches.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        tags.sort_by(|a, b| b.name.as_bytes().cmp(a.name.as_bytes()));
        Ok(Self { branches, tags, tips, of_commits: OnceLock::new(), stamps, taken })
    }

    /// The tags that lead to commits.
    pub(crate) fn tags_of_commits(&self, leads: impl Fn(gix::ObjectId) -> bool) -> &[Row] {
        let select = || self.tags.iter().filter(|row| leads(row.target)).cloned().collect();
        self.of_commits.get_or_init(select)
    }

    /// Whether nothing was changed since.
    pub(crate) fn is_current(&self) -> bool {
        self.stamps.iter().all(Stamp::is_current)
    }

    /// Whether the stamps are old enough to show each later change.
    pub(crate) fn may_be_kept(&self) -> bool {
        self.stamps
            .iter()
            .filter_map(|stamp| stamp.changed)
            .all(|changed| self.taken.duration_since(changed).is_ok_and(|age| age > TOO_FRESH))
    }
}

/// Reads refs, and again when they were packed meanwhile: a ref that moves to the file of packed refs during the read
/// may be in neither place for the reader.
pub(crate) fn read_stable<T>(
    repo: &gix::Repository,
    read: impl Fn() -> Result<T, GitError>,
) -> Result<T, GitError> {
    let packed = || Stamp::of(repo.common_dir().join(packed::FILE));
    for _ in 1..ATTEMPTS {
        let before = packed();
        let found = read()?;
        if before.is_current() {
            return Ok(found);
        }
    }
    read()
}

fn stamp_folders(folder: &Path, stamps: &mut Vec<Stamp>) -> Result<(), GitError> {
    stamps.push(Stamp::of(folder.to_owned()));
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io(error)),
    };
    for entry in entries {
        let entry = entry.map_err(io)?;
        if entry.file_type().map_err(io)?.is_dir() {
            stamp_folders(&entry.path(), stamps)?;
        }
    }
    Ok(())
}

fn read(
    repo: &gix::Repository,
    mut each: impl FnMut(&[u8], gix::ObjectId),
) -> Result<(), GitError> {
    let platform = repo.references().map_err(failed)?;
    for reference in platform.all().map_err(failed)? {
        // A ref that cannot be read, or that was removed meanwhile, is not there.
        let Ok(mut reference) = reference else { continue };
        let target = match reference.target().try_id() {
            Some(id) => id.to_owned(),
            None => match reference.follow_to_object() {
                Ok(id) => id.detach(),
                Err(_) => continue,
            },
        };
        each(reference.name().as_bstr(), target);
    }
    Ok(())
}
