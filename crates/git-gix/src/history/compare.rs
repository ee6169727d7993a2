//! Compares two commits.

use std::cmp::Reverse;
use std::time::Duration;

use gix::ObjectId;
use gix::hashtable::HashSet;
use gix::objs::Find;
use hexforge_domain::commit::{Commit, Signature};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::push::truncated_for_event;
use hexforge_domain::repository::Comparison;

use crate::content::commit;
use crate::error::failed;
use crate::protocol::limits::StopSignal;

pub(crate) use containing::{first_containing, tips_containing};
pub(crate) use effort::{Effort, Limits};
pub(crate) use files::{changed_line, changed_paths, commit_diff, commit_stats, rename_source};

mod ancestry;
mod containing;
pub(crate) mod content;
pub(crate) mod distance;
mod effort;
mod files;
mod order;
mod quote;
pub(crate) mod renames;
mod similarity;
#[cfg(test)]
mod tests;
mod unified;
mod walk;

pub(crate) use ancestry::AncestorCache;

/// The size of the object cache in bytes. Walks read most commits twice, and the two sides of a comparison share most
/// trees.
const OBJECT_CACHE: usize = 32 << 20;

/// The limits of a comparison that a client requested.
pub(crate) const REQUEST_LIMITS: Limits = Limits {
    time: Duration::from_secs(30),
    reading: 512 << 20,
    showing: 32 << 20,
    changes: 200_000,
};

/// The limits for the description of a push in events and hooks, which is made while the client waits.
pub(crate) const PUSH_LIMITS: Limits =
    Limits { time: Duration::from_secs(20), reading: 64 << 20, showing: 4 << 20, changes: 20_000 };

/// Compares two commits: the commits that are reachable from `to` and not from `from`, and the diffs from their merge
/// base to `to`. When a limit is reached, the oldest commits, the last diffs and some renames are missing, and
/// `overflow` is set.
pub(crate) fn compare(
    repo: &gix::Repository,
    from: ObjectId,
    to: ObjectId,
    effort: &Effort,
) -> Result<Comparison, GitError> {
    require_commits(repo, &[from, to])?;
    if from == to {
        return Ok(Comparison::default());
    }
    let repo = &with_object_cache(repo);
    let Some(found) = walk::visible_commits(repo, &[from], to, effort)? else {
        return Ok(Comparison { overflow: true, ..Comparison::default() });
    };
    let commits = order::oldest_first(&found);
    if commits.is_empty() {
        // `to` is an ancestor of `from`, so the merge base is `to` itself.
        return Ok(Comparison::default());
    }
    let commits = read_until_limit(repo, &commits, effort)?;
    let diffs = files::file_diffs(repo, merge_base(repo, from, to)?, to, effort)?;
    let mut comparison = Comparison::new(commits, diffs);
    comparison.overflow |= effort.is_spent();
    Ok(comparison)
}

/// Compares the files of two commits themselves. Without a base, all files are new. When a limit is reached, the last
/// diffs and some renames are missing, and `overflow` is set.
pub(crate) fn tree_changes(
    repo: &gix::Repository,
    base: Option<ObjectId>,
    to: ObjectId,
    effort: &Effort,
) -> Result<Comparison, GitError> {
    for commit in base.into_iter().chain([to]) {
        require_commits(repo, &[commit])?;
    }
    let diffs = files::file_diffs(&with_object_cache(repo), base, to, effort)?;
    let mut comparison = Comparison::new(vec![], diffs);
    comparison.overflow |= effort.is_spent();
    Ok(comparison)
}

/// Returns the number of commits that are reachable from `to` and from none of `hidden`, and the newest `limit` of
/// them, oldest first. Messages and names are truncated for events. Commits in `hidden` that do not exist are ignored.
pub(crate) fn commits_between(
    repo: &gix::Repository,
    ancestry: &AncestorCache,
    hidden: &[ObjectId],
    to: ObjectId,
    limit: usize,
    effort: &Effort,
) -> Result<(u64, Vec<Commit>), GitError> {
    require_commits(repo, &[to])?;
    let repo = &with_object_cache(repo);
    let found = match ancestry.ancestors_of(repo, hidden)? {
        Some(known) => ancestry::commits_outside(repo, &known, to, usize::MAX)?,
        None => walk::visible_commits(repo, hidden, to, effort)?.ok_or(GitError::TooLarge)?,
    };
    let commits = order::oldest_first(&found);
    let newest = &commits[commits.len().saturating_sub(limit)..];
    Ok((commits.len() as u64, read_newest(repo, newest)?))
}

/// Returns the newest `limit` commits that are reachable from `head` and not from `start`, newest first.
/// # Errors
/// [`GitError::TooLarge`] when a limit of the effort is reached.
pub(crate) fn commits_not_in(
    repo: &gix::Repository,
    start: ObjectId,
    head: ObjectId,
    limit: usize,
    effort: &Effort,
) -> Result<Vec<Commit>, GitError> {
    require_commits(repo, &[start, head])?;
    let repo = &with_object_cache(repo);
    let found = walk::visible_commits(repo, &[start], head, effort)?.ok_or(GitError::TooLarge)?;
    let ids = order::oldest_first(&found);
    let newest = &ids[ids.len().saturating_sub(limit)..];
    let mut commits = read_until_limit(repo, newest, effort)?;
    if effort.is_spent() {
        return Err(GitError::TooLarge);
    }
    commits.reverse();
    Ok(commits)
}

/// Returns the ids of the commits that are reachable from `to` and not from `from`.
/// # Errors
/// [`GitError::TooLarge`] when the time is up.
pub(crate) fn commit_ids_between(
    repo: &gix::Repository,
    from: ObjectId,
    to: ObjectId,
    effort: &Effort,
) -> Result<HashSet<ObjectId>, GitError> {
    require_commits(repo, &[from, to])?;
    let repo = &with_object_cache(repo);
    let found = walk::visible_commits(repo, &[from], to, effort)?.ok_or(GitError::TooLarge)?;
    Ok(found.into_iter().map(|commit| commit.id).collect())
}

/// Returns the newest of the best common ancestors.
pub(crate) fn find_merge_base(
    repo: &gix::Repository,
    one: ObjectId,
    two: ObjectId,
) -> Result<Option<ObjectId>, GitError> {
    require_commits(repo, &[one, two])?;
    merge_base(&with_object_cache(repo), one, two)
}

/// Returns whether `ancestor` is reachable from `descendant`.
pub(crate) fn is_ancestor(
    repo: &gix::Repository,
    ancestor: ObjectId,
    descendant: ObjectId,
) -> Result<bool, GitError> {
    require_commits(repo, &[ancestor, descendant])?;
    let repo = with_object_cache(repo);
    is_merge_base(&repo, &repo.objects, ancestor, descendant)
}

/// Like [`is_ancestor`], but fails once the deadline of `stop` has passed or the client has disconnected.
pub(crate) fn is_ancestor_until(
    stop: &StopSignal,
    repo: &gix::Repository,
    ancestor: ObjectId,
    descendant: ObjectId,
) -> Result<bool, GitError> {
    require_commits(repo, &[ancestor, descendant])?;
    let repo = with_object_cache(repo);
    let objects = Stoppable { objects: &repo.objects, stop };
    is_merge_base(&repo, objects, ancestor, descendant)
}

fn is_merge_base(
    repo: &gix::Repository,
    objects: impl Find,
    ancestor: ObjectId,
    descendant: ObjectId,
) -> Result<bool, GitError> {
    // An unreadable commit-graph is ignored: it only speeds up the walk.
    let commit_graph = repo.commit_graph_if_enabled().unwrap_or_default();
    let mut graph = gix::revwalk::Graph::new(objects, commit_graph.as_ref());
    let bases = repo.merge_bases_many_with_graph(ancestor, &[descendant], &mut graph);
    Ok(bases.map_err(failed)?.iter().any(|base| *base == ancestor))
}

/// An object database whose reads fail once the deadline of `stop` has passed or the client has disconnected.
struct Stoppable<'a, F> {
    objects: &'a F,
    stop: &'a StopSignal,
}

impl<F: Find> Find for Stoppable<'_, F> {
    fn try_find<'a>(
        &self,
        id: &gix::oid,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Option<gix::objs::Data<'a>>, gix::Error> {
        if self.stop.check().is_err() {
            let ended = std::io::Error::from(std::io::ErrorKind::TimedOut);
            return Err(gix::Error::from_error(ended));
        }
        self.objects.try_find(id, buffer)
    }
}

/// The newest of the best common ancestors.
fn merge_base(
    repo: &gix::Repository,
    one: ObjectId,
    two: ObjectId,
) -> Result<Option<ObjectId>, GitError> {
    Ok(best_merge_bases(repo, one, two, MOST_BASES)?.0.first().copied())
}

/// The common ancestors that are not ancestors of another common ancestor, newest first, and whether these are all.
/// At most `most` of the newest common ancestors are compared with each other.
pub(crate) fn best_merge_bases(
    repo: &gix::Repository,
    one: ObjectId,
    two: ObjectId,
    most: usize,
) -> Result<(Vec<ObjectId>, bool), GitError> {
    // An unreadable commit-graph is ignored: it only speeds up the walk.
    let commit_graph = repo.commit_graph_if_enabled().unwrap_or_default();
    let mut graph = repo.revision_graph(commit_graph.as_ref());
    let found = repo.merge_bases_many_with_graph(one, &[two], &mut graph).map_err(failed)?;
    let mut bases: Vec<ObjectId> = found.iter().map(|base| base.detach()).collect();
    bases.sort_by_key(|base| Reverse(graph.get(base).map(|commit| commit.commit_time)));
    let are_all = bases.len() <= most;
    if bases.len() < 2 {
        return Ok((bases, are_all));
    }
    // Where commit dates are wrong, gix also returns ancestors of other bases, because it follows only the first parent
    // of a merge. Such bases are skipped.
    bases.truncate(most);
    let mut best = Vec::new();
    for &base in &bases {
        let others: Vec<ObjectId> = bases.iter().copied().filter(|other| *other != base).collect();
        let common = repo.merge_bases_many_with_graph(base, &others, &mut graph).map_err(failed)?;
        if common.iter().all(|common| *common != base) {
            best.push(base);
        }
    }
    Ok((if best.is_empty() { bases } else { best }, are_all))
}

/// The maximum number of bases that are checked. Real histories have two or three.
const MOST_BASES: usize = 16;

/// Reads commits from the newest backwards until a limit is reached. `ids` and the result are oldest first.
fn read_until_limit(
    repo: &gix::Repository,
    ids: &[ObjectId],
    effort: &Effort,
) -> Result<Vec<Commit>, GitError> {
    let mut commits = Vec::new();
    for &id in ids.iter().rev() {
        let commit = commit::read(repo, id)?;
        let names = commit.author.name.len() + commit.committer.name.len();
        let size = commit.message.len() + names + COMMIT_HEADER;
        if !effort.may_show(size) || !effort.has_time() {
            break;
        }
        commits.push(commit);
    }
    commits.reverse();
    Ok(commits)
}

/// The approximate size of a commit without its message and names.
const COMMIT_HEADER: usize = 300;

fn truncate_texts(commit: Commit) -> Commit {
    let signature = |of: Signature| Signature {
        name: truncated_for_event(of.name),
        email: truncated_for_event(of.email),
        ..of
    };
    Commit {
        message: truncated_for_event(commit.message),
        author: signature(commit.author),
        committer: signature(commit.committer),
        ..commit
    }
}

/// The maximum total length of messages in memory.
const MOST_MESSAGE_BYTES: usize = 64 << 20;

/// Reads the last of these commits, until their messages exceed [`MOST_MESSAGE_BYTES`].
fn read_newest(repo: &gix::Repository, ids: &[ObjectId]) -> Result<Vec<Commit>, GitError> {
    let (mut commits, mut held) = (Vec::with_capacity(ids.len()), 0);
    for &id in ids.iter().rev() {
        let commit = truncate_texts(commit::read(repo, id)?);
        held += commit.message.len();
        commits.push(commit);
        if held > MOST_MESSAGE_BYTES {
            break;
        }
    }
    commits.reverse();
    Ok(commits)
}

pub(crate) fn require_commits(
    repo: &gix::Repository,
    commits: &[ObjectId],
) -> Result<(), GitError> {
    for &id in commits {
        match repo.try_find_header(id).map_err(failed)? {
            Some(header) if header.kind() == gix::object::Kind::Commit => {}
            Some(_) | None => return Err(GitError::Missing),
        }
    }
    Ok(())
}

pub(crate) fn with_object_cache(repo: &gix::Repository) -> gix::Repository {
    let mut repo = repo.clone();
    repo.object_cache_size_if_unset(OBJECT_CACHE);
    repo
}
