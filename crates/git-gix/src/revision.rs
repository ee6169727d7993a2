//! What revisions name.

use gix::ObjectId;
use hexforge_domain::ports::git::GitError;

use crate::error::{failed, is_of_the_machine};
use crate::peel::to_commit;

/// The longest revision that is looked at.
const LONGEST: usize = 1000;

/// Says what the commit of a tag is asked for, which is what is looked for here anyway.
const PEELS: [&str; 2] = ["^{}", "^{commit}"];

/// The commit that a revision names; tags are followed.
pub(crate) fn resolve(
    repo: &gix::Repository,
    revision: &str,
) -> Result<Option<ObjectId>, GitError> {
    if !is_plain(revision) {
        return Ok(None);
    }
    let name = match ObjectId::from_hex(revision.as_bytes()) {
        Ok(id) => id,
        Err(_) => match repo.rev_parse_single(revision) {
            Ok(id) => id.detach(),
            Err(error) if error.is_corrupted() || is_of_the_machine(&error) => {
                return Err(failed(error));
            }
            // Unknown, ambiguous or malformed: it names nothing.
            Err(_) => return Ok(None),
        },
    };
    // Neither 40 digits nor a ref have to lead to something that is there.
    match repo.try_find_header(name).map_err(failed)? {
        Some(_) => to_commit(repo, name),
        None => Ok(None),
    }
}

/// Whether a revision is a name with steps back at most: git has others that search through all history.
fn is_plain(revision: &str) -> bool {
    let strange = |c: char| c.is_control() || c.is_whitespace() || c == ':';
    let bare = PEELS.iter().fold(revision.to_owned(), |bare, peel| bare.replace(peel, ""));
    !bare.is_empty()
        && bare.len() <= LONGEST
        && !bare.starts_with(['-', '^'])
        && !bare.contains(strange)
        && !["..", "@{", "^{", "^!", "^@", "^-"].iter().any(|form| bare.contains(form))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_revisions_do_not_search() {
        let long = "x".repeat(LONGEST);
        for plain in
            ["master", "master~1", "a/b^2", "v1^{}", "v1^{commit}~3", "@x", "x@y", "größe", &long]
        {
            assert!(is_plain(plain), "{plain}");
        }
        let longer = "x".repeat(LONGEST + 1);
        for strange in [
            "",
            "^{}",
            " ",
            "a b",
            "a\0b",
            "a\nb",
            "-x",
            "^master",
            "a..b",
            "a...b",
            ":/text",
            "a:b",
            ":0:a",
            "HEAD^{/x}",
            "v1^{tree}",
            "@{-1}",
            "@{u}",
            "master@{1}",
            "a^!",
            "a^@",
            "a^-",
            &longer,
        ] {
            assert!(!is_plain(strange), "{strange}");
        }
    }
}
