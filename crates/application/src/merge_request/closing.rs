//! The issues that merging a merge request closes.

use hexforge_domain::commit::Commit;
use hexforge_domain::id::{IssueId, MergeRequestId};
use hexforge_domain::issue::Issue;
use hexforge_domain::issue::closing::closed_issues;
use hexforge_domain::issue::reference::{MAX_REFERENCES, Reference};
use hexforge_domain::limiter::Caller;
use hexforge_domain::merge_request::{MergeRequest, Version};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::text::LongText;

use super::version;
use crate::access::{self, Requester};
use crate::app::App;
use crate::error::Error;
use crate::issue::mentions::visible_tracker;
use crate::repository::open;
use crate::view::issue::{self as view, IssueView};

/// Lists the issues that merging the request closes, as far as the actor sees them.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
    page: Page,
) -> Result<Paged<IssueView>, Error> {
    access::own_account(actor)?;
    let (request, version) = version::find_newest(app, actor, named, id)?;
    let project = app.store.read(|tx| Ok::<_, Error>(tx.projects().find(named)?))?;
    if !project.is_some_and(|project| closes_issues(&project, &request)) {
        return Ok(Paged { items: vec![], total: 0 });
    }
    list_of(app, actor, named, (&request, version.as_ref()), page)
}

/// Like [`list`], for a request that the actor has just read, with its newest version. Merging it closes issues.
pub fn list_of(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    (request, version): (&MergeRequest, Option<&Version>),
    page: Page,
) -> Result<Paged<IssueView>, Error> {
    let user = access::own_account(actor)?;
    let repository = open::open_for(app, request.project(), Caller::new(actor, None))?;
    let commits = match version {
        Some(version) => version::read_commits(&*repository, &version.commits)?,
        None => vec![],
    };
    let closed = references(app, request, &commits);
    if closed.is_empty() {
        return Ok(Paged { items: vec![], total: 0 });
    }
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let tracker = requester.tracker(tx, named)?;
        tracker.merge_request(tx, MergeRequestAbility::Read, request.id)?;
        let issues = find_visible(tx, requester, &tracker.project, &closed)?;
        let issues = page.slice(issues);
        Ok(view::page(tx, user, None, issues)?)
    })
}

/// Returns whether merging the request closes issues: only merges into the default branch do.
pub(crate) fn closes_issues(target: &Project, request: &MergeRequest) -> bool {
    let default = target.default_branch.as_ref();
    default.is_some_and(|default| default.as_str() == request.ends.target_branch.as_str())
}

/// Returns whether merges into `target` close issues of a project. They do not in the project from which the target was
/// forked.
pub(crate) fn counts(target: &Project, project: &Project) -> bool {
    Some(project.id) != target.forked_from
}

/// Returns the issues that the description and the commits of a request close, each once.
pub(crate) fn references(app: &App, request: &MergeRequest, commits: &[Commit]) -> Vec<Reference> {
    let description = request.description.iter().map(LongText::as_str);
    let messages = commits.iter().rev().map(|commit| commit.message.as_str());
    let mut found: Vec<Reference> = Vec::new();
    for text in description.chain(messages) {
        for reference in closed_issues(text, &app.settings.external_url) {
            if !found.contains(&reference) {
                found.push(reference);
            }
        }
        if found.len() >= MAX_REFERENCES {
            found.truncate(MAX_REFERENCES);
            break;
        }
    }
    found
}

/// Returns the referenced issues that the actor sees and merging closes, in the order of their ids.
fn find_visible(
    tx: &mut dyn Tx,
    requester: Requester,
    target: &Project,
    named: &[Reference],
) -> Result<Vec<Issue>, Error> {
    let mut issues: Vec<Issue> = Vec::new();
    for reference in named {
        let project = match &reference.project {
            None => Some(target.clone()),
            Some(path) => tx.projects().find(&ProjectRef::parse(path))?,
        };
        let Some(project) = project.filter(|one| counts(target, one)) else { continue };
        let Some(tracker) = visible_tracker(tx, requester, project)? else { continue };
        let found = tx.issues().find_by_iids(tracker.project.id, &[reference.iid])?;
        issues.extend(found.into_iter().filter(|issue| tracker.sees(issue)));
    }
    issues.sort_by_key(|issue: &Issue| issue.id);
    issues.dedup_by_key(|issue| -> IssueId { issue.id });
    Ok(issues)
}
