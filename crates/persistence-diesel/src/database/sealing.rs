//! Seals secrets that earlier versions stored in plain text, and detects a changed key.
//!
//! Each table is processed by id, in batches. The transaction of a batch also stores the last id, so that a killed
//! process continues there at its next start. Several processes run their batches one after the other.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::result::Error as DieselError;
use hexforge_domain::ports::store::{Mode, StoreError};

use crate::database::backend;
use crate::database::connection::DbConn;
use crate::database::error::translate;
use crate::database::schema::{
    deliveries, key_proofs, project_hooks, projects, repository_tasks, runners_tokens, sealing,
    system_hooks,
};
use crate::database::seal::{Purpose, Seals, is_sealed};

/// The number of rows in one batch.
const BATCH: i64 = 500;

/// The plain text that is sealed to verify the key.
const PROOF: &str = "hexforge";

/// Why the secrets could not be sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The secrets of the database were sealed with another key.
    #[error(
        "the secrets in the database were sealed with another key; restore the file `secret.key` or the setting `secret_key` that belongs to this database"
    )]
    OtherKey,
    /// The database failed.
    #[error("the secrets in the database cannot be sealed")]
    Store(#[from] StoreError),
}

impl From<DieselError> for SealError {
    fn from(error: DieselError) -> Self {
        Self::Store(translate(error))
    }
}

/// Verifies the key, then seals all secrets that are in plain text.
pub(crate) fn run(conn: &mut DbConn, seals: &Seals) -> Result<(), SealError> {
    verify_key(conn, seals)?;
    while let Some(table) = next_unsealed_table(conn)? {
        if table != VACUUM {
            in_transaction(conn, |conn| seal_batch(conn, seals, &table))?;
        } else if !vacuum(conn)? {
            break;
        }
    }
    Ok(())
}

/// The last step. It is recorded like a table, so that the next start runs it if the process is killed before.
const VACUUM: &str = "vacuum";

/// Removes the plain texts from free pages and from the WAL of an SQLite file. Returns false if another process
/// blocks it; the next start tries again.
fn vacuum(conn: &mut DbConn) -> Result<bool, SealError> {
    if let DbConn::Sqlite(conn) = conn
        && conn.batch_execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)").is_err()
    {
        return Ok(false);
    }
    diesel::delete(sealing::table.find(VACUUM)).execute(conn)?;
    Ok(true)
}

/// Verifies that the stored proof was sealed with this key. The first process stores the proof.
fn verify_key(conn: &mut DbConn, seals: &Seals) -> Result<(), SealError> {
    let stored: Option<String> =
        key_proofs::table.select(key_proofs::proof).first(conn).optional()?;
    if let Some(stored) = stored {
        return match seals.open(Purpose::KeyProof, &stored) {
            Ok(text) if text == PROOF => Ok(()),
            Ok(_) | Err(_) => Err(SealError::OtherKey),
        };
    }
    let values =
        (key_proofs::id.eq(1_i64), key_proofs::proof.eq(seals.seal(Purpose::KeyProof, PROOF)?));
    let written = each_backend!(conn, c => diesel::insert_into(key_proofs::table)
        .values(values)
        .on_conflict_do_nothing()
        .execute(c))?;
    // Another process inserted its proof first.
    if written == 0 { verify_key(conn, seals) } else { Ok(()) }
}

/// Returns the name of a table that is not completely sealed.
fn next_unsealed_table(conn: &mut DbConn) -> Result<Option<String>, SealError> {
    Ok(sealing::table.order(sealing::name).select(sealing::name).first(conn).optional()?)
}

fn in_transaction<T>(
    conn: &mut DbConn,
    work: impl FnOnce(&mut DbConn) -> Result<T, SealError>,
) -> Result<T, SealError> {
    backend::begin(conn, Mode::Write)?;
    let outcome = work(conn);
    let end = if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = conn.batch_execute(end);
    let outcome = outcome?;
    ended?;
    Ok(outcome)
}

/// Seals the next batch of rows of a table.
fn seal_batch(conn: &mut DbConn, seals: &Seals, table: &str) -> Result<(), SealError> {
    let row = sealing::table.find(table).select(sealing::last_id);
    // The process that held the lock may have finished the table.
    let Some(last) = load_locked!(conn, row, i64)? else { return Ok(()) };
    let reached = match table {
        "projects" => seal_runners_tokens(conn, seals, last),
        "project_hooks" => seal_project_hooks(conn, seals, last),
        "system_hooks" => seal_system_hooks(conn, seals, last),
        "repository_tasks" => seal_imports(conn, seals, last),
        "deliveries" => seal_deliveries(conn, seals, last),
        _ => Err(SealError::Store(StoreError::Corrupt("sealing"))),
    }?;
    match reached {
        Some(id) => {
            let reached = sealing::last_id.eq(id);
            diesel::update(sealing::table.find(table)).set(reached).execute(conn)?;
        }
        None => {
            diesel::delete(sealing::table.find(table)).execute(conn)?;
        }
    }
    Ok(())
}

/// Moves the tokens of the next projects to the table of sealed tokens. Returns the last id, or `None` if no
/// project is left.
fn seal_runners_tokens(
    conn: &mut DbConn,
    seals: &Seals,
    after: i64,
) -> Result<Option<i64>, SealError> {
    let rows: Vec<(i64, String)> = projects::table
        .filter(projects::id.gt(after))
        .order(projects::id)
        .limit(BATCH)
        .select((projects::id, projects::runners_token))
        .load(conn)?;
    for (id, token) in rows.iter().filter(|(_, token)| !token.is_empty()) {
        let values = (
            runners_tokens::project_id.eq(*id),
            runners_tokens::sealed.eq(seals.seal(Purpose::RunnersToken, token)?),
            runners_tokens::proof.eq(seals.runners_token_proof(token)?),
        );
        each_backend!(conn, c => diesel::insert_into(runners_tokens::table)
            .values(values)
            .on_conflict_do_nothing()
            .execute(c))?;
        let emptied = projects::runners_token.eq("");
        diesel::update(projects::table.find(*id)).set(emptied).execute(conn)?;
    }
    Ok(rows.last().map(|(id, _)| *id))
}

/// Seals the URL and token of each hook, by the columns of its table.
macro_rules! seal_hooks {
    ($conn:expr, $seals:expr, $after:expr, $table:ident) => {{
        let rows: Vec<(i64, String, Option<String>)> = $table::table
            .filter($table::id.gt($after))
            .order($table::id)
            .limit(BATCH)
            .select(($table::id, $table::url, $table::token))
            .load($conn)?;
        // A token may be any text, so only the URL shows whether both are sealed.
        for (id, url, token) in rows.iter().filter(|(_, url, _)| !is_sealed(url)) {
            let token = token.as_deref().map(|token| $seals.seal(Purpose::HookToken, token));
            let values = (
                $table::url.eq($seals.seal(Purpose::HookUrl, url)?),
                $table::token.eq(token.transpose()?),
            );
            diesel::update($table::table.find(*id)).set(values).execute($conn)?;
        }
        Ok(rows.last().map(|(id, ..)| *id))
    }};
}

fn seal_project_hooks(
    conn: &mut DbConn,
    seals: &Seals,
    after: i64,
) -> Result<Option<i64>, SealError> {
    seal_hooks!(conn, seals, after, project_hooks)
}

fn seal_system_hooks(
    conn: &mut DbConn,
    seals: &Seals,
    after: i64,
) -> Result<Option<i64>, SealError> {
    seal_hooks!(conn, seals, after, system_hooks)
}

/// Seals the URL of each row that has one.
macro_rules! seal_urls {
    ($conn:expr, $seals:expr, $after:expr, $table:ident, $purpose:expr) => {{
        let rows: Vec<(i64, Option<String>)> = $table::table
            .filter($table::id.gt($after))
            .order($table::id)
            .limit(BATCH)
            .select(($table::id, $table::url))
            .load($conn)?;
        for (id, url) in &rows {
            if let Some(url) = url.as_deref().filter(|url| !is_sealed(url)) {
                let sealed = $table::url.eq($seals.seal($purpose, url)?);
                diesel::update($table::table.find(*id)).set(sealed).execute($conn)?;
            }
        }
        Ok(rows.last().map(|(id, _)| *id))
    }};
}

fn seal_imports(conn: &mut DbConn, seals: &Seals, after: i64) -> Result<Option<i64>, SealError> {
    seal_urls!(conn, seals, after, repository_tasks, Purpose::ImportUrl)
}

fn seal_deliveries(conn: &mut DbConn, seals: &Seals, after: i64) -> Result<Option<i64>, SealError> {
    seal_urls!(conn, seals, after, deliveries, Purpose::HookUrl)
}
