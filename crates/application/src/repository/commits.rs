//! Reads commits: lists, single commits with their statistics and status, and diffs.

use std::collections::HashMap;
use std::sync::Arc;

use hexforge_domain::Timestamp;
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::id::ProjectId;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::{CommitStats, Comparison, FileDiff, LogQuery};

use super::{Readable, Revision};
use crate::app::App;
use crate::error::{Error, Refusal};
use crate::project::page::ProjectPage;

/// A commit with its statistics and the status of its pipelines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitView {
    /// The commit.
    pub commit: Commit,
    /// The number of changed lines.
    pub stats: CommitStats,
    /// The status of all pipelines of the commit; `None` without any.
    pub status: Option<Status>,
}

/// Which commits of a revision are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitFilter {
    /// Only commits that changed the file or folder at this path.
    pub path: Option<String>,
    /// Only commits whose committer date is this or later.
    pub since: Option<Timestamp>,
    /// Only commits whose committer date is this or earlier.
    pub until: Option<Timestamp>,
    /// The number of commits that are left out at the start.
    pub skip: u64,
    /// The maximum number of commits.
    pub limit: usize,
}

/// Lists the commits of a revision, newest first.
pub fn list(at: &Revision, filter: CommitFilter) -> Result<Vec<Commit>, Error> {
    let CommitFilter { path, since, until, skip, limit } = filter;
    let query = LogQuery { from: at.commit, path, since, until, skip, limit };
    at.repository.log(&query).map_err(too_large)
}

/// Returns the commit of a revision.
pub fn one(at: &Revision) -> Result<Commit, Error> {
    Ok(at.repository.commit(at.commit)?.ok_or(GitError::Missing)?)
}

/// Returns the commit of a revision with its statistics.
pub fn get(at: &Revision, status: Option<Status>) -> Result<CommitView, Error> {
    let commit = at.repository.commit(at.commit)?.ok_or(GitError::Missing)?;
    let stats = at.repository.commit_stats(at.commit)?;
    Ok(CommitView { commit, stats, status })
}

/// Returns the status of the pipelines of a revision.
pub fn status(app: &App, readable: &Readable, at: &Revision) -> Result<Option<Status>, Error> {
    status_of(app, readable.project.id, at.commit)
}

/// Returns the status of all pipelines of a commit.
pub(crate) fn status_of(
    app: &App,
    project: ProjectId,
    commit: ObjectId,
) -> Result<Option<Status>, Error> {
    let pipelines = app.store.read_autocommit(|tx| tx.pipelines().of_commit(project, commit))?;
    let statuses: Vec<Status> = pipelines.iter().map(|pipeline| pipeline.status).collect();
    Ok(Status::of_pipelines(&statuses))
}

/// Returns the statuses of those commits of a project that have pipelines which the actor may see. It takes one query.
pub fn statuses(
    app: &App,
    page: &ProjectPage,
    commits: &[ObjectId],
) -> Result<HashMap<ObjectId, Status>, Error> {
    if commits.is_empty() || !page.may_build(CiAbility::ReadPipelines) {
        return Ok(HashMap::new());
    }
    let project = page.placed.project.id;
    let found = app.store.read_autocommit(|tx| tx.pipelines().of_commits(project, commits))?;
    let mut of_commit: HashMap<ObjectId, Vec<Status>> = HashMap::new();
    for pipeline in found {
        of_commit.entry(pipeline.sha).or_default().push(pipeline.status);
    }
    let status = |(id, all): (ObjectId, Vec<Status>)| Some((id, Status::of_pipelines(&all)?));
    Ok(of_commit.into_iter().filter_map(status).collect())
}

/// Returns the diff of a revision against the first parent of its commit.
pub fn diff(at: &Revision) -> Result<Vec<FileDiff>, Error> {
    Ok(at.repository.commit_diff(at.commit)?)
}

/// Returns all file changes of a revision against the first parent of its commit, for pages. [`diff`] is what the API
/// shows of them.
pub fn changes(at: &Revision) -> Result<Arc<Comparison>, Error> {
    let commit = at.repository.commit(at.commit)?.ok_or(GitError::Missing)?;
    Ok(at.repository.tree_changes(commit.parents.first().copied(), at.commit)?)
}

/// Maps the error of a walk that takes too long.
pub(super) fn too_large(error: GitError) -> Error {
    match error {
        GitError::TooLarge => Error::Refused(Refusal::LargeHistory),
        error => error.into(),
    }
}
