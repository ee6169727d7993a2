//! Notes on issues.

use actix_web::{HttpResponse, web};
use hexforge_application::note::{self, Written};
use hexforge_domain::id::{IssueId, NoteId};
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use super::table::Table;
use crate::api::Api;
use crate::entities::note::{AwardJson, NoteJson};
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::params::Declared;
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/issues/{issue}/notes", web::get().to(list));
    cfg.route("/projects/{id}/issues/{issue}/notes", web::post().to(create));
    let one = "/projects/{id}/issues/{issue}/notes/{note}";
    cfg.route(one, web::get().to(get));
    cfg.route(one, web::put().to(update));
    cfg.route(one, web::delete().to(delete));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Notes");
    let all = "/projects/:id/issues/:noteable_id/notes";
    to.add(doc::get(all, "Notes of an issue").list::<NoteJson<'_>>());
    let body = doc::text("body", limit::LONG).needed();
    let create = doc::post(all, "Writes a note, gives an emoji, or both runs and writes commands");
    let create = create.takes(&[body, doc::moment("created_at")]);
    to.add(create.made::<NoteJson<'_>>().or::<AwardJson<'_>>());
    let one = format!("{all}/:note_id");
    to.add(doc::get(&one, "A note").ok::<NoteJson<'_>>());
    to.add(doc::put(&one, "Changes a note").takes(&[body]).ok::<NoteJson<'_>>());
    to.add(doc::delete(&one, "Removes a note").ok::<NoteJson<'_>>());
}

/// A note as a path has it.
type NotePath = web::Path<(ProjectPath, String, String)>;

fn read_issue(declared: &mut Declared<'_>, issue: &str) -> IssueId {
    IssueId(declared.path_integer("noteable_id", issue))
}

fn read_ids(declared: &mut Declared<'_>, issue: &str, note: &str) -> (IssueId, NoteId) {
    let issue = read_issue(declared, issue);
    (issue, NoteId(declared.path_integer("note_id", note)))
}

async fn list(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let ((ProjectPath(named), issue), page) = (ids.into_inner(), api.page());
    let notes = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let issue = read_issue(&mut declared, &issue);
            declared.finish()?;
            Ok(note::list(app, actor, &named, issue, page)?)
        })
        .await?;
    respond::paged(&api, page, notes.as_ref().map(|view| NoteJson::new(view, api.links())))
}

async fn get(api: Api, ids: NotePath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), issue, note) = ids.into_inner();
    let view = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let (issue, note) = read_ids(&mut declared, &issue, &note);
            declared.finish()?;
            Ok(note::get(app, actor, &named, issue, note)?)
        })
        .await?;
    respond::ok(NoteJson::new(&view, api.links()))
}

async fn create(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), issue) = ids.into_inner();
    let written = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let issue = read_issue(&mut declared, &issue);
            let body = declared.required_text("body");
            declared.finish()?;
            let created_at = params.moment("created_at")?;
            Ok(note::create(app, actor, &named, issue, &body, created_at)?)
        })
        .await?;
    match &written {
        Written::Note(view) => respond::created(NoteJson::new(view, api.links())),
        Written::Award(award, user) => respond::created(AwardJson::new(award, user, api.links())),
        Written::Commands(issue, user, at) => {
            respond::created(NoteJson::of_commands(*issue, user, *at, api.links()))
        }
    }
}

async fn update(api: Api, ids: NotePath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), issue, note) = ids.into_inner();
    let view = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let (issue, note) = read_ids(&mut declared, &issue, &note);
            let body = declared.required_text("body");
            declared.finish()?;
            Ok(note::update(app, actor, &named, issue, note, &body)?)
        })
        .await?;
    respond::ok(NoteJson::new(&view, api.links()))
}

async fn delete(api: Api, ids: NotePath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), issue, note) = ids.into_inner();
    let view = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let (issue, note) = read_ids(&mut declared, &issue, &note);
            declared.finish()?;
            Ok(note::delete(app, actor, &named, issue, note)?)
        })
        .await?;
    respond::ok(NoteJson::new(&view, api.links()))
}
