//! Secrets that all machines of an installation share.

use diesel::prelude::*;
use hexforge_domain::ports::store::StoreError;

use crate::database::connection::DbConn;
use crate::database::error::translate;
use crate::database::schema::installation_secrets;
use crate::database::seal::{Purpose, Seals};

/// Returns the shared secret of this name. The first process that needs it stores the result of `make`.
pub(crate) fn shared_secret<E: From<StoreError>>(
    conn: &mut DbConn,
    seals: &Seals,
    name: &str,
    make: impl FnOnce() -> Result<String, E>,
) -> Result<String, E> {
    if let Some(stored) = find(conn, name)? {
        return Ok(seals.open(Purpose::Installation, &stored)?);
    }
    let sealed = seals.seal(Purpose::Installation, &make()?)?;
    let values = (installation_secrets::name.eq(name), installation_secrets::sealed.eq(sealed));
    each_backend!(conn, c => diesel::insert_into(installation_secrets::table)
        .values(values)
        .on_conflict_do_nothing()
        .execute(c))
    .map_err(translate)?;
    // Another process may have inserted the secret first.
    let stored = find(conn, name)?.ok_or(StoreError::Busy)?;
    Ok(seals.open(Purpose::Installation, &stored)?)
}

/// Deletes the shared secret of this name.
pub(crate) fn delete_shared_secret(conn: &mut DbConn, name: &str) -> Result<(), StoreError> {
    let removed = diesel::delete(installation_secrets::table.find(name)).execute(conn);
    removed.map(drop).map_err(translate)
}

fn find(conn: &mut DbConn, name: &str) -> Result<Option<String>, StoreError> {
    let row = installation_secrets::table.find(name).select(installation_secrets::sealed);
    row.first(conn).optional().map_err(translate)
}
