//! Estimates the similarity of two files as git does: by the pieces that both contain, wherever they are. A piece is a
//! line, or 64 bytes of a longer line.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::history::contributors::lines::is_binary;

/// The similarity of identical files.
pub(super) const SAME: u64 = 60_000;

/// The similarity from which git treats a deleted and an added file as a rename.
pub(super) const RENAMED: u64 = SAME / 2;

const LONGEST_PIECE: usize = 64;

/// The hashes of a file's distinct pieces with the total number of bytes of each, sorted by hash.
pub(super) struct Pieces(Vec<(u64, u64)>);

impl Pieces {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let is_text = !is_binary(bytes);
        let hasher = BuildHasherDefault::<DefaultHasher>::new();
        let mut pieces = Vec::new();
        let mut piece = Vec::with_capacity(LONGEST_PIECE);
        for (at, &byte) in bytes.iter().enumerate() {
            // A CR before an LF is skipped, so that line endings do not make pieces differ.
            if is_text && byte == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
                continue;
            }
            piece.push(byte);
            if piece.len() == LONGEST_PIECE || byte == b'\n' {
                pieces.push((hasher.hash_one(&piece), piece.len() as u64));
                piece.clear();
            }
        }
        if !piece.is_empty() {
            pieces.push((hasher.hash_one(&piece), piece.len() as u64));
        }
        pieces.sort_unstable();
        pieces.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        pieces.shrink_to_fit();
        Self(pieces)
    }

    /// The number of distinct pieces.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of bytes that both files have in common.
    fn shared(&self, other: &Pieces) -> u64 {
        let mut others = other.0.iter().peekable();
        let mut shared = 0;
        for &(piece, size) in &self.0 {
            while others.next_if(|other| other.0 < piece).is_some() {}
            if let Some(other) = others.next_if(|other| other.0 == piece) {
                shared += size.min(other.1);
            }
        }
        shared
    }

    /// The similarity of two files, from 0 to [`SAME`].
    pub(super) fn similarity(&self, size: u64, other: &Pieces, other_size: u64) -> u64 {
        (self.shared(other) * SAME).checked_div(size.max(other_size)).unwrap_or(0)
    }
}

/// Returns whether the sizes alone rule out a similarity of `least`.
pub(super) fn differ_in_size(one: u64, two: u64, least: u64) -> bool {
    one.max(two) * (SAME - least) < one.abs_diff(two) * SAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_counts_shared_bytes_wherever_they_are() {
        for (one, two, expected) in [
            (&b"a\nb\n"[..], &b"b\na\n"[..], SAME),
            (b"a\r\nb\r\n", b"a\nb\n", SAME * 4 / 6),
            (b"a\na\n", b"a\nb\n", SAME / 2),
            (b"a\nb\n", b"c\nd\n", 0),
            (b"a\nb", b"a\nb", SAME),
            (b"", b"", 0),
        ] {
            let (ours, theirs) = (Pieces::of(one), Pieces::of(two));
            let score = ours.similarity(one.len() as u64, &theirs, two.len() as u64);
            assert_eq!(score, expected, "{one:?} and {two:?}");
        }
    }

    #[test]
    fn a_file_twice_as_large_may_still_be_the_same() {
        assert!(!differ_in_size(50, 100, RENAMED));
        assert!(differ_in_size(49, 100, RENAMED));
    }
}
