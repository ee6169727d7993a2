//! `hexforge deployments`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::deployment::{self, DeploymentView};
use hexforge_domain::id::DeploymentId;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;

use super::{
    detail_lines, format_time, print, print_list, remove_control_characters, text_or_dash,
};
use crate::cli::{Deployments, ProjectOption};

pub(super) fn run(app: &App, command: Deployments) -> Result<ExitCode> {
    match command {
        Deployments::List(ProjectOption { project }) => list(app, &project)?,
        Deployments::Show { id, project: ProjectOption { project } } => {
            let named = ProjectRef::parse(&project);
            let found = deployment::get(app, Actor::OPERATOR, &named, DeploymentId(id));
            let found =
                found.with_context(|| format!("deployment {id} of `{project}` cannot be shown"))?;
            print(&details(&found))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(app: &App, project: &str) -> Result<()> {
    let named = ProjectRef::parse(project);
    print_list(|page| {
        let found = deployment::list(app, Actor::OPERATOR, &named, page);
        let found =
            found.with_context(|| format!("the deployments of `{project}` cannot be listed"))?;
        Ok(found.items.iter().map(line).collect())
    })
}

/// Id, time, environment, ref, commit, build and user of a deployment, separated by tabs.
fn line(view: &DeploymentView) -> String {
    let deployment = &view.deployment;
    let [environment, reference] =
        [view.environment.name.as_str(), &deployment.reference].map(remove_control_characters);
    format!(
        "{}\t{}\t{environment}\t{reference}\t{}\t{}\t{}\n",
        deployment.id,
        format_time(deployment.created_at),
        deployment.sha,
        deployment.build,
        username(view)
    )
}

/// The user who started the build, or `-`.
fn username(view: &DeploymentView) -> String {
    text_or_dash(view.user.as_ref().map(|user| user.username.as_str()))
}

/// All details of a deployment, a line for each.
fn details(view: &DeploymentView) -> String {
    let DeploymentView { deployment, environment, build, .. } = view;
    detail_lines(&[
        ("id", deployment.id.to_string()),
        ("iid", deployment.iid.to_string()),
        ("time", format_time(deployment.created_at)),
        ("environment", format!("{} {}", environment.id, environment.name.as_str())),
        ("ref", deployment.reference.clone()),
        ("commit", deployment.sha.to_string()),
        ("title", build.commit.message.lines().next().unwrap_or_default().to_owned()),
        ("build", format!("{} {}", build.build.id, build.build.name)),
        ("status", build.build.status.as_str().to_owned()),
        ("pipeline", build.pipeline.id.to_string()),
        ("runner", text_or_dash(build.runner.as_ref().map(|runner| runner.description.as_str()))),
        ("on_stop", text_or_dash(deployment.on_stop.as_deref())),
        ("user", username(view)),
    ])
}
