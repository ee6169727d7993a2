//! Pipelines: creates, reads, retries and cancels them.

pub mod badge;
pub(crate) mod create;
mod hook_events;
pub(crate) mod prepare;
pub(crate) mod progress;

use std::collections::HashMap;

use hexforge_domain::build::{Build, StageSummary};
use hexforge_domain::ci::config::Configuration;
use hexforge_domain::ci::rerun;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::PipelineId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::pipeline::{CommitFacts, Pipeline, PipelineScope};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::user::User;

use crate::access::{self, Requester};
use crate::app::App;
use crate::error::{Entity, Error};
use crate::repository;
use crate::view::project as project_view;
use crate::view::user::load_users;
use create::{NoPipeline, PipelineOrigin};
use prepare::Target;
use progress::Progress;

/// A pipeline with the user who started it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineView {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// The user who pushed or requested the pipeline.
    pub user: Option<User>,
}

/// Lists the pipelines of a project, newest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    scope: PipelineScope,
    page: Page,
) -> Result<Paged<PipelineView>, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::ReadPipelines, named)?;
        let found = tx.pipelines().list(project.id, scope, page)?;
        Ok(views(tx, found)?)
    })
}

/// Returns one pipeline.
pub fn get(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: PipelineId,
) -> Result<PipelineView, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::ReadPipelines, named)?;
        let found = tx.pipelines().find(project.id, id)?;
        Ok(view(tx, found.ok_or(Error::NotFound(Entity::Record))?)?)
    })
}

/// A pipeline of a list, with its commit and its stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineSummary {
    /// The pipeline and its user.
    pub view: PipelineView,
    /// The commit.
    pub commit: CommitFacts,
    /// The stages in order. Each has the statuses that occur in it.
    pub stages: Vec<StageSummary>,
}

/// Lists the pipelines of a project with their commits and stages, newest first.
pub fn list_summaries(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    scope: PipelineScope,
    page: Page,
) -> Result<Paged<PipelineSummary>, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::ReadPipelines, named)?;
        let found = tx.pipelines().list(project.id, scope, page)?;
        let ids: Vec<PipelineId> = found.items.iter().map(|pipeline| pipeline.id).collect();
        let mut commits: HashMap<PipelineId, CommitFacts> =
            tx.pipelines().commits(&ids)?.into_iter().collect();
        let mut stages: HashMap<PipelineId, Vec<StageSummary>> = HashMap::new();
        for (pipeline, stage) in tx.builds().stages_of(&ids)? {
            stages.entry(pipeline).or_default().push(stage);
        }
        let Paged { items, total } = views(tx, found)?;
        let summary = |view: PipelineView| {
            let id = view.pipeline.id;
            let stages = stages.remove(&id).unwrap_or_default();
            Some(PipelineSummary { commit: commits.remove(&id)?, stages, view })
        };
        Ok(Paged { items: items.into_iter().filter_map(summary).collect(), total })
    })
}

/// A pipeline with everything that its page shows.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineDetail {
    /// The pipeline and its user.
    pub view: PipelineView,
    /// The commit.
    pub commit: CommitFacts,
    /// The builds and external statuses that are not superseded, by stage and id.
    pub builds: Vec<Build>,
}

/// Returns one pipeline with its builds.
pub fn detail(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: PipelineId,
) -> Result<PipelineDetail, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::ReadPipelines, named)?;
        let missing = || Error::NotFound(Entity::Record);
        let pipeline = tx.pipelines().find(project.id, id)?.ok_or_else(missing)?;
        let commit = tx.pipelines().commits(&[id])?.into_iter().next().ok_or_else(missing)?.1;
        let mut builds = tx.builds().of_pipeline(id)?;
        builds.retain(|build| !build.superseded);
        builds.sort_by_key(|build| (build.stage_index, build.id));
        Ok(PipelineDetail { view: view(tx, pipeline)?, commit, builds })
    })
}

/// Creates a pipeline for the current commit of a branch or tag.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    reference: &str,
) -> Result<PipelineView, Error> {
    let project =
        app.store.read(|tx| app.requester(actor).ci_project(tx, CiAbility::Run, named))?;
    let user = access::own_account(actor)?;
    let refused = |reason: NoPipeline| Error::Invalid(FieldErrors::single("base", reason));
    let repository = repository::open(app, project.id)?;
    let target = Target::find(repository.as_ref(), reference)?;
    let target = target.ok_or_else(|| refused(NoPipeline::NoReference))?;
    let prepared = prepare::read(app, repository.as_ref(), target)?;
    let prepared = prepared.ok_or_else(|| refused(NoPipeline::NoCommit))?;
    let now = app.clock.now();
    app.store.write(|tx| {
        let project = app.requester(actor).locked_ci_project(tx, CiAbility::Run, named)?;
        let placed = project_view::with_namespace(tx, project)?;
        let before_sha = ObjectId::ZERO;
        let origin = PipelineOrigin { user: Some(user), triggered: false, before_sha, at: now };
        let created = create::on_demand(tx, &placed, &prepared, origin)?;
        Ok(view(tx, created.map_err(refused)?)?)
    })
}

/// Retries the failed builds of a pipeline. Does nothing when there are none.
pub fn retry(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: PipelineId,
) -> Result<PipelineView, Error> {
    let user = access::own_account(actor)?;
    let now = app.clock.now();
    app.store.write(|tx| {
        let mut progress = lock(tx, app.requester(actor), named, id)?;
        let again = rerun::retry_pipeline(&progress.jobs());
        for build in again.again {
            progress.run_again(tx, build, user, now)?;
        }
        progress.reopen(&again.reopened, now);
        let done = progress.store(tx, now)?;
        Ok(view(tx, done.pipeline)?)
    })
}

/// Cancels the pending and running builds of a pipeline and skips the created ones. Does nothing when no build is
/// pending or running.
pub fn cancel(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: PipelineId,
) -> Result<PipelineView, Error> {
    let now = app.clock.now();
    app.store.write(|tx| {
        let mut progress = lock(tx, app.requester(actor), named, id)?;
        for decision in rerun::cancel_pipeline(&progress.latest()) {
            progress.step(decision.id, decision.transition, now);
        }
        let done = progress.store(tx, now)?;
        Ok(view(tx, done.pipeline)?)
    })
}

/// Locks a pipeline, if the actor may run pipelines of the project.
fn lock(
    tx: &mut dyn Tx,
    requester: Requester,
    named: &ProjectRef,
    id: PipelineId,
) -> Result<Progress, Error> {
    let project = requester.ci_project(tx, CiAbility::Run, named)?;
    let missing = || Error::NotFound(Entity::Record);
    tx.pipelines().find(project.id, id)?.ok_or_else(missing)?;
    Progress::lock(tx, id)?.ok_or_else(missing)
}

/// Adds the user to one pipeline.
fn view(tx: &mut dyn Tx, pipeline: Pipeline) -> Result<PipelineView, StoreError> {
    let page = views(tx, Paged { items: vec![pipeline], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Adds the users to a page of pipelines, with at most one query.
fn views(tx: &mut dyn Tx, pipelines: Paged<Pipeline>) -> Result<Paged<PipelineView>, StoreError> {
    let users = load_users(tx, pipelines.items.iter().filter_map(|pipeline| pipeline.user))?;
    Ok(pipelines.map(|pipeline| {
        let user = pipeline.user.and_then(|user| users.get(&user).cloned());
        PipelineView { pipeline, user }
    }))
}

/// Validates a CI configuration. Returns the first error, if there is one.
pub fn lint(app: &App, content: &str) -> Option<String> {
    if content.trim().is_empty() {
        return Some("Please provide content of .gitlab-ci.yml".to_owned());
    }
    Configuration::parse(&*app.yaml, content).err().map(|error| error.to_string())
}
