//! Splits the rest of an address into a ref and a path. Both may contain slashes, so only the refs tell where one ends.

use hexforge_domain::commit::ObjectId;
use hexforge_domain::ports::git::Repository;

use super::{Readable, Revision, open, sight};
use crate::app::App;
use crate::error::Error;

/// A revision, the name by which an address refers to it, and the path of a file or folder in it.
pub struct Located {
    /// The revision.
    pub at: Revision,
    /// The branch, tag or commit id in the address.
    pub name: String,
    /// The path, without slashes at its ends; empty for the root.
    pub path: String,
}

/// Finds the ref and the path in the rest of an address: `topic/one/src/main.rs`. A full commit id comes first, then
/// the longest branch or tag, then the first segment as any revision. A branch wins over a tag of the same name.
pub fn locate(app: &App, readable: &Readable, rest: &str) -> Result<Option<Located>, Error> {
    let rest = rest.trim_matches('/');
    let repository = open::open_by_header(app, &readable.project, readable.caller)?;
    let (name, path) = split(repository.as_ref(), rest);
    let branch = match ObjectId::parse(name) {
        // A full commit id names the commit, even if a branch has the same name.
        Some(_) => None,
        None => repository.refs().target(&format!("refs/heads/{name}")),
    };
    let commit = match branch {
        Some(tip) => Some(tip),
        None => {
            sight::resolve(app, readable.actor, readable.project.id, repository.as_ref(), name)?
        }
    };
    Ok(commit.map(|commit| Located {
        at: Revision { repository, name: name.to_owned(), commit },
        name: name.to_owned(),
        path: path.to_owned(),
    }))
}

fn split<'a>(repository: &dyn Repository, rest: &'a str) -> (&'a str, &'a str) {
    let at_first = rest.split_once('/').unwrap_or((rest, ""));
    if ObjectId::parse(at_first.0).is_some() {
        return at_first;
    }
    let refs = repository.refs();
    let is_ref = |name: &str| {
        ["refs/heads/", "refs/tags/"]
            .iter()
            .any(|kind| refs.find(&format!("{kind}{name}")).is_some())
    };
    // Refs have at most this many bytes, so a long path is not compared over and over.
    let longest = rest.len().min(MAX_REF);
    let ends = rest.bytes().enumerate().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at);
    let mut ends: Vec<usize> = ends.chain([rest.len()]).filter(|end| *end <= longest).collect();
    ends.reverse();
    let found = ends.into_iter().find(|end| is_ref(&rest[..*end]));
    found.map_or(at_first, |end| (&rest[..end], rest[end..].trim_start_matches('/')))
}

/// The maximum length of a ref in an address.
const MAX_REF: usize = 255;
