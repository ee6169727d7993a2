//! Clones after each push. The server knows from pushes, merges and earlier clones which objects are reachable.

use gix::ObjectId;
use hexforge_domain::ports::git::{GitStore, MergedPacks};

use crate::client::Client;
use crate::history::History;
use crate::operation::{Action, Operation};
use crate::oracle::{Failure, Oracle, UnderTest};
use crate::request::{Request, Wire};
use crate::scenario::run_fetches_with;
use crate::server::Server;
use crate::support::{Random, refs};

/// Clones after each push, before and after packs are merged, and with a store that was opened again.
pub fn run_clones(operations: &[Operation], under_test: UnderTest) -> Result<(), Failure> {
    run_fetches_with(operations, under_test, &|operation, history, server| {
        let mut random = operation.random();
        if !matches!(operation.action, Action::Push) || server.refs.is_empty() {
            return Ok(());
        }
        clone(history, server, under_test, &mut random)?;
        if random.one_in(3) {
            server.reopen();
            clone(history, server, under_test, &mut random)?;
        }
        if random.one_in(3) && merge(server) {
            clone(history, server, under_test, &mut random)?;
        }
        Ok(())
    })
}

/// Merges packs, if some are worth it.
fn merge(server: &Server) -> bool {
    let mut packs = refs::refs_of(&server.path()).packs().to_vec();
    let merged = server.store.merge_packs(server.project, &packs).expect("packs can be merged");
    let Some(MergedPacks { pack, replaced }) = merged else { return false };
    packs.retain(|one| !replaced.contains(&one.name));
    packs.push(pack);
    refs::replace_packs(&server.store, server.project, &packs);
    true
}

/// Clones all refs, one ref, an old commit, and all refs again.
fn clone(
    history: &History,
    server: &Server,
    under_test: UnderTest,
    random: &mut Random,
) -> Result<(), Failure> {
    let oracle = Oracle { history, server, under_test };
    let tips: Vec<ObjectId> = server.refs.values().copied().collect();
    let commits = history.objects.commits(&history.reachable(&server.refs));
    let one = vec![*random.pick(&tips)];
    let old = if commits.is_empty() { one.clone() } else { vec![*random.pick(&commits)] };
    for wants in [tips.clone(), one, old, tips] {
        let mut request = Request::clone_of(*random.pick(&Wire::ALL), wants);
        request.wants.sort();
        request.wants.dedup();
        request.offset_deltas = !random.one_in(4);
        request.include_tag = !random.one_in(3);
        oracle.fetch(&mut Client::default(), &request, random)?;
    }
    Ok(())
}
