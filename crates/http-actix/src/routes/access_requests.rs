//! Access requests to groups and projects, which have the same calls.

use actix_web::HttpResponse;
use hexforge_application::member::request;

use super::ids::{GroupPath, ProjectPath};
use super::members::{SourcePath, UserInPath};
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::member::{AccessRequesterJson, MemberJson};
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    declare_below::<GroupPath>(calls, "/groups/{id}");
    declare_below::<ProjectPath>(calls, "/projects/{id}");
}

fn declare_below<P: SourcePath>(calls: &mut Calls, source: &str) {
    let all = format!("{source}/access_requests");
    let list = call::get(all.as_str(), "Lists the users who request access", list::<P>);
    calls.add(list.list::<AccessRequesterJson<'_>>());
    let create = call::post(all.as_str(), "Requests access for the caller", create::<P>);
    calls.add(create.created::<AccessRequesterJson<'_>>());
    let one = format!("{all}/{{user_id}}");
    let approve = call::put(format!("{one}/approve"), "Approves an access request", approve::<P>);
    calls.add(approve.created::<MemberJson<'_>>());
    calls.add(
        call::delete(one, "Denies an access request", delete::<P>).ok::<AccessRequesterJson<'_>>(),
    );
}

parameters! {
    struct Level {
        level: Option<i64> = declared::integer("access_level"),
    }
}

async fn list<P: SourcePath>(api: Api, source: P) -> ApiResult<HttpResponse> {
    let (source, page) = (source.source(), api.page());
    let asking = api.run(move |app, actor, ()| request::list(app, actor, &source, page)).await?;
    respond::paged(
        &api,
        page,
        asking.as_ref().map(|one| AccessRequesterJson::new(one, api.links())),
    )
}

async fn create<P: SourcePath>(api: Api, source: P) -> ApiResult<HttpResponse> {
    let source = source.source();
    let made = api.run(move |app, actor, ()| request::create(app, actor, &source)).await?;
    respond::created(AccessRequesterJson::new(&made, api.links()))
}

/// Creates a member, so the status is 201.
async fn approve<P: SourcePath>(
    api: Api<(UserInPath, Level)>,
    source: P,
) -> ApiResult<HttpResponse> {
    let source = source.source();
    let member = api
        .run(move |app, actor, (UserInPath { user }, Level { level })| {
            request::approve(app, actor, &source, user, level)
        })
        .await?;
    respond::created(MemberJson::new(&member, api.links()))
}

async fn delete<P: SourcePath>(api: Api<UserInPath>, source: P) -> ApiResult<HttpResponse> {
    let source = source.source();
    let gone = api
        .run(move |app, actor, UserInPath { user }| request::delete(app, actor, &source, user))
        .await?;
    respond::ok(AccessRequesterJson::new(&gone, api.links()))
}
