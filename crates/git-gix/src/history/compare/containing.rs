//! The first of several histories that has a commit.

use gix::ObjectId;
use gix::hashtable::HashSet;
use hexforge_domain::ports::git::GitError;

use super::{cached, must_exist};
use crate::error::failed;

/// By how many seconds a clock may have been wrong before more has to be looked at.
const WRONG_CLOCKS: i64 = 24 * 60 * 60;

/// Of longer histories nothing is known.
const MOST: usize = 5_000_000;

/// The place of the first of these tips that a commit led to. However many tips there are, each commit is looked
/// at once, and none that is much older than the wanted one, unless it is found nowhere else.
pub(crate) fn first_containing(
    repo: &gix::Repository,
    tips: &[ObjectId],
    wanted: ObjectId,
) -> Result<Option<usize>, GitError> {
    must_exist(repo, &[wanted])?;
    let repo = &cached(repo);
    let made = repo.find_commit(wanted).map_err(failed)?.time().map_err(failed)?.seconds;
    let found = first(repo, tips, wanted, made.saturating_sub(WRONG_CLOCKS))?;
    // One of the tips before may lead to it behind a commit that claims to be much older.
    let before = &tips[..found.unwrap_or(tips.len())];
    Ok(first(repo, before, wanted, i64::MIN)?.or(found))
}

fn first(
    repo: &gix::Repository,
    tips: &[ObjectId],
    wanted: ObjectId,
    oldest: i64,
) -> Result<Option<usize>, GitError> {
    // A commit-graph that cannot be read only costs time.
    let commit_graph = repo.commit_graph_if_enabled().unwrap_or_default();
    let mut graph: gix::revwalk::Graph<'_, '_, gix::revwalk::graph::Commit<()>> =
        repo.revision_graph(commit_graph.as_ref());
    // What does not lead from the wanted commit to one tip does not lead to another.
    let mut seen = HashSet::default();
    for (place, &tip) in tips.iter().enumerate() {
        let mut waiting = vec![tip];
        while let Some(id) = waiting.pop() {
            if id == wanted {
                return Ok(Some(place));
            }
            if !seen.insert(id) {
                continue;
            }
            if seen.len() > MOST {
                return Err(GitError::TooLarge);
            }
            // What does not exist ends the history.
            let commit = graph.get_or_insert_full_commit(id, |_| {}).map_err(failed)?;
            if let Some(commit) = commit.filter(|commit| commit.commit_time >= oldest) {
                waiting.extend(&commit.parents);
            }
        }
    }
    Ok(None)
}
