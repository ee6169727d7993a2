//! The object store, for callers that wait.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use hexforge_domain::Timestamp;
use hexforge_domain::ports::files::FilesError;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{
    BackoffConfig, ObjectMeta, ObjectStore, ObjectStoreExt, ObjectStoreScheme, RetryConfig,
    WriteMultipart,
};
use tokio::runtime::Runtime;
use url::Url;

use crate::read::Pieces;

/// The largest piece of a file that one request carries.
const PIECE: usize = 8 * 1024 * 1024;

/// The number of pieces of one file that are under way at once.
const AT_ONCE: usize = 4;

/// How long one request may take, its body included.
const REQUEST: &str = "30 seconds";

/// How long a connection may take.
const CONNECT: &str = "5 seconds";

/// The number of hex digits of the secret in the address of an uploaded file.
const SECRET: usize = 32;

/// A place in an object store, for callers that wait.
#[derive(Clone)]
pub struct Bucket {
    store: Arc<dyn ObjectStore>,
    background: Arc<Background>,
}

/// Why an object cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// There is no object of this name.
    #[error("there is no object {0}")]
    Missing(String),
    /// The object store does not answer, or refuses; later it may not.
    #[error("{0}")]
    Away(String),
    /// A file of this machine cannot be read or written.
    #[error(transparent)]
    Local(#[from] io::Error),
    /// The address of the object store cannot be used.
    #[error("{0}")]
    Address(String),
}

impl BucketError {
    /// The error of a port to files.
    pub(crate) fn into_files_error(self, text: &str) -> FilesError {
        FilesError(text.to_owned(), Box::new(io::Error::from(self)))
    }
}

impl From<BucketError> for io::Error {
    fn from(error: BucketError) -> Self {
        let kind = match &error {
            BucketError::Missing(_) => io::ErrorKind::NotFound,
            BucketError::Away(_) => io::ErrorKind::NotConnected,
            BucketError::Local(_) => io::ErrorKind::Other,
            BucketError::Address(_) => io::ErrorKind::InvalidInput,
        };
        match error {
            BucketError::Local(error) => error,
            error => io::Error::new(kind, error),
        }
    }
}

/// A stored object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The name of the object.
    pub key: String,
    /// Its length.
    pub bytes: u64,
    /// When it was stored.
    pub since: Timestamp,
}

impl From<ObjectMeta> for Stored {
    fn from(found: ObjectMeta) -> Self {
        let (key, bytes) = (found.location.to_string(), found.size);
        Self { key, bytes, since: found.last_modified }
    }
}

impl Bucket {
    /// The place with this address: `s3://bucket/prefix`, also with `gs`, `az` or `file`. Variables such as
    /// `AWS_ACCESS_KEY_ID` tell the rest.
    pub fn open(
        address: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, BucketError> {
        let wrong = |error: &dyn std::fmt::Display| BucketError::Address(error.to_string());
        let url = Url::parse(address).map_err(|error| wrong(&error))?;
        let (scheme, prefix) = ObjectStoreScheme::parse(&url).map_err(|error| wrong(&error))?;
        let variables: Vec<(String, String)> = variables.into_iter().collect();
        let store = connect(&scheme, &url, &variables)
            .map_err(|error| wrong(&cleaned(&error.to_string())))?;
        let store: Arc<dyn ObjectStore> = match scheme {
            // A local folder is the root of its store.
            ObjectStoreScheme::Local => store,
            _ => Arc::new(PrefixStore::new(store, prefix)),
        };
        Ok(Self { store, background: Arc::new(Background::start()?) })
    }

    /// Asks the store for anything, to learn whether it answers.
    pub fn probe(&self) -> Result<(), BucketError> {
        match self.find("probe")? {
            Some(_) | None => Ok(()),
        }
    }

    /// Stores an object, in place of one of that name.
    pub(crate) fn put(&self, key: &str, content: Bytes) -> Result<(), BucketError> {
        let path = Path::from(key);
        self.wait(self.store.put(&path, content.into())).map_err(|error| told(key, error))?;
        Ok(())
    }

    /// Stores a file as an object, in place of one of that name.
    pub fn put_file(&self, key: &str, file: &FilePath) -> Result<(), BucketError> {
        self.put_open_file(key, &mut File::open(file)?)
    }

    /// Stores the rest of an open file as an object, in place of one of that name.
    pub fn put_open_file(&self, key: &str, file: &mut File) -> Result<(), BucketError> {
        let mut piece = next_piece(file)?;
        if piece.len() < PIECE {
            return self.put(key, piece);
        }
        let path = Path::from(key);
        let begun = self.wait(self.store.put_multipart(&path)).map_err(|error| told(key, error))?;
        let mut upload = WriteMultipart::new_with_chunk_size(begun, PIECE);
        // Parts are sent by tasks, which are started here.
        let _entered = self.background.runtime().enter();
        let sent = loop {
            if piece.is_empty() {
                break Ok(());
            }
            upload.put(piece);
            if let Err(error) = self.wait(upload.wait_for_capacity(AT_ONCE)) {
                break Err(told(key, error));
            }
            match next_piece(file) {
                Ok(next) => piece = next,
                Err(error) => break Err(error.into()),
            }
        };
        match sent {
            Ok(()) => self.wait(upload.finish()).map(drop).map_err(|error| told(key, error)),
            Err(error) => {
                // What is left of it takes room only; stores remove it after some days.
                let _ = self.wait(upload.abort());
                Err(error)
            }
        }
    }

    /// A stored object; `None` when there is none of that name.
    pub fn find(&self, key: &str) -> Result<Option<Stored>, BucketError> {
        match self.wait(self.store.head(&Path::from(key))) {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            found => Ok(Some(found.map_err(|error| told(key, error))?.into())),
        }
    }

    /// A part of an object.
    pub(crate) fn get(&self, key: &str, range: Range<u64>) -> Result<Bytes, BucketError> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let path = Path::from(key);
        self.wait(self.store.get_range(&path, range)).map_err(|error| told(key, error))
    }

    /// Reads an object, piece by piece.
    pub fn read(&self, stored: Stored) -> Result<impl Read + Send + use<>, BucketError> {
        Pieces::open(self, vec![stored])
    }

    /// Writes an object of known length into a file.
    pub(crate) fn download(&self, stored: &Stored, to: &mut dyn Write) -> Result<(), BucketError> {
        let path = Path::from(stored.key.as_str());
        let starts = (0..stored.bytes).step_by(PIECE);
        let mut pieces = stream::iter(starts)
            .map(|start| {
                let end = (start + PIECE as u64).min(stored.bytes);
                let (store, path) = (Arc::clone(&self.store), path.clone());
                async move { store.get_range(&path, start..end).await }
            })
            .buffered(AT_ONCE)
            .boxed();
        while let Some(piece) = self.wait(pieces.next()) {
            to.write_all(&piece.map_err(|error| told(&stored.key, error))?)?;
        }
        Ok(())
    }

    /// Calls `visit` with each object below a prefix until `visit` fails.
    pub(crate) fn each<E: From<BucketError>>(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(Stored) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut found = self.store.list(Some(&Path::from(prefix)));
        while let Some(object) = self.wait(found.next()) {
            visit(object.map_err(|error| told(prefix, error))?.into())?;
        }
        Ok(())
    }

    /// All objects below a prefix, by their names.
    pub fn list(&self, prefix: &str) -> Result<Vec<Stored>, BucketError> {
        let mut all = Vec::new();
        self.each::<BucketError>(prefix, &mut |object| {
            all.push(object);
            Ok(())
        })?;
        all.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        Ok(all)
    }

    /// The names directly below a prefix that have further names below them.
    pub(crate) fn folders(&self, prefix: &str) -> Result<Vec<String>, BucketError> {
        let path = Path::from(prefix);
        let found = self.wait(self.store.list_with_delimiter(Some(&path)));
        let found = found.map_err(|error| told(prefix, error))?;
        let names = found.common_prefixes.iter().filter_map(Path::filename);
        Ok(names.map(str::to_owned).collect())
    }

    /// Removes objects; missing ones are passed over.
    pub fn remove(&self, keys: Vec<String>) -> Result<(), BucketError> {
        let paths = stream::iter(keys).map(|key| Ok(Path::from(key)));
        let removed = self.store.delete_stream(paths.boxed());
        self.wait(all_or_missing(removed)).map_err(|error| told("objects", error))
    }

    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.background.runtime().block_on(future)
    }
}

async fn all_or_missing(
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

/// The client of a store.
fn connect(
    scheme: &ObjectStoreScheme,
    url: &Url,
    variables: &[(String, String)],
) -> object_store::Result<Arc<dyn ObjectStore>> {
    // Another part of the program may have installed it before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let retry = RetryConfig {
        backoff: BackoffConfig { max_backoff: Duration::from_secs(2), ..BackoffConfig::default() },
        max_retries: 4,
        retry_timeout: Duration::from_secs(15),
    };
    /// Each builder has the same functions, and no trait for them.
    macro_rules! build {
        ($builder:ty) => {{
            let limits = [("timeout", REQUEST), ("connect_timeout", CONNECT)];
            let limits = limits.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let is_plain = |(name, value): &&(String, String)| {
                name.to_ascii_lowercase().contains("endpoint") && value.starts_with("http://")
            };
            // Whoever gives an address without TLS means it.
            let plain = variables.iter().find(is_plain);
            let plain = plain.map(|_| ("allow_http".to_owned(), "true".to_owned()));
            let settings = limits.into_iter().chain(plain).chain(variables.iter().cloned());
            let builder = <$builder>::new().with_url(url.as_str()).with_retry(retry);
            let builder = settings.fold(builder, |builder, (name, value)| {
                match name.to_ascii_lowercase().parse() {
                    Ok(name) => builder.with_config(name, value),
                    Err(_) => builder,
                }
            });
            Ok(Arc::new(builder.build()?))
        }};
    }
    match scheme {
        ObjectStoreScheme::AmazonS3 => build!(AmazonS3Builder),
        ObjectStoreScheme::GoogleCloudStorage => build!(GoogleCloudStorageBuilder),
        ObjectStoreScheme::MicrosoftAzure => build!(MicrosoftAzureBuilder),
        ObjectStoreScheme::Local => {
            let unusable = |source| object_store::Error::Generic { store: "file", source };
            let folder = url.to_file_path().map_err(|()| unusable("no path".into()))?;
            std::fs::create_dir_all(&folder).map_err(|error| unusable(error.into()))?;
            let store = LocalFileSystem::new_with_prefix(folder)?;
            Ok(Arc::new(store.with_fsync(true).with_automatic_cleanup(true)))
        }
        _ => Err(object_store::Error::NotSupported {
            source: "it has to begin with s3://, gs://, az:// or file:///".into(),
        }),
    }
}

/// The next bytes of a file; fewer than a piece at its end.
fn next_piece(file: &mut File) -> io::Result<Bytes> {
    let mut piece = Vec::new();
    file.take(PIECE as u64).read_to_end(&mut piece)?;
    Ok(piece.into())
}

fn told(key: &str, error: object_store::Error) -> BucketError {
    match error {
        object_store::Error::NotFound { .. } => BucketError::Missing(key.to_owned()),
        error => BucketError::Away(cleaned(&error.to_string())),
    }
}

/// A text without secrets: queries of addresses may contain signatures, and keys of uploaded files do.
fn cleaned(text: &str) -> String {
    let is_secret =
        |part: &str| part.len() == SECRET && part.bytes().all(|b| b.is_ascii_hexdigit());
    let parts = text.split('/').map(|part| if is_secret(part) { "..." } else { part });
    without_queries(&parts.collect::<Vec<_>>().join("/"))
}

fn without_queries(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('?') {
        shown.push_str(&rest[..start]);
        let query = &rest[start..];
        let end = query.find(|c: char| c.is_whitespace() || "\"')>,".contains(c));
        rest = end.map_or("", |end| &query[end..]);
    }
    shown + rest
}

/// Threads that speak to the store.
struct Background(Option<Runtime>);

impl Background {
    fn start() -> io::Result<Self> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(2).thread_name("object-store").enable_all();
        Ok(Self(Some(builder.build()?)))
    }

    fn runtime(&self) -> &Runtime {
        self.0.as_ref().expect("it is taken when it is dropped")
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // A runtime may not wait for its threads where others wait for it.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_do_not_show_secrets() {
        let uploaded = format!("PUT http://a/uploads/1/{}/61 failed", "0f".repeat(16));
        for (text, shown) in [
            (uploaded.as_str(), "PUT http://a/uploads/1/.../61 failed"),
            ("plain", "plain"),
            ("for url (https://a/b?sig=secret&x=1) it failed", "for url (https://a/b) it failed"),
            ("one ?a two ?b", "one  two "),
        ] {
            assert_eq!(cleaned(text), shown);
        }
    }

    #[test]
    fn addresses_that_name_no_store_are_refused() {
        for address in ["", "bucket", "ftp://bucket/x", "http://host/x", "s3:/x", "memory:///"] {
            let opened = Bucket::open(address, []);
            assert!(matches!(opened, Err(BucketError::Address(_))), "{address}");
        }
    }
}
