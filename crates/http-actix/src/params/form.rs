//! Reads the parts of a multipart form one by one. All parts are parameters, except the file that the call takes.

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

/// A form that is arriving, and how many more bytes of text it may have.
pub(super) struct Form {
    parts: Multipart,
    count: usize,
    text_left: usize,
}

impl Form {
    pub(super) fn new(parts: Multipart, max_text: usize) -> Self {
        Self { parts, count: 0, text_left: max_text }
    }

    /// The next part; `None` at the end of the form.
    pub(super) async fn next(&mut self) -> ApiResult<Option<Field>> {
        let Some(part) = self.parts.next().await else { return Ok(None) };
        self.count += 1;
        if self.count > MAX_PARAMS {
            return Err(too_many());
        }
        part.map(Some).map_err(multipart_error)
    }

    /// Reads a part into the parameters. Ignores a file.
    pub(super) async fn read_part(
        &mut self,
        mut part: Field,
        values: &mut HashMap<String, Value>,
    ) -> ApiResult<()> {
        let name = part.content_disposition().and_then(|given| given.get_name().map(str::to_owned));
        let is_file = file_name(&part).is_some();
        let mut text = BytesMut::new();
        while let Some(chunk) = part.next().await {
            let chunk = chunk.map_err(multipart_error)?;
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

pub(super) fn multipart_error(error: MultipartError) -> ApiError {
    match error {
        MultipartError::Payload(PayloadError::Overflow) => too_large(),
        _ => ApiError::bad_request("the body is not valid multipart/form-data"),
    }
}
