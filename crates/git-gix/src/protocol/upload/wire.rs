//! The connection of a fetch: reads packets from the client and writes the answer.

use std::io::{self, Read, Write};

use gix::ObjectId;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::Conversation;

use crate::error::reader_gone;
use crate::protocol::packet::{self, Packet};

/// The most bytes of one request, besides those for each ref. A client may send them compressed to a hundredth.
const REQUEST_BYTES: u64 = 16 << 20;

/// Additional bytes per ref of the repository, because a clone names each ref.
const REQUEST_BYTES_PER_REF: u64 = 64;

/// The most bytes of haves in one stateful conversation.
const CONVERSATION_BYTES: u64 = 128 << 20;

/// Reader and writer of one conversation.
pub(super) struct Wire<'a> {
    pub(super) from: &'a mut dyn Read,
    pub(super) to: &'a mut dyn Write,
    /// A packet that was read and is to be returned by the next read.
    put_back: Option<Packet>,
    /// How many more bytes the client may send.
    allowed: u64,
    /// Whether the pack has begun: from now on, the client reads every byte as part of it.
    pub(super) packing: bool,
}

impl<'a> Wire<'a> {
    pub(super) fn new(from: &'a mut dyn Read, to: &'a mut dyn Write) -> Self {
        Self { from, to, put_back: None, allowed: REQUEST_BYTES, packing: false }
    }

    /// Resets the byte limit for a request to a repository with this number of refs.
    pub(super) fn begin_request(&mut self, refs: usize) {
        self.allowed = REQUEST_BYTES + REQUEST_BYTES_PER_REF * refs as u64;
    }

    /// Sets the byte limit for the haves. Over SSH the client may name its whole history, one part after the other.
    pub(super) fn begin_haves(&mut self, conversation: Conversation) {
        if conversation == Conversation::Stateful {
            self.allowed = CONVERSATION_BYTES;
        }
    }

    /// Makes the next read return this packet.
    pub(super) fn put_back(&mut self, packet: Packet) {
        self.put_back = Some(packet);
    }

    /// Reads the next packet, a line without its line break. Returns `None` at the end of the stream.
    pub(super) fn next(&mut self) -> Result<Option<Packet>, GitError> {
        if let Some(packet) = self.put_back.take() {
            return Ok(Some(packet));
        }
        let packet = packet::read(self.from).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                GitError::Protocol(error.to_string())
            }
            io::ErrorKind::UnexpectedEof => GitError::Protocol("a packet ends early".into()),
            _ => reader_gone(error),
        })?;
        if let Some(Packet::Data(line)) = &packet {
            let left = self.allowed.checked_sub(line.len() as u64 + 4);
            let too_much = || GitError::Protocol("the request is too large".into());
            self.allowed = left.ok_or_else(too_much)?;
        }
        Ok(packet.map(|packet| match packet {
            Packet::Data(mut line) => {
                if line.last() == Some(&b'\n') {
                    line.pop();
                }
                Packet::Data(line)
            }
            other => other,
        }))
    }

    pub(super) fn write_line(&mut self, line: &str) -> Result<(), GitError> {
        packet::write_line(self.to, line).map_err(reader_gone)
    }

    /// Writes the parts as one packet. Takes bytes because ref names need not be UTF-8.
    pub(super) fn write_bytes(&mut self, parts: &[&[u8]]) -> Result<(), GitError> {
        packet::write(self.to, &parts.concat()).map_err(reader_gone)
    }

    pub(super) fn end_section(&mut self) -> Result<(), GitError> {
        packet::write_delimiter(self.to).map_err(reader_gone)
    }

    /// Writes a flush packet and flushes the stream, because the client may wait for it.
    pub(super) fn end(&mut self) -> Result<(), GitError> {
        packet::write_flush(self.to).map_err(reader_gone)?;
        self.flush()
    }

    pub(super) fn flush(&mut self) -> Result<(), GitError> {
        self.to.flush().map_err(reader_gone)
    }
}

/// Parses an object id.
pub(super) fn parse_id(hex: &[u8]) -> Result<ObjectId, GitError> {
    ObjectId::from_hex(hex)
        .ok()
        .filter(|id| id.kind() == gix::hash::Kind::Sha1)
        .ok_or_else(|| GitError::Protocol(format!("'{}' is not a valid object id", printable(hex))))
}

/// A line of the client, shortened and without control characters, for error messages.
pub(super) fn printable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(200)]);
    text.chars().filter(|one| !one.is_control()).collect()
}

/// The error for a line that the protocol does not allow here.
pub(super) fn unexpected(line: &[u8]) -> GitError {
    GitError::Protocol(format!("unexpected line: '{}'", printable(line)))
}
