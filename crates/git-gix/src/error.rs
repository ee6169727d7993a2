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

/// Whether the machine is the reason, not what was asked for or what somebody sent: a full disk, too many open
/// files.
pub(crate) fn is_of_the_machine(error: &gix::Error) -> bool {
    error.iter_errors().any(|cause| {
        // What libraries find wrong with data has no number.
        let cause = cause.downcast_ref::<io::Error>().filter(|io| io.raw_os_error().is_some());
        cause.is_some_and(|io| {
            !matches!(
                io.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::IsADirectory
                    | io::ErrorKind::InvalidFilename
                    | io::ErrorKind::InvalidInput
            )
        })
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_told_from_the_data() {
        let of_system = |number| io::Error::from_raw_os_error(number);
        let (missing, too_many_open, full) = (of_system(2), of_system(24), of_system(28));
        let data = io::Error::new(io::ErrorKind::InvalidData, "no pack");
        for (error, ours) in [(too_many_open, true), (full, true), (missing, false), (data, false)]
        {
            let text = error.to_string();
            assert_eq!(is_of_the_machine(&gix::Error::from_error(error)), ours, "{text}");
        }
    }
}
