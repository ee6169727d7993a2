//! Verifies a complete answer by walks without shortcuts. The time grows with the length of the history, so release
//! builds verify answers only if `HEXFORGE_VERIFY_FETCHES` is set.
//!
//! It shares no shortcut with the selection: commits are read from the repository, each history is walked to its end,
//! and every tree of every commit is read. Only the rule that decides where a shallow history ends is shared.

use gix::ObjectId;
use gix::hashtable::{HashMap, HashSet};
use hexforge_domain::ports::git::GitError;

use super::depth::ShallowBoundary;
use super::filter::Filter;
use super::objects::{Roots, WantedContent};
use super::request::Request;
use crate::content::tree::entries::{self, Entry};
use crate::error::failed;

/// The objects that the client certainly has: everything reachable from its commits, up to its shallow boundary.
pub(super) struct ClientObjects(HashSet<ObjectId>);

impl ClientObjects {
    /// Walks from all commits that the client named.
    pub(super) fn find(repo: &gix::Repository, request: &Request) -> Result<Self, GitError> {
        let tips = request.common.iter().chain(&request.shallow).copied().collect();
        // Objects that are no longer reachable from a ref may have been removed.
        let mut all = Reached { tolerant: true, ..Reached::new(Filter::All) };
        for commit in reachable_commits(repo, tips, &request.shallow)? {
            all.ids.insert(commit);
            if repo.has_object(commit) {
                all.add_root_tree(repo, entries::tree_of(repo, commit)?)?;
            }
        }
        Ok(Self(all.ids))
    }

    /// Checks that a delta base is with the client.
    ///
    /// # Errors
    /// The client may lack this object.
    pub(super) fn check_base(&self, base: ObjectId) -> Result<(), GitError> {
        if self.0.contains(&base) {
            return Ok(());
        }
        Err(GitError::Failed(format!("delta base {base} may not be with the client")))
    }

    /// Checks that every object that the client needs is sent, and no object that it did not ask for.
    ///
    /// # Errors
    /// Names an object that is missing, or that was not asked for.
    pub(super) fn check_sent(
        &self,
        repo: &gix::Repository,
        request: &Request,
        ends: &ShallowBoundary,
        sent: &HashSet<ObjectId>,
    ) -> Result<(), GitError> {
        let mut roots = Roots::of(repo, &request.wants)?;
        roots.commits.extend(&ends.wants);
        let commits = reachable_commits(repo, roots.commits.clone(), &ends.all)?;
        let mut needed = Reached::new(request.filter);
        let mut allowed = Reached::new(Filter::All);
        let mut trees = Vec::new();
        for commit in commits {
            needed.ids.insert(commit);
            trees.push(entries::tree_of(repo, commit)?);
        }
        needed.entries.extend(&trees);
        for content in &roots.contents {
            needed.add_wanted(repo, content)?;
            match content.entry {
                Entry::Tree(tree) => allowed.add_root_tree(repo, tree)?,
                Entry::Blob(blob) => drop(allowed.ids.insert(blob)),
            }
        }
        for tree in trees {
            needed.add_root_tree(repo, tree)?;
            allowed.add_root_tree(repo, tree)?;
        }
        needed.ids.extend(&roots.tags);
        if let Some(missing) =
            needed.ids.iter().find(|id| !sent.contains(*id) && !self.0.contains(*id))
        {
            return Err(GitError::Failed(format!(
                "{missing} is not sent, and the client needs it"
            )));
        }
        allowed.ids.extend(needed.ids);
        for &id in sent.iter().filter(|id| !allowed.ids.contains(*id)) {
            let kind = repo.find_header(id).map_err(failed)?.kind();
            let is_tag = kind == gix::object::Kind::Tag && request.include_tag;
            if !is_tag {
                return Err(GitError::Failed(format!(
                    "the {kind} {id} is sent, though it was not asked for"
                )));
            }
        }
        Ok(())
    }
}

/// The commits reachable from `open`. The walk does not pass commits in `ends`, nor commits that the repository lacks.
fn reachable_commits(
    repo: &gix::Repository,
    mut open: Vec<ObjectId>,
    ends: &HashSet<ObjectId>,
) -> Result<HashSet<ObjectId>, GitError> {
    let mut seen = HashSet::default();
    while let Some(id) = open.pop() {
        if !seen.insert(id) || ends.contains(&id) {
            continue;
        }
        if let Some(object) = repo.try_find_object(id).map_err(failed)? {
            open.extend(object.into_commit().parent_ids().map(gix::Id::detach));
        }
    }
    Ok(seen)
}

/// Collects the objects below trees.
struct Reached {
    filter: Filter,
    ids: HashSet<ObjectId>,
    /// The least depth of the entries of each tree.
    depths: HashMap<ObjectId, u64>,
    /// All entries of the trees. The filter applies to a wanted object only if it is an entry of an earlier tree.
    entries: HashSet<ObjectId>,
    /// Whether trees may be missing.
    tolerant: bool,
}

impl Reached {
    fn new(filter: Filter) -> Self {
        let (ids, depths, entries) = (HashSet::default(), HashMap::default(), HashSet::default());
        Self { filter, ids, depths, entries, tolerant: false }
    }

    /// Adds the root tree of a commit and everything below it that passes the filter.
    fn add_root_tree(&mut self, repo: &gix::Repository, root: ObjectId) -> Result<(), GitError> {
        if self.filter == Filter::Depth(0) {
            return Ok(());
        }
        self.walk(repo, root, 1)
    }

    /// Adds a wanted tree or blob, and everything below it that passes the filter.
    fn add_wanted(
        &mut self,
        repo: &gix::Repository,
        wanted: &WantedContent,
    ) -> Result<(), GitError> {
        let (Entry::Tree(id) | Entry::Blob(id)) = wanted.entry;
        let is_entry = self.entries.contains(&id);
        if wanted.by_id || !is_entry {
            self.ids.insert(id);
        }
        match wanted.entry {
            Entry::Tree(tree) if is_entry => self.add_root_tree(repo, tree),
            Entry::Tree(tree) => self.walk(repo, tree, 0),
            Entry::Blob(blob) => {
                if self.filter != Filter::Depth(0) && self.passes(repo, blob)? {
                    self.ids.insert(blob);
                }
                Ok(())
            }
        }
    }

    /// Adds a tree whose entries have this depth, and walks the trees below it.
    fn walk(&mut self, repo: &gix::Repository, root: ObjectId, depth: u64) -> Result<(), GitError> {
        let mut open = vec![(root, depth)];
        let mut buffer = Vec::new();
        while let Some((tree, depth)) = open.pop() {
            if self.depths.get(&tree).is_some_and(|&before| before <= depth) {
                continue;
            }
            self.depths.insert(tree, depth);
            self.ids.insert(tree);
            if self.tolerant && !repo.has_object(tree) {
                continue;
            }
            entries::entries(repo, tree, &mut buffer, |entry| {
                let below = match self.filter {
                    Filter::Depth(limit) => depth < limit,
                    Filter::All | Filter::BlobsBelow(_) => true,
                };
                let (Entry::Tree(id) | Entry::Blob(id)) = entry;
                self.entries.insert(id);
                match entry {
                    Entry::Tree(id) if below => open.push((id, depth + 1)),
                    Entry::Blob(id) if below && self.passes(repo, id)? => {
                        self.ids.insert(id);
                    }
                    Entry::Tree(_) | Entry::Blob(_) => {}
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn passes(&self, repo: &gix::Repository, blob: ObjectId) -> Result<bool, GitError> {
        match self.filter {
            Filter::All | Filter::Depth(_) => Ok(true),
            Filter::BlobsBelow(0) => Ok(false),
            Filter::BlobsBelow(limit) => Ok(repo.find_header(blob).map_err(failed)?.size() < limit),
        }
    }
}
