//! Commit statuses, which external services post to report results of their own checks.

use hexforge_domain::Timestamp;
use hexforge_domain::build::{Build, BuildKind, NewBuild, StatusFilter, Tags};
use hexforge_domain::ci::status::{Status, Transition};
use hexforge_domain::ci::when::When;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::{BuildId, PipelineId, ProjectId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::pipeline::{CommitFacts, NewPipeline};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::git::Repository;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::{limit, within};

use crate::access;
use crate::app::App;
use crate::error::{Entity, Error, Refusal};
use crate::pipeline::prepare::Target;
use crate::pipeline::progress::Progress;
use crate::repository::{self, CommitRef, sight};
use crate::view::build::{self as view, BuildView};

/// The stage of external statuses, which comes after all other stages.
const STAGE: &str = "external";
const STAGE_INDEX: i32 = 1_000_000;
/// The default name of a status.
const NAME: &str = "default";

/// Filters the statuses of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusQuery {
    /// Only statuses of this branch or tag.
    pub reference: Option<String>,
    /// Only statuses of this stage.
    pub stage: Option<String>,
    /// Only statuses with this name.
    pub name: Option<String>,
    /// Also superseded statuses.
    pub all: bool,
}

/// Lists the statuses of builds and external services for a commit, oldest first.
pub fn list(
    app: &App,
    actor: Actor,
    CommitRef { project: named, revision }: CommitRef<'_>,
    wanted: StatusQuery,
    page: Page,
) -> Result<Paged<BuildView>, Error> {
    let may = |tx: &mut dyn Tx| app.requester(actor).ci_project(tx, CiAbility::ReadStatuses, named);
    let project = app.store.read(may)?;
    let repository = repository::open(app, project.id)?;
    let commit = sight::resolve(app, actor, project.id, repository.as_ref(), revision)?;
    let filter = StatusFilter {
        commit: commit.ok_or(Error::NotFound(Entity::Commit))?,
        reference: wanted.reference,
        stage: wanted.stage,
        name: wanted.name,
        superseded: wanted.all,
    };
    app.store.read(|tx| {
        let project = may(tx)?;
        let found = tx.builds().statuses(project.id, &filter, page)?;
        Ok(view::page(tx, found)?)
    })
}

/// A commit status that an external service posts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewStatus {
    /// The new state.
    pub state: Status,
    /// The branch or tag; `None` for the first branch that contains the commit.
    pub reference: Option<String>,
    /// The name of the status.
    pub name: Option<String>,
    /// The URL with details.
    pub target_url: Option<String>,
    /// A short description.
    pub description: Option<String>,
}

impl NewStatus {
    fn check(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        for (field, given, max) in [
            ("ref", &self.reference, limit::REF_NAME),
            ("name", &self.name, limit::SHORT),
            ("target_url", &self.target_url, limit::URL),
            ("description", &self.description, limit::DESCRIPTION),
        ] {
            errors.check_optional(field, given.as_deref().map(|text| within(text, max)));
        }
        errors.into_result()
    }
}

/// Posts a status of a commit. It becomes part of the pipeline of the commit, which is created if it does not exist.
pub fn post(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    revision: &str,
    status: NewStatus,
) -> Result<BuildView, Error> {
    let ability = CiAbility::PostStatuses;
    let project = app.store.read(|tx| app.requester(actor).ci_project(tx, ability, named))?;
    status.check()?;
    let user = access::own_account(actor)?;
    let repository = repository::open(app, project.id)?;
    let missing = || Error::NotFound(Entity::Commit);
    let id = sight::resolve(app, actor, project.id, repository.as_ref(), revision)?;
    let id = id.ok_or_else(missing)?;
    let commit = repository.commit(id)?.ok_or_else(missing)?;
    let (target, exists) = find_target(repository.as_ref(), status.reference.as_deref(), id)?;
    let now = app.clock.now();
    app.store.write(|tx| {
        // Locked, so that concurrent posts do not create two pipelines.
        let project = app.requester(actor).locked_ci_project(tx, ability, named)?;
        let pipeline = find_or_insert_pipeline(
            tx,
            NewPipeline {
                project: project.id,
                user: Some(user),
                sha: id,
                before_sha: ObjectId::ZERO,
                reference: target.reference.clone(),
                tag: target.tag,
                status: Status::Created,
                yaml_errors: None,
                commit: CommitFacts::from(&commit),
                at: now,
            },
        )?;
        if !exists {
            tx.pipelines().note_ref(project.id, target.tag, &target.reference, false)?;
        }
        let mut progress = Progress::lock(tx, pipeline)?.ok_or_else(missing)?;
        let posting = Posting { user, status: &status, at: now };
        let id = posting.save(tx, &mut progress)?;
        let done = progress.store(tx, now)?;
        Ok(view::load(tx, done.build(id).ok_or_else(missing)?.clone())?)
    })
}

/// Returns the branch or tag of a status, and whether it exists: a name in the request need not exist.
fn find_target(
    repository: &dyn Repository,
    reference: Option<&str>,
    commit: ObjectId,
) -> Result<(Target, bool), Error> {
    if let Some(reference) = reference.filter(|reference| !reference.is_empty()) {
        let found = Target::find(repository, reference)?;
        let (tag, exists) = (found.as_ref().is_some_and(|found| found.tag), found.is_some());
        let reference = found.map_or_else(|| reference.to_owned(), |found| found.reference);
        return Ok((Target { reference, tag, commit }, exists));
    }
    let branch =
        repository.first_branch_containing(commit)?.ok_or(Error::NotFound(Entity::References))?;
    let target = Target { reference: branch.as_str().to_owned(), tag: false, commit };
    Ok((target, true))
}

/// Returns the newest pipeline of the same commit and ref, or inserts this one.
fn find_or_insert_pipeline(tx: &mut dyn Tx, new: NewPipeline) -> Result<PipelineId, StoreError> {
    let known = tx.pipelines().of_commit(new.project, new.sha)?;
    match known.into_iter().find(|one| one.reference == new.reference) {
        Some(known) => Ok(known.id),
        None => Ok(tx.pipelines().insert(new)?.id),
    }
}

struct Posting<'a> {
    user: UserId,
    status: &'a NewStatus,
    at: Timestamp,
}

impl Posting<'_> {
    /// Updates the status that was posted before, or adds a new one.
    fn save(&self, tx: &mut dyn Tx, progress: &mut Progress) -> Result<BuildId, Error> {
        let id = match progress.find(|build| self.updates(build)) {
            Some(build) => build.id,
            None => {
                let pipeline = progress.pipeline();
                let new = self.build_for(pipeline.id, pipeline.project);
                progress.add(tx, new)?
            }
        };
        let status = progress.build(id).map(|build| build.status);
        if self.status.state == Status::Running {
            // A status that was never pending has to become pending first.
            progress.step(id, Transition::Enqueue, self.at);
        }
        let transition = Transition::towards(self.status.state);
        if !progress.step(id, transition, self.at) {
            let refusal = Refusal::StatusTransition { by: transition, from: status };
            return Err(Error::Refused(refusal));
        }
        Ok(id)
    }

    fn name(&self) -> &str {
        self.status.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(NAME)
    }

    /// Returns whether the post updates this status: same user, name, URL and description, and the status is not final.
    fn updates(&self, build: &Build) -> bool {
        let same = BuildKind::External {
            target_url: self.status.target_url.clone(),
            description: self.status.description.clone(),
        };
        matches!(build.status, Status::Pending | Status::Running)
            && build.kind == same
            && build.name == self.name()
            && build.user == Some(self.user)
            && !build.superseded
    }

    fn build_for(&self, pipeline: PipelineId, project: ProjectId) -> NewBuild {
        NewBuild {
            project,
            pipeline,
            kind: BuildKind::External {
                target_url: self.status.target_url.clone(),
                description: self.status.description.clone(),
            },
            name: self.name().to_owned(),
            stage: STAGE.to_owned(),
            stage_index: STAGE_INDEX,
            status: Status::Created,
            when: When::OnSuccess,
            allow_failure: false,
            tags: Tags::default(),
            user: Some(self.user),
            at: self.at,
        }
    }
}
