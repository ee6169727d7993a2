//! Resolves deltas.
//!
//! Each object is computed once from its base, in a walk from the bases to their deltas. The walk keeps the objects on
//! its path that more deltas depend on: the last ones in memory, the rest in a temporary file. So the cost grows with
//! the produced bytes, and memory does not grow with the length of a chain or the size of an object.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use flate2::{Decompress, FlushDecompress};
use gix::ObjectId;
use gix::object::Kind;
use hexforge_domain::ports::git::GitError;

use super::bounds::Bounds;
use super::patch::{self, Instruction};
use super::spill::{BaseReader, Data, InflateReader, ResultWriter, Spill, delta_mismatch};
use super::whole::{WholeObject, WholeObjects};
use super::{Entry, EntryData, IntakeError, disk_error, invalid_pack};

/// The largest object that is stored as a delta or serves as a base, in bytes. Reading a delta needs memory for its
/// base, its result and the deltas in between. Larger objects are stored whole, so that they can be streamed.
pub(crate) const LARGEST_DELTA: u64 = 8 << 20;

/// The most bytes of deltas in the chain of one object. Reading the object needs memory for all of them.
pub(crate) const LARGEST_CHAIN: u64 = 2 * LARGEST_DELTA;

/// The most deltas in the chain of one object. Git never writes longer chains, with any configuration.
pub(crate) const LONGEST_CHAIN: usize = 4095;

/// See [`Deltas::held`].
const MOST_HELD_BYTES: u64 = 8 << 20;

/// The most threads per pack, because other requests need processors too.
const THREADS: usize = 2;

/// Up to this number of deltas, no further thread is started.
const FEW_DELTAS: usize = 32;

/// The size of the read buffer in bytes.
const PIECE: usize = 64 << 10;

/// Smaller amounts of memory are not reserved.
const LITTLE_MEMORY: usize = 1 << 20;

/// The deltas of a pack.
pub(super) struct Deltas<'a> {
    pub file: &'a File,
    entries: &'a [Entry],
    /// The offset at which the last entry ends.
    end: u64,
    pub bounds: &'a Bounds,
    /// The directory for temporary files.
    folder: &'a Path,
    /// The offset of the base and the index of the delta, sorted; for bases named by offset.
    based_at: Vec<(u64, u32)>,
    /// The id of the base and the index of the delta, sorted; for bases named by id.
    based_on: Vec<(ObjectId, u32)>,
    /// For the first delta of each base id: whether a thread resolves the deltas on this base. Many entries of a pack
    /// may turn out to be the same object, and each would lead to all of these deltas.
    claimed: Vec<AtomicBool>,
    /// The most bytes of base objects that each thread keeps in memory, besides the oldest one.
    pub held: u64,
    /// For each entry, whether its delta was resolved.
    done: Vec<AtomicBool>,
}

/// The result of resolving deltas.
pub(super) struct ResolvedDeltas {
    /// Ids and kinds, in the order of the entries.
    pub objects: Vec<Option<(ObjectId, Kind)>>,
    /// The objects that are to be stored whole.
    pub wholes: Vec<WholeObject>,
}

impl<'a> Deltas<'a> {
    pub fn new(
        file: &'a File,
        entries: &'a [Entry],
        end: u64,
        bounds: &'a Bounds,
        folder: &'a Path,
    ) -> Self {
        let (mut based_at, mut based_on) = (Vec::new(), Vec::new());
        for (at, entry) in (0..).zip(entries) {
            match entry.stored {
                EntryData::Whole(..) => (),
                EntryData::OffsetDelta(offset) => based_at.push((offset, at)),
                EntryData::RefDelta(id) => based_on.push((id, at)),
            }
        }
        based_at.sort_unstable();
        based_on.sort_unstable();
        let flags = |count| (0..count).map(|_| AtomicBool::new(false)).collect();
        let (claimed, done) = (flags(based_on.len()), flags(entries.len()));
        let held = MOST_HELD_BYTES;
        Self { file, entries, end, bounds, folder, based_at, based_on, claimed, held, done }
    }

    /// Resolves the deltas whose bases are in the same pack.
    pub fn resolve_in_pack(&self) -> Result<ResolvedDeltas, IntakeError> {
        let is_base = |at: &u32| match self.entries[*at as usize].stored {
            EntryData::Whole(_, id) => {
                self.deltas_on_entry(*at).next().is_some() || self.deltas_on_id(id).next().is_some()
            }
            _ => false,
        };
        let bases: Vec<u32> = (0..self.entries.len() as u32).filter(is_base).collect();
        let threads = if self.count() <= FEW_DELTAS { 1 } else { THREADS.min(bases.len()) };
        self.reserve_memory(threads)?;
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let resolve_bases = || -> Result<ResolvedObjects, IntakeError> {
            let mut resolver = DeltaResolver::new(self, None);
            while let Some(&at) = bases.get(next.fetch_add(1, Ordering::Relaxed)) {
                let EntryData::Whole(kind, id) = self.entries[at as usize].stored else { continue };
                if failed.load(Ordering::Relaxed) {
                    break;
                }
                resolver
                    .resolve_all_on(Base {
                        at: Some(at),
                        kind,
                        id,
                        read: &|resolver| resolver.read_whole(at),
                    })
                    .inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
            }
            Ok(resolver.finish())
        };
        let mut found =
            ResolvedDeltas { objects: vec![None; self.entries.len()], wholes: Vec::new() };
        if threads <= 1 {
            found.add(resolve_bases()?);
            return Ok(found);
        }
        thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(resolve_bases)).collect();
            for thread in threads {
                found.add(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?);
            }
            Ok::<_, IntakeError>(())
        })?;
        Ok(found)
    }

    /// Passes the content of each object except blobs to `each`. All object ids are known already.
    pub fn inspect_contents(
        &self,
        names: &[ObjectId],
        fits: &mut SizeCheck<'_>,
        each: &mut ContentCheck<'_>,
    ) -> Result<(), IntakeError> {
        let mut resolver = DeltaResolver::new(self, Some(Inspection { names, fits, each }));
        for (at, entry) in (0..).zip(self.entries) {
            if let EntryData::Whole(kind, id) = entry.stored
                && kind != Kind::Blob
            {
                let read = &|resolver: &mut DeltaResolver<'_>| resolver.inspect_whole(at, kind);
                resolver.resolve_all_on(Base { at: Some(at), kind, id, read })?;
            }
        }
        Ok(())
    }

    fn count(&self) -> usize {
        self.based_at.len() + self.based_on.len()
    }

    /// Reserves the most memory that this number of threads needs, computed from the largest object resolved in memory.
    fn reserve_memory(&self, threads: usize) -> Result<(), IntakeError> {
        let deltas = self.based_at.iter().map(|(_, at)| at);
        let deltas = deltas.chain(self.based_on.iter().map(|(_, at)| at));
        let sizes = deltas.map(|at| &self.entries[*at as usize]).map(|e| e.result.max(e.size));
        let largest = sizes.map(|size| size.min(LARGEST_DELTA)).max().unwrap_or_default();
        let held = self.held.min(largest.saturating_mul(self.count() as u64));
        let bytes = threads * usize::try_from(4 * largest + held).unwrap_or(usize::MAX >> 8);
        if bytes < LITTLE_MEMORY { Ok(()) } else { self.bounds.reserve_memory(bytes) }
    }

    /// The ids of bases that were not found, in the order of the entries that need them.
    pub fn missing(&self) -> Vec<ObjectId> {
        let open = self.based_on.iter().filter(|(_, at)| !self.is_done(*at));
        let mut first: Vec<(ObjectId, u32)> = open.copied().collect();
        first.dedup_by_key(|(id, _)| *id);
        first.sort_unstable_by_key(|(_, at)| *at);
        first.into_iter().map(|(id, _)| id).collect()
    }

    /// Whether an unresolved delta is based on this object.
    pub fn is_needed(&self, id: ObjectId) -> bool {
        self.deltas_on_id(id).any(|at| !self.is_done(at))
    }

    fn is_done(&self, at: u32) -> bool {
        self.done[at as usize].load(Ordering::Relaxed)
    }

    /// Returns the deltas on an object that no thread has claimed yet. The caller has to resolve them.
    fn claim(&self, at: Option<u32>, id: ObjectId) -> Vec<u32> {
        let mut based = at.map_or_else(Vec::new, |at| self.deltas_on_entry(at).collect());
        let first = self.based_on.partition_point(|(base, _)| *base < id);
        let is_any = self.based_on.get(first).is_some_and(|(base, _)| *base == id);
        if is_any && !self.claimed[first].swap(true, Ordering::Relaxed) {
            based.extend(self.deltas_on_id(id));
        }
        based
    }

    /// The deltas that name the offset of this entry as their base.
    fn deltas_on_entry(&self, at: u32) -> impl Iterator<Item = u32> {
        let offset = self.entries[at as usize].offset;
        let first = self.based_at.partition_point(|(base, _)| *base < offset);
        let here = self.based_at[first..].iter().take_while(move |(base, _)| *base == offset);
        here.map(|(_, at)| *at)
    }

    /// The deltas that name this object id as their base.
    fn deltas_on_id(&self, id: ObjectId) -> impl Iterator<Item = u32> {
        let first = self.based_on.partition_point(|(base, _)| *base < id);
        let here = self.based_on[first..].iter().take_while(move |(base, _)| *base == id);
        here.map(|(_, at)| *at)
    }

    /// The range of the compressed bytes of an entry in the file.
    fn compressed_range(&self, at: u32) -> Range<u64> {
        let entry = &self.entries[at as usize];
        let end = self.entries.get(at as usize + 1).map_or(self.end, |next| next.offset);
        entry.offset + u64::from(entry.header)..end
    }
}

impl ResolvedDeltas {
    pub fn add(&mut self, made: ResolvedObjects) {
        for (at, id, kind) in made.objects {
            self.objects[at as usize] = Some((id, kind));
        }
        self.wholes.extend(made.wholes);
    }
}

/// The objects that one thread resolved.
pub(super) struct ResolvedObjects {
    objects: Vec<(u32, ObjectId, Kind)>,
    wholes: Vec<WholeObject>,
}

/// A base that is not a delta itself.
pub(super) struct Base<'a> {
    /// The index of its entry, if it is in this pack.
    pub at: Option<u32>,
    pub kind: Kind,
    pub id: ObjectId,
    pub read: &'a dyn Fn(&mut DeltaResolver<'_>) -> Result<Data, IntakeError>,
}

/// The size of the delta chain of an object, as it will be stored.
#[derive(Clone, Copy, Default)]
struct Chain {
    bytes: u64,
}

/// One object on the path from a base to the object that is being resolved.
struct Step {
    chain: Chain,
    /// The content; present as long as deltas on it are left.
    data: Option<Data>,
    /// The deltas on this object that are not resolved yet.
    left: Vec<u32>,
}

/// Checks the size of an object before it is read.
type SizeCheck<'a> = dyn FnMut(ObjectId, Kind, u64) -> Result<(), IntakeError> + 'a;

/// Checks the content of an object.
type ContentCheck<'a> = dyn FnMut(ObjectId, Kind, &[u8]) -> Result<(), IntakeError> + 'a;

/// The checks that run on contents once all object ids are known.
struct Inspection<'a> {
    names: &'a [ObjectId],
    /// Called with the size of each object before it is read.
    fits: &'a mut SizeCheck<'a>,
    each: &'a mut ContentCheck<'a>,
}

/// Resolves deltas in one thread.
pub(super) struct DeltaResolver<'a> {
    deltas: &'a Deltas<'a>,
    inspection: Option<Inspection<'a>>,
    unpacker: Unpacker,
    pub spill: Spill,
    /// The current path. Contents on disk come before contents in memory.
    path: Vec<Step>,
    /// The bytes of the path that are in memory, and the first index at which such a step can be.
    held: u64,
    first_held: usize,
    /// For each step on disk, the offset in the temporary file at which its content ends.
    spilled: Vec<u64>,
    found: Vec<(u32, ObjectId, Kind)>,
    wholes: WholeObjects,
}

impl<'a> DeltaResolver<'a> {
    fn new(deltas: &'a Deltas<'a>, inspection: Option<Inspection<'a>>) -> Self {
        let unpacker = Unpacker { inflate: Decompress::new(true), input: vec![0; PIECE] };
        let (spill, wholes) = (Spill::new(deltas.folder), WholeObjects::new(deltas.folder));
        let (path, spilled, found) = (Vec::new(), Vec::new(), Vec::new());
        let (held, first_held) = (0, 0);
        Self { deltas, inspection, unpacker, spill, path, held, first_held, spilled, found, wholes }
    }

    /// Creates the state for resolving deltas on objects outside the pack.
    pub fn for_outside_bases(deltas: &'a Deltas<'a>) -> Self {
        Self::new(deltas, None)
    }

    pub fn finish(self) -> ResolvedObjects {
        ResolvedObjects { objects: self.found, wholes: self.wholes.list }
    }

    /// Resolves all deltas on an object, the deltas on their results, and so on.
    pub fn resolve_all_on(&mut self, base: Base<'_>) -> Result<(), IntakeError> {
        let deltas = self.deltas;
        deltas.bounds.check()?;
        let left = deltas.claim(base.at, base.id);
        if left.is_empty() && self.inspection.is_none() {
            return Ok(());
        }
        let data = (base.read)(self)?;
        if left.is_empty() {
            return Ok(());
        }
        self.push(Step { chain: Chain::default(), data: Some(data), left });
        while let Some(step) = self.path.last_mut() {
            let Some(at) = step.left.pop() else {
                self.path.pop();
                self.first_held = self.first_held.min(self.path.len());
                continue;
            };
            let (is_last, chain) = (step.left.is_empty(), step.chain);
            deltas.bounds.check()?;
            if self.path.len() > LONGEST_CHAIN {
                let what = format!("has a chain of more than {LONGEST_CHAIN} deltas");
                return Err(IntakeError::Invalid(what));
            }
            let from = self.take_last_content()?;
            let (from, made, id) = self.resolve(base.kind, from, at, is_last)?;
            let chain = self.choose_form(chain, from.len(), base.kind, at, &made)?;
            deltas.done[at as usize].store(true, Ordering::Relaxed);
            if !is_last {
                self.set_last_content(from);
            }
            let left = deltas.claim(Some(at), id);
            if !left.is_empty() {
                self.push(Step { chain, data: Some(made), left });
                self.spill_held(self.path.len() - 1, deltas.held)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, step: Step) {
        let data = step.data;
        self.path.push(Step { data: None, ..step });
        if let Some(data) = data {
            self.set_last_content(data);
        }
    }

    /// Sets the content of the last step.
    fn set_last_content(&mut self, data: Data) {
        let Some(at) = self.path.len().checked_sub(1) else { return };
        match &data {
            Data::InMemory(bytes) => {
                self.held += bytes.len() as u64;
                self.first_held = self.first_held.min(at);
            }
            Data::OnDisk(range) => self.spilled.push(range.end),
        }
        self.path[at].data = Some(data);
    }

    /// Takes the content of the last step, and loads it into memory if it is small.
    fn take_last_content(&mut self) -> Result<Data, IntakeError> {
        match self.path.last_mut().and_then(|step| step.data.take()) {
            Some(Data::InMemory(bytes)) => {
                self.held -= bytes.len() as u64;
                Ok(Data::InMemory(bytes))
            }
            Some(Data::OnDisk(range)) => {
                self.spilled.pop();
                if range.end - range.start > LARGEST_DELTA {
                    return Ok(Data::OnDisk(range));
                }
                Ok(Data::InMemory(self.spill.load(&range)?))
            }
            None => Err(IntakeError::Failed(GitError::Failed(
                "a delta base was freed too early".to_owned(),
            ))),
        }
    }

    /// Moves the oldest contents of the first `steps` steps to disk until at most `most` bytes stay
    /// in memory, besides one content. After each moved content at least as many bytes were
    /// produced, so moving costs no more than producing them.
    fn spill_held(&mut self, steps: usize, most: u64) -> Result<(), IntakeError> {
        while self.first_held < steps {
            let step = &mut self.path[self.first_held];
            if let Some(Data::InMemory(bytes)) = &step.data {
                let size = bytes.len() as u64;
                if most > 0 && self.held - size <= most {
                    break;
                }
                let range = self.spill.write(bytes, self.spilled.last().copied().unwrap_or(0))?;
                self.spilled.push(range.end);
                step.data = Some(Data::OnDisk(range));
                self.held -= size;
            }
            self.first_held += 1;
        }
        Ok(())
    }

    /// Resolves one delta. Returns the base too, because the caller may need it again.
    fn resolve(
        &mut self,
        kind: Kind,
        from: Data,
        at: u32,
        is_last: bool,
    ) -> Result<(Data, Data, ObjectId), IntakeError> {
        let deltas = self.deltas;
        let entry = &deltas.entries[at as usize];
        let is_small = entry.result <= LARGEST_DELTA && entry.size <= LARGEST_DELTA;
        // During the inspection, no object that is stored as a delta is large any more.
        let is_small = is_small || self.inspection.is_some();
        let from = match from {
            Data::InMemory(base) if is_small => {
                let made = self.apply_in_memory(&base, at)?;
                let id = self.identify(kind, at, &made)?;
                return Ok((Data::InMemory(base), Data::InMemory(made), id));
            }
            from => from,
        };
        if entry.result <= LARGEST_DELTA {
            let (made, id) = self.apply_streamed(kind, &from, at, None)?;
            return Ok((from, made, id));
        }
        // Contents on disk come before contents in memory, so all contents before this one are moved to disk too.
        self.spill_held(self.path.len(), 0)?;
        let floor = self.spilled.last().copied().unwrap_or(0);
        let (from, start) = match from {
            Data::InMemory(bytes) if is_last => (Data::InMemory(bytes), floor),
            Data::InMemory(bytes) => {
                let range = self.spill.write(&bytes, floor)?;
                let end = range.end;
                (Data::OnDisk(range), end)
            }
            // The base is not needed again, so two regions of the file are enough for a chain of any length.
            Data::OnDisk(base) if is_last && floor + entry.result <= base.start => {
                (Data::OnDisk(base), floor)
            }
            Data::OnDisk(base) => {
                let end = base.end;
                (Data::OnDisk(base), end)
            }
        };
        let most = deltas.bounds.object_bytes.saturating_mul(4);
        if start.saturating_add(entry.result) > most {
            let text = "the pack has too many large objects that are based on each other";
            return Err(IntakeError::TooLarge(text.to_owned()));
        }
        let (made, id) = self.apply_streamed(kind, &from, at, Some(start))?;
        Ok((from, made, id))
    }

    fn apply_in_memory(&mut self, base: &[u8], at: u32) -> Result<Vec<u8>, IntakeError> {
        let deltas = self.deltas;
        let entry = &deltas.entries[at as usize];
        let delta = self.unpacker.unpack(deltas, at)?;
        if self.inspection.is_none() {
            deltas.bounds.count_produced(entry.size + entry.result)?;
        }
        patch::apply(base, &delta, LARGEST_DELTA as usize).ok_or_else(delta_mismatch)
    }

    fn apply_streamed(
        &mut self,
        kind: Kind,
        base: &Data,
        at: u32,
        to: Option<u64>,
    ) -> Result<(Data, ObjectId), IntakeError> {
        let deltas = self.deltas;
        let (entry, bounds) = (&deltas.entries[at as usize], deltas.bounds);
        let needs_file = to.is_some() || matches!(base, Data::OnDisk(_));
        let file = if needs_file { Some(self.spill.file()?) } else { None };
        let (part, inflate) = (deltas.compressed_range(at), &mut self.unpacker.inflate);
        let mut delta = InflateReader::new(deltas.file, part, inflate);
        let mut base_reader = BaseReader::new(base, file);
        let mut result = ResultWriter::new(kind, entry.result, file.zip(to), bounds);
        if patch::read_sizes(&mut delta).map_err(unreadable)? != Some((base.len(), entry.result)) {
            return Err(delta_mismatch());
        }
        bounds.count_produced(entry.size)?;
        let mut piece = [0; 127];
        while let Some(step) = patch::read_instruction(&mut delta).map_err(unreadable)? {
            match step {
                Instruction::Copy { from, length } => {
                    base_reader.copy(from..from + length, &mut result)?;
                }
                Instruction::Insert(length) => {
                    let piece = &mut piece[..length as usize];
                    delta.read_exact(piece).map_err(unreadable)?;
                    result.write(piece)?;
                }
            }
        }
        let (made, id) = result.finish()?;
        self.found.push((at, id, kind));
        Ok((made, id))
    }

    /// Returns the object id of a result: computes and records it, or passes the content to the inspection.
    fn identify(&mut self, kind: Kind, at: u32, made: &[u8]) -> Result<ObjectId, IntakeError> {
        if let Some(inspection) = &mut self.inspection {
            let id = inspection.names[at as usize];
            (inspection.fits)(id, kind, made.len() as u64)?;
            (inspection.each)(id, kind, made)?;
            return Ok(id);
        }
        let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, made)
            .map_err(|_| invalid_pack("has an object with a forged hash"))?;
        self.found.push((at, id, kind));
        Ok(id)
    }

    /// Decides whether a received delta is stored as a delta or whole.
    fn choose_form(
        &mut self,
        base: Chain,
        base_size: u64,
        kind: Kind,
        at: u32,
        made: &Data,
    ) -> Result<Chain, IntakeError> {
        let entry = &self.deltas.entries[at as usize];
        let chain = Chain { bytes: base.bytes.saturating_add(entry.size) };
        let largest = base_size.max(made.len()).max(entry.size);
        let is_small = largest <= LARGEST_DELTA;
        if self.inspection.is_some() || (is_small && chain.bytes <= LARGEST_CHAIN) {
            return Ok(chain);
        }
        self.wholes.write(&mut self.spill, at, kind, made, self.deltas.bounds)?;
        Ok(Chain::default())
    }

    /// Reads an entry that is not a delta.
    fn read_whole(&mut self, at: u32) -> Result<Data, IntakeError> {
        let deltas = self.deltas;
        let size = deltas.entries[at as usize].size;
        if size <= LARGEST_DELTA {
            return Ok(Data::InMemory(self.unpacker.unpack(deltas, at)?));
        }
        let part = deltas.compressed_range(at);
        let mut from = InflateReader::new(deltas.file, part, &mut self.unpacker.inflate);
        let (file, mut written) = (self.spill.file()?, 0);
        loop {
            let piece = from.fill_buf().map_err(disk_error)?;
            let length = piece.len();
            if length == 0 {
                return Ok(Data::OnDisk(0..written));
            }
            deltas.bounds.check()?;
            deltas.bounds.count_produced(length as u64)?;
            file.write_all_at(piece, written).map_err(disk_error)?;
            written += length as u64;
            from.consume(length);
        }
    }

    /// Reads an entry that is not a delta, and passes it to the inspection.
    fn inspect_whole(&mut self, at: u32, kind: Kind) -> Result<Data, IntakeError> {
        let Some(inspection) = &mut self.inspection else { return self.read_whole(at) };
        let id = inspection.names[at as usize];
        (inspection.fits)(id, kind, self.deltas.entries[at as usize].size)?;
        let data = self.unpacker.unpack(self.deltas, at)?;
        (inspection.each)(id, kind, &data)?;
        Ok(Data::InMemory(data))
    }
}

struct Unpacker {
    inflate: Decompress,
    input: Vec<u8>,
}

impl Unpacker {
    /// Decompresses a small entry. Its size was verified when the pack was received.
    fn unpack(&mut self, deltas: &Deltas<'_>, at: u32) -> Result<Vec<u8>, IntakeError> {
        let size = usize::try_from(deltas.entries[at as usize].size).unwrap_or(usize::MAX);
        let mut part = deltas.compressed_range(at);
        let mut data = Vec::with_capacity(size);
        self.inflate.reset(true);
        while data.len() < size {
            let left = usize::try_from(part.end - part.start).unwrap_or(PIECE).min(PIECE);
            let read = deltas.file.read_at(&mut self.input[..left], part.start);
            let input = &self.input[..read.map_err(disk_error)?];
            let (before, written) = (self.inflate.total_in(), data.len());
            let inflated = self.inflate.decompress_vec(input, &mut data, FlushDecompress::None);
            let taken = self.inflate.total_in() - before;
            if inflated.is_err() || (taken == 0 && data.len() == written) {
                let changed = "a pack changed while it was read".to_owned();
                return Err(IntakeError::Failed(GitError::Failed(changed)));
            }
            part.start += taken;
        }
        Ok(data)
    }
}

/// Maps an error while reading a delta: the delta is invalid, or the disk failed.
fn unreadable(error: io::Error) -> IntakeError {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match error.kind() {
        InvalidData | InvalidInput | UnexpectedEof => delta_mismatch(),
        _ => disk_error(error),
    }
}
