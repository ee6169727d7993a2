//! Creates a pipeline with all its builds.

use hexforge_domain::Timestamp;
use hexforge_domain::build::{BuildDefinition, BuildKind, NewBuild};
use hexforge_domain::ci::config::{self, ConfigError, Job};
use hexforge_domain::ci::skip::has_skip_marker;
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::UserId;
use hexforge_domain::pipeline::{CommitFacts, NewPipeline, Pipeline};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectWithNamespace;
use hexforge_domain::user::User;

use super::prepare::Prepared;
use super::progress::Progress;

/// The origin of a new pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PipelineOrigin {
    /// The user who pushed or requested the pipeline; `None` for a trigger.
    pub user: Option<UserId>,
    /// Whether a trigger started the pipeline.
    pub triggered: bool,
    /// The previous commit id as builds and hooks see it.
    pub before_sha: ObjectId,
    /// The creation time.
    pub at: Timestamp,
}

/// Why no pipeline is created. The API shows this text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoPipeline {
    #[error("Reference not found")]
    NoReference,
    #[error("Commit not found")]
    NoCommit,
    #[error("Missing .gitlab-ci.yml file")]
    NoConfiguration,
    #[error(transparent)]
    Invalid(#[from] ConfigError),
    #[error("No builds for this pipeline.")]
    NoBuilds,
}

/// Creates the pipeline of a push. Does nothing when builds are disabled or the commit has no configuration.
pub(crate) fn create_for_push(
    tx: &mut dyn Tx,
    placed: &ProjectWithNamespace,
    user: &User,
    prepared: &Prepared,
    now: Timestamp,
) -> Result<(), StoreError> {
    if !placed.project.features.builds {
        return Ok(());
    }
    // As in the reference, the pipeline of a push has the pushed commit as its previous commit.
    let before_sha = prepared.target.commit;
    let origin = PipelineOrigin { user: Some(user.id), triggered: false, before_sha, at: now };
    match &prepared.configuration {
        None => Ok(()),
        Some(Err(error)) => {
            let errors = Some(error.to_string());
            create_empty(tx, placed, prepared, origin, errors)
        }
        Some(Ok(_)) if has_skip_marker(&prepared.commit.message) => {
            create_empty(tx, placed, prepared, origin, None)
        }
        Some(Ok(_)) => on_demand(tx, placed, prepared, origin).map(drop),
    }
}

/// Creates a requested pipeline.
pub(crate) fn on_demand(
    tx: &mut dyn Tx,
    placed: &ProjectWithNamespace,
    prepared: &Prepared,
    origin: PipelineOrigin,
) -> Result<Result<Pipeline, NoPipeline>, StoreError> {
    let configuration = match &prepared.configuration {
        None => return Ok(Err(NoPipeline::NoConfiguration)),
        Some(Err(error)) => return Ok(Err(error.clone().into())),
        Some(Ok(configuration)) => configuration,
    };
    let path = placed.place.path_of(&placed.project);
    let jobs = configuration.jobs_for(config::Target {
        reference: &prepared.target.reference,
        is_tag: prepared.target.tag,
        triggered: origin.triggered,
        project_path: &path,
    });
    if jobs.is_empty() {
        return Ok(Err(NoPipeline::NoBuilds));
    }
    let pipeline = tx.pipelines().insert(new_pipeline(placed, prepared, origin))?;
    let mut progress = Progress::of_new(pipeline);
    for job in jobs {
        let build = new_build(tx, progress.pipeline(), job, origin)?;
        progress.add(tx, build)?;
    }
    Ok(Ok(progress.store(tx, origin.at)?.pipeline))
}

/// Creates a pipeline without builds: failed with these configuration errors, or skipped.
fn create_empty(
    tx: &mut dyn Tx,
    placed: &ProjectWithNamespace,
    prepared: &Prepared,
    origin: PipelineOrigin,
    yaml_errors: Option<String>,
) -> Result<(), StoreError> {
    let new = NewPipeline { yaml_errors, ..new_pipeline(placed, prepared, origin) };
    let pipeline = tx.pipelines().insert(new)?;
    Progress::of_new(pipeline).store(tx, origin.at).map(drop)
}

fn new_pipeline(
    placed: &ProjectWithNamespace,
    prepared: &Prepared,
    origin: PipelineOrigin,
) -> NewPipeline {
    NewPipeline {
        project: placed.project.id,
        user: origin.user,
        sha: prepared.target.commit,
        before_sha: origin.before_sha,
        reference: prepared.target.reference.clone(),
        tag: prepared.target.tag,
        status: Status::Created,
        yaml_errors: None,
        commit: CommitFacts::from(&prepared.commit),
        at: origin.at,
    }
}

fn new_build(
    tx: &mut dyn Tx,
    pipeline: &Pipeline,
    job: &Job,
    origin: PipelineOrigin,
) -> Result<NewBuild, StoreError> {
    let definition = BuildDefinition {
        commands: job.commands.clone(),
        options: job.options.clone(),
        variables: job.variables.clone(),
    };
    let definition = tx.builds().define(pipeline.id, &definition)?;
    Ok(NewBuild {
        project: pipeline.project,
        pipeline: pipeline.id,
        kind: BuildKind::Job(definition),
        name: job.name.clone(),
        stage: job.stage.clone(),
        stage_index: job.stage_index,
        status: Status::Created,
        when: job.when,
        allow_failure: job.allow_failure,
        tags: job.tags.iter().cloned().collect(),
        user: origin.user,
        at: origin.at,
    })
}
