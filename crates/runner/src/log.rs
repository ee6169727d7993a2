//! The log of one build: masked, bounded, and on disk until the server has all of it.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::api::FinalReport;
use crate::error::Error;
use crate::mask::Masker;

/// The size of the file that keeps room for the last lines.
const RESERVE: usize = 64 << 10;

/// The log of a build.
#[derive(Debug)]
pub struct Log {
    inner: Mutex<Inner>,
    limit: u64,
    changed: Notify,
}

#[derive(Debug)]
struct Inner {
    file: File,
    length: u64,
    checksum: crc32fast::Hasher,
    masker: Masker,
    state: State,
    /// Why output is missing, until a line of the log says so.
    failure: Option<std::io::Error>,
    /// The file that keeps room for the last lines on a full disk.
    reserve: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// The limit was reached, or the disk is full. Output is dropped, lines of the runner are kept.
    Full,
    /// Nothing is written any more.
    Closed,
}

impl Log {
    /// Creates the log in a file. Output beyond `limit` bytes is dropped, with a line that says so.
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path, secrets: Vec<Vec<u8>>, limit: u64) -> Result<Self, Error> {
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(Error::at(path))?;
        let checksum = crc32fast::Hasher::new();
        let mut inner = Inner::new(file, 0, checksum, (Masker::new(secrets), State::Open));
        let reserve = path.with_file_name("reserve");
        fs::write(&reserve, [b'.'; RESERVE]).map_err(Error::at(&reserve))?;
        inner.reserve = Some(reserve);
        Ok(Self { inner: Mutex::new(inner), limit, changed: Notify::new() })
    }

    /// Opens the log of a build whose runner was killed. It takes lines of the runner only. Secrets in it are masked
    /// already.
    /// # Errors
    /// The file cannot be read.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut open = File::options();
        let mut file = open
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(Error::at(path))?;
        let (mut checksum, mut length, mut last) = (crc32fast::Hasher::new(), 0, b'\n');
        let mut block = vec![0; 1 << 20];
        loop {
            let read = std::io::Read::read(&mut file, &mut block).map_err(Error::at(path))?;
            if read == 0 {
                break;
            }
            checksum.update(&block[..read]);
            (length, last) = (length + read as u64, block[read - 1]);
        }
        let mut inner = Inner::new(file, length, checksum, (Masker::new(vec![]), State::Full));
        if last != b'\n' {
            inner.write(b"\n");
        }
        Ok(Self { inner: Mutex::new(inner), limit: 0, changed: Notify::new() })
    }

    /// The end of a build with this log.
    pub fn final_report(&self, succeeded: bool) -> FinalReport {
        let inner = self.inner();
        FinalReport { succeeded, length: inner.length, crc32: inner.checksum.clone().finalize() }
    }

    /// Appends output of the build.
    pub fn write(&self, bytes: &[u8]) {
        let mut inner = self.inner();
        if inner.state == State::Open {
            let masked = inner.masker.push(bytes);
            self.append(&mut inner, &masked);
        }
        drop(inner);
        self.changed.notify_one();
    }

    /// Appends a line of the runner itself, also to a full log.
    pub fn line(&self, text: &str) {
        let mut inner = self.inner();
        if inner.state != State::Closed {
            let rest = inner.masker.finish();
            if inner.state == State::Open {
                self.append(&mut inner, &rest);
            }
            if inner.failure.is_some()
                && let Some(reserve) = inner.reserve.take()
            {
                let _ = fs::remove_file(reserve);
            }
            let text = match inner.failure.take() {
                Some(error) => format!(
                    "\nWARNING: output is missing, because the runner could not store it: {error}\n{text}\n"
                ),
                None => format!("{text}\n"),
            };
            let mut masked = inner.masker.push(text.as_bytes());
            masked.extend(inner.masker.finish());
            inner.write(&masked);
        }
        drop(inner);
        self.changed.notify_one();
    }

    /// Ends the log; later output is dropped.
    pub fn close(&self) {
        let mut inner = self.inner();
        let rest = inner.masker.finish();
        if inner.state == State::Open {
            self.append(&mut inner, &rest);
        }
        inner.state = State::Closed;
        drop(inner);
        self.changed.notify_one();
    }

    /// The length so far.
    pub fn length(&self) -> u64 {
        self.inner().length
    }

    /// Reads at most `max` bytes.
    /// # Errors
    /// The file cannot be read.
    pub fn read_at(&self, offset: u64, max: usize) -> std::io::Result<Vec<u8>> {
        let inner = self.inner();
        let left = inner.length.saturating_sub(offset);
        let mut piece = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(max)];
        inner.file.read_exact_at(&mut piece, offset)?;
        Ok(piece)
    }

    /// Waits for the next change.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    fn append(&self, inner: &mut Inner, bytes: &[u8]) {
        let room = self.limit.saturating_sub(inner.length);
        if bytes.len() as u64 <= room {
            inner.write(bytes);
            return;
        }
        inner.write(&bytes[..usize::try_from(room).unwrap_or(bytes.len())]);
        let line = format!(
            "\nThe log has reached {} bytes: the rest of the output is dropped.\n",
            self.limit
        );
        inner.write(line.as_bytes());
        if inner.state == State::Open {
            inner.state = State::Full;
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn new(
        file: File,
        length: u64,
        checksum: crc32fast::Hasher,
        (masker, state): (Masker, State),
    ) -> Self {
        Self { file, length, checksum, masker, state, failure: None, reserve: None }
    }

    /// Writes at the end. When the disk is full, output is dropped from here on, and the build goes on. Lines of the
    /// runner come after the job ended, and have the room of the reserve.
    fn write(&mut self, bytes: &[u8]) {
        match self.file.write_all_at(bytes, self.length) {
            Ok(()) => {
                self.length += bytes.len() as u64;
                self.checksum.update(bytes);
            }
            Err(error) => {
                tracing::error!(%error, "the log of a build cannot be written");
                self.state = State::Full;
                self.failure = Some(error);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(secrets: &[&str], limit: u64) -> (Log, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        let secrets = secrets.iter().map(|secret| secret.as_bytes().to_vec()).collect();
        (Log::create(&folder.path().join("log"), secrets, limit).expect("created"), folder)
    }

    fn text(log: &Log) -> String {
        String::from_utf8(log.read_at(0, 1 << 20).expect("readable")).expect("text")
    }

    #[test]
    fn output_and_lines_are_masked() {
        let (log, _folder) = log(&["secret"], 1000);
        log.write(b"a sec");
        log.write(b"ret and sec");
        log.line("the secret");
        log.close();
        log.write(b"too late");
        assert_eq!(text(&log), "a [MASKED] and secthe [MASKED]\n");
    }

    #[test]
    fn a_log_is_continued_after_its_runner_was_killed() {
        let (log, folder) = log(&["secret"], 1000);
        log.write(b"line\nhalf a li");
        let path = folder.path().join("log");
        assert_eq!(log.final_report(true), FinalReport::new(true, b"line\nhalf a li"));
        let again = Log::open(&path).expect("it is there");
        again.write(b"not taken");
        again.line("The end");
        again.close();
        assert_eq!(text(&again), "line\nhalf a li\nThe end\n");
        assert_eq!(again.final_report(false), FinalReport::new(false, text(&again).as_bytes()));
    }

    #[test]
    fn a_full_log_says_so_once_and_takes_lines() {
        let (log, _folder) = log(&[], 10);
        log.write(b"0123456789abc");
        log.write(b"dropped");
        log.line("The end");
        let cut = "\nThe log has reached 10 bytes: the rest of the output is dropped.\n";
        assert_eq!(text(&log), format!("0123456789{cut}The end\n"));
    }
}
