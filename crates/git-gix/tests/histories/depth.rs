//! Computes the shallow boundary for `deepen-since`, `deepen-not` and `deepen-relative`.
//!
//! Git walks by date and stops soon after all remaining commits seem to be excluded. In a history with wrong dates it
//! stops too soon and selects commits that it should exclude. So the exact answers for such histories are computed
//! here.

use gix::ObjectId;

use crate::history::History;
use crate::objects::Ids;
use crate::request::Request;
use crate::server::Server;

/// The lines of the answer: new shallow commits, and commits that are no longer shallow.
pub type Ends = (Ids, Ids);

/// Returns the right answers. There are two if a selected commit can also be reached through one that is too old: git
/// excludes all ancestors of a commit that is too old.
pub fn exact_ends(history: &History, server: &Server, request: &Request) -> [Ends; 2] {
    if request.depth.is_relative {
        let ends = relative_ends(history, server, request);
        return [ends.clone(), ends];
    }
    let is_old = |id: ObjectId| request.depth.since.is_some_and(|since| date(history, id) < since);
    let excluded = request.depth.not.iter().map(|name| server.refs[name]);
    let excluded = history.objects.closure(excluded, &Ids::new());
    let mut all = Ids::new();
    let mut old = Ids::new();
    let mut stack: Vec<ObjectId> =
        request.wants.iter().map(|&want| history.objects.peel(want)).collect();
    while let Some(id) = stack.pop() {
        if !history.objects.is_commit(id) || excluded.contains(&id) {
            continue;
        }
        if is_old(id) {
            old.insert(id);
        } else if all.insert(id) {
            stack.extend(&history.objects.get(id).parents);
        }
    }
    let behind_old = history.objects.closure(old, &Ids::new());
    let fewer: Ids = all.difference(&behind_old).copied().collect();
    [all, fewer].map(|selected| ends_of(history, request, &selected))
}

/// The boundary for `deepen-relative`: the history is deepened at the shallow commits that are reachable from a ref.
fn relative_ends(history: &History, server: &Server, request: &Request) -> Ends {
    let reachable = history.reachable(&server.refs);
    let known: Ids = request.shallow.iter().copied().collect();
    let mut level: Ids = known.intersection(&reachable).copied().collect();
    let mut whole = Ids::new();
    for _ in 0..request.depth.commits.unwrap_or_default() {
        whole.extend(&level);
        let parents = level.iter().flat_map(|&id| &history.objects.get(id).parents).copied();
        level = parents.filter(|id| !whole.contains(id)).collect();
    }
    (&level - &known, &known & &whole)
}

fn ends_of(history: &History, request: &Request, selected: &Ids) -> Ends {
    let is_cut = |id: &ObjectId| {
        history.objects.get(*id).parents.iter().any(|parent| !selected.contains(parent))
    };
    let cut: Ids = selected.iter().copied().filter(is_cut).collect();
    let old = || request.shallow.iter().copied();
    let unshallow = old().filter(|id| selected.contains(id) && !cut.contains(id)).collect();
    let known: Ids = old().collect();
    (&cut - &known, unshallow)
}

pub fn date(history: &History, id: ObjectId) -> i64 {
    let at = history.commits.iter().position(|commit| commit.id == id);
    history.dates[at.expect("the commit is of this history")]
}

/// Whether some commit is not newer than one of its parents.
pub fn has_wrong_dates(history: &History) -> bool {
    let is_wrong = |at: usize| {
        let parents = history.commits[at].parents.iter();
        parents.into_iter().any(|&parent| history.dates[parent] >= history.dates[at])
    };
    (0..history.commits.len()).any(is_wrong)
}
