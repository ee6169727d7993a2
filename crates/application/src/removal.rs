//! Removal of the rows and files that removed projects, groups and users leave behind.
//!
//! Rows are removed in steps. Files are not part of a transaction, so they are removed after the rows. If the process
//! stops in between, the next start removes the files.

use hexforge_domain::id::ProjectId;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::files::ProjectFiles;
use hexforge_domain::project::query::{ProjectFilter, ProjectScope};
use hexforge_domain::removal::Step;

use crate::app::App;
use crate::error::Error;

/// The number of projects per query of the sweep.
const BATCH: usize = 500;

/// The number of rows that one step removes. A step this short does not delay other transactions noticeably.
const ROWS: u32 = 1_000;

/// The number of projects whose files are discarded right after the transaction that removed them. The files of further
/// projects are discarded with their last rows.
const MAX_PROJECTS: usize = 100;

/// The projects that a transaction removed, up to [`MAX_PROJECTS`] of them.
#[derive(Debug, Default)]
#[must_use = "the files of removed projects have to be discarded after the commit"]
pub(crate) struct Removed(Vec<ProjectId>);

impl Removed {
    /// Adds a project that this transaction removes.
    pub(crate) fn add(&mut self, project: ProjectId) {
        if self.0.len() < MAX_PROJECTS {
            self.0.push(project);
        }
    }

    /// Discards the files of these projects. Call it only after the commit: until then the transaction may be rolled
    /// back.
    pub(crate) fn discard_files(self, app: &App) {
        for project in self.0 {
            discard_files_of(app, project);
        }
    }
}

/// Discards all files of a removed project.
pub(crate) fn discard_files_of(app: &App, project: ProjectId) {
    for files in app.project_files() {
        files.remove_project(project);
    }
}

/// Removes one batch of rows of removed projects, groups and users. Returns whether there were any. After a restart the
/// worker continues with the remaining rows.
pub fn step(app: &App) -> Result<bool, Error> {
    if !app.store.read::<_, Error>(|tx| Ok(tx.removals().pending()?))? {
        return Ok(false);
    }
    match app.store.write::<_, Error>(|tx| Ok(tx.removals().step(ROWS)?))? {
        Step::Nothing => return Ok(false),
        Step::Rows => (),
        Step::Project(project) => discard_files_of(app, project),
        Step::LfsNetwork(network) => {
            app.lfs_files.remove_network(network)?;
            app.store.write::<_, Error>(|tx| Ok(tx.lfs_objects().forget(network)?))?;
        }
    }
    Ok(true)
}

/// The outcome of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// The files of this many projects were discarded.
    Done(usize),
    /// There are files, but the database has no project at all. It is more likely the wrong database than an empty one,
    /// so nothing was discarded.
    NoProjects,
}

/// Finishes interrupted removals of an earlier run: discards the files of all projects that do not exist. Runs at
/// startup, while the server may already serve requests.
pub fn sweep(app: &App) -> Result<Sweep, Error> {
    let mut discarded = 0;
    app.lfs_files.remove_leftovers()?;
    for files in app.project_files() {
        files.remove_leftovers()?;
        let mut projects = files.projects()?.peekable();
        if projects.peek().is_some() && !any_project(app)? {
            return Ok(Sweep::NoProjects);
        }
        loop {
            let batch: Vec<ProjectId> = projects.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            discarded += discard_missing(app, files, &batch)?;
        }
    }
    Ok(Sweep::Done(discarded))
}

/// Cleans up after file operations that were interrupted since the start. Runs periodically.
pub fn remove_leftovers(app: &App) -> Result<(), Error> {
    for files in app.project_files() {
        files.remove_leftovers()?;
    }
    Ok(app.lfs_files.remove_leftovers()?)
}

fn any_project(app: &App) -> Result<bool, Error> {
    app.store.read(|tx| {
        let all = ProjectFilter::newest_first(ProjectScope::All, app.today());
        let some = tx.projects().list(&all, Page::Numbered { number: 1, size: 1 })?;
        Ok(!some.items.is_empty())
    })
}

fn discard_missing(
    app: &App,
    files: &dyn ProjectFiles,
    batch: &[ProjectId],
) -> Result<usize, Error> {
    let existing = app.store.read::<_, Error>(|tx| Ok(tx.projects().find_all(batch)?))?;
    let missing = batch.iter().filter(|id| existing.iter().all(|project| project.id != **id));
    let mut discarded = 0;
    for project in missing {
        files.remove_project(*project);
        discarded += 1;
    }
    Ok(discarded)
}
