//! Builds with their pipelines, commits, users and runners, in a bounded number of queries for any page size.

use std::collections::HashMap;

use hexforge_domain::build::Build;
use hexforge_domain::id::{PipelineId, RunnerId};
use hexforge_domain::paging::Paged;
use hexforge_domain::pipeline::{CommitFacts, Pipeline};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::runner::Runner;
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::User;

use super::user::load_users;

/// A build with all related rows.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildView {
    /// The build.
    pub build: Build,
    /// The pipeline of the build.
    pub pipeline: Pipeline,
    /// The commit of the pipeline.
    pub commit: CommitFacts,
    /// The user who started the build.
    pub user: Option<User>,
    /// The runner that took the build.
    pub runner: Option<Runner>,
}

/// Loads the view of one build.
pub fn load(tx: &mut dyn Tx, build: Build) -> Result<BuildView, StoreError> {
    let page = page(tx, Paged { items: vec![build], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Loads the runners of builds, with at most one query.
pub(crate) fn load_runners(
    tx: &mut dyn Tx,
    builds: &[Build],
) -> Result<HashMap<RunnerId, Runner>, StoreError> {
    let ids = sorted_unique(builds.iter().filter_map(|build| build.runner));
    Ok(tx.runners().find_all(&ids)?.into_iter().map(|runner| (runner.id, runner)).collect())
}

/// Loads the views of a page of builds, with at most four queries.
pub fn page(tx: &mut dyn Tx, builds: Paged<Build>) -> Result<Paged<BuildView>, StoreError> {
    let Paged { items: builds, total } = builds;
    let ids = sorted_unique(builds.iter().map(|build| build.pipeline));
    let pipelines = tx.pipelines().find_all(&ids)?.into_iter();
    let pipelines: HashMap<PipelineId, Pipeline> =
        pipelines.map(|pipeline| (pipeline.id, pipeline)).collect();
    let commits: HashMap<PipelineId, CommitFacts> =
        tx.pipelines().commits(&ids)?.into_iter().collect();
    let users = load_users(tx, builds.iter().filter_map(|build| build.user))?;
    let runners = load_runners(tx, &builds)?;
    // A build is deleted together with its pipeline, so every pipeline exists.
    let view = |build: Build| {
        Some(BuildView {
            pipeline: pipelines.get(&build.pipeline)?.clone(),
            commit: commits.get(&build.pipeline)?.clone(),
            user: build.user.and_then(|user| users.get(&user).cloned()),
            runner: build.runner.and_then(|runner| runners.get(&runner).cloned()),
            build,
        })
    };
    Ok(Paged { items: builds.into_iter().filter_map(view).collect(), total })
}
