//! Snippets of projects and of users. The content is only in the raw form.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, web};
use hexforge_application::error::Error;
use hexforge_application::snippet::{self, SnippetFields, personal};
use hexforge_domain::id::SnippetId;
use hexforge_domain::text::{LongText, limit};

use super::ids::{PathId, ProjectPath};
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::snippet::{PersonalSnippetJson, SnippetJson};
use crate::error::ApiResult;
use crate::params::{declared, parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Snippets");
    let all = "/projects/{id}/snippets";
    calls.add(call::get(all, "Lists the snippets of a project", list).list::<SnippetJson<'_>>());
    calls.add(
        call::post(all, "Creates a snippet in a project", create).created::<SnippetJson<'_>>(),
    );
    let one = "/projects/{id}/snippets/{snippet_id}";
    calls.add(call::get(one, "Shows a snippet of a project", get).ok::<SnippetJson<'_>>());
    calls.add(call::put(one, "Updates a snippet of a project", update).ok::<SnippetJson<'_>>());
    calls.add(call::delete(one, "Removes a snippet of a project", delete).ok::<SnippetJson<'_>>());
    let content = call::get(format!("{one}/raw"), "Downloads a snippet of a project", raw);
    calls.add(content.bytes("text/plain"));
    let all = "/snippets";
    let list = call::get(all, "Lists the personal snippets of the caller", list_personal);
    calls.add(list.list::<PersonalSnippetJson<'_>>());
    let public = "Lists the public personal snippets of all users";
    let public = call::get("/snippets/public", public, list_public);
    calls.add(public.list::<PersonalSnippetJson<'_>>());
    let create = call::post(all, "Creates a personal snippet", create_personal);
    calls.add(create.created::<PersonalSnippetJson<'_>>());
    let one = "/snippets/{id}";
    let get = call::get(one, "Shows a personal snippet of the caller", get_personal);
    calls.add(get.ok::<PersonalSnippetJson<'_>>());
    let update = call::put(one, "Updates a personal snippet of the caller", update_personal);
    calls.add(update.ok::<PersonalSnippetJson<'_>>());
    let delete = call::delete(one, "Removes a personal snippet of the caller", delete_personal);
    calls.add(delete.empty(StatusCode::NO_CONTENT));
    let content = "Downloads a personal snippet of the caller";
    let content = call::get(format!("{one}/raw"), content, raw_personal);
    calls.add(content.bytes("text/plain"));
}

parameters! {
    /// The fields of a snippet of a project.
    struct ProjectSnippetFields {
        title: Option<String> = picked::text("title", limit::SHORT),
        file_name: Option<String> = picked::text("file_name", limit::SHORT),
        code: Option<String> = picked::text("code", limit::LONG),
        visibility_level: Option<i64> = picked::text_of_number("visibility_level")
            .map_given(|text| number_or_unknown(&text)),
    }
}

parameters! {
    /// The fields of a new snippet of a project.
    struct NewProjectSnippetFields {
        title: Option<String> = picked::text("title", limit::SHORT).expected(),
        file_name: Option<String> = picked::text("file_name", limit::SHORT).expected(),
        code: Option<String> = picked::text("code", limit::LONG).expected(),
        visibility_level: Option<i64> = picked::text_of_number("visibility_level")
            .map_given(|text| number_or_unknown(&text))
            .expected(),
    }
}

/// The level that a text names. A text that is no number, or one that is too large, names a level that does not exist.
fn number_or_unknown(text: &str) -> i64 {
    text.trim().parse().unwrap_or(-1)
}

impl From<ProjectSnippetFields> for SnippetFields {
    fn from(fields: ProjectSnippetFields) -> Self {
        let ProjectSnippetFields { title, file_name, code, visibility_level } = fields;
        Self { title, file_name, content: code, visibility_level }
    }
}

impl NewProjectSnippetFields {
    /// Returns the fields if all are given.
    fn complete(self) -> Result<SnippetFields, Error> {
        let Self { title, file_name, code, visibility_level } = self;
        for (name, is_given) in [
            ("title", title.is_some()),
            ("file_name", file_name.is_some()),
            ("code", code.is_some()),
            ("visibility_level", visibility_level.is_some()),
        ] {
            if !is_given {
                return Err(Error::NotGiven(name));
            }
        }
        Ok(SnippetFields { title, file_name, content: code, visibility_level })
    }
}

parameters! {
    /// A personal snippet in a path.
    struct PersonalPath {
        id: SnippetId = declared::in_path("id").map(SnippetId),
    }
}

parameters! {
    /// The fields of a new personal snippet.
    struct NewPersonalFields {
        title: String = declared::text("title", limit::SHORT).needed(),
        file_name: String = declared::text("file_name", limit::SHORT).needed(),
        content: String = declared::text("content", limit::LONG).needed(),
        visibility_level: Option<i64> = declared::level("visibility_level"),
    }
}

parameters! {
    /// The fields of a personal snippet to change.
    struct PersonalFields {
        title: Option<String> = declared::text("title", limit::SHORT),
        file_name: Option<String> = declared::text("file_name", limit::SHORT),
        content: Option<String> = declared::text("content", limit::LONG),
        visibility_level: Option<i64> = declared::level("visibility_level"),
    },
    |from| from.at_least_one(&["title", "file_name", "content", "visibility_level"])
}

impl From<NewPersonalFields> for SnippetFields {
    fn from(fields: NewPersonalFields) -> Self {
        let NewPersonalFields { title, file_name, content, visibility_level } = fields;
        Self {
            title: Some(title),
            file_name: Some(file_name),
            content: Some(content),
            visibility_level,
        }
    }
}

impl From<PersonalFields> for SnippetFields {
    fn from(fields: PersonalFields) -> Self {
        let PersonalFields { title, file_name, content, visibility_level } = fields;
        Self { title, file_name, content, visibility_level }
    }
}

/// A snippet in a path: a project and an id. A text that is not an id is not found.
type SnippetPath = web::Path<(ProjectPath, PathId)>;

async fn list(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let snippets = api.run(move |app, actor, ()| snippet::list(app, actor, &named, page)).await?;
    respond::paged(&api, page, snippets.as_ref().map(|view| SnippetJson::new(view, api.links())))
}

async fn get(api: Api, path: SnippetPath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = path.into_inner();
    let view = api.run(move |app, actor, ()| snippet::get(app, actor, &named, id.into())).await?;
    respond::ok(SnippetJson::new(&view, api.links()))
}

async fn raw(api: Api, path: SnippetPath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = path.into_inner();
    let text = api.run(move |app, actor, ()| snippet::raw(app, actor, &named, id.into())).await?;
    Ok(plain_text(text))
}

/// 200 with a text that browsers do not interpret.
fn plain_text(text: LongText) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    response.content_type("text/plain").insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    response.body(text.into_string())
}

async fn create(
    api: Api<NewProjectSnippetFields>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let view = api
        .run_unread(move |app, actor, unread| {
            snippet::authorize_creation(app, actor, &named)?;
            let fields = unread.read()?.complete()?;
            Ok(snippet::create(app, actor, &named, &fields)?)
        })
        .await?;
    respond::created(SnippetJson::new(&view, api.links()))
}

async fn update(api: Api<ProjectSnippetFields>, path: SnippetPath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = path.into_inner();
    let view = api
        .run_unread(move |app, actor, unread| {
            snippet::authorize_update(app, actor, &named, id.into())?;
            let fields = unread.read()?.into();
            Ok(snippet::update(app, actor, &named, id.into(), &fields)?)
        })
        .await?;
    respond::ok(SnippetJson::new(&view, api.links()))
}

async fn delete(api: Api, path: SnippetPath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = path.into_inner();
    let view =
        api.run(move |app, actor, ()| snippet::delete(app, actor, &named, id.into())).await?;
    respond::ok(SnippetJson::new(&view, api.links()))
}

async fn list_personal(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page();
    let all = api.run(move |app, actor, ()| personal::list(app, actor, page)).await?;
    let all = all.as_ref().map(|view| PersonalSnippetJson::new(view, api.links()));
    respond::paged(&api, page, all)
}

async fn list_public(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page();
    let all = api.run(move |app, actor, ()| personal::list_public(app, actor, page)).await?;
    let all = all.as_ref().map(|view| PersonalSnippetJson::new(view, api.links()));
    respond::paged(&api, page, all)
}

async fn create_personal(api: Api<NewPersonalFields>) -> ApiResult<HttpResponse> {
    let create = |app: &_, actor, fields: NewPersonalFields| {
        personal::create(app, actor, &SnippetFields::from(fields))
    };
    let view = api.run(create).await?;
    respond::created(PersonalSnippetJson::new(&view, api.links()))
}

async fn get_personal(api: Api<PersonalPath>) -> ApiResult<HttpResponse> {
    let view = api.run(|app, actor, path| personal::get(app, actor, path.id)).await?;
    respond::ok(PersonalSnippetJson::new(&view, api.links()))
}

async fn raw_personal(api: Api<PersonalPath>) -> ApiResult<HttpResponse> {
    let text = api.run(|app, actor, path| personal::raw(app, actor, path.id)).await?;
    Ok(plain_text(text))
}

async fn update_personal(api: Api<(PersonalPath, PersonalFields)>) -> ApiResult<HttpResponse> {
    let view = api
        .run(|app, actor, (path, fields)| {
            personal::update(app, actor, path.id, &SnippetFields::from(fields))
        })
        .await?;
    respond::ok(PersonalSnippetJson::new(&view, api.links()))
}

async fn delete_personal(api: Api<PersonalPath>) -> ApiResult<HttpResponse> {
    api.run(|app, actor, path| personal::delete(app, actor, path.id)).await?;
    Ok(HttpResponse::NoContent().finish())
}
