//! Fake of the pipelines.

use super::tx::FakeTx;
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{PipelineId, ProjectId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::pipeline::port::Pipelines;
use hexforge_domain::pipeline::{CommitFacts, NewPipeline, Pipeline, PipelineScope};
use hexforge_domain::ports::store::StoreError;

impl FakeTx {
    /// Returns the pipelines that match a predicate, newest first.
    fn pipelines_where(&self, fits: impl Fn(&Pipeline) -> bool) -> Vec<Pipeline> {
        let newest_first = self.tables.pipelines.iter().rev().map(|(pipeline, _)| pipeline);
        newest_first.filter(|pipeline| fits(pipeline)).cloned().collect()
    }

    /// Returns whether a pipeline is the newest one of an existing branch or tag.
    fn is_newest_of(&self, pipeline: &Pipeline, tag: bool) -> bool {
        let of_ref = |one: &Pipeline| (one.project, one.tag, one.reference.clone());
        let newer =
            self.pipelines_where(|one| of_ref(one) == of_ref(pipeline) && one.id > pipeline.id);
        pipeline.tag == tag
            && newer.is_empty()
            && !self.tables.refs_gone.contains(&of_ref(pipeline))
    }
}

impl Pipelines for FakeTx {
    fn list(
        &mut self,
        project: ProjectId,
        scope: PipelineScope,
        page: Page,
    ) -> Result<Paged<Pipeline>, StoreError> {
        let fits = |pipeline: &Pipeline| match scope {
            PipelineScope::All => true,
            PipelineScope::Active => matches!(pipeline.status, Status::Pending | Status::Running),
            PipelineScope::Branches => self.is_newest_of(pipeline, false),
            PipelineScope::Tags => self.is_newest_of(pipeline, true),
        };
        Ok(page.slice(self.pipelines_where(|one| one.project == project && fits(one))))
    }

    fn note_ref(
        &mut self,
        project: ProjectId,
        tag: bool,
        reference: &str,
        present: bool,
    ) -> Result<(), StoreError> {
        let known = self.pipelines_where(|one| {
            one.project == project && one.tag == tag && one.reference == reference
        });
        let key = (project, tag, reference.to_owned());
        if present {
            self.tables.refs_gone.remove(&key);
        } else if !known.is_empty() {
            self.tables.refs_gone.insert(key);
        }
        Ok(())
    }

    fn find(&mut self, project: ProjectId, id: PipelineId) -> Result<Option<Pipeline>, StoreError> {
        Ok(self.pipelines_where(|one| one.id == id && one.project == project).pop())
    }

    fn find_all(&mut self, ids: &[PipelineId]) -> Result<Vec<Pipeline>, StoreError> {
        Ok(self.pipelines_where(|one| ids.contains(&one.id)))
    }

    fn lock(&mut self, id: PipelineId) -> Result<Option<Pipeline>, StoreError> {
        Ok(self.pipelines_where(|one| one.id == id).pop())
    }

    /// Never waits: write transactions run one at a time.
    fn try_lock(&mut self, id: PipelineId) -> Result<Option<Pipeline>, StoreError> {
        self.lock(id)
    }

    fn newest_with_status(
        &mut self,
        project: ProjectId,
        reference: &str,
        status: Status,
    ) -> Result<Option<Pipeline>, StoreError> {
        let found = self.pipelines_where(|one| {
            one.project == project && one.reference == reference && one.status == status
        });
        Ok(found.into_iter().next())
    }

    fn of_commit(
        &mut self,
        project: ProjectId,
        sha: ObjectId,
    ) -> Result<Vec<Pipeline>, StoreError> {
        Ok(self.pipelines_where(|one| one.project == project && one.sha == sha))
    }

    fn of_commits(
        &mut self,
        project: ProjectId,
        shas: &[ObjectId],
    ) -> Result<Vec<Pipeline>, StoreError> {
        Ok(self.pipelines_where(|one| one.project == project && shas.contains(&one.sha)))
    }

    fn commits(
        &mut self,
        ids: &[PipelineId],
    ) -> Result<Vec<(PipelineId, CommitFacts)>, StoreError> {
        let wanted = self.tables.pipelines.iter().filter(|(one, _)| ids.contains(&one.id));
        Ok(wanted.map(|(one, commit)| (one.id, commit.clone())).collect())
    }

    fn insert(&mut self, new: NewPipeline) -> Result<Pipeline, StoreError> {
        self.require_project(new.project)?;
        if let Some(user) = new.user {
            self.require_user(user)?;
        }
        let pipeline = Pipeline {
            id: PipelineId(self.next_id()),
            project: new.project,
            user: new.user,
            sha: new.sha,
            before_sha: new.before_sha,
            reference: new.reference,
            tag: new.tag,
            status: new.status,
            yaml_errors: new.yaml_errors,
            duration: None,
            created_at: new.at,
            updated_at: new.at,
            started_at: None,
            finished_at: None,
        };
        self.tables.pipelines.push((pipeline.clone(), new.commit));
        Ok(pipeline)
    }

    fn update(&mut self, pipeline: &Pipeline) -> Result<(), StoreError> {
        for (one, _) in self.tables.pipelines.iter_mut().filter(|(one, _)| one.id == pipeline.id) {
            one.status = pipeline.status;
            one.duration = pipeline.duration;
            one.updated_at = pipeline.updated_at;
            one.started_at = pipeline.started_at;
            one.finished_at = pipeline.finished_at;
        }
        Ok(())
    }
}
