//! Notes on issues.

use actix_web::HttpResponse;
use hexforge_application::note::{self, NoteFields, NoteOutcome, NoteRef};
use hexforge_domain::id::{IssueId, NoteId};
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::note::{AwardJson, NoteJson};
use crate::error::ApiResult;
use crate::params::{declared, parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Notes");
    let all = "/projects/{id}/issues/{noteable_id}/notes";
    calls.add(call::get(all, "Lists the notes of an issue", list).list::<NoteJson<'_>>());
    let about = "Creates a note; a single emoji becomes an award, and slash commands are executed";
    let create = call::post(all, about, create);
    calls.add(create.created::<NoteJson<'_>>().or::<AwardJson<'_>>());
    let one = "/projects/{id}/issues/{noteable_id}/notes/{note_id}";
    calls.add(call::get(one, "Shows a note", get).ok::<NoteJson<'_>>());
    calls.add(call::put(one, "Updates a note", update).ok::<NoteJson<'_>>());
    calls.add(call::delete(one, "Removes a note", delete).ok::<NoteJson<'_>>());
}

parameters! {
    struct IssueInPath {
        issue: IssueId = declared::in_path("noteable_id").map(IssueId),
    }
}

parameters!(NoteRef {
    issue: declared::in_path("noteable_id").map(IssueId),
    note: declared::in_path("note_id").map(NoteId),
});

parameters!(NoteFields {
    body: declared::text("body", limit::LONG).needed(),
    created_at: picked::moment("created_at"),
});

parameters! {
    struct Change {
        body: String = declared::text("body", limit::LONG).needed(),
    }
}

async fn list(api: Api<IssueInPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let notes = api
        .run(move |app, actor, IssueInPath { issue }| note::list(app, actor, &named, issue, page))
        .await?;
    respond::paged(&api, page, notes.as_ref().map(|view| NoteJson::new(view, api.links())))
}

async fn get(api: Api<NoteRef>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let view = api.run(move |app, actor, id| note::get(app, actor, &named, id)).await?;
    respond::ok(NoteJson::new(&view, api.links()))
}

async fn create(
    api: Api<(IssueInPath, NoteFields)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let written = api
        .run(move |app, actor, (IssueInPath { issue }, fields)| {
            note::create(app, actor, &named, issue, &fields)
        })
        .await?;
    match &written {
        NoteOutcome::Note(view) => respond::created(NoteJson::new(view, api.links())),
        NoteOutcome::Award(award, user) => {
            respond::created(AwardJson::new(award, user, api.links()))
        }
        NoteOutcome::Commands(on, user, at) => {
            respond::created(NoteJson::of_commands(*on, user, *at, api.links()))
        }
    }
}

async fn update(
    api: Api<(NoteRef, Change)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, (id, Change { body })| note::update(app, actor, &named, id, &body))
        .await?;
    respond::ok(NoteJson::new(&view, api.links()))
}

async fn delete(api: Api<NoteRef>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let view = api.run(move |app, actor, id| note::delete(app, actor, &named, id)).await?;
    respond::ok(NoteJson::new(&view, api.links()))
}
