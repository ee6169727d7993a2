//! Stores logs and artifacts of builds in an object store.

use std::path::Path;

use bytes::{Bytes, BytesMut};
use hexforge_domain::hex;
use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::ports::build_files::BuildFiles;
use hexforge_domain::ports::files::{FilesError, ProjectFiles};
use hexforge_domain::ports::uploads::{NewFile, StoredFile};

use crate::bucket::{Bucket, BucketError, ObjectInfo};
use crate::prefix::ProjectPrefix;
use crate::read::ObjectReader;
use crate::receive::PendingUpload;
use crate::uploads::open_object;

/// A last piece shorter than this is replaced by a longer one when text is appended.
const SHORT_PIECE: u64 = 256 * 1024;

/// The number of attempts to open a log whose pieces are replaced meanwhile.
const READ_ATTEMPTS: u32 = 5;

/// Stores logs and artifacts of builds in an object store.
///
/// Objects cannot grow, so a log is stored in pieces. The key of a piece contains the edition of the log and the start
/// and end offsets of the piece. A reader joins the pieces of the newest edition from offset 0 to the first gap; of two
/// pieces with the same start offset it takes the longer one. Replacing a log writes a new edition and removes the old
/// one. No object is written twice, so a request that the store executes late changes nothing.
///
/// Artifacts are stored under a random key. The object `artifacts` contains the name of the current artifacts.
pub struct BucketBuildFiles(ProjectPrefix);

impl BucketBuildFiles {
    /// The logs and artifacts in an object store. Uploads are received in the folder `scratch`.
    pub fn new(bucket: Bucket, scratch: &Path) -> Self {
        Self(ProjectPrefix::new(bucket, "builds", scratch))
    }

    /// The builds of a project that have a log or artifacts.
    pub fn builds(&self, project: ProjectId) -> Result<Vec<BuildId>, FilesError> {
        let found =
            self.0.bucket.folders(&self.0.project_key(project)).map_err(file_error("listed"))?;
        Ok(found.into_iter().filter_map(|name| name.parse().ok().map(BuildId)).collect())
    }

    fn build_key(&self, project: ProjectId, build: BuildId) -> String {
        format!("{}/{build}", self.0.project_key(project))
    }

    /// The key of the object that contains the name of the current artifacts.
    fn artifacts_key(&self, project: ProjectId, build: BuildId) -> String {
        format!("{}/artifacts", self.build_key(project, build))
    }

    /// The key of the current artifacts. Returns `None` if the build has no artifacts.
    fn current_artifacts(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Option<String>, BucketError> {
        let name = self.0.bucket.read_small(&self.artifacts_key(project, build))?;
        let name = name.map(|name| String::from_utf8_lossy(&name).into_owned());
        Ok(name.map(|name| format!("{}/{name}", self.build_key(project, build))))
    }

    fn load_log(&self, project: ProjectId, build: BuildId) -> Result<Log, BucketError> {
        let prefix = format!("{}/log", self.build_key(project, build));
        Ok(Log::from_objects(self.0.bucket.list_few(&prefix)?, prefix))
    }

    fn append(&self, log: &Log, at: u64, chunk: &[u8]) -> Result<(), BucketError> {
        let bucket = &self.0.bucket;
        let last = log.pieces.iter().rfind(|piece| piece.offset < at);
        let (offset, kept) = match last {
            Some(piece) if at < piece.end() || at - piece.offset < SHORT_PIECE => {
                let kept = at.min(piece.end()) - piece.offset;
                (piece.offset, bucket.get(&piece.stored.key, 0..kept)?)
            }
            Some(_) | None => (at, Bytes::new()),
        };
        let mut content = BytesMut::from(kept);
        content.extend_from_slice(chunk);
        let key = log.key(log.edition, offset, offset + content.len() as u64);
        bucket.put(&key, content.freeze())?;
        // Pieces that begin later are left over from an interrupted call.
        let is_old =
            |(edition, start, _): &(u64, u64, u64)| *edition == log.edition && *start >= offset;
        let old = log.keys.iter().filter(|other| {
            **other != key && parse_piece_key(other).is_some_and(|place| is_old(&place))
        });
        let old: Vec<String> = old.cloned().collect();
        if old.is_empty() { Ok(()) } else { bucket.remove(old) }
    }

    fn replace(&self, log: Log, content: &[u8]) -> Result<(), BucketError> {
        let bucket = &self.0.bucket;
        let key = log.key(log.edition + 1, 0, content.len() as u64);
        bucket.put(&key, Bytes::copy_from_slice(content))?;
        bucket.remove(log.keys)
    }
}

/// The stored pieces of a log.
struct Log {
    prefix: String,
    edition: u64,
    pieces: Vec<Piece>,
    /// The keys of all objects, including older editions.
    keys: Vec<String>,
}

/// A piece of a log.
struct Piece {
    offset: u64,
    stored: ObjectInfo,
}

impl Piece {
    fn end(&self) -> u64 {
        self.offset + self.stored.bytes
    }
}

impl Log {
    /// Selects the current pieces from the objects of a log. The objects must be sorted by key.
    fn from_objects(objects: Vec<ObjectInfo>, prefix: String) -> Self {
        let keys = objects.iter().map(|stored| stored.key.clone()).collect();
        let mut log = Self { prefix, edition: 0, pieces: vec![], keys };
        for stored in objects {
            let Some((edition, offset, end)) = parse_piece_key(&stored.key) else { continue };
            if end != offset + stored.bytes {
                continue;
            }
            if offset == 0 && edition > log.edition || log.pieces.is_empty() {
                log.edition = edition;
                log.pieces.clear();
            }
            // Of several pieces with the same start, the longest comes last.
            if edition == log.edition && log.pieces.last().is_some_and(|last| last.offset == offset)
            {
                log.pieces.pop();
            }
            if edition == log.edition && offset == log.bytes() {
                log.pieces.push(Piece { offset, stored });
            }
        }
        log
    }

    fn key(&self, edition: u64, offset: u64, end: u64) -> String {
        // The numbers are padded with zeros, so that keys sort in numeric order.
        format!("{}/{edition:010}-{offset:020}-{end:020}", self.prefix)
    }

    fn bytes(&self) -> u64 {
        self.pieces.last().map_or(0, Piece::end)
    }

    fn read(self, bucket: &Bucket) -> Result<Option<StoredFile>, BucketError> {
        if self.pieces.is_empty() {
            return Ok(None);
        }
        let size = self.bytes();
        let objects = self.pieces.into_iter().map(|piece| piece.stored).collect();
        Ok(Some(StoredFile { size, content: Box::new(ObjectReader::open(bucket, objects)?) }))
    }

    /// The last bytes of the log, at most `bytes`.
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

fn random_bytes() -> [u8; 16] {
    let mut random = [0; 16];
    getrandom::fill(&mut random).expect("the operating system has random numbers");
    random
}

/// Parses the edition and the offsets from the key of a piece.
fn parse_piece_key(key: &str) -> Option<(u64, u64, u64)> {
    let mut numbers = key.rsplit('/').next()?.split('-').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next()??))
}

fn file_error(what: &'static str) -> impl FnOnce(BucketError) -> FilesError {
    move |error| error.into_files_error(&format!("a file of a build could not be {what}"))
}

impl ProjectFiles for BucketBuildFiles {
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError> {
        self.0.projects()
    }

    fn remove_project(&self, project: ProjectId) {
        self.0.remove_project(project);
    }

    fn remove_leftovers(&self) -> Result<(), FilesError> {
        // Unfinished uploads are local files, not objects, so there is nothing to remove.
        Ok(())
    }
}

impl BuildFiles for BucketBuildFiles {
    fn trace_size(&self, project: ProjectId, build: BuildId) -> Result<u64, FilesError> {
        self.load_log(project, build).map(|log| log.bytes()).map_err(file_error("read"))
    }

    fn open_trace(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Option<StoredFile>, FilesError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let log = self.load_log(project, build);
            match log.and_then(|log| log.read(&self.0.bucket)) {
                // A piece was replaced by a longer one meanwhile.
                Err(BucketError::Missing(_)) if tries < READ_ATTEMPTS => (),
                opened => return opened.map_err(file_error("read")),
            }
        }
    }

    fn trace_tail(
        &self,
        project: ProjectId,
        build: BuildId,
        bytes: u64,
    ) -> Result<Vec<u8>, FilesError> {
        let log = self.load_log(project, build);
        log.and_then(|log| log.tail(&self.0.bucket, bytes)).map_err(file_error("read"))
    }

    fn append_trace(
        &self,
        project: ProjectId,
        build: BuildId,
        at: u64,
        chunk: &[u8],
    ) -> Result<(), FilesError> {
        let log = self.load_log(project, build);
        log.and_then(|log| self.append(&log, at, chunk)).map_err(file_error("written"))
    }

    fn replace_trace(
        &self,
        project: ProjectId,
        build: BuildId,
        content: &[u8],
    ) -> Result<(), FilesError> {
        let log = self.load_log(project, build);
        log.and_then(|log| self.replace(log, content)).map_err(file_error("written"))
    }

    fn begin_artifacts(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Box<dyn NewFile>, FilesError> {
        let name = format!("artifacts-{}", hex::encode(&random_bytes()));
        let key = format!("{}/{name}", self.build_key(project, build));
        let upload = PendingUpload::begin(&self.0.bucket, &self.0.scratch, key)?;
        let (bucket, pointer) = (self.0.bucket.clone(), self.artifacts_key(project, build));
        let before = self.current_artifacts(project, build).map_err(file_error("read"))?;
        Ok(Box::new(upload.with_publish(Box::new(move || {
            bucket.put(&pointer, name.into()).map_err(file_error("stored"))?;
            let old = before.map_or(Ok(()), |before| bucket.remove(vec![before]));
            // Old artifacts that cannot be removed now are removed with the project.
            if let Err(error) = old {
                tracing::warn!(
                    %error,
                    "replaced artifacts could not be removed and stay until their project is removed"
                );
            }
            Ok(())
        }))))
    }

    fn open_artifacts(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Option<StoredFile>, FilesError> {
        match self.current_artifacts(project, build).map_err(file_error("read"))? {
            Some(key) => open_object(&self.0.bucket, &key),
            None => Ok(None),
        }
    }

    fn remove_trace(&self, project: ProjectId, build: BuildId) -> Result<(), FilesError> {
        self.0.remove_below(&format!("{}/log", self.build_key(project, build)))
    }

    fn remove_artifacts(&self, project: ProjectId, build: BuildId) -> Result<(), FilesError> {
        let removed = self.current_artifacts(project, build).and_then(|key| {
            let keys = key.into_iter().chain([self.artifacts_key(project, build)]);
            self.0.bucket.remove(keys.collect())
        });
        removed.map_err(file_error("removed"))
    }
}
