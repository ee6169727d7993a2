//! Fake of the builds.

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::build::port::Builds;
use hexforge_domain::build::{
    Build, BuildDefinition, BuildFilter, NewBuild, Silence, StageSummary, StatusFilter,
};
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{BuildId, DefinitionId, PipelineId, ProjectId, RunnerId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::Project;
use hexforge_domain::runner::{Reach, Runner};

impl FakeTx {
    fn has_commit_and_ref(&self, build: &Build, commit: ObjectId, reference: Option<&str>) -> bool {
        self.tables.pipelines.iter().any(|(pipeline, _)| {
            pipeline.id == build.pipeline
                && pipeline.sha == commit
                && reference.is_none_or(|reference| pipeline.reference == reference)
        })
    }
}

impl Builds for FakeTx {
    fn list(
        &mut self,
        project: ProjectId,
        filter: &BuildFilter,
        page: Page,
    ) -> Result<Paged<Build>, StoreError> {
        let fits = |build: &&Build| {
            build.project == project
                && build.kind.is_job()
                && filter.statuses.as_ref().is_none_or(|among| among.contains(&build.status))
                && filter.commit.is_none_or(|commit| self.has_commit_and_ref(build, commit, None))
        };
        Ok(page.slice(self.tables.builds.iter().rev().filter(fits).cloned().collect()))
    }

    fn statuses(
        &mut self,
        project: ProjectId,
        filter: &StatusFilter,
        page: Page,
    ) -> Result<Paged<Build>, StoreError> {
        let fits = |build: &&Build| {
            build.project == project
                && self.has_commit_and_ref(build, filter.commit, filter.reference.as_deref())
                && filter.stage.as_ref().is_none_or(|stage| build.stage == *stage)
                && filter.name.as_ref().is_none_or(|name| build.name == *name)
                && (filter.superseded || !build.superseded)
        };
        Ok(page.slice(self.tables.builds.iter().filter(fits).cloned().collect()))
    }

    fn find(&mut self, id: BuildId) -> Result<Option<Build>, StoreError> {
        Ok(self.tables.builds.iter().find(|build| build.id == id).cloned())
    }

    fn find_all(&mut self, ids: &[BuildId]) -> Result<Vec<Build>, StoreError> {
        let all = self.tables.builds.iter();
        Ok(all.filter(|build| ids.contains(&build.id)).cloned().collect())
    }

    fn of_pipeline(&mut self, pipeline: PipelineId) -> Result<Vec<Build>, StoreError> {
        let all = self.tables.builds.iter();
        Ok(all.filter(|build| build.pipeline == pipeline).cloned().collect())
    }

    fn stages_of(
        &mut self,
        pipelines: &[PipelineId],
    ) -> Result<Vec<(PipelineId, StageSummary)>, StoreError> {
        let all = self.tables.builds.iter();
        let shown = all.filter(|build| pipelines.contains(&build.pipeline) && !build.superseded);
        let mut rows: Vec<(PipelineId, StageSummary)> = Vec::new();
        for build in shown {
            let stage = StageSummary {
                index: build.stage_index,
                name: build.stage.clone(),
                status: build.status,
                allow_failure: build.allow_failure,
            };
            if !rows.contains(&(build.pipeline, stage.clone())) {
                rows.push((build.pipeline, stage));
            }
        }
        rows.sort_by_key(|(pipeline, stage)| {
            (*pipeline, stage.index, stage.status.as_str(), stage.allow_failure)
        });
        Ok(rows)
    }

    fn define(
        &mut self,
        pipeline: PipelineId,
        definition: &BuildDefinition,
    ) -> Result<DefinitionId, StoreError> {
        let id = DefinitionId(self.next_id());
        self.tables.definitions.insert(id, (pipeline, definition.clone()));
        Ok(id)
    }

    fn definition(&mut self, id: DefinitionId) -> Result<Option<BuildDefinition>, StoreError> {
        Ok(self.tables.definitions.get(&id).map(|(_, definition)| definition.clone()))
    }

    fn insert(&mut self, new: NewBuild) -> Result<Build, StoreError> {
        self.require_project(new.project)?;
        if let Some(user) = new.user {
            self.require_user(user)?;
        }
        let earlier = self.tables.builds.iter_mut();
        for build in earlier.filter(|one| one.pipeline == new.pipeline && one.name == new.name) {
            build.superseded = true;
        }
        let build = Build {
            id: BuildId(self.next_id()),
            project: new.project,
            pipeline: new.pipeline,
            kind: new.kind,
            name: new.name,
            stage: new.stage,
            stage_index: new.stage_index,
            status: new.status,
            when: new.when,
            allow_failure: new.allow_failure,
            tags: new.tags,
            superseded: false,
            user: new.user,
            runner: None,
            coverage: None,
            artifacts: None,
            erased_at: None,
            created_at: new.at,
            updated_at: new.at,
            queued_at: (new.status == Status::Pending).then_some(new.at),
            started_at: None,
            finished_at: None,
        };
        self.tables.builds.push(build.clone());
        Ok(build)
    }

    fn update(&mut self, build: &Build) -> Result<(), StoreError> {
        for one in self.tables.builds.iter_mut().filter(|one| one.id == build.id) {
            one.status = build.status;
            one.user = build.user;
            one.runner = build.runner;
            one.coverage = build.coverage;
            one.artifacts = build.artifacts.clone();
            one.erased_at = build.erased_at;
            one.updated_at = build.updated_at;
            one.queued_at = build.queued_at;
            one.started_at = build.started_at;
            one.finished_at = build.finished_at;
        }
        Ok(())
    }

    fn next_for(&mut self, runner: &Runner, limit: u32) -> Result<Vec<Build>, StoreError> {
        let tables = &self.tables;
        let serves = |project: &Project| match runner.reach() {
            Reach::Everywhere => project.features.shared_runners,
            Reach::OwnProjects => tables.runner_projects.contains(&(runner.id, project.id)),
        };
        let is_shared = |id| tables.runners.iter().any(|one| Some(one.id) == id && one.shared);
        let load = |project: ProjectId| {
            let all = tables.builds.iter().filter(|build| build.project == project);
            let running = all.filter(|build| build.status == Status::Running);
            running.filter(|build| is_shared(build.runner)).count()
        };
        let oldest = |project: &Project| {
            let mut all = tables.builds.iter().filter(|build| build.project == project.id);
            all.find(|build| {
                build.kind.is_job() && build.status == Status::Pending && runner.takes(&build.tags)
            })
        };
        let projects = tables.projects.values().filter(|project| project.features.builds);
        let mut found: Vec<&Build> =
            projects.filter(|project| serves(project)).filter_map(oldest).collect();
        found.sort_by_key(|build| match runner.reach() {
            Reach::Everywhere => (load(build.project), build.id),
            Reach::OwnProjects => (0, build.id),
        });
        Ok(found.into_iter().take(limit as usize).cloned().collect())
    }

    fn running_on(&mut self, runner: RunnerId) -> Result<Vec<Build>, StoreError> {
        let runs = |build: &&Build| {
            build.kind.is_job() && build.status == Status::Running && build.runner == Some(runner)
        };
        let mut found: Vec<Build> = self.tables.builds.iter().filter(runs).cloned().collect();
        found.sort_by_key(|build| build.id);
        Ok(found)
    }

    fn silent_since(&mut self, since: Silence, limit: u32) -> Result<Vec<Build>, StoreError> {
        let waited_for = |build: &&Build| {
            build.kind.is_job()
                && match build.status {
                    Status::Pending => build.updated_at <= since.pending,
                    Status::Running => build.updated_at <= since.running,
                    Status::Created
                    | Status::Success
                    | Status::Failed
                    | Status::Canceled
                    | Status::Skipped => false,
                }
        };
        let mut found: Vec<Build> = self.tables.builds.iter().filter(waited_for).cloned().collect();
        found.sort_by_key(|build| (build.updated_at, build.id));
        found.truncate(limit as usize);
        Ok(found)
    }

    fn with_artifacts_expired(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Build>, StoreError> {
        let expired =
            |build: &&Build| build.artifacts.is_some() && build.artifacts_at(now).is_none();
        let found = self.tables.builds.iter().filter(expired);
        Ok(found.take(limit as usize).cloned().collect())
    }
}
