//! Users: `/users` and `/user`.

use actix_web::{HttpResponse, web};
use hexforge_application::access;
use hexforge_application::event;
use hexforge_application::user::block as blocking;
use hexforge_application::user::fields::UserFields;
use hexforge_application::user::{self, UserQuery};
use hexforge_application::view::user::UserPage;
use hexforge_domain::change::Change;
use hexforge_domain::id::UserId;
use hexforge_domain::policy::user::AccountAbility;
use hexforge_domain::text::Secret;
use hexforge_domain::text::limit;
use hexforge_domain::user::{UserCommand, UserFilter};

use super::ids::PathId;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::event::EventJson;
use crate::entities::user::{UserFullJson, UserSingleJson, UserSummaryJson, UserViewJson};
use crate::error::ApiResult;
use crate::params::{nested, parameters, picked};
use crate::respond;

/// Declares the calls. The id of a user consists of digits; every other path below `/users` has no route.
pub fn declare(calls: &mut Calls) {
    calls.section("Users");
    calls.add(call::get("/user", "Shows the caller", current).ok::<UserFullJson<'_>>());
    let list = call::get("/users", "Lists users; administrators see more fields", list);
    calls.add(list.list::<UserSummaryJson<'_>>().or::<UserFullJson<'_>>());
    calls.add(call::post("/users", "Creates a user", create).created::<UserFullJson<'_>>());
    let one = "/users/{id:[0-9]+}";
    calls.add(
        call::get(one, "Shows a user", get).ok::<UserSingleJson<'_>>().or::<UserFullJson<'_>>(),
    );
    calls.add(call::put(one, "Updates a user", update).ok::<UserFullJson<'_>>());
    calls.add(call::delete(one, "Removes a user", delete).ok::<UserFullJson<'_>>().or_null());
    calls.add(call::put("/users/{uid:[0-9]+}/block", "Blocks a user", block).boolean());
    calls.add(call::put("/users/{uid:[0-9]+}/unblock", "Unblocks a user", unblock).boolean());
    let events = call::get("/users/{id:[0-9]+}/events", "Lists the events of a user", events);
    calls.add(events.list::<EventJson<'_>>());
}

parameters! {
    /// Filters of the user list. With `username` all other parameters are ignored.
    struct UserListParams {
        username: Option<String> = picked::text("username", limit::SHORT),
        search: Option<String> = picked::search("search", limit::SHORT),
        active: bool = picked::switch("active").otherwise(false),
        blocked: bool = picked::switch("blocked").otherwise(false),
        external: bool = picked::switch("external").otherwise(false),
    }
}

parameters!(UserFields {
    email: picked::text("email", limit::SHORT),
    password: picked::text("password", limit::PASSWORD).map_given(Secret::new),
    username: picked::text("username", limit::SHORT),
    name: picked::text("name", limit::SHORT),
    bio: picked::text("bio", limit::SHORT),
    location: picked::text("location", limit::SHORT),
    organization: picked::text("organization", limit::SHORT),
    skype: picked::text("skype", limit::SHORT),
    linkedin: picked::text("linkedin", limit::SHORT),
    twitter: picked::text("twitter", limit::SHORT),
    website_url: picked::text("website_url", limit::SHORT),
    projects_limit: picked::text_of_number("projects_limit"),
    provider: picked::text("provider", limit::SHORT),
    extern_uid: picked::text("extern_uid", limit::SHORT),
    admin: picked::switch("admin"),
    can_create_group: picked::switch("can_create_group"),
    external: picked::switch("external"),
});

parameters! {
    struct NewUser {
        fields: UserFields = nested::<UserFields>().expecting(&["email", "password", "username", "name"]),
    }
}

async fn current(api: Api) -> ApiResult<HttpResponse> {
    let user = api.run(|app, actor, ()| user::current(app, actor)).await?;
    respond::ok(UserFullJson::new(&user, api.links()))
}

async fn list(api: Api<UserListParams>) -> ApiResult<HttpResponse> {
    let asked = api.page();
    let (page, users) = api
        .run(move |app, actor, params| {
            let (page, query) = match params.username {
                Some(name) => (asked.first(), UserQuery::Named(name)),
                None => {
                    let UserListParams { search, active, blocked, external, .. } = params;
                    let filter = UserFilter { active, blocked, external, search };
                    (asked, UserQuery::Matching(filter))
                }
            };
            user::list(app, actor, query, page).map(|users| (page, users))
        })
        .await?;
    let links = api.links();
    match &users {
        UserPage::Summaries(users) => {
            respond::paged(&api, page, users.as_ref().map(|user| UserSummaryJson::new(user, links)))
        }
        UserPage::Full(users) => {
            respond::paged(&api, page, users.as_ref().map(|user| UserFullJson::new(user, links)))
        }
    }
}

async fn get(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = UserId::from(id.into_inner());
    let user = api.run(move |app, actor, ()| user::get(app, actor, id)).await?;
    respond::ok(UserViewJson::new(&user, api.links()))
}

async fn create(api: Api<NewUser>) -> ApiResult<HttpResponse> {
    let user = api
        .run_unread(|app, actor, unread| {
            access::require_account_ability(actor, AccountAbility::Manage)?;
            let NewUser { fields } = unread.read()?;
            Ok(user::create(app, actor, &fields)?)
        })
        .await?;
    respond::created(UserFullJson::new(&user, api.links()))
}

async fn update(api: Api<UserFields>, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let (id, dialect) = (UserId::from(id.into_inner()), api.dialect());
    let user = api
        .run_unread(move |app, actor, unread| {
            access::require_account_ability(actor, AccountAbility::Manage)?;
            let fields = unread.read()?;
            user::update(app, actor, id, &fields).map_err(|error| dialect.taken_on_update(error))
        })
        .await?;
    respond::ok(UserFullJson::new(&user, api.links()))
}

async fn delete(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = UserId::from(id.into_inner());
    let deleted = api.run(move |app, actor, ()| user::delete(app, actor, id)).await?;
    let deleted = api.dialect().deleted_user(deleted)?;
    respond::ok(deleted.as_ref().map(|user| UserFullJson::new(user, api.links())))
}

async fn block(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    command(api, id.into_inner(), UserCommand::Block).await
}

async fn unblock(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    command(api, id.into_inner(), UserCommand::Unblock).await
}

/// The response is true if anything changed.
async fn command(api: Api, id: PathId, command: UserCommand) -> ApiResult<HttpResponse> {
    let change =
        api.run(move |app, actor, ()| blocking::apply(app, actor, id.into(), command)).await?;
    respond::ok(matches!(change, Change::Applied(_)))
}

async fn events(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let (id, page) = (UserId::from(id.into_inner()), api.page());
    let events = api.run(move |app, actor, ()| event::list_of_user(app, actor, id, page)).await?;
    respond::paged(&api, page, events.as_ref().map(|event| EventJson::new(event, api.links())))
}
