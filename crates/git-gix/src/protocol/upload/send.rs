//! Computes and sends the answer to a parsed request.

use gix::ObjectId;
use gix::hashtable::HashSet;
use gix::odb::pack::cache::lru::MemoryCappedHashmap;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::closure::Closure;
use super::depth::ShallowBoundary;
use super::filter::Filter;
use super::known::KnownObjects;
use super::objects::{Collector, Roots, Selection};
use super::output::Output;
use super::pack::{self, ClientState, Deltas};
use super::packs::Pack;
use super::plan::Plan;
use super::plans;
use super::refs::Listing;
use super::request::Request;
use super::verify::ClientObjects;
use super::walk::{self, WalkInput};

/// The size of the cache of delta bases while objects are searched, in bytes.
const DELTA_BASE_CACHE_BYTES: usize = 32 << 20;

/// The most commits of a shallow client that are compared with the sent commits.
const MOST_COMPARED_HAVES: usize = 10_000;

/// Whether the negotiation can end: every wanted commit leads to a commit that the client named. A fetch that deepens
/// the history goes on, because each further common commit can save objects behind it.
pub(super) fn is_ready(
    source: &Source,
    request: &Request,
    wants: &[ObjectId],
    ends: &ShallowBoundary,
) -> Result<bool, GitError> {
    if request.common.is_empty() || !ends.wants.is_empty() {
        return Ok(false);
    }
    walk::all_lead_to_named(source.repo()?, source.lineages(), wants, &request.common, &ends.all)
}

/// Sends the pack. If that fails, the client gets an error in the side band.
pub(super) fn pack(
    source: &Source,
    listing: &Listing,
    request: &Request,
    ends: &ShallowBoundary,
    mut output: Output<'_>,
) -> Result<(), GitError> {
    match try_pack(source, listing, request, ends, &mut output) {
        Ok(()) => output.end(),
        Err(GitError::ReaderGone(error)) => Err(GitError::ReaderGone(error)),
        Err(error) => {
            let why = if source.is_removed() {
                "the repository was removed"
            } else {
                "the server failed"
            };
            output.fail(why);
            // The client got the error message in the side band; the caller logs the cause.
            Err(error)
        }
    }
}

fn try_pack(
    source: &Source,
    listing: &Listing,
    request: &Request,
    ends: &ShallowBoundary,
    output: &mut Output<'_>,
) -> Result<(), GitError> {
    let answer = Answer { source, listing, request, ends };
    let client = if source.shared.verifies_fetches() {
        Some(ClientObjects::find(source.repo()?, request)?)
    } else {
        None
    };
    let verify = |plan: &Plan| match &client {
        Some(client) => client.check_sent(source.repo()?, request, ends, &plan.ids(&source.packs)),
        None => Ok(()),
    };
    let by_offset = request.ofs_delta;
    if request.common.is_empty() && request.shallow.is_empty() {
        let name = plans::request_key(source, listing, request, ends)?;
        let make = |output: &mut Output<'_>| match source.packs.largest() {
            Some(pack) if request.is_complete() => answer.plan_clone(pack, output),
            Some(_) | None => Ok(answer.plan(output)?.0),
        };
        let plan = source.shared.plans.get_or_compute(name, source.caller, output, make)?;
        if plan.packs_are_open(source) {
            verify(&plan)?;
            let client_state =
                ClientState { known: &KnownObjects::default(), all_objects: client.as_ref() };
            return send_plan(
                source,
                &plan,
                client_state,
                Deltas { thin: false, by_offset },
                output,
            );
        }
    }
    let (plan, known) =
        source.shared.plans.compute(source.caller, output, |output| answer.plan(output))?;
    verify(&plan)?;
    // A thin pack is impossible for a partial clone: the client may lack the bases.
    let thin = request.thin && request.filter == Filter::All;
    let client_state = ClientState { known: &known, all_objects: client.as_ref() };
    send_plan(source, &plan, client_state, Deltas { thin, by_offset }, output)
}

/// The input for the plan of an answer.
struct Answer<'a> {
    source: &'a Source,
    listing: &'a Listing,
    request: &'a Request,
    ends: &'a ShallowBoundary,
}

impl Answer<'_> {
    /// A handle for reading many objects once each, so only delta bases are cached.
    fn repo(&self) -> Result<gix::Repository, GitError> {
        let mut repo = self.source.repo()?.clone();
        repo.object_cache_size(None);
        repo.objects.set_pack_cache(|| Box::new(MemoryCappedHashmap::new(DELTA_BASE_CACHE_BYTES)));
        Ok(repo)
    }

    /// Computes the objects of a complete clone. `pack` is the largest pack.
    fn plan_clone(&self, pack: &Pack, output: &mut Output<'_>) -> Result<Plan, GitError> {
        let Self { source, listing, request, .. } = *self;
        let repo = self.repo()?;
        let mut closure = Closure::find(source, &repo, pack, &request.wants, output)?;
        if request.include_tag {
            closure.add_tags(&repo, pack, listing)?;
        }
        Plan::of_closure(source, closure, request.ofs_delta)
    }

    /// Computes the objects to send, and some of those that the client has.
    fn plan(&self, output: &mut Output<'_>) -> Result<(Plan, KnownObjects), GitError> {
        let Self { source, listing, request, ends } = *self;
        let repo = self.repo()?;
        let mut roots = Roots::of(&repo, &request.wants)?;
        roots.commits.extend(&ends.wants);
        // The client also has the commits that stop being shallow.
        let haves = request.common.iter().chain(&ends.unshallow).copied().collect();
        let input = WalkInput { wants: &roots.commits, haves, ends: Some(&ends.all), since: None };
        let missing = walk::find_missing_commits(&repo, source.lineages(), input)?;
        // The client has the trees of the boundary commits, and of its own commits that a shallow boundary separates
        // from the commits that are sent.
        let mut had = missing.boundary.clone();
        had.extend(&ends.unshallow);
        if !ends.all.is_empty() {
            had.extend(newest_commits(source, &repo, &request.common)?);
        }
        let mut collector = Collector::new(&repo, request.filter, output);
        collector.collect(&missing, &roots, &had)?;
        if request.include_tag {
            collector.add_tags_of_sent(listing)?;
        }
        let Selection { ids, known } = collector.finish();
        Ok((Plan::of(source, ids)?, known))
    }
}

/// Returns the newest of these commits, at most [`MOST_COMPARED_HAVES`].
fn newest_commits(
    source: &Source,
    repo: &gix::Repository,
    commits: &HashSet<ObjectId>,
) -> Result<Vec<ObjectId>, GitError> {
    let mut buffer = Vec::new();
    let mut dated = Vec::new();
    for &commit in commits {
        if let Some(lineage) = source.lineages().read(repo, commit, &mut buffer)? {
            dated.push((lineage.time, commit));
        }
    }
    dated.sort_unstable_by_key(|&dated| std::cmp::Reverse(dated));
    Ok(dated.into_iter().take(MOST_COMPARED_HAVES).map(|(_, commit)| commit).collect())
}

fn send_plan(
    source: &Source,
    plan: &Plan,
    client: ClientState<'_>,
    deltas: Deltas,
    output: &mut Output<'_>,
) -> Result<(), GitError> {
    let count = plan.count(&source.packs);
    output.send_progress(&format!("Enumerating objects: {count}, done.\n"))?;
    pack::write(source, plan, client, deltas, output)?;
    output.send_progress(&format!("Total {count}\n"))
}
