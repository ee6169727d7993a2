//! What a client asks for.

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::filter::Filter;
use super::refs::Listing;
use super::wire::{object, shown};

/// All that a client said.
#[derive(Default)]
pub(super) struct Request {
    pub(super) wants: Vec<ObjectId>,
    wanted: HashSet<ObjectId>,
    /// Refs that were asked for by name, as they were then.
    pub(super) refs: BTreeMap<BString, ObjectId>,
    /// Commits that both sides have.
    pub(super) common: HashSet<ObjectId>,
    /// Commits that the client has without their parents.
    pub(super) shallow: HashSet<ObjectId>,
    pub(super) depth: Depth,
    pub(super) filter: Filter,
    pub(super) thin: bool,
    pub(super) ofs_delta: bool,
    pub(super) include_tag: bool,
    pub(super) no_progress: bool,
}

/// How much of the history is asked for.
#[derive(Default)]
pub(super) struct Depth {
    /// So many commits from each tip.
    pub(super) commits: Option<u64>,
    /// Those are counted from where the client's history ends now.
    pub(super) relative: bool,
    /// Commits from this second on.
    pub(super) since: Option<i64>,
    /// No commits that lead to these.
    pub(super) not: Vec<ObjectId>,
}

impl Depth {
    pub(super) fn is_asked_for(&self) -> bool {
        self.commits.is_some() || self.since.is_some() || !self.not.is_empty()
    }
}

impl Request {
    /// Adds what is wanted; whether it may be had is seen later.
    pub(super) fn want(&mut self, id: ObjectId) {
        if self.wanted.insert(id) {
            self.wants.push(id);
        }
    }

    /// Takes a line that means the same in all versions; whether it was one.
    pub(super) fn take(
        &mut self,
        line: &[u8],
        listing: &Listing,
        source: &Source,
    ) -> Result<bool, GitError> {
        let (word, rest) = line.split_once_str(" ").unwrap_or((line, b""));
        match word {
            b"shallow" => {
                let id = object(rest)?;
                // One that we do not know says nothing about what we send.
                if source.is_commit(id)? {
                    self.shallow.insert(id);
                }
            }
            b"deepen" => {
                let commits = number(rest).and_then(|depth| u64::try_from(depth).ok());
                let commits = commits.filter(|&depth| depth > 0);
                self.depth.commits = Some(commits.ok_or_else(|| invalid(line))?);
            }
            b"deepen-since" => {
                self.depth.since = Some(number(rest).ok_or_else(|| invalid(line))?);
            }
            b"deepen-not" => {
                let tip = not_from(rest, listing).ok_or_else(|| {
                    GitError::Protocol(format!("deepen-not is not a ref: {}", shown(rest)))
                })?;
                self.depth.not.push(tip);
            }
            b"filter" => self.filter = Filter::parse(rest)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Notes that the client has something; whether we have it too.
    pub(super) fn have(&mut self, id: ObjectId, source: &Source) -> Result<bool, GitError> {
        let common = self.common.contains(&id) || source.is_commit(id)?;
        if common {
            self.common.insert(id);
        }
        Ok(common)
    }
}

fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn invalid(line: &[u8]) -> GitError {
    GitError::Protocol(format!("invalid line: '{}'", shown(line)))
}

/// A branch or tag, by its full name or by the short one that people use.
fn not_from(name: &[u8], listing: &Listing) -> Option<ObjectId> {
    ["", "refs/", "refs/tags/", "refs/heads/"].into_iter().find_map(|prefix| {
        let full = BString::from([prefix.as_bytes(), name].concat());
        listing.find(full.as_bstr()).map(|found| found.target)
    })
}
