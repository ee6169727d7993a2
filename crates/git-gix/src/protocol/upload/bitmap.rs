//! Reads the `.bitmap` file that git writes beside a pack: for some commits, the set of all objects
//! that are reachable from the commit.

use std::fs;

use gix::ObjectId;
use gix::hashtable::HashMap;
use gix::objs::Kind;
use gix_bitmap::ewah;

use super::packs::{Pack, Packs};

/// Larger bitmap files are not read.
const LARGEST: u64 = 256 << 20;

/// Magic, version, flags, number of entries and the checksum of the pack.
const HEADER: usize = 32;

/// The kinds whose bitmaps follow the header, in this order.
const KINDS: [Kind; 4] = [Kind::Commit, Kind::Tree, Kind::Blob, Kind::Tag];

/// A set of positions in a pack, one bit per object.
#[derive(Clone, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    fn of(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    pub(super) fn contains(&self, at: usize) -> bool {
        self.0[at / 64] & (1 << (at % 64)) != 0
    }

    /// Adds a position. Returns whether it was not in the set before.
    pub(super) fn insert(&mut self, at: usize) -> bool {
        let new = !self.contains(at);
        self.0[at / 64] |= 1 << (at % 64);
        new
    }

    pub(super) fn add(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(one, other)| *one |= other);
    }

    pub(super) fn remove(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(one, other)| *one &= !other);
    }

    /// Flips each bit that is set in the compressed bitmap. Returns `None` if the bitmap is damaged.
    fn flip(&mut self, compressed: &ewah::Vec, count: usize) -> Option<()> {
        compressed.for_each_set_bit(|at| {
            let word = self.0.get_mut(at / 64).filter(|_| at < count)?;
            *word ^= 1 << (at % 64);
            Some(())
        })
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            (0..64).filter(move |bit| word & (1 << bit) != 0).map(move |bit| at * 64 + bit)
        })
    }
}

/// The reachability bitmaps of one pack.
pub(super) struct Bitmap<'a> {
    pub(super) pack: u32,
    opened: &'a Pack,
    file: Vec<u8>,
    pub(super) blobs: Bits,
    /// Maps each commit with a bitmap to its index in `bitmaps`.
    by_commit: HashMap<ObjectId, usize>,
    bitmaps: Vec<StoredBitmap>,
}

/// The position of a bitmap in the file. The bitmap is XORed with the one `differs_from` entries
/// before it; 0 means that it is stored as it is.
struct StoredBitmap {
    at: usize,
    differs_from: usize,
}

impl<'a> Bitmap<'a> {
    /// Opens the first pack that has a bitmap file. A file that cannot be parsed counts as missing.
    pub(super) fn find(packs: &'a Packs) -> Option<Self> {
        packs.all().find_map(|(at, pack)| Self::open(at, pack))
    }

    fn open(at: u32, opened: &'a Pack) -> Option<Self> {
        let path = opened.path().with_extension("bitmap");
        if fs::metadata(&path).ok()?.len() > LARGEST {
            return None;
        }
        let file = fs::read(path).ok()?;
        let data = opened.data()?;
        let count = data.num_objects() as usize;
        let is_ours = file.get(..6)? == b"BITM\0\x01"
            && file.get(12..HEADER)? == data.checksum().as_slice()
            && opened.index.num_objects() as usize == count;
        if !is_ours {
            return None;
        }
        let entries = read_u32(file.get(8..)?)?.0 as usize;
        let mut rest = &file[HEADER..];
        let mut blobs = Bits::of(count);
        for kind in KINDS {
            let bits = read_ewah(&mut rest)?;
            if kind == Kind::Blob {
                blobs.flip(&bits, count)?;
            }
        }
        let mut by_commit = HashMap::default();
        let mut bitmaps = Vec::new();
        for entry in 0..entries {
            let (position, behind) = read_u32(rest)?;
            let (&[differs_from, _flags], behind) = behind.split_first_chunk()?;
            let differs_from = usize::from(differs_from);
            if position as usize >= count || differs_from > entry {
                return None;
            }
            rest = behind;
            by_commit.insert(opened.index.oid_at_index(position).to_owned(), entry);
            bitmaps.push(StoredBitmap { at: file.len() - rest.len(), differs_from });
            read_ewah(&mut rest)?;
        }
        Some(Self { pack: at, opened, file, blobs, by_commit, bitmaps })
    }

    pub(super) fn no_bits(&self) -> Bits {
        Bits::of(self.count())
    }

    /// The number of objects in the pack.
    pub(super) fn count(&self) -> usize {
        self.opened.by_offset().len()
    }

    /// The position of an object in the order of pack offsets, which bitmaps use.
    pub(super) fn position(&self, id: ObjectId) -> Option<usize> {
        let entry = self.opened.index.lookup(id)?;
        self.opened.rank_of(self.opened.index.pack_offset_at_index(entry))
    }

    pub(super) fn id_at(&self, position: usize) -> ObjectId {
        self.opened.index.oid_at_index(self.opened.by_offset()[position]).to_owned()
    }

    /// Returns all objects reachable from a commit, if the commit has a bitmap.
    pub(super) fn reachable_from(&self, commit: ObjectId) -> Option<Bits> {
        let mut bits = self.no_bits();
        let mut at = *self.by_commit.get(&commit)?;
        loop {
            let stored = &self.bitmaps[at];
            bits.flip(&read_ewah(&mut &self.file[stored.at..])?, self.count())?;
            if stored.differs_from == 0 {
                return Some(bits);
            }
            at -= stored.differs_from;
        }
    }
}

fn read_u32(from: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = from.split_first_chunk()?;
    Some((u32::from_be_bytes(*number), rest))
}

/// Reads the next EWAH bitmap.
fn read_ewah(from: &mut &[u8]) -> Option<ewah::Vec> {
    let (bits, rest) = ewah::decode(from).ok()?;
    *from = rest;
    Some(bits)
}
