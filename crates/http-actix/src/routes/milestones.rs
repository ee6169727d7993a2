//! Milestones of projects.

use actix_web::{HttpResponse, web};
use hexforge_application::milestone::{self, MilestoneFields};
use hexforge_domain::id::MilestoneId;
use hexforge_domain::milestone::{MilestoneCommand, MilestoneFilter, MilestoneState};
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use super::table::Table;
use crate::api::Api;
use crate::entities::issue::IssueJson;
use crate::entities::milestone::MilestoneJson;
use crate::error::{ApiError, ApiResult};
use crate::openapi::{self as doc, Description};
use crate::params::{Declared, Params};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/milestones", web::get().to(list));
    cfg.route("/projects/{id}/milestones", web::post().to(create));
    cfg.route("/projects/{id}/milestones/{milestone}", web::get().to(get));
    cfg.route("/projects/{id}/milestones/{milestone}", web::put().to(update));
    cfg.route("/projects/{id}/milestones/{milestone}/issues", web::get().to(issues));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Milestones");
    let all = "/projects/:id/milestones";
    let filter = [doc::one_of("state", &["active", "closed", "all"]), doc::integers("iid")];
    to.add(doc::get(all, "Milestones").takes(&filter).list::<MilestoneJson<'_>>());
    let (title, description) =
        (doc::text("title", limit::SHORT), doc::text("description", limit::LONG));
    let fields = [title.needed(), description, doc::date("due_date")];
    to.add(doc::post(all, "Makes a milestone").takes(&fields).made::<MilestoneJson<'_>>());
    let one = format!("{all}/:milestone_id");
    to.add(doc::get(&one, "A milestone").ok::<MilestoneJson<'_>>());
    let command = doc::one_of("state_event", &["close", "activate"]);
    let changes = [title, description, doc::date("due_date"), command];
    to.add(doc::put(&one, "Changes a milestone").takes(&changes).ok::<MilestoneJson<'_>>());
    to.add(doc::get(format!("{one}/issues"), "Issues of a milestone").list::<IssueJson<'_>>());
}

async fn list(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), api.page());
    let milestones = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let state = declared.one_of("state", &["active", "closed", "all"]);
            let iids = declared.one_or_more_integers("iid");
            declared.finish()?;
            let filter = MilestoneFilter { state: state.and_then(MilestoneState::parse), iids };
            Ok(milestone::list(app, actor, &named, &filter, page)?)
        })
        .await?;
    respond::paged(&api, page, milestones.as_ref().map(MilestoneJson::from))
}

async fn get(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let found = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let id = read_id(&mut declared, &id);
            declared.finish()?;
            Ok(milestone::get(app, actor, &named, id)?)
        })
        .await?;
    respond::ok(MilestoneJson::from(&found))
}

async fn create(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    let made = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let fields = MilestoneFields {
                title: Some(declared.required_text("title")),
                command: None,
                ..read_fields(params, &mut declared)
            };
            declared.finish()?;
            milestone::create(app, actor, &named, &fields)
                .map_err(|error| ApiError::sentence("Failed to create milestone", error))
        })
        .await?;
    respond::created(MilestoneJson::from(&made))
}

async fn update(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let changed = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let id = read_id(&mut declared, &id);
            let fields = MilestoneFields {
                title: declared.text("title"),
                ..read_fields(params, &mut declared)
            };
            declared.at_least_one(&["title", "description", "due_date", "state_event"]);
            declared.finish()?;
            milestone::update(app, actor, &named, id, &fields)
                .map_err(|error| ApiError::sentence("Failed to update milestone", error))
        })
        .await?;
    respond::ok(MilestoneJson::from(&changed))
}

/// Everything but the title.
fn read_fields(params: &Params, declared: &mut Declared<'_>) -> MilestoneFields {
    let description = declared.text("description");
    let due_date = declared.date("due_date");
    let command = match declared.one_of("state_event", &["close", "activate"]) {
        Some("close") => Some(MilestoneCommand::Close),
        Some(_) => Some(MilestoneCommand::Activate),
        None => None,
    };
    let due_date = params.has("due_date").then_some(due_date);
    MilestoneFields { title: None, description, due_date, command }
}

fn read_id(declared: &mut Declared<'_>, id: &str) -> MilestoneId {
    MilestoneId(declared.path_integer("milestone_id", id))
}

async fn issues(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let ((ProjectPath(named), id), page) = (ids.into_inner(), api.page());
    let issues = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let id = read_id(&mut declared, &id);
            declared.finish()?;
            Ok(milestone::issues(app, actor, &named, id, page)?)
        })
        .await?;
    respond::paged(&api, page, issues.as_ref().map(|view| IssueJson::new(view, api.links())))
}
