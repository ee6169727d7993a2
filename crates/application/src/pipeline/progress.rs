//! Status transitions of the builds of a pipeline, and their consequences: later stages, the status of the pipeline,
//! and hook events.
//!
//! Every change of a build goes through this module. It locks the pipeline first, so that concurrent changes run one
//! after the other and the status of the pipeline always matches its builds.

use std::collections::BTreeSet;

use hexforge_domain::Timestamp;
use hexforge_domain::build::{Build, NewBuild};
use hexforge_domain::ci::duration::{BuildTimes, seconds_worked};
use hexforge_domain::ci::set::pipeline_status;
use hexforge_domain::ci::stages::{StageBuild, process};
use hexforge_domain::ci::status::{Status, Transition};
use hexforge_domain::id::{BuildId, PipelineId, UserId};
use hexforge_domain::pipeline::Pipeline;
use hexforge_domain::ports::store::{StoreError, Tx};

use super::hook_events::{self, Changes};
use crate::merge_request::{self, automatic};

/// A locked pipeline with all its builds and the changes made to them.
pub(crate) struct Progress {
    pipeline: Pipeline,
    builds: Vec<Build>,
    /// Whether this transaction created the pipeline.
    new: bool,
    changed: BTreeSet<BuildId>,
    /// The builds for which hook events are recorded.
    reported: BTreeSet<BuildId>,
    /// Whether a build failed that is not allowed to.
    failed: bool,
}

/// A pipeline after its changes were stored.
pub(crate) struct StoredPipeline {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// All its builds, superseded ones too.
    pub builds: Vec<Build>,
}

impl StoredPipeline {
    /// Returns one of the builds.
    pub fn build(&self, id: BuildId) -> Option<&Build> {
        self.builds.iter().find(|build| build.id == id)
    }
}

impl Progress {
    /// Locks a pipeline with its builds.
    pub fn lock(tx: &mut dyn Tx, id: PipelineId) -> Result<Option<Self>, StoreError> {
        let locked = tx.pipelines().lock(id)?;
        locked.map(|pipeline| Self::of_locked(tx, pipeline)).transpose()
    }

    /// Like [`Progress::lock`], but returns `None` instead of waiting when the pipeline is locked.
    pub fn try_lock(tx: &mut dyn Tx, id: PipelineId) -> Result<Option<Self>, StoreError> {
        let locked = tx.pipelines().try_lock(id)?;
        locked.map(|pipeline| Self::of_locked(tx, pipeline)).transpose()
    }

    fn of_locked(tx: &mut dyn Tx, pipeline: Pipeline) -> Result<Self, StoreError> {
        let builds = tx.builds().of_pipeline(pipeline.id)?;
        let (changed, reported) = (BTreeSet::new(), BTreeSet::new());
        Ok(Self { pipeline, builds, new: false, changed, reported, failed: false })
    }

    /// Starts with a pipeline that this transaction created and that has no builds yet.
    pub fn of_new(pipeline: Pipeline) -> Self {
        let (changed, reported) = (BTreeSet::new(), BTreeSet::new());
        Self { pipeline, builds: vec![], new: true, changed, reported, failed: false }
    }

    /// Returns the pipeline as it was when it was locked.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Returns one of the builds with the changes made so far.
    pub fn build(&self, id: BuildId) -> Option<&Build> {
        self.builds.iter().find(|build| build.id == id)
    }

    /// Returns the first build for which `predicate` is true, with the changes made so far.
    pub fn find(&self, predicate: impl Fn(&Build) -> bool) -> Option<&Build> {
        self.builds.iter().find(|build| predicate(build))
    }

    /// Returns a build to change any field except its status.
    pub fn build_mut(&mut self, id: BuildId) -> Option<&mut Build> {
        self.changed.insert(id);
        self.builds.iter_mut().find(|build| build.id == id)
    }

    /// Returns the builds that are not superseded: the newest of each name.
    pub fn latest(&self) -> Vec<StageBuild<BuildId>> {
        self.builds.iter().filter(|build| !build.superseded).map(in_stage).collect()
    }

    /// Like [`Progress::latest`], without external statuses: only the jobs for runners.
    pub fn jobs(&self) -> Vec<StageBuild<BuildId>> {
        let latest = self.builds.iter().filter(|build| !build.superseded);
        latest.filter(|build| build.kind.is_job()).map(in_stage).collect()
    }

    /// Applies a status transition to a build. Returns false when its current status does not allow the transition.
    pub fn step(&mut self, id: BuildId, transition: Transition, now: Timestamp) -> bool {
        let Some(build) = self.builds.iter_mut().find(|build| build.id == id) else { return false };
        let Ok(status) = build.status.apply(transition) else { return false };
        build.status = status;
        build.updated_at = now;
        self.failed |= status == Status::Failed && !build.allow_failure;
        if transition == Transition::Enqueue {
            build.queued_at = Some(now);
        }
        if transition.sets_started_at() {
            build.started_at = Some(now);
        }
        if transition.sets_finished_at() {
            build.finished_at = Some(now);
        }
        if transition.sets_started_at() || transition.sets_finished_at() {
            self.reported.insert(id);
        }
        self.changed.insert(id);
        true
    }

    /// Gives a running build to the queue again, because its runner never got it. Returns false if it does not run.
    pub fn return_to_queue(&mut self, id: BuildId, now: Timestamp) -> bool {
        let running = |build: &&mut Build| build.id == id && build.status == Status::Running;
        let Some(build) = self.builds.iter_mut().find(running) else { return false };
        build.status = Status::Pending;
        build.runner = None;
        build.started_at = None;
        build.queued_at = Some(now);
        build.updated_at = now;
        self.changed.insert(id);
        true
    }

    /// Adds a build, which supersedes older builds of the same name.
    pub fn add(&mut self, tx: &mut dyn Tx, new: NewBuild) -> Result<BuildId, StoreError> {
        for older in self.builds.iter_mut().filter(|build| build.name == new.name) {
            older.superseded = true;
        }
        let build = tx.builds().insert(new)?;
        let id = build.id;
        self.builds.push(build);
        self.reported.insert(id);
        Ok(id)
    }

    /// Adds a pending copy of a build for this user.
    pub fn run_again(
        &mut self,
        tx: &mut dyn Tx,
        id: BuildId,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<BuildId>, StoreError> {
        let Some(build) = self.build(id) else { return Ok(None) };
        let again = NewBuild {
            project: build.project,
            pipeline: build.pipeline,
            kind: build.kind.clone(),
            name: build.name.clone(),
            stage: build.stage.clone(),
            stage_index: build.stage_index,
            status: Status::Pending,
            when: build.when,
            allow_failure: build.allow_failure,
            tags: build.tags.clone(),
            user: Some(user),
            at: now,
        };
        merge_request::build::record_retry(tx, &self.pipeline)?;
        self.add(tx, again).map(Some)
    }

    /// Reopens skipped builds of later stages.
    pub fn reopen(&mut self, builds: &[BuildId], now: Timestamp) {
        for id in builds {
            self.step(*id, Transition::Reopen, now);
        }
    }

    /// Applies the transitions of later stages, and stores the builds, the pipeline and the hook events.
    pub fn store(mut self, tx: &mut dyn Tx, now: Timestamp) -> Result<StoredPipeline, StoreError> {
        for decision in process(&self.latest()) {
            self.step(decision.id, decision.transition, now);
        }
        for build in self.builds.iter().filter(|build| self.changed.contains(&build.id)) {
            tx.builds().update(build)?;
        }
        if self.failed {
            merge_request::build::record_failure(tx, &self.pipeline, now)?;
        }
        let before = self.pipeline.status;
        let members = self.builds.iter().filter(|build| !build.superseded);
        let members = members.map(|build| in_stage(build).member());
        let status = pipeline_status(members, self.pipeline.yaml_errors.is_some());
        let moved = self.new || status != before;
        if moved {
            self.set_pipeline_status(status, now);
            tx.pipelines().update(&self.pipeline)?;
            automatic::queue(tx, &self.pipeline, now)?;
        }
        if moved || !self.reported.is_empty() {
            let Self { pipeline, builds, reported: changed, .. } = &self;
            hook_events::record_changes(tx, &Changes { pipeline, builds, changed, moved }, now)?;
        }
        Ok(StoredPipeline { pipeline: self.pipeline, builds: self.builds })
    }

    /// Sets the status of the pipeline, and its times and duration.
    fn set_pipeline_status(&mut self, status: Status, now: Timestamp) {
        let latest = self.builds.iter().filter(|build| !build.superseded);
        let times = latest.map(|build| BuildTimes {
            status: build.status,
            started_at: build.started_at,
            finished_at: build.finished_at,
        });
        let pipeline = &mut self.pipeline;
        if status == Status::Running && pipeline.started_at.is_none() {
            pipeline.started_at = Some(now);
        }
        if status.is_complete() {
            pipeline.finished_at = Some(now);
            if pipeline.started_at.is_some() {
                pipeline.duration = Some(seconds_worked(times, now));
            }
        }
        pipeline.status = status;
        pipeline.updated_at = now;
    }
}

fn in_stage(build: &Build) -> StageBuild<BuildId> {
    StageBuild {
        id: build.id,
        stage_index: build.stage_index,
        status: build.status,
        when: build.when,
        allow_failure: build.allow_failure,
    }
}
