//! An immutable snapshot of all refs and packs of a repository at one version, shared by many
//! readers.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::reserved::KEEP_AROUND;
use super::{Ref, RepositoryState};
use crate::branch::{BranchName, default_branch};
use crate::commit::ObjectId;
use crate::pack::Pack;

/// The number of refs in a new chunk. A change of one ref copies one chunk.
const CHUNK: usize = 256;

/// The maximum number of refs in a chunk. A longer chunk is split.
const LONGEST_CHUNK: usize = 2 * CHUNK;

/// All refs of a repository in bytewise order of their names, HEAD, and the packs of the
/// repository.
///
/// Refs are stored in chunks that snapshots share. The snapshot after a change copies one chunk per
/// changed ref instead of all refs of the repository.
#[derive(Clone, Debug)]
pub struct Snapshot {
    head: Arc<str>,
    version: i64,
    /// No chunk is empty.
    chunks: Vec<Arc<[Ref]>>,
    packs: Arc<[Pack]>,
    /// Stored packs without a committed row.
    new_packs: Arc<[Pack]>,
}

impl Snapshot {
    /// The version of uncommitted refs. Two snapshots with this version may differ.
    pub const UNCOMMITTED: i64 = i64::MIN;

    /// Creates a snapshot from the refs of a repository, ordered by name, and its live packs.
    pub fn new(state: &RepositoryState, refs: &[Ref], packs: &[Pack]) -> Self {
        let chunks = refs.chunks(CHUNK).map(Arc::from).collect();
        let (packs, new_packs) = (packs.into(), [].into());
        Self {
            head: state.head.as_str().into(),
            version: state.version(),
            chunks,
            packs,
            new_packs,
        }
    }

    /// The snapshot of a repository without content.
    pub fn empty() -> Self {
        Self::new(&RepositoryState::default(), &[], &[])
    }

    /// The version of refs and packs; see [`RepositoryState::version`].
    pub fn version(&self) -> i64 {
        self.version
    }

    /// The full name of the ref that HEAD points to. The ref may not exist.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// The packs of the repository, in the order in which they were added.
    pub fn packs(&self) -> &[Pack] {
        &self.packs
    }

    /// The packs that are added when a [proposed](Self::proposed) change is committed.
    pub fn new_packs(&self) -> &[Pack] {
        &self.new_packs
    }

    /// The size of all packs in bytes, without new ones.
    pub fn bytes(&self) -> u64 {
        self.packs.iter().map(|pack| pack.bytes).sum()
    }

    /// The number of refs.
    pub fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// Returns whether there are no refs.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns the ref with exactly this name.
    pub fn find(&self, name: &str) -> Option<&Ref> {
        let chunk = self.chunks.get(self.chunk_of(name))?;
        let at = chunk.binary_search_by(|one| one.name.as_str().cmp(name)).ok()?;
        chunk.get(at)
    }

    /// Returns the object that a ref points to. For an annotated tag this is the tag object.
    pub fn target(&self, name: &str) -> Option<ObjectId> {
        self.find(name).map(|found| found.target)
    }

    /// Returns the default branch, see [`default_branch`](crate::branch::default_branch), and its
    /// commit.
    pub fn default_tip(&self) -> Option<(BranchName, ObjectId)> {
        let head = self.head().strip_prefix(BranchName::FOLDER);
        // An existing HEAD branch is always the default, so one look-up avoids the scan of all
        // branches.
        if let (Some(name), Some(target)) = (head, self.target(self.head())) {
            return Some((BranchName::stored(name.to_owned()), target));
        }
        let branches = self.range(self.folder(BranchName::FOLDER));
        let names = branches.filter_map(|one| one.name.strip_prefix(BranchName::FOLDER));
        let name = BranchName::stored(default_branch(names, head)?.to_owned());
        let target = self.target(&name.full())?;
        Some((name, target))
    }

    /// Returns the default branch.
    pub fn default_branch(&self) -> Option<BranchName> {
        self.default_tip().map(|(branch, _)| branch)
    }

    /// Returns whether there is any branch.
    pub fn has_branches(&self) -> bool {
        !self.folder(BranchName::FOLDER).is_empty()
    }

    /// All refs.
    pub fn iter(&self) -> impl Iterator<Item = &Ref> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// The refs that clients see: all but [hidden](super::reserved::is_hidden) ones.
    pub fn visible(&self) -> impl Iterator<Item = &Ref> {
        let hidden = self.folder(KEEP_AROUND);
        self.range(0..hidden.start).chain(self.range(hidden.end..self.len()))
    }

    /// The refs that clients do not see.
    pub fn hidden(&self) -> impl Iterator<Item = &Ref> {
        self.range(self.folder(KEEP_AROUND))
    }

    /// The range of positions of the refs in a folder. `folder` ends with a slash.
    pub fn folder(&self, folder: &str) -> Range<usize> {
        // '0' follows '/' in ASCII, so all names in the folder come before `<folder>0`.
        let after = format!("{}0", folder.trim_end_matches('/'));
        self.position(folder)..self.position(&after)
    }

    /// Returns the refs at these positions.
    pub fn range(&self, positions: Range<usize>) -> impl Iterator<Item = &Ref> {
        let mut before = 0;
        let parts = self.chunks.iter().filter_map(move |chunk| {
            let start = positions.start.saturating_sub(before).min(chunk.len());
            let end = positions.end.saturating_sub(before).min(chunk.len());
            before += chunk.len();
            chunk.get(start..end)
        });
        parts.flatten()
    }

    /// Returns the snapshot after changes: new or updated refs, and names of deleted refs with
    /// `None`.
    pub fn changed<'a>(
        &self,
        state: &RepositoryState,
        changes: impl IntoIterator<Item = (&'a str, Option<&'a Ref>)>,
    ) -> Self {
        let mut by_chunk: BTreeMap<usize, BTreeMap<&str, Option<&Ref>>> = BTreeMap::new();
        for (name, new) in changes {
            by_chunk.entry(self.chunk_of(name)).or_default().insert(name, new);
        }
        let mut chunks = Vec::with_capacity(self.chunks.len() + 1);
        let mut copied = 0;
        for (at, changes) in by_chunk {
            chunks.extend(self.chunks[copied..at].iter().cloned());
            let old = self.chunks.get(at).map_or(&[][..], |chunk| chunk);
            let new = apply_changes(old, changes);
            let size = if new.len() > LONGEST_CHUNK { CHUNK } else { LONGEST_CHUNK };
            chunks.extend(new.chunks(size).map(Arc::from));
            copied = (at + 1).min(self.chunks.len());
        }
        chunks.extend(self.chunks[copied..].iter().cloned());
        let (packs, new_packs) = (Arc::clone(&self.packs), Arc::clone(&self.new_packs));
        Self {
            head: state.head.as_str().into(),
            version: state.version(),
            chunks,
            packs,
            new_packs,
        }
    }

    /// Returns the snapshot after uncommitted changes. Its version is
    /// [`UNCOMMITTED`](Self::UNCOMMITTED).
    pub fn proposed<'a>(
        &self,
        changes: impl IntoIterator<Item = (&'a str, Option<&'a Ref>)>,
        packs: &[Pack],
    ) -> Self {
        let head = self.head().to_owned();
        let state =
            RepositoryState { head, refs_version: Self::UNCOMMITTED, ..RepositoryState::default() };
        let is_new = |pack: &&Pack| self.packs.iter().all(|known| known.name != pack.name);
        let new_packs = packs.iter().filter(is_new).copied().collect();
        Self { new_packs, ..self.changed(&state, changes) }
    }

    /// Turns a proposed snapshot into a committed one: sets HEAD and version, and adds the new
    /// packs to the live ones.
    pub fn committed(&self, state: &RepositoryState) -> Self {
        let packs = self.packs.iter().chain(self.new_packs.iter()).copied().collect();
        Self { packs, new_packs: [].into(), ..self.changed(state, []) }
    }

    /// The index of the chunk that contains a name, or would contain it.
    fn chunk_of(&self, name: &str) -> usize {
        let starts_before =
            |chunk: &Arc<[Ref]>| chunk.first().is_some_and(|first| first.name.as_str() <= name);
        self.chunks.partition_point(starts_before).saturating_sub(1)
    }

    /// The position of a name: the number of refs with smaller names.
    fn position(&self, name: &str) -> usize {
        let at = self.chunk_of(name);
        let before: usize = self.chunks.iter().take(at).map(|chunk| chunk.len()).sum();
        let inside = self
            .chunks
            .get(at)
            .map_or(0, |chunk| chunk.partition_point(|one| one.name.as_str() < name));
        before + inside
    }
}

/// Applies changes to a chunk.
fn apply_changes(old: &[Ref], changes: BTreeMap<&str, Option<&Ref>>) -> Vec<Ref> {
    let mut refs: BTreeMap<&str, &Ref> = old.iter().map(|one| (one.name.as_str(), one)).collect();
    for (name, new) in changes {
        match new {
            Some(new) => refs.insert(name, new),
            None => refs.remove(name),
        };
    }
    refs.into_values().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_ref(name: &str, byte: u8) -> Ref {
        Ref { name: name.to_owned(), target: ObjectId::from_bytes([byte; 20]), peeled: None }
    }

    fn state(version: i64) -> RepositoryState {
        RepositoryState { refs_version: version, ..RepositoryState::default() }
    }

    fn snapshot(names: &[&str]) -> Snapshot {
        let refs: Vec<Ref> = names.iter().map(|name| a_ref(name, 1)).collect();
        Snapshot::new(&state(1), &refs, &[])
    }

    fn names<'a>(refs: impl Iterator<Item = &'a Ref>) -> Vec<&'a str> {
        refs.map(|one| one.name.as_str()).collect()
    }

    #[test]
    fn folders_are_ranges() {
        let all =
            ["refs/heads-x/a", "refs/heads/a", "refs/heads/b/c", "refs/heads0", "refs/tags/v1"];
        let snapshot = snapshot(&all);
        for (folder, expected) in [
            ("refs/heads/", &all[1..3]),
            ("refs/heads/b/", &all[2..3]),
            ("refs/tags/", &all[4..]),
            ("refs/", &all[..]),
            ("refs/none/", &[]),
            ("zzz/", &[]),
        ] {
            assert_eq!(names(snapshot.range(snapshot.folder(folder))), expected, "{folder}");
        }
        assert_eq!(names(snapshot.range(1..3)), &all[1..3]);
        assert_eq!(names(snapshot.range(4..9)), &all[4..]);
        assert!(Snapshot::new(&state(0), &[], &[]).folder("refs/heads/").is_empty());
    }

    #[test]
    fn clients_see_all_refs_but_those_that_keep_commits() {
        let all = [
            "refs/heads/a",
            "refs/keep-around/1",
            "refs/keep-around/2",
            "refs/merge-requests/1/head",
            "refs/tags/v1",
        ];
        for (all, hidden) in [(&all[..], 1..3), (&all[1..], 0..2), (&all[..3], 1..3), (&[], 0..0)] {
            let snapshot = snapshot(all);
            assert_eq!(names(snapshot.hidden()), &all[hidden.clone()]);
            let visible = [&all[..hidden.start], &all[hidden.end..]].concat();
            assert_eq!(names(snapshot.visible()), visible);
        }
    }

    #[test]
    fn a_snapshot_stays_as_it_is_when_a_changed_one_is_made() {
        let before = snapshot(&["refs/heads/a", "refs/heads/b"]);
        let new = a_ref("refs/heads/c", 2);
        let after =
            before.changed(&state(2), [("refs/heads/a", None), ("refs/heads/c", Some(&new))]);
        assert_eq!(names(before.iter()), ["refs/heads/a", "refs/heads/b"]);
        assert_eq!(names(after.iter()), ["refs/heads/b", "refs/heads/c"]);
        assert_eq!((before.version(), after.version()), (1, 2));
        assert_eq!(after.head(), "refs/heads/master");
    }

    /// Applies random changes and compares the result with a map.
    #[test]
    fn changes_match_those_of_a_map() {
        let mut random: u64 = 7;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        for size in [0, 1, 5, 300, 2000] {
            let mut map: BTreeMap<String, Ref> = (0..size)
                .map(|n| format!("refs/heads/{:05}", n * 3))
                .map(|name| (name.clone(), a_ref(&name, 1)))
                .collect();
            let first: Vec<Ref> = map.values().cloned().collect();
            let mut snapshot = Snapshot::new(&state(0), &first, &[]);
            for round in 0..100 {
                let mut changes = Vec::new();
                for _ in 0..=next(60) {
                    let name = format!("refs/heads/{:05}", next(6100));
                    let new = (next(3) > 0).then(|| a_ref(&name, next(200) as u8));
                    changes.push((name, new));
                }
                for (name, new) in &changes {
                    match new {
                        Some(new) => map.insert(name.clone(), new.clone()),
                        None => map.remove(name),
                    };
                }
                let changes = changes.iter().map(|(name, new)| (name.as_str(), new.as_ref()));
                snapshot = snapshot.changed(&state(round), changes);
                assert!(snapshot.iter().eq(map.values()), "size {size}, round {round}");
                assert_eq!(snapshot.len(), map.len());
                assert!(
                    snapshot.chunks.iter().all(|chunk| (1..=LONGEST_CHUNK).contains(&chunk.len()))
                );
                let asked = format!("refs/heads/{:05}", next(6100));
                assert_eq!(snapshot.find(&asked), map.get(&asked));
                assert_eq!(snapshot.position(&asked), map.range(..asked.clone()).count());
            }
        }
    }
}
