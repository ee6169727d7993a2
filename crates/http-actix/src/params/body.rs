//! Bodies of requests.

use std::collections::HashMap;
use std::pin::Pin;

use actix_multipart::{Multipart, MultipartError};
use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Bytes, BytesMut};
use actix_web::{HttpMessage, HttpRequest};
use futures_util::StreamExt;
use serde_json::Value;

use super::{MAX_PARAMS, encoded, json, too_many};
use crate::error::{ApiError, ApiResult};

/// Reads the body of a request into the set of its parameters.
pub(super) async fn read(
    request: &HttpRequest,
    payload: Payload,
    max: usize,
    values: &mut HashMap<String, Value>,
) -> ApiResult<()> {
    let announced = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if announced
        .and_then(|length| length.parse::<u64>().ok())
        .is_some_and(|length| length > max as u64)
    {
        return Err(too_large());
    }
    let media_type = request.content_type().trim().to_ascii_lowercase();
    if takes_body(request.method()) && media_type == "multipart/form-data" {
        return read_multipart(request, payload, max, values).await;
    }
    // Read in any case: what is left of a body would be taken for the next request.
    let body = read_whole(payload, max).await?;
    // Some clients send a body with everything; on a read it means nothing.
    if body.is_empty() || !takes_body(request.method()) {
        return Ok(());
    }
    match media_type.as_str() {
        "application/json" => read_json(&body, values),
        "application/x-www-form-urlencoded" => read_form(&body, values),
        "" if !request.headers().contains_key(CONTENT_TYPE) => read_form(&body, values),
        other => Err(ApiError::error(
            StatusCode::NOT_ACCEPTABLE,
            format!("The requested content-type '{other}' is not supported."),
        )),
    }
}

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

fn read_form(body: &[u8], values: &mut HashMap<String, Value>) -> ApiResult<()> {
    for (name, value) in encoded::pairs(body)? {
        encoded::insert(values, &name, value);
    }
    Ok(())
}

fn read_json(body: &[u8], values: &mut HashMap<String, Value>) -> ApiResult<()> {
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
    values: &mut HashMap<String, Value>,
) -> ApiResult<()> {
    let mut left = max;
    let limited = payload.map(move |chunk: Result<Bytes, PayloadError>| {
        let chunk = chunk?;
        // Everything counts, also what stands between and before the parts.
        left = left.checked_sub(chunk.len()).ok_or(PayloadError::Overflow)?;
        Ok(chunk)
    });
    let mut limited = limited.peekable();
    // Some clients announce a form, even without its boundary, and send none.
    if Pin::new(&mut limited).peek().await.is_none() {
        return Ok(());
    }
    let broken = |error| match error {
        MultipartError::Payload(PayloadError::Overflow) => too_large(),
        _ => ApiError::bad_request("the body is not valid multipart/form-data"),
    };
    let mut parts = Multipart::new(request.headers(), limited);
    let mut count = 0;
    while let Some(part) = parts.next().await {
        let mut part = part.map_err(broken)?;
        count += 1;
        if count > MAX_PARAMS {
            return Err(too_many());
        }
        let disposition = part.content_disposition();
        let name = disposition.and_then(|given| given.get_name()).map(str::to_owned);
        let is_file = disposition.is_some_and(|given| given.get_filename().is_some());
        let mut text = BytesMut::new();
        while let Some(chunk) = part.next().await {
            let chunk = chunk.map_err(broken)?;
            // A file is no text: it is passed over.
            if !is_file {
                text.extend_from_slice(&chunk);
            }
        }
        let (Some(name), false) = (name, is_file) else { continue };
        let text = String::from_utf8(text.into())
            .map_err(|_| ApiError::bad_request("a parameter is not valid UTF-8"))?;
        encoded::insert(values, &name, text);
    }
    Ok(())
}

fn too_large() -> ApiError {
    ApiError::message(StatusCode::PAYLOAD_TOO_LARGE, "413 Request Entity Too Large")
}
