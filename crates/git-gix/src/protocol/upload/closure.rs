//! Finds the objects that a complete clone gets: all that are reachable from the wanted objects.
//!
//! Most objects of a repository are in its largest pack. The walk first reads only objects outside of that pack, and
//! notes which objects of the pack it reaches. If these include all roots of a known [part](super::parts) of the pack,
//! the part is reachable and need not be read.
//!
//! **Why the result is exact.** A part consists of objects that are reachable from its roots, and all of its roots are
//! reachable, so each of its objects is. An object that a part refers to is in the part, or is among those outside of the
//! pack that the part lists, and these are visited. Everything else is read.
//!
//! **Why the roots suffice.** Objects of the pack to which the walk returns from outside are no roots: the objects
//! outside were met because an object of the part refers to them, so these are reachable from the roots. Git objects
//! cannot refer to each other in a circle, so a root that is removed, because an object of the part refers to it, is
//! reachable from another root.

#[cfg(test)]
mod tests;

use std::sync::atomic::Ordering;

use gix::ObjectId;
use gix::hashtable::HashSet;
use gix::object::Kind;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::objects::Roots;
use super::output::Output;
use super::packs::Pack;
use super::parts::{Part, Positions};
use super::refs::Listing;
use crate::content::links::{Unread, each_link};
use crate::storage::pack_summary::{self, LEAST_OBJECTS, PackSummary};

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
        let known = pack.name().and_then(|name| source.shared.parts.find(name, &outside.reached));
        let mut inside = InsideWalk::new(pack, known.as_deref());
        for id in outside.take_reached() {
            inside.begin_at(id, Start::Root);
        }
        let listed = known.as_ref().map_or(&[][..], |part| &part.summary.outside);
        listed.iter().for_each(|&id| outside.meet(id, None));
        // Each walk gets from the other only what is new, so that the time is linear however often a history leaves
        // the pack.
        loop {
            inside.run(repo, output)?;
            for id in inside.take_outside() {
                outside.meet(id, None);
            }
            outside.run(repo, output)?;
            let reached = outside.take_reached();
            if reached.is_empty() {
                break;
            }
            for id in reached {
                inside.begin_at(id, Start::Return);
            }
        }
        let in_pack = inside.objects();
        let mut is_in_order = known.as_ref().is_some_and(|part| part.summary.is_in_order);
        if let Some(part) = inside.into_part() {
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

/// Adds the stored summary of a pack to the cache of parts, unless the cache has it.
fn load_summary(source: &Source, pack: &Pack) {
    let Source { shared, .. } = source;
    let Some(name) = pack.name() else { return };
    if pack.lacks_summary.load(Ordering::Relaxed) || shared.parts.has_whole(name) {
        return;
    }
    match shared.summary(name, pack.index.num_objects().into()) {
        Some(summary) => {
            shared.parts.add(name, Part { summary, objects: None, leaves_pack: false });
        }
        None => pack.lacks_summary.store(true, Ordering::Relaxed),
    }
}

/// Caches a part for later clones. If it is the whole pack, its summary is stored.
fn remember(source: &Source, pack: &Pack, part: Part) {
    let Some(name) = pack.name() else { return };
    if part.is_whole()
        // The roots of a summary lead to everything through the pack alone.
        && !part.leaves_pack
        && let Some(stored) = source.refs.packs().iter().find(|pack| pack.name == name)
        && pack.index.num_objects() as usize >= LEAST_OBJECTS
    {
        source.shared.put_summary(stored, Some(&part.summary));
        pack.lacks_summary.store(false, Ordering::Relaxed);
    }
    source.shared.parts.add(name, part);
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
    /// Those that were reached since they were last taken.
    new_reached: Vec<ObjectId>,
    open: Vec<Unread>,
}

impl<'a> OutsideWalk<'a> {
    fn new(pack: &'a Pack) -> Self {
        let (met, reached) = (HashSet::default(), HashSet::default());
        Self { pack, met, reached, new_reached: Vec::new(), open: Vec::new() }
    }

    fn take_reached(&mut self) -> Vec<ObjectId> {
        std::mem::take(&mut self.new_reached)
    }
}

impl Walk for OutsideWalk<'_> {
    fn meet(&mut self, id: ObjectId, kind: Option<Kind>) {
        if self.met.contains(&id) || self.reached.contains(&id) {
            return;
        }
        if self.pack.index.lookup(id).is_some() {
            self.reached.insert(id);
            self.new_reached.push(id);
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

/// How a walk comes to an object at which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// From the wanted objects, without passing the pack.
    Root,
    /// From objects of the pack, through objects outside of it.
    Return,
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
    /// Those to which it came since they were last taken.
    new_outside: Vec<ObjectId>,
    /// Whether the walk began at an object that is not a root.
    returned: bool,
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
            new_outside: Vec::new(),
            returned: false,
            open: Vec::new(),
        }
    }

    fn take_outside(&mut self) -> Vec<ObjectId> {
        std::mem::take(&mut self.new_outside)
    }

    fn is_known(&self, at: u32) -> bool {
        self.known.is_some_and(|part| part.contains(at))
    }

    /// Begins at an object of the pack, unless it is known or met.
    fn begin_at(&mut self, id: ObjectId, start: Start) {
        let Some(at) = self.pack.index.lookup(id) else { return };
        if !self.is_known(at) && self.met.insert(id) {
            self.positions.insert(at);
            self.open.push((id, None));
            match start {
                Start::Root => drop(self.roots.insert(id)),
                Start::Return => self.returned = true,
            }
        }
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
        let is_in_order = objects.is_none() && pack_summary::is_in_order(self.pack)?;
        let leaves_pack = self.returned || self.known.is_some_and(|part| part.leaves_pack);
        let summary = PackSummary::of(self.roots, outside, is_in_order)?;
        Some(Part { summary, objects, leaves_pack })
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
            self.new_outside.push(id);
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
