//! What is in repositories. Who may not read the code is told so before the parameters are read.

use actix_web::http::header::{self, ContentType};
use actix_web::{HttpResponse, web};
use hexforge_application::error::Error;
use hexforge_application::repository::{self, ArchiveContent, Content};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::git::Depth;
use hexforge_domain::repository::ArchiveFormat;
use serde::Deserialize;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::entities::repository::{ComparisonJson, ContributorJson, TreeEntryJson};
use crate::error::{ApiError, ApiResult};
use crate::params::Params;
use crate::{respond, stream};

/// Adds the routes.
pub fn configure(cfg: &mut web::ServiceConfig) {
    cfg.route("/projects/{id}/repository/tree", web::get().to(tree));
    cfg.route("/projects/{id}/repository/blobs/{sha}", web::get().to(file));
    cfg.route("/projects/{id}/repository/commits/{sha}/blob", web::get().to(file));
    cfg.route("/projects/{id}/repository/raw_blobs/{sha}", web::get().to(raw_blob));
    cfg.route("/projects/{id}/repository/archive", web::get().to(archive));
    cfg.route("/projects/{id}/repository/archive.{format}", web::get().to(archive));
    cfg.route("/projects/{id}/repository/compare", web::get().to(compare));
    cfg.route("/projects/{id}/repository/contributors", web::get().to(contributors));
}

async fn tree(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), asked_page(&api));
    let (total, json) = api
        .run(move |app, actor, params| {
            let project = repository::authorize(app, actor, &named)?;
            let path = params.text("path")?.unwrap_or_default();
            let revision = params.text("ref_name")?;
            let depth = match params.said_switch("recursive")? {
                Some(true) => Depth::Recursive,
                Some(false) | None => Depth::Folder,
            };
            let all = repository::tree(app, &project, revision.as_deref(), &path, depth)?;
            let entries = page.cut(all);
            let shown: Vec<_> = entries.items.iter().map(TreeEntryJson::from).collect();
            Ok((entries.total, respond::written(&shown)?))
        })
        .await?;
    let mut response = HttpResponse::Ok();
    api.page_headers(&mut response, page, total);
    Ok(response.content_type(ContentType::json()).body(json))
}

async fn file(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), revision) = path.into_inner();
    let (actor, content) = api
        .run(move |app, actor, params| {
            let project = repository::authorize(app, actor, &named)?;
            let path = given(params, "filepath")?;
            Ok((actor, repository::file(app, &project, &revision, &path)?))
        })
        .await?;
    send(&api, actor, content).await
}

async fn raw_blob(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let (actor, content) = api
        .run(move |app, actor, _| {
            let project = repository::authorize(app, actor, &named)?;
            Ok((actor, repository::blob(app, &project, &name)?))
        })
        .await?;
    send(&api, actor, content).await
}

/// A file's bytes as they are. They are text to a browser whatever they are, so that nothing in them runs.
async fn send(api: &Api, actor: Actor, content: Content) -> ApiResult<HttpResponse> {
    let mut response = HttpResponse::Ok();
    response.content_type("text/plain").insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    match content {
        Content::Small(bytes) => Ok(response.body(bytes)),
        Content::Large(blob, repository) => {
            let turn = api.turn_to_stream(actor).await?;
            let body = stream::start(turn, move |to| repository.write_blob(blob.id, to)).await?;
            Ok(body.of_size(blob.size, &mut response))
        }
    }
}

/// The path of an archive, which may tell its format.
#[derive(Deserialize)]
struct ArchivePath {
    id: ProjectPath,
    #[serde(default)]
    format: String,
}

async fn archive(api: Api, path: web::Path<ArchivePath>) -> ApiResult<HttpResponse> {
    let ArchivePath { id: ProjectPath(named), format } = path.into_inner();
    let format = ArchiveFormat::parse(&format).ok_or_else(ApiError::no_route)?;
    let (actor, content) = api
        .run(move |app, actor, params| {
            let project = repository::authorize(app, actor, &named)?;
            let revision = params.text("sha")?;
            Ok((actor, repository::archive(app, &project, revision.as_deref(), format)?))
        })
        .await?;
    let ArchiveContent { archive, repository } = content;
    let name = format!("{}.{}", archive.folder, format.extension());
    let turn = api.turn_to_stream(actor).await?;
    let body = stream::start(turn, move |to| repository.write_archive(&archive, to)).await?;
    let mut response = HttpResponse::Ok();
    response
        .content_type(match format {
            ArchiveFormat::Zip => "application/zip",
            ArchiveFormat::TarGz | ArchiveFormat::Tar | ArchiveFormat::TarBz2 => {
                "application/octet-stream"
            }
        })
        .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")))
        .insert_header(("Content-Transfer-Encoding", "binary"))
        .insert_header((header::CACHE_CONTROL, "private"));
    Ok(body.of_unknown_size(&mut response))
}

async fn compare(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    let json = api
        .run(move |app, actor, params| {
            let project = repository::authorize(app, actor, &named)?;
            let (from, to) = (given(params, "from")?, given(params, "to")?);
            let view = repository::compare(app, &project, &from, &to)?;
            respond::written(&ComparisonJson::from(&view))
        })
        .await?;
    Ok(HttpResponse::Ok().content_type(ContentType::json()).body(json))
}

async fn contributors(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), asked_page(&api));
    let all = api
        .run(move |app, actor, _| {
            let project = repository::authorize(app, actor, &named)?;
            Ok(repository::contributors(app, &project)?)
        })
        .await?;
    let authors = page.cut(all.authors).map(ContributorJson::from);
    let mut response = HttpResponse::Ok();
    if !all.complete {
        response.insert_header(("X-Hexforge-Partial", "true"));
    }
    api.page_headers(&mut response, page, authors.total);
    Ok(response.json(authors.items))
}

/// The page that is asked for; everything when none is.
fn asked_page(api: &Api) -> Page {
    let params = api.params();
    if params.has("page") || params.has("per_page") { api.page() } else { Page::Whole }
}

/// A text that has to be there.
fn given(params: &Params, name: &'static str) -> ApiResult<String> {
    Ok(params.text(name)?.ok_or(Error::NotGiven(name))?)
}
