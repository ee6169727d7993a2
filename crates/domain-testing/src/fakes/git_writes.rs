//! Writes commits into repositories in memory. All files have the mode `100644`, and merges compare whole files and
//! know no renames.

use std::collections::{BTreeMap, BTreeSet};

use hexforge_domain::Timestamp;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_writes::GitWrites;
use hexforge_domain::repository::{
    ChangeError, CommitOutcome, CommitText, FileChange, FileMode, MAX_FOLDERS, MergeOutcome,
    PathEntry, PickOutcome, WrittenCommit,
};

use super::git::{FakeRepository, Files, Stored, blob_id, id_of};

impl GitWrites for FakeRepository {
    fn path_entry(&self, commit: ObjectId, path: &str) -> Result<PathEntry, GitError> {
        let stored = self.stored();
        stored.commit_of(commit).ok_or(GitError::Missing)?;
        Ok(entry(&stored.files(commit), path))
    }

    fn write_commit(
        &self,
        parent: Option<ObjectId>,
        changes: &[FileChange],
        text: &CommitText,
    ) -> Result<CommitOutcome, GitError> {
        check_text(text)?;
        let stored = self.stored();
        if let Some(parent) = parent {
            stored.commit_of(parent).ok_or(GitError::Missing)?;
        }
        let mut files = parent.map(|parent| stored.files(parent)).unwrap_or_default();
        for (number, change) in changes.iter().enumerate() {
            if let Err(why) = apply(&mut files, change) {
                return Ok(CommitOutcome::Impossible { change: number, why });
            }
        }
        Ok(CommitOutcome::Written(self.add_commit(parent.into_iter().collect(), files, text)))
    }

    fn can_merge(&self, ours: ObjectId, theirs: ObjectId) -> Result<bool, GitError> {
        Ok(self.stored().merge(ours, theirs)?.is_some())
    }

    fn merge(
        &self,
        ours: ObjectId,
        theirs: ObjectId,
        text: &CommitText,
    ) -> Result<MergeOutcome, GitError> {
        check_text(text)?;
        Ok(match self.stored().merge(ours, theirs)? {
            Some(files) => MergeOutcome::Merged(self.add_commit(vec![ours, theirs], files, text)),
            None => MergeOutcome::Conflict,
        })
    }

    fn cherry_pick(
        &self,
        picked: ObjectId,
        onto: ObjectId,
        text: &CommitText,
    ) -> Result<PickOutcome, GitError> {
        check_text(text)?;
        let stored = self.stored();
        let commit = stored.commit_of(picked).ok_or(GitError::Missing)?;
        stored.commit_of(onto).ok_or(GitError::Missing)?;
        let base = commit.parents.first().map(|base| stored.files(*base)).unwrap_or_default();
        let ours = stored.files(onto);
        Ok(match merge_files(&base, &ours, &stored.files(picked)) {
            None => PickOutcome::Conflict,
            Some(files) if files == ours => PickOutcome::Unchanged,
            Some(files) => PickOutcome::Picked(self.add_commit(vec![onto], files, text)),
        })
    }
}

impl FakeRepository {
    fn add_commit(&self, parents: Vec<ObjectId>, files: Files, text: &CommitText) -> WrittenCommit {
        let mut state = self.git.state();
        state.made += 1;
        let id = id_of(state.made);
        let CommitText { message, author, committer } = text.clone();
        let commit = Commit { id, parents, message, author, committer, signed: None };
        state.stored.commits.insert(id, (commit, files));
        let mut name = [0; 32];
        name[..20].copy_from_slice(id.as_bytes());
        let name = PackName::from_bytes(name);
        self.git.packs().store(name, Timestamp::default());
        WrittenCommit { id, pack: Pack { name, bytes: 1, objects: 1 } }
    }
}

impl Stored {
    /// The files of the merge of two commits; `None` when they conflict.
    fn merge(&self, ours: ObjectId, theirs: ObjectId) -> Result<Option<Files>, GitError> {
        for commit in [ours, theirs] {
            self.commit_of(commit).ok_or(GitError::Missing)?;
        }
        let base = self.merge_base(ours, theirs).map(|base| self.files(base)).unwrap_or_default();
        Ok(merge_files(&base, &self.files(ours), &self.files(theirs)))
    }

    /// The newest common ancestor that is not an ancestor of another one.
    pub(super) fn merge_base(&self, one: ObjectId, two: ObjectId) -> Option<ObjectId> {
        let others = self.reachable(&[two]);
        let common: Vec<ObjectId> =
            self.reachable(&[one]).into_iter().filter(|id| others.contains(id)).collect();
        let is_best = |id: &ObjectId| {
            !common.iter().any(|other| other != id && self.reachable(&[*other]).contains(id))
        };
        let best = common.iter().copied().filter(is_best);
        best.max_by_key(|id| self.commit_of(*id).map(|commit| (commit.committer.at, commit.id)))
    }
}

fn merge_files(base: &Files, ours: &Files, theirs: &Files) -> Option<Files> {
    let mut merged = BTreeMap::new();
    let paths: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    for path in paths {
        let (before, one, two) = (base.get(path), ours.get(path), theirs.get(path));
        let result = match (one, two) {
            _ if one == two || two == before => one,
            _ if one == before => two,
            _ => return None,
        };
        if let Some(content) = result {
            merged.insert(path.clone(), content.clone());
        }
    }
    Some(merged)
}

fn entry(files: &Files, path: &str) -> PathEntry {
    let is_behind =
        |file: &String| path.strip_prefix(file).is_some_and(|rest| rest.starts_with('/'));
    if let Some(content) = files.get(path) {
        PathEntry::File { id: blob_id(content), mode: FileMode::Plain }
    } else if files.keys().any(|file| file.starts_with(&format!("{path}/"))) {
        PathEntry::Folder
    } else if files.keys().any(is_behind) {
        PathEntry::BehindFile
    } else {
        PathEntry::Missing
    }
}

fn apply(files: &mut Files, change: &FileChange) -> Result<(), ChangeError> {
    match change {
        FileChange::Write { path, content, .. } => {
            check_path(path)?;
            match entry(files, path) {
                PathEntry::Missing | PathEntry::File { .. } => {
                    files.insert(path.clone(), content.clone());
                }
                PathEntry::BehindFile | PathEntry::Folder | PathEntry::Submodule(_) => {
                    return Err(ChangeError::Taken);
                }
            }
        }
        FileChange::Remove { path } => {
            if files.remove(path).is_none() {
                check_path(path)?;
                return Err(ChangeError::NotFound);
            }
        }
        FileChange::Move { from, to, content } => {
            check_path(to)?;
            let kept = files.get(from).cloned().ok_or(ChangeError::NotFound)?;
            if entry(files, to) != PathEntry::Missing {
                return Err(ChangeError::Taken);
            }
            files.remove(from);
            files.insert(to.clone(), content.clone().unwrap_or(kept));
        }
    }
    Ok(())
}

fn check_path(path: &str) -> Result<(), ChangeError> {
    let is_bad = |part: &str| {
        matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git") || part.contains('\0')
    };
    let is_deep = path.split('/').count() > MAX_FOLDERS + 1;
    if is_deep || path.split('/').any(is_bad) { Err(ChangeError::InvalidPath) } else { Ok(()) }
}

fn check_text(text: &CommitText) -> Result<(), GitError> {
    let people = [&text.author, &text.committer];
    let mut names = people.iter().flat_map(|person| [&person.name, &person.email]);
    match names.any(|name| name.contains(['\n', '\0', '<', '>'])) {
        true => Err(GitError::Invalid("a name is not valid".into())),
        false => Ok(()),
    }
}
