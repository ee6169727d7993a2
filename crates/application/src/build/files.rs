//! Reads the logs and artifacts of builds.

use std::io::{self, Read};

use hexforge_domain::build::Build;
use hexforge_domain::ci::status::Status;
use hexforge_domain::id::BuildId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::ports::uploads::StoredFile;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::Secret;

use super::find;
use crate::app::App;
use crate::ci_token;
use crate::error::{Entity, Error};
use crate::view::build::{self as view, BuildView};

/// The log of a build.
pub struct Trace {
    /// The whole log with secrets masked. Empty when there is no log.
    pub content: StoredFile,
}

/// Returns the current log of a build.
pub fn trace(app: &App, actor: Actor, named: &ProjectRef, id: BuildId) -> Result<Trace, Error> {
    let (build, secrets) = app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::ReadBuilds, named)?;
        let build = find(tx, project.id, id)?;
        let secrets = secrets_of(app, tx, &build)?;
        Ok::<_, Error>((build, secrets))
    })?;
    let found = match build.erased_at {
        Some(_) => None,
        None => {
            app.store.release_snapshot();
            app.build_files.open_trace(build.project, build.id)?
        }
    };
    let content = match found {
        Some(found) => StoredFile {
            size: found.size,
            content: Box::new(MaskingReader::new(found.content, &secrets)),
        },
        None => StoredFile { size: 0, content: Box::new(io::empty()) },
    };
    Ok(Trace { content })
}

/// The tokens that a log must not show.
fn secrets_of(app: &App, tx: &mut dyn Tx, build: &Build) -> Result<Vec<Secret>, StoreError> {
    let runner = match build.runner {
        Some(runner) => tx.runners().find(runner)?,
        None => None,
    };
    let mut secrets = vec![ci_token::build_token(app, build)];
    secrets.extend(tx.projects().runners_token(build.project)?);
    secrets.extend(runner.map(|runner| ci_token::runner_token(app, &runner)));
    Ok(secrets)
}

/// The maximum number of bytes of a log that a page shows.
pub const SHOWN_LOG: u64 = 512 << 10;

/// The attempts to read the end of a log that grows meanwhile.
const TAIL_TRIES: u32 = 4;

/// A part of a log up to its end, with secrets masked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogTail {
    /// The offset of the first byte.
    pub start: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl LogTail {
    /// The offset after the last byte.
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

/// A build with the end of its log.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedBuild {
    /// The build.
    pub view: BuildView,
    /// The part of the log.
    pub log: LogTail,
}

/// Returns a build with the part of its log from an offset to its end, but at most the last [`SHOWN_LOG`] bytes.
pub fn with_log(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: BuildId,
    from: u64,
) -> Result<LoggedBuild, Error> {
    let (view, secrets) = app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::ReadBuilds, named)?;
        let build = find(tx, project.id, id)?;
        let secrets = secrets_of(app, tx, &build)?;
        Ok::<_, Error>((view::load(tx, build)?, secrets))
    })?;
    let log = match view.build.erased_at {
        Some(_) => LogTail::default(),
        None => read_tail(app, &view.build, &secrets, from)?,
    };
    Ok(LoggedBuild { view, log })
}

fn read_tail(app: &App, build: &Build, secrets: &[Secret], from: u64) -> Result<LogTail, Error> {
    let (project, id) = (build.project, build.id);
    let secrets: Vec<&[u8]> = secrets.iter().map(|secret| secret.reveal().as_bytes()).collect();
    let longest = secrets.iter().map(|secret| secret.len() as u64).max().unwrap_or(0);
    app.store.release_snapshot();
    let mut size = app.build_files.trace_size(project, id)?;
    for attempt in 1..=TAIL_TRIES {
        let start = from.min(size).max(size.saturating_sub(SHOWN_LOG));
        // A secret may begin before the part that is shown.
        let wanted = (size - start).saturating_add(longest);
        let tail = app.build_files.trace_tail(project, id, wanted)?;
        let after = app.build_files.trace_size(project, id)?;
        // The end moved while it was read, so the offset is not certain.
        if after == size || attempt == TAIL_TRIES {
            let shown = usize::try_from(size - start).unwrap_or(usize::MAX);
            let is_growing = !build.status.is_complete();
            return Ok(LogTail { start, bytes: masked_tail(&tail, &secrets, shown, is_growing) });
        }
        size = after;
    }
    Ok(LogTail::default())
}

/// The last `shown` bytes, masked. While a log grows, the beginning of a secret at its end is left out.
fn masked_tail(tail: &[u8], secrets: &[&[u8]], shown: usize, is_growing: bool) -> Vec<u8> {
    let mut masked = tail.to_vec();
    let mut end = masked.len();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        mask(tail, &mut masked, secret);
        if is_growing {
            let is_cut = |length: &usize| tail.ends_with(&secret[..*length]);
            let cut = (1..secret.len()).rev().find(is_cut).unwrap_or(0);
            end = end.min(tail.len() - cut);
        }
    }
    let start = masked.len().saturating_sub(shown).min(end);
    masked.truncate(end);
    masked.split_off(start)
}

/// The artifacts of a build.
pub struct ArtifactsFile {
    /// The file name of the artifacts.
    pub name: String,
    /// The content of the file.
    pub content: StoredFile,
}

/// Returns the artifacts of a build, if they exist and have not expired.
pub fn artifacts(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: BuildId,
) -> Result<ArtifactsFile, Error> {
    let build = app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::ReadBuilds, named)?;
        find(tx, project.id, id)
    })?;
    open(app, &build)
}

/// Returns the artifacts of a job in the newest successful pipeline of a branch or tag.
pub fn artifacts_of_ref(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    reference: &str,
    job: &str,
) -> Result<ArtifactsFile, Error> {
    let missing = || Error::NotFound(Entity::Unnamed);
    let build = app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::ReadBuilds, named)?;
        let newest = tx.pipelines().newest_with_status(project.id, reference, Status::Success)?;
        let builds = tx.builds().of_pipeline(newest.ok_or_else(missing)?.id)?;
        let mut latest = builds.into_iter().filter(|build| !build.superseded);
        latest.find(|build| build.name == job).ok_or_else(missing)
    })?;
    open(app, &build)
}

/// Opens the artifacts of a build. The caller has checked the permission.
pub(crate) fn open(app: &App, build: &Build) -> Result<ArtifactsFile, Error> {
    let missing = || Error::NotFound(Entity::Unnamed);
    let artifacts = build.artifacts_at(app.clock.now()).ok_or_else(missing)?;
    let content = app.build_files.open_artifacts(build.project, build.id)?;
    Ok(ArtifactsFile { name: artifacts.file_name.clone(), content: content.ok_or_else(missing)? })
}

/// Reads a log and replaces each byte of a secret by `x`, so the length stays the same.
struct MaskingReader {
    from: Box<dyn Read + Send>,
    secrets: Vec<Vec<u8>>,
    /// The bytes that were read and not returned yet.
    buffer: Vec<u8>,
    /// The same bytes; secrets that are complete in the buffer are masked.
    masked: Vec<u8>,
    /// The number of leading bytes that may be returned.
    ready: usize,
    ended: bool,
}

const BLOCK: usize = 64 * 1024;

impl MaskingReader {
    fn new(from: Box<dyn Read + Send>, secrets: &[Secret]) -> Self {
        let secrets = secrets.iter().map(|secret| secret.reveal().as_bytes().to_vec());
        let secrets = secrets.filter(|secret| !secret.is_empty()).collect();
        Self { from, secrets, buffer: vec![], masked: vec![], ready: 0, ended: false }
    }

    /// Reads on until some bytes may be returned or the log ends.
    fn fill(&mut self) -> io::Result<()> {
        let longest = self.secrets.iter().map(Vec::len).max().unwrap_or(1);
        while self.ready == 0 && !self.ended {
            let before = self.buffer.len();
            self.buffer.resize(before + BLOCK, 0);
            let read = self.from.read(&mut self.buffer[before..]);
            self.buffer.truncate(before + *read.as_ref().unwrap_or(&0));
            self.ended = read? == 0;
            self.masked.extend_from_slice(&self.buffer[before..]);
            // All secrets are searched for in the original text, because they may overlap.
            for secret in &self.secrets {
                mask(&self.buffer, &mut self.masked, secret);
            }
            // A secret may start at the end of the buffer and continue in bytes that are not read yet.
            let withheld = if self.ended { 0 } else { longest - 1 };
            self.ready = self.buffer.len().saturating_sub(withheld);
        }
        Ok(())
    }
}

/// Masks each occurrence of a secret; an empty secret masks nothing. Uses Horspool's search, which skips up to the
/// length of the secret, because logs and secrets can be long.
fn mask(text: &[u8], masked: &mut [u8], secret: &[u8]) {
    let length = secret.len();
    let Some((last, others)) = secret.split_last() else { return };
    let mut skips = [length; 256];
    for (place, byte) in others.iter().enumerate() {
        skips[usize::from(*byte)] = length - 1 - place;
    }
    let mut start = 0;
    while let Some(window) = text.get(start..start + length) {
        let end = window[length - 1];
        if end == *last && window == secret {
            masked[start..start + length].fill(b'x');
        }
        start += skips[usize::from(end)];
    }
}

impl Read for MaskingReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let length = self.ready.min(into.len());
        into[..length].copy_from_slice(&self.masked[..length]);
        self.buffer.drain(..length);
        self.masked.drain(..length);
        self.ready -= length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_shows_no_secrets() {
        let secrets: [&[u8]; 2] = [b"secret", b""];
        for (tail, shown, is_growing, expected) in [
            ("a secret.", 9, false, "a xxxxxx."),
            ("a secret.", 4, false, "xxx."),
            ("a secret. sec", 7, true, "xx. "),
            ("a secret. sec", 7, false, "xx. sec"),
            ("secre", 5, true, ""),
            ("", 5, true, ""),
        ] {
            let found = masked_tail(tail.as_bytes(), &secrets, shown, is_growing);
            assert_eq!(String::from_utf8_lossy(&found), expected, "{tail} {shown}");
        }
    }

    /// A reader that returns a few bytes at a time.
    struct Dripping(Vec<u8>, usize);

    impl Read for Dripping {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(into.len());
            into[..length].copy_from_slice(&self.0[..length]);
            self.0.drain(..length);
            Ok(length)
        }
    }

    #[test]
    fn secrets_are_hidden_wherever_the_blocks_end() {
        let secrets = ["abc", "secret", "", "ret, a", "secrets of all"].map(Secret::new);
        for (text, expected) in [
            ("", ""),
            ("nothing here", "nothing here"),
            ("a secret; abcabc", "a xxxxxx; xxxxxx"),
            ("secret, abc, secrets of all", "xxxxxxxxxxx, xxxxxxxxxxxxxx"),
            ("secrets of al", "xxxxxxs of al"),
            ("ababc secre", "abxxx secre"),
            ("secret", "xxxxxx"),
        ] {
            for step in 1..8 {
                let from = Box::new(Dripping(text.as_bytes().to_vec(), step));
                let mut found = String::new();
                let read = MaskingReader::new(from, &secrets).read_to_string(&mut found);
                assert_eq!((read.ok(), found.as_str()), (Some(text.len()), expected), "{step}");
            }
        }
    }
}
