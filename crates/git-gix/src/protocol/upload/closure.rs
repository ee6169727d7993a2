//! Finds the objects that a complete clone gets: all that are reachable from the wanted objects.
//!
//! Most objects of a repository are in its largest pack. The walk first reads only objects outside of that pack, and
//! notes which objects of the pack it reaches. If these include all roots of a known [part](super::parts) of the pack,
//! the part is reachable and need not be read.
//!
//! **Why the result is exact.** A part consists of the objects that are reachable from its roots through the pack, and
//! all of its roots are reachable, so each of its objects is. An object that a part refers to is in the part, or is
//! among those outside of the pack that the part lists, and these are visited. Everything else is read.

use std::sync::Arc;

use gix::ObjectId;
use gix::hashtable::HashSet;
use gix::object::Kind;
use gix::odb::pack::data::entry::Header;
use hexforge_domain::pack::PackName;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::objects::Roots;
use super::output::Output;
use super::packs::Pack;
use super::parts::{Part, Positions};
use super::refs::Listing;
use crate::content::links::{Unread, each_link};
use crate::storage::pack_summary::{LEAST_OBJECTS, PackSummary};

/// All objects that are reachable from the wanted ones.
pub(super) struct Closure {
    /// Those in the largest pack; `None` for all objects of that pack.
    pub(super) in_pack: Option<Positions>,
    /// Whether the largest pack is known to have each delta after its base.
    pub(super) is_in_order: bool,
    /// Those outside of the largest pack.
    pub(super) others: HashSet<ObjectId>,
}

impl Closure {
    /// Finds all objects that are reachable from the wanted ones. `pack` is the largest pack.
    pub(super) fn find(
        source: &Source,
        repo: &gix::Repository,
        pack: &Pack,
        wants: &[ObjectId],
        output: &mut Output<'_>,
    ) -> Result<Self, GitError> {
        let mut outside = OutsideWalk::new(pack);
        for &want in wants {
            outside.meet(want, None);
        }
        outside.run(repo, output)?;
        load_summary(source, pack);
        let known = pack.parts.find(&outside.reached);
        let mut inside = InsideWalk::new(pack, known.as_deref());
        let (mut is_first, mut is_late) = (true, false);
        let mut listed = known.as_ref().map_or(&[][..], |part| &part.summary.outside).to_vec();
        loop {
            let is_new = inside.begin_at(&outside.reached);
            if !is_new && listed.is_empty() {
                break;
            }
            is_late |= is_new && !is_first;
            is_first = false;
            inside.run(repo, output)?;
            listed.extend(inside.outside.iter().filter(|id| !outside.met.contains(*id)));
            for id in listed.drain(..) {
                outside.meet(id, None);
            }
            outside.run(repo, output)?;
        }
        let in_pack = inside.objects();
        // If the walk had to leave the pack to find some of the roots, a clone would have to do so too before it could
        // use the part.
        let mut is_in_order = known.as_ref().is_some_and(|part| part.summary.is_in_order);
        if !is_late && let Some(part) = inside.into_part() {
            is_in_order |= part.summary.is_in_order;
            remember(source, pack, part);
        }
        Ok(Self { in_pack, is_in_order, others: outside.met })
    }

    /// Adds the annotated tags that point to objects of the closure.
    pub(super) fn add_tags(
        &mut self,
        repo: &gix::Repository,
        pack: &Pack,
        listing: &Listing,
    ) -> Result<(), GitError> {
        for one in listing.refs() {
            let Some(peeled) = one.peeled else { continue };
            if self.contains(pack, &peeled) {
                for tag in Roots::of(repo, &[one.target])?.tags {
                    match (pack.index.lookup(tag), &mut self.in_pack) {
                        (Some(at), Some(in_pack)) => drop(in_pack.insert(at)),
                        (Some(_), None) => (),
                        (None, _) => drop(self.others.insert(tag)),
                    }
                }
            }
        }
        Ok(())
    }

    fn contains(&self, pack: &Pack, id: &ObjectId) -> bool {
        match pack.index.lookup(id) {
            Some(at) => self.in_pack.as_ref().is_none_or(|in_pack| in_pack.contains(at)),
            None => self.others.contains(id),
        }
    }
}

/// Makes the stored summary of a pack known, once while the pack is open.
fn load_summary(source: &Source, pack: &Pack) {
    pack.summary_loaded.get_or_init(|| {
        let Some(name) = name_of(pack) else { return };
        if let Some(summary) = source.shared.summary(name, pack.index.num_objects().into()) {
            pack.parts.add(Arc::new(Part { summary, objects: None }));
        }
    });
}

/// Keeps a part for later clones. If it is the whole pack, its summary is stored.
fn remember(source: &Source, pack: &Pack, part: Part) {
    if part.objects.is_none()
        && let Some(name) = name_of(pack)
        && let Some(stored) = source.refs.packs().iter().find(|pack| pack.name == name)
        && pack.index.num_objects() as usize >= LEAST_OBJECTS
    {
        source.shared.put_summary(stored, Some(&part.summary));
    }
    pack.parts.add(Arc::new(part));
}

/// The name of a pack in the pack store.
fn name_of(pack: &Pack) -> Option<PackName> {
    PackName::parse(pack.index.path().file_stem()?.to_str()?.strip_prefix("pack-")?)
}

/// A walk over objects. It stays on one side: inside of the largest pack, or outside.
trait Walk {
    /// Visits an object to which a read object refers, or at which the walk begins.
    fn meet(&mut self, id: ObjectId, kind: Option<Kind>);

    /// Returns an object that was met and not read yet.
    fn next(&mut self) -> Option<Unread>;

    /// The number of objects that were met.
    fn count(&self) -> usize;

    /// Reads all objects that were met.
    fn run(&mut self, repo: &gix::Repository, output: &mut Output<'_>) -> Result<(), GitError> {
        let mut buffer = Vec::new();
        while let Some(unread) = self.next() {
            output.keep_alive(|| format!("Enumerating objects: {}\r", self.count()))?;
            each_link(repo, unread, &mut buffer, |id, kind| self.meet(id, kind))?;
        }
        Ok(())
    }
}

/// A walk over objects outside of the largest pack.
struct OutsideWalk<'a> {
    pack: &'a Pack,
    met: HashSet<ObjectId>,
    /// The objects of the pack that were reached.
    reached: HashSet<ObjectId>,
    open: Vec<Unread>,
}

impl<'a> OutsideWalk<'a> {
    fn new(pack: &'a Pack) -> Self {
        let (met, reached) = (HashSet::default(), HashSet::default());
        Self { pack, met, reached, open: Vec::new() }
    }
}

impl Walk for OutsideWalk<'_> {
    fn meet(&mut self, id: ObjectId, kind: Option<Kind>) {
        if self.met.contains(&id) || self.reached.contains(&id) {
            return;
        }
        if self.pack.index.lookup(id).is_some() {
            self.reached.insert(id);
        } else {
            self.met.insert(id);
            self.open.push((id, kind));
        }
    }

    fn next(&mut self) -> Option<Unread> {
        self.open.pop()
    }

    fn count(&self) -> usize {
        self.met.len()
    }
}

/// A walk over objects of the largest pack that are not in a known part.
struct InsideWalk<'a> {
    pack: &'a Pack,
    known: Option<&'a Part>,
    met: HashSet<ObjectId>,
    positions: Positions,
    /// The roots of the new part: the first objects of the walk and the roots of the known part. An object to which the
    /// walk comes again is removed.
    roots: HashSet<ObjectId>,
    /// The objects outside of the pack to which the walk came.
    outside: HashSet<ObjectId>,
    open: Vec<Unread>,
}

impl<'a> InsideWalk<'a> {
    fn new(pack: &'a Pack, known: Option<&'a Part>) -> Self {
        let positions = known.and_then(|part| part.objects.clone());
        Self {
            pack,
            known,
            met: HashSet::default(),
            positions: positions.unwrap_or_else(|| Positions::none(pack.index.num_objects())),
            roots: known
                .map_or_else(HashSet::default, |part| part.summary.roots.iter().copied().collect()),
            outside: HashSet::default(),
            open: Vec::new(),
        }
    }

    fn is_known(&self, at: u32) -> bool {
        self.known.is_some_and(|part| part.contains(at))
    }

    /// Begins at those of these objects that are neither known nor met. Returns whether there are any.
    fn begin_at(&mut self, reached: &HashSet<ObjectId>) -> bool {
        if self.known.is_some_and(Part::is_whole) {
            return false;
        }
        for &id in reached {
            let Some(at) = self.pack.index.lookup(id) else { continue };
            if !self.is_known(at) && self.met.insert(id) {
                self.positions.insert(at);
                self.roots.insert(id);
                self.open.push((id, None));
            }
        }
        !self.open.is_empty()
    }

    /// Returns the objects of the known part and the objects that the walk met. Returns `None` if these are all objects
    /// of the pack.
    fn objects(&self) -> Option<Positions> {
        let is_whole = self.known.is_some_and(Part::is_whole)
            || self.positions.count() == self.pack.index.num_objects();
        (!is_whole).then(|| self.positions.clone())
    }

    /// Returns the part that consists of the known part and of all that the walk met. Returns `None` if it met nothing,
    /// or if the part has too many roots.
    fn into_part(self) -> Option<Part> {
        if self.met.is_empty() {
            return None;
        }
        let objects = self.objects();
        let mut outside = self.outside;
        outside.extend(self.known.iter().flat_map(|part| &part.summary.outside));
        let is_in_order = objects.is_none() && is_in_order(self.pack)?;
        Some(Part { summary: PackSummary::of(self.roots, outside, is_in_order)?, objects })
    }
}

impl Walk for InsideWalk<'_> {
    fn meet(&mut self, id: ObjectId, kind: Option<Kind>) {
        if self.met.contains(&id) {
            self.roots.remove(&id);
            return;
        }
        if self.outside.contains(&id) {
            return;
        }
        let Some(at) = self.pack.index.lookup(id) else {
            self.outside.insert(id);
            return;
        };
        if self.is_known(at) {
            self.roots.remove(&id);
        } else {
            self.met.insert(id);
            self.positions.insert(at);
            self.open.push((id, kind));
        }
    }

    fn next(&mut self) -> Option<Unread> {
        self.open.pop()
    }

    fn count(&self) -> usize {
        self.met.len()
    }
}

/// Whether each delta of a pack comes after its base. Returns `None` if the pack cannot be read.
fn is_in_order(pack: &Pack) -> Option<bool> {
    let data = pack.data()?;
    for &at in pack.by_offset() {
        let offset = pack.index.pack_offset_at_index(at);
        if let Header::RefDelta { base_id } = data.entry(offset).ok()?.header
            && pack.index.pack_offset_at_index(pack.index.lookup(base_id)?) > offset
        {
            return Some(false);
        }
    }
    Some(true)
}
