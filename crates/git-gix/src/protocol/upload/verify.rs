//! A check of a whole answer, by walks that leave nothing out. As slow as the history is long: it runs in debug builds,
//! and where `HEXFORGE_VERIFY_FETCHES` asks for it.
//!
//! It shares none of the shortcuts of the selection: commits are read from the repository, each history is walked to
//! its end, and every tree of every commit is read. It does share the rule that decides where a history is cut off.

use gix::ObjectId;
use gix::hashtable::{HashMap, HashSet};
use hexforge_domain::ports::git::GitError;

use super::depth::Ends;
use super::filter::Filter;
use super::objects::Roots;
use super::request::Request;
use crate::content::tree::entries::{self, Entry};
use crate::error::failed;

/// What the client has for sure: all that its commits lead to, up to where its history is cut off.
pub(super) struct ClientObjects(HashSet<ObjectId>);

impl ClientObjects {
    /// Walks through all that the client says to have.
    pub(super) fn find(repo: &gix::Repository, request: &Request) -> Result<Self, GitError> {
        let tips = request.common.iter().chain(&request.shallow).copied().collect();
        // What no ref leads to any more may be gone here.
        let mut all = Reached { tolerant: true, ..Reached::new(Filter::All) };
        for commit in history(repo, tips, &request.shallow)? {
            all.ids.insert(commit);
            if repo.has_object(commit) {
                all.tree(repo, entries::tree_of(repo, commit)?)?;
            }
        }
        Ok(Self(all.ids))
    }

    /// # Errors
    /// The client cannot be relied on to have this object.
    pub(super) fn check_base(&self, base: ObjectId) -> Result<(), GitError> {
        if self.0.contains(&base) {
            return Ok(());
        }
        Err(GitError::Failed(format!("delta base {base} may not be with the client")))
    }

    /// Checks that all is sent that the client needs, and nothing that it did not ask for.
    /// # Errors
    /// Names an object that is missing, or that was not asked for.
    pub(super) fn check_sent(
        &self,
        repo: &gix::Repository,
        request: &Request,
        ends: &Ends,
        sent: &HashSet<ObjectId>,
    ) -> Result<(), GitError> {
        let mut roots = Roots::of(repo, &request.wants)?;
        roots.commits.extend(&ends.wants);
        let commits = history(repo, roots.commits.clone(), &ends.all)?;
        let mut needed = Reached::new(request.filter);
        let mut allowed = Reached::new(Filter::All);
        for commit in commits {
            needed.ids.insert(commit);
            let tree = entries::tree_of(repo, commit)?;
            needed.tree(repo, tree)?;
            allowed.tree(repo, tree)?;
        }
        for &tree in &roots.trees {
            needed.wanted_tree(repo, tree)?;
            allowed.tree(repo, tree)?;
        }
        needed.ids.extend(roots.tags.iter().chain(&roots.blobs));
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
fn history(
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

/// Objects that trees lead to.
struct Reached {
    filter: Filter,
    ids: HashSet<ObjectId>,
    /// The least depth of the entries of each tree.
    depths: HashMap<ObjectId, u64>,
    /// Whether trees may be missing.
    tolerant: bool,
}

impl Reached {
    fn new(filter: Filter) -> Self {
        Self { filter, ids: HashSet::default(), depths: HashMap::default(), tolerant: false }
    }

    /// Adds the tree of a commit with all that is below it and passes the filter.
    fn tree(&mut self, repo: &gix::Repository, root: ObjectId) -> Result<(), GitError> {
        if self.filter == Filter::Depth(0) {
            return Ok(());
        }
        self.walk(repo, root, 1)
    }

    /// Adds a tree that was asked for, in any case, and what is below it and passes the filter.
    fn wanted_tree(&mut self, repo: &gix::Repository, root: ObjectId) -> Result<(), GitError> {
        self.walk(repo, root, 0)
    }

    /// Adds a tree whose entries are so deep.
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
