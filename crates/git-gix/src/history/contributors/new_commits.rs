//! Finds the new commits of a history that has grown.

use std::collections::BTreeSet;

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::totals::{Author, Totals};
use super::walk::{Step, Walk};

/// The new part of a history.
pub(crate) struct NewCommits {
    /// All new commits.
    pub(crate) commits: HashSet<ObjectId>,
    /// The authors of the commits visited, in the order of the new history and with zero counts. All other authors
    /// follow in the order of the old history.
    pub(crate) first_authors: Totals,
}

/// Walks both histories, newest commits first, until the rest of both is the same. Returns `None` when `old` is not an
/// ancestor of `new`.
///
/// In the old history, no ancestor is newer than its descendant by more than `skew` seconds. So the walk continues
/// until it is `skew` seconds past the oldest new commit: otherwise wrong clocks could make an old commit look new.
pub(crate) fn find_new_commits(
    repo: &gix::Repository,
    new: ObjectId,
    old: ObjectId,
    skew: u64,
) -> Result<Option<NewCommits>, GitError> {
    let mut first_authors = Totals::default();
    let mut new_walk = Walk::new(repo, new)?;
    // The old tip may be on no branch any more, so its objects may have been removed.
    let Ok(mut old_walk) = Walk::new(repo, old) else { return Ok(None) };
    // Commits that only one of the walks has visited so far. Those of the new history are sorted by date.
    let mut only_new = BTreeSet::new();
    let mut only_old = HashSet::default();
    let skew = i64::try_from(skew).unwrap_or(i64::MAX);
    loop {
        let oldest_new = only_new.first().map_or(i64::MAX, |(date, _)| *date);
        let settled =
            new_walk.next_date().is_none_or(|date| date.saturating_add(skew) < oldest_new);
        if only_old.is_empty() && settled && new_walk.same_frontier(&old_walk) {
            let commits = only_new.into_iter().map(|(_, id)| id).collect();
            return Ok(Some(NewCommits { commits, first_authors }));
        }
        if let Some(step) = new_walk.step()? {
            if !only_old.remove(&step.id) {
                only_new.insert((step.header.date, step.id));
            }
            add_author(&mut first_authors, step);
        }
        while old_walk.next_date().is_some() && old_walk.next_date() > new_walk.next_date() {
            let Ok(Some(step)) = old_walk.step() else { return Ok(None) };
            if !only_new.remove(&(step.header.date, step.id)) {
                only_old.insert(step.id);
            }
        }
        if new_walk.next_date().is_none() && !only_old.is_empty() {
            return Ok(None);
        }
    }
}

fn add_author(first_authors: &mut Totals, Step { header, .. }: Step) {
    if !header.is_merge() {
        first_authors.add(Author { email: header.email, name: header.name, ..Author::default() });
    }
}
