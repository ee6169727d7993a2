//! What the web pages of issues show: a list with its counters, and one issue with its discussion.

use std::collections::BTreeSet;

use hexforge_domain::group::GroupRef;
use hexforge_domain::id::{IssueId, UserId};
use hexforge_domain::issue::Issue;
use hexforge_domain::issue::query::{IssueFilter, IssueOrder, IssueScope, LabelFilter};
use hexforge_domain::label::{Label, LabelTitle};
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::group::GroupAbility;
use hexforge_domain::policy::tracker::{IssueAbility, TrackerAbility};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::user::User;

use super::{find_visible, related};
use crate::access;
use crate::access::tracker::{self, Tracker};
use crate::app::App;
use crate::discussion::Discussion;
use crate::error::{Entity, Error};
use crate::group::audience_of;
use crate::note::subject::Subject;
use crate::tracker_choices::TrackerChoices;
use crate::view::issue::{self as view, IssueView};
use crate::view::user::load_users;

/// The maximum number of participants that a page shows.
const MAX_PARTICIPANTS: u32 = 50;

/// The filter and order of a list on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueQuery {
    pub open: Option<bool>,
    pub author: Option<UserId>,
    pub assignee: Option<UserId>,
    pub milestone: Option<String>,
    /// Issues match with all of these labels.
    pub labels: Vec<String>,
    pub search: Option<String>,
    pub order: IssueOrder,
    pub descending: bool,
}

impl IssueQuery {
    fn filter(&self, scope: IssueScope, tracker: &Tracker) -> IssueFilter {
        let base = IssueFilter::newest_first(scope, tracker.clearance(), tracker.requester.today);
        self.apply(base)
    }

    fn apply(&self, base: IssueFilter) -> IssueFilter {
        IssueFilter {
            open: self.open,
            labels: (!self.labels.is_empty()).then(|| LabelFilter::All(self.labels.clone())),
            milestone: self.milestone.clone(),
            author: self.author,
            assignee: self.assignee,
            search: self.search.clone(),
            order: self.order,
            descending: self.descending,
            ..base
        }
    }
}

/// A page of a list of issues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueList {
    pub issues: Paged<IssueView>,
    /// The number of open and of closed issues that match the other conditions.
    pub open: u64,
    pub closed: u64,
    /// The labels of the shown issues, for their colors.
    pub labels: Vec<Label>,
    /// What the filter offers.
    pub choices: TrackerChoices,
}

/// Lists the issues of a project that the actor may see.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    query: &IssueQuery,
    page: Page,
) -> Result<IssueList, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        tracker.require(TrackerAbility::ReadIssues)?;
        let filter = query.filter(IssueScope::Project(tracker.project.id), &tracker);
        let issues = tx.issues().list(&filter, page)?;
        let (open, closed) = count(tx, &filter, issues.total)?;
        // Most people and labels of the list are among the choices.
        let chosen = [query.author, query.assignee, Some(user)].into_iter().flatten();
        let choices = TrackerChoices::load(tx, &tracker, chosen)?;
        let issues = view::page(tx, user, Some(&tracker.project), issues)?;
        let titles = issues.items.iter().flat_map(|issue| &issue.labels);
        let labels = find_labels(tx, &tracker, titles, &choices.labels)?;
        Ok(IssueList { issues, open, closed, labels, choices })
    })
}

/// Returns the numbers of open and of closed issues. `total` is that of the filter itself.
fn count(tx: &mut dyn Tx, filter: &IssueFilter, total: u64) -> Result<(u64, u64), StoreError> {
    let mut count_in = |open: bool| match filter.open {
        Some(shown) if shown == open => Ok(total),
        _ => tx.issues().count(&IssueFilter { open: Some(open), ..filter.clone() }),
    };
    let open = count_in(true)?;
    // Without a condition on the state, the rest of the list is closed.
    let closed = if filter.open.is_none() { total.saturating_sub(open) } else { count_in(false)? };
    Ok((open, closed))
}

/// Returns the labels of a project with these titles. Those among `known` are not loaded again.
pub(crate) fn find_labels<'a>(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    titles: impl Iterator<Item = &'a String>,
    known: &[Label],
) -> Result<Vec<Label>, StoreError> {
    let titles: BTreeSet<&str> = titles.map(String::as_str).collect();
    let has_title = |label: &&Label| titles.contains(label.title.as_str());
    let mut found: Vec<Label> = known.iter().filter(has_title).cloned().collect();
    let is_missing = |title: &&str| found.iter().all(|label| label.title.as_str() != *title);
    let missing = titles.iter().copied().filter(is_missing);
    let missing: Vec<LabelTitle> =
        missing.map(|title| LabelTitle::stored(title.to_owned())).collect();
    if !missing.is_empty() {
        found.extend(tx.labels().find_by_titles(tracker.project.id, &missing)?);
    }
    Ok(found)
}

/// The issues of a dashboard or a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnIssues {
    /// Issues that are assigned to the actor.
    Assigned,
    /// Issues that the actor wrote.
    Written,
}

/// Issues of several projects, with the number of open and of closed ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuesOfProjects {
    pub issues: Paged<IssueView>,
    pub open: u64,
    pub closed: u64,
}

/// Lists the own issues of the actor in all projects that the actor may see.
pub fn list_own(
    app: &App,
    actor: Actor,
    which: OwnIssues,
    query: &IssueQuery,
    page: Page,
) -> Result<IssuesOfProjects, Error> {
    let user = access::own_account(actor)?;
    let audience = access::audience(actor)?;
    app.store.read(|tx| {
        let scope = match which {
            OwnIssues::Assigned => IssueScope::AssignedTo(user, audience),
            OwnIssues::Written => IssueScope::AuthoredBy(user, audience),
        };
        let base = IssueFilter::newest_first(scope, tracker::clearance(actor), app.today());
        list_of_projects(tx, user, &query.apply(base), page)
    })
}

/// Lists the issues in the projects of a group that the actor may see.
pub fn list_of_group(
    app: &App,
    actor: Actor,
    named: &GroupRef,
    query: &IssueQuery,
    page: Page,
) -> Result<IssuesOfProjects, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let group = requester.group(tx, GroupAbility::Read, named)?;
        let scope = IssueScope::Group(group.id, audience_of(tx, requester, &group)?);
        let base = IssueFilter::newest_first(scope, tracker::clearance(actor), app.today());
        list_of_projects(tx, user, &query.apply(base), page)
    })
}

fn list_of_projects(
    tx: &mut dyn Tx,
    user: UserId,
    filter: &IssueFilter,
    page: Page,
) -> Result<IssuesOfProjects, Error> {
    let issues = tx.issues().list(filter, page)?;
    let (open, closed) = count(tx, filter, issues.total)?;
    Ok(IssuesOfProjects { issues: view::page(tx, user, None, issues)?, open, closed })
}

/// One issue with its discussion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuePage {
    pub view: IssueView,
    /// The labels of the issue.
    pub labels: Vec<Label>,
    pub discussion: Discussion,
    pub participants: Vec<User>,
    /// The 20 merge requests of the project that mentioned the issue last, highest number first, as far as the actor
    /// may read them.
    pub related: Vec<MergeRequest>,
    /// The path of the project and the number of the issue that this one was moved to, if the actor may see it.
    pub moved_to: Option<(String, i64)>,
    /// Whether the actor may change title, description and state.
    pub may_update: bool,
    /// Whether the actor may change labels, milestone, assignee and due date, and move the issue.
    pub may_administer: bool,
    pub may_delete: bool,
}

/// Returns the issue with this number in a project, with a page of its discussion.
pub fn show(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    iid: i64,
    page: Page,
) -> Result<IssuePage, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let tracker = requester.tracker(tx, named)?;
        let issue = find_by_iid(tx, &tracker, iid)?;
        let may_update = tracker.authorize(IssueAbility::Update, &issue).is_ok();
        let moved_to = find_moved(tx, &tracker, &issue)?;
        let subject = Subject::Issue(issue.clone());
        let people = tx.issuables().participants(issue.id.into(), MAX_PARTICIPANTS)?;
        let people = people.into_iter().chain([issue.author]).chain(issue.assignee);
        let mut participants: Vec<User> = load_users(tx, people)?.into_values().collect();
        participants.sort_by_key(|user| user.id);
        let discussion = Discussion::load(tx, &tracker, &subject, page)?;
        let related = related::merge_requests(tx, &tracker, &issue)?;
        let view = view::load(tx, user, &tracker.project, issue)?;
        let labels = find_labels(tx, &tracker, view.labels.iter(), &[])?;
        Ok(IssuePage {
            view,
            labels,
            discussion,
            participants,
            related,
            moved_to,
            may_update,
            may_administer: tracker.allows(TrackerAbility::AdministerIssues),
            may_delete: tracker.allows(TrackerAbility::DeleteIssues),
        })
    })
}

/// Returns the id of the issue with this number, if the actor may see it.
pub fn find_id(app: &App, actor: Actor, named: &ProjectRef, iid: i64) -> Result<IssueId, Error> {
    app.store.read_autocommit(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        Ok(find_by_iid(tx, &tracker, iid)?.id)
    })
}

/// What the form of an issue shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueForm {
    /// The issue, if it exists already.
    pub view: Option<IssueView>,
    pub choices: TrackerChoices,
    /// Whether the actor may set labels, milestone, assignee and due date.
    pub may_administer: bool,
}

/// Returns what the form of a new issue shows, or that of the issue with this number, which the actor may change.
pub fn form(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    iid: Option<i64>,
) -> Result<IssueForm, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let view = match iid {
            Some(iid) => {
                let issue = find_by_iid(tx, &tracker, iid)?;
                let may = tracker.authorize(IssueAbility::Update, &issue);
                may.map_err(|_| Error::NotFound(Entity::Record))?;
                Some(view::load(tx, user, &tracker.project, issue)?)
            }
            None => {
                tracker.require(TrackerAbility::CreateIssues)?;
                None
            }
        };
        let assignee = view.as_ref().and_then(|view| view.issue.assignee);
        let choices = TrackerChoices::load(tx, &tracker, assignee.into_iter().chain([user]))?;
        let may_administer = tracker.allows(TrackerAbility::AdministerIssues);
        Ok(IssueForm { view, choices, may_administer })
    })
}

fn find_by_iid(tx: &mut dyn Tx, tracker: &Tracker, iid: i64) -> Result<Issue, Error> {
    let found = tx.issues().find_by_iids(tracker.project.id, &[iid])?.pop();
    let id = found.ok_or(Error::NotFound(Entity::Record))?.id;
    find_visible(tx, tracker, id)
}

/// Returns where an issue was moved to, if the actor may see it there.
fn find_moved(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    issue: &Issue,
) -> Result<Option<(String, i64)>, Error> {
    let Some(moved) = issue.moved_to else { return Ok(None) };
    let Some(moved) = tx.issues().find_all(&[moved])?.pop() else { return Ok(None) };
    let named = ProjectRef::Id(moved.project);
    let Some(project) = tx.projects().find(&named)? else { return Ok(None) };
    match super::mentions::visible_tracker(tx, tracker.requester, project)? {
        Some(target) if target.sees(&moved) => {
            let placed = crate::view::project::with_namespace(tx, target.project.clone())?;
            Ok(Some((placed.place.path_of(&placed.project), moved.iid)))
        }
        _ => Ok(None),
    }
}
