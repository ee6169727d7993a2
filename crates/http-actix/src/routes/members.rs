//! Members of groups and projects, which have the same calls.

use actix_web::{FromRequest, HttpResponse};
use hexforge_application::member::{self, AccessFields, MemberSource, Removal};
use hexforge_domain::id::UserId;
use hexforge_domain::text::limit;
use serde_json::json;

use super::ids::{GroupPath, ProjectPath};
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::member::{AccessRevoked, MemberJson};
use crate::entities::user::UserSummaryJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Members");
    declare_below::<GroupPath>(calls, "/groups/{id}");
    declare_below::<ProjectPath>(calls, "/projects/{id}");
    let team = call::get(
        "/projects/{id}/users",
        "Lists all users with access to a project, also by groups",
        team,
    );
    calls.add(team.list::<UserSummaryJson<'_>>());
}

fn declare_below<P: SourcePath>(calls: &mut Calls, source: &str) {
    let all = format!("{source}/members");
    calls.add(
        call::get(all.as_str(), "Lists the members of a group or project", list::<P>)
            .list::<MemberJson<'_>>(),
    );
    calls.add(call::post(all.as_str(), "Adds a member", add::<P>).created::<MemberJson<'_>>());
    let one = format!("{all}/{{user_id}}");
    calls.add(call::get(one.as_str(), "Shows a member", get::<P>).ok::<MemberJson<'_>>());
    calls.add(call::put(one.as_str(), "Updates a member", update::<P>).ok::<MemberJson<'_>>());
    let remove = call::delete(one, "Removes a member", remove::<P>);
    calls.add(remove.ok::<MemberJson<'_>>().or::<AccessRevoked>());
}

/// The group or project in a path.
pub(super) trait SourcePath: FromRequest + 'static {
    fn source(self) -> MemberSource;
}

impl SourcePath for GroupPath {
    fn source(self) -> MemberSource {
        MemberSource::Group(self.0)
    }
}

impl SourcePath for ProjectPath {
    fn source(self) -> MemberSource {
        MemberSource::Project(self.0)
    }
}

parameters! {
    struct Filter {
        query: Option<String> = declared::search("query", limit::SHORT),
    }
}

parameters! {
    struct TeamFilter {
        search: Option<String> = picked::search("search", limit::SHORT),
    }
}

parameters! {
    pub(super) struct UserInPath {
        user: UserId = declared::in_path("user_id").map(UserId),
    }
}

parameters! {
    struct NewMember {
        user: UserId = declared::integer("user_id").needed().map(UserId),
    }
}

parameters!(AccessFields {
    level: declared::integer("access_level").needed(),
    expires_at: declared::date("expires_at"),
});

async fn list<P: SourcePath>(api: Api<Filter>, source: P) -> ApiResult<HttpResponse> {
    let (source, page) = (source.source(), api.page());
    let members = api
        .run(move |app, actor, Filter { query }| {
            member::list(app, actor, &source, query.as_deref(), page)
        })
        .await?;
    respond::paged(&api, page, members.as_ref().map(|member| MemberJson::new(member, api.links())))
}

async fn team(api: Api<TeamFilter>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let team = api
        .run(move |app, actor, TeamFilter { search }| {
            member::team(app, actor, &named, search.as_deref(), page)
        })
        .await?;
    respond::paged(&api, page, team.as_ref().map(|user| UserSummaryJson::new(user, api.links())))
}

async fn get<P: SourcePath>(api: Api<UserInPath>, source: P) -> ApiResult<HttpResponse> {
    let source = source.source();
    let found = api
        .run(move |app, actor, UserInPath { user }| member::get(app, actor, &source, user))
        .await?;
    respond::ok(MemberJson::new(&found, api.links()))
}

async fn add<P: SourcePath>(
    api: Api<(NewMember, AccessFields)>,
    source: P,
) -> ApiResult<HttpResponse> {
    let source = source.source();
    let added = api
        .run(move |app, actor, (NewMember { user }, access)| {
            member::add(app, actor, &source, user, access)
        })
        .await?;
    respond::created(MemberJson::new(&added, api.links()))
}

async fn update<P: SourcePath>(
    api: Api<(UserInPath, AccessFields)>,
    source: P,
) -> ApiResult<HttpResponse> {
    let source = source.source();
    let changed = api
        .run(move |app, actor, (UserInPath { user }, access)| {
            member::update(app, actor, &source, user, access)
        })
        .await?;
    respond::ok(MemberJson::new(&changed, api.links()))
}

async fn remove<P: SourcePath>(api: Api<UserInPath>, source: P) -> ApiResult<HttpResponse> {
    let source = source.source();
    let removal = api
        .run(move |app, actor, UserInPath { user }| member::remove(app, actor, &source, user))
        .await?;
    match removal {
        Removal::Removed(member) => respond::ok(MemberJson::new(&member, api.links())),
        Removal::NotAMember(user) => {
            respond::ok(json!({ "message": "Access revoked", "id": user.0 }))
        }
    }
}
