//! Bringing a data folder of an earlier release up to date.
//!
//! Earlier releases kept refs in files of each repository. A migration marks all repositories of that time, and here
//! the refs of each are stored as rows, in one transaction for each repository. What is done is not done again, so an
//! upgrade that was interrupted goes on where it was. Files are left as they are.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use hexforge_application::app::App;
use hexforge_domain::branch::BranchName;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::refs::{RepositoryState, Snapshot};
use hexforge_git_gix::Layout;
use hexforge_git_gix::refs::disk::{self, RefsOnDisk};

use crate::config::Config;

/// The number of repositories per query.
const BATCH: i64 = 500;

/// The time between two progress lines.
const BETWEEN: Duration = Duration::from_secs(5);

/// Takes over the refs of all repositories that still have them in files. A repository whose refs cannot be read is named in
/// the log and left as it is; the next start tries it again.
pub fn run(config: &Config, app: &App, terminal: &mut dyn Write) -> Result<()> {
    let layout = Layout::new(&config.data_dir);
    let (mut done, mut left, mut last, mut told) = (0_u64, 0_u64, ProjectId(0), Instant::now());
    loop {
        let batch = app.store.read::<_, StoreError>(|tx| tx.refs().in_files(last, BATCH))?;
        let Some(end) = batch.last() else { break };
        last = *end;
        if done + left == 0 {
            writeln!(terminal, "Taking over the refs of repositories into the database.")?;
        }
        for project in batch {
            let folder = layout.repository(project);
            match take_over(app, project, &folder) {
                Ok(()) => done += 1,
                Err(error) => {
                    left += 1;
                    let (folder, error) = (folder.display(), format!("{error:#}"));
                    tracing::error!(%project, %folder, error, "refs cannot be taken over");
                    writeln!(terminal, "The refs in {folder} cannot be taken over: {error}")?;
                }
            }
            if told.elapsed() > BETWEEN {
                told = Instant::now();
                writeln!(terminal, "{done} repositories are done.")?;
            }
        }
    }
    if done + left > 0 {
        writeln!(terminal, "The refs of {done} repositories are in the database, {left} are not.")?;
    }
    Ok(())
}

fn take_over(app: &App, project: ProjectId, folder: &Path) -> Result<()> {
    let found = if folder.try_exists()? { Some(disk::read(folder)?) } else { None };
    for wrong in found.iter().flat_map(|found| &found.wrong) {
        tracing::warn!(%project, wrong, "a ref is not taken over");
    }
    app.store.write::<_, anyhow::Error>(|tx| {
        // Somebody else may have taken them over meanwhile.
        if tx.refs().lock(project)?.refs_version != RepositoryState::IN_FILES {
            return Ok(());
        }
        let shown =
            tx.projects().find(&ProjectRef::Id(project))?.and_then(|one| one.default_branch);
        ensure!(found.is_some() || shown.is_none(), "the folder is missing");
        let RefsOnDisk { head, refs, .. } = found.unwrap_or_default();
        // HEAD and the default branch may differ: an earlier release changed them in two steps. The project's one counts.
        let full = shown.as_ref().map(BranchName::full);
        let full = full.filter(|name| refs.iter().any(|one| one.name == *name));
        tx.refs().put(project, &refs)?;
        tx.refs().set_head(project, &full.unwrap_or(head))?;
        let state = tx.refs().lock(project)?;
        let default = Snapshot::new(&state, &refs).default_branch();
        if default != shown {
            tx.projects().set_default_branch(project, default.as_ref())?;
        }
        Ok(())
    })
}

/// Refuses the upgrade of a data folder in which an earlier release noted changes that it has not recorded.
pub fn check_journal(config: &Config, app: &App) -> Result<()> {
    let in_files = app.store.read::<_, StoreError>(|tx| tx.refs().in_files(ProjectId(0), 1))?;
    let folder = config.data_dir.join("journal");
    if in_files.is_empty() || !folder.is_dir() {
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
