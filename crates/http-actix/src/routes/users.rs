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
use super::table::Table;
use crate::api::Api;
use crate::entities::event::EventJson;
use crate::entities::user::{UserFull, UserJson, UserSingle, UserSummary};
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description, Param};
use crate::params::Params;
use crate::respond;

/// Adds the routes. Ids of users are digits: any other path below `/users` is no route.
pub fn configure(cfg: &mut Table) {
    cfg.route("/user", web::get().to(current));
    cfg.route("/users", web::get().to(list));
    cfg.route("/users", web::post().to(create));
    cfg.route("/users/{id:[0-9]+}", web::get().to(get));
    cfg.route("/users/{id:[0-9]+}", web::put().to(update));
    cfg.route("/users/{id:[0-9]+}", web::delete().to(delete));
    cfg.route("/users/{id:[0-9]+}/block", web::put().to(block));
    cfg.route("/users/{id:[0-9]+}/unblock", web::put().to(unblock));
    cfg.route("/users/{id:[0-9]+}/events", web::get().to(events));
}

/// What may be said of a user, beside what a new one has to have.
const FIELDS: [Param; 13] = [
    doc::text("bio", limit::SHORT),
    doc::text("location", limit::SHORT),
    doc::text("organization", limit::SHORT),
    doc::text("skype", limit::SHORT),
    doc::text("linkedin", limit::SHORT),
    doc::text("twitter", limit::SHORT),
    doc::text("website_url", limit::SHORT),
    doc::integer("projects_limit"),
    doc::text("provider", limit::SHORT),
    doc::text("extern_uid", limit::SHORT),
    doc::boolean("admin"),
    doc::boolean("can_create_group"),
    doc::boolean("external"),
];

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Users");
    to.add(doc::get("/user", "The caller").ok::<UserFull>());
    let filter = [
        doc::text("username", limit::SHORT),
        doc::text("search", limit::SHORT),
        doc::boolean("active"),
        doc::boolean("blocked"),
        doc::boolean("external"),
    ];
    let list = doc::get("/users", "Users; administrators see more of them");
    to.add(list.takes(&filter).list::<UserSummary>().or::<UserFull>());
    let (email, password) =
        (doc::text("email", limit::SHORT), doc::text("password", limit::PASSWORD));
    let must =
        [email, password, doc::text("username", limit::SHORT), doc::text("name", limit::SHORT)];
    let create = doc::post("/users", "Makes a user").takes(&must.map(Param::needed));
    to.add(create.takes(&FIELDS).made::<UserFull>());
    let one = "/users/:id";
    to.add(doc::get(one, "A user").ok::<UserSingle>().or::<UserFull>());
    to.add(doc::put(one, "Changes a user").takes(&must).takes(&FIELDS).ok::<UserFull>());
    to.add(doc::delete(one, "Removes a user").ok::<UserFull>().or_null());
    to.add(doc::put("/users/:uid/block", "Blocks a user").yes_or_no());
    to.add(doc::put("/users/:uid/unblock", "Ends the block").yes_or_no());
    to.add(doc::get("/users/:id/events", "Activity of a user").list::<EventJson<'_>>());
}

async fn current(api: Api) -> ApiResult<HttpResponse> {
    let user = api.run(|app, actor, _| Ok(user::current(app, actor)?)).await?;
    respond::ok(UserJson::full(&user, api.links()))
}

async fn list(api: Api) -> ApiResult<HttpResponse> {
    let page = match api.params().text("username") {
        Ok(None) => api.page(),
        // A username asks for one user and makes everything else, pages included, meaningless.
        Ok(Some(_)) | Err(_) => api.page().first(),
    };
    let users = api
        .run(move |app, actor, params| Ok(user::list(app, actor, read_query(params)?, page)?))
        .await?;
    let links = api.links();
    match &users {
        UserPage::Summaries(users) => {
            respond::paged(&api, page, users.as_ref().map(|user| UserJson::summary(user, links)))
        }
        UserPage::Full(users) => {
            respond::paged(&api, page, users.as_ref().map(|user| UserJson::full(user, links)))
        }
    }
}

fn read_query(params: &Params) -> ApiResult<UserQuery> {
    if let Some(name) = params.text("username")? {
        return Ok(UserQuery::Named(name));
    }
    Ok(UserQuery::Matching(UserFilter {
        active: params.switch("active")?.unwrap_or(false),
        blocked: params.switch("blocked")?.unwrap_or(false),
        external: params.switch("external")?.unwrap_or(false),
        search: params.search("search")?,
    }))
}

async fn get(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = UserId::from(id.into_inner());
    let user = api.run(move |app, actor, _| Ok(user::get(app, actor, id)?)).await?;
    respond::ok(UserJson::view(&user, api.links()))
}

async fn create(api: Api) -> ApiResult<HttpResponse> {
    let user = api
        .run(|app, actor, params| {
            // Who may not do this is told so before anything about the parameters.
            access::accounts(actor, AccountAbility::Manage)?;
            Ok(user::create(app, actor, &read_fields(params)?)?)
        })
        .await?;
    respond::created(UserJson::full(&user, api.links()))
}

async fn update(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let (id, dialect) = (UserId::from(id.into_inner()), api.dialect());
    let user = api
        .run(move |app, actor, params| {
            access::accounts(actor, AccountAbility::Manage)?;
            let fields = read_fields(params)?;
            user::update(app, actor, id, &fields).map_err(|error| dialect.taken_on_update(error))
        })
        .await?;
    respond::ok(UserJson::full(&user, api.links()))
}

fn read_fields(params: &Params) -> ApiResult<UserFields> {
    Ok(UserFields {
        email: params.text("email")?,
        password: params.text("password")?.map(Secret::new),
        username: params.text("username")?,
        name: params.text("name")?,
        bio: params.text("bio")?,
        location: params.text("location")?,
        organization: params.text("organization")?,
        skype: params.text("skype")?,
        linkedin: params.text("linkedin")?,
        twitter: params.text("twitter")?,
        website_url: params.text("website_url")?,
        projects_limit: params.text("projects_limit")?,
        provider: params.text("provider")?,
        extern_uid: params.text("extern_uid")?,
        admin: params.switch("admin")?,
        can_create_group: params.switch("can_create_group")?,
        external: params.switch("external")?,
    })
}

async fn delete(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = UserId::from(id.into_inner());
    let deleted = api.run(move |app, actor, _| Ok(user::delete(app, actor, id)?)).await?;
    let deleted = api.dialect().deleted_user(deleted)?;
    respond::ok(deleted.as_ref().map(|user| UserJson::full(user, api.links())))
}

async fn block(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    command(api, id.into_inner(), UserCommand::Block).await
}

async fn unblock(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    command(api, id.into_inner(), UserCommand::Unblock).await
}

/// The answer is whether anything changed.
async fn command(api: Api, id: PathId, command: UserCommand) -> ApiResult<HttpResponse> {
    let change =
        api.run(move |app, actor, _| Ok(blocking::apply(app, actor, id.into(), command)?)).await?;
    respond::ok(matches!(change, Change::Applied(_)))
}

async fn events(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let (id, page) = (UserId::from(id.into_inner()), api.page());
    let events = api.run(move |app, actor, _| Ok(event::of_user(app, actor, id, page)?)).await?;
    respond::paged(&api, page, events.as_ref().map(|event| EventJson::new(event, api.links())))
}
