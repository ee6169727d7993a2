//! Issues: those of the caller, of groups and of projects.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use hexforge_application::issue::fields::IssueFields;
use hexforge_application::issue::{self, IssueListing, create, movement, subscription, update};
use hexforge_domain::id::IssueId;
use hexforge_domain::issue::names::{self, MOST};
use hexforge_domain::issue::query::IssueOrder;
use hexforge_domain::issue::{IssueCommand, Title};
use hexforge_domain::subscription::SubscriptionCommand;
use hexforge_domain::text::{LongText, limit};
use serde_json::json;

use super::ids::{GroupPath, PathId, ProjectPath};
use super::table::Table;
use crate::api::Api;
use crate::entities::issue::IssueJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description, Param};
use crate::params::Params;
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/issues", web::get().to(list_own));
    cfg.route("/groups/{id}/issues", web::get().to(list_of_group));
    cfg.route("/projects/{id}/issues", web::get().to(list));
    cfg.route("/projects/{id}/issues", web::post().to(add));
    let one = "/projects/{id}/issues/{issue}";
    cfg.route(one, web::get().to(get));
    cfg.route(one, web::put().to(change));
    cfg.route(one, web::delete().to(delete));
    cfg.route("/projects/{id}/issues/{issue}/move", web::post().to(move_it));
    let subscription = "/projects/{id}/issues/{issue}/subscription";
    cfg.route(subscription, web::post().to(subscribe));
    cfg.route(subscription, web::delete().to(unsubscribe));
}

/// What may be said about any list of issues.
const LISTING: [Param; 4] = [
    doc::one_of("state", &["opened", "closed", "all"]),
    doc::text("labels", limit::LABEL_LIST),
    doc::one_of("order_by", &["created_at", "updated_at"]),
    doc::one_of("sort", &["asc", "desc"]),
];

/// What may be said of an issue, beside its title.
const FIELDS: [Param; 8] = [
    doc::text("description", limit::LONG),
    doc::integer("assignee_id"),
    doc::integer("milestone_id"),
    doc::text("labels", limit::LABEL_LIST),
    doc::date("due_date"),
    doc::boolean("confidential"),
    doc::moment("created_at"),
    doc::moment("updated_at"),
];

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Issues");
    let own = doc::get("/issues", "Issues that the caller wrote");
    to.add(own.takes(&LISTING).list::<IssueJson<'_>>());
    let milestone = doc::text("milestone", limit::SHORT);
    let of_group = doc::get("/groups/:id/issues", "Issues of a group");
    to.add(of_group.takes(&LISTING).takes(&[milestone]).list::<IssueJson<'_>>());
    let all = "/projects/:id/issues";
    let list = doc::get(all, "Issues of a project").takes(&LISTING);
    to.add(list.takes(&[milestone, doc::integer("iid")]).list::<IssueJson<'_>>());
    let title = doc::text("title", limit::SHORT);
    let create = doc::post(all, "Makes an issue").takes(&[title.needed()]);
    to.add(create.takes(&FIELDS).made::<IssueJson<'_>>());
    let one = "/projects/:id/issues/:issue_id";
    to.add(doc::get(one, "An issue").ok::<IssueJson<'_>>());
    let command = doc::one_of("state_event", &["close", "reopen"]);
    let change = doc::put(one, "Changes an issue").takes(&[title, command]);
    to.add(change.takes(&FIELDS).ok::<IssueJson<'_>>());
    to.add(doc::delete(one, "Removes an issue").ok::<IssueJson<'_>>());
    let move_it = doc::post(format!("{one}/move"), "Moves an issue to another project");
    to.add(move_it.takes(&[doc::integer("to_project_id").needed()]).made::<IssueJson<'_>>());
    let subscription = format!("{one}/subscription");
    let subscribe = doc::post(&subscription, "Subscribes the caller");
    to.add(subscribe.made::<IssueJson<'_>>().unchanged());
    let unsubscribe = doc::delete(&subscription, "Ends the subscription");
    to.add(unsubscribe.ok::<IssueJson<'_>>().unchanged());
}

/// An issue as a path has it.
type IssuePath = web::Path<(ProjectPath, PathId)>;

async fn list_own(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page();
    let issues = api
        .run(move |app, actor, params| {
            Ok(issue::own(app, actor, &read_listing(params, None)?, page)?)
        })
        .await?;
    respond::paged(&api, page, issues.as_ref().map(|view| IssueJson::new(view, api.links())))
}

async fn list_of_group(api: Api, id: web::Path<GroupPath>) -> ApiResult<HttpResponse> {
    let (GroupPath(named), page) = (id.into_inner(), api.page());
    let issues = api
        .run(move |app, actor, params| {
            let mut listing = read_listing(params, Some(true))?;
            listing.milestone = params.text("milestone")?;
            Ok(issue::of_group(app, actor, &named, &listing, page)?)
        })
        .await?;
    respond::paged(&api, page, issues.as_ref().map(|view| IssueJson::new(view, api.links())))
}

async fn list(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), api.page());
    let issues = api
        .run(move |app, actor, params| {
            let mut listing = read_listing(params, None)?;
            listing.milestone = params.text("milestone")?;
            listing.iid = params.number("iid")?;
            Ok(issue::of_project(app, actor, &named, &listing, page)?)
        })
        .await?;
    respond::paged(&api, page, issues.as_ref().map(|view| IssueJson::new(view, api.links())))
}

/// What may be said about any list of issues. A state that is none means all, no state means what the
/// list says.
fn read_listing(params: &Params, unasked: Option<bool>) -> ApiResult<IssueListing> {
    let open = match params.text("state")?.as_deref() {
        Some("opened") => Some(true),
        Some("closed") => Some(false),
        Some(_) => None,
        None => unasked,
    };
    let labels = params.text("labels")?.unwrap_or_default();
    let labels = labels.split(',').map(str::trim).filter(|title| !title.is_empty());
    let mut labels: Vec<String> = labels.take(MOST).map(str::to_owned).collect();
    labels.sort_unstable();
    labels.dedup();
    Ok(IssueListing {
        open,
        labels,
        milestone: None,
        iid: None,
        order: IssueOrder::parse(params.text("order_by")?.as_deref()),
        descending: params.text("sort")?.as_deref() != Some("asc"),
    })
}

async fn get(api: Api, ids: IssuePath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let view = api.run(move |app, actor, _| Ok(issue::get(app, actor, &named, id.into())?)).await?;
    respond::ok(IssueJson::new(&view, api.links()))
}

async fn add(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    let view = api
        .run(move |app, actor, params| {
            let fields = IssueFields { command: None, ..read_fields(params)? };
            Ok(create::create(app, actor, &named, &fields)?)
        })
        .await?;
    respond::created(IssueJson::new(&view, api.links()))
}

async fn change(api: Api, ids: IssuePath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let view = api
        .run(move |app, actor, params| {
            let fields = read_fields(params)?;
            Ok(update::update(app, actor, &named, id.into(), &fields)?)
        })
        .await?;
    respond::ok(IssueJson::new(&view, api.links()))
}

fn read_fields(params: &Params) -> ApiResult<IssueFields> {
    let mut declared = params.declared();
    let assignee = declared.integer("assignee_id");
    let milestone = declared.integer("milestone_id");
    let due_date = declared.date("due_date");
    let said = params.text("state_event")?;
    let command = said.and_then(|_| declared.one_of("state_event", &["close", "reopen"]));
    let command = match command {
        Some("close") => Some(IssueCommand::Close),
        Some(_) => Some(IssueCommand::Reopen),
        None => None,
    };
    declared.finish()?;
    Ok(IssueFields {
        title: params.text("title")?.as_deref().map(Title::parse),
        description: params.text("description")?.as_deref().map(LongText::parse),
        assignee,
        milestone,
        labels: params.given_text("labels")?.as_deref().map(names::parse),
        due_date: params.given_text("due_date")?.map(|_| due_date),
        confidential: params.switch("confidential")?,
        created_at: params.moment("created_at")?,
        updated_at: params.moment("updated_at")?,
        command,
    })
}

async fn delete(api: Api, ids: IssuePath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let view =
        api.run(move |app, actor, _| Ok(issue::delete(app, actor, &named, id.into())?)).await?;
    respond::ok(IssueJson::new(&view, api.links()))
}

async fn move_it(api: Api, ids: IssuePath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let view = api
        .run(move |app, actor, params| {
            let target = params.number("to_project_id")?;
            Ok(movement::apply(app, actor, &named, id.into(), target)?)
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
    let change = api
        .run(move |app, actor, _| Ok(subscription::apply(app, actor, &named, id, command)?))
        .await?;
    respond::changed(status, change, |view| json!(IssueJson::new(view, api.links())))
}
