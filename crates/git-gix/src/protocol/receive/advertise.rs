//! Writes the advertisement that a pushing client reads first.

use std::io::Write;

use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::ProtocolVersion;

use crate::content::commit::to_gix;
use crate::error::reader_gone;
use crate::protocol::packet;
use crate::storage::repository::GixRepository;

const CAPABILITIES: &str = concat!(
    "report-status delete-refs side-band-64k quiet atomic ofs-delta object-format=sha1 agent=hexforge/",
    env!("CARGO_PKG_VERSION")
);

/// Writes all visible refs and the capabilities.
pub(crate) fn advertise(
    repository: &GixRepository,
    version: ProtocolVersion,
    to: &mut dyn Write,
) -> Result<(), GitError> {
    // Protocol version 2 does not define pushes: a client that asks for it gets version 0.
    if version == ProtocolVersion::V1 {
        packet::write_line(to, "version 1").map_err(reader_gone)?;
    }
    let mut capabilities = Some(CAPABILITIES);
    for one in repository.refs().visible() {
        let id = to_gix(one.target);
        write(to, &id, one.name.as_bytes(), capabilities.take()).map_err(reader_gone)?;
    }
    if capabilities.is_some() {
        let none = gix::ObjectId::null(gix::hash::Kind::Sha1);
        write(to, &none, b"capabilities^{}", capabilities).map_err(reader_gone)?;
    }
    packet::write_flush(to).map_err(reader_gone)
}

fn write(
    to: &mut dyn Write,
    id: &gix::oid,
    name: &[u8],
    capabilities: Option<&str>,
) -> std::io::Result<()> {
    let mut line = format!("{id} ").into_bytes();
    line.extend_from_slice(name);
    if let Some(capabilities) = capabilities {
        line.push(0);
        line.extend_from_slice(capabilities.as_bytes());
    }
    line.push(b'\n');
    packet::write(to, &line)
}
