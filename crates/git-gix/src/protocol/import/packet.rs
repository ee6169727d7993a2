//! Reads the packets of another server, and the side bands inside them.

use std::io::{self, Read};

use hexforge_domain::ports::imports::ImportError;

use super::invalid_answer;
use super::stream::stream_error;
use crate::protocol::packet::{self, Packet};

/// A stream of packets.
pub(crate) struct Packets<R> {
    reader: R,
    buffer: Vec<u8>,
}

impl<R: Read> Packets<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new() }
    }

    /// The next packet.
    pub(crate) fn next(&mut self) -> Result<Packet<&[u8]>, ImportError> {
        let next = packet::read_into(&mut self.reader, &mut self.buffer);
        let next = next.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => invalid_answer(&error.to_string()),
            _ => stream_error(error),
        })?;
        next.ok_or_else(|| stream_error(io::ErrorKind::UnexpectedEof.into()))
    }

    /// Reads the next packet as a line. Returns `None` at a flush packet, and an error for an `ERR` line.
    pub(crate) fn line(&mut self) -> Result<Option<&[u8]>, ImportError> {
        match self.next()? {
            Packet::Data(line) => {
                if let Some(complaint) = line.strip_prefix(b"ERR ") {
                    return Err(server_refusal(complaint));
                }
                Ok(Some(line.strip_suffix(b"\n").unwrap_or(line)))
            }
            Packet::Flush => Ok(None),
            Packet::Delimiter | Packet::End => {
                Err(invalid_answer("an unexpected delimiter or end packet"))
            }
        }
    }

    /// Returns the reader, for data that follows without packets.
    pub(crate) fn into_inner(self) -> R {
        self.reader
    }
}

/// The error message of the server, shortened and without control characters.
fn server_refusal(text: &[u8]) -> ImportError {
    let text = String::from_utf8_lossy(text);
    let shown: String = text.trim().chars().filter(|c| !c.is_control()).take(200).collect();
    ImportError::Refused(format!("the server refused: {shown}"))
}

/// Reads the data band of a response.
pub(crate) struct SideBand<R> {
    packets: Packets<R>,
    data: Vec<u8>,
    read: usize,
    over: bool,
}

impl<R: Read> SideBand<R> {
    pub(crate) fn new(packets: Packets<R>) -> Self {
        Self { packets, data: Vec::new(), read: 0, over: false }
    }

    /// Reads the next packet, and keeps its payload if it is in the data band.
    fn advance(&mut self) -> Result<(), ImportError> {
        match self.packets.next()? {
            Packet::Data([1, data @ ..]) => {
                self.data.clear();
                self.data.extend_from_slice(data);
                self.read = 0;
            }
            // Progress messages are ignored.
            Packet::Data([2, ..]) => (),
            Packet::Data([3, complaint @ ..]) => return Err(server_refusal(complaint)),
            Packet::Data(_) => return Err(invalid_answer("an unknown side band")),
            Packet::Flush | Packet::End => self.over = true,
            Packet::Delimiter => {
                return Err(invalid_answer("an unexpected delimiter or end packet"));
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for SideBand<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.data.len() && !self.over {
            self.advance().map_err(io::Error::other)?;
        }
        let mut rest = &self.data[self.read..];
        let read = rest.read(buffer)?;
        self.read += read;
        Ok(read)
    }
}

/// Adds a line to a request.
pub(crate) fn push_line(to: &mut Vec<u8>, line: &str) {
    packet::write_line(to, line).expect("memory takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Result<Vec<String>, ImportError> {
        let mut packets = Packets::new(bytes);
        let mut lines = Vec::new();
        while let Some(line) = packets.line()? {
            lines.push(String::from_utf8_lossy(line).into_owned());
        }
        Ok(lines)
    }

    #[test]
    fn packets_are_read_or_refused() {
        let broke = || Err(ImportError::Failed("the server's answer broke off".into()));
        let length = || Err(invalid_answer("a packet has no valid length"));
        for (bytes, expected) in [
            (&b"0006a\n0005b0000"[..], Ok(vec!["a".to_owned(), "b".into()])),
            (b"00040000", Ok(vec![String::new()])),
            (b"0000", Ok(vec![])),
            (b"", broke()),
            (b"00", broke()),
            (b"0009abc", broke()),
            (b"0005a", broke()),
            (b"+005a0000", length()),
            (b"<htm", length()),
            (b"\xff\xff\xff\xff", length()),
            (b"0003", Err(invalid_answer("a packet has an impossible length"))),
            (b"ffff", Err(invalid_answer("a packet has an impossible length"))),
            (b"0001", Err(invalid_answer("an unexpected delimiter or end packet"))),
            (b"000dERR a\x1bb\nc", Err(ImportError::Refused("the server refused: abc".into()))),
        ] {
            assert_eq!(lines(bytes), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn the_first_band_is_the_data() {
        let read = |bytes: &[u8]| {
            let mut data = Vec::new();
            let read = SideBand::new(Packets::new(bytes)).read_to_end(&mut data);
            read.map(|_| data).map_err(stream_error)
        };
        assert_eq!(read(b"0007\x01ab0009\x02half0005\x010006\x01c0000rest"), Ok(b"abc".to_vec()));
        assert_eq!(
            read(b"0007\x01ab0008\x03no\n0000"),
            Err(ImportError::Refused("the server refused: no".into()))
        );
        assert_eq!(read(b"0006\x07a0000"), Err(invalid_answer("an unknown side band")));
        assert_eq!(read(b"0007\x01ab"), broken_off());
    }

    fn broken_off() -> Result<Vec<u8>, ImportError> {
        Err(ImportError::Failed("the server's answer broke off".into()))
    }
}
