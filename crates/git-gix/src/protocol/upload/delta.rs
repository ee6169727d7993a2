//! Encodes the delta between two objects in the format of packs: instructions that copy from the
//! base or insert new bytes.

/// The shortest match that is found, in bytes.
const WINDOW: usize = 16;

/// The most bytes that one instruction copies or inserts.
const LONGEST_COPY: usize = 0xffff;
const LONGEST_INSERT: usize = 127;

/// The multiplier of the rolling hash. Any large odd number would do.
const FACTOR: u32 = 0x9e37_79b1;

/// Returns the delta from `base` to `target`, or `None` if it would take `limit` bytes or more.
pub(super) fn encode(base: &[u8], target: &[u8], limit: usize) -> Option<Vec<u8>> {
    let index = Index::of(base)?;
    let mut delta = Vec::new();
    write_size(&mut delta, base.len());
    write_size(&mut delta, target.len());
    // All bytes before `done` are in the delta; all windows before `at` were searched.
    let (mut done, mut at) = (0, 0);
    let mut hash = None;
    while at + WINDOW <= target.len() && delta.len() + (at - done) < limit {
        let here = hash.take().unwrap_or_else(|| Hash::of(&target[at..at + WINDOW]));
        let Some(mut from) = index.find(base, here, &target[at..at + WINDOW]) else {
            hash = target.get(at + WINDOW).map(|&next| here.rolled(target[at], next));
            at += 1;
            continue;
        };
        let alike = |(a, b): &(&u8, &u8)| a == b;
        let mut length = base[from..].iter().zip(&target[at..]).take_while(alike).count();
        let before = base[..from].iter().rev().zip(target[done..at].iter().rev());
        let before = before.take_while(alike).count();
        (from, at, length) = (from - before, at - before, length + before);
        write_insert(&mut delta, &target[done..at]);
        write_copy(&mut delta, from, length);
        at += length;
        done = at;
    }
    write_insert(&mut delta, &target[done..]);
    (delta.len() < limit).then_some(delta)
}

/// A rolling hash of one window: the hash of the next window is computed from it in constant time.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Hash(u32);

impl Hash {
    fn of(window: &[u8]) -> Self {
        Self(window.iter().fold(0, |hash: u32, &byte| {
            hash.wrapping_mul(FACTOR).wrapping_add(u32::from(byte) + 1)
        }))
    }

    fn rolled(self, first: u8, next: u8) -> Self {
        const FIRST: u32 = FACTOR.wrapping_pow(WINDOW as u32 - 1);
        let rest = self.0.wrapping_sub((u32::from(first) + 1).wrapping_mul(FIRST));
        Self(rest.wrapping_mul(FACTOR).wrapping_add(u32::from(next) + 1))
    }
}

/// A hash table of the windows of the base.
struct Index {
    /// One more than the position at which a window begins; 0 for an empty slot.
    places: Vec<u32>,
    shift: u32,
}

impl Index {
    fn of(base: &[u8]) -> Option<Self> {
        u32::try_from(base.len()).ok()?;
        let bits = (base.len() / WINDOW * 2 + 1).next_power_of_two().trailing_zeros().max(4);
        let mut index = Self { places: vec![0; 1 << bits], shift: 32 - bits.min(31) };
        for (number, part) in base.chunks_exact(WINDOW).enumerate() {
            let slot = index.slot(Hash::of(part));
            // Of equal windows the first is kept, because the most bytes follow it.
            if index.places[slot] == 0 {
                index.places[slot] = u32::try_from(number * WINDOW + 1).ok()?;
            }
        }
        Some(index)
    }

    fn slot(&self, hash: Hash) -> usize {
        (hash.0.wrapping_mul(0x85eb_ca6b) >> self.shift) as usize % self.places.len()
    }

    fn find(&self, base: &[u8], hash: Hash, window: &[u8]) -> Option<usize> {
        let place = (self.places[self.slot(hash)] as usize).checked_sub(1)?;
        (base[place..place + WINDOW] == *window).then_some(place)
    }
}

fn write_size(delta: &mut Vec<u8>, mut size: usize) {
    while size >= 0x80 {
        delta.push((size & 0x7f) as u8 | 0x80);
        size >>= 7;
    }
    delta.push(size as u8);
}

fn write_insert(delta: &mut Vec<u8>, bytes: &[u8]) {
    for piece in bytes.chunks(LONGEST_INSERT) {
        delta.push(piece.len() as u8);
        delta.extend_from_slice(piece);
    }
}

/// Writes copy instructions. Zero bytes of offset and length are left out; the bits of the first
/// byte say which bytes are present.
fn write_copy(delta: &mut Vec<u8>, mut from: usize, mut length: usize) {
    while length > 0 {
        let taken = length.min(LONGEST_COPY);
        let at = delta.len();
        delta.push(0x80);
        let numbers = [(from as u32).to_le_bytes(), (taken as u32).to_le_bytes()].concat();
        for (bit, &byte) in numbers[..7].iter().enumerate().filter(|(_, byte)| **byte != 0) {
            delta[at] |= 1 << bit;
            delta.push(byte);
        }
        from += taken;
        length -= taken;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::intake::apply;

    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % limit.max(1) as u64) as usize
        }
    }

    #[test]
    fn a_target_comes_out_as_it_was() {
        let mut random = Random(42);
        for round in 0..500 {
            let size = random.below(if round % 10 == 0 { 300_000 } else { 3000 });
            let letters = 1 + random.below(255);
            let base: Vec<u8> = (0..size).map(|_| random.below(letters) as u8).collect();
            let mut target = base.clone();
            for _ in 0..random.below(8) {
                let at = random.below(target.len());
                let end = (at + random.below(200)).min(target.len());
                let new: Vec<u8> =
                    (0..random.below(200)).map(|_| random.below(256) as u8).collect();
                target.splice(at..end, new);
            }
            let delta = encode(&base, &target, usize::MAX).expect("no limit");
            assert!(
                apply(&base, &delta, usize::MAX).is_some_and(|made| made == target),
                "round {round}"
            );
        }
    }

    #[test]
    fn a_small_change_takes_few_bytes() {
        let base: Vec<u8> =
            (0..2000).flat_map(|line| format!("line {line}\n").into_bytes()).collect();
        let mut target = base.clone();
        target.splice(9000..9004, *b"another");
        let delta = encode(&base, &target, base.len() / 2).expect("it is much the same");
        assert!(delta.len() < 80, "{}", delta.len());
    }

    #[test]
    fn what_has_nothing_in_common_is_given_up() {
        let base = vec![1; 5000];
        let target: Vec<u8> = (0..5000_u32).map(|at| (at * 7 / 3) as u8).collect();
        assert_eq!(encode(&base, &target, 2500), None);
        assert_eq!(encode(b"", b"", 1), None);
    }
}
