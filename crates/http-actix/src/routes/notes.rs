//! Notes on issues.

use actix_web::HttpResponse;
use hexforge_application::note::{self, Written};
use hexforge_domain::Timestamp;
use hexforge_domain::id::{IssueId, NoteId};
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::note::{AwardJson, NoteJson};
use crate::error::ApiResult;
use crate::params::{Parameter, declared, parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Notes");
    let all = "/projects/{id}/issues/{noteable_id}/notes";
    calls.add(call::get(all, "Notes of an issue", list).list::<NoteJson<'_>>());
    let about = "Writes a note, gives an emoji, or both runs and writes commands";
    let create = call::post(all, about, create);
    calls.add(create.made::<NoteJson<'_>>().or::<AwardJson<'_>>());
    let one = "/projects/{id}/issues/{noteable_id}/notes/{note_id}";
    calls.add(call::get(one, "A note", get).ok::<NoteJson<'_>>());
    calls.add(call::put(one, "Changes a note", update).ok::<NoteJson<'_>>());
    calls.add(call::delete(one, "Removes a note", delete).ok::<NoteJson<'_>>());
}

parameters! {
    struct IssueInPath {
        issue: IssueId = declared::in_path("noteable_id").map(IssueId),
    }
}

parameters! {
    struct InPath {
        issue: IssueId = declared::in_path("noteable_id").map(IssueId),
        note: NoteId = declared::in_path("note_id").map(NoteId),
    }
}

parameters! {
    struct NewNote {
        body: String = declared::text("body", limit::LONG).needed(),
        created_at: Option<Timestamp> = picked::moment("created_at"),
    }
}

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

async fn get(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, InPath { issue, note }| note::get(app, actor, &named, issue, note))
        .await?;
    respond::ok(NoteJson::new(&view, api.links()))
}

async fn create(
    api: Api<(IssueInPath, NewNote)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let written = api
        .run(move |app, actor, (IssueInPath { issue }, NewNote { body, created_at })| {
            note::create(app, actor, &named, issue, &body, created_at)
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

async fn update(
    api: Api<(InPath, Change)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, (InPath { issue, note }, Change { body })| {
            note::update(app, actor, &named, issue, note, &body)
        })
        .await?;
    respond::ok(NoteJson::new(&view, api.links()))
}

async fn delete(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, InPath { issue, note }| {
            note::delete(app, actor, &named, issue, note)
        })
        .await?;
    respond::ok(NoteJson::new(&view, api.links()))
}
