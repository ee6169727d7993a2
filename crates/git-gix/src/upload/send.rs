//! The answer to a request that is understood.

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::closure::{self, Closure};
use super::depth::Ends;
use super::filter::Filter;
use super::objects::{Collector, Roots, Selection};
use super::output::Output;
use super::pack::{self, Deltas};
use super::refs::Listing;
use super::request::Request;
use super::walk::{self, Ask};

/// Whether the client said enough: all that it wants leads to something that it has.
pub(super) fn is_ready(
    source: &Source,
    request: &Request,
    wants: &[ObjectId],
) -> Result<bool, GitError> {
    if request.common.is_empty() {
        return Ok(false);
    }
    let haves = request.common.iter().copied().collect();
    let ask = Ask { wants, haves, ends: Some(&request.shallow), since: None };
    Ok(walk::region(source.repo()?, ask)?.all_lead_to_known(wants))
}

/// Sends the pack, or tells the client in it why not.
pub(super) fn pack(
    source: &Source,
    listing: &Listing,
    request: &Request,
    ends: &Ends,
    mut output: Output<'_>,
) -> Result<(), GitError> {
    match try_pack(source, listing, request, ends, &mut output) {
        Ok(()) => output.end(),
        Err(GitError::ReaderGone(error)) => Err(GitError::ReaderGone(error)),
        Err(error) => {
            output.fail("the server failed");
            // The client was told, in the only way that is left.
            Err(error)
        }
    }
}

fn try_pack(
    source: &Source,
    listing: &Listing,
    request: &Request,
    ends: &Ends,
    output: &mut Output<'_>,
) -> Result<(), GitError> {
    let repo = source.repo()?;
    let mut roots = Roots::of(repo, &request.wants)?;
    roots.commits.extend(&ends.wants);
    if request.common.is_empty() && ends.all.is_empty() {
        let tags = request.include_tag.then_some(listing);
        let by_offset = request.ofs_delta;
        match closure::find(source, &roots, request.filter, tags)? {
            Some(Closure::Pack(stored)) if by_offset => return pack::copy(source, stored, output),
            Some(Closure::Objects(ids)) => {
                let deltas = Deltas { thin: false, by_offset };
                return write(source, ids, &HashSet::default(), deltas, output);
            }
            Some(Closure::Pack(_)) | None => {}
        }
    }
    let haves: Vec<ObjectId> = request.common.iter().copied().collect();
    let ask = Ask { wants: &roots.commits, haves, ends: Some(&ends.all), since: None };
    let mut region = walk::region(repo, ask)?;
    // The client has these, if not what is behind them.
    region.boundary.extend(&ends.unshallow);
    let mut collector =
        Collector { repo, filter: request.filter, output, selection: Selection::default() };
    collector.collect(&region, &roots)?;
    if request.include_tag {
        collector.tags(listing)?;
    }
    let Selection { ids, known, .. } = collector.selection;
    drop(region);
    // A client that leaves out files may not have what it would need.
    let thin = request.thin && request.filter == Filter::All;
    let deltas = Deltas { thin, by_offset: request.ofs_delta };
    write(source, ids, &known, deltas, output)
}

fn write(
    source: &Source,
    ids: Vec<ObjectId>,
    known: &HashSet<ObjectId>,
    deltas: Deltas,
    output: &mut Output<'_>,
) -> Result<(), GitError> {
    let count = ids.len();
    output.say(&format!("Enumerating objects: {count}, done.\n"))?;
    pack::write(source, ids, known, deltas, output)?;
    output.say(&format!("Total {count}\n"))
}
