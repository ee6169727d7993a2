//! Whether what is asked for can be had: only what some ref leads to.

use std::collections::BinaryHeap;

use gix::ObjectId;
use gix::hashtable::HashSet;
use gix::object::Kind;
use gix::revwalk::graph;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::objects::{self, Entry};
use super::refs::Listing;
use crate::error::failed;

/// Refuses objects that are not reachable from a ref, as if they did not exist.
pub(super) fn check(
    source: &Source,
    listing: &Listing,
    wants: &[ObjectId],
) -> Result<(), GitError> {
    let tips: HashSet<ObjectId> = listing.all().map(|one| one.target).collect();
    // An id that does not exist needs no walk.
    for want in wants.iter().filter(|want| !tips.contains(*want)) {
        if source.kind(*want)?.is_none() {
            return Err(not_ours(*want));
        }
    }
    let unreachable = unreachable(source, listing, wants.iter().copied())?;
    // The order is that of the client, so that the same request has the same answer.
    match wants.iter().find(|want| unreachable.contains(*want)) {
        Some(want) => Err(not_ours(*want)),
        None => Ok(()),
    }
}

/// Returns those of these objects that are not reachable from a ref.
pub(super) fn unreachable(
    source: &Source,
    listing: &Listing,
    ids: impl Iterator<Item = ObjectId>,
) -> Result<HashSet<ObjectId>, GitError> {
    let tips: HashSet<ObjectId> = listing.all().map(|one| one.target).collect();
    let mut open: HashSet<ObjectId> = ids.filter(|id| !tips.contains(id)).collect();
    if open.is_empty() {
        return Ok(open);
    }
    let mut others = false;
    for &id in &open {
        others |= matches!(source.kind(id)?, Some(Kind::Tree | Kind::Blob));
    }
    let repo = source.repo()?;
    let mut commits = Vec::new();
    let mut search = Search { repo, open: &mut open, seen: HashSet::default() };
    for &tip in &tips {
        search.peel(tip, &mut commits)?;
    }
    search.history(&commits, others)?;
    Ok(open)
}

fn not_ours(id: ObjectId) -> GitError {
    GitError::Protocol(format!("not our ref {id}"))
}

struct Search<'a> {
    repo: &'a gix::Repository,
    open: &'a mut HashSet<ObjectId>,
    seen: HashSet<ObjectId>,
}

impl Search<'_> {
    /// Follows tags from a ref to what they are about.
    fn peel(&mut self, tip: ObjectId, commits: &mut Vec<ObjectId>) -> Result<(), GitError> {
        let mut at = tip;
        loop {
            self.open.remove(&at);
            // A ref that leads nowhere leads to nothing that is asked for.
            let Some(header) = self.repo.try_find_header(at).map_err(failed)? else {
                return Ok(());
            };
            match header.kind() {
                Kind::Commit => {
                    commits.push(at);
                    return Ok(());
                }
                Kind::Tag => {
                    let tag = self.repo.find_tag(at).map_err(failed)?;
                    at = tag.target_id().map_err(failed)?.detach();
                }
                Kind::Tree => return self.tree(at),
                Kind::Blob => return Ok(()),
            }
        }
    }

    /// Looks at commits, newest first, and at what is in them if anything but commits is asked for.
    fn history(&mut self, tips: &[ObjectId], with_trees: bool) -> Result<(), GitError> {
        let commit_graph = self.repo.commit_graph_if_enabled().unwrap_or_default();
        let mut graph: gix::revwalk::Graph<'_, '_, graph::Commit<()>> =
            self.repo.revision_graph(commit_graph.as_ref());
        let mut queue = BinaryHeap::new();
        let mut reached = HashSet::default();
        let mut next = tips.to_vec();
        loop {
            for id in next.drain(..) {
                if reached.insert(id)
                    && let Some(commit) =
                        graph.get_or_insert_full_commit(id, |_| {}).map_err(failed)?
                {
                    let generation = commit.generation.unwrap_or(graph::Generation::MAX);
                    queue.push(((generation, commit.commit_time), id));
                }
            }
            let Some((_, id)) = queue.pop() else { return Ok(()) };
            self.open.remove(&id);
            if with_trees && !self.open.is_empty() {
                self.tree(objects::tree_of(self.repo, id)?)?;
            }
            if self.open.is_empty() {
                return Ok(());
            }
            next.extend(graph.get(&id).into_iter().flat_map(|commit| commit.parents.iter()));
        }
    }

    fn tree(&mut self, root: ObjectId) -> Result<(), GitError> {
        let mut stack = vec![root];
        let mut buffer = Vec::new();
        while let Some(tree) = stack.pop() {
            if !self.seen.insert(tree) {
                continue;
            }
            self.open.remove(&tree);
            objects::entries(self.repo, tree, &mut buffer, |entry| {
                match entry {
                    Entry::Tree(id) => stack.push(id),
                    Entry::Blob(id) => {
                        self.open.remove(&id);
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}
