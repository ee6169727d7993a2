//! `hexforge environments`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::environment::{self, EnvironmentFields};
use hexforge_domain::environment::{Environment, ExternalUrl};
use hexforge_domain::id::EnvironmentId;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;

use super::{print, print_list, remove_control_characters, text_or_dash};
use crate::cli::{EnvironmentChanges, EnvironmentNumber, Environments, ProjectOption};

pub(super) fn run(app: &App, command: Environments) -> Result<ExitCode> {
    match command {
        Environments::List(ProjectOption { project }) => list(app, &project)?,
        Environments::Create { name, project: ProjectOption { project }, url } => {
            let named = ProjectRef::parse(&project);
            let context = || format!("the environment `{name}` cannot be created in `{project}`");
            let fields = EnvironmentFields { name: Some(name.clone()), external_url: Some(url) };
            let created = environment::create(app, Actor::OPERATOR, &named, &fields);
            print(&line(&created.with_context(context)?.environment))?;
        }
        Environments::Update {
            number: EnvironmentNumber { id },
            project: ProjectOption { project },
            changes: EnvironmentChanges { name, url },
        } => {
            let named = ProjectRef::parse(&project);
            let fields = EnvironmentFields { name, external_url: url.map(Some) };
            let id = EnvironmentId(id);
            let changed = environment::update(app, Actor::OPERATOR, &named, id, &fields);
            let context = || format!("environment {id} of `{project}` cannot be changed");
            print(&line(&changed.with_context(context)?.environment))?;
        }
        Environments::Remove {
            number: EnvironmentNumber { id },
            project: ProjectOption { project },
        } => {
            let named = ProjectRef::parse(&project);
            let id = EnvironmentId(id);
            let removed = environment::delete(app, Actor::OPERATOR, &named, id);
            removed
                .with_context(|| format!("environment {id} of `{project}` cannot be removed"))?;
            print(&format!("environment {id} is removed\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(app: &App, project: &str) -> Result<()> {
    let named = ProjectRef::parse(project);
    print_list(|page| {
        let found = environment::list(app, Actor::OPERATOR, &named, page);
        let found =
            found.with_context(|| format!("the environments of `{project}` cannot be listed"))?;
        Ok(found.environments.items.iter().map(line).collect())
    })
}

/// Id, state, name and URL of an environment, separated by tabs.
fn line(environment: &Environment) -> String {
    let Environment { id, state, .. } = environment;
    let url = text_or_dash(environment.external_url.as_ref().map(ExternalUrl::as_str));
    let [name, url] = [environment.name.as_str(), &url].map(remove_control_characters);
    format!("{id}\t{}\t{name}\t{url}\n", state.as_str())
}
