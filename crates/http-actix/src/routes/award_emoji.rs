//! Awards of issues, merge requests, snippets and the notes on them.

use std::marker::PhantomData;

use actix_web::HttpResponse;
use hexforge_application::award::{self, AwardTarget, AwardedThing};
use hexforge_domain::id::{AwardId, IssueId, MergeRequestId, NoteId, SnippetId};
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::award::AwardJson;
use crate::error::{ApiError, ApiResult};
use crate::openapi::Param;
use crate::params::{Parameter, Parameters, Reader, declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Award emoji");
    declare_for::<Issues>(calls);
    declare_for::<MergeRequests>(calls);
    declare_for::<Snippets>(calls);
}

/// Declares the calls on one kind of things and on the notes on them.
fn declare_for<K: Kind>(calls: &mut Calls) {
    let things = format!("/projects/{{id}}/{}", K::NAME);
    declare_at::<OfThing<K>>(calls, &format!("{things}/{{{}}}", K::ID));
    declare_at::<OfNote<K>>(calls, &format!("{things}/{{noteable_id}}/notes/{{note_id}}"));
}

fn declare_at<P: Place>(calls: &mut Calls, target: &str) {
    let (all, one) =
        (format!("{target}/award_emoji"), format!("{target}/award_emoji/{{award_id}}"));
    let call = call::get(all.clone(), "Lists awards, oldest first", list::<P>);
    calls.add(call.list::<AwardJson<'_>>());
    let call = call::post(all, "Gives an emoji", create::<P>);
    calls.add(call.created::<AwardJson<'_>>());
    calls.add(call::get(one.clone(), "Shows an award", get::<P>).ok::<AwardJson<'_>>());
    calls.add(call::delete(one, "Takes an award back", delete::<P>).ok::<AwardJson<'_>>());
}

/// A kind of things that have awards.
trait Kind: 'static {
    /// The name of the kind in paths.
    const NAME: &'static str;
    /// The name of the path parameter with the id. Paths of notes call it `noteable_id`.
    const ID: &'static str;

    fn thing(id: i64) -> AwardedThing;
}

struct Issues;

impl Kind for Issues {
    const NAME: &'static str = "issues";
    const ID: &'static str = "issue_id";

    fn thing(id: i64) -> AwardedThing {
        AwardedThing::Issuable(IssueId(id).into())
    }
}

struct MergeRequests;

impl Kind for MergeRequests {
    const NAME: &'static str = "merge_requests";
    const ID: &'static str = "merge_request_id";

    fn thing(id: i64) -> AwardedThing {
        AwardedThing::Issuable(MergeRequestId(id).into())
    }
}

struct Snippets;

impl Kind for Snippets {
    const NAME: &'static str = "snippets";
    const ID: &'static str = "snippet_id";

    fn thing(id: i64) -> AwardedThing {
        AwardedThing::Snippet(SnippetId(id))
    }
}

/// The target of awards in a path.
trait Place: Parameters + 'static {
    fn target(&self) -> AwardTarget;
}

/// An issue, merge request or snippet in a path.
struct OfThing<K> {
    thing: AwardedThing,
    kind: PhantomData<K>,
}

impl<K: Kind> Parameters for OfThing<K> {
    fn read(from: &mut Reader<'_>) -> Self {
        Self { thing: K::thing(declared::in_path(K::ID).read(from)), kind: PhantomData }
    }

    fn describe(_: &mut Vec<Param>) {}
}

impl<K: Kind> Place for OfThing<K> {
    fn target(&self) -> AwardTarget {
        AwardTarget { thing: self.thing, note: None }
    }
}

/// A note in a path.
struct OfNote<K> {
    thing: AwardedThing,
    note: NoteId,
    kind: PhantomData<K>,
}

impl<K: Kind> Parameters for OfNote<K> {
    fn read(from: &mut Reader<'_>) -> Self {
        let thing = K::thing(declared::in_path("noteable_id").read(from));
        let note = NoteId(declared::in_path("note_id").read(from));
        Self { thing, note, kind: PhantomData }
    }

    fn describe(_: &mut Vec<Param>) {}
}

impl<K: Kind> Place for OfNote<K> {
    fn target(&self) -> AwardTarget {
        AwardTarget { thing: self.thing, note: Some(self.note) }
    }
}

parameters! {
    /// The award in a path.
    struct AwardInPath {
        id: AwardId = declared::in_path("award_id").map(AwardId),
    }
}

parameters! {
    struct GivenEmoji {
        name: String = declared::text("name", limit::SHORT).needed(),
    }
}

async fn list<P: Place>(api: Api<P>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let awards = api
        .run(move |app, actor, place| award::list(app, actor, &named, place.target(), page))
        .await?;
    respond::paged(&api, page, awards.as_ref().map(|view| AwardJson::new(view, api.links())))
}

async fn get<P: Place>(
    api: Api<(P, AwardInPath)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, (place, AwardInPath { id })| {
            award::get(app, actor, &named, place.target(), id)
        })
        .await?;
    respond::ok(AwardJson::new(&view, api.links()))
}

async fn create<P: Place>(
    api: Api<(P, GivenEmoji)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, (place, GivenEmoji { name })| {
            award::create(app, actor, &named, place.target(), &name)
                .map_err(ApiError::award_refused)
        })
        .await?;
    respond::created(AwardJson::new(&view, api.links()))
}

async fn delete<P: Place>(
    api: Api<(P, AwardInPath)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, (place, AwardInPath { id })| {
            award::delete(app, actor, &named, place.target(), id)
        })
        .await?;
    respond::ok(AwardJson::new(&view, api.links()))
}
