//! The shapes of answers.

use actix_web::HttpResponse;
use hexforge_domain::paging::{Page, Paged};
use serde::Serialize;

use crate::api::Api;
use crate::error::ApiResult;

/// 200 with something.
pub fn ok(body: impl Serialize) -> ApiResult<HttpResponse> {
    Ok(HttpResponse::Ok().json(body))
}

/// 201 with what was made.
pub fn created(body: impl Serialize) -> ApiResult<HttpResponse> {
    Ok(HttpResponse::Created().json(body))
}

/// 200 with a page of a list and its headers.
pub fn paged<T: Serialize>(api: &Api, page: Page, list: Paged<T>) -> ApiResult<HttpResponse> {
    let mut response = HttpResponse::Ok();
    api.page_headers(&mut response, page, list.total);
    Ok(response.json(list.items))
}
