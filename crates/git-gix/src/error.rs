//! Maps errors of gix to those of the port.

use std::io;

use hexforge_domain::ports::files::is_storage_full;
use hexforge_domain::ports::git::GitError;

/// Maps an error of gix: no disk space, damaged data, or another failure.
pub(crate) fn failed(error: impl Into<gix::Error>) -> GitError {
    let error = error.into();
    if error.iter_errors().filter_map(|cause| cause.downcast_ref()).any(is_storage_full) {
        GitError::Full(chain(&error))
    } else if error.is_corrupted() || error.is_not_found() {
        GitError::Corrupt(chain(&error))
    } else {
        GitError::Failed(chain(&error))
    }
}

/// Returns whether the machine caused the error, such as a full disk or too many open files, and not the request or the
/// data.
pub(crate) fn is_machine_error(error: &gix::Error) -> bool {
    error.iter_errors().any(|cause| {
        let Some(io) = cause.downcast_ref::<io::Error>() else { return false };
        // Errors that libraries report about data have no OS error number. Neither has a full disk once a library has
        // added the path to the error, so that is checked separately.
        is_storage_full(io)
            || io.raw_os_error().is_some()
                && !matches!(
                    io.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::NotADirectory
                        | io::ErrorKind::IsADirectory
                        | io::ErrorKind::InvalidFilename
                        | io::ErrorKind::InvalidInput
                )
    })
}

/// Maps an I/O error: no disk space, or another failure.
pub(crate) fn io_failed(error: io::Error) -> GitError {
    if is_storage_full(&error) {
        GitError::Full(error.to_string())
    } else {
        GitError::Failed(error.to_string())
    }
}

/// Maps a failed write to the client: the client has disconnected.
pub(crate) fn reader_gone(error: io::Error) -> GitError {
    GitError::ReaderGone(error)
}

/// All errors of the source chain in one line.
pub(crate) fn chain(error: &gix::Error) -> String {
    let parts: Vec<String> = error.iter_errors().map(ToString::to_string).collect();
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_told_from_the_data() {
        let of_system = |number| io::Error::from_raw_os_error(number);
        let (missing, too_many_open, full) = (of_system(2), of_system(24), of_system(28));
        let data = io::Error::new(io::ErrorKind::InvalidData, "no pack");
        let with_text = io::Error::new(full.kind(), "no room at path /x");
        let of_machine = [(too_many_open, true), (full, true), (with_text, true)];
        for (error, ours) in of_machine.into_iter().chain([(missing, false), (data, false)]) {
            let text = error.to_string();
            assert_eq!(is_machine_error(&gix::Error::from_error(error)), ours, "{text}");
        }
    }

    #[test]
    fn a_full_disk_is_known_wherever_it_is_met() {
        let full = || io::Error::from_raw_os_error(28);
        assert!(matches!(io_failed(full()), GitError::Full(_)));
        assert!(matches!(failed(gix::Error::from_error(full())), GitError::Full(_)));
        let other = io::Error::from_raw_os_error(24);
        assert!(matches!(failed(gix::Error::from_error(other)), GitError::Failed(_)));
    }
}
