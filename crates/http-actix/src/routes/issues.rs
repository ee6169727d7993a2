//! Issues: those of the caller, of groups and of projects.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use hexforge_application::issue::fields::IssueFields;
use hexforge_application::issue::{self, IssueListing, create, movement, subscription, update};
use hexforge_domain::id::IssueId;
use hexforge_domain::issue::label_list::{self, MAX_LABELS};
use hexforge_domain::issue::query::IssueOrder;
use hexforge_domain::issue::{IssueCommand, Title};
use hexforge_domain::subscription::SubscriptionCommand;
use hexforge_domain::text::{LongText, limit};
use serde_json::json;

use super::ids::{GroupPath, PathId, ProjectPath};
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::issue::IssueJson;
use crate::error::ApiResult;
use crate::params::{declared, nested, parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Issues");
    let own = call::get("/issues", "Lists the issues that the caller created", list_own);
    calls.add(own.list::<IssueJson<'_>>());
    let of_group = call::get("/groups/{id}/issues", "Lists the issues of a group", list_of_group);
    calls.add(of_group.list::<IssueJson<'_>>());
    let all = "/projects/{id}/issues";
    calls.add(call::get(all, "Lists the issues of a project", list).list::<IssueJson<'_>>());
    calls.add(call::post(all, "Creates an issue", add).created::<IssueJson<'_>>());
    let one = "/projects/{id}/issues/{issue_id}";
    calls.add(call::get(one, "Shows an issue", get).ok::<IssueJson<'_>>());
    calls.add(call::put(one, "Updates an issue", change).ok::<IssueJson<'_>>());
    calls.add(call::delete(one, "Removes an issue", delete).ok::<IssueJson<'_>>());
    let move_it = format!("{one}/move");
    let move_it = call::post(move_it, "Moves an issue to another project", move_issue);
    calls.add(move_it.created::<IssueJson<'_>>());
    let subscription = format!("{one}/subscription");
    let subscribe =
        call::post(subscription.clone(), "Subscribes the caller to an issue", subscribe);
    calls.add(subscribe.created::<IssueJson<'_>>().unchanged());
    let unsubscribe =
        call::delete(subscription, "Unsubscribes the caller from an issue", unsubscribe);
    calls.add(unsubscribe.ok::<IssueJson<'_>>().unchanged());
}

parameters! {
    /// Filters and order of an issue list.
    struct Listing {
        state: Option<String> = picked::word("state", &["opened", "closed", "all"]),
        labels: Option<String> = picked::text("labels", limit::LABEL_LIST),
        order: IssueOrder = picked::word("order_by", &["created_at", "updated_at"])
            .map(|word| IssueOrder::parse(word.as_deref())),
        descending: bool = picked::word("sort", &["asc", "desc"])
            .map(|word| word.as_deref() != Some("asc")),
    }
}

parameters! {
    struct InMilestone {
        milestone: Option<String> = picked::text("milestone", limit::SHORT),
    }
}

parameters! {
    struct InProject {
        milestone: Option<String> = picked::text("milestone", limit::SHORT),
        iid: Option<i64> = picked::number("iid"),
    }
}

parameters!(IssueFields {
    assignee: declared::integer("assignee_id"),
    milestone: declared::integer("milestone_id"),
    due_date: declared::date("due_date").or_emptied(),
    command: declared::one_of_unless_blank("state_event", &["close", "reopen"]).map_given(command),
    title: picked::text("title", limit::SHORT).map_given(|text| Title::parse(&text)),
    description: picked::text("description", limit::LONG).map_given(|text| LongText::parse(&text)),
    labels: picked::possibly_empty_text("labels", limit::LABEL_LIST)
        .map_given(|text| label_list::parse(&text)),
    confidential: picked::switch("confidential"),
    created_at: picked::moment("created_at"),
    updated_at: picked::moment("updated_at"),
});

fn command(word: &str) -> IssueCommand {
    match word {
        "close" => IssueCommand::Close,
        _ => IssueCommand::Reopen,
    }
}

parameters! {
    struct NewIssue {
        fields: IssueFields = nested::<IssueFields>().expecting(&["title"]).hiding(&["state_event"]),
    }
}

parameters! {
    struct Target {
        project: Option<i64> = picked::number("to_project_id").expected(),
    }
}

/// The project and the issue in a path.
type IssuePath = web::Path<(ProjectPath, PathId)>;

impl Listing {
    /// Converts the parameters. An unknown state means all issues; without a state, `open` decides.
    fn into_listing(self, open: Option<bool>) -> IssueListing {
        let open = match self.state.as_deref() {
            Some("opened") => Some(true),
            Some("closed") => Some(false),
            Some(_) => None,
            None => open,
        };
        let labels = self.labels.unwrap_or_default();
        let labels = labels.split(',').map(str::trim).filter(|title| !title.is_empty());
        let mut labels: Vec<String> = labels.take(MAX_LABELS).map(str::to_owned).collect();
        labels.sort_unstable();
        labels.dedup();
        let (order, descending) = (self.order, self.descending);
        IssueListing { open, labels, milestone: None, iid: None, order, descending }
    }
}

async fn list_own(api: Api<Listing>) -> ApiResult<HttpResponse> {
    let page = api.page();
    let issues = api
        .run(move |app, actor, listing| {
            issue::list_own(app, actor, &listing.into_listing(None), page)
        })
        .await?;
    respond::paged(&api, page, issues.as_ref().map(|view| IssueJson::new(view, api.links())))
}

async fn list_of_group(
    api: Api<(Listing, InMilestone)>,
    GroupPath(named): GroupPath,
) -> ApiResult<HttpResponse> {
    let page = api.page();
    let issues = api
        .run(move |app, actor, (listing, InMilestone { milestone })| {
            let listing = IssueListing { milestone, ..listing.into_listing(Some(true)) };
            issue::list_of_group(app, actor, &named, &listing, page)
        })
        .await?;
    respond::paged(&api, page, issues.as_ref().map(|view| IssueJson::new(view, api.links())))
}

async fn list(
    api: Api<(Listing, InProject)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let page = api.page();
    let issues = api
        .run(move |app, actor, (listing, InProject { milestone, iid })| {
            let listing = IssueListing { milestone, iid, ..listing.into_listing(None) };
            issue::list_of_project(app, actor, &named, &listing, page)
        })
        .await?;
    respond::paged(&api, page, issues.as_ref().map(|view| IssueJson::new(view, api.links())))
}

async fn get(api: Api, ids: IssuePath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let view = api.run(move |app, actor, ()| issue::get(app, actor, &named, id.into())).await?;
    respond::ok(IssueJson::new(&view, api.links()))
}

async fn add(api: Api<NewIssue>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, NewIssue { fields }| {
            create::create(app, actor, &named, &IssueFields { command: None, ..fields })
        })
        .await?;
    respond::created(IssueJson::new(&view, api.links()))
}

async fn change(api: Api<IssueFields>, ids: IssuePath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let view = api
        .run(move |app, actor, fields| update::update(app, actor, &named, id.into(), &fields))
        .await?;
    respond::ok(IssueJson::new(&view, api.links()))
}

async fn delete(api: Api, ids: IssuePath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let view = api.run(move |app, actor, ()| issue::delete(app, actor, &named, id.into())).await?;
    respond::ok(IssueJson::new(&view, api.links()))
}

async fn move_issue(api: Api<Target>, ids: IssuePath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let view = api
        .run(move |app, actor, Target { project }| {
            movement::apply(app, actor, &named, id.into(), project)
        })
        .await?;
    respond::created(IssueJson::new(&view, api.links()))
}

async fn subscribe(api: Api, ids: IssuePath) -> ApiResult<HttpResponse> {
    let command = SubscriptionCommand::Subscribe;
    change_subscription(api, ids, command, StatusCode::CREATED).await
}

async fn unsubscribe(api: Api, ids: IssuePath) -> ApiResult<HttpResponse> {
    change_subscription(api, ids, SubscriptionCommand::Unsubscribe, StatusCode::OK).await
}

async fn change_subscription(
    api: Api,
    ids: IssuePath,
    command: SubscriptionCommand,
    status: StatusCode,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let id = IssueId::from(id);
    let change =
        api.run(move |app, actor, ()| subscription::apply(app, actor, &named, id, command)).await?;
    respond::changed(status, change, |view| json!(IssueJson::new(view, api.links())))
}
