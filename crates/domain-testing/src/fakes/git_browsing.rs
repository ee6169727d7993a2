//! The history of repositories in memory, as pages show it.

use std::ops::RangeInclusive;
use std::sync::Arc;

use hexforge_domain::commit::ObjectId;
use hexforge_domain::ports::git::{Depth, GitBrowsing, GitError, GitHistory, GitObjects};
use hexforge_domain::repository::{
    BLAME_LINES, Blame, BlameRun, Comparison, Divergence, FILE_PATHS, FilePaths, LastCommits,
};

use super::git::FakeRepository;
use super::git_history::diffs;

impl GitBrowsing for FakeRepository {
    fn last_commits(&self, commit: ObjectId, folder: &str) -> Result<LastCommits, GitError> {
        self.stored().commit_of(commit).ok_or(GitError::Missing)?;
        let mut found = LastCommits { entries: Vec::new(), is_complete: true };
        for entry in self.tree(commit, folder, Depth::Folder)? {
            match self.last_commit(commit, &entry.path)? {
                Some(last) => found.entries.push((entry.path, last)),
                None => found.is_complete = false,
            }
        }
        Ok(found)
    }

    /// Changed files count as replaced.
    fn blame(
        &self,
        commit: ObjectId,
        path: &str,
        lines: RangeInclusive<u32>,
    ) -> Result<Option<Arc<Blame>>, GitError> {
        let stored = self.stored();
        stored.commit_of(commit).ok_or(GitError::Missing)?;
        let Some(content) = stored.files(commit).remove(path) else { return Ok(None) };
        let count = String::from_utf8_lossy(&content).lines().count();
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let first = (*lines.start()).max(1);
        let end = (*lines.end()).min(count).min(first.saturating_add(BLAME_LINES - 1));
        let mut runs = Vec::new();
        if let Some(writer) = self.last_commit(commit, path)?
            && first <= end
        {
            let parents = stored.commit_of(writer).map(|writer| writer.parents).unwrap_or_default();
            let has_file = |parent: &ObjectId| stored.files(*parent).contains_key(path);
            let previous = parents.into_iter().find(has_file);
            runs.push(BlameRun {
                first,
                count: end - first + 1,
                commit: writer,
                path: path.to_owned(),
                original: first,
                previous: previous.map(|parent| (parent, path.to_owned())),
            });
        }
        Ok(Some(Arc::new(Blame { lines: count, runs })))
    }

    fn divergence(&self, base: ObjectId, commit: ObjectId) -> Result<Option<Divergence>, GitError> {
        let stored = self.stored();
        for id in [base, commit] {
            stored.commit_of(id).ok_or(GitError::Missing)?;
        }
        let count = |from, to| stored.between(&[from], to).len() as u64;
        Ok(Some(Divergence { ahead: count(base, commit), behind: count(commit, base) }))
    }

    fn file_paths(&self, commit: ObjectId) -> Result<FilePaths, GitError> {
        let stored = self.stored();
        stored.commit_of(commit).ok_or(GitError::Missing)?;
        let mut paths: Vec<String> = stored.files(commit).into_keys().collect();
        let is_cut = paths.len() > FILE_PATHS;
        paths.truncate(FILE_PATHS);
        Ok(FilePaths { paths, is_cut })
    }

    fn tree_changes(
        &self,
        base: Option<ObjectId>,
        commit: ObjectId,
    ) -> Result<Arc<Comparison>, GitError> {
        let stored = self.stored();
        for id in base.into_iter().chain([commit]) {
            stored.commit_of(id).ok_or(GitError::Missing)?;
        }
        let before = base.map(|base| stored.files(base)).unwrap_or_default();
        Ok(Arc::new(Comparison::new(vec![], diffs(&before, &stored.files(commit)))))
    }

    fn tips_containing(
        &self,
        commit: ObjectId,
        tips: &[ObjectId],
    ) -> Result<Option<Vec<bool>>, GitError> {
        let stored = self.stored();
        stored.commit_of(commit).ok_or(GitError::Missing)?;
        let contains = |tip: &ObjectId| stored.reachable(&[*tip]).contains(&commit);
        Ok(Some(tips.iter().map(contains).collect()))
    }
}
