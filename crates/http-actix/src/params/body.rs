//! Reads request bodies.

use std::collections::HashMap;
use std::pin::Pin;

use actix_multipart::{Field, Multipart};
use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Bytes, BytesMut};
use actix_web::{HttpMessage, HttpRequest};
use futures_util::StreamExt;
use hexforge_domain::limiter::TransferLimits;
use serde_json::Value;

use super::file::{FilePart, MaxSize, file_name};
use super::form::Form;
use super::{MAX_PARAMS, Params, credentials, encoded, json, too_many};
use crate::error::{ApiError, ApiResult};
use crate::known_callers;
use crate::shared::Shared;
use hexforge_http_edge::client::client_address;
use hexforge_http_edge::permit;
use hexforge_http_edge::work;

/// The file that a call takes.
#[derive(Clone)]
pub struct WantedFile {
    /// The name of its parameter.
    pub field: &'static str,
    /// The maximum size.
    pub max: MaxSize,
    /// The minimum transfer rate of the sender.
    pub transfer: TransferLimits,
}

/// What a call takes from its body besides parameters, and whether a GET takes any.
#[derive(Clone, Default)]
pub struct BodyUse {
    /// The file.
    pub file: Option<WantedFile>,
    /// Whether the form of a GET has parameters. Otherwise the body of a GET is ignored.
    pub of_get: bool,
}

/// Reads the body of a request into its parameters. Stops at the wanted file and returns it unread. Ignores other
/// files.
pub(super) async fn read(
    request: &HttpRequest,
    payload: Payload,
    shared: &Shared,
    BodyUse { file: wanted, of_get }: BodyUse,
    values: &mut HashMap<String, Value>,
) -> ApiResult<Option<FilePart>> {
    let max = shared.settings.max_body;
    let media_type = request.content_type().trim().to_ascii_lowercase();
    let is_multipart = takes_body(request.method()) && media_type == "multipart/form-data";
    if is_multipart && wanted.is_some() {
        return read_multipart(request, payload, max, wanted, values).await;
    }
    let announced = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if announced
        .and_then(|length| length.parse::<u64>().ok())
        .is_some_and(|length| length > max as u64)
    {
        return Err(too_large());
    }
    if is_multipart {
        return read_multipart(request, payload, max, None, values).await;
    }
    // The body is always read to its end, because the rest would be parsed as the next request.
    let body = read_whole(payload, max).await?;
    // Some clients send a body with every request.
    let is_read = takes_body(request.method()) || of_get && media_type == FORM;
    if body.is_empty() || !is_read {
        return Ok(None);
    }
    let parse = match media_type.as_str() {
        "application/json" => read_json,
        FORM => read_form,
        "" if !request.headers().contains_key(CONTENT_TYPE) => read_form,
        other => {
            return Err(ApiError::error(
                StatusCode::NOT_ACCEPTABLE,
                format!("The requested content-type '{other}' is not supported."),
            ));
        }
    };
    if body.len() <= SMALL_BODY {
        parse(&body, values)?;
        return Ok(None);
    }
    // This thread also serves other connections. Parsing 10 MB of JSON takes longer than a hundred calls, so it is long
    // work.
    let shown = credentials(request, &Params::default());
    let caller = known_callers::caller(&shared.edge, &shown, client_address(request));
    let permit = permit::wait(&shared.edge.limiter.reads, caller).await?;
    let mut taken = std::mem::take(values);
    let parsed = move || parse(&body, &mut taken).map(|()| taken);
    *values = work::run_long(&shared.edge.limiter, permit, parsed).await??;
    Ok(None)
}

const FORM: &str = "application/x-www-form-urlencoded";

/// Larger bodies are parsed on a thread for long work.
const SMALL_BODY: usize = 64 << 10;

fn takes_body(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

async fn read_whole(mut payload: Payload, max: usize) -> ApiResult<Bytes> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| ApiError::bad_request("the body could not be read"))?;
        if body.len() + chunk.len() > max {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

pub(super) fn read_form(body: &[u8], values: &mut HashMap<String, Value>) -> ApiResult<()> {
    for (name, value) in encoded::pairs(body)? {
        encoded::insert(values, &name, value);
    }
    Ok(())
}

pub(super) fn read_json(body: &[u8], values: &mut HashMap<String, Value>) -> ApiResult<()> {
    match json::parse(body) {
        Ok(Value::Object(members)) if members.len() > MAX_PARAMS => Err(too_many()),
        Ok(Value::Object(members)) => {
            values.extend(members);
            Ok(())
        }
        Ok(Value::Null) => Ok(()),
        Ok(_) => Err(ApiError::bad_request("the body is not a JSON object")),
        Err(error) => Err(ApiError::bad_request(format!("the body is not valid JSON: {error}"))),
    }
}

async fn read_multipart(
    request: &HttpRequest,
    payload: Payload,
    max: usize,
    wanted: Option<WantedFile>,
    values: &mut HashMap<String, Value>,
) -> ApiResult<Option<FilePart>> {
    let (mut received, max_file) = (0, wanted.as_ref().map(|file| file.max.clone()));
    let limited = payload.map(move |chunk: Result<Bytes, PayloadError>| {
        let chunk = chunk?;
        // All bytes count, also those before and between the parts.
        received += chunk.len() as u64;
        let most = max as u64 + max_file.as_ref().map_or(0, MaxSize::bytes);
        if received > most { Err(PayloadError::Overflow) } else { Ok(chunk) }
    });
    let mut limited = limited.peekable();
    // Some clients announce a form, even without a boundary, and send an empty body.
    if Pin::new(&mut limited).peek().await.is_none() {
        return Ok(None);
    }
    let mut form = Form::new(Multipart::new(request.headers(), limited), max);
    while let Some(part) = form.next().await? {
        match wanted_file(&part, wanted.as_ref()) {
            Some((name, wanted)) => return Ok(Some(FilePart::new(name, part, form, wanted))),
            None => form.read_part(part, values).await?,
        }
    }
    Ok(None)
}

/// The file name of the part, if it is the wanted file.
fn wanted_file(part: &Field, wanted: Option<&WantedFile>) -> Option<(String, WantedFile)> {
    let wanted = wanted?;
    let field = part.content_disposition()?.get_name()?;
    let name = file_name(part).filter(|name| !name.is_empty() && field == wanted.field)?;
    Some((name, wanted.clone()))
}

pub(crate) fn too_large() -> ApiError {
    ApiError::message(StatusCode::PAYLOAD_TOO_LARGE, "413 Request Entity Too Large")
}
