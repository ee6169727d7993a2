//! The data that a runner receives about a build.

use hexforge_domain::build::{Build, BuildDefinition, BuildKind};
use hexforge_domain::id::BuildId;
use hexforge_domain::paging::Page;
use hexforge_domain::pipeline::Pipeline;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{BuildSettings, ProjectRef, ProjectWithNamespace};
use hexforge_domain::runner::Runner;
use hexforge_domain::text::Secret;
use hexforge_domain::user::User;

use crate::app::App;
use crate::ci_token;
use crate::error::Error;
use crate::trigger;
use crate::variable::{self, VariableView};
use crate::view::project as project_view;

/// A build with everything that its runner needs.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The build.
    pub build: Build,
    /// The token with which the runner authenticates for the build.
    pub token: Secret,
    /// The pipeline of the build.
    pub pipeline: Pipeline,
    /// The project of the build.
    pub project: ProjectWithNamespace,
    /// The settings of the project for its builds.
    pub settings: BuildSettings,
    /// The commands, options and variables of the job.
    pub definition: BuildDefinition,
    /// The runner that runs the build.
    pub runner: Option<Runner>,
    /// The user who started the build.
    pub user: Option<User>,
    /// The variables of the project.
    pub secrets: Vec<VariableView>,
    /// The variables of the trigger, if one started the pipeline.
    pub triggered: Option<Vec<(String, String)>>,
    /// The jobs of earlier stages that are not superseded.
    pub earlier: Vec<EarlierBuild>,
}

/// A build of an earlier stage, whose artifacts the runner may download.
#[derive(Clone, Debug)]
pub struct EarlierBuild {
    /// The build.
    pub build: Build,
    /// The token for downloading its artifacts.
    pub token: Secret,
}

/// Loads the assignment of a build, with a bounded number of queries.
pub(crate) fn load(
    app: &App,
    tx: &mut dyn Tx,
    pipeline: &Pipeline,
    builds: &[Build],
    id: BuildId,
) -> Result<Assignment, Error> {
    let build = builds.iter().find(|build| build.id == id).ok_or(StoreError::Gone)?.clone();
    let definition = match &build.kind {
        BuildKind::Job(definition) => tx.builds().definition(*definition)?,
        BuildKind::External { .. } => None,
    };
    let project = tx.projects().find(&ProjectRef::Id(build.project))?.ok_or(StoreError::Gone)?;
    let runner = match build.runner {
        Some(runner) => tx.runners().find(runner)?,
        None => None,
    };
    let user = match build.user {
        Some(user) => tx.users().find(user)?,
        None => None,
    };
    let stored = tx.variables().list(build.project, Page::Whole)?.items;
    let secrets = stored.iter().map(|one| variable::view(app, one)).collect::<Result<_, _>>()?;
    let earlier = builds
        .iter()
        .filter(|one| one.kind.is_job() && !one.superseded && one.stage_index < build.stage_index);
    let earlier = earlier
        .map(|one| EarlierBuild { build: one.clone(), token: ci_token::build_token(app, one) })
        .collect();
    Ok(Assignment {
        token: ci_token::build_token(app, &build),
        settings: tx.projects().build_settings(build.project)?,
        definition: definition.ok_or(StoreError::Gone)?,
        project: project_view::with_namespace(tx, project)?,
        runner,
        user,
        secrets,
        triggered: trigger::variables_of(app, tx, pipeline.id)?,
        earlier,
        pipeline: pipeline.clone(),
        build,
    })
}
