//! Logs and artifacts of builds in an object store.

use std::path::Path;

use bytes::{Bytes, BytesMut};
use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::ports::build_files::BuildFiles;
use hexforge_domain::ports::files::{FilesError, ProjectFiles};
use hexforge_domain::ports::uploads::{NewUpload, StoredUpload};

use crate::bucket::{Bucket, BucketError, Stored};
use crate::project_files::Shelf;
use crate::read::Pieces;
use crate::receive::Receiving;
use crate::uploads::open;

/// A shorter piece at the end of a log is written anew with what is added to it.
const SHORT: u64 = 256 * 1024;

/// Keeps logs and artifacts of builds in an object store.
///
/// Objects cannot grow, so a log is stored in pieces: the name of each is the edition of the log and the offset of the
/// piece. The log is what the newest edition has from offset 0 on without a gap. Whoever replaces a log writes a new
/// edition and removes the old one.
pub struct BucketBuildFiles(Shelf);

impl BucketBuildFiles {
    /// The logs and artifacts of a store. Files are in the folder `scratch` while they are received.
    pub fn new(bucket: Bucket, scratch: &Path) -> Self {
        Self(Shelf::new(bucket, "builds", scratch))
    }

    /// The builds of a project that have a log or artifacts.
    pub fn builds(&self, project: ProjectId) -> Result<Vec<BuildId>, FilesError> {
        let found = self.0.bucket.folders(&self.0.of(project)).map_err(failed("listed"))?;
        Ok(found.into_iter().filter_map(|name| name.parse().ok().map(BuildId)).collect())
    }

    fn of(&self, project: ProjectId, build: BuildId) -> String {
        format!("{}/{build}", self.0.of(project))
    }

    fn artifacts_key(&self, project: ProjectId, build: BuildId) -> String {
        format!("{}/artifacts", self.of(project, build))
    }

    fn log(&self, project: ProjectId, build: BuildId) -> Result<Log, BucketError> {
        let prefix = format!("{}/log", self.of(project, build));
        Ok(Log::of(self.0.bucket.list(&prefix)?, prefix))
    }

    fn append(&self, log: &Log, at: u64, chunk: &[u8]) -> Result<(), BucketError> {
        let bucket = &self.0.bucket;
        // Pieces that begin later are what an interrupted call left.
        let later = log.pieces.iter().filter(|piece| piece.offset >= at && piece.offset > 0);
        let mut gone: Vec<String> = later.map(|piece| piece.stored.key.clone()).collect();
        let last = log.pieces.iter().rfind(|piece| piece.offset < at);
        let (offset, kept) = match last {
            Some(piece) if at < piece.end() || at - piece.offset < SHORT => {
                let kept = at.min(piece.end()) - piece.offset;
                (piece.offset, bucket.get(&piece.stored.key, 0..kept)?)
            }
            Some(_) | None => (at, Bytes::new()),
        };
        let key = log.key(log.edition, offset);
        gone.retain(|other| *other != key);
        if !gone.is_empty() {
            bucket.remove(gone)?;
        }
        let mut content = BytesMut::from(kept);
        content.extend_from_slice(chunk);
        bucket.put(&key, content.freeze())
    }

    fn replace(&self, log: Log, content: &[u8]) -> Result<(), BucketError> {
        let bucket = &self.0.bucket;
        bucket.put(&log.key(log.edition + 1, 0), Bytes::copy_from_slice(content))?;
        bucket.remove(log.all)
    }
}

/// A log, as it is stored.
struct Log {
    prefix: String,
    edition: u64,
    pieces: Vec<Piece>,
    /// The names of all objects, those of older editions included.
    all: Vec<String>,
}

/// A piece of a log.
struct Piece {
    offset: u64,
    stored: Stored,
}

impl Piece {
    fn end(&self) -> u64 {
        self.offset + self.stored.bytes
    }
}

impl Log {
    /// The log that these objects are, in the order of their names.
    fn of(objects: Vec<Stored>, prefix: String) -> Self {
        let all = objects.iter().map(|stored| stored.key.clone()).collect();
        let mut log = Self { prefix, edition: 0, pieces: vec![], all };
        for stored in objects {
            let name = stored.key.rsplit('/').next().and_then(|name| name.split_once('-'));
            let place = name.and_then(|(edition, offset)| {
                Some((edition.parse::<u64>().ok()?, offset.parse::<u64>().ok()?))
            });
            match place {
                Some((edition, 0)) => {
                    log.edition = edition;
                    log.pieces = vec![Piece { offset: 0, stored }];
                }
                Some((edition, offset)) if edition == log.edition && offset == log.bytes() => {
                    log.pieces.push(Piece { offset, stored });
                }
                Some(_) | None => (),
            }
        }
        log
    }

    fn key(&self, edition: u64, offset: u64) -> String {
        // In the order of names they are in the order of numbers.
        format!("{}/{edition:010}-{offset:020}", self.prefix)
    }

    fn bytes(&self) -> u64 {
        self.pieces.last().map_or(0, Piece::end)
    }

    fn read(self, bucket: &Bucket) -> Result<Option<StoredUpload>, BucketError> {
        if self.pieces.is_empty() {
            return Ok(None);
        }
        let size = self.bytes();
        let objects = self.pieces.into_iter().map(|piece| piece.stored).collect();
        Ok(Some(StoredUpload { size, content: Box::new(Pieces::open(bucket, objects)?) }))
    }

    /// The last bytes, at most so many.
    fn tail(&self, bucket: &Bucket, bytes: u64) -> Result<Vec<u8>, BucketError> {
        let from = self.bytes().saturating_sub(bytes);
        let mut tail = Vec::new();
        for piece in self.pieces.iter().filter(|piece| piece.end() > from) {
            let start = from.saturating_sub(piece.offset);
            tail.extend_from_slice(&bucket.get(&piece.stored.key, start..piece.stored.bytes)?);
        }
        Ok(tail)
    }
}

fn failed(what: &'static str) -> impl FnOnce(BucketError) -> FilesError {
    move |error| error.into_files_error(&format!("a file of a build could not be {what}"))
}

impl ProjectFiles for BucketBuildFiles {
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError> {
        self.0.projects()
    }

    fn discard(&self, project: ProjectId) {
        self.0.discard(project);
    }

    fn tidy(&self) -> Result<(), FilesError> {
        // A file that is not finished is no object.
        Ok(())
    }
}

impl BuildFiles for BucketBuildFiles {
    fn trace_size(&self, project: ProjectId, build: BuildId) -> Result<u64, FilesError> {
        self.log(project, build).map(|log| log.bytes()).map_err(failed("read"))
    }

    fn open_trace(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Option<StoredUpload>, FilesError> {
        let log = self.log(project, build);
        log.and_then(|log| log.read(&self.0.bucket)).map_err(failed("read"))
    }

    fn trace_tail(
        &self,
        project: ProjectId,
        build: BuildId,
        bytes: u64,
    ) -> Result<Vec<u8>, FilesError> {
        let log = self.log(project, build);
        log.and_then(|log| log.tail(&self.0.bucket, bytes)).map_err(failed("read"))
    }

    fn append_trace(
        &self,
        project: ProjectId,
        build: BuildId,
        at: u64,
        chunk: &[u8],
    ) -> Result<(), FilesError> {
        let log = self.log(project, build);
        log.and_then(|log| self.append(&log, at, chunk)).map_err(failed("written"))
    }

    fn replace_trace(
        &self,
        project: ProjectId,
        build: BuildId,
        content: &[u8],
    ) -> Result<(), FilesError> {
        let log = self.log(project, build);
        log.and_then(|log| self.replace(log, content)).map_err(failed("written"))
    }

    fn begin_artifacts(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Box<dyn NewUpload>, FilesError> {
        Receiving::begin(&self.0.bucket, &self.0.scratch, self.artifacts_key(project, build))
    }

    fn open_artifacts(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Option<StoredUpload>, FilesError> {
        open(&self.0.bucket, &self.artifacts_key(project, build))
    }

    fn remove_trace(&self, project: ProjectId, build: BuildId) -> Result<(), FilesError> {
        self.0.remove_below(&format!("{}/log", self.of(project, build)))
    }

    fn remove_artifacts(&self, project: ProjectId, build: BuildId) -> Result<(), FilesError> {
        let removed = self.0.bucket.remove(vec![self.artifacts_key(project, build)]);
        removed.map_err(failed("removed"))
    }
}
