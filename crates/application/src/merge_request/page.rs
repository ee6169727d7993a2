//! What the web pages of merge requests show: a list with its counters, and one request with its discussion.

use hexforge_domain::group::GroupRef;
use hexforge_domain::id::{MergeRequestId, UserId};
use hexforge_domain::label::Label;
use hexforge_domain::merge_request::query::{
    MergeRequestFilter, MergeRequestOrder, RequestConditions, RequestScope, StateFilter,
};
use hexforge_domain::merge_request::readiness::{self, MergeConditions, NotReady};
use hexforge_domain::merge_request::{MergeRequest, Version};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::pipeline::Pipeline;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::group::GroupAbility;
use hexforge_domain::policy::merge_request::{MergeRequestAbility, RequestsAbility};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::user::User;

use super::closing;
use super::merge::{find_to_merge, head_pipeline};
use super::version::EndRefs;
use crate::access;
use crate::access::tracker::Tracker;
use crate::app::App;
use crate::discussion::Discussion;
use crate::error::{Entity, Error};
use crate::issue::mentions::visible_tracker;
use crate::issue::page::find_labels;
use crate::note::subject::Subject;
use crate::repository::open;
use crate::repository::refs::branch_names;
use crate::tracker_choices::TrackerChoices;
use crate::view::merge_request::{self as view, MergeRequestView};
use crate::view::project as project_view;
use crate::view::user::load_users;

/// The maximum number of participants that a page shows.
const MAX_PARTICIPANTS: u32 = 50;

/// The filter and order of a list on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestQuery {
    pub states: StateFilter,
    pub conditions: RequestConditions,
    pub order: MergeRequestOrder,
    pub descending: bool,
}

impl RequestQuery {
    fn filter(&self, scope: RequestScope) -> MergeRequestFilter {
        MergeRequestFilter {
            states: self.states,
            conditions: self.conditions.clone(),
            order: self.order,
            descending: self.descending,
            ..MergeRequestFilter::newest_first(scope)
        }
    }
}

/// The numbers of requests in each state that match the other conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    pub open: u64,
    pub merged: u64,
    pub closed: u64,
}

/// A page of a list of merge requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestList {
    pub requests: Paged<MergeRequestView>,
    pub counts: RequestCounts,
    /// The labels of the shown requests, for their colors.
    pub labels: Vec<Label>,
    /// What the filter offers.
    pub choices: TrackerChoices,
}

/// Lists the merge requests into a project.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    query: &RequestQuery,
    page: Page,
) -> Result<RequestList, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        tracker.require_requests(RequestsAbility::List)?;
        let filter = query.filter(RequestScope::Project(tracker.project.id));
        let (found, counts) = list_and_count(tx, &filter, page)?;
        // Most people and labels of the list are among the choices.
        let conditions = &query.conditions;
        let chosen = [conditions.author, conditions.assignee, Some(user)].into_iter().flatten();
        let choices = TrackerChoices::load(tx, &tracker, chosen)?;
        let requests = view::page(tx, user, Some(&tracker.project), found)?;
        let titles = requests.items.iter().flat_map(|request| &request.labels);
        let labels = find_labels(tx, &tracker, titles, &choices.labels)?;
        Ok(RequestList { requests, counts, labels, choices })
    })
}

fn list_and_count(
    tx: &mut dyn Tx,
    filter: &MergeRequestFilter,
    page: Page,
) -> Result<(Paged<MergeRequest>, RequestCounts), StoreError> {
    let found = tx.merge_requests().list(filter, page)?;
    let mut count = |states: StateFilter| match states == filter.states {
        true => Ok(found.total),
        false => tx.merge_requests().count(&MergeRequestFilter { states, ..filter.clone() }),
    };
    let counts = RequestCounts {
        open: count(StateFilter::Open)?,
        merged: count(StateFilter::Merged)?,
        closed: count(StateFilter::Closed)?,
    };
    Ok((found, counts))
}

/// The merge requests of a dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnRequests {
    /// Requests that are assigned to the actor.
    Assigned,
    /// Requests that the actor wrote.
    Written,
}

/// Lists the own merge requests of the actor into all projects that the actor may see.
pub fn list_own(
    app: &App,
    actor: Actor,
    which: OwnRequests,
    query: &RequestQuery,
    page: Page,
) -> Result<(Paged<MergeRequestView>, RequestCounts), Error> {
    let user = access::own_account(actor)?;
    let (audience, today) = (access::audience(actor)?, app.today());
    let scope = match which {
        OwnRequests::Assigned => RequestScope::AssignedTo(user, audience, today),
        OwnRequests::Written => RequestScope::AuthoredBy(user, audience, today),
    };
    app.store.read(|tx| {
        let (found, counts) = list_and_count(tx, &query.filter(scope), page)?;
        Ok((view::page(tx, user, None, found)?, counts))
    })
}

/// Lists the merge requests into the projects of a group that the actor may read.
pub fn list_of_group(
    app: &App,
    actor: Actor,
    named: &GroupRef,
    query: &RequestQuery,
    page: Page,
) -> Result<(Paged<MergeRequestView>, RequestCounts), Error> {
    let user = access::own_account(actor)?;
    // Members of the group see all of its projects, but guests of it do not see all merge requests.
    let (audience, today) = (access::audience(actor)?, app.today());
    app.store.read(|tx| {
        let group = app.requester(actor).group(tx, GroupAbility::Read, named)?;
        let scope = RequestScope::Group(group.id, audience, today);
        let (found, counts) = list_and_count(tx, &query.filter(scope), page)?;
        Ok((view::page(tx, user, None, found)?, counts))
    })
}

/// One merge request with its discussion, and what stands in the way of merging it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPage {
    pub view: MergeRequestView,
    /// The labels of the request.
    pub labels: Vec<Label>,
    pub discussion: Discussion,
    pub participants: Vec<User>,
    /// The path of the source project, if it exists and the actor may see it.
    pub source_path: Option<String>,
    /// Why the request cannot be merged now, apart from conflicts that are not known yet.
    pub obstacle: Option<NotReady>,
    /// The newest pipeline of the head.
    pub pipeline: Option<Pipeline>,
    /// The newest version.
    pub newest: Option<Version>,
    /// Whether merging closes issues.
    pub closes_issues: bool,
    /// Whether the actor may change title, description and state.
    pub may_update: bool,
    pub may_delete: bool,
    /// Whether the actor may merge into the target branch.
    pub may_merge: bool,
}

impl RequestPage {
    /// Whether a merge could wait for the pipeline of the head.
    pub fn is_building(&self) -> bool {
        readiness::is_active(self.pipeline.as_ref().map(|pipeline| pipeline.status))
    }
}

/// Returns the merge request with this number in a project, with a page of its discussion.
pub fn show(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    iid: i64,
    page: Page,
) -> Result<RequestPage, Error> {
    let user = access::own_account(actor)?;
    let id = find_id(app, actor, named, iid)?;
    let (mut found, rules) = app.store.read(|tx| {
        let (tracker, request, may_merge) = find_to_merge(app, tx, actor, named, id)?;
        tracker.require_on(MergeRequestAbility::Read, &request)?;
        let newest = tx.merge_requests().newest_version(id)?;
        let pipeline = head_pipeline(tx, &request)?;
        let rules = tracker.project.features;
        let may_merge = may_merge && request.state.is_open();
        let closes_issues = closing::closes_issues(&tracker.project, &request);
        let found = load(tx, user, &tracker, request, page)?;
        let found = RequestPage { pipeline, may_merge, newest, closes_issues, ..found };
        Ok::<_, Error>((found, rules))
    })?;
    let request = &found.view.request;
    if request.state.is_open() {
        let (source, tip) = EndRefs::read(app, &request.ends)?.tips(&request.ends);
        let has_commits = |newest: &Version| newest.size.is_some();
        let conditions = MergeConditions {
            has_commits: source.is_some()
                && tip.is_some()
                && found.newest.as_ref().is_some_and(has_commits),
            pipeline: found.pipeline.as_ref().map(|pipeline| pipeline.status),
            unresolved_discussions: false,
        };
        found.obstacle = request.check_ready(conditions, rules).err();
    }
    Ok(found)
}

fn load(
    tx: &mut dyn Tx,
    user: UserId,
    tracker: &Tracker,
    request: MergeRequest,
    page: Page,
) -> Result<RequestPage, Error> {
    let subject = Subject::MergeRequest(request.clone());
    let people = tx.issuables().participants(request.id.into(), MAX_PARTICIPANTS)?;
    let people = people.into_iter().chain([request.author]).chain(request.assignee);
    let mut participants: Vec<User> = load_users(tx, people)?.into_values().collect();
    participants.sort_by_key(|user| user.id);
    let discussion = Discussion::load(tx, tracker, &subject, page)?;
    let source_path = find_source_path(tx, tracker, &request)?;
    let allows = |ability| tracker.allows_on(ability, &request);
    let (may_update, may_delete) =
        (allows(MergeRequestAbility::Update), allows(MergeRequestAbility::Delete));
    let view = view::load(tx, user, &tracker.project, request)?;
    let labels = find_labels(tx, tracker, view.labels.iter(), &[])?;
    Ok(RequestPage {
        view,
        labels,
        discussion,
        participants,
        source_path,
        obstacle: None,
        pipeline: None,
        newest: None,
        closes_issues: false,
        may_update,
        may_delete,
        may_merge: false,
    })
}

fn find_source_path(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    request: &MergeRequest,
) -> Result<Option<String>, Error> {
    let path = |tx: &mut dyn Tx, project: Project| -> Result<String, StoreError> {
        let placed = project_view::with_namespace(tx, project)?;
        Ok(placed.place.path_of(&placed.project))
    };
    if !request.ends.is_from_fork() {
        return Ok(Some(path(tx, tracker.project.clone())?));
    }
    let named = ProjectRef::Id(request.ends.source_project);
    let Some(project) = tx.projects().find(&named)? else { return Ok(None) };
    match visible_tracker(tx, tracker.requester, project)? {
        Some(source) => Ok(Some(path(tx, source.project)?)),
        None => Ok(None),
    }
}

/// Returns the id of the merge request with this number, if the actor may see it.
pub fn find_id(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    iid: i64,
) -> Result<MergeRequestId, Error> {
    app.store.read_autocommit(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let found = tx.merge_requests().find_by_iids(tracker.project.id, &[iid])?.pop();
        let request = found.ok_or(Error::NotFound(Entity::Record))?;
        tracker.require_on(MergeRequestAbility::Read, &request)?;
        Ok(request.id)
    })
}

/// Returns a merge request with the pipelines of its head, newest first.
pub fn pipelines(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    iid: i64,
) -> Result<(MergeRequestView, Vec<Pipeline>), Error> {
    let user = access::own_account(actor)?;
    let id = find_id(app, actor, named, iid)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let request = tracker.merge_request(tx, MergeRequestAbility::Read, id)?;
        let pipelines = match request.head {
            Some(head) => tx.pipelines().of_commit(request.ends.source_project, head)?,
            None => vec![],
        };
        Ok((view::load(tx, user, &tracker.project, request)?, pipelines))
    })
}

/// What the form of a merge request shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestForm {
    /// The request, if it exists already.
    pub view: Option<MergeRequestView>,
    pub choices: TrackerChoices,
    /// Whether the actor may set labels, milestone and assignee.
    pub may_administer: bool,
    /// The branches of the source project of a new request.
    pub source_branches: Vec<String>,
    /// The branches of the target project.
    pub target_branches: Vec<String>,
    /// The projects into which a new request may go: the project itself, and the project that it was forked from.
    pub targets: Vec<RequestTarget>,
}

/// A project into which a new request may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestTarget {
    pub project: Project,
    pub path: String,
}

/// Returns what the form of a new request from a project shows. `target` is the chosen target project.
pub fn new_form(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    target: Option<i64>,
) -> Result<RequestForm, Error> {
    let user = access::own_account(actor)?;
    let (mut form, source, target) = app.store.read(|tx| {
        let requester = app.requester(actor);
        let tracker = requester.tracker(tx, named)?;
        tracker.require_requests(RequestsAbility::CreateFrom)?;
        let source = tracker.project.id;
        let mut targets = vec![tracker.clone()];
        if let Some(parent) = tracker.project.forked_from
            && let Some(parent) = tx.projects().find(&ProjectRef::Id(parent))?
            && let Some(parent) = visible_tracker(tx, requester, parent)?
            && parent.require_requests(RequestsAbility::CreateInto).is_ok()
        {
            targets.push(parent);
        }
        let chosen = targets.iter().find(|one| Some(one.project.id.0) == target);
        let chosen = chosen.unwrap_or(&tracker).clone();
        let choices = TrackerChoices::load(tx, &chosen, [user].into_iter())?;
        let mut placed = Vec::new();
        for target in targets {
            let target = project_view::with_namespace(tx, target.project)?;
            placed.push(RequestTarget {
                path: target.place.path_of(&target.project),
                project: target.project,
            });
        }
        let form = RequestForm {
            view: None,
            choices,
            may_administer: chosen.allows_new(MergeRequestAbility::Administer),
            source_branches: vec![],
            target_branches: vec![],
            targets: placed,
        };
        Ok::<_, Error>((form, source, chosen.project.id))
    })?;
    form.source_branches = branch_names(&*open::refs(app, source)?);
    form.target_branches = branch_names(&*open::refs(app, target)?);
    Ok(form)
}

/// Returns what the form of the request with this number shows. The actor may change it.
pub fn edit_form(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    iid: i64,
) -> Result<RequestForm, Error> {
    let user = access::own_account(actor)?;
    let id = find_id(app, actor, named, iid)?;
    let mut form = app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let request = tracker.merge_request(tx, MergeRequestAbility::Read, id)?;
        if !tracker.allows_on(MergeRequestAbility::Update, &request) {
            return Err(Error::NotFound(Entity::Record));
        }
        let may_administer = tracker.allows_on(MergeRequestAbility::Administer, &request);
        let chosen = request.assignee.into_iter().chain([user]);
        let choices = TrackerChoices::load(tx, &tracker, chosen)?;
        Ok(RequestForm {
            view: Some(view::load(tx, user, &tracker.project, request)?),
            choices,
            may_administer,
            source_branches: vec![],
            target_branches: vec![],
            targets: vec![],
        })
    })?;
    if let Some(view) = &form.view {
        form.target_branches = branch_names(&*open::refs(app, view.request.project())?);
    }
    Ok(form)
}
