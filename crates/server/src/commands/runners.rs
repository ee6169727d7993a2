//! `hexforge runners`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::runner::manage::{self, RunnerView};
use hexforge_domain::change::Change;
use hexforge_domain::id::RunnerId;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;

use super::print;
use crate::cli::{RunnerNumber, Runners};

/// How many runners are read and printed at once, because their number is unlimited.
const AT_ONCE: u64 = 1000;

pub(super) fn run(app: &App, command: Runners) -> Result<ExitCode> {
    match command {
        Runners::List => list(app)?,
        Runners::Pause(RunnerNumber { id }) => set_active(app, id, false)?,
        Runners::Resume(RunnerNumber { id }) => set_active(app, id, true)?,
        Runners::Remove(RunnerNumber { id }) => {
            let removed = manage::remove(app, Actor::OPERATOR, RunnerId(id));
            removed.with_context(|| format!("runner {id} cannot be removed"))?;
            print(&format!("runner {id} is removed\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(app: &App) -> Result<()> {
    let mut number = 1;
    loop {
        let page = Page::Numbered { number, size: AT_ONCE };
        let runners = manage::list(app, Actor::OPERATOR, page)?.items;
        print(&runners.iter().map(line).collect::<String>())?;
        if (runners.len() as u64) < AT_ONCE {
            return Ok(());
        }
        number += 1;
    }
}

/// Id, state, projects, last contact and description of a runner, separated by tabs.
fn line(RunnerView { runner, projects }: &RunnerView) -> String {
    let state = if runner.active { "active" } else { "paused" };
    let scope = if runner.shared {
        "shared".to_owned()
    } else {
        let ids: Vec<String> = projects.iter().map(ToString::to_string).collect();
        format!("projects {}", ids.join(","))
    };
    let contact = runner.contacted_at.map_or_else(
        || "never".to_owned(),
        |contact| contact.format("%Y-%m-%d %H:%M UTC").to_string(),
    );
    // The description comes from the runner, so control characters are removed before it reaches a terminal.
    let description: String = runner.description.chars().filter(|c| !c.is_control()).collect();
    format!("{}\t{state}\t{scope}\t{contact}\t{description}\n", runner.id)
}

fn set_active(app: &App, id: i64, active: bool) -> Result<()> {
    let change = manage::set_active(app, Actor::OPERATOR, RunnerId(id), active);
    let state = if active { "active" } else { "paused" };
    match change.with_context(|| format!("runner {id} cannot be changed"))? {
        Change::Applied(_) => print(&format!("runner {id} is {state}\n")),
        Change::Unchanged => print(&format!("runner {id} was {state} already\n")),
    }
}
