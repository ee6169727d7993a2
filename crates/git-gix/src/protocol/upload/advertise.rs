//! Writes the advertisement that a fetching client reads first.

use std::io::Write;

use gix::ObjectId;
use gix::bstr::BStr;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::ProtocolVersion;

use super::AGENT;
use super::refs::Listing;
use crate::error::reader_gone;
use crate::protocol::packet;

/// The capabilities of protocol versions 0 and 1.
const CAPABILITIES: &str = "multi_ack multi_ack_detailed thin-pack side-band side-band-64k ofs-delta shallow \
                        deepen-since deepen-not deepen-relative no-progress include-tag no-done filter \
                        allow-tip-sha1-in-want allow-reachable-sha1-in-want object-format=sha1";

/// Writes the capability advertisement of protocol version 2: the commands and their features.
pub(super) fn write_commands(to: &mut dyn Write) -> Result<(), GitError> {
    for line in [
        "version 2",
        AGENT,
        "ls-refs=unborn",
        "fetch=shallow wait-for-done filter ref-in-want",
        "server-option",
        "object-format=sha1",
    ] {
        packet::write_line(to, line).map_err(reader_gone)?;
    }
    packet::write_flush(to).map_err(reader_gone)
}

/// Writes all refs, and for each annotated tag also the object that it peels to.
pub(super) fn write_refs(
    listing: &Listing,
    version: ProtocolVersion,
    to: &mut dyn Write,
) -> Result<(), GitError> {
    let mut capabilities = format!("{CAPABILITIES} {AGENT}").into_bytes();
    if let Some(branch) = listing.head().and_then(|head| head.symbolic) {
        capabilities.extend_from_slice(b" symref=HEAD:");
        capabilities.extend_from_slice(branch);
    }
    let mut lines = RefLines::begin(version, capabilities, to)?;
    for one in listing.all() {
        lines.write(one.target, one.name, "")?;
        if let Some(peeled) = one.peeled {
            lines.write(peeled, one.name, "^{}")?;
        }
    }
    lines.end()
}

/// Writes ref lines; the first one carries the capabilities.
struct RefLines<'a> {
    to: &'a mut dyn Write,
    capabilities: Option<Vec<u8>>,
}

impl<'a> RefLines<'a> {
    fn begin(
        version: ProtocolVersion,
        capabilities: Vec<u8>,
        to: &'a mut dyn Write,
    ) -> Result<Self, GitError> {
        if version == ProtocolVersion::V1 {
            packet::write_line(to, "version 1").map_err(reader_gone)?;
        }
        Ok(Self { to, capabilities: Some(capabilities) })
    }

    fn write(&mut self, target: ObjectId, name: &BStr, suffix: &str) -> Result<(), GitError> {
        let mut line = format!("{target} ").into_bytes();
        line.extend_from_slice(name);
        line.extend_from_slice(suffix.as_bytes());
        if let Some(capabilities) = self.capabilities.take() {
            line.push(0);
            line.extend_from_slice(&capabilities);
        }
        line.push(b'\n');
        packet::write(self.to, &line).map_err(reader_gone)
    }

    fn end(mut self) -> Result<(), GitError> {
        if self.capabilities.is_some() {
            let none = ObjectId::null(gix::hash::Kind::Sha1);
            self.write(none, "capabilities".into(), "^{}")?;
        }
        packet::write_flush(self.to).map_err(reader_gone)
    }
}
