//! Permits for work.

use hexforge_application::error::Error;
use hexforge_application::limiter;
use hexforge_domain::limiter::{Caller, Permit, PermitPool};
use hexforge_domain::ports::store::StoreError;
use tokio::time::timeout;

/// Waits for a permit.
/// # Errors
/// There is none in time: the server is busy.
pub async fn wait(pool: &PermitPool, caller: Caller) -> Result<Permit, Error> {
    let waited = timeout(limiter::MAX_PERMIT_WAIT, pool.wait_for_permit(caller)).await;
    waited.ok().and_then(Result::ok).ok_or(Error::Store(StoreError::Busy))
}
