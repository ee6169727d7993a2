//! Walks commits in the order of `git log`.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use gix::ObjectId;
use gix::hashtable::HashMap;
use gix::objs::Kind;
use hexforge_domain::ports::git::GitError;

use super::header::Header;
use super::read;

/// Walks all commits that are reachable from a tip. The next commit is always the newest one in the frontier; of
/// several with the same date, it is the one seen first. So the order depends only on the tip.
pub(crate) struct Walk<'r> {
    repo: &'r gix::Repository,
    /// Commits with a visited child, the next one on top.
    frontier: BinaryHeap<FrontierCommit>,
    /// The dates of all commits that are or were in the frontier.
    dates: HashMap<ObjectId, i64>,
    buffer: Vec<u8>,
}

/// A commit in the frontier.
struct FrontierCommit {
    date: i64,
    number: Reverse<usize>,
    id: ObjectId,
    header: Header,
}

/// A visited commit.
pub(crate) struct Step {
    pub(crate) id: ObjectId,
    pub(crate) header: Header,
    /// The tree of the first parent, if this step read it.
    pub(crate) parent_tree: Option<ObjectId>,
    /// The number of seconds by which a parent is newer than this commit.
    pub(crate) skew: u64,
}

impl<'r> Walk<'r> {
    pub(crate) fn new(repo: &'r gix::Repository, tip: ObjectId) -> Result<Self, GitError> {
        let mut walk = Self {
            repo,
            frontier: BinaryHeap::new(),
            dates: HashMap::default(),
            buffer: Vec::new(),
        };
        walk.add_to_frontier(tip)?;
        Ok(walk)
    }

    /// Visits the next commit. Returns `None` at the end.
    pub(crate) fn step(&mut self) -> Result<Option<Step>, GitError> {
        let Some(FrontierCommit { date, id, header, .. }) = self.frontier.pop() else {
            return Ok(None);
        };
        let mut parent_tree = None;
        let mut skew = 0;
        for (index, parent) in header.parents.iter().enumerate() {
            let parent_date = match self.dates.get(parent) {
                Some(date) => *date,
                None => {
                    let (date, tree) = self.add_to_frontier(*parent)?;
                    if index == 0 {
                        parent_tree = Some(tree);
                    }
                    date
                }
            };
            skew = skew.max(parent_date.saturating_sub(date).try_into().unwrap_or(0));
        }
        Ok(Some(Step { id, header, parent_tree, skew }))
    }

    /// The date of the next commit.
    pub(crate) fn next_date(&self) -> Option<i64> {
        self.frontier.peek().map(|next| next.date)
    }

    /// Returns whether both frontiers have the same commits in the same order.
    pub(crate) fn same_frontier(&self, other: &Self) -> bool {
        let in_order = |walk: &Self| {
            let mut waiting: Vec<_> = walk
                .frontier
                .iter()
                .map(|commit| (Reverse(commit.date), commit.number.0, commit.id))
                .collect();
            waiting.sort_unstable();
            waiting.into_iter().map(|(_, _, id)| id).collect::<Vec<_>>()
        };
        self.frontier.len() == other.frontier.len()
            && self.frontier.peek().map(|commit| commit.id)
                == other.frontier.peek().map(|commit| commit.id)
            && in_order(self) == in_order(other)
    }

    fn add_to_frontier(&mut self, id: ObjectId) -> Result<(i64, ObjectId), GitError> {
        let commit = read::object(self.repo, id, Kind::Commit, &mut self.buffer)?;
        let header = Header::parse(commit)
            .ok_or_else(|| GitError::Corrupt(format!("the commit {id} cannot be read")))?;
        let (date, tree) = (header.date, header.tree);
        let number = Reverse(self.dates.len());
        self.dates.insert(id, date);
        self.frontier.push(FrontierCommit { date, number, id, header });
        Ok((date, tree))
    }
}

impl Ord for FrontierCommit {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.date, self.number).cmp(&(other.date, other.number))
    }
}

impl PartialOrd for FrontierCommit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for FrontierCommit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for FrontierCommit {}

/// Returns whether `ancestor` is reachable from `tip`.
pub(crate) fn reaches(
    repo: &gix::Repository,
    tip: ObjectId,
    ancestor: ObjectId,
) -> Result<bool, GitError> {
    let mut walk = Walk::new(repo, tip)?;
    while let Some(step) = walk.step()? {
        if step.id == ancestor {
            return Ok(true);
        }
    }
    Ok(false)
}
