//! The answer to a request that is understood.

use gix::ObjectId;
use gix::odb::pack::cache::lru::MemoryCappedHashmap;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::closure::{self, Closure};
use super::depth::Ends;
use super::filter::Filter;
use super::objects::{Collector, Had, Roots, Selection};
use super::output::Output;
use super::pack::{self, Deltas};
use super::plan::Plan;
use super::plans;
use super::refs::Listing;
use super::request::Request;
use super::walk::{self, Ask};

/// How many bytes of what others are based on are kept while objects are looked for.
const BASES: usize = 32 << 20;

/// In how many of the commits of a client it is looked what is there, where only that tells.
const LOOKED_INTO: usize = 4;

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
    Ok(walk::region(source.repo()?, source.lineages(), ask)?.all_lead_to_known(wants))
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
    let answer = Answer { source, listing, request, ends };
    let by_offset = request.ofs_delta;
    if request.common.is_empty() && request.shallow.is_empty() {
        let name = plans::name_of(source, listing, request, ends)?;
        let make = |output: &mut Output<'_>| Ok(answer.plan(output)?.0);
        let plan = source.shared.plans.get_or_make(name, output, make)?;
        if plan.is_possible(source) {
            let deltas = Deltas { thin: false, by_offset };
            return carry_out(source, &plan, &Had::default(), deltas, output);
        }
    }
    let (plan, had) = source.shared.plans.make(output, |output| answer.plan(output))?;
    // A client that leaves out files may not have what it would need.
    let thin = request.thin && request.filter == Filter::All;
    carry_out(source, &plan, &had, Deltas { thin, by_offset }, output)
}

/// An answer to be found.
struct Answer<'a> {
    source: &'a Source,
    listing: &'a Listing,
    request: &'a Request,
    ends: &'a Ends,
}

impl Answer<'_> {
    /// What is to be sent, and some of what the client has.
    fn plan(&self, output: &mut Output<'_>) -> Result<(Plan, Had), GitError> {
        let Self { source, listing, request, ends } = *self;
        let mut repo = source.repo()?.clone();
        // Objects are read once each; what many of them are based on is not.
        repo.object_cache_size(None);
        repo.objects.set_pack_cache(|| Box::new(MemoryCappedHashmap::new(BASES)));
        let mut roots = Roots::of(&repo, &request.wants)?;
        roots.commits.extend(&ends.wants);
        if request.common.is_empty() && ends.all.is_empty() {
            let tags = request.include_tag.then_some(listing);
            match closure::find(source, &repo, &roots, request.filter, tags)? {
                Some(Closure::Pack(stored)) if request.ofs_delta => {
                    return Ok((Plan::Pack(stored), Had::default()));
                }
                Some(Closure::Objects(ids)) => {
                    return Ok((Plan::of(source, ids), Had::default()));
                }
                Some(Closure::Pack(_)) | None => {}
            }
        }
        let haves: Vec<ObjectId> = request.common.iter().copied().collect();
        let ask = Ask { wants: &roots.commits, haves, ends: Some(&ends.all), since: None };
        let region = walk::region(&repo, source.lineages(), ask)?;
        // The client has these, if not what is behind them.
        let mut had = ends.unshallow.clone();
        if !ends.all.is_empty() {
            // Where commits are cut off from what they come from, nothing else tells what the client has.
            had.extend(request.common.iter().take(LOOKED_INTO));
        }
        let selection = Selection::default();
        let mut collector = Collector { repo: &repo, filter: request.filter, output, selection };
        collector.collect(&region, &roots, &had)?;
        if request.include_tag {
            collector.tags(listing)?;
        }
        let (ids, had) = collector.selection.end();
        Ok((Plan::of(source, ids), had))
    }
}

fn carry_out(
    source: &Source,
    plan: &Plan,
    had: &Had,
    deltas: Deltas,
    output: &mut Output<'_>,
) -> Result<(), GitError> {
    let objects = match plan {
        Plan::Pack(stored) => return pack::copy(source, *stored, output),
        Plan::Objects(objects) => objects,
    };
    let count = objects.entries().len();
    output.say(&format!("Enumerating objects: {count}, done.\n"))?;
    pack::write(source, objects, had, deltas, output)?;
    output.say(&format!("Total {count}\n"))
}
