//! The parts of a multipart form, one after the other. All but the file that a call takes are parameters.

use std::collections::HashMap;

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::error::PayloadError;
use actix_web::web::BytesMut;
use futures_util::StreamExt;
use serde_json::Value;

use super::body::too_large;
use super::file::file_name;
use super::{MAX_PARAMS, encoded, too_many};
use crate::error::{ApiError, ApiResult};

/// A form that is on its way, and how much of it may still be kept.
pub(super) struct Form {
    parts: Multipart,
    count: usize,
    text_left: usize,
}

impl Form {
    pub(super) fn new(parts: Multipart, max_text: usize) -> Self {
        Self { parts, count: 0, text_left: max_text }
    }

    /// The next part, `None` when the form as a whole has come.
    pub(super) async fn next(&mut self) -> ApiResult<Option<Field>> {
        let Some(part) = self.parts.next().await else { return Ok(None) };
        self.count += 1;
        if self.count > MAX_PARAMS {
            return Err(too_many());
        }
        part.map(Some).map_err(broken)
    }

    /// Reads a part into the set of parameters. A file is no text: it is passed over.
    pub(super) async fn take(
        &mut self,
        mut part: Field,
        values: &mut HashMap<String, Value>,
    ) -> ApiResult<()> {
        let name = part.content_disposition().and_then(|given| given.get_name().map(str::to_owned));
        let is_file = file_name(&part).is_some();
        let mut text = BytesMut::new();
        while let Some(chunk) = part.next().await {
            let chunk = chunk.map_err(broken)?;
            if !is_file {
                self.text_left = self.text_left.checked_sub(chunk.len()).ok_or_else(too_large)?;
                text.extend_from_slice(&chunk);
            }
        }
        let (Some(name), false) = (name, is_file) else { return Ok(()) };
        let text = String::from_utf8(text.into())
            .map_err(|_| ApiError::bad_request("a parameter is not valid UTF-8"))?;
        encoded::insert(values, &name, text);
        Ok(())
    }
}

pub(super) fn broken(error: MultipartError) -> ApiError {
    match error {
        MultipartError::Payload(PayloadError::Overflow) => too_large(),
        _ => ApiError::bad_request("the body is not valid multipart/form-data"),
    }
}
