//! Everything a runner is told of a build.

use hexforge_domain::build::{Build, BuildDefinition, BuildKind};
use hexforge_domain::id::BuildId;
use hexforge_domain::paging::Page;
use hexforge_domain::pipeline::Pipeline;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::runner::Runner;
use hexforge_domain::text::Secret;
use hexforge_domain::user::User;

use crate::app::App;
use crate::ci_token;
use crate::error::Error;
use crate::trigger;
use crate::variable::{self, VariableView};
use crate::view::project::{self as project_view, PlacedProject};

/// A build as its runner gets it.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The build.
    pub build: Build,
    /// By which the runner speaks for it.
    pub token: Secret,
    /// Its pipeline.
    pub pipeline: Pipeline,
    /// Its project.
    pub project: PlacedProject,
    /// What is to be done.
    pub definition: BuildDefinition,
    /// Who runs it.
    pub runner: Option<Runner>,
    /// Who started it.
    pub user: Option<User>,
    /// The variables of the project.
    pub secrets: Vec<VariableView>,
    /// The variables of the trigger, if one started the pipeline.
    pub triggered: Option<Vec<(String, String)>>,
    /// The builds of earlier stages that count.
    pub earlier: Vec<Earlier>,
}

/// A build of an earlier stage, whose artifacts may be taken.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// The build.
    pub build: Build,
    /// By which its artifacts are reached.
    pub token: Secret,
}

/// A build of a pipeline: a bounded number of queries.
pub(super) fn of(
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
        .map(|one| Earlier { build: one.clone(), token: ci_token::of_build(app, one) })
        .collect();
    Ok(Assignment {
        token: ci_token::of_build(app, &build),
        definition: definition.ok_or(StoreError::Gone)?,
        project: project_view::placed(tx, project)?,
        runner,
        user,
        secrets,
        triggered: trigger::variables_of(app, tx, pipeline.id)?,
        earlier,
        pipeline: pipeline.clone(),
        build,
    })
}
