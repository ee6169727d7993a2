//! All branches and tags of a repository at one moment, kept for as long as nobody changes them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use hexforge_domain::ports::git::GitError;

use crate::error::{failed, io};
use crate::store::TOO_FRESH;
use crate::text;

/// A ref.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Without `refs/heads/` or `refs/tags/`.
    pub(crate) name: Box<str>,
    /// The object it holds.
    pub(crate) target: gix::ObjectId,
}

/// All branches and tags.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// In the order of their bytes.
    pub(crate) branches: Vec<Row>,
    /// In the reverse order of their bytes.
    tags: Vec<Row>,
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
    /// Reads all branches and tags.
    pub(crate) fn take(repo: &gix::Repository) -> Result<Self, GitError> {
        let taken = SystemTime::now();
        // The stamps come first: a change while we read makes them old.
        let mut stamps = vec![Stamp::of(repo.git_dir().join("packed-refs"))];
        for folder in ["refs/heads", "refs/tags"] {
            stamp_folders(&repo.git_dir().join(folder), &mut stamps)?;
        }
        let mut branches = read(repo, "refs/heads/")?;
        let mut tags = read(repo, "refs/tags/")?;
        branches.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        tags.sort_by(|a, b| b.name.as_bytes().cmp(a.name.as_bytes()));
        Ok(Self { branches, tags, of_commits: OnceLock::new(), stamps, taken })
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

fn read(repo: &gix::Repository, prefix: &str) -> Result<Vec<Row>, GitError> {
    let platform = repo.references().map_err(failed)?;
    let all = platform.prefixed(prefix).map_err(failed)?;
    let mut rows = Vec::new();
    for reference in all {
        // A ref that cannot be read, or that was removed meanwhile, is not there.
        let Ok(mut reference) = reference else { continue };
        let name = text::path(&reference.name().as_bstr()[prefix.len()..]);
        let target = match reference.target().try_id() {
            Some(id) => id.to_owned(),
            None => match reference.follow_to_object() {
                Ok(id) => id.detach(),
                Err(_) => continue,
            },
        };
        rows.push(Row { name: name.into_boxed_str(), target });
    }
    Ok(rows)
}
