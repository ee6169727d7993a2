//! Runners send the log of a build in pieces.

use hexforge_domain::ci::status::Status;
use hexforge_domain::id::BuildId;

use super::{check_log_length, is_update_due, lock_build, running_build};
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
        let first = first.ok_or(Error::NotGiven("Content-Range"))?;
        let length = app.build_files.trace_size(build.project, id)?;
        if first != length {
            return Ok(Appended::WrongOffset { length });
        }
        check_log_length(length + piece.len() as u64)?;
        if !piece.is_empty() {
            app.build_files.append_trace(build.project, id, length, piece)?;
        }
        if is_update_due(&build, now) {
            build.updated_at = now;
            tx.builds().update(&build)?;
        }
        Ok(Appended::Accepted { status: build.status, length: length + piece.len() as u64 })
    })
}
