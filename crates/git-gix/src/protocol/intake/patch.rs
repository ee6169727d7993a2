//! Parses and applies deltas.

use std::io::{self, BufRead};

/// Applies a delta to its base. Returns `None` if the delta is invalid or the result would be larger than `limit`.
pub(crate) fn apply(base: &[u8], mut delta: &[u8], limit: usize) -> Option<Vec<u8>> {
    let delta = &mut delta;
    if read_size(delta)? != base.len() as u64 {
        return None;
    }
    let size = usize::try_from(read_size(delta)?).ok().filter(|size| *size <= limit)?;
    // The announced size may be false, so the initial capacity is bounded.
    let mut target = Vec::with_capacity(size.min(base.len() + delta.len()));
    while let Some(step) = read_byte(delta) {
        let piece = match step {
            0 => return None,
            1..0x80 => delta.split_off(..usize::from(step))?,
            _ => {
                let from = read_number(delta, step & 0x0f)?;
                let length = match read_number(delta, step >> 4 & 0x07)? {
                    0 => 0x1_0000,
                    length => length,
                };
                base.get(from..from + length)?
            }
        };
        if target.len() + piece.len() > size {
            return None;
        }
        target.extend_from_slice(piece);
    }
    (target.len() == size).then_some(target)
}

/// The sizes of base and result at the beginning of a delta. Returns `None` if they are incomplete.
pub(crate) fn sizes(mut delta: &[u8]) -> Option<(u64, u64)> {
    Some((read_size(&mut delta)?, read_size(&mut delta)?))
}

/// The most bytes that the two sizes of a delta take.
pub(crate) const LONGEST_SIZES: usize = 20;

/// One instruction of a delta.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    /// Copies a range of the base.
    Copy { from: u64, length: u64 },
    /// Inserts the next bytes of the delta; their number.
    Insert(u64),
}

/// Reads the sizes of base and result from a delta that is too large for memory.
pub(crate) fn read_sizes(from: &mut dyn BufRead) -> io::Result<Option<(u64, u64)>> {
    let mut bytes = Vec::with_capacity(LONGEST_SIZES);
    let mut ends = 0;
    while ends < 2 && bytes.len() < LONGEST_SIZES {
        let Some(byte) = next_byte(from)? else { return Ok(None) };
        bytes.push(byte);
        ends += u8::from(byte & 0x80 == 0);
    }
    Ok(sizes(&bytes))
}

/// Reads the next instruction of such a delta. Returns `Ok(None)` at the end.
pub(crate) fn read_instruction(from: &mut dyn BufRead) -> io::Result<Option<Instruction>> {
    let Some(step) = next_byte(from)? else { return Ok(None) };
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    match step {
        0 => Err(invalid()),
        1..0x80 => Ok(Some(Instruction::Insert(step.into()))),
        _ => {
            let mut bytes = Vec::with_capacity(7);
            for _ in 0..(step & 0x7f).count_ones() {
                bytes.push(next_byte(from)?.ok_or_else(invalid)?);
            }
            let mut rest = &bytes[..];
            let offset = read_number(&mut rest, step & 0x0f).ok_or_else(invalid)?;
            let length = match read_number(&mut rest, step >> 4 & 0x07).ok_or_else(invalid)? {
                0 => 0x1_0000,
                length => length,
            };
            Ok(Some(Instruction::Copy { from: offset as u64, length: length as u64 }))
        }
    }
}

fn next_byte(from: &mut dyn BufRead) -> io::Result<Option<u8>> {
    let byte = from.fill_buf()?.first().copied();
    if byte.is_some() {
        from.consume(1);
    }
    Ok(byte)
}

fn read_byte(from: &mut &[u8]) -> Option<u8> {
    from.split_off_first().copied()
}

fn read_size(from: &mut &[u8]) -> Option<u64> {
    let mut size = 0;
    for shift in (0..63).step_by(7) {
        let byte = read_byte(from)?;
        size |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(size);
        }
    }
    None
}

/// Reads a number of up to four bytes. Each bit says whether a byte is present; missing bytes are 0.
fn read_number(from: &mut &[u8], bits: u8) -> Option<usize> {
    let mut number = 0;
    for at in 0..4 {
        if bits & (1 << at) != 0 {
            number |= usize::from(read_byte(from)?) << (8 * at);
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_read_step_by_step() {
        let delta = [&[0x90, 0x4e, 3][..], &[0x91, 4, 3], &[2, b'x', b'y'], &[0x80]].concat();
        let mut from = &delta[..];
        assert_eq!(sizes(from), Some((10_000, 3)));
        assert_eq!(read_sizes(&mut from).expect("memory"), Some((10_000, 3)));
        let mut next = || read_instruction(&mut from).expect("memory");
        assert_eq!(next(), Some(Instruction::Copy { from: 4, length: 3 }));
        assert_eq!(next(), Some(Instruction::Insert(2)));
        from = &from[2..];
        let mut next = || read_instruction(&mut from).expect("memory");
        assert_eq!(next(), Some(Instruction::Copy { from: 0, length: 0x1_0000 }));
        assert_eq!(next(), None);
        for cut in [&[0][..], &[0x91], &[0xff, 1, 2]] {
            assert!(read_instruction(&mut &cut[..]).is_err(), "{cut:?}");
        }
        for cut in [&[][..], &[1], &[0xff; 30]] {
            assert_eq!(read_sizes(&mut &cut[..]).expect("memory"), None, "{cut:?}");
        }
    }

    #[test]
    fn differences_that_do_not_fit_make_nothing() {
        let base = b"0123456789";
        let made = |delta: &[u8]| apply(base, delta, 100);
        assert_eq!(made(&[10, 3, 0x91, 4, 3]).as_deref(), Some(&b"456"[..]), "a part");
        assert_eq!(made(&[10, 4, 0x90, 3, 1, b'x']).as_deref(), Some(&b"012x"[..]), "and more");
        assert_eq!(made(&[10, 0]).as_deref(), Some(&b""[..]), "nothing");
        for (why, delta) in [
            ("no size", &[][..]),
            ("one size", &[10]),
            ("a size without end", &[0xff; 12]),
            ("another base", &[9, 3, 0x91, 4, 3]),
            ("less than it says", &[10, 4, 0x91, 4, 3]),
            ("more than it says", &[10, 2, 0x91, 4, 3]),
            ("past the end", &[10, 3, 0x91, 8, 3]),
            ("far past the end", &[10, 3, 0x9f, 255, 255, 255, 255, 3]),
            ("64 KiB of ten bytes", &[10, 3, 0x80]),
            ("a step that is not there", &[10, 3, 0]),
            ("a piece that is cut", &[10, 3, 3, b'x']),
            ("a number that is cut", &[10, 3, 0x91, 4]),
            ("more than allowed", &[10, 101, 0x90, 3]),
        ] {
            assert_eq!(made(delta), None, "{why}");
        }
    }
}
