//! Runners send the log of a build in pieces.

use hexforge_domain::ci::status::Status;
use hexforge_domain::id::{BuildId, UserId};

use super::{build_by_token, cut_piece, is_cut, is_update_due, lock_build, running_build};
use crate::app::App;
use crate::error::Error;

/// The outcome of appending a piece of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The piece was added, or dropped because the build was canceled: the status tells the runner to stop.
    Accepted {
        /// The status of the build, which may have been canceled.
        status: Status,
        /// The length of the log.
        length: u64,
    },
    /// The request does not tell where the piece starts.
    NoOffset,
    /// The piece does not start where the log ends.
    WrongOffset {
        /// The length of the log, where the next piece has to start.
        length: u64,
    },
}

/// Appends a piece to the log of a build, authenticated by the token of the build. The acknowledged part is on disk.
pub fn append_trace(
    app: &App,
    id: BuildId,
    token: &str,
    first: Option<u64>,
    piece: &[u8],
) -> Result<Appended, Error> {
    let now = app.clock.now();
    app.store.write(|tx| {
        let found = lock_build(app, tx, id, token)?;
        if found.status == Status::Canceled {
            // The status tells the runner to stop. The piece is dropped.
            let length = app.build_files.trace_size(found.project, id)?;
            return Ok(Appended::Accepted { status: found.status, length });
        }
        let mut build = running_build(app, tx, id, token)?;
        let Some(first) = first else { return Ok(Appended::NoOffset) };
        let length = app.build_files.trace_size(build.project, id)?;
        if first != length && !is_cut(length) {
            return Ok(Appended::WrongOffset { length });
        }
        // A log that was cut takes everything and stores nothing: the build goes on, and its runner does not repeat.
        if !piece.is_empty() && !is_cut(length) {
            let piece = cut_piece(length, piece);
            app.build_files.append_trace(build.project, id, length, &piece)?;
        }
        if is_update_due(app, &build, now) {
            build.updated_at = now;
            tx.builds().update(&build)?;
        }
        let length = first.saturating_add(piece.len() as u64);
        Ok(Appended::Accepted { status: build.status, length })
    })
}

/// Checks that the token may append to the log of a build, before the body of the request is read. Returns the user of
/// the build.
pub fn authorize_trace(app: &App, id: BuildId, token: &str) -> Result<Option<UserId>, Error> {
    app.store.read(|tx| {
        let build = build_by_token(app, tx, id, token)?;
        // Appending to a canceled build tells its runner to stop.
        if build.status != Status::Canceled {
            running_build(app, tx, id, token)?;
        }
        Ok(build.user)
    })
}
