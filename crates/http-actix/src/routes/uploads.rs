//! Uploaded files for use in texts of a project: the upload, and the download below the page of the project.

use std::io::{ErrorKind, Read, Write};

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, Charset, ContentDisposition,
    DispositionParam, DispositionType, ExtendedValue, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, web};
use hexforge_application::app::App;
use hexforge_application::browser_session;
use hexforge_application::error::{Entity, Error};
use hexforge_application::project::{avatar, upload};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::files::FilesError;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::uploads::StoredFile;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::project::upload::{UploadKey, UploadName, UploadSecret};
use hexforge_domain::text::Secret;
use serde::Deserialize;

use super::ids::ProjectPath;
use crate::api::{Api, ApiRequest, ApiWithFile};
use crate::call::{self, Calls};
use crate::entities::upload::UploadJson;
use crate::error::ApiResult;
use crate::params::FilePart;
use crate::respond;
use crate::shared::Shared;
use hexforge_http_edge::session_cookie;
use hexforge_http_edge::stream;

/// The size of the buffer for copying a file.
const BLOCK: usize = 64 * 1024;

/// Files up to this size are read at once, like those of repositories.
const SMALL: u64 = 256 * 1024;

/// Declares the call.
pub fn declare(calls: &mut Calls) {
    let about = "Uploads a file for use in texts of a project";
    calls.add(call::post("/projects/{id}/uploads", about, create).created::<UploadJson>());
}

/// Adds the routes of the files, which are not part of the API.
pub fn configure_files(cfg: &mut web::ServiceConfig) {
    for (path, route) in [
        ("/{namespace}/{project}/uploads/{secret}/{name}", web::get().to(show)),
        ("/{namespace}/{project}/avatar", web::get().to(show_avatar)),
    ] {
        super::open_resource(cfg, path, route);
    }
}

async fn create(call: ApiWithFile, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let ApiWithFile(api, file) = call;
    let (actor, project) = api
        .run(move |app, actor, ()| {
            upload::authorize(app, actor, &named).map(|project| (actor, project))
        })
        .await?;
    let file = file.ok_or(Error::NotGiven("file"))?;
    let _permit = api.permit(|limiter| &limiter.uploads, actor).await?;
    let key = receive(&api, project, file).await?;
    respond::created(UploadJson::from(key))
}

/// Receives a file block by block. After an error, no part of it stays.
async fn receive(api: &ApiRequest, project: ProjectId, mut file: FilePart) -> ApiResult<UploadKey> {
    let name = file.name().to_owned();
    let mut receiving = api.run_step(move |app| upload::begin(app, project, &name)).await?;
    while let Some(block) = file.next_block().await? {
        let append = api.run_step(move |_| {
            receiving.append(&block)?;
            Ok(receiving)
        });
        receiving = append.await?;
    }
    api.run_step(move |app| receiving.finish(app)).await
}

/// The parts of the path of a file.
#[derive(Deserialize)]
struct Address {
    namespace: String,
    project: String,
    secret: String,
    name: String,
}

/// The actor of a request for a file that pages show. Without a token, the session of the browser counts: pages show
/// pictures of projects that only their visitors may see.
fn visitor(app: &App, actor: Actor, session: Option<&Secret>) -> Result<Actor, Error> {
    let (Actor::Anonymous, Some(session)) = (actor, session) else { return Ok(actor) };
    let signed_in = browser_session::identify(app, session)?;
    Ok(signed_in.map_or(actor, |signed_in| signed_in.actor))
}

async fn show(
    api: Api,
    address: web::Path<Address>,
    request: HttpRequest,
    shared: web::Data<Shared>,
) -> ApiResult<HttpResponse> {
    let Address { namespace, project, secret, name } = address.into_inner();
    let (secret, name) = (UploadSecret::parse(&secret), UploadName::parse(&name));
    let (Some(secret), Some(name)) = (secret, name) else {
        return Err(Error::NotFound(Entity::Record).into());
    };
    let (named, given) = (ProjectRef::Path { namespace, path: project }, name.clone());
    let session = session_cookie::token(&shared.edge, &request);
    let (actor, file) = api
        .run_for_anyone(move |app, actor| {
            let actor = visitor(app, actor, session.as_ref())?;
            let file = upload::open(app, actor, &named, secret.clone(), given.clone())?;
            Ok((actor, file))
        })
        .await?;
    send_file(&api, actor.user(), file, response_for(&name)).await
}

async fn show_avatar(
    api: Api,
    of: web::Path<(String, String)>,
    request: HttpRequest,
    shared: web::Data<Shared>,
) -> ApiResult<HttpResponse> {
    let (namespace, path) = of.into_inner();
    let named = ProjectRef::Path { namespace, path };
    let session = session_cookie::token(&shared.edge, &request);
    let picture = api
        .run_for_anyone(move |app, actor| {
            avatar::get(app, visitor(app, actor, session.as_ref())?, &named)
        })
        .await?;
    let name = UploadName::parse(&picture.name).ok_or(Error::NotFound(Entity::Record))?;
    Ok(response_for(&name).body(picture.content))
}

/// Begins the response for a file. The headers keep browsers from running it: they may not guess its type, and show
/// only pictures and videos inline.
fn response_for(name: &UploadName) -> HttpResponseBuilder {
    let (disposition, media_type) = match inline_media_type(name) {
        Some(media_type) => (DispositionType::Inline, media_type),
        None => (DispositionType::Attachment, "application/octet-stream"),
    };
    let mut answer = HttpResponse::Ok();
    answer
        .insert_header((CONTENT_TYPE, media_type))
        .insert_header(ContentDisposition { disposition, parameters: vec![file_name(name)] })
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"))
        .insert_header((CACHE_CONTROL, "private"));
    answer
}

/// The media type of files that browsers may show inline. SVG is not among them, because it can contain scripts.
fn inline_media_type(name: &UploadName) -> Option<&'static str> {
    let (_, extension) = name.as_str().rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "bmp" => "image/bmp",
        "tiff" => "image/tiff",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "mp4" | "m4v" => "video/mp4",
        "mov" => "video/quicktime",
        "webm" => "video/webm",
        "ogv" => "video/ogg",
        _ => return None,
    })
}

fn file_name(name: &UploadName) -> DispositionParam {
    let text = name.as_str();
    if text.is_ascii() {
        return DispositionParam::Filename(text.to_owned());
    }
    let value = text.as_bytes().to_vec();
    DispositionParam::FilenameExt(ExtendedValue {
        charset: Charset::Ext("UTF-8".to_owned()),
        language_tag: None,
        value,
    })
}

/// Sends a stored file. A small file is read at once. A larger one needs a permit of the user, or of the client's
/// address, while it is sent, and the client has to read at the minimum rate.
pub(crate) async fn send_file(
    api: &ApiRequest,
    user: Option<UserId>,
    file: StoredFile,
    mut response: HttpResponseBuilder,
) -> ApiResult<HttpResponse> {
    let StoredFile { size, content } = file;
    if size <= SMALL {
        let mut bytes = Vec::new();
        let read = move |_: &App| {
            content.take(size).read_to_end(&mut bytes).map(|_| bytes).map_err(unreadable)
        };
        return Ok(response.body(api.run_step(read).await?));
    }
    let permit = api.permit_of(|limiter| &limiter.downloads, user).await?;
    let write = move |to: &mut dyn Write| copy_content(&mut content.take(size), to);
    let body = stream::start(api.limiter(), permit, write).await?;
    Ok(body.of_size(size, &mut response))
}

fn unreadable(error: std::io::Error) -> Error {
    FilesError("a stored file cannot be read".to_owned(), error.into()).into()
}

/// Copies the content of a stored file into a response.
pub(crate) fn copy_content(from: &mut dyn Read, to: &mut dyn Write) -> Result<(), GitError> {
    let mut block = vec![0; BLOCK];
    loop {
        let length = match from.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(GitError::Failed(unreadable(error).to_string())),
        };
        to.write_all(&block[..length]).map_err(GitError::ReaderGone)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_and_videos_are_shown_in_place_and_nothing_that_could_run() {
        let shown = |name: &str| inline_media_type(&UploadName::from_client(name));
        for (name, media_type) in
            [("a.png", "image/png"), ("A.JPEG", "image/jpeg"), ("x.webm", "video/webm")]
        {
            assert_eq!(shown(name), Some(media_type), "{name}");
        }
        for name in ["a.svg", "a.html", "a.png.html", "png", "a.txt", "a.pdf", "a.xml", "a.", "a"] {
            assert_eq!(shown(name), None, "{name}");
        }
    }
}
