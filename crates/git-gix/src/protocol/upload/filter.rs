//! Parses the object filters of partial clones.

use hexforge_domain::ports::git::GitError;

use super::wire::printable;

/// The blobs and trees that are sent. Objects requested by id are always sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Filter {
    #[default]
    All,
    /// Blobs that are smaller than this number of bytes.
    BlobsBelow(u64),
    /// Trees and blobs at a smaller depth than this; the root tree of a commit has depth 0.
    Depth(u64),
}

impl Filter {
    pub(super) fn parse(spec: &[u8]) -> Result<Self, GitError> {
        let refused = || GitError::Protocol(format!("filter '{}' not supported", printable(spec)));
        let text = std::str::from_utf8(spec).map_err(|_| refused())?;
        if text == "blob:none" {
            return Ok(Filter::BlobsBelow(0));
        }
        let filter = if let Some(limit) = text.strip_prefix("blob:limit=") {
            parse_size(limit).map(Filter::BlobsBelow)
        } else if let Some(depth) = text.strip_prefix("tree:") {
            depth.parse().ok().map(Filter::Depth)
        } else {
            None
        };
        filter.ok_or_else(refused)
    }
}

/// Parses a number of bytes with an optional unit: `k`, `m` or `g`.
fn parse_size(text: &str) -> Option<u64> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1 << 10),
        b'm' | b'M' => (&text[..text.len() - 1], 1 << 20),
        b'g' | b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read() {
        for (spec, filter) in [
            ("blob:none", Some(Filter::BlobsBelow(0))),
            ("blob:limit=10", Some(Filter::BlobsBelow(10))),
            ("blob:limit=2k", Some(Filter::BlobsBelow(2048))),
            ("tree:0", Some(Filter::Depth(0))),
            ("tree:3", Some(Filter::Depth(3))),
            ("tree:-1", None),
            ("blob:limit=", None),
            ("blob:limit=k", None),
            ("blob:limit=99999999999999g", None),
            ("sparse:oid=master:x", None),
        ] {
            assert_eq!(Filter::parse(spec.as_bytes()).ok(), filter, "{spec}");
        }
    }
}
