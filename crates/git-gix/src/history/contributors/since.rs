//! What a history has that an older part of it has not.

use std::collections::BTreeSet;

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::totals::{Author, Totals};
use super::walk::{Step, Walk};

/// The new part of a history.
pub(crate) struct Since {
    /// All new commits.
    pub(crate) commits: HashSet<ObjectId>,
    /// Authors as the new commits, and old ones among them, bring them up. The others follow in the
    /// order of the old history.
    pub(crate) lead: Totals,
}

/// Compares two histories, newest commits first, until they are the same from there on. `None` when `old`
/// is not a part of the history of `new`.
///
/// Nothing in the history of an old commit is younger than it by more than `skew` seconds. Minding that,
/// clocks that were wrong do not make an old commit a new one.
pub(crate) fn since(
    repo: &gix::Repository,
    new: ObjectId,
    old: ObjectId,
    skew: u64,
) -> Result<Option<Since>, GitError> {
    let mut lead = Totals::default();
    let mut new_walk = Walk::new(repo, new)?;
    // What was counted once and belongs to no branch any more may be removed at any time.
    let Ok(mut old_walk) = Walk::new(repo, old) else { return Ok(None) };
    // What only one of the walks has come by, that of the new history by date.
    let mut only_new = BTreeSet::new();
    let mut only_old = HashSet::default();
    let skew = i64::try_from(skew).unwrap_or(i64::MAX);
    loop {
        let oldest_new = only_new.first().map_or(i64::MAX, |(date, _)| *date);
        let settled =
            new_walk.next_date().is_none_or(|date| date.saturating_add(skew) < oldest_new);
        if only_old.is_empty() && settled && new_walk.same_frontier(&old_walk) {
            let commits = only_new.into_iter().map(|(_, id)| id).collect();
            return Ok(Some(Since { commits, lead }));
        }
        if let Some(step) = new_walk.step()? {
            if !only_old.remove(&step.id) {
                only_new.insert((step.header.date, step.id));
            }
            bring_up(&mut lead, step);
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

fn bring_up(lead: &mut Totals, Step { header, .. }: Step) {
    if !header.is_merge() {
        lead.add(Author { email: header.email, name: header.name, ..Author::default() });
    }
}
