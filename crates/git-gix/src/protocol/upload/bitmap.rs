//! What git noted beside a pack: for some commits, all that belongs to them and to what they come from.

use std::fs;

use gix::ObjectId;
use gix::hashtable::HashMap;

use super::packs::{Pack, Packs};

/// A larger file is not worth to be read.
const LARGEST: u64 = 256 << 20;

/// Magic, version, flags, number of entries and the checksum of the pack.
const HEADER: usize = 32;

/// A set of positions in a pack.
#[derive(Clone, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    fn of(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    pub(super) fn contains(&self, at: usize) -> bool {
        self.0[at / 64] & (1 << (at % 64)) != 0
    }

    /// Whether it is new.
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

    /// Removes what is behind the last position.
    fn cut(&mut self, count: usize) {
        if let Some(last) = self.0.get_mut(count / 64) {
            *last &= (1 << (count % 64)) - 1;
        }
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

/// The notes beside one pack.
pub(super) struct Bitmap<'a> {
    pub(super) pack: u32,
    opened: &'a Pack,
    file: Vec<u8>,
    pub(super) blobs: Bits,
    /// Which note is that of a commit.
    noted: HashMap<ObjectId, usize>,
    notes: Vec<Note>,
}

/// Where a note is in the file, and how far before it that is which it differs from.
struct Note {
    at: usize,
    differs_from: usize,
}

impl<'a> Bitmap<'a> {
    /// The notes of a pack that has some. What cannot be understood is as good as none.
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
        let entries = number(&file, 8)? as usize;
        let mut from = HEADER;
        let mut blobs = Bits::default();
        for kind in 0..4 {
            let mut bits = Bits::of(count);
            from = apply(&file, from, &mut bits)?;
            if kind == 2 {
                blobs = bits;
            }
        }
        let mut noted = HashMap::default();
        let mut notes = Vec::new();
        for entry in 0..entries {
            let position = number(&file, from)?;
            let differs_from = usize::from(*file.get(from + 4)?);
            if position as usize >= count || differs_from > entry {
                return None;
            }
            noted.insert(opened.index.oid_at_index(position).to_owned(), entry);
            notes.push(Note { at: from + 6, differs_from });
            from = end(&file, from + 6)?;
        }
        Some(Self { pack: at, opened, file, blobs, noted, notes })
    }

    pub(super) fn none(&self) -> Bits {
        Bits::of(self.count())
    }

    /// How many objects are in the pack.
    pub(super) fn count(&self) -> usize {
        self.opened.by_offset().len()
    }

    /// Where an object is in the order of the pack.
    pub(super) fn position(&self, id: ObjectId) -> Option<usize> {
        let entry = self.opened.index.lookup(id)?;
        self.opened.rank_of(self.opened.index.pack_offset_at_index(entry))
    }

    pub(super) fn id_at(&self, position: usize) -> ObjectId {
        self.opened.index.oid_at_index(self.opened.by_offset()[position]).to_owned()
    }

    /// All that a commit leads to, if that is noted.
    pub(super) fn noted(&self, commit: ObjectId) -> Option<Bits> {
        let mut bits = self.none();
        let mut at = *self.noted.get(&commit)?;
        loop {
            let note = &self.notes[at];
            apply(&self.file, note.at, &mut bits)?;
            if note.differs_from == 0 {
                bits.cut(self.count());
                return Some(bits);
            }
            at -= note.differs_from;
        }
    }
}

fn number(file: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(file.get(at..at + 4)?.try_into().ok()?))
}

/// Where the compressed bits end that begin there: how many bits, how many words, those, and a number that
/// only matters to who goes on writing.
fn end(file: &[u8], at: usize) -> Option<usize> {
    let words = number(file, at + 4)? as usize;
    let end = at + 8 + words * 8 + 4;
    (end <= file.len()).then_some(end)
}

/// Turns over each bit that is set in the compressed bits that begin there. Returns where they end.
fn apply(file: &[u8], at: usize, bits: &mut Bits) -> Option<usize> {
    let end = end(file, at)?;
    let mut words = file[at + 8..end - 4]
        .chunks_exact(8)
        .map(|word| u64::from_be_bytes(word.try_into().expect("eight bytes")));
    let mut next = 0usize;
    while let Some(marker) = words.next() {
        // So many words of the same bit, then so many words as they are.
        let same = usize::try_from((marker >> 1) & 0xffff_ffff).ok()?;
        let literal = marker >> 33;
        if marker & 1 == 1 {
            bits.0
                .get_mut(next..next.checked_add(same)?)?
                .iter_mut()
                .for_each(|word| *word = !*word);
        }
        next += same;
        for _ in 0..literal {
            *bits.0.get_mut(next)? ^= words.next()?;
            next += 1;
        }
    }
    Some(end)
}
