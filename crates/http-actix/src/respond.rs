//! The forms of responses.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use hexforge_domain::change::Change;
use hexforge_domain::paging::{Page, Paged};
use serde::Serialize;

use crate::api::ApiRequest;
use crate::error::{ApiError, ApiResult};
use hexforge_http_edge::conditional::ETag;

/// 200 with a body.
pub fn ok(body: impl Serialize) -> ApiResult<HttpResponse> {
    Ok(HttpResponse::Ok().json(body))
}

/// Serializes a long response. Use cases call it, so that the thread that serves connections does not have to.
pub fn to_json(body: &impl Serialize) -> ApiResult<Vec<u8>> {
    serde_json::to_vec(body).map_err(|error| ApiError::internal(&error))
}

/// 201 with the created entity.
pub fn created(body: impl Serialize) -> ApiResult<HttpResponse> {
    Ok(HttpResponse::Created().json(body))
}

/// The given status with a body.
pub fn with(status: StatusCode, body: impl Serialize) -> ApiResult<HttpResponse> {
    Ok(HttpResponse::build(status).json(body))
}

/// The given status with the changed entity, or 304 without a body if nothing changed.
pub fn changed<T, B: Serialize>(
    status: StatusCode,
    change: Change<T>,
    body: impl FnOnce(&T) -> B,
) -> ApiResult<HttpResponse> {
    match change {
        Change::Applied(changed) => Ok(HttpResponse::build(status).json(body(&changed))),
        Change::Unchanged => Ok(HttpResponse::NotModified().finish()),
    }
}

/// 304 for a client that has this state.
pub fn not_modified(tag: &ETag) -> ApiResult<HttpResponse> {
    let mut response = HttpResponse::NotModified();
    tag.put_on(&mut response);
    Ok(response.finish())
}

/// 200 with a page of a list and its headers.
pub fn paged<T: Serialize>(
    api: &ApiRequest,
    page: Page,
    list: Paged<T>,
) -> ApiResult<HttpResponse> {
    let mut response = HttpResponse::Ok();
    api.page_headers(&mut response, page, list.total);
    Ok(response.json(list.items))
}
