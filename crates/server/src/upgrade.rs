//! Upgrades a data folder of an earlier release.
//!
//! Earlier releases stored refs in files, and packs without rows. A migration marks all repositories of that time. This
//! module moves the directory of each aside, stores its objects as packs, and turns refs and packs into rows, in one
//! transaction per repository. An interrupted upgrade continues at the next start. No file is removed.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hexforge_application::app::App;
use hexforge_application::repository::packs;
use hexforge_domain::branch::BranchName;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::refs::{RepositoryState, Snapshot};
use hexforge_git_gix::refs::disk::{self, RefsOnDisk};
use hexforge_git_gix::{GixStore, Layout};

use crate::config::Config;
use crate::system;

/// The number of repositories per query.
const BATCH: i64 = 500;

/// The time between two progress lines.
const BETWEEN: Duration = Duration::from_secs(5);

/// Converts all repositories whose refs are still in files. A repository that cannot be read is
/// logged and left as it is; the next start tries it again.
pub fn run(config: &Config, app: &App, terminal: &mut dyn Write) -> Result<()> {
    let layout = Layout::new(&config.data_dir);
    let git = GixStore::new(&config.data_dir, Arc::clone(&app.packs), |_| Ok(()));
    let (mut done, mut left, mut last, mut last_report) =
        (0_u64, 0_u64, ProjectId(0), Instant::now());
    loop {
        let batch =
            app.store.read::<_, StoreError>(|tx| tx.refs().projects_in_files(last, BATCH))?;
        let Some(end) = batch.last() else { break };
        last = *end;
        if done + left == 0 {
            writeln!(terminal, "Converting repositories of an earlier release.")?;
        }
        for project in batch {
            let folder = layout.earlier_repository(project);
            match convert(app, &git, project) {
                Ok(()) => done += 1,
                Err(error) => {
                    left += 1;
                    let (folder, error) = (folder.display(), format!("{error:#}"));
                    tracing::error!(%project, %folder, error, "a repository cannot be converted");
                    writeln!(terminal, "The repository in {folder} cannot be converted: {error}")?;
                }
            }
            if last_report.elapsed() > BETWEEN {
                last_report = Instant::now();
                writeln!(terminal, "{done} repositories are done.")?;
            }
        }
    }
    if done + left > 0 {
        writeln!(terminal, "{done} repositories are converted, {left} are not.")?;
    }
    Ok(())
}

/// Converts one repository: its objects become stored packs, its refs and packs become rows.
fn convert(app: &App, git: &GixStore, project: ProjectId) -> Result<()> {
    let folder = &move_aside(git.layout(), project)?;
    let there = folder.try_exists()?;
    let packs = if there { git.take_over(folder)? } else { vec![] };
    let found = if there { Some(disk::read(folder)?) } else { None };
    for wrong in found.iter().flat_map(|found| &found.wrong) {
        tracing::warn!(%project, wrong, "a ref of an earlier release is not converted");
    }
    app.store.write::<_, anyhow::Error>(|tx| {
        // Another process may have converted the repository meanwhile.
        let state = tx.refs().lock(project)?;
        let recorded =
            tx.projects().find(&ProjectRef::Id(project))?.and_then(|one| one.default_branch);
        ensure!(there || recorded.is_none(), "the folder is missing");
        if state.packs_version == RepositoryState::IN_FILES {
            packs::insert(app, tx, project, &packs)?;
        }
        if state.refs_version != RepositoryState::IN_FILES {
            let refs = tx.refs().list(project)?;
            let wrong = git.find_faults(&Snapshot::new(&state, &refs, &packs), false);
            ensure!(wrong.is_empty(), "{}", wrong.join("; "));
            return Ok(());
        }
        let RefsOnDisk { head, refs, .. } = found.unwrap_or_default();
        // HEAD and the default branch may differ, because an earlier release changed them in two
        // steps. The default branch of the project wins.
        let full = recorded.as_ref().map(BranchName::full);
        let full = full.filter(|name| refs.iter().any(|one| one.name == *name));
        tx.refs().put(project, &refs)?;
        tx.refs().set_head(project, &full.unwrap_or(head))?;
        let state = tx.refs().lock(project)?;
        let default = Snapshot::new(&state, &refs, &packs).default_branch();
        if default != recorded {
            tx.projects().set_default_branch(project, default.as_ref())?;
        }
        Ok(())
    })
}

/// Moves the old directory aside, because the new one has the same path. Returns its new path.
fn move_aside(layout: &Layout, project: ProjectId) -> Result<PathBuf> {
    let (from, to) = (layout.repository(project), layout.earlier_repository(project));
    if !to.try_exists()? && from.try_exists()? {
        let parent = to.parent().context("the folder of a repository has no parent")?;
        system::make_folders(parent)?;
        std::fs::rename(&from, &to)?;
        for folder in [Some(parent), from.parent()].into_iter().flatten() {
            File::open(folder)?.sync_all()?;
        }
    }
    Ok(to)
}

/// Refuses the upgrade if the journal of an earlier release contains changes that are not in the database.
pub fn check_journal(config: &Config, app: &App) -> Result<()> {
    let projects_in_files =
        app.store.read::<_, StoreError>(|tx| tx.refs().projects_in_files(ProjectId(0), 1))?;
    let folder = config.data_dir.join("journal");
    if projects_in_files.is_empty() || !folder.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(&folder)? {
        let entry = entry?;
        let is_unfinished = entry.file_name().to_string_lossy().starts_with("new-");
        let metadata = entry.metadata()?;
        ensure!(
            is_unfinished || !metadata.is_file() || metadata.len() == 0,
            "{} has changes that the previous release has not recorded: start and stop it once more, or remove the folder",
            folder.display()
        );
    }
    Ok(())
}
