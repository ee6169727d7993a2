//! Parses the first answer of a server: its capabilities and, in protocol version 0, all its refs.

use std::io::BufRead;

use gix::bstr::ByteSlice;
use hexforge_domain::ports::imports::ImportError;

use super::invalid_answer;
use super::listing::{Listing, split_id};
use super::packet::Packets;

/// The first answer of the server.
pub(crate) enum Advertisement {
    /// Version 2: the refs have to be requested.
    Version2(Capabilities),
    /// Version 0 or 1: the answer contains all refs.
    WithRefs(Listing, Capabilities),
}

/// The capabilities of the server.
#[derive(Default)]
pub(crate) struct Capabilities(Vec<Vec<u8>>);

impl Capabilities {
    pub(crate) fn has(&self, word: &str) -> bool {
        self.0.iter().any(|known| known == word.as_bytes())
    }

    /// The value of the first capability with this name.
    pub(crate) fn value(&self, name: &str) -> Option<&[u8]> {
        let value = |word: &'_ [u8]| -> Option<usize> {
            word.strip_prefix(name.as_bytes())?.strip_prefix(b"=").map(<[u8]>::len)
        };
        self.0.iter().find_map(|word| value(word).map(|length| &word[word.len() - length..]))
    }

    fn check_objects(&self) -> Result<(), ImportError> {
        match self.value("object-format") {
            None | Some(b"sha1") => Ok(()),
            Some(_) => Err(ImportError::Refused(
                "only repositories whose objects are named by SHA-1 can be imported".into(),
            )),
        }
    }
}

/// Parses the answer to the request for the refs.
pub(crate) fn read<R: BufRead>(
    packets: &mut Packets<R>,
    most: usize,
) -> Result<Advertisement, ImportError> {
    let mut line = packets.line()?.map(<[u8]>::to_vec);
    if line.as_deref().is_some_and(|line| line.starts_with(b"# service=")) {
        // The service announcement ends with a flush packet; the advertisement follows.
        while packets.line()?.is_some() {}
        line = packets.line()?.map(<[u8]>::to_vec);
    }
    match line.as_deref() {
        Some(b"version 2") => {
            let mut capabilities = Capabilities::default();
            while let Some(line) = packets.line()? {
                if capabilities.0.len() > 1000 {
                    return Err(invalid_answer("too many capabilities"));
                }
                capabilities.0.push(line.to_vec());
            }
            capabilities.check_objects()?;
            Ok(Advertisement::Version2(capabilities))
        }
        Some(b"version 1") => {
            let line = packets.line()?.map(<[u8]>::to_vec);
            read_refs(line, packets, most)
        }
        _ => read_refs(line, packets, most),
    }
}

/// Parses the refs of version 0 or 1. The capabilities follow the first ref after a NUL.
fn read_refs<R: BufRead>(
    first: Option<Vec<u8>>,
    packets: &mut Packets<R>,
    most: usize,
) -> Result<Advertisement, ImportError> {
    let mut listing = Listing::new(most);
    let Some(first) = first else {
        return Ok(Advertisement::WithRefs(listing, Capabilities::default()));
    };
    let (first, words) = first.split_once_str("\0").unwrap_or((&first, b""));
    let words = words.split_str(" ").filter(|word| !word.is_empty()).map(<[u8]>::to_vec);
    let capabilities = Capabilities(words.collect());
    capabilities.check_objects()?;
    for word in &capabilities.0 {
        if let Some(target) = word.strip_prefix(b"symref=HEAD:") {
            listing.set_head_target(target);
        }
    }
    let (id, name) = split_id(first)?;
    listing.add(id, name)?;
    while let Some(line) = packets.line()? {
        if line.starts_with(b"shallow ") {
            return Err(shallow());
        }
        let (id, name) = split_id(line)?;
        listing.add(id, name)?;
    }
    Ok(Advertisement::WithRefs(listing, capabilities))
}

pub(crate) fn shallow() -> ImportError {
    ImportError::Refused("the repository is shallow: a part of its history is missing".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_words_and_values() {
        let words = ["ofs-delta", "agent=git/2", "agentx=1"];
        let capabilities = Capabilities(words.map(Into::into).into());
        assert!(capabilities.has("ofs-delta") && !capabilities.has("ofs"));
        assert_eq!(capabilities.value("agent"), Some(&b"git/2"[..]));
        assert_eq!(capabilities.value("object-format"), None);
    }
}
