//! What a client that pushes is told first.

use std::io::Write;

use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::ProtocolVersion;

use crate::error::{failed, reader_gone};
use crate::packet;
use crate::repository::GixRepository;

const CAPABILITIES: &str = concat!(
    "report-status delete-refs side-band-64k quiet atomic ofs-delta object-format=sha1 agent=hexforge/",
    env!("CARGO_PKG_VERSION")
);

/// Tells a client all refs, and what can be asked for.
pub(crate) fn advertise(
    repository: &GixRepository,
    version: ProtocolVersion,
    to: &mut dyn Write,
) -> Result<(), GitError> {
    let refs = all_refs(repository)?;
    // There is no second version for pushing: who asks for it is answered without one.
    if version == ProtocolVersion::V1 {
        packet::line(to, "version 1").map_err(reader_gone)?;
    }
    let mut capabilities = Some(CAPABILITIES);
    for (id, name) in &refs {
        write(to, id, name, capabilities.take()).map_err(reader_gone)?;
    }
    if capabilities.is_some() {
        let none = gix::ObjectId::null(gix::hash::Kind::Sha1);
        write(to, &none, b"capabilities^{}", capabilities).map_err(reader_gone)?;
    }
    packet::flush(to).map_err(reader_gone)
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

/// All refs by name, each with what it holds itself.
fn all_refs(repository: &GixRepository) -> Result<Vec<(gix::ObjectId, Vec<u8>)>, GitError> {
    let Some(bound) = repository.bound() else { return Ok(Vec::new()) };
    let platform = bound.repo().references().map_err(failed)?;
    let mut refs = Vec::new();
    for reference in platform.prefixed("refs/").map_err(failed)? {
        // A ref that cannot be read, or that was removed meanwhile, is not there.
        let Ok(mut reference) = reference else { continue };
        let name = reference.name().as_bstr().to_vec();
        let id = match reference.target().try_id() {
            Some(id) => id.to_owned(),
            None => match reference.follow_to_object() {
                Ok(id) => id.detach(),
                Err(_) => continue,
            },
        };
        refs.push((id, name));
    }
    Ok(refs)
}
