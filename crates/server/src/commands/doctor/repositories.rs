//! Checks of repositories and stored packs.

use std::sync::Arc;

use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::repository;
use hexforge_blobs_object_store::CachedPacks;
use hexforge_domain::branch::BranchName;
use hexforge_domain::id::ProjectId;
use hexforge_domain::pack::PackName;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::files::ProjectFiles;
use hexforge_domain::ports::pack_store::{PackError, PackStore};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::Project;
use hexforge_domain::project::query::{ProjectFilter, ProjectScope};
use hexforge_domain::refs::Snapshot;
use hexforge_git_gix::GixStore;
use tempfile::TempDir;

use super::{Finding, causes};
use crate::config::Config;
use crate::storage::{self, Check};

/// How many projects, packs or LFS objects one query reads.
pub(super) const BATCH: usize = 500;

/// The most faults that are printed.
pub(super) const MAX_SHOWN: usize = 100;

/// Checks the repository of every project, and looks for repositories without a project. Memory
/// does not grow with their number.
pub(super) fn check(config: &Config, app: &App, deep: bool) -> Finding {
    let check = if deep { Check::Bytes } else { Check::Lengths };
    let (checker, _folder) =
        Checker::new(config, check).map_err(|error| vec![format!("{error:#}")])?;
    let git = &checker.git;
    let mut faults = Faults::default();
    let projects = check_projects(app, &checker, &mut faults).map_err(causes)?;
    let repositories = find_repositories_without_project(app, git, &mut faults).map_err(causes)?;
    if faults.count == 0 {
        return Ok(format!("{repositories} of {projects} projects, all whole"));
    }
    Err(faults.lines())
}

/// Checks repositories as deeply as the command asks for.
struct Checker {
    git: GixStore,
    check: Check,
    /// The object store with the packs, if one is configured.
    stored: Option<Arc<CachedPacks>>,
}

impl Checker {
    /// Fetches packs of an object store into a temporary directory, which lives as long as the second value. The normal
    /// cache is not used: its copies may be intact while those in the store are damaged.
    fn new(config: &Config, check: Check) -> anyhow::Result<(Self, Option<TempDir>)> {
        let (packs, stored, folder): (Arc<dyn PackStore>, _, _) = match storage::bucket(config)? {
            None => (Arc::new(storage::local_packs(config, check)), None, None),
            Some(bucket) => {
                let folder = tempfile::tempdir_in(&config.data_dir)?;
                let packs = Arc::new(CachedPacks::open(bucket, folder.path(), 0)?);
                (packs.clone(), Some(packs), Some(folder))
            }
        };
        // The check changes nothing, so nothing is discarded.
        let git = GixStore::new(&config.data_dir, packs, |_| Ok(()));
        Ok((Self { git, check, stored }, folder))
    }

    /// Returns the faults of a repository. [`Check::Lengths`] fetches no pack from an object store.
    fn faults(&self, refs: &Snapshot) -> Vec<String> {
        match &self.stored {
            None => self.git.find_faults(refs, self.check == Check::Bytes),
            Some(stored) if self.check == Check::Bytes => {
                let wrong = self.git.find_faults(refs, true);
                // Files that stay are dropped with the next packs.
                let _ = stored.evict_unlinked();
                wrong
            }
            Some(stored) => {
                let fault = |pack| stored.check_stored(pack).err().map(|error| error.to_string());
                refs.packs().iter().filter_map(fault).collect()
            }
        }
    }
}

/// Counts the stored packs, and names those that belong to no repository.
pub(super) fn check_packs(app: &App) -> Finding {
    let (mut count, mut unnamed, mut batch) = (0_u64, Vec::new(), Vec::new());
    let mut check = |batch: &mut Vec<PackName>| -> Result<(), StoreError> {
        let names = std::mem::take(batch);
        count += names.len() as u64;
        unnamed.extend(app.store.read::<_, StoreError>(|tx| tx.packs().without_row(&names))?);
        Ok(())
    };
    let listed = app.packs.for_each_pack(&mut |name, _| {
        batch.push(name);
        if batch.len() < BATCH {
            return Ok(());
        }
        check(&mut batch).map_err(|error| PackError::Failed(error.to_string()))
    });
    listed.map_err(causes)?;
    check(&mut batch).map_err(causes)?;
    let hours = app.settings.sweep_after.num_hours();
    Ok(match unnamed.len() {
        0 => format!("{count} are stored, each belongs to a repository"),
        of_none => {
            let names: Vec<String> =
                unnamed.iter().take(MAX_SHOWN).map(PackName::to_string).collect();
            let names = names.join(", ");
            format!(
                "{count} are stored, {of_none} belong to no repository and are removed when they are older than \
                 {hours} hours: {names}"
            )
        }
    })
}

/// The faults that a check found. Only the first ones are kept.
#[derive(Default)]
pub(super) struct Faults {
    shown: Vec<String>,
    pub(super) count: usize,
}

impl Faults {
    pub(super) fn add(&mut self, fault: String) {
        self.count += 1;
        if self.shown.len() < MAX_SHOWN {
            self.shown.push(fault);
        }
    }

    pub(super) fn lines(mut self) -> Vec<String> {
        let more = self.count - self.shown.len();
        if more > 0 {
            self.shown.push(format!("and {more} more"));
        }
        self.shown
    }
}

/// Checks the repositories of all projects. Returns the number of projects.
fn check_projects(app: &App, checker: &Checker, faults: &mut Faults) -> Result<u64, Error> {
    let all = ProjectFilter::newest_first(ProjectScope::All, app.today());
    let mut count = 0;
    for number in 1.. {
        let page = Page::Numbered { number, size: BATCH as u64 };
        let batch = app.store.read::<_, Error>(|tx| Ok(tx.projects().list(&all, page)?))?.items;
        for project in &batch {
            count += 1;
            for fault in confirmed_faults(app, checker, project)? {
                faults.add(format!("repository of project {}: {fault}", project.id));
            }
        }
        if batch.len() < BATCH {
            break;
        }
    }
    Ok(count)
}

/// Returns the faults of a project's repository that a second check confirms, because requests may change it meanwhile.
fn confirmed_faults(app: &App, checker: &Checker, project: &Project) -> Result<Vec<String>, Error> {
    let wrong = faults_of_project(app, checker, project);
    if wrong.is_empty() {
        return Ok(wrong);
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
    let now = app.store.read::<_, Error>(|tx| Ok(tx.projects().find_all(&[project.id])?))?;
    Ok(now.first().map(|project| faults_of_project(app, checker, project)).unwrap_or_default())
}

fn faults_of_project(app: &App, checker: &Checker, project: &Project) -> Vec<String> {
    let recorded = project.default_branch.as_ref().map(BranchName::as_str);
    let refs = match repository::refs(app, project.id) {
        Ok(refs) => refs,
        Err(error) => return vec![format!("its refs cannot be read: {error}")],
    };
    let mut wrong = checker.faults(&refs);
    let found = refs.default_branch();
    let found = found.as_ref().map(BranchName::as_str);
    if found != recorded {
        let name = |branch: Option<&str>| branch.map_or("none".into(), |name| format!("`{name}`"));
        let (found, recorded) = (name(found), name(recorded));
        wrong.push(format!("its default branch is {found}, its project says {recorded}"));
    }
    wrong
}

/// Looks for repositories without a project. Returns the number of repositories.
fn find_repositories_without_project(
    app: &App,
    git: &GixStore,
    faults: &mut Faults,
) -> Result<u64, Error> {
    let mut all = git.projects()?;
    let mut count = 0;
    loop {
        let batch: Vec<ProjectId> = all.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            return Ok(count);
        }
        count += batch.len() as u64;
        let known = app.store.read::<_, Error>(|tx| Ok(tx.projects().find_all(&batch)?))?;
        for id in batch.iter().filter(|id| known.iter().all(|project| project.id != **id)) {
            // The project may have been removed just now, and its repository with it.
            if git.layout().repository(*id).exists() {
                faults.add(format!("there is a repository of project {id}, which does not exist"));
            }
        }
    }
}
