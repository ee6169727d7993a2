//! The parsed fetch request of a client.

use std::collections::{self, BTreeMap};

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::filter::Filter;
use super::refs::Listing;
use super::wire::{parse_id, printable};

/// Everything that the client sent before the pack.
#[derive(Default)]
pub(super) struct Request {
    pub(super) wants: Vec<ObjectId>,
    /// The client chooses these ids. gix hashes an id by its first bytes, so they could all collide.
    wanted: collections::HashSet<ObjectId>,
    /// Refs requested by name (`want-ref`), with their targets at that time.
    pub(super) refs: BTreeMap<BString, ObjectId>,
    /// Commits that both the client and the repository have.
    pub(super) common: HashSet<ObjectId>,
    /// The shallow commits of the client: it lacks their parents.
    pub(super) shallow: HashSet<ObjectId>,
    pub(super) depth: Depth,
    pub(super) filter: Filter,
    pub(super) thin: bool,
    pub(super) ofs_delta: bool,
    pub(super) include_tag: bool,
    pub(super) no_progress: bool,
}

/// The depth that the client asks for.
#[derive(Default)]
pub(super) struct Depth {
    /// `deepen`: the number of commits from each tip.
    pub(super) commits: Option<u64>,
    /// `deepen-relative`: `commits` is counted from the current shallow boundary of the client.
    pub(super) relative: bool,
    /// `deepen-since`: only commits from this Unix time on.
    pub(super) since: Option<i64>,
    /// `deepen-not`: no commits that are reachable from these.
    pub(super) not: Vec<ObjectId>,
}

impl Depth {
    pub(super) fn is_requested(&self) -> bool {
        self.commits.is_some() || self.since.is_some() || !self.not.is_empty()
    }
}

impl Request {
    /// Whether the client wants all objects that are reachable from the wanted ones, if it has none yet.
    pub(super) fn is_complete(&self) -> bool {
        self.filter == Filter::All && !self.depth.is_requested()
    }

    /// Adds a wanted object. Access to it is checked later.
    pub(super) fn want(&mut self, id: ObjectId) {
        if self.wanted.insert(id) {
            self.wants.push(id);
        }
    }

    /// Parses a line that is common to all protocol versions. Returns whether it was one.
    pub(super) fn parse_line(
        &mut self,
        line: &[u8],
        listing: &Listing,
        source: &Source,
    ) -> Result<bool, GitError> {
        let (word, rest) = line.split_once_str(" ").unwrap_or((line, b""));
        match word {
            b"shallow" => {
                let id = parse_id(rest)?;
                // A shallow commit that the repository lacks does not influence the answer.
                if source.is_commit(id)? {
                    self.shallow.insert(id);
                }
            }
            b"deepen" => {
                let commits = parse_number(rest).and_then(|depth| u64::try_from(depth).ok());
                let commits = commits.filter(|&depth| depth > 0);
                self.depth.commits = Some(commits.ok_or_else(|| invalid_line(line))?);
            }
            b"deepen-since" => {
                self.depth.since = Some(parse_number(rest).ok_or_else(|| invalid_line(line))?);
            }
            b"deepen-not" => {
                let tip = find_excluded(rest, listing).ok_or_else(|| {
                    GitError::Protocol(format!("deepen-not is not a ref: {}", printable(rest)))
                })?;
                self.depth.not.push(tip);
            }
            b"filter" => self.filter = Filter::parse(rest)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Records a commit that the client has. Returns whether the repository has it too.
    pub(super) fn have(&mut self, id: ObjectId, source: &Source) -> Result<bool, GitError> {
        let common = self.common.contains(&id) || source.is_commit(id)?;
        if common {
            self.common.insert(id);
        }
        Ok(common)
    }
}

fn parse_number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn invalid_line(line: &[u8]) -> GitError {
    GitError::Protocol(format!("invalid line: '{}'", printable(line)))
}

/// Finds a ref by its full name or by a short name of a branch or tag.
fn find_excluded(name: &[u8], listing: &Listing) -> Option<ObjectId> {
    ["", "refs/", "refs/tags/", "refs/heads/"].into_iter().find_map(|prefix| {
        let full = BString::from([prefix.as_bytes(), name].concat());
        listing.find(full.as_bstr()).map(|found| found.target)
    })
}
