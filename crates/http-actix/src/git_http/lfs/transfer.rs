//! Downloads and uploads of the content of objects.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    HeaderName, IF_RANGE, RANGE, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponse, web};
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::lfs::{self, LfsProject};
use hexforge_domain::lfs::{LfsObject, LfsOid, LfsOperation};
use hexforge_http_edge::{permit, stream, work};
use hexforge_io_bridge::Watched;

use super::answer::LfsError;
use super::range::Wanted;
use super::{Client, ObjectAddress};
use crate::git_http::body::{self, Incoming};
use crate::git_http::caller;
use crate::routes::uploads::copy_content;
use crate::shared::Shared;

/// The maximum number of bytes that are read and discarded after an upload was refused.
const MAX_DISCARDED: usize = 256 << 10;

/// The time after which the account and the permission of a running transfer are checked again.
const RECHECK: Duration = Duration::from_secs(30);

fn header(request: &HttpRequest, name: HeaderName) -> Option<&str> {
    request.headers().get(name)?.to_str().ok()
}

/// Sends the content of an object, or a part of it.
pub(super) async fn download(
    request: &HttpRequest,
    shared: &web::Data<Shared>,
    address: ObjectAddress,
) -> Result<HttpResponse, LfsError> {
    let client = Client::identify(request, shared).await?;
    let (named, oid, _) = address.into_parts();
    let project = client.admit(shared, LfsOperation::Download, named).await?;
    let oid = LfsOid::parse(&oid).ok_or(LfsError::NotFound)?;
    let object = find(shared, client, &project, oid).await?.ok_or(LfsError::NotFound)?;
    let tag = format!("\"{oid}\"");
    // A client that resumes another content gets the whole content.
    let is_same = header(request, IF_RANGE).is_none_or(|condition| condition == tag);
    let wanted = header(request, RANGE).filter(|_| is_same);
    let (status, range) = match Wanted::parse(wanted, object.size) {
        Wanted::Whole => (StatusCode::OK, 0..object.size),
        Wanted::Part(range) => (StatusCode::PARTIAL_CONTENT, range),
        Wanted::Unsatisfiable => return Err(LfsError::Range(object.size)),
    };
    let mut response = HttpResponse::build(status);
    response
        .insert_header((CONTENT_TYPE, "application/octet-stream"))
        .insert_header((ACCEPT_RANGES, "bytes"))
        .insert_header((ETAG, tag))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"));
    if status == StatusCode::PARTIAL_CONTENT {
        let shown = format!("bytes {}-{}/{}", range.start, range.end - 1, object.size);
        response.insert_header((CONTENT_RANGE, shown));
    }
    let length = range.end - range.start;
    let permit = permit::wait(&shared.edge.limiter.downloads, client.holder).await?;
    let (app, requester) = (Arc::clone(&shared.edge.app), client.requester);
    let write = move |to: &mut dyn Write| {
        let file = lfs::open(&app, &project, object, range.start)?;
        let is_allowed = || lfs::may_continue(&app, requester, LfsOperation::Download, &project);
        let mut to = Watched::new(to, RECHECK, is_allowed);
        Ok::<_, Error>(copy_content(&mut file.content.take(length), &mut to)?)
    };
    let body = stream::start(&shared.edge.limiter, permit, write).await?;
    Ok(body.of_size(length, &mut response))
}

async fn find(
    shared: &web::Data<Shared>,
    client: Client,
    project: &LfsProject,
    oid: LfsOid,
) -> Result<Option<LfsObject>, LfsError> {
    let project = project.clone();
    let find = move |app: &App| lfs::find(app, &project, oid);
    Ok(caller::blocking(shared, client.holder, find).await?)
}

/// Receives the content of an object.
pub(super) async fn upload(
    request: &HttpRequest,
    shared: &web::Data<Shared>,
    address: ObjectAddress,
    payload: web::Payload,
) -> Result<HttpResponse, LfsError> {
    let client = Client::identify(request, shared).await?;
    let (named, oid, size) = address.into_parts();
    let project = client.admit(shared, LfsOperation::Upload, named).await?;
    let object = parse_object(&oid, &size)
        .ok_or(LfsError::unprocessable("The oid or the size in the path is not valid."))?;
    let announced = header(request, CONTENT_LENGTH).and_then(|length| length.parse().ok());
    if announced.is_some_and(|length: u64| length != object.size) {
        let message = "The length of the content differs from the size in the path.";
        return Err(LfsError::unprocessable(message));
    }
    // The beginning is read before there is a permit, so that a client that sends little or nothing holds none.
    let limits = shared.edge.limiter.transfer;
    let mut incoming = Incoming::new(payload, limits);
    let early = incoming.beginning().await;
    let permit = permit::wait(&shared.edge.limiter.lfs_uploads, client.holder).await?;
    let (app, requester) = (Arc::clone(&shared.edge.app), client.requester);
    let (sender, content) = body::channel(limits);
    let received = work::run_long(&shared.edge.limiter, permit, move || {
        let is_allowed = || lfs::may_continue(&app, requester, LfsOperation::Upload, &project);
        let mut content = Watched::new(content, RECHECK, is_allowed);
        lfs::receive(&app, requester, &project, object, &mut content)
    });
    let pumped = body::pump(early, incoming, sender, MAX_DISCARDED);
    let (received, ()) = futures_util::future::join(received, pumped).await;
    received??;
    Ok(HttpResponse::Ok().finish())
}

fn parse_object(oid: &str, size: &str) -> Option<LfsObject> {
    let are_digits = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit());
    let size = size.parse().ok().filter(|size| are_digits && i64::try_from(*size).is_ok())?;
    Some(LfsObject { oid: LfsOid::parse(oid)?, size })
}
