//! Templates of licences, ignored files and CI configurations, for anyone. Each path exists with and without
//! `templates/`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use hexforge_application::template::{self, License, LicenseFields, Template, TemplateKind};
use hexforge_domain::text::limit;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::Api;
use crate::call::{self, Calls};
use crate::error::{ApiError, ApiResult};
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Templates");
    for prefix in ["/templates", ""] {
        let all = format!("{prefix}/licenses");
        let list = call::get(all.as_str(), "Lists the licences", list_licenses);
        calls.add(list.without_sign_in().list::<LicenseJson<'_>>());
        let about = "Shows a licence with its placeholders filled in";
        let get = call::get(format!("{all}/{{name}}"), about, get_license);
        calls.add(get.without_sign_in().ok::<LicenseJson<'_>>());
        for (name, kind) in [
            ("gitignores", TemplateKind::Gitignore),
            ("gitlab_ci_ymls", TemplateKind::CiConfiguration),
        ] {
            let (all, about) = (format!("{prefix}/{name}"), describe(kind));
            let handler = move |api: Api| list_templates(api, kind);
            let call = call::get(all.as_str(), about.0, handler);
            calls.add(call.without_sign_in().list::<TemplateNameJson>());
            let handler = move |api: Api, path: web::Path<String>| get_template(api, path, kind);
            let call = call::get(format!("{all}/{{name}}"), about.1, handler);
            calls.add(call.without_sign_in().ok::<TemplateJson>());
        }
    }
}

/// The descriptions of the list and of one template.
fn describe(kind: TemplateKind) -> (&'static str, &'static str) {
    match kind {
        TemplateKind::Gitignore => {
            ("Lists the templates of ignored files", "Shows a template of ignored files")
        }
        TemplateKind::CiConfiguration => {
            ("Lists the templates of CI configurations", "Shows a template of a CI configuration")
        }
    }
}

parameters! {
    struct Choice {
        popular: bool = declared::boolean("popular").otherwise(false),
    }
}

parameters!(LicenseFields {
    project: declared::text("project", limit::SHORT).unless_empty(),
    fullname: declared::text("fullname", limit::SHORT).unless_empty(),
});

/// A licence in a response.
#[derive(Serialize, ToSchema)]
struct LicenseJson<'a> {
    key: &'a str,
    name: &'a str,
    nickname: Option<&'a str>,
    popular: bool,
    html_url: String,
    source_url: &'a str,
    description: &'a str,
    conditions: &'a [&'a str],
    permissions: &'a [&'a str],
    limitations: &'a [&'a str],
    content: &'a str,
}

impl<'a> LicenseJson<'a> {
    fn new(license: &'a License, content: &'a str) -> Self {
        Self {
            key: license.key,
            name: license.name,
            nickname: license.nickname,
            popular: license.popular,
            html_url: format!("http://choosealicense.com/licenses/{}/", license.key),
            source_url: license.source_url,
            description: license.description,
            conditions: license.conditions,
            permissions: license.permissions,
            limitations: license.limitations,
            content,
        }
    }
}

/// A template in a list.
#[derive(Serialize, ToSchema)]
struct TemplateNameJson {
    name: &'static str,
}

/// A template with its text.
#[derive(Serialize, ToSchema)]
struct TemplateJson {
    name: &'static str,
    content: &'static str,
}

async fn list_licenses(api: Api<Choice>) -> ApiResult<HttpResponse> {
    let (page, Choice { popular }) = (api.page_or_whole(), api.read()?);
    let found = page.slice(template::licenses(popular));
    respond::paged(&api, page, found.map(|license| LicenseJson::new(license, license.content)))
}

async fn get_license(api: Api<LicenseFields>, path: web::Path<String>) -> ApiResult<HttpResponse> {
    let (fields, key) = (api.read()?, path.into_inner());
    let find = move |app: &_, actor| template::license(app, actor, &key, &fields);
    let found = api.run_for_anyone(find).await?;
    match &found {
        Some((license, content)) => respond::ok(LicenseJson::new(license, content)),
        None => Err(missing("License")),
    }
}

async fn list_templates(api: Api, kind: TemplateKind) -> ApiResult<HttpResponse> {
    let page = api.page_or_whole();
    let found = page.slice(template::list(kind).to_vec());
    respond::paged(&api, page, found.map(|Template { name, .. }| TemplateNameJson { name }))
}

async fn get_template(
    _: Api,
    path: web::Path<String>,
    kind: TemplateKind,
) -> ApiResult<HttpResponse> {
    match template::find(kind, &path) {
        Some(Template { name, content }) => respond::ok(TemplateJson { name, content }),
        None => Err(missing(match kind {
            TemplateKind::Gitignore => "gitignore",
            TemplateKind::CiConfiguration => "gitlab_ci_yml",
        })),
    }
}

fn missing(what: &str) -> ApiError {
    ApiError::message(StatusCode::NOT_FOUND, format!("404 {what} Not Found"))
}
