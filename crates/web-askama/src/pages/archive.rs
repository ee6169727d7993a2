//! Archives of the files of a revision.

use std::io::Write;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_DISPOSITION;
use hexforge_application::project::page as project_page;
use hexforge_application::repository::{self, ArchiveContent};
use hexforge_domain::repository::ArchiveFormat;
use hexforge_http_edge::conditional::ETag;
use hexforge_http_edge::stream;

use super::project::{missing, other_spelling};
use crate::error::{PageError, PageResult};
use crate::render;
use crate::visit::Visit;

/// Sends an archive. `ref` in the query names the revision; without it, the default branch is sent.
pub(super) async fn send(visit: Visit) -> PageResult<HttpResponse> {
    let (named, client) = (visit.project(), visit.address());
    let name = visit.query("ref").map(str::to_owned);
    let file = visit.param("file");
    let format = file.strip_prefix("archive").and_then(|ending| match ending {
        "" => Some(ArchiveFormat::TarGz),
        ending => ending
            .strip_prefix('.')
            .filter(|ending| !ending.is_empty())
            .and_then(ArchiveFormat::parse),
    });
    let (viewer, (project, content)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            let readable = repository::readable(app, viewer.actor(), client, &named)?;
            let at = repository::revision_or_default(app, &readable, name.as_deref())?;
            let (at, format) = (at.ok_or_else(missing)?, format.ok_or_else(missing)?);
            Ok((project, repository::archive(&readable, at, format)))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let ArchiveContent { archive, repository } = content;
    let ending = archive.format.extension();
    let parts = [archive.folder.as_str(), ending, env!("CARGO_PKG_VERSION")].map(str::as_bytes);
    let tag = ETag::strong(&parts);
    if visit.if_none_match().has(&tag) {
        return Ok(render::not_modified(&tag));
    }
    let file_name = format!("attachment; filename=\"{}.{ending}\"", archive.folder);
    let media_type = match archive.format {
        ArchiveFormat::Zip => "application/zip",
        ArchiveFormat::TarGz | ArchiveFormat::Tar | ArchiveFormat::TarBz2 => {
            "application/octet-stream"
        }
    };
    let permit = visit.permit(|limiter| &limiter.archives, &viewer).await?;
    let write = move |to: &mut dyn Write| repository.write_archive(&archive, to);
    let body = stream::start(visit.limiter(), permit, write).await;
    let body = body.map_err(|error| PageError::of(error, viewer, false))?;
    let mut response = render::foreign_bytes(media_type);
    tag.put_on(&mut response);
    response.insert_header((CONTENT_DISPOSITION, file_name));
    Ok(body.of_unknown_size(&mut response))
}
