//! What takes more than a look.

use std::io::Write;

use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::ports::git::{GitError, GitHistory};
use hexforge_domain::push::ChangedPaths;
use hexforge_domain::repository::{Archive, Comparison, Contributors};

use crate::changed_paths::changed_paths;
use crate::commit::to_gix;
use crate::compare;
use crate::repository::GixRepository;

impl GitHistory for GixRepository {
    fn compare(&self, from: ObjectId, to: ObjectId) -> Result<Comparison, GitError> {
        let bound = self.bound().ok_or(GitError::Missing)?;
        compare::compare(bound.repo(), to_gix(from), to_gix(to))
    }

    fn commits_between(
        &self,
        hidden: &[ObjectId],
        to: ObjectId,
        limit: usize,
    ) -> Result<(u64, Vec<Commit>), GitError> {
        let _ = (hidden, to, limit);
        Ok((0, Vec::new()))
    }

    fn changed_paths(&self, commit: ObjectId) -> Result<ChangedPaths, GitError> {
        let bound = self.bound().ok_or(GitError::Missing)?;
        changed_paths(bound.repo(), to_gix(commit))
    }

    fn is_ancestor(&self, ancestor: ObjectId, descendant: ObjectId) -> Result<bool, GitError> {
        let _ = (ancestor, descendant);
        Ok(false)
    }

    fn write_archive(&self, archive: &Archive, to: &mut dyn Write) -> Result<(), GitError> {
        let _ = (archive, to);
        Ok(())
    }

    fn contributors(&self, tip: ObjectId) -> Result<Contributors, GitError> {
        let _ = tip;
        Ok(Contributors::default())
    }
}
