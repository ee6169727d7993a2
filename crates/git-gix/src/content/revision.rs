//! Resolves revisions to commits.

use std::collections::HashSet;

use gix::ObjectId;
use gix::object::Kind;
use hexforge_domain::ports::git::{GitError, Resolved};
use hexforge_domain::refs::Snapshot;
use hexforge_domain::refs::reserved::is_hidden;

use crate::content::commit::{from_gix, to_gix};
use crate::content::peel::to_commit;
use crate::error::{failed, is_machine_error};

/// The maximum length of a revision.
const LONGEST: usize = 1000;

/// Suffixes that request peeling, which [`resolve`] always does.
const PEELS: [&str; 2] = ["^{}", "^{commit}"];

/// Resolves a revision to a commit, and peels tags.
pub(crate) fn resolve(
    repo: &gix::Repository,
    refs: &Snapshot,
    revision: &str,
) -> Result<Option<Resolved>, GitError> {
    if !is_plain(revision) {
        return Ok(None);
    }
    let base = &revision[..revision.find(['~', '^']).unwrap_or(revision.len())];
    let reference = if is_id(base) { None } else { find_ref(refs, base) };
    let named = match reference {
        // A ref name such as `2024-release` may also look like an abbreviated object id. The ref takes precedence.
        Some(target) => format!("{target}{}", &revision[base.len()..]),
        // The ref files on disk may be outdated, so gix may only look up objects.
        None => match find_object(repo, base)? {
            Some(id) => format!("{id}{}", &revision[base.len()..]),
            None => return Ok(None),
        },
    };
    let name = match ObjectId::from_hex(named.as_bytes()) {
        Ok(id) => id,
        Err(_) => match repo.rev_parse_single(named.as_str()) {
            Ok(id) => id.detach(),
            Err(error) if error.is_corrupted() || is_machine_error(&error) => {
                return Err(failed(error));
            }
            // An unknown, ambiguous or malformed revision names no commit.
            Err(_) => return Ok(None),
        },
    };
    // A full object id or a ref target need not exist.
    if repo.try_find_header(name).map_err(failed)?.is_none() {
        return Ok(None);
    }
    let commit = to_commit(repo, name)?;
    Ok(commit
        .map(|commit| Resolved { commit: from_gix(&commit), through_ref: reference.is_some() }))
}

/// Returns whether a name is a full object id. Git prefers the object to a ref of that name.
fn is_id(name: &str) -> bool {
    ObjectId::from_hex(name.as_bytes()).is_ok()
}

/// Finds the object with this abbreviated id, or with the id at the end of `git describe` output (`v1-2-g1234567`).
/// Several matches are resolved only if exactly one of them is a commit or a tag.
fn find_object(repo: &gix::Repository, name: &str) -> Result<Option<ObjectId>, GitError> {
    let digits = name.rsplit_once("-g").map_or(name, |(_, digits)| digits);
    if let Ok(id) = ObjectId::from_hex(digits.as_bytes()) {
        return Ok(Some(id));
    }
    let Ok(prefix) = gix::hash::Prefix::from_hex(digits) else { return Ok(None) };
    let mut candidates = HashSet::default();
    repo.objects.lookup_prefix(prefix, Some(&mut candidates)).map_err(failed)?;
    if candidates.len() > 1 {
        let is_commit = |id: &ObjectId| {
            let header = repo.find_header(*id);
            header.is_ok_and(|header| matches!(header.kind(), Kind::Commit | Kind::Tag))
        };
        candidates.retain(is_commit);
    }
    let mut candidates = candidates.into_iter();
    Ok(candidates.next().filter(|_| candidates.next().is_none()))
}

/// The prefixes that git tries for a short ref name, such as `refs/heads/` for `master`.
const FOLDERS: [&str; 5] = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];

/// Returns the target of a visible ref.
fn find_ref(refs: &Snapshot, name: &str) -> Option<ObjectId> {
    if name == "HEAD" || name == "@" {
        return refs.find(refs.head()).map(|found| to_gix(found.target));
    }
    let found = FOLDERS.iter().find_map(|folder| refs.find(&format!("{folder}{name}")));
    // A remote name such as `origin` stands for the HEAD of that remote.
    let found = found.or_else(|| refs.find(&format!("refs/remotes/{name}/HEAD")));
    found.filter(|found| !is_hidden(&found.name)).map(|found| to_gix(found.target))
}

/// Returns whether a revision is a name with only `~`, `^` and peel suffixes. Other forms can make git search the whole
/// history.
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
