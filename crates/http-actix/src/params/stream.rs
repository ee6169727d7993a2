//! A request body that is read block by block, at a minimum rate and without a limit on its total time.

use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::web::BytesMut;
use futures_util::StreamExt;
use hexforge_domain::limiter::{TransferLimits, TransferRate};

use super::file::in_time;
use crate::error::{ApiError, ApiResult};

/// A body that is arriving.
pub struct BodyStream {
    payload: Payload,
    rate: TransferRate,
}

impl BodyStream {
    pub(crate) fn new(payload: Payload, limits: TransferLimits) -> Self {
        Self { payload, rate: TransferRate::new(limits) }
    }

    /// Reads the next block, of about `size` bytes. `None` at the end of the body.
    pub async fn next_block(&mut self, size: usize) -> ApiResult<Option<Vec<u8>>> {
        let mut block = BytesMut::new();
        while block.len() < size {
            let Some(chunk) = in_time(&mut self.rate, self.payload.next()).await? else { break };
            let chunk = chunk.map_err(|_| ApiError::bad_request("the body could not be read"))?;
            self.rate.record(Duration::ZERO, chunk.len());
            block.extend_from_slice(&chunk);
        }
        Ok((!block.is_empty()).then(|| block.to_vec()))
    }
}
