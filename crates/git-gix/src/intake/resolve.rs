//! Putting together what is stored as differences.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use flate2::{Decompress, FlushDecompress};
use gix::ObjectId;
use gix::object::Kind;
use hexforge_domain::ports::git::GitError;

use super::{Entry, Stored, Unfit, bad, of_disk, patch};

/// Nothing larger is put together, since that is done in memory. Git stores nothing of more than half of it as a
/// difference, if it is not told to.
pub(super) const LARGEST: usize = 1 << 30;

/// See [`Differences::kept`].
const KEPT: usize = 64 << 20;

/// Others use this machine too.
const THREADS: usize = 2;

/// How much is read at once.
const PIECE: usize = 64 << 10;

/// The objects of a pack that are stored as differences.
pub(super) struct Differences<'a> {
    pub file: &'a File,
    entries: &'a [Entry],
    pub stop: &'a AtomicBool,
    /// Where what they differ from lies, in order, and which they are.
    based_at: Vec<(u64, u32)>,
    /// What they differ from, in order, and which they are.
    based_on: Vec<(ObjectId, u32)>,
    /// For the first of those that differ from the same object: whether somebody puts them together. Many objects of
    /// a pack may turn out to be the same one, and each would lead to all of them.
    claimed: Vec<AtomicBool>,
    /// How much each thread keeps of what more objects may be based on, beside the one it works with.
    pub kept: usize,
    /// Which were put together.
    done: Vec<AtomicBool>,
}

/// The names of the objects that were put together, in the places of their entries.
pub(super) struct Found {
    pub ids: Vec<Option<ObjectId>>,
}

impl<'a> Differences<'a> {
    pub fn new(file: &'a File, entries: &'a [Entry], stop: &'a AtomicBool) -> Self {
        let (mut based_at, mut based_on) = (Vec::new(), Vec::new());
        for (at, entry) in (0..).zip(entries) {
            match entry.stored {
                Stored::Whole(..) => (),
                Stored::DiffersAt(offset) => based_at.push((offset, at)),
                Stored::DiffersFrom(id) => based_on.push((id, at)),
            }
        }
        based_at.sort_unstable();
        based_on.sort_unstable();
        let flags = |count| (0..count).map(|_| AtomicBool::new(false)).collect();
        let (claimed, done) = (flags(based_on.len()), flags(entries.len()));
        Self { file, entries, stop, based_at, based_on, claimed, kept: KEPT, done }
    }

    /// Puts together what is based on objects of the same pack.
    pub fn within(&self) -> Result<Found, Unfit> {
        let is_base = |at: &u32| match self.entries[*at as usize].stored {
            Stored::Whole(_, id) => {
                self.differing_at(*at).next().is_some() || self.differing_from(id).next().is_some()
            }
            _ => false,
        };
        let bases: Vec<u32> = (0..self.entries.len() as u32).filter(is_base).collect();
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || -> Result<Vec<(u32, ObjectId)>, Unfit> {
            let mut work = Work::new(self);
            while let Some(&at) = bases.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Stored::Whole(kind, id) = self.entries[at as usize].stored else { continue };
                if failed.load(Ordering::Relaxed) {
                    break;
                }
                let read = |work: &mut Unpacker| work.unpack(self, at);
                work.all_based_on(Base { at: Some(at), kind, id, read: &read })
                    .inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
            }
            Ok(work.found)
        };
        let mut found = Found { ids: vec![None; self.entries.len()] };
        thread::scope(|scope| {
            let threads: Vec<_> =
                (0..THREADS.min(bases.len())).map(|_| scope.spawn(work)).collect();
            for thread in threads {
                found.add(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Puts together what is based on an object that is elsewhere.
    pub fn beyond(
        &self,
        id: ObjectId,
        kind: Kind,
        read: &dyn Fn() -> Result<Vec<u8>, Unfit>,
        found: &mut Found,
    ) -> Result<(), Unfit> {
        let mut work = Work::new(self);
        work.all_based_on(Base { at: None, kind, id, read: &|_| read() })?;
        found.add(work.found);
        Ok(())
    }

    /// What others are based on that was not found, in the order in which it is needed.
    pub fn missing(&self) -> Vec<ObjectId> {
        let open = self.based_on.iter().filter(|(_, at)| !self.is_done(*at));
        let mut first: Vec<(ObjectId, u32)> = open.copied().collect();
        first.dedup_by_key(|(id, _)| *id);
        first.sort_unstable_by_key(|(_, at)| *at);
        first.into_iter().map(|(id, _)| id).collect()
    }

    /// Whether something is still to be put together that is based on this.
    pub fn is_needed(&self, id: ObjectId) -> bool {
        self.differing_from(id).any(|at| !self.is_done(at))
    }

    fn is_done(&self, at: u32) -> bool {
        self.done[at as usize].load(Ordering::Relaxed)
    }

    /// What is based on an object and not yet being put together. Whoever asks does so.
    fn claim(&self, at: Option<u32>, id: ObjectId) -> Vec<u32> {
        let mut based = at.map_or_else(Vec::new, |at| self.differing_at(at).collect());
        let first = self.based_on.partition_point(|(base, _)| *base < id);
        let is_any = self.based_on.get(first).is_some_and(|(base, _)| *base == id);
        if is_any && !self.claimed[first].swap(true, Ordering::Relaxed) {
            based.extend(self.differing_from(id));
        }
        based
    }

    /// What is based on what lies where this entry does.
    fn differing_at(&self, at: u32) -> impl Iterator<Item = u32> {
        let offset = self.entries[at as usize].offset;
        let first = self.based_at.partition_point(|(base, _)| *base < offset);
        let here = self.based_at[first..].iter().take_while(move |(base, _)| *base == offset);
        here.map(|(_, at)| *at)
    }

    /// What is based on the object of this name.
    fn differing_from(&self, id: ObjectId) -> impl Iterator<Item = u32> {
        let first = self.based_on.partition_point(|(base, _)| *base < id);
        let here = self.based_on[first..].iter().take_while(move |(base, _)| *base == id);
        here.map(|(_, at)| *at)
    }
}

impl Found {
    fn add(&mut self, more: Vec<(u32, ObjectId)>) {
        for (at, id) in more {
            self.ids[at as usize] = Some(id);
        }
    }
}

/// What others are based on, and is stored whole.
struct Base<'a> {
    /// In this pack, if it is there.
    at: Option<u32>,
    kind: Kind,
    id: ObjectId,
    read: &'a dyn Fn(&mut Unpacker) -> Result<Vec<u8>, Unfit>,
}

/// One object on the way from a base to the one that is being put together.
struct Step {
    /// None for the base itself.
    at: Option<u32>,
    /// Let go of when it takes too much room; it can be made again.
    data: Option<Vec<u8>>,
    /// What is based on it and still to be put together.
    left: Vec<u32>,
}

struct Work<'a> {
    differences: &'a Differences<'a>,
    unpacker: Unpacker,
    path: Vec<Step>,
    found: Vec<(u32, ObjectId)>,
}

impl<'a> Work<'a> {
    fn new(differences: &'a Differences<'a>) -> Self {
        let unpacker = Unpacker { inflate: Decompress::new(true), input: vec![0; PIECE] };
        Self { differences, unpacker, path: Vec::new(), found: Vec::new() }
    }

    /// Puts together all that is based on an object, on what comes of that, and so on.
    fn all_based_on(&mut self, base: Base<'_>) -> Result<(), Unfit> {
        let differences = self.differences;
        let left = differences.claim(base.at, base.id);
        self.path.push(Step { at: None, data: None, left });
        while let Some(step) = self.path.last_mut() {
            let Some(at) = step.left.pop() else {
                self.path.pop();
                continue;
            };
            if differences.stop.load(Ordering::Relaxed) {
                return Err(Unfit::Stopped);
            }
            let from = self.last(&base)?;
            let data = self.unpacker.patched(differences, &from, at)?;
            let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, base.kind, &data)
                .map_err(|_| bad("has an object with a forged hash"))?;
            self.found.push((at, id));
            differences.done[at as usize].store(true, Ordering::Relaxed);
            if let Some(step) = self.path.last_mut().filter(|step| !step.left.is_empty()) {
                step.data = Some(from);
            }
            let left = differences.claim(Some(at), id);
            if !left.is_empty() {
                self.path.push(Step { at: Some(at), data: Some(data), left });
                self.make_room();
            }
        }
        Ok(())
    }

    /// The last object of the path, made again if that must be.
    fn last(&mut self, base: &Base<'_>) -> Result<Vec<u8>, Unfit> {
        let kept = self.path.iter().rposition(|step| step.data.is_some());
        let is_last = kept.is_some_and(|kept| kept + 1 == self.path.len());
        let mut data = match kept.map(|kept| &mut self.path[kept].data) {
            Some(data) if is_last => data.take().unwrap_or_default(),
            Some(data) => data.clone().unwrap_or_default(),
            None => (base.read)(&mut self.unpacker)?,
        };
        for step in &self.path[kept.map_or(0, |kept| kept + 1)..] {
            if let Some(at) = step.at {
                data = self.unpacker.patched(self.differences, &data, at)?;
            }
        }
        Ok(data)
    }

    /// Lets go of what is needed last.
    fn make_room(&mut self) {
        let size = |step: &Step| step.data.as_ref().map_or(0, Vec::len);
        let Some((_, before)) = self.path.split_last_mut() else { return };
        let mut kept: usize = before.iter().map(size).sum();
        for step in before {
            if kept <= self.differences.kept {
                break;
            }
            kept -= size(step);
            step.data = None;
        }
    }
}

struct Unpacker {
    inflate: Decompress,
    input: Vec<u8>,
}

impl Unpacker {
    fn patched(
        &mut self,
        differences: &Differences<'_>,
        base: &[u8],
        at: u32,
    ) -> Result<Vec<u8>, Unfit> {
        let delta = self.unpack(differences, at)?;
        patch::apply(base, &delta, LARGEST)
            .ok_or_else(|| bad("has an object that does not fit what it is based on"))
    }

    /// What an entry has in it. It was looked at before, so it is known to be as it says.
    fn unpack(&mut self, differences: &Differences<'_>, at: u32) -> Result<Vec<u8>, Unfit> {
        let entry = &differences.entries[at as usize];
        let size = usize::try_from(entry.size).ok().filter(|size| *size <= LARGEST);
        let size = size.ok_or_else(|| bad("has too large an object that others are based on"))?;
        let mut offset = entry.offset + u64::from(entry.header);
        let mut data = Vec::with_capacity(size);
        self.inflate.reset(true);
        while data.len() < size {
            let read = differences.file.read_at(&mut self.input, offset).map_err(of_disk)?;
            let (before, written) = (self.inflate.total_in(), data.len());
            let input = &self.input[..read];
            let inflated = self.inflate.decompress_vec(input, &mut data, FlushDecompress::None);
            let taken = self.inflate.total_in() - before;
            if inflated.is_err() || (taken == 0 && data.len() == written) {
                let changed = "a pack changed while it was read".to_owned();
                return Err(Unfit::Failed(GitError::Failed(changed)));
            }
            offset += taken;
        }
        Ok(data)
    }
}
