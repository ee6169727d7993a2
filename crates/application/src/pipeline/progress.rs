//! What happens to the builds of a pipeline, and what follows: later stages, the status, the news.
//!
//! Whoever changes a build does it through here. The pipeline is locked first, so that two changes at once
//! come one after the other and the status is always that of the builds.

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

use super::news;

/// A locked pipeline with all its builds, to which something happens.
pub(crate) struct Progress {
    pipeline: Pipeline,
    builds: Vec<Build>,
    /// The pipeline did not exist before.
    new: bool,
    changed: BTreeSet<BuildId>,
    /// Of which hooks are told.
    told: BTreeSet<BuildId>,
}

/// A pipeline after what happened to it.
pub(crate) struct Done {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// All its builds, superseded ones too.
    pub builds: Vec<Build>,
}

impl Done {
    /// One of the builds.
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

    /// Like [`Progress::lock`], but without waiting for others.
    pub fn try_lock(tx: &mut dyn Tx, id: PipelineId) -> Result<Option<Self>, StoreError> {
        let locked = tx.pipelines().try_lock(id)?;
        locked.map(|pipeline| Self::of_locked(tx, pipeline)).transpose()
    }

    fn of_locked(tx: &mut dyn Tx, pipeline: Pipeline) -> Result<Self, StoreError> {
        let builds = tx.builds().of_pipeline(pipeline.id)?;
        let (changed, told) = (BTreeSet::new(), BTreeSet::new());
        Ok(Self { pipeline, builds, new: false, changed, told })
    }

    /// A pipeline that this transaction made, which has no builds yet.
    pub fn of_new(pipeline: Pipeline) -> Self {
        let (changed, told) = (BTreeSet::new(), BTreeSet::new());
        Self { pipeline, builds: vec![], new: true, changed, told }
    }

    /// The pipeline as it was when it was locked.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// One of the builds as it is by now.
    pub fn build(&self, id: BuildId) -> Option<&Build> {
        self.builds.iter().find(|build| build.id == id)
    }

    /// The first of the builds that fits, as it is by now.
    pub fn find(&self, fits: impl Fn(&Build) -> bool) -> Option<&Build> {
        self.builds.iter().find(|build| fits(build))
    }

    /// One of the builds, to be changed in what is not its status.
    pub fn build_mut(&mut self, id: BuildId) -> Option<&mut Build> {
        self.changed.insert(id);
        self.builds.iter_mut().find(|build| build.id == id)
    }

    /// The newest of each name.
    pub fn latest(&self) -> Vec<StageBuild<BuildId>> {
        self.builds.iter().filter(|build| !build.superseded).map(in_stage).collect()
    }

    /// Those of them that runners do.
    pub fn jobs(&self) -> Vec<StageBuild<BuildId>> {
        let latest = self.builds.iter().filter(|build| !build.superseded);
        latest.filter(|build| build.kind.is_job()).map(in_stage).collect()
    }

    /// Moves a build on, if that is possible from where it is; answers whether it is.
    pub fn step(&mut self, id: BuildId, transition: Transition, now: Timestamp) -> bool {
        let Some(build) = self.builds.iter_mut().find(|build| build.id == id) else { return false };
        let Ok(status) = build.status.apply(transition) else { return false };
        build.status = status;
        build.updated_at = now;
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
            self.told.insert(id);
        }
        self.changed.insert(id);
        true
    }

    /// Adds a build, in the place of older ones of its name.
    pub fn add(&mut self, tx: &mut dyn Tx, new: NewBuild) -> Result<BuildId, StoreError> {
        for older in self.builds.iter_mut().filter(|build| build.name == new.name) {
            older.superseded = true;
        }
        let build = tx.builds().insert(new)?;
        let id = build.id;
        self.builds.push(build);
        self.told.insert(id);
        Ok(id)
    }

    /// Adds a build that is the same as an earlier one, and waits for a runner; who asked is its user.
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
        self.add(tx, again).map(Some)
    }

    /// Lets skipped builds of later stages be reached again.
    pub fn reopen(&mut self, builds: &[BuildId], now: Timestamp) {
        for id in builds {
            self.step(*id, Transition::Reopen, now);
        }
    }

    /// Goes through the stages, and stores everything with what follows from it.
    pub fn store(mut self, tx: &mut dyn Tx, now: Timestamp) -> Result<Done, StoreError> {
        for decision in process(&self.latest()) {
            self.step(decision.id, decision.transition, now);
        }
        for build in self.builds.iter().filter(|build| self.changed.contains(&build.id)) {
            tx.builds().update(build)?;
        }
        let before = self.pipeline.status;
        let members = self.builds.iter().filter(|build| !build.superseded);
        let members = members.map(|build| in_stage(build).member());
        let status = pipeline_status(members, self.pipeline.yaml_errors.is_some());
        let moved = self.new || status != before;
        if moved {
            self.follow(status, now);
            tx.pipelines().update(&self.pipeline)?;
        }
        if moved || !self.told.is_empty() {
            news::tell(tx, &self.pipeline, &self.builds, &self.told, moved, now)?;
        }
        Ok(Done { pipeline: self.pipeline, builds: self.builds })
    }

    /// Gives the pipeline the status that its builds have.
    fn follow(&mut self, status: Status, now: Timestamp) {
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
