//! Keeping repositories quick to read.
//!
//! Each push leaves a pack of its own, and whoever looks for an object looks through all of them. So when there
//! are many, the small ones are put together in the background. Nothing waits for that, and nothing is lost when
//! it breaks off: the packs go only when everything in them is in another one, on disk.

mod chains;
mod choice;
mod merge;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::GitError;

use crate::background;
use crate::durable::sync_folder;
use crate::error::{failed, io};
use crate::store::{Shared, open_folder, put_pack};
use crate::upload::packs::{Pack, open_all};

/// With fewer packs a repository is left as it is.
pub(crate) const MANY_PACKS: usize = 24;

/// Repositories that wait to be tidied; what finds no room comes again with its next push.
const LONGEST_QUEUE: usize = 1000;

/// The repositories of a process that are to be tidied.
#[derive(Default)]
pub(crate) struct Tidying(Mutex<State>);

#[derive(Default)]
struct State {
    waiting: VecDeque<ProjectId>,
    is_working: bool,
}

impl Tidying {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // Nothing is left half done when a holder panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has a repository tidied in the background.
pub(crate) fn later(shared: &Arc<Shared>, project: ProjectId) {
    let mut state = shared.tidying.state();
    if state.waiting.len() >= LONGEST_QUEUE || state.waiting.contains(&project) {
        return;
    }
    if !state.is_working {
        let shared = Arc::clone(shared);
        if let Err(error) = background::spawn("tidying", move || work(&shared)) {
            tracing::warn!(%error, "no thread to tidy with");
            return;
        }
        state.is_working = true;
    }
    state.waiting.push_back(project);
}

/// Tidies until nothing is left to tidy.
fn work(shared: &Shared) {
    loop {
        let project = {
            let mut state = shared.tidying.state();
            let Some(project) = state.waiting.pop_front() else {
                state.is_working = false;
                return;
            };
            project
        };
        let folder = shared.layout.repository(project);
        match catch_unwind(AssertUnwindSafe(|| tidy(shared, &folder))) {
            // What is open would hold on to files that are gone.
            Ok(Ok(true)) => shared.forget_open(project),
            Ok(Ok(false)) => (),
            Ok(Err(error)) => tracing::warn!(%project, %error, "a repository cannot be tidied"),
            Err(_) => tracing::error!(%project, "tidying a repository broke off"),
        }
    }
}

/// Puts small packs of a repository together; answers whether there was anything to do.
fn tidy(shared: &Shared, repository: &Path) -> Result<bool, GitError> {
    let Some(_lock) = lock(repository)? else { return Ok(false) };
    let folder = repository.join("objects").join("pack");
    let mut packs = open_all(&folder)?;
    packs.retain(is_ours_to_move);
    packs.sort_by_key(|pack| pack.index.num_objects());
    let sizes: Vec<u64> = packs.iter().map(|pack| pack.index.num_objects().into()).collect();
    packs.truncate(choice::to_merge(&sizes));
    if packs.is_empty() {
        return Ok(false);
    }
    // Bases of deltas are more often in the large ones.
    packs.reverse();
    let scratch = shared.scratch()?;
    let repo = open_folder(repository)?.to_thread_local();
    let read = |id: gix::ObjectId| {
        let object = repo.find_object(id).map_err(failed)?;
        Ok((object.kind, object.data.clone()))
    };
    let merged = merge::merge(&packs, scratch.path(), &read)?;
    put_pack(&merged.data, &merged.index, &folder)?;
    // It speaks of packs that are about to go.
    remove(&folder.join("multi-pack-index"))?;
    for pack in &packs {
        if pack.path() != folder.join(&merged.name) {
            remove_pack(pack)?;
        }
    }
    sync_folder(&folder)?;
    Ok(true)
}

/// Only one at a time tidies a repository, whatever process it is in. The lock goes with the value.
fn lock(repository: &Path) -> Result<Option<File>, GitError> {
    let file = match File::create(repository.join("tidying.lock")) {
        // Removed meanwhile.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.map_err(io)?,
    };
    Ok(file.try_lock().is_ok().then_some(file))
}

/// Others may have reasons to keep a pack as it is, and say so with a file beside it.
fn is_ours_to_move(pack: &Pack) -> bool {
    let path = pack.path();
    ["keep", "promisor", "mtimes"].iter().all(|reason| !path.with_extension(reason).exists())
}

/// First the index: without it the rest is seen by nobody.
fn remove_pack(pack: &Pack) -> Result<(), GitError> {
    let path = pack.path();
    ["idx", "rev", "bitmap", "pack"].iter().try_for_each(|part| remove(&path.with_extension(part)))
}

fn remove(file: &Path) -> Result<(), GitError> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io(error)),
        _ => Ok(()),
    }
}
