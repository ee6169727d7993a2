//! The history of repositories in memory: logs, comparisons and contributors.

use std::io::Write;
use std::sync::Arc;

use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::ports::git::{GitError, GitHistory};
use hexforge_domain::push::{ChangedPaths, truncated_for_event};
use hexforge_domain::repository::{
    Archive, ChangedLine, CommitStats, Comparison, Contributor, Contributors, FileDiff, LineSide,
    LogQuery,
};

use super::git::{FakeRepository, Files, Stored};

impl GitHistory for FakeRepository {
    fn compare(&self, from: ObjectId, to: ObjectId) -> Result<Arc<Comparison>, GitError> {
        let stored = self.stored();
        let diffs = diffs(&stored.files(from), &stored.files(to));
        Ok(Arc::new(Comparison::new(stored.between(&[from], to), diffs)))
    }

    fn merge_base(&self, one: ObjectId, two: ObjectId) -> Result<Option<ObjectId>, GitError> {
        let stored = self.stored();
        for commit in [one, two] {
            stored.commit_of(commit).ok_or(GitError::Missing)?;
        }
        Ok(stored.merge_base(one, two))
    }

    fn commits_not_in(
        &self,
        start: ObjectId,
        head: ObjectId,
        limit: usize,
    ) -> Result<Vec<Commit>, GitError> {
        let stored = self.stored();
        for commit in [start, head] {
            stored.commit_of(commit).ok_or(GitError::Missing)?;
        }
        Ok(stored.between(&[start], head).into_iter().rev().take(limit).collect())
    }

    fn commits_among(
        &self,
        wanted: &[ObjectId],
        old: ObjectId,
        new: ObjectId,
    ) -> Result<Vec<ObjectId>, GitError> {
        let stored = self.stored();
        for commit in [old, new] {
            stored.commit_of(commit).ok_or(GitError::Missing)?;
        }
        let (found, hidden) = (stored.reachable(&[new]), stored.reachable(&[old]));
        let is_new = |id: &ObjectId| found.contains(id) && !hidden.contains(id);
        Ok(wanted.iter().copied().filter(is_new).collect())
    }

    fn commit_diff(&self, commit: ObjectId) -> Result<Vec<FileDiff>, GitError> {
        let stored = self.stored();
        let parents = stored.commit_of(commit).ok_or(GitError::Missing)?.parents;
        let before = parents.first().map(|parent| stored.files(*parent)).unwrap_or_default();
        Ok(diffs(&before, &stored.files(commit)))
    }

    /// Changed files count as replaced.
    fn changed_line(
        &self,
        commit: ObjectId,
        path: &str,
        side: LineSide,
        number: u32,
    ) -> Result<Option<ChangedLine>, GitError> {
        let stored = self.stored();
        let parents = stored.commit_of(commit).ok_or(GitError::Missing)?.parents;
        let before = parents.first().map(|parent| stored.files(*parent)).unwrap_or_default();
        let after = stored.files(commit);
        let found = diffs(&before, &after).into_iter().find(|diff| diff.new_path == path);
        let Some(diff) = found else { return Ok(None) };
        let lines = |files: &Files| {
            let text = files.get(path).map(|bytes| String::from_utf8_lossy(bytes).lines().count());
            u32::try_from(text.unwrap_or_default()).unwrap_or(u32::MAX)
        };
        let (old_lines, new_lines) = (lines(&before), lines(&after));
        let old = match side {
            LineSide::Old if old_lines > 0 && number == new_lines.min(1) => 1,
            LineSide::New if (1..=new_lines).contains(&number) => match old_lines {
                0 => 0,
                lines => lines + 1,
            },
            LineSide::Old | LineSide::New => return Ok(None),
        };
        Ok(Some(ChangedLine { old, new: number, diff }))
    }

    /// Changed files count as replaced.
    fn commit_stats(&self, commit: ObjectId) -> Result<CommitStats, GitError> {
        let stored = self.stored();
        let parents = stored.commit_of(commit).ok_or(GitError::Missing)?.parents;
        let before = parents.first().map(|parent| stored.files(*parent)).unwrap_or_default();
        let after = stored.files(commit);
        let lines = |files: &Files, path: &String| {
            let text = files.get(path).map(|bytes| String::from_utf8_lossy(bytes).lines().count());
            text.unwrap_or_default() as u64
        };
        let mut stats = CommitStats { complete: true, ..CommitStats::default() };
        for FileDiff { new_path, .. } in diffs(&before, &after) {
            stats.additions += lines(&after, &new_path);
            stats.deletions += lines(&before, &new_path);
        }
        Ok(stats)
    }

    fn commits_between(
        &self,
        hidden: &[ObjectId],
        to: ObjectId,
        limit: usize,
    ) -> Result<(u64, Vec<Commit>), GitError> {
        let mut commits = self.stored().between(hidden, to);
        let total = commits.len();
        let newest = commits.split_off(total.saturating_sub(limit)).into_iter();
        let truncated =
            newest.map(|commit| Commit { message: truncated_for_event(commit.message), ..commit });
        Ok((total as u64, truncated.collect()))
    }

    fn log(&self, query: &LogQuery) -> Result<Vec<Commit>, GitError> {
        let stored = self.stored();
        stored.commit_of(query.from).ok_or(GitError::Missing)?;
        let mut commits = stored.between(&[], query.from);
        commits.reverse();
        let path = query.path.as_deref().map_or("", |path| path.trim_end_matches('/'));
        commits.retain(|commit| {
            let at = commit.committer.at;
            query.since.is_none_or(|since| at >= since)
                && query.until.is_none_or(|until| at <= until)
                && (path.is_empty() || stored.is_changed_by(commit, path))
        });
        let skip = usize::try_from(query.skip).unwrap_or(usize::MAX);
        Ok(commits.into_iter().skip(skip).take(query.limit).collect())
    }

    fn last_commit(&self, from: ObjectId, path: &str) -> Result<Option<ObjectId>, GitError> {
        let query = LogQuery { path: Some(path.to_owned()), limit: 1, ..LogQuery::all(from) };
        Ok(self.log(&query)?.first().map(|commit| commit.id))
    }

    fn changed_paths(&self, commit: ObjectId) -> Result<ChangedPaths, GitError> {
        let stored = self.stored();
        let parent = stored.commit_of(commit).and_then(|commit| commit.parents.first().copied());
        let before = parent.map(|parent| stored.files(parent)).unwrap_or_default();
        let after = stored.files(commit);
        let mut paths = ChangedPaths::default();
        for (path, bytes) in &after {
            match before.get(path) {
                None => paths.added.push(path.clone()),
                Some(other) if other != bytes => paths.modified.push(path.clone()),
                Some(_) => (),
            }
        }
        paths.removed = before.into_keys().filter(|path| !after.contains_key(path)).collect();
        Ok(paths)
    }

    fn is_ancestor(&self, ancestor: ObjectId, descendant: ObjectId) -> Result<bool, GitError> {
        Ok(self.stored().reachable(&[descendant]).contains(&ancestor))
    }

    fn write_archive(&self, archive: &Archive, to: &mut dyn Write) -> Result<(), GitError> {
        for path in self.stored().files(archive.commit).keys() {
            writeln!(to, "{}/{path}", archive.folder).map_err(GitError::ReaderGone)?;
        }
        Ok(())
    }

    fn contributors(&self, tip: ObjectId) -> Result<Contributors, GitError> {
        let commits = self.stored().between(&[], tip);
        let authors = commits.last().map(|newest| Contributor {
            name: newest.author.name.clone(),
            email: newest.author.email.clone(),
            commits: commits.len() as u64,
            additions: 0,
            deletions: 0,
        });
        Ok(Contributors { authors: authors.into_iter().collect(), complete: true })
    }
}

impl Stored {
    /// Returns whether a commit differs from all its parents at a path.
    fn is_changed_by(&self, commit: &Commit, path: &str) -> bool {
        let below = |files: Files| -> Files {
            let is_at = |file: &str| {
                file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            files.into_iter().filter(|(file, _)| is_at(file)).collect()
        };
        let after = below(self.files(commit.id));
        match commit.parents.as_slice() {
            [] => !after.is_empty(),
            parents => parents.iter().all(|parent| below(self.files(*parent)) != after),
        }
    }
}

/// The files that differ, without their texts.
pub(super) fn diffs(before: &Files, after: &Files) -> Vec<FileDiff> {
    let paths: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
    let mode = |there: bool| there.then_some(0o100_644);
    let diff = |path: &String| FileDiff {
        old_path: path.clone(),
        new_path: path.clone(),
        old_mode: mode(before.contains_key(path)),
        new_mode: mode(after.contains_key(path)),
        renamed: false,
        text: String::new(),
        too_large: false,
    };
    changed.map(diff).collect()
}
