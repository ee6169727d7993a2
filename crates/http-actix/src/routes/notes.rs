//! Notes on issues, merge requests and snippets.

use actix_web::HttpResponse;
use hexforge_application::note::{self, NoteFields, NoteOutcome, NoteRef};
use hexforge_domain::id::{IssueId, MergeRequestId, NoteId, SnippetId};
use hexforge_domain::note::Noteable;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::{Api, ApiRequest};
use crate::call::{self, Calls};
use crate::entities::award::AwardJson;
use crate::entities::note::NoteJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Notes");
    declare_on(
        calls,
        "issues",
        "Lists the notes of an issue",
        "Creates a note on an issue; a single emoji becomes an award, and slash commands are executed",
        |id| IssueId(id).into(),
    );
    declare_on(
        calls,
        "merge_requests",
        "Lists the notes of a merge request",
        "Creates a note on a merge request; a single emoji becomes an award, and slash commands are executed",
        |id| MergeRequestId(id).into(),
    );
    declare_on(
        calls,
        "snippets",
        "Lists the notes of a snippet",
        "Creates a note on a snippet; a single emoji becomes an award",
        |id| SnippetId(id).into(),
    );
}

/// Declares the calls on the notes of one kind of objects. `on` makes the object from its id.
fn declare_on(
    calls: &mut Calls,
    kind: &str,
    about_list: &'static str,
    about_create: &'static str,
    on: fn(i64) -> Noteable,
) {
    let all = format!("/projects/{{id}}/{kind}/{{noteable_id}}/notes");
    let one = format!("{all}/{{note_id}}");
    let handler = move |api: Api<Noted>, path: ProjectPath| list(api, path, on);
    calls.add(call::get(all.clone(), about_list, handler).list::<NoteJson<'_>>());
    let handler = move |api: Api<(Noted, NoteFields)>, path: ProjectPath| create(api, path, on);
    let call = call::post(all, about_create, handler);
    calls.add(call.created::<NoteJson<'_>>().or::<AwardJson<'_>>());
    let handler = move |api: Api<NotePath>, path: ProjectPath| get(api, path, on);
    calls.add(call::get(one.clone(), "Shows a note", handler).ok::<NoteJson<'_>>());
    calls.add(call::put(one.clone(), "Updates a note", update).ok::<NoteJson<'_>>());
    calls.add(call::delete(one, "Removes a note", delete).ok::<NoteJson<'_>>());
}

parameters! {
    /// The issue, merge request or snippet in a path.
    struct Noted {
        id: i64 = declared::in_path("noteable_id"),
    }
}

parameters! {
    struct NotePath {
        noteable: i64 = declared::in_path("noteable_id"),
        note: NoteId = declared::in_path("note_id").map(NoteId),
    }
}

impl NotePath {
    fn reference(&self, on: fn(i64) -> Noteable) -> NoteRef {
        NoteRef { on: on(self.noteable), note: self.note }
    }
}

parameters!(NoteFields {
    body: declared::text("body", limit::LONG).needed().not_blank(),
    created_at: picked::moment("created_at"),
});

parameters! {
    struct Change {
        body: String = declared::text("body", limit::LONG).needed(),
    }
}

async fn list(
    api: Api<Noted>,
    ProjectPath(named): ProjectPath,
    on: fn(i64) -> Noteable,
) -> ApiResult<HttpResponse> {
    let page = api.page();
    let notes = api
        .run(move |app, actor, Noted { id }| note::list(app, actor, &named, on(id), page))
        .await?;
    respond::paged(&api, page, notes.as_ref().map(|view| NoteJson::new(view, api.links())))
}

async fn get(
    api: Api<NotePath>,
    ProjectPath(named): ProjectPath,
    on: fn(i64) -> Noteable,
) -> ApiResult<HttpResponse> {
    let view =
        api.run(move |app, actor, path| note::get(app, actor, &named, path.reference(on))).await?;
    respond::ok(NoteJson::new(&view, api.links()))
}

async fn create(
    api: Api<(Noted, NoteFields)>,
    ProjectPath(named): ProjectPath,
    on: fn(i64) -> Noteable,
) -> ApiResult<HttpResponse> {
    let written = api
        .run(move |app, actor, (Noted { id }, fields)| {
            note::create(app, actor, &named, on(id), &fields)
        })
        .await?;
    respond_written(&api, &written)
}

/// 201 with the note, the award or the result of commands.
fn respond_written(api: &ApiRequest, written: &NoteOutcome) -> ApiResult<HttpResponse> {
    match written {
        NoteOutcome::Note(view) => respond::created(NoteJson::new(view, api.links())),
        NoteOutcome::Award(view) => respond::created(AwardJson::new(view, api.links())),
        NoteOutcome::Commands(on, user, at) => {
            respond::created(NoteJson::of_commands(*on, user, *at, api.links()))
        }
    }
}

/// Changes a note of the project. The issue, merge request or snippet in the path is not looked at, as in the reference.
async fn update(
    api: Api<(NotePath, Change)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, (path, Change { body })| {
            note::update(app, actor, &named, path.note, &body)
        })
        .await?;
    respond::ok(NoteJson::new(&view, api.links()))
}

/// Removes a note of the project; the path counts as in [`update`].
async fn delete(api: Api<NotePath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let view = api.run(move |app, actor, path| note::delete(app, actor, &named, path.note)).await?;
    respond::ok(NoteJson::new(&view, api.links()))
}
