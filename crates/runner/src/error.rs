//! Errors of the runner.

use std::io;
use std::path::{Path, PathBuf};

/// Why a command of the runner, or a step of a build, failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be used.
    #[error("{path}: {source}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The configuration file is invalid.
    #[error("{path} is not a valid runner configuration: {problem}")]
    Config {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// The server could not be reached, or answered with a failure that may pass.
    #[error("the server {url} could not be reached: {problem}")]
    Unreachable {
        /// The address of the server.
        url: String,
        /// The problem.
        problem: String,
    },
    /// The server refused the call.
    #[error("the server answered {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The message of the server.
        message: String,
    },
    /// A step of a build failed, for the reason in the text.
    #[error("{0}")]
    Step(String),
}

impl Error {
    /// Returns a conversion of I/O errors that names the file.
    pub fn at(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
        move |source| Error::File { path: path.to_owned(), source }
    }

    /// Returns an error with this text.
    pub fn step(text: impl Into<String>) -> Error {
        Error::Step(text.into())
    }

    /// Returns whether the same call may succeed later: the server is away, overloaded or limits the rate.
    pub fn is_temporary(&self) -> bool {
        match self {
            Error::Unreachable { .. } => true,
            Error::Refused { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
            Error::File { .. } | Error::Config { .. } | Error::Step(_) => false,
        }
    }

    /// Returns whether a file could not be written for want of space.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Error::File { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            Error::Config { .. }
            | Error::Unreachable { .. }
            | Error::Refused { .. }
            | Error::Step(_) => false,
        }
    }

    /// The HTTP status of a refusal.
    pub fn status(&self) -> Option<u16> {
        match self {
            Error::Refused { status, .. } => Some(*status),
            Error::File { .. }
            | Error::Config { .. }
            | Error::Unreachable { .. }
            | Error::Step(_) => None,
        }
    }
}
