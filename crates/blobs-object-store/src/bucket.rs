//! A blocking client of an object store.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use hexforge_domain::Timestamp;
use hexforge_domain::ports::files::FilesError;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, ObjectStoreScheme, WriteMultipart};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use url::Url;

use crate::connect::connect;
use crate::read::ObjectReader;
use crate::redact::redact;

/// The maximum size of the part of a file that one request carries.
const PIECE: usize = 8 * 1024 * 1024;

/// The number of attempts to download a piece.
const PIECE_ATTEMPTS: u32 = 4;

/// The maximum number of pieces that all downloads together request at a time. With more, requests would time out on a
/// slow connection.
const MAX_PIECE_DOWNLOADS: usize = 8;

/// The timeout of a small request.
const SMALL_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The time for which small requests fail at once after one timed out. Callers may hold a transaction, so they must not
/// wait for each timeout.
const BACKOFF: Duration = Duration::from_secs(5);

/// The number of bytes that are read of a small object at most.
const MAX_SMALL_OBJECT: u64 = 64 * 1024;

/// The maximum number of pieces of one file that are transferred at a time.
const MAX_PIECES_PER_FILE: usize = 4;

/// A blocking client of one prefix of an object store.
#[derive(Clone)]
pub struct Bucket {
    store: Arc<dyn ObjectStore>,
    background: Arc<BackgroundRuntime>,
    downloads: Arc<Semaphore>,
    /// Small requests fail at once until this time, because an earlier one timed out.
    backoff_until: Arc<Mutex<Option<Instant>>>,
}

/// The error of a request to the object store.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// No object has this key.
    #[error("object `{0}` does not exist")]
    Missing(String),
    /// The object store did not respond, or refused the request. A later attempt may succeed.
    #[error("{0}")]
    Unreachable(String),
    /// A local file cannot be read or written.
    #[error(transparent)]
    Local(#[from] io::Error),
    /// The address of the object store is invalid.
    #[error("{0}")]
    Address(String),
}

impl BucketError {
    /// Converts to the error type of the file ports.
    pub(crate) fn into_files_error(self, text: &str) -> FilesError {
        FilesError(text.to_owned(), Box::new(io::Error::from(self)))
    }
}

impl From<BucketError> for io::Error {
    fn from(error: BucketError) -> Self {
        let kind = match &error {
            BucketError::Missing(_) => io::ErrorKind::NotFound,
            BucketError::Unreachable(_) => io::ErrorKind::NotConnected,
            BucketError::Local(_) => io::ErrorKind::Other,
            BucketError::Address(_) => io::ErrorKind::InvalidInput,
        };
        match error {
            BucketError::Local(error) => error,
            error => io::Error::new(kind, error),
        }
    }
}

/// A stored object and its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// The key of the object.
    pub key: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The time at which it was stored.
    pub since: Timestamp,
}

impl From<ObjectMeta> for ObjectInfo {
    fn from(found: ObjectMeta) -> Self {
        let (key, bytes) = (found.location.to_string(), found.size);
        Self { key, bytes, since: found.last_modified }
    }
}

impl Bucket {
    /// Opens the object store at an address: `s3://bucket/prefix`, or one with the scheme `gs`, `az` or `file`.
    /// Variables such as `AWS_ACCESS_KEY_ID` set credentials and options.
    pub fn open(
        address: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, BucketError> {
        let address_error = |error: &dyn std::fmt::Display| BucketError::Address(error.to_string());
        let url = Url::parse(address).map_err(|error| address_error(&error))?;
        let (scheme, prefix) =
            ObjectStoreScheme::parse(&url).map_err(|error| address_error(&error))?;
        let variables: Vec<(String, String)> = variables.into_iter().collect();
        let store = connect(&scheme, &url, &variables)
            .map_err(|error| address_error(&redact(&error.to_string())))?;
        let store: Arc<dyn ObjectStore> = match scheme {
            // A local folder is the root of its store.
            ObjectStoreScheme::Local => store,
            _ => Arc::new(PrefixStore::new(store, prefix)),
        };
        Ok(Self {
            store,
            background: Arc::new(BackgroundRuntime::start()?),
            downloads: Arc::new(Semaphore::new(MAX_PIECE_DOWNLOADS)),
            backoff_until: Arc::default(),
        })
    }

    /// Reads the content of a small object. Returns `None` if no object has this key.
    pub fn read_small(&self, key: &str) -> Result<Option<Bytes>, BucketError> {
        match self.find(key)? {
            Some(found) => self.get(key, 0..found.bytes.min(MAX_SMALL_OBJECT)).map(Some),
            None => Ok(None),
        }
    }

    /// Stores an object, and replaces an existing one with this key.
    pub fn put(&self, key: &str, content: Bytes) -> Result<(), BucketError> {
        let path = Path::from(key);
        self.wait_with_timeout(key, self.store.put(&path, content.into())).map(drop)
    }

    /// Stores a file as an object, and replaces an existing one with this key.
    pub fn put_file(&self, key: &str, file: &FilePath) -> Result<(), BucketError> {
        self.put_open_file(key, &mut File::open(file)?)
    }

    /// Stores the rest of an open file as an object, and replaces an existing one with this key.
    pub fn put_open_file(&self, key: &str, file: &mut File) -> Result<(), BucketError> {
        let mut piece = next_piece(file)?;
        if piece.len() < PIECE {
            let put = self.wait(self.store.put(&Path::from(key), piece.into()));
            return put.map(drop).map_err(|error| to_bucket_error(key, error));
        }
        let path = Path::from(key);
        let multipart = self
            .wait(self.store.put_multipart(&path))
            .map_err(|error| to_bucket_error(key, error))?;
        let mut upload = WriteMultipart::new_with_chunk_size(multipart, PIECE);
        // Entering the runtime lets the upload spawn tasks for its parts.
        let _entered = self.background.runtime().enter();
        let sent = loop {
            if piece.is_empty() {
                break Ok(());
            }
            upload.put(piece);
            if let Err(error) = self.wait(upload.wait_for_capacity(MAX_PIECES_PER_FILE)) {
                break Err(to_bucket_error(key, error));
            }
            match next_piece(file) {
                Ok(next) => piece = next,
                Err(error) => break Err(error.into()),
            }
        };
        match sent {
            Ok(()) => {
                self.wait(upload.finish()).map(drop).map_err(|error| to_bucket_error(key, error))
            }
            Err(error) => {
                // An upload that is not aborted only takes space; stores remove it after some days.
                let _ = self.wait(upload.abort());
                Err(error)
            }
        }
    }

    /// Requests the metadata of an object. Returns `None` if no object has this key.
    pub fn find(&self, key: &str) -> Result<Option<ObjectInfo>, BucketError> {
        match self.wait_with_timeout(key, self.store.head(&Path::from(key))) {
            Err(BucketError::Missing(_)) => Ok(None),
            found => Ok(Some(found?.into())),
        }
    }

    /// Reads a range of an object.
    pub(crate) fn get(&self, key: &str, range: Range<u64>) -> Result<Bytes, BucketError> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let path = Path::from(key);
        self.wait_with_timeout(key, self.store.get_range(&path, range))
    }

    /// Opens an object for reading, piece by piece.
    pub fn read(&self, stored: ObjectInfo) -> Result<impl Read + Send + use<>, BucketError> {
        ObjectReader::open(self, vec![stored])
    }

    /// Downloads an object of known size, in pieces that are fetched in parallel and written in order.
    pub(crate) fn download(
        &self,
        stored: &ObjectInfo,
        to: &mut dyn Write,
    ) -> Result<(), BucketError> {
        let path = Path::from(stored.key.as_str());
        let starts = (0..stored.bytes).step_by(PIECE);
        let mut pieces = stream::iter(starts)
            .map(|start| {
                let end = (start + PIECE as u64).min(stored.bytes);
                let (store, path) = (Arc::clone(&self.store), path.clone());
                let downloads = Arc::clone(&self.downloads);
                async move {
                    let mut tries = 0;
                    loop {
                        let _permit = downloads.acquire().await;
                        match store.get_range(&path, start..end).await {
                            Err(object_store::Error::Generic { .. })
                                if tries + 1 < PIECE_ATTEMPTS =>
                            {
                                tries += 1;
                            }
                            piece => break piece,
                        }
                    }
                }
            })
            .buffered(MAX_PIECES_PER_FILE)
            .boxed();
        while let Some(piece) = self.wait(pieces.next()) {
            to.write_all(&piece.map_err(|error| to_bucket_error(&stored.key, error))?)?;
        }
        Ok(())
    }

    /// Calls `visit` for each object below a prefix until `visit` fails.
    pub(crate) fn each<E: From<BucketError>>(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(ObjectInfo) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut found = self.store.list(Some(&Path::from(prefix)));
        while let Some(object) = self.wait(found.next()) {
            visit(object.map_err(|error| to_bucket_error(prefix, error))?.into())?;
        }
        Ok(())
    }

    /// All objects below a prefix with few objects, sorted by key. This is a small request with a timeout.
    pub(crate) fn list_few(&self, prefix: &str) -> Result<Vec<ObjectInfo>, BucketError> {
        let found = self.store.list(Some(&Path::from(prefix)));
        let found = self.wait_with_timeout(prefix, found.try_collect::<Vec<ObjectMeta>>())?;
        let mut all: Vec<ObjectInfo> = found.into_iter().map(ObjectInfo::from).collect();
        all.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        Ok(all)
    }

    /// All objects below a prefix, sorted by key.
    pub fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, BucketError> {
        let mut all = Vec::new();
        self.each::<BucketError>(prefix, &mut |object| {
            all.push(object);
            Ok(())
        })?;
        all.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        Ok(all)
    }

    /// The names of the folders directly below a prefix.
    pub(crate) fn folders(&self, prefix: &str) -> Result<Vec<String>, BucketError> {
        let path = Path::from(prefix);
        let found = self.wait(self.store.list_with_delimiter(Some(&path)));
        let found = found.map_err(|error| to_bucket_error(prefix, error))?;
        let names = found.common_prefixes.iter().filter_map(Path::filename);
        Ok(names.map(str::to_owned).collect())
    }

    /// Removes objects. Missing ones are ignored.
    pub fn remove(&self, keys: Vec<String>) -> Result<(), BucketError> {
        let paths = stream::iter(keys).map(|key| Ok(Path::from(key)));
        let removed = self.store.delete_stream(paths.boxed());
        self.wait(ignore_missing(removed)).map_err(|error| to_bucket_error("objects", error))
    }

    /// Removes one object, with the timeout of a small request. A missing one is ignored.
    pub(crate) fn remove_one(&self, key: &str) -> Result<(), BucketError> {
        match self.wait_with_timeout(key, self.store.delete(&Path::from(key))) {
            Err(BucketError::Missing(_)) => Ok(()),
            removed => removed,
        }
    }

    /// Waits for a small request with a timeout. After a timeout, further small requests fail at once for a while.
    fn wait_with_timeout<T>(
        &self,
        key: &str,
        request: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, BucketError> {
        let timed_out =
            || BucketError::Unreachable("the object store did not respond in time".into());
        if self.lock_backoff().is_some_and(|until| Instant::now() < until) {
            return Err(timed_out());
        }
        match self.wait(async { tokio::time::timeout(SMALL_REQUEST_TIMEOUT, request).await }) {
            Ok(answer) => answer.map_err(|error| to_bucket_error(key, error)),
            Err(_) => {
                *self.lock_backoff() = Some(Instant::now() + BACKOFF);
                Err(timed_out())
            }
        }
    }

    fn lock_backoff(&self) -> MutexGuard<'_, Option<Instant>> {
        self.backoff_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.background.runtime().block_on(future)
    }
}

/// Waits for all removals. Objects that do not exist are not an error.
async fn ignore_missing(
    mut removed: impl Stream<Item = object_store::Result<Path>> + Unpin,
) -> object_store::Result<()> {
    loop {
        match removed.try_next().await {
            Ok(None) => return Ok(()),
            Ok(Some(_)) | Err(object_store::Error::NotFound { .. }) => (),
            Err(error) => return Err(error),
        }
    }
}

/// Reads the next piece of a file. It is shorter than [`PIECE`] only at the end.
fn next_piece(file: &mut File) -> io::Result<Bytes> {
    let mut piece = Vec::new();
    file.take(PIECE as u64).read_to_end(&mut piece)?;
    Ok(piece.into())
}

fn to_bucket_error(key: &str, error: object_store::Error) -> BucketError {
    match error {
        object_store::Error::NotFound { .. } => BucketError::Missing(redact(key)),
        error => BucketError::Unreachable(redact(&error.to_string())),
    }
}

/// The threads of the asynchronous runtime.
struct BackgroundRuntime(Option<Runtime>);

impl BackgroundRuntime {
    fn start() -> io::Result<Self> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(2).thread_name("object-store").enable_all();
        Ok(Self(Some(builder.build()?)))
    }

    fn runtime(&self) -> &Runtime {
        self.0.as_ref().expect("the runtime is taken only on drop")
    }
}

impl Drop for BackgroundRuntime {
    fn drop(&mut self) {
        // Dropping a runtime inside async code panics, so its threads end by themselves.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_name_no_store_are_refused() {
        for address in ["", "bucket", "ftp://bucket/x", "http://host/x", "s3:/x", "memory:///"] {
            let opened = Bucket::open(address, []);
            assert!(matches!(opened, Err(BucketError::Address(_))), "{address}");
        }
    }
}
