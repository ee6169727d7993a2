//! The bytes of files. Nothing of them runs in a browser: text of any kind is plain text, pictures are what their
//! bytes say, and everything else is a download.

use std::io::Write;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_DISPOSITION;
use hexforge_application::repository::{self, Content};
use hexforge_http_edge::conditional::ETag;
use hexforge_http_edge::stream;

use super::file::{Address, Place, find_place};
use super::project::other_spelling;
use crate::error::{PageError, PageResult};
use crate::render;
use crate::visit::Visit;

/// The start of a file that decides about its type, as in git.
pub(super) const HEAD: usize = 8_000;

/// The media type of a picture, by its bytes.
pub(super) fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f' | b's', ..] => {
            Some("image/avif")
        }
        _ => None,
    }
}

/// Whether a file is not text.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(HEAD).any(|byte| *byte == 0)
}

const DOWNLOAD: &str = "application/octet-stream";

pub(super) async fn raw(visit: Visit) -> PageResult<HttpResponse> {
    let (place, known) = (Address::of(&visit), visit.if_none_match());
    let (viewer, (project, tag, found)) = visit
        .run(move |app, viewer| {
            let Place { project, located } = find_place(app, viewer.actor(), &place)?;
            let file = repository::file(located.at, &located.path)?;
            let tag = ETag::strong(&[file.id().to_string().as_bytes()]);
            if known.has(&tag) {
                return Ok((project, tag, None));
            }
            let head = file.head(HEAD)?;
            Ok((project, tag, Some((head, file.content()?))))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let Some((head, content)) = found else { return Ok(render::not_modified(&tag)) };
    let media_type = match picture_type(&head) {
        Some(picture) => picture,
        None if is_binary(&head) => DOWNLOAD,
        None => "text/plain; charset=utf-8",
    };
    let mut response = render::foreign_bytes(media_type);
    tag.put_on(&mut response);
    if media_type == DOWNLOAD {
        response.insert_header((CONTENT_DISPOSITION, "attachment"));
    }
    let (blob, repository) = match content {
        Content::Small(bytes) => return Ok(response.body(bytes)),
        Content::Large(blob, repository) => (blob, repository),
    };
    let permit = visit.permit(|limiter| &limiter.blobs, &viewer).await?;
    let write = move |to: &mut dyn Write| repository.write_blob(blob.id, to);
    let body = stream::start(visit.limiter(), permit, write).await;
    let body = body.map_err(|error| PageError::of(error, viewer, false))?;
    Ok(body.of_size(blob.size, &mut response))
}
