//! Hook events about the pipelines and builds of a project.

use std::collections::{BTreeSet, HashMap};

use hexforge_domain::Timestamp;
use hexforge_domain::build::Build;
use hexforge_domain::id::{BuildId, RunnerId, UserId};
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::outbox::ci::{BuildEvent, BuildRow, PipelineEvent, PipelineRow};
use hexforge_domain::outbox::project::{Person, ProjectEvent};
use hexforge_domain::pipeline::Pipeline;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{ProjectRef, ProjectWithNamespace};
use hexforge_domain::runner::Runner;
use hexforge_domain::user::User;

use crate::view::build::load_runners;
use crate::view::project as project_view;
use crate::view::user::load_users;

/// The changes of a pipeline that hooks report.
pub(super) struct Changes<'a> {
    pub pipeline: &'a Pipeline,
    /// All builds of the pipeline.
    pub builds: &'a [Build],
    /// The builds whose status changed.
    pub changed: &'a BTreeSet<BuildId>,
    /// Whether the status of the pipeline changed.
    pub moved: bool,
}

/// Records a hook event for each changed build, and one for the pipeline if its status changed. Runs a bounded number
/// of queries, plus one insert per event.
pub(super) fn record_changes(
    tx: &mut dyn Tx,
    changes: &Changes<'_>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Changes { pipeline, builds, changed, moved } = *changes;
    let project = tx.projects().find(&ProjectRef::Id(pipeline.project))?;
    let placed = project_view::with_namespace(tx, project.ok_or(StoreError::Gone)?)?;
    let commit = tx.pipelines().commits(&[pipeline.id])?.into_iter().next();
    let (_, commit) = commit.ok_or(StoreError::Gone)?;
    let people = People::load(tx, pipeline, builds)?;
    let row = PipelineRow::from(pipeline);
    for build in builds.iter().filter(|build| changed.contains(&build.id) && build.kind.is_job()) {
        let event = BuildEvent {
            project: placed.card(),
            project_name: display_name(&placed),
            pipeline: row.clone(),
            commit: commit.clone(),
            build: people.row(build),
            allow_failure: build.allow_failure,
        };
        record(tx, ProjectEvent::Build(event), now)?;
    }
    if !moved {
        return Ok(());
    }
    let mut latest: Vec<&Build> = builds.iter().filter(|build| !build.superseded).collect();
    latest.sort_by_key(|build| (build.stage_index, build.id));
    let mut stages: Vec<String> = latest.iter().map(|build| build.stage.clone()).collect();
    stages.dedup();
    let branch = placed.project.default_branch.as_ref();
    let event = PipelineEvent {
        project: placed.card(),
        default_branch: branch.map(|name| name.as_str().to_owned()),
        pipeline: row,
        user: pipeline.user.and_then(|user| people.person(user)),
        commit,
        stages,
        builds: latest.into_iter().map(|build| people.row(build)).collect(),
    };
    record(tx, ProjectEvent::Pipeline(event), now)
}

fn record(tx: &mut dyn Tx, event: ProjectEvent, now: Timestamp) -> Result<(), StoreError> {
    tx.outbox().record(&SystemEvent::InProject(Box::new(event)), now)
}

/// The users and runners of a pipeline's builds.
struct People {
    users: HashMap<UserId, User>,
    runners: HashMap<RunnerId, Runner>,
}

impl People {
    fn load(tx: &mut dyn Tx, pipeline: &Pipeline, builds: &[Build]) -> Result<Self, StoreError> {
        let users = builds.iter().filter_map(|build| build.user).chain(pipeline.user);
        Ok(Self { users: load_users(tx, users)?, runners: load_runners(tx, builds)? })
    }

    fn person(&self, user: UserId) -> Option<Person> {
        self.users.get(&user).map(Person::from)
    }

    fn row(&self, build: &Build) -> BuildRow {
        let user = build.user.and_then(|user| self.person(user));
        let runner = build.runner.and_then(|runner| self.runners.get(&runner));
        BuildRow::new(build, user, runner)
    }
}

/// Returns the display names of the namespace and the project.
fn display_name(placed: &ProjectWithNamespace) -> String {
    format!("{} / {}", placed.place.human_name(), placed.project.name.as_str())
}
