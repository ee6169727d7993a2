//! Creates merge requests.

use hexforge_domain::event::EventAction;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::ProjectId;
use hexforge_domain::issue::mention::mentioned_usernames;
use hexforge_domain::limiter::Caller;
use hexforge_domain::merge_request::validity::InvalidRequest;
use hexforge_domain::merge_request::{Ends, MergeRequest, NewMergeRequest, RequestBranch};
use hexforge_domain::note::commands::{Command, extract};
use hexforge_domain::outbox::merge_request::MergeRequestAction;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::{MergeRequestAbility, RequestsAbility};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::text::LongText;

use super::RequestEditor;
use super::commands;
use super::fields::{self, MergeRequestFields};
use super::own_commits;
use super::version::{NewRefs, VersionDraft};
use crate::access::tracker::Tracker;
use crate::access::{self, Requester};
use crate::app::App;
use crate::error::{Entity, Error};
use crate::issue::fields::{find_or_create_labels, resolve_milestone};
use crate::issue::mentions::{MentionPlace, Mentions, NamedObjects};
use crate::retry;
use crate::todo::{TodoSubject, TodoWriter};
use crate::view::merge_request::{self as view, MergeRequestView};

/// The number of attempts while pushes change the branches.
const TRIES: u32 = 5;

/// The fields of a new merge request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRequestFields {
    /// The source branch, in the project of the call.
    pub source_branch: String,
    /// The target branch.
    pub target_branch: String,
    /// The target project; `None` for the project of the call.
    pub target_project: Option<i64>,
    /// All other fields. The title is always given.
    pub fields: MergeRequestFields,
}

/// Creates a merge request from a branch of the named project.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    given: &NewRequestFields,
) -> Result<MergeRequestView, Error> {
    access::own_account(actor)?;
    let requester = app.requester(actor);
    let ends = app.store.read(|tx| {
        let (source, target) = find_projects(tx, requester, named, given.target_project)?;
        let ends = ends_of(source.id, target.project.id, given);
        check(tx, &source, &ends, &given.fields)?;
        Ok::<_, Error>(ends)
    })?;
    let description = given.fields.valid_description().unwrap_or_default();
    let (description, commands) = extract(description, app.today());
    let fields = if commands.is_empty() {
        given.fields.clone()
    } else {
        MergeRequestFields {
            description: Some(LongText::parse(&description)),
            ..given.fields.clone()
        }
    };
    let creation = Creation { app, requester, ends, fields, commands };
    let is_busy = |error: &Error| matches!(error, Error::Store(StoreError::Busy));
    let (shown, refs) = retry::while_busy(TRIES, is_busy, || creation.run())?;
    refs.publish(app);
    Ok(shown)
}

/// Returns the source project and the target project, if the actor may create merge requests between them.
fn find_projects(
    tx: &mut dyn Tx,
    requester: Requester,
    source: &ProjectRef,
    target: Option<i64>,
) -> Result<(Project, Tracker), Error> {
    let source = requester.tracker(tx, source)?;
    source.require_requests(RequestsAbility::CreateFrom)?;
    let target = target.map(ProjectId).filter(|target| *target != source.project.id);
    let Some(target) = target else { return Ok((source.project.clone(), source)) };
    let hidden = || Error::NotFound(Entity::Record);
    let target = tx.projects().find(&ProjectRef::Id(target))?.ok_or_else(hidden)?;
    let target = requester.tracker_of(tx, target).map_err(|error| match error {
        Error::NotFound(_) => hidden(),
        error => error,
    })?;
    target.require_requests(RequestsAbility::CreateInto)?;
    Ok((source.project, target))
}

/// The branches as they were given. [`check`] tells whether they are blank.
fn ends_of(source: ProjectId, target: ProjectId, given: &NewRequestFields) -> Ends {
    Ends {
        source_project: source,
        source_branch: RequestBranch::stored(given.source_branch.clone()),
        target_project: target,
        target_branch: RequestBranch::stored(given.target_branch.clone()),
    }
}

/// Checks a new merge request, in the order of the reference.
fn check(
    tx: &mut dyn Tx,
    source: &Project,
    ends: &Ends,
    fields: &MergeRequestFields,
) -> Result<(), Error> {
    ends.check(source.forked_from).map_err(Error::InvalidMergeRequest)?;
    if let Some(twin) = tx.merge_requests().open_twin(ends, None)? {
        return Err(Error::InvalidMergeRequest(InvalidRequest::from(&twin)));
    }
    if let Some(Err(errors)) = &fields.title {
        return Err(errors.clone().into());
    }
    RequestBranch::parse("source_branch", ends.source_branch.as_str())?;
    RequestBranch::parse("target_branch", ends.target_branch.as_str())?;
    Ok(())
}

/// A merge request that is about to be created.
struct Creation<'a> {
    app: &'a App,
    requester: Requester,
    ends: Ends,
    fields: MergeRequestFields,
    /// The commands of the description.
    commands: Vec<Command>,
}

impl Creation<'_> {
    /// Reads the branches and creates the request in one transaction.
    fn run(&self) -> Result<(MergeRequestView, NewRefs), Error> {
        let (app, ends) = (self.app, &self.ends);
        let caller = Caller::new(self.requester.actor, None);
        let draft = VersionDraft::read_current(app, ends, caller)?;
        let home = ProjectRef::Id(ends.target_project);
        let mentioned = NamedObjects::find(app, self.requester.actor, &home, &self.fields.texts())?;
        let mentioned = own_commits::without_draft(app, mentioned, &draft, ends, caller)?;
        app.store.write(|tx| {
            // The lock of the source keeps it from being removed before the request exists, which would stay open.
            let source = Some(ends.source_project);
            let (tracker, mentions) =
                Mentions::lock_with(tx, self.requester, &home, source, &mentioned)?;
            let source = ProjectRef::Id(ends.source_project);
            let target = Some(ends.target_project.0);
            let (source, _) = find_projects(tx, self.requester, &source, target)?;
            draft.check_current(app, tx, ends)?;
            check(tx, &source, ends, &self.fields)?;
            let request = self.insert(tx, &tracker)?;
            let now = request.created_at;
            let stored = draft.store(app, tx, request, now)?;
            let request = stored.request;
            tx.merge_requests().update(&request)?;
            let (user, project, head) = (request.author, &tracker.project, &draft.head);
            let editor = RequestEditor { user, project, head, now };
            editor.record_event(tx, &request, EventAction::Opened)?;
            let todos = TodoWriter { tracker: &tracker, author: user, now };
            todos.record_creation(tx, TodoSubject::MergeRequest(&request))?;
            mentions.write_notes_of(
                tx,
                &tracker,
                MentionPlace::MergeRequest(&request),
                user,
                now,
            )?;
            editor.record_hook_event(tx, &request, MergeRequestAction::Open, None)?;
            let shown = view::load(tx, user, &tracker.project, request)?;
            Ok((shown, stored.refs))
        })
    }

    /// Inserts the request with its labels and participants.
    fn insert(&self, tx: &mut dyn Tx, tracker: &Tracker) -> Result<MergeRequest, Error> {
        let (project, now) = (tracker.project.id, self.app.clock.now());
        let author = access::own_account(self.requester.actor)?;
        let may_administer = tracker.allows_new(MergeRequestAbility::Administer);
        let given = self.fields.clone();
        let given = commands::add_to_fields(tx, project, given, &self.commands)?;
        let given = given.allowed(may_administer);
        let mut errors = FieldErrors::default();
        let title = errors.merge(given.title.ok_or(Error::NotGiven("title"))?);
        let description = errors.check_optional("description", given.description);
        let labels = errors.merge(given.labels.unwrap_or_else(|| Ok(vec![])));
        let assignee = fields::resolve_assignee(tx, tracker, given.assignee)?;
        let milestone = resolve_milestone(tx, project, given.milestone)?;
        let (new, labels) = errors.into_result_with(|| {
            let new = NewMergeRequest {
                ends: self.ends.clone(),
                author,
                assignee: assignee.flatten(),
                milestone: milestone.flatten(),
                title: title?,
                description: description?,
                at: now,
            };
            Some((new, labels?))
        })?;
        let labels = find_or_create_labels(tx, project, &labels, now)?;
        let request = tx.merge_requests().insert(new)?;
        tx.merge_requests().set_labels(request.id, &labels)?;
        add_participants(tx, &request)?;
        Ok(request)
    }
}

/// Makes the author of a request and the users mentioned in its description participants.
fn add_participants(tx: &mut dyn Tx, request: &MergeRequest) -> Result<(), StoreError> {
    tx.issuables().participate(request.id.into(), request.author)?;
    let text = request.description.as_ref().map_or("", LongText::as_str);
    tx.issuables().mention(request.id.into(), &mentioned_usernames(text))
}
