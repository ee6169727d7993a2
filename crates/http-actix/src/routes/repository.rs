//! What is in repositories. Who may not read the code is told so before the parameters are read.

use std::io::Write;

use actix_web::http::header::{self, ContentType};
use actix_web::{HttpResponse, web};
use hexforge_application::error::{Error, Thing};
use hexforge_application::repository::{self, ArchiveContent, Content, FoundFile, Revision};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::git::Depth;
use hexforge_domain::repository::ArchiveFormat;
use hexforge_domain::text::limit;
use serde::Deserialize;

use super::ids::ProjectPath;
use super::table::Table;
use crate::api::Api;
use crate::conditional::{ETag, Known};
use crate::entities::repository::{ComparisonJson, ContributorJson, TreeEntryJson};
use crate::error::{ApiError, ApiResult};
use crate::openapi::{self as doc, Description};
use crate::params::Params;
use crate::{respond, stream};

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/repository/tree", web::get().to(tree));
    cfg.route("/projects/{id}/repository/blobs/{sha}", web::get().to(file));
    cfg.route("/projects/{id}/repository/commits/{sha}/blob", web::get().to(file));
    cfg.route("/projects/{id}/repository/raw_blobs/{sha}", web::get().to(raw_blob));
    cfg.route("/projects/{id}/repository/archive", web::get().to(archive));
    cfg.route("/projects/{id}/repository/archive.{format}", web::get().to(archive));
    cfg.route("/projects/{id}/repository/compare", web::get().to(compare));
    cfg.route("/projects/{id}/repository/contributors", web::get().to(contributors));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Repository content");
    let at = |path: &str| format!("/projects/:id/repository/{path}");
    let folder = [
        doc::text("path", limit::LOOKUP),
        doc::text("ref_name", limit::REF_NAME),
        doc::boolean("recursive"),
    ];
    let tree = doc::get(at("tree"), "What is in a folder");
    to.add(tree.takes(&folder).list::<TreeEntryJson<'_>>());
    for path in ["blobs/:sha", "commits/:sha/blob"] {
        let file = doc::get(at(path), "The content of a file of a revision");
        to.add(file.takes(&[doc::text("filepath", limit::LOOKUP).needed()]).bytes("text/plain"));
    }
    to.add(doc::get(at("raw_blobs/:sha"), "The content of that name").bytes("text/plain"));
    let archive = doc::get(at("archive"), "All files; the path may end in a format such as `.zip`");
    to.add(archive.takes(&[doc::text("sha", limit::REF_NAME)]).bytes("application/octet-stream"));
    let between =
        [doc::text("from", limit::REF_NAME).needed(), doc::text("to", limit::REF_NAME).needed()];
    let compare = doc::get(at("compare"), "What lies between two revisions");
    to.add(compare.takes(&between).ok::<ComparisonJson<'_>>());
    to.add(doc::get(at("contributors"), "Who wrote what").list::<ContributorJson>());
}

async fn tree(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), asked_page(&api));
    let (known, address) = (api.known(), api.peer());
    let (tag, entries) = api
        .run(move |app, actor, params| {
            let project = repository::readable(app, actor, address, &named)?;
            let path = params.text("path")?.unwrap_or_default();
            let revision = params.text("ref_name")?;
            let depth = match params.said_switch("recursive")? {
                Some(true) => Depth::Recursive,
                Some(false) | None => Depth::Folder,
            };
            let at = repository::revision_or_default(app, &project, revision.as_deref())?;
            let at = at.ok_or(Error::NotFound(Thing::Tree))?;
            let tag = ETag::of_commits("tree", &[at.commit()]);
            if known.has(&tag) {
                return Ok((tag, None));
            }
            let entries = page.cut(repository::tree(&at, &path, depth)?);
            let shown: Vec<_> = entries.items.iter().map(TreeEntryJson::from).collect();
            Ok((tag, Some((entries.total, respond::written(&shown)?))))
        })
        .await?;
    let Some((total, json)) = entries else { return respond::known(&tag) };
    let mut response = HttpResponse::Ok();
    tag.put_on(&mut response);
    api.page_headers(&mut response, page, total);
    Ok(response.content_type(ContentType::json()).body(json))
}

async fn file(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), revision) = path.into_inner();
    let (known, address) = (api.known(), api.peer());
    let found = api
        .run(move |app, actor, params| {
            let project = repository::readable(app, actor, address, &named)?;
            let path = given(params, "filepath")?;
            let at = repository::revision(app, &project, &revision)?;
            let at = at.ok_or(Error::NotFound(Thing::Commit))?;
            Ok((actor, read(&known, repository::file(at, &path)?)?))
        })
        .await?;
    send(&api, found).await
}

async fn raw_blob(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let (known, address) = (api.known(), api.peer());
    let found = api
        .run(move |app, actor, _| {
            let project = repository::readable(app, actor, address, &named)?;
            Ok((actor, read(&known, repository::blob(app, &project, &name)?)?))
        })
        .await?;
    send(&api, found).await
}

/// A file's content, unless the caller knows it. It is named by its bytes already.
fn read(known: &Known, file: FoundFile) -> ApiResult<(ETag, Option<Content>)> {
    let tag = ETag::strong(&[file.id().to_string().as_bytes()]);
    Ok(if known.has(&tag) { (tag, None) } else { (tag, Some(file.content()?)) })
}

/// A file's bytes as they are. They are text to a browser whatever they are, so that nothing in them runs.
async fn send(
    api: &Api,
    (actor, (tag, content)): (Actor, (ETag, Option<Content>)),
) -> ApiResult<HttpResponse> {
    let Some(content) = content else { return respond::known(&tag) };
    let mut response = HttpResponse::Ok();
    tag.put_on(&mut response);
    response.content_type("text/plain").insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    match content {
        Content::Small(bytes) => Ok(response.body(bytes)),
        Content::Large(blob, repository) => {
            let permit = api.permit(|limiter| &limiter.blobs, actor).await?;
            let write = move |to: &mut dyn Write| repository.write_blob(blob.id, to);
            let body = stream::start(api.limiter(), permit, write).await?;
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
    let address = api.peer();
    let (actor, content) = api
        .run(move |app, actor, params| {
            let project = repository::readable(app, actor, address, &named)?;
            let revision = params.text("sha")?;
            let at = repository::revision_or_default(app, &project, revision.as_deref())?;
            let at = at.ok_or(Error::NotFound(Thing::File))?;
            Ok((actor, repository::archive(&project, at, format)))
        })
        .await?;
    let ArchiveContent { archive, repository } = content;
    let version = env!("CARGO_PKG_VERSION");
    let parts = [archive.folder.as_str(), format.extension(), version].map(str::as_bytes);
    let tag = ETag::strong(&parts);
    if api.known().has(&tag) {
        return respond::known(&tag);
    }
    let name = format!("{}.{}", archive.folder, format.extension());
    let permit = api.permit(|limiter| &limiter.archives, actor).await?;
    let write = move |to: &mut dyn Write| repository.write_archive(&archive, to);
    let body = stream::start(api.limiter(), permit, write).await?;
    let mut response = HttpResponse::Ok();
    tag.put_on(&mut response);
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
    let (known, address) = (api.known(), api.peer());
    let (actor, tag, between) = api
        .run(move |app, actor, params| {
            let project = repository::readable(app, actor, address, &named)?;
            let (from, to) = (given(params, "from")?, given(params, "to")?);
            let revision = |name: &str| repository::revision(app, &project, name.trim());
            let (from, to) = (revision(&from)?, revision(&to)?);
            let commits = from.iter().chain(&to).map(Revision::commit).collect::<Vec<_>>();
            let tag = ETag::of_commits("compare", &commits);
            let tag = (commits.len() == 2).then_some(tag);
            let is_known = tag.as_ref().is_some_and(|tag| known.has(tag));
            Ok((actor, tag, (!is_known).then_some((from, to))))
        })
        .await?;
    let (from, to) = match (between, tag.as_ref()) {
        (Some(between), _) => between,
        (None, Some(tag)) => return respond::known(tag),
        (None, None) => (None, None),
    };
    let permit = api.permit(|limiter| &limiter.comparisons, actor).await?;
    let compare = move || {
        let view = repository::compare(from.as_ref(), to.as_ref())?;
        Ok((view.comparison.overflow, respond::written(&ComparisonJson::from(&view))?))
    };
    let (overflow, json) = api.run_permitted(permit, compare).await?;
    let mut response = HttpResponse::Ok();
    // What was too much for one answer may be less or more the next time.
    if let Some(tag) = tag.filter(|_| !overflow) {
        tag.put_on(&mut response);
    }
    Ok(response.content_type(ContentType::json()).body(json))
}

async fn contributors(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), asked_page(&api));
    let (known, address) = (api.known(), api.peer());
    let (actor, tag, tip) = api
        .run(move |app, actor, _| {
            let project = repository::readable(app, actor, address, &named)?;
            let tip = repository::revision_or_default(app, &project, None)?;
            let tip = tip.ok_or(Error::NotFound(Thing::Nameless))?;
            let tag = ETag::of_commits("contributors", &[tip.commit()]);
            let tip = (!known.has(&tag)).then_some(tip);
            Ok((actor, tag, tip))
        })
        .await?;
    let Some(tip) = tip else { return respond::known(&tag) };
    let permit = api.permit(|limiter| &limiter.contributors, actor).await?;
    let all = api.run_permitted(permit, move || Ok(repository::contributors(&tip)?)).await?;
    let authors = page.cut(all.authors).map(ContributorJson::from);
    let mut response = HttpResponse::Ok();
    if all.complete {
        tag.put_on(&mut response);
    } else {
        // More of it may be counted the next time, of the same commit.
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
