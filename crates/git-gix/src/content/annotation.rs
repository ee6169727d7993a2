//! Annotated tags.

use gix::bstr::ByteSlice;
use hexforge_domain::ports::git::GitError;

use crate::error::failed;
use crate::text;

/// What the object that a tag holds leads to. That never changes.
#[derive(Clone, Debug)]
pub(crate) struct Pinned {
    pub(crate) commit: gix::ObjectId,
    /// The text of the outermost annotated tag, if there is any.
    pub(crate) message: Option<String>,
}

/// Follows annotated tags; `None` when they lead to no commit.
pub(crate) fn read(
    repo: &gix::Repository,
    target: gix::ObjectId,
) -> Result<Option<Pinned>, GitError> {
    let (mut at, mut message) = (target, None);
    loop {
        // What a tag leads to may be large, so only tags are read.
        match repo.find_header(at).map_err(failed)?.kind() {
            gix::object::Kind::Commit => return Ok(Some(Pinned { commit: at, message })),
            gix::object::Kind::Tag => {
                let tag = repo.find_tag(at).map_err(failed)?;
                let decoded = tag.decode().map_err(failed)?;
                message.get_or_insert_with(|| text_of(&tag.data));
                at = decoded.target();
            }
            gix::object::Kind::Tree | gix::object::Kind::Blob => return Ok(None),
        }
    }
}

/// The text of a tag object, all that is behind its headers with a signature in it, without its last line
/// break.
fn text_of(object: &[u8]) -> String {
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
            assert_eq!(text_of(format!("{HEADERS}{rest}").as_bytes()), text, "{rest:?}");
        }
    }
}
