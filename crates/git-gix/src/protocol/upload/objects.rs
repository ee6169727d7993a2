//! Selects the trees, blobs and tags that are sent with the commits.

use gix::ObjectId;
use gix::hashtable::{HashMap, HashSet};
use gix::object::Kind;
use hexforge_domain::ports::git::GitError;

use super::filter::Filter;
use super::known::KnownObjects;
use super::output::Output;
use super::refs::Listing;
use super::walk::MissingCommits;
use crate::content::tree::entries::{Entry, entries, entries_in, tree_of};
use crate::error::failed;

/// The objects at which the selection starts.
#[derive(Default)]
pub(super) struct Roots {
    pub(super) commits: Vec<ObjectId>,
    pub(super) tags: Vec<ObjectId>,
    /// In the order of the request.
    pub(super) contents: Vec<WantedContent>,
}

/// A wanted tree or blob. It is sent even if the client has it.
pub(super) struct WantedContent {
    pub(super) entry: Entry,
    /// Whether the client named it by its id, and not a tag of it.
    pub(super) by_id: bool,
}

impl Roots {
    /// Peels tags until a commit, tree or blob is reached.
    pub(super) fn of(repo: &gix::Repository, wants: &[ObjectId]) -> Result<Self, GitError> {
        let mut roots = Self::default();
        for &want in wants {
            let mut at = want;
            loop {
                let header = repo.find_header(at).map_err(failed)?;
                match header.kind() {
                    Kind::Commit => roots.commits.push(at),
                    Kind::Tree => roots.add_content(Entry::Tree(at), at == want),
                    Kind::Blob => roots.add_content(Entry::Blob(at), at == want),
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

    fn add_content(&mut self, entry: Entry, by_id: bool) {
        self.contents.push(WantedContent { entry, by_id });
    }
}

/// Selects the objects that are sent.
///
/// **Why the selection is complete.** The client has every object in `known`, and all objects reachable from it. A
/// tree is added to `sent` only by [`Collector::add_tree`], which then reads all of its entries. Each entry is in
/// `known`, is left out by the filter, or is added in turn. No entry is skipped because another commit has it, so the
/// result does not depend on the order of commits, on their dates or parents, or on how often a tree occurs.
///
/// **Filters and wanted trees.** Git applies a filter to the entries of trees, not to the objects that the client wants.
/// A wanted object that is also the root tree of a sent commit, or an entry of an earlier wanted tree, counts as an
/// entry. The selection does the same, so that it sends what git sends, with one exception: an object that the client
/// names by its id is always sent. Git may leave it out, and then the fetch fails.
pub(super) struct Collector<'a, 'to> {
    repo: &'a gix::Repository,
    filter: Filter,
    output: &'a mut Output<'to>,
    known: KnownObjects,
    ids: Vec<ObjectId>,
    sent: HashSet<ObjectId>,
    /// The least depth of the entries of each tree, recorded only if the filter depends on it.
    depths: HashMap<ObjectId, u64>,
    /// The root trees of sent commits, and all entries of trees that were read, if `notes_entries`.
    entries: HashSet<ObjectId>,
    notes_entries: bool,
}

/// The objects that are sent, and the objects that the client has.
pub(super) struct Selection {
    pub(super) ids: Vec<ObjectId>,
    /// Objects of the client; none of them is sent.
    pub(super) known: KnownObjects,
}

impl<'a, 'to> Collector<'a, 'to> {
    pub(super) fn new(
        repo: &'a gix::Repository,
        filter: Filter,
        output: &'a mut Output<'to>,
    ) -> Self {
        Self {
            repo,
            filter,
            output,
            known: KnownObjects::default(),
            ids: Vec::new(),
            sent: HashSet::default(),
            depths: HashMap::default(),
            entries: HashSet::default(),
            notes_entries: false,
        }
    }

    /// Adds the commits, the roots and everything below them. The client has the commits in `had` with their trees.
    pub(super) fn collect(
        &mut self,
        missing: &MissingCommits,
        roots: &Roots,
        had: &[ObjectId],
    ) -> Result<(), GitError> {
        for found in &missing.commits {
            self.add(found.id);
        }
        for &id in &roots.tags {
            self.add(id);
        }
        let has_filter = self.filter != Filter::All;
        if self.filter == Filter::Depth(0) && roots.contents.is_empty() {
            return Ok(());
        }
        let mut trees = Vec::with_capacity(missing.commits.len());
        for found in &missing.commits {
            trees.push(tree_of(self.repo, found.id)?);
        }
        if !had.is_empty() && self.filter != Filter::Depth(0) {
            let mut known = Vec::with_capacity(had.len());
            for &commit in had {
                known.push(tree_of(self.repo, commit)?);
            }
            let tick = || self.output.keep_alive(|| "Comparing trees\r".to_owned());
            self.known = KnownObjects::compare(self.repo, trees.clone(), known, tick)?;
        }
        if has_filter && !roots.contents.is_empty() {
            self.entries.extend(&trees);
            self.notes_entries = true;
        }
        roots.contents.iter().try_for_each(|content| self.add_content(content))?;
        self.notes_entries = false;
        if self.filter == Filter::Depth(0) {
            return Ok(());
        }
        trees.into_iter().try_for_each(|tree| self.add_tree(tree, 1, false))
    }

    /// Adds a wanted tree or blob.
    fn add_content(&mut self, content: &WantedContent) -> Result<(), GitError> {
        let (Entry::Tree(id) | Entry::Blob(id)) = content.entry;
        let is_entry = self.entries.contains(&id);
        if is_entry && self.filter == Filter::Depth(0) {
            if content.by_id {
                self.add(id);
            }
            return Ok(());
        }
        match content.entry {
            // Like git, the entries of a wanted tree count as deep as the root tree of a commit.
            Entry::Tree(tree) => self.add_tree(tree, u64::from(is_entry), true)?,
            Entry::Blob(blob) if is_entry && !content.by_id => self.add_blob(blob)?,
            Entry::Blob(blob) => {
                self.add(blob);
            }
        }
        Ok(())
    }

    /// Adds the annotated tags that point to sent objects.
    pub(super) fn add_tags_of_sent(&mut self, listing: &Listing) -> Result<(), GitError> {
        for one in listing.refs() {
            let Some(peeled) = one.peeled else { continue };
            if self.sent.contains(&peeled) {
                for tag in Roots::of(self.repo, &[one.target])?.tags {
                    self.add(tag);
                }
            }
        }
        Ok(())
    }

    /// Ends the selection.
    pub(super) fn finish(mut self) -> Selection {
        // An object requested by id is sent even if the client has it.
        for id in &self.ids {
            self.known.ids.remove(id);
        }
        self.known.forget_tree_data();
        Selection { ids: self.ids, known: self.known }
    }

    fn has(&self, id: ObjectId) -> bool {
        self.known.ids.contains(&id)
    }

    fn report_progress(&mut self) -> Result<(), GitError> {
        let count = self.ids.len();
        self.output.keep_alive(|| format!("Enumerating objects: {count}\r"))
    }

    /// Adds an object. Returns whether it was not selected before.
    fn add(&mut self, id: ObjectId) -> bool {
        let new = self.sent.insert(id);
        if new {
            self.ids.push(id);
        }
        new
    }

    /// Adds a tree and everything below it that the client is not known to have. The entries of the tree have this
    /// depth. A wanted tree is added even if the client has it.
    fn add_tree(&mut self, root: ObjectId, depth: u64, is_wanted: bool) -> Result<(), GitError> {
        let mut stack = vec![(root, depth)];
        let mut buffer = Vec::new();
        while let Some((tree, depth)) = stack.pop() {
            if self.has(tree) && !(is_wanted && tree == root) {
                continue;
            }
            let is_new = self.add(tree);
            if !is_new && !self.is_less_deep(tree, depth) {
                continue;
            }
            self.note_depth(tree, depth);
            self.report_progress()?;
            let repo = self.repo;
            let kept = self.known.take_tree_data(tree);
            let each = |entry| {
                if self.notes_entries {
                    let (Entry::Tree(id) | Entry::Blob(id)) = entry;
                    self.entries.insert(id);
                }
                if let Filter::Depth(limit) = self.filter
                    && depth >= limit
                {
                    return Ok(());
                }
                match entry {
                    Entry::Tree(id) => stack.push((id, depth + 1)),
                    Entry::Blob(id) => self.add_blob(id)?,
                }
                Ok(())
            };
            match kept {
                Some(data) => entries_in(tree, &data, each)?,
                None => entries(repo, tree, &mut buffer, each)?,
            }
        }
        Ok(())
    }

    /// Whether a tree is met at a smaller depth than before, so that more entries below it pass the filter.
    fn is_less_deep(&self, tree: ObjectId, depth: u64) -> bool {
        self.depths.get(&tree).is_some_and(|&before| depth < before)
    }

    fn note_depth(&mut self, tree: ObjectId, depth: u64) {
        if matches!(self.filter, Filter::Depth(_)) {
            self.depths.insert(tree, depth);
        }
    }

    fn add_blob(&mut self, id: ObjectId) -> Result<(), GitError> {
        if self.has(id) || self.sent.contains(&id) {
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
