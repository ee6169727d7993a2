//! Reads annotated tags.

use gix::bstr::ByteSlice;
use hexforge_domain::ports::git::GitError;

use crate::error::failed;
use crate::text;

/// The commit that a tag target peels to. Objects never change, so this can be cached.
#[derive(Clone, Debug)]
pub(crate) struct PeeledTag {
    pub(crate) commit: gix::ObjectId,
    /// The message of the outermost annotated tag; `None` for a lightweight tag.
    pub(crate) message: Option<String>,
}

/// Peels annotated tags. Returns `None` when they do not lead to a commit.
pub(crate) fn read(
    repo: &gix::Repository,
    target: gix::ObjectId,
) -> Result<Option<PeeledTag>, GitError> {
    let (mut at, mut message) = (target, None);
    loop {
        // The target may be a large blob, so only headers and tag objects are read.
        match repo.find_header(at).map_err(failed)?.kind() {
            gix::object::Kind::Commit => return Ok(Some(PeeledTag { commit: at, message })),
            gix::object::Kind::Tag => {
                let tag = repo.find_tag(at).map_err(failed)?;
                let decoded = tag.decode().map_err(failed)?;
                message.get_or_insert_with(|| tag_message(&tag.data));
                at = decoded.target();
            }
            gix::object::Kind::Tree | gix::object::Kind::Blob => return Ok(None),
        }
    }
}

/// The message of a tag object: everything after its headers, including a signature, without the last line break.
fn tag_message(object: &[u8]) -> String {
    let headers = object.find("\n\n").map_or(object.len(), |end| end + 2);
    let message = &object[headers..];
    text::decode(message.strip_suffix(b"\n").unwrap_or(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_tag_is_all_behind_its_headers() {
        const HEADERS: &str = "object 1\ntype commit\ntag v1\ntagger A <a@b> 1 +0000\n";
        for (rest, text) in [
            ("", ""),
            ("\n", ""),
            ("\n\n", ""),
            ("\n\n\n", "\n"),
            ("\nfirst\n\nsecond\n", "first\n\nsecond"),
            (
                "\nfirst\n-----BEGIN PGP SIGNATURE-----\nx\n-----END PGP SIGNATURE-----\n",
                "first\n-----BEGIN PGP SIGNATURE-----\nx\n-----END PGP SIGNATURE-----",
            ),
        ] {
            assert_eq!(tag_message(format!("{HEADERS}{rest}").as_bytes()), text, "{rest:?}");
        }
    }
}
