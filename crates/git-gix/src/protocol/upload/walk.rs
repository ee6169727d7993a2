//! Walks the history to find the commits that a client wants and lacks.

use std::collections::BinaryHeap;
use std::sync::Arc;

use gix::ObjectId;
use gix::hashtable::{HashMap, HashSet};
use hexforge_domain::ports::git::GitError;

use crate::history::lineage::{Lineage, Lineages};

/// How many more commits are visited once all queued commits are known: wrong clocks can make a
/// commit look older than its parents.
const EXTRA_COMMITS: usize = 16;

/// The most commits found to be known late that are added to the boundary. There are many only if clocks were wrong.
const MOST_TURNED_OUT_KNOWN: usize = 256;

/// The input of a walk: from the wants, excluding everything reachable from the haves.
#[derive(Default)]
pub(super) struct WalkInput<'a> {
    pub(super) wants: &'a [ObjectId],
    pub(super) haves: Vec<ObjectId>,
    /// Commits whose parents are not visited.
    pub(super) ends: Option<&'a HashSet<ObjectId>>,
    /// Commits older than this are left out, with all their ancestors.
    pub(super) since: Option<i64>,
}

/// The result of a walk.
pub(super) struct MissingCommits {
    /// Commits that the client lacks, newest first.
    pub(super) commits: Vec<MissingCommit>,
    /// Commits that the client has: parents of the above, and some that the walk visited before
    /// they turned out to be known.
    pub(super) boundary: Vec<ObjectId>,
}

/// A commit that the client lacks.
pub(super) struct MissingCommit {
    pub(super) id: ObjectId,
    pub(super) parents: Vec<ObjectId>,
}

/// Finds the commits that are reachable from the wants and not from the haves. With wrong clocks,
/// some commits reachable from the haves are found too, which only costs time.
pub(super) fn find_missing_commits(
    repo: &gix::Repository,
    lineages: &Lineages,
    input: WalkInput<'_>,
) -> Result<MissingCommits, GitError> {
    let mut walk = Walk {
        repo,
        lineages,
        buffer: Vec::new(),
        met: HashMap::default(),
        queue: BinaryHeap::new(),
        queued_wanted: 0,
        visited: Vec::new(),
        ends: input.ends,
        since: input.since,
    };
    for &id in input.wants {
        walk.reach(id, false)?;
    }
    for id in input.haves {
        walk.reach(id, true)?;
    }
    walk.run()?;
    Ok(walk.into_missing())
}

/// Whether each wanted commit leads to a commit that the client named, or to a parent of one, without passing a commit
/// older than all that the client named. This is git's rule. A wanted commit that leads only to older commits of the
/// client does not count: the client may still name newer ones, which save more.
pub(super) fn all_lead_to_named(
    repo: &gix::Repository,
    lineages: &Lineages,
    wants: &[ObjectId],
    named: &HashSet<ObjectId>,
    ends: &HashSet<ObjectId>,
) -> Result<bool, GitError> {
    let mut buffer = Vec::new();
    let mut targets = named.clone();
    let mut oldest = i64::MAX;
    for &id in named {
        let Some(lineage) = lineages.read(repo, id, &mut buffer)? else { continue };
        oldest = oldest.min(lineage.time);
        if !ends.contains(&id) {
            targets.extend(&lineage.parents);
        }
    }
    // Older commits first: a newer one may lead to a target through them, however old they are.
    let mut wants = wants.to_vec();
    let mut times: HashMap<ObjectId, i64> = HashMap::default();
    for &want in &wants {
        let Some(lineage) = lineages.read(repo, want, &mut buffer)? else { return Ok(false) };
        times.insert(want, lineage.time);
    }
    wants.sort_by_key(|want| times.get(want).copied());
    // For each visited commit: whether it leads to a target, as far as its parents were visited.
    let mut passed: HashMap<ObjectId, bool> = HashMap::default();
    for want in wants {
        let mut path = vec![(want, 0)];
        while let Some((id, at)) = path.last_mut() {
            let id = *id;
            let mut leads = *passed.entry(id).or_insert_with(|| targets.contains(&id));
            if !leads && !ends.contains(&id) {
                let Some(lineage) = lineages.read(repo, id, &mut buffer)? else { return Ok(false) };
                if let Some(&parent) = lineage.parents.get(*at) {
                    *at += 1;
                    match passed.get(&parent) {
                        Some(&parent_leads) => leads = parent_leads,
                        None if targets.contains(&parent) => leads = true,
                        None => {
                            let found = lineages.read(repo, parent, &mut buffer)?;
                            if found.is_some_and(|parent| parent.time >= oldest) {
                                path.push((parent, 0));
                            }
                        }
                    }
                    if !leads {
                        continue;
                    }
                }
            }
            passed.insert(id, leads);
            path.pop();
            if let Some((child, _)) = path.last()
                && leads
            {
                passed.insert(*child, true);
            }
        }
        if !passed.get(&want).is_some_and(|&leads| leads) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A visited or queued commit.
struct WalkedCommit {
    lineage: Arc<Lineage>,
    known: bool,
    queued: bool,
}

struct Walk<'a> {
    repo: &'a gix::Repository,
    lineages: &'a Lineages,
    buffer: Vec<u8>,
    met: HashMap<ObjectId, WalkedCommit>,
    /// Ordered by date, so that children come before their parents unless clocks were wrong.
    queue: BinaryHeap<(i64, ObjectId)>,
    queued_wanted: usize,
    /// Commits that were not known when they were visited.
    visited: Vec<ObjectId>,
    ends: Option<&'a HashSet<ObjectId>>,
    since: Option<i64>,
}

impl Walk<'_> {
    /// Walks until no wanted commit is queued, and no queued commit can show that a wanted one is known.
    fn run(&mut self) -> Result<(), GitError> {
        let mut oldest_wanted: Option<i64> = None;
        let mut extra = EXTRA_COMMITS;
        while let Some((time, id)) = self.queue.pop() {
            let Some(met) = self.met.get_mut(&id) else { continue };
            met.queued = false;
            let known = met.known;
            let lineage = Arc::clone(&met.lineage);
            if !known {
                self.queued_wanted -= 1;
                self.visited.push(id);
                oldest_wanted = Some(oldest_wanted.map_or(time, |oldest| oldest.min(time)));
            } else if self.queued_wanted == 0 {
                if oldest_wanted.is_some_and(|oldest| time >= oldest) {
                    extra = EXTRA_COMMITS;
                } else if extra > 0 {
                    extra -= 1;
                } else if self.mark_newer_parents(id, &lineage)? | self.mark_behind_wrong_dates()? {
                    extra = EXTRA_COMMITS;
                } else {
                    return Ok(());
                }
            }
            if self.is_end(&id) {
                continue;
            }
            for &parent in &lineage.parents {
                self.reach(parent, known)?;
            }
        }
        Ok(())
    }

    /// For each queued known commit, marks the parents that are not older than it as known: in a queue ordered by date,
    /// such a commit is reached too late. Returns whether a parent was marked.
    fn mark_behind_wrong_dates(&mut self) -> Result<bool, GitError> {
        let waiting: Vec<ObjectId> = self.queue.iter().map(|&(_, id)| id).collect();
        let mut found = false;
        for id in waiting {
            let met = self.met.get(&id).filter(|met| met.known);
            let Some(lineage) = met.map(|met| Arc::clone(&met.lineage)) else { continue };
            found |= self.mark_newer_parents(id, &lineage)?;
        }
        Ok(found)
    }

    /// Marks the parents of a known commit that are not older than it as known. Returns whether there was one. A client
    /// whose history ends at the commit lacks its parents.
    fn mark_newer_parents(&mut self, id: ObjectId, commit: &Lineage) -> Result<bool, GitError> {
        if self.is_end(&id) {
            return Ok(false);
        }
        let mut found = false;
        for &parent in &commit.parents {
            if self.met.get(&parent).is_some_and(|met| met.known) {
                continue;
            }
            let lineage = self.lineages.read(self.repo, parent, &mut self.buffer)?;
            if lineage.is_some_and(|parent| parent.time >= commit.time) {
                self.reach(parent, true)?;
                found = true;
            }
        }
        Ok(found)
    }

    fn is_end(&self, id: &ObjectId) -> bool {
        self.ends.is_some_and(|ends| ends.contains(id))
    }

    /// Records that a commit is reachable, and queues it if it is new or has just become known.
    fn reach(&mut self, id: ObjectId, known: bool) -> Result<(), GitError> {
        if let Some(met) = self.met.get_mut(&id) {
            if met.known || !known {
                return Ok(());
            }
            met.known = true;
            if met.queued {
                // The commit counted as wanted until now.
                self.queued_wanted -= 1;
            } else {
                met.queued = true;
                self.queue.push((met.lineage.time, id));
            }
            return Ok(());
        }
        let lineage = self.lineages.read(self.repo, id, &mut self.buffer)?;
        let Some(lineage) = lineage else {
            // A commit that the client has may be missing from the repository; a wanted one may not.
            return if known {
                Ok(())
            } else {
                Err(GitError::Corrupt(format!("the commit {id} is missing")))
            };
        };
        if !known && self.since.is_some_and(|since| lineage.time < since) {
            return Ok(());
        }
        self.queue.push((lineage.time, id));
        self.met.insert(id, WalkedCommit { lineage, known, queued: true });
        self.queued_wanted += usize::from(!known);
        Ok(())
    }

    fn into_missing(self) -> MissingCommits {
        let Self { met, visited, ends, .. } = self;
        let mut once = HashSet::default();
        let mut missing = MissingCommits { commits: Vec::new(), boundary: Vec::new() };
        let mut turned_out_known = Vec::new();
        for id in visited {
            let Some(found) = met.get(&id) else { continue };
            if found.known {
                turned_out_known.push(id);
                continue;
            }
            let is_end = ends.is_some_and(|ends| ends.contains(&id));
            let parents = if is_end { Vec::new() } else { found.lineage.parents.to_vec() };
            for parent in &parents {
                let known = met.get(parent).is_some_and(|parent| parent.known);
                if known && once.insert(*parent) {
                    missing.boundary.push(*parent);
                }
            }
            missing.commits.push(MissingCommit { id, parents });
        }
        turned_out_known.retain(|id| once.insert(*id));
        turned_out_known.truncate(MOST_TURNED_OUT_KNOWN);
        missing.boundary.extend(turned_out_known);
        missing
    }
}
