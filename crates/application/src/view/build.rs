//! Builds with what answers show beside them, in a bounded number of queries whatever the page.

use std::collections::HashMap;

use hexforge_domain::build::Build;
use hexforge_domain::id::{PipelineId, RunnerId};
use hexforge_domain::paging::Paged;
use hexforge_domain::pipeline::{CommitFacts, Pipeline};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::runner::Runner;
use hexforge_domain::user::User;

use crate::pipeline::users;

/// A build in full.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildView {
    /// The build.
    pub build: Build,
    /// Its pipeline.
    pub pipeline: Pipeline,
    /// What that is about.
    pub commit: CommitFacts,
    /// Who started it.
    pub user: Option<User>,
    /// Who took it.
    pub runner: Option<Runner>,
}

/// One build.
pub fn one(tx: &mut dyn Tx, build: Build) -> Result<BuildView, StoreError> {
    let page = page(tx, Paged { items: vec![build], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// A page of builds: at most four queries.
pub fn page(tx: &mut dyn Tx, builds: Paged<Build>) -> Result<Paged<BuildView>, StoreError> {
    let Paged { items: builds, total } = builds;
    let mut ids: Vec<PipelineId> = builds.iter().map(|build| build.pipeline).collect();
    ids.sort_unstable();
    ids.dedup();
    let (pipelines, commits) = match ids.is_empty() {
        true => (vec![], vec![]),
        false => (tx.pipelines().find_all(&ids)?, tx.pipelines().commits(&ids)?),
    };
    let pipelines: HashMap<PipelineId, Pipeline> =
        pipelines.into_iter().map(|pipeline| (pipeline.id, pipeline)).collect();
    let commits: HashMap<PipelineId, CommitFacts> = commits.into_iter().collect();
    let users = users(tx, builds.iter().filter_map(|build| build.user))?;
    let mut ids: Vec<RunnerId> = builds.iter().filter_map(|build| build.runner).collect();
    ids.sort_unstable();
    ids.dedup();
    let runners = if ids.is_empty() { vec![] } else { tx.runners().find_all(&ids)? };
    let runners: HashMap<RunnerId, Runner> =
        runners.into_iter().map(|runner| (runner.id, runner)).collect();
    // Builds go with their pipelines, so every pipeline is there.
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
