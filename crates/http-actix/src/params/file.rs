//! A file in a multipart form, read while it comes: no more of it than one block is ever in memory.

use std::time::Duration;

use actix_multipart::{Field, Multipart};
use actix_web::http::StatusCode;
use futures_util::StreamExt;
use tokio::time::{Instant, timeout_at};

use super::body::{broken, too_large};
use crate::error::{ApiError, ApiResult};

/// How much is handed on at once.
const BLOCK: usize = 256 * 1024;

/// Whoever sends a file has this long, and longer the more has come.
const TIME_TO_START: Duration = Duration::from_secs(60);

/// The slowest sender that is waited for, in bytes per second.
const SLOWEST: u64 = 16 * 1024;

/// A file that is on its way.
pub struct FilePart {
    name: String,
    // Before `parts`, which does not go on while one of its parts is held.
    field: Option<Field>,
    parts: Multipart,
    max: u64,
    received: u64,
    started: Instant,
}

impl FilePart {
    pub(super) fn new(name: String, field: Field, parts: Multipart, max: u64) -> Self {
        let started = Instant::now();
        Self { name, field: Some(field), parts, max, received: 0, started }
    }

    /// What the sender calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The next block, `None` after the last one, when the form as a whole has come.
    pub async fn next_block(&mut self) -> ApiResult<Option<Vec<u8>>> {
        let mut block = Vec::new();
        while block.len() < BLOCK
            && let Some(field) = &mut self.field
        {
            let Some(chunk) = in_time(self.started, self.received, field.next()).await? else {
                self.field = None;
                self.finish().await?;
                break;
            };
            let chunk = chunk.map_err(broken)?;
            self.received += chunk.len() as u64;
            if self.received > self.max {
                return Err(too_large());
            }
            block.extend_from_slice(&chunk);
        }
        Ok((!block.is_empty()).then_some(block))
    }

    /// Passes over what comes behind the file: a form that was cut off is none.
    async fn finish(&mut self) -> ApiResult<()> {
        while let Some(part) = in_time(self.started, self.received, self.parts.next()).await? {
            let mut part = part.map_err(broken)?;
            while let Some(chunk) = in_time(self.started, self.received, part.next()).await? {
                chunk.map_err(broken)?;
            }
        }
        Ok(())
    }
}

async fn in_time<T>(
    started: Instant,
    received: u64,
    next: impl Future<Output = T>,
) -> ApiResult<T> {
    let deadline = started + TIME_TO_START + Duration::from_secs(received / SLOWEST);
    timeout_at(deadline, next).await.map_err(|_| too_slow())
}

/// The sender takes too long.
pub(crate) fn too_slow() -> ApiError {
    ApiError::message(StatusCode::REQUEST_TIMEOUT, "408 Request Timeout")
}
