//! Content of repositories. Permission to read the code is checked before the parameters.

use std::io::Write;

use actix_web::http::header::{self, ContentType};
use actix_web::{HttpResponse, web};
use hexforge_application::error::{Entity, Error};
use hexforge_application::repository::{self, ArchiveContent, Content, FoundFile, Revision};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::git::Depth;
use hexforge_domain::repository::ArchiveFormat;
use hexforge_domain::text::limit;
use serde::Deserialize;

use super::ids::ProjectPath;
use crate::api::{Api, ApiRequest};
use crate::call::{self, Calls};
use crate::entities::repository::{ComparisonJson, ContributorJson, TreeEntryJson};
use crate::error::{ApiError, ApiResult};
use crate::params::{parameters, picked};
use crate::respond;
use hexforge_http_edge::conditional::{ETag, IfNoneMatch};
use hexforge_http_edge::stream;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Repository content");
    let at = |path: &str| format!("/projects/{{id}}/repository/{path}");
    calls.add(
        call::get(at("tree"), "Lists the entries of a folder", tree).list::<TreeEntryJson<'_>>(),
    );
    for path in ["blobs/{sha}", "commits/{sha}/blob"] {
        let file = call::get(at(path), "Downloads a file of a revision", file);
        calls.add(file.bytes("text/plain"));
    }
    let raw_blob = call::get(at("raw_blobs/{sha}"), "Downloads a blob by its id", raw_blob);
    calls.add(raw_blob.bytes("text/plain"));
    let about = "Downloads an archive of all files; the path may end in a format such as `.zip`";
    let archive = call::get(at("archive"), about, archive)
        .also_at("/projects/{id}/repository/archive.{format}");
    calls.add(archive.bytes("application/octet-stream"));
    let compare = call::get(at("compare"), "Compares two revisions", compare);
    calls.add(compare.ok::<ComparisonJson<'_>>());
    let contributors = call::get(at("contributors"), "Lists the contributors", contributors);
    calls.add(contributors.list::<ContributorJson>());
}

parameters! {
    struct Folder {
        path: String = picked::text("path", limit::LOOKUP).map(Option::unwrap_or_default),
        revision: Option<String> = picked::text("ref_name", limit::REF_NAME),
        depth: Depth = picked::switch_or_false("recursive").map(depth),
    }
}

fn depth(recursive: Option<bool>) -> Depth {
    match recursive {
        Some(true) => Depth::Recursive,
        Some(false) | None => Depth::Folder,
    }
}

parameters! {
    struct AtPath {
        path: String = picked::needed_text("filepath", limit::LOOKUP),
    }
}

parameters! {
    struct OfRevision {
        revision: Option<String> = picked::text("sha", limit::REF_NAME),
    }
}

parameters! {
    struct Between {
        from: String = picked::needed_text("from", limit::REF_NAME),
        to: String = picked::needed_text("to", limit::REF_NAME),
    }
}

async fn tree(api: Api<Folder>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page_or_whole();
    let (known, address) = (api.if_none_match(), api.peer());
    let (tag, entries) = api
        .run_unread(move |app, actor, unread| {
            let project = repository::readable(app, actor, address, &named)?;
            let Folder { path, revision, depth } = unread.read()?;
            let at = repository::revision_or_default(app, &project, revision.as_deref())?;
            let at = at.ok_or(Error::NotFound(Entity::Tree))?;
            let tag = ETag::of_commits("tree", &[at.commit()]);
            if known.has(&tag) {
                return Ok((tag, None));
            }
            let entries = page.slice(repository::tree(&at, &path, depth)?);
            let shown: Vec<_> = entries.items.iter().map(TreeEntryJson::from).collect();
            Ok((tag, Some((entries.total, respond::to_json(&shown)?))))
        })
        .await?;
    let Some((total, json)) = entries else { return respond::not_modified(&tag) };
    let mut response = HttpResponse::Ok();
    tag.put_on(&mut response);
    api.page_headers(&mut response, page, total);
    Ok(response.content_type(ContentType::json()).body(json))
}

async fn file(api: Api<AtPath>, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), revision) = path.into_inner();
    let (known, address) = (api.if_none_match(), api.peer());
    let found = api
        .run_unread(move |app, actor, unread| {
            let project = repository::readable(app, actor, address, &named)?;
            let AtPath { path } = unread.read()?;
            let at = repository::revision(app, &project, &revision)?;
            let at = at.ok_or(Error::NotFound(Entity::Commit))?;
            Ok((actor, read(&known, repository::file(at, &path)?)?))
        })
        .await?;
    send(&api, found).await
}

async fn raw_blob(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let (known, address) = (api.if_none_match(), api.peer());
    let found = api
        .run_unread(move |app, actor, _| {
            let project = repository::readable(app, actor, address, &named)?;
            Ok((actor, read(&known, repository::blob(app, &project, &name)?)?))
        })
        .await?;
    send(&api, found).await
}

/// Returns the entity tag of a file, and its content unless the client has it. The tag is derived from the id of
/// the blob, which depends only on its bytes.
fn read(known: &IfNoneMatch, file: FoundFile) -> ApiResult<(ETag, Option<Content>)> {
    let tag = ETag::strong(&[file.id().to_string().as_bytes()]);
    Ok(if known.has(&tag) { (tag, None) } else { (tag, Some(file.content()?)) })
}

/// Sends the bytes of a file unchanged. The media type is always plain text, so that a browser runs nothing.
async fn send(
    api: &ApiRequest,
    (actor, (tag, content)): (Actor, (ETag, Option<Content>)),
) -> ApiResult<HttpResponse> {
    let Some(content) = content else { return respond::not_modified(&tag) };
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

/// The path of an archive. It may end in the format.
#[derive(Deserialize)]
struct ArchivePath {
    id: ProjectPath,
    #[serde(default)]
    format: String,
}

async fn archive(api: Api<OfRevision>, path: web::Path<ArchivePath>) -> ApiResult<HttpResponse> {
    let ArchivePath { id: ProjectPath(named), format } = path.into_inner();
    let format = ArchiveFormat::parse(&format).ok_or_else(ApiError::no_route)?;
    let address = api.peer();
    let (actor, content) = api
        .run_unread(move |app, actor, unread| {
            let project = repository::readable(app, actor, address, &named)?;
            let OfRevision { revision } = unread.read()?;
            let at = repository::revision_or_default(app, &project, revision.as_deref())?;
            let at = at.ok_or(Error::NotFound(Entity::File))?;
            Ok((actor, repository::archive(&project, at, format)))
        })
        .await?;
    let ArchiveContent { archive, repository } = content;
    let version = env!("CARGO_PKG_VERSION");
    let parts = [archive.folder.as_str(), format.extension(), version].map(str::as_bytes);
    let tag = ETag::strong(&parts);
    if api.if_none_match().has(&tag) {
        return respond::not_modified(&tag);
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

async fn compare(api: Api<Between>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let (known, address) = (api.if_none_match(), api.peer());
    let (actor, tag, between) = api
        .run_unread(move |app, actor, unread| {
            let project = repository::readable(app, actor, address, &named)?;
            let Between { from, to } = unread.read()?;
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
        (None, Some(tag)) => return respond::not_modified(tag),
        (None, None) => (None, None),
    };
    let permit = api.permit(|limiter| &limiter.comparisons, actor).await?;
    let compare = move || {
        let view = repository::compare(from.as_ref(), to.as_ref())?;
        Ok((view.comparison.overflow, respond::to_json(&ComparisonJson::from(&view))?))
    };
    let (overflow, json) = api.run_permitted(permit, compare).await?;
    let mut response = HttpResponse::Ok();
    // A truncated comparison may differ the next time.
    if let Some(tag) = tag.filter(|_| !overflow) {
        tag.put_on(&mut response);
    }
    Ok(response.content_type(ContentType::json()).body(json))
}

async fn contributors(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page_or_whole();
    let (known, address) = (api.if_none_match(), api.peer());
    let (actor, tag, tip) = api
        .run_unread(move |app, actor, _| {
            let project = repository::readable(app, actor, address, &named)?;
            let tip = repository::revision_or_default(app, &project, None)?;
            let tip = tip.ok_or(Error::NotFound(Entity::Unnamed))?;
            let tag = ETag::of_commits("contributors", &[tip.commit()]);
            let tip = (!known.has(&tag)).then_some(tip);
            Ok((actor, tag, tip))
        })
        .await?;
    let Some(tip) = tip else { return respond::not_modified(&tag) };
    let permit = api.permit(|limiter| &limiter.contributors, actor).await?;
    let all = api.run_permitted(permit, move || Ok(repository::contributors(&tip)?)).await?;
    let authors = page.slice(all.authors).map(ContributorJson::from);
    let mut response = HttpResponse::Ok();
    if all.complete {
        tag.put_on(&mut response);
    } else {
        // The next request for the same commit may count more of the history.
        response.insert_header(("X-Hexforge-Partial", "true"));
    }
    api.page_headers(&mut response, page, authors.total);
    Ok(response.json(authors.items))
}
