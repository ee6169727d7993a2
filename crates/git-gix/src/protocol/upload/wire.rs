//! Both directions of a conversation.

use std::io::{self, Read, Write};

use gix::ObjectId;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::Conversation;

use crate::error::reader_gone;
use crate::protocol::packet::{self, Packet};

/// How many bytes a client may send to name what it asks for, besides those for each ref. Compressed, they are a
/// hundredth of that.
const REQUEST_BYTES: u64 = 16 << 20;

/// How many more for each ref of the repository: a clone names each.
const REQUEST_BYTES_PER_REF: u64 = 64;

/// How many bytes a client may send in one conversation to name the commits that it has.
const CONVERSATION_BYTES: u64 = 128 << 20;

/// What the client says, and what it is told.
pub(super) struct Wire<'a> {
    pub(super) from: &'a mut dyn Read,
    pub(super) to: &'a mut dyn Write,
    /// Read already, and yet to be looked at.
    put_back: Option<Packet>,
    /// How many bytes the client may still send.
    allowed: u64,
    /// Whether the client takes everything for a part of the pack from now on.
    pub(super) packing: bool,
}

impl<'a> Wire<'a> {
    pub(super) fn new(from: &'a mut dyn Read, to: &'a mut dyn Write) -> Self {
        Self { from, to, put_back: None, allowed: REQUEST_BYTES, packing: false }
    }

    /// Begins a request about a repository with so many refs.
    pub(super) fn begin_request(&mut self, refs: usize) {
        self.allowed = REQUEST_BYTES + REQUEST_BYTES_PER_REF * refs as u64;
    }

    /// Begins to read what the client has. Over SSH it may name its whole history, one part after the other.
    pub(super) fn begin_haves(&mut self, conversation: Conversation) {
        if conversation == Conversation::Stateful {
            self.allowed = CONVERSATION_BYTES;
        }
    }

    /// Makes a packet the next one.
    pub(super) fn put_back(&mut self, packet: Packet) {
        self.put_back = Some(packet);
    }

    /// The next packet, a line without its line break; `None` where the client said all it had to say.
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
            let too_much = || GitError::Protocol("too much is asked for".into());
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

    pub(super) fn line(&mut self, line: &str) -> Result<(), GitError> {
        packet::line(self.to, line).map_err(reader_gone)
    }

    /// Writes a packet of these, one after the other. Names of refs are not always text.
    pub(super) fn bytes(&mut self, parts: &[&[u8]]) -> Result<(), GitError> {
        packet::write(self.to, &parts.concat()).map_err(reader_gone)
    }

    pub(super) fn end_section(&mut self) -> Result<(), GitError> {
        packet::delimiter(self.to).map_err(reader_gone)
    }

    /// Ends a part, and makes sure that the client gets to see it: it may wait for that.
    pub(super) fn end(&mut self) -> Result<(), GitError> {
        packet::flush(self.to).map_err(reader_gone)?;
        self.flush()
    }

    pub(super) fn flush(&mut self) -> Result<(), GitError> {
        self.to.flush().map_err(reader_gone)
    }
}

/// The name of an object in a line.
pub(super) fn object(hex: &[u8]) -> Result<ObjectId, GitError> {
    ObjectId::from_hex(hex)
        .ok()
        .filter(|id| id.kind() == gix::hash::Kind::Sha1)
        .ok_or_else(|| GitError::Protocol(format!("no object is named '{}'", shown(hex))))
}

/// What a client said, short enough to say it again.
pub(super) fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(200)]);
    text.chars().filter(|one| !one.is_control()).collect()
}

/// A line that no client says there.
pub(super) fn unexpected(line: &[u8]) -> GitError {
    GitError::Protocol(format!("unexpected line: '{}'", shown(line)))
}
