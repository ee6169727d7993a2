//! What a server says first: what it can do and, in the first version of the protocol, all its refs.

use std::io::BufRead;

use gix::bstr::ByteSlice;
use hexforge_domain::ports::imports::ImportError;

use super::listing::{Listing, split_id};
use super::packet::Packets;
use super::strange;

/// What the server said first.
pub(crate) enum Said {
    /// It speaks version 2, and is to be asked.
    Capable(Capabilities),
    /// It speaks the first version, and told all refs at once.
    Told(Listing, Capabilities),
}

/// What a server can do, as words.
#[derive(Default)]
pub(crate) struct Capabilities(Vec<Vec<u8>>);

impl Capabilities {
    pub(crate) fn has(&self, word: &str) -> bool {
        self.0.iter().any(|known| known == word.as_bytes())
    }

    /// The value behind the first of these names.
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

/// What a server says when it is asked for its refs.
pub(crate) fn read<R: BufRead>(packets: &mut Packets<R>, most: usize) -> Result<Said, ImportError> {
    let mut line = packets.line()?.map(<[u8]>::to_vec);
    if line.as_deref().is_some_and(|line| line.starts_with(b"# service=")) {
        // What follows the name of the service is a part of its own.
        while packets.line()?.is_some() {}
        line = packets.line()?.map(<[u8]>::to_vec);
    }
    match line.as_deref() {
        Some(b"version 2") => {
            let mut capabilities = Capabilities::default();
            while let Some(line) = packets.line()? {
                if capabilities.0.len() > 1000 {
                    return Err(strange("too many capabilities"));
                }
                capabilities.0.push(line.to_vec());
            }
            capabilities.check_objects()?;
            Ok(Said::Capable(capabilities))
        }
        Some(b"version 1") => {
            let line = packets.line()?.map(<[u8]>::to_vec);
            told(line, packets, most)
        }
        _ => told(line, packets, most),
    }
}

/// All refs in the first version; capabilities are hidden behind the first of them.
fn told<R: BufRead>(
    first: Option<Vec<u8>>,
    packets: &mut Packets<R>,
    most: usize,
) -> Result<Said, ImportError> {
    let mut listing = Listing::new(most);
    let Some(first) = first else {
        return Ok(Said::Told(listing, Capabilities::default()));
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
    Ok(Said::Told(listing, capabilities))
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
