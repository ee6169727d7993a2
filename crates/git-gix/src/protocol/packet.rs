//! Reads and writes pkt-lines: packets with a length prefix, used by both sides of git's protocol.
//!
//! `gix-packetline` is not used, for three reasons. It refuses empty packets (`0004`), which git sends for an empty
//! push option. It reports a stream that ends between two packets like one that ends inside a packet. Each of its
//! readers allocates the longest packet in advance, even for a client that only sends `0000`.

use std::io::{self, Read, Write};

/// The most bytes of data in one packet.
pub(crate) const LONGEST: usize = 65_516;

/// The most bytes of data in one packet of a side band.
pub(crate) const LONGEST_IN_BAND: usize = LONGEST - 1;

pub(crate) const FLUSH: &[u8] = b"0000";
pub(crate) const DELIMITER: &[u8] = b"0001";

/// One packet, as read from the wire.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Packet<Bytes = Vec<u8>> {
    /// The payload, including the line break if the packet is a line.
    Data(Bytes),
    /// Flush packet `0000`: ends a message or a list.
    Flush,
    /// Delimiter packet `0001`: ends a section.
    Delimiter,
    /// Response-end packet `0002`.
    End,
}

/// Reads the next packet. Returns `None` if the stream ends before a packet begins.
pub(crate) fn read(from: &mut dyn Read) -> io::Result<Option<Packet>> {
    let mut data = Vec::new();
    Ok(match read_into(from, &mut data)? {
        Some(Packet::Data(_)) => Some(Packet::Data(data)),
        Some(Packet::Flush) => Some(Packet::Flush),
        Some(Packet::Delimiter) => Some(Packet::Delimiter),
        Some(Packet::End) => Some(Packet::End),
        None => None,
    })
}

/// Reads the next packet into `data`, so that one buffer can serve many packets.
pub(crate) fn read_into<'a>(
    from: &mut dyn Read,
    data: &'a mut Vec<u8>,
) -> io::Result<Option<Packet<&'a [u8]>>> {
    let mut length = [0; 4];
    let mut got = 0;
    while got < 4 {
        match from.read(&mut length[got..]) {
            Ok(0) if got == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    let mut value = 0;
    for digit in length {
        let digit = char::from(digit)
            .to_digit(16)
            .ok_or_else(|| invalid_data("a packet has no valid length"))?;
        value = value * 16 + digit as usize;
    }
    match value {
        0 => Ok(Some(Packet::Flush)),
        1 => Ok(Some(Packet::Delimiter)),
        2 => Ok(Some(Packet::End)),
        length if length == 3 || length - 4 > LONGEST => {
            Err(invalid_data("a packet has an impossible length"))
        }
        length => {
            data.resize(length - 4, 0);
            from.read_exact(data)?;
            Ok(Some(Packet::Data(data)))
        }
    }
}

fn invalid_data(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Writes a packet of these bytes.
pub(crate) fn write(to: &mut dyn Write, data: &[u8]) -> io::Result<()> {
    debug_assert!(data.len() <= LONGEST);
    write!(to, "{:04x}", data.len() + 4)?;
    to.write_all(data)
}

/// Writes a packet with this line and a line break.
pub(crate) fn write_line(to: &mut dyn Write, line: &str) -> io::Result<()> {
    write(to, format!("{line}\n").as_bytes())
}

/// Writes a flush packet.
pub(crate) fn write_flush(to: &mut dyn Write) -> io::Result<()> {
    to.write_all(FLUSH)
}

/// Writes a delimiter packet.
pub(crate) fn write_delimiter(to: &mut dyn Write) -> io::Result<()> {
    to.write_all(DELIMITER)
}

/// The streams that the side-band capability multiplexes over one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Band {
    /// The requested data.
    Data = 1,
    /// Progress messages for users.
    Progress = 2,
    /// The error message with which the transfer ends.
    Error = 3,
}

/// Writes bytes into a side band, in as many packets as they need.
pub(crate) fn write_band(to: &mut dyn Write, band: Band, data: &[u8]) -> io::Result<()> {
    for piece in data.chunks(LONGEST_IN_BAND) {
        write!(to, "{:04x}", piece.len() + 5)?;
        to.write_all(&[band as u8])?;
        to.write_all(piece)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut wire = Vec::new();
        write_line(&mut wire, "want x").expect("memory");
        write_delimiter(&mut wire).expect("memory");
        write_band(&mut wire, Band::Progress, b"hi").expect("memory");
        write_flush(&mut wire).expect("memory");
        assert_eq!(wire, b"000bwant x\n00010007\x02hi0000");
        let from = &mut &wire[..];
        let next = |from: &mut &[u8]| read(from).expect("whole packets");
        assert_eq!(next(from), Some(Packet::Data(b"want x\n".to_vec())));
        assert_eq!(next(from), Some(Packet::Delimiter));
        assert_eq!(next(from), Some(Packet::Data(b"\x02hi".to_vec())));
        assert_eq!(next(from), Some(Packet::Flush));
        assert_eq!(next(from), None);
    }

    #[test]
    fn an_empty_packet_is_not_a_flush() {
        let from = &mut &b"00040000"[..];
        assert_eq!(read(from).expect("a packet"), Some(Packet::Data(vec![])));
        assert_eq!(read(from).expect("a packet"), Some(Packet::Flush));
    }

    #[test]
    fn what_is_no_packet_is_an_error() {
        for wire in [&b"00"[..], b"zzzz", b"0003", b"000a12", b"ffff", b"+00a123456"] {
            assert!(read(&mut &wire[..]).is_err(), "{wire:?}");
        }
    }
}
