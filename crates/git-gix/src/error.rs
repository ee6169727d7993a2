//! gix's errors as those of the port.

use std::io;

use hexforge_domain::ports::git::GitError;

/// What a failure of gix means here.
pub(crate) fn failed(error: impl Into<gix::Error>) -> GitError {
    let error = error.into();
    if error.is_corrupted() || error.is_not_found() {
        GitError::Corrupt(chain(&error))
    } else {
        GitError::Failed(chain(&error))
    }
}

/// What a failure of the disk means here.
pub(crate) fn io(error: io::Error) -> GitError {
    GitError::Failed(error.to_string())
}

/// A failure to hand data on: whoever was to get it is gone.
pub(crate) fn reader_gone(error: io::Error) -> GitError {
    GitError::ReaderGone(error)
}

/// All that an error has to say, in one line.
fn chain(error: &gix::Error) -> String {
    let parts: Vec<String> = error.iter_errors().map(ToString::to_string).collect();
    parts.join(": ")
}
