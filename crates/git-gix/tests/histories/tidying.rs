//! Merges the packs of many pushes.

use hexforge_domain::pack::{MERGE_THRESHOLD, Pack};
use hexforge_domain::ports::git::{GitStore, MergedPacks};

use crate::copies::{Kind, check_complete, copy};
use crate::history::History;
use crate::operation::{Action, Operation};
use crate::oracle::{Failure, UnderTest};
use crate::readings::read;
use crate::scenario::run_fetches_with;
use crate::server::Server;
use crate::support::refs;

/// Pushes many times, and reads and fetches at the end.
pub fn run_tidying(operations: &[Operation], under_test: UnderTest) -> Result<(), Failure> {
    run_fetches_with(operations, under_test, &|operation, history, server| {
        let is_many = packs_of(server).len() >= MERGE_THRESHOLD;
        match operation.action {
            Action::Push if !is_many => Ok(()),
            Action::Push => match operation.branch % 4 {
                // The next push is received before packs are merged.
                0 => Ok(()),
                // Or the repository is copied before.
                1 => copy(history, server, Kind::Fork),
                2 => copy(history, server, Kind::Backup),
                _ => merge_and_check(history, server),
            },
            _ => {
                if is_many {
                    merge_and_check(history, server)?;
                }
                read(history, server, &mut operation.random())
            }
        }
    })
}

fn packs_of(server: &Server) -> Vec<Pack> {
    refs::refs_of(&server.path()).packs().to_vec()
}

/// Merges packs, and checks that no object is missing.
fn merge_and_check(history: &History, server: &Server) -> Result<(), Failure> {
    let question = "merged packs";
    let fail = |difference: String| {
        Err(Failure::of(server, question, format!("{question}: {difference}")))
    };
    let mut packs = packs_of(server);
    let before = packs.len();
    match server.store.merge_packs(server.project, &packs) {
        Err(error) => return fail(error.to_string()),
        Ok(None) => return fail("none is merged".to_owned()),
        Ok(Some(MergedPacks { pack, replaced })) => {
            packs.retain(|one| !replaced.contains(&one.name));
            packs.push(pack);
        }
    }
    if packs.len() >= before.min(MERGE_THRESHOLD) {
        return fail(format!("of {before} packs {} are left", packs.len()));
    }
    refs::replace_packs(&server.store, server.project, &packs);
    check_complete(history, server, question)
}
