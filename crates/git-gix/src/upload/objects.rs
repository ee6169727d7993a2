//! All objects that belong to what is sent.

use gix::ObjectId;
use gix::hashtable::{HashMap, HashSet};
use gix::object::Kind;
use gix::objs::{Find, TreeRefIter};
use hexforge_domain::ports::git::GitError;

use super::filter::Filter;
use super::output::Output;
use super::refs::Listing;
use super::walk::Region;
use crate::error::failed;

/// What is in a folder. Submodules are elsewhere.
pub(super) enum Entry {
    Tree(ObjectId),
    Blob(ObjectId),
}

/// The folder of a commit.
pub(super) fn tree_of(repo: &gix::Repository, commit: ObjectId) -> Result<ObjectId, GitError> {
    let commit = repo.find_commit(commit).map_err(failed)?;
    Ok(commit.tree_id().map_err(failed)?.detach())
}

/// Looks at all that is in a folder.
pub(super) fn entries(
    repo: &gix::Repository,
    tree: ObjectId,
    buffer: &mut Vec<u8>,
    mut each: impl FnMut(Entry) -> Result<(), GitError>,
) -> Result<(), GitError> {
    let found = repo.objects.try_find(&tree, buffer).map_err(failed)?;
    let data = found
        .filter(|object| object.kind == Kind::Tree)
        .ok_or_else(|| GitError::Corrupt(format!("no tree {tree}")))?
        .data;
    for entry in TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1) {
        let entry = entry.map_err(|_| GitError::Corrupt(format!("the tree {tree}")))?;
        if entry.mode.is_tree() {
            each(Entry::Tree(entry.oid.to_owned()))?;
        } else if !entry.mode.is_commit() {
            each(Entry::Blob(entry.oid.to_owned()))?;
        }
    }
    Ok(())
}

/// Where the objects start.
#[derive(Default)]
pub(super) struct Roots {
    pub(super) commits: Vec<ObjectId>,
    pub(super) tags: Vec<ObjectId>,
    /// What is sent whatever the client has, and whatever it leaves out.
    pub(super) trees: Vec<ObjectId>,
    pub(super) blobs: Vec<ObjectId>,
}

impl Roots {
    /// Follows tags to what they are about.
    pub(super) fn of(repo: &gix::Repository, wants: &[ObjectId]) -> Result<Self, GitError> {
        let mut roots = Self::default();
        for &want in wants {
            let mut at = want;
            loop {
                let header = repo.find_header(at).map_err(failed)?;
                match header.kind() {
                    Kind::Commit => roots.commits.push(at),
                    Kind::Tree => roots.trees.push(at),
                    Kind::Blob => roots.blobs.push(at),
                    Kind::Tag => {
                        roots.tags.push(at);
                        let tag = repo.find_tag(at).map_err(failed)?;
                        at = tag.target_id().map_err(failed)?.detach();
                        continue;
                    }
                }
                break;
            }
        }
        Ok(roots)
    }
}

/// What is to be sent.
#[derive(Default)]
pub(super) struct Selection {
    pub(super) ids: Vec<ObjectId>,
    sent: HashSet<ObjectId>,
    pub(super) had: Had,
    depths: HashMap<ObjectId, u64>,
}

/// Some of what the client has.
#[derive(Default)]
pub(super) struct Had {
    /// Bases of deltas can be in it.
    pub(super) known: HashSet<ObjectId>,
    /// What stood before in the place of something that is sent. It is known, or sent too.
    before: HashMap<ObjectId, ObjectId>,
}

/// So many versions are gone back to find one that the client has.
const VERSIONS: usize = 1000;

impl Had {
    /// The last version of an object that the client has.
    pub(super) fn version_of(&self, id: ObjectId) -> Option<ObjectId> {
        let versions = std::iter::successors(Some(id), |id| self.before.get(id).copied());
        versions.skip(1).take(VERSIONS).find(|version| self.known.contains(version))
    }
}

impl Selection {
    /// What is sent, and some of what the client has.
    pub(super) fn end(mut self) -> (Vec<ObjectId>, Had) {
        let known = self.had.before.values().filter(|id| !self.sent.contains(*id));
        self.had.known.extend(known.copied());
        (self.ids, self.had)
    }
}

/// Collects objects.
pub(super) struct Collector<'a, 'to> {
    pub(super) repo: &'a gix::Repository,
    pub(super) filter: Filter,
    pub(super) output: &'a mut Output<'to>,
    pub(super) selection: Selection,
}

impl Collector<'_, '_> {
    /// All that belongs to these commits and roots. Of the commits that the client has, those are given whose
    /// children are not among these.
    pub(super) fn collect(
        &mut self,
        region: &Region,
        roots: &Roots,
        had: &[ObjectId],
    ) -> Result<(), GitError> {
        // A client that leaves out folders has not all of what it has commits of.
        let by_depth = matches!(self.filter, Filter::Depth(_));
        if !by_depth {
            for &commit in had {
                self.know(commit)?;
            }
        }
        for found in &region.commits {
            self.add(found.id);
        }
        for &id in roots.tags.iter().chain(&roots.blobs) {
            self.add(id);
        }
        for &tree in &roots.trees {
            self.tree(tree, true)?;
        }
        if self.filter == Filter::Depth(0) {
            return Ok(());
        }
        let mut trees = HashMap::default();
        for found in &region.commits {
            let tree = self.tree_of(&mut trees, found.id)?;
            if by_depth {
                self.tree(tree, false)?;
                continue;
            }
            let before = found.parents.iter().map(|&parent| self.tree_of(&mut trees, parent));
            let before = before.collect::<Result<Vec<_>, _>>()?;
            self.changed(tree, before)?;
        }
        Ok(())
    }

    fn tree_of(
        &self,
        known: &mut HashMap<ObjectId, ObjectId>,
        commit: ObjectId,
    ) -> Result<ObjectId, GitError> {
        if let Some(tree) = known.get(&commit) {
            return Ok(*tree);
        }
        let tree = tree_of(self.repo, commit)?;
        known.insert(commit, tree);
        Ok(tree)
    }

    /// Annotated tags of what is sent.
    pub(super) fn tags(&mut self, listing: &Listing) -> Result<(), GitError> {
        for one in &listing.refs {
            let Some(peeled) = one.peeled(self.repo) else { continue };
            if self.selection.sent.contains(&peeled) {
                for tag in Roots::of(self.repo, &[one.target])?.tags {
                    self.add(tag);
                }
            }
        }
        Ok(())
    }

    /// Whether the client is known to have it.
    pub(super) fn has(&self, id: ObjectId) -> bool {
        self.selection.had.known.contains(&id)
    }

    /// Notes what stood before in the place of something.
    pub(super) fn replaces(&mut self, id: ObjectId, before: ObjectId) {
        self.selection.had.before.entry(id).or_insert(before);
    }

    pub(super) fn tick(&mut self) -> Result<(), GitError> {
        let count = self.selection.ids.len();
        self.output.tick(|| format!("Enumerating objects: {count}\r"))
    }

    pub(super) fn add(&mut self, id: ObjectId) -> bool {
        let new = self.selection.sent.insert(id);
        if new {
            self.selection.ids.push(id);
        }
        new
    }

    /// Notes a commit that the client has, with all that is in it.
    fn know(&mut self, commit: ObjectId) -> Result<(), GitError> {
        let known = &mut self.selection.had.known;
        known.insert(commit);
        let mut stack = vec![tree_of(self.repo, commit)?];
        let mut buffer = Vec::new();
        while let Some(tree) = stack.pop() {
            if !known.insert(tree) {
                continue;
            }
            entries(self.repo, tree, &mut buffer, |entry| {
                match entry {
                    Entry::Tree(id) => stack.push(id),
                    Entry::Blob(id) => {
                        known.insert(id);
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    pub(super) fn tree(&mut self, root: ObjectId, asked_for: bool) -> Result<(), GitError> {
        let mut stack = vec![(root, 0)];
        let mut buffer = Vec::new();
        while let Some((tree, depth)) = stack.pop() {
            let asked_for = asked_for && tree == root;
            if !asked_for && self.has(tree) {
                continue;
            }
            let new = self.add(tree);
            if !new && !self.is_less_deep(tree, depth) {
                continue;
            }
            self.note_depth(tree, depth);
            self.tick()?;
            let repo = self.repo;
            entries(repo, tree, &mut buffer, |entry| {
                if let Filter::Depth(limit) = self.filter
                    && depth + 1 >= limit
                {
                    return Ok(());
                }
                match entry {
                    Entry::Tree(id) => stack.push((id, depth + 1)),
                    Entry::Blob(id) => self.blob(id)?,
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Whether a folder that was met before has now more below it that is sent.
    fn is_less_deep(&self, tree: ObjectId, depth: u64) -> bool {
        self.selection.depths.get(&tree).is_some_and(|&before| depth < before)
    }

    fn note_depth(&mut self, tree: ObjectId, depth: u64) {
        if matches!(self.filter, Filter::Depth(_)) {
            self.selection.depths.insert(tree, depth);
        }
    }

    pub(super) fn blob(&mut self, id: ObjectId) -> Result<(), GitError> {
        if self.has(id) || self.selection.sent.contains(&id) {
            return Ok(());
        }
        if let Filter::BlobsBelow(limit) = self.filter
            && (limit == 0 || self.repo.find_header(id).map_err(failed)?.size() >= limit)
        {
            return Ok(());
        }
        self.add(id);
        Ok(())
    }
}
