//! `hexforge runners`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::runner::administer::{self, RunnerChanges, RunnerDetails};
use hexforge_application::runner::manage::{self, RunnerView};
use hexforge_domain::build::Tags;
use hexforge_domain::change::Change;
use hexforge_domain::id::RunnerId;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::{ProjectRef, ProjectWithNamespace};
use hexforge_domain::runner::Runner;

use super::{
    detail_lines, format_time, print, print_list, remove_control_characters, text_or_dash,
};
use crate::cli::{ProjectOption, RunnerFields, RunnerNumber, Runners};

pub(super) fn run(app: &App, command: Runners) -> Result<ExitCode> {
    match command {
        Runners::List => list(app)?,
        Runners::Show(RunnerNumber { id }) => {
            let found = administer::get(app, Actor::OPERATOR, RunnerId(id));
            let found = found.with_context(|| format!("runner {id} cannot be shown"))?;
            print(&details(&found))?;
        }
        Runners::Update { number: RunnerNumber { id }, fields } => {
            let changed = administer::update(app, Actor::OPERATOR, RunnerId(id), &changes(fields));
            let changed = changed.with_context(|| format!("runner {id} cannot be changed"))?;
            print(&details(&changed))?;
        }
        Runners::Assign { number: RunnerNumber { id }, project: ProjectOption { project } } => {
            let named = ProjectRef::parse(&project);
            let assigned = administer::enable(app, Actor::OPERATOR, &named, RunnerId(id));
            assigned.with_context(|| format!("runner {id} cannot be assigned to `{project}`"))?;
            print(&format!("runner {id} is assigned to `{project}`\n"))?;
        }
        Runners::Unassign { number: RunnerNumber { id }, project: ProjectOption { project } } => {
            let named = ProjectRef::parse(&project);
            let taken = administer::disable(app, Actor::OPERATOR, &named, RunnerId(id));
            taken.with_context(|| format!("runner {id} cannot be taken from `{project}`"))?;
            print(&format!("runner {id} is no longer assigned to `{project}`\n"))?;
        }
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
    print_list(|page| {
        let runners = manage::list(app, Actor::OPERATOR, page)?.items;
        Ok(runners.iter().map(line).collect())
    })
}

/// Id, state, projects, last contact and description of a runner, separated by tabs.
fn line(RunnerView { runner, projects }: &RunnerView) -> String {
    let scope = if runner.shared {
        "shared".to_owned()
    } else {
        let ids: Vec<String> = projects.iter().map(ToString::to_string).collect();
        format!("projects {}", ids.join(","))
    };
    // The description comes from the runner.
    let description = remove_control_characters(&runner.description);
    let (state, contact) = (state(runner.active), last_contact(runner));
    format!("{}\t{state}\t{scope}\t{contact}\t{description}\n", runner.id)
}

fn state(active: bool) -> &'static str {
    if active { "active" } else { "paused" }
}

fn last_contact(runner: &Runner) -> String {
    runner.contacted_at.map_or_else(|| "never".to_owned(), format_time)
}

/// All details of a runner except its token, a line for each. The newest projects have a line each, by id.
fn details(RunnerDetails { runner, token: _, projects }: &RunnerDetails) -> String {
    let info = &runner.info;
    let mut details = vec![
        ("id", runner.id.to_string()),
        ("description", runner.description.clone()),
        ("state", state(runner.active).to_owned()),
        ("scope", if runner.shared { "shared" } else { "projects" }.to_owned()),
        ("tags", runner.tags.iter().collect::<Vec<_>>().join(",")),
        ("run_untagged", runner.run_untagged.to_string()),
        ("locked", runner.locked.to_string()),
        ("program", text_or_dash(info.name.as_deref())),
        ("version", text_or_dash(info.version.as_deref())),
        ("revision", text_or_dash(info.revision.as_deref())),
        ("platform", text_or_dash(info.platform.as_deref())),
        ("architecture", text_or_dash(info.architecture.as_deref())),
        ("registered", format_time(runner.created_at)),
        ("changed", format_time(runner.updated_at)),
        ("contact", last_contact(runner)),
    ];
    let path = |one: &ProjectWithNamespace| one.place.path_of(&one.project);
    details.extend(
        projects.iter().map(|one| ("project", format!("{} {}", one.project.id, path(one)))),
    );
    detail_lines(&details)
}

fn changes(fields: RunnerFields) -> RunnerChanges {
    let RunnerFields { description, tags, run_untagged, locked } = fields;
    let tags = tags.map(|tags| {
        let tags = tags.iter().map(|tag| tag.trim()).filter(|tag| !tag.is_empty());
        tags.collect::<Tags>()
    });
    RunnerChanges { description, active: None, tags, run_untagged, locked }
}

fn set_active(app: &App, id: i64, active: bool) -> Result<()> {
    let change = manage::set_active(app, Actor::OPERATOR, RunnerId(id), active);
    let state = state(active);
    match change.with_context(|| format!("runner {id} cannot be changed"))? {
        Change::Applied(_) => print(&format!("runner {id} is {state}\n")),
        Change::Unchanged => print(&format!("runner {id} was {state} already\n")),
    }
}
