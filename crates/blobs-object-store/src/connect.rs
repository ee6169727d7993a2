//! Creates clients for the kinds of object stores.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::{BackoffConfig, ObjectStore, ObjectStoreScheme, RetryConfig};
use url::Url;

/// The timeout of one request, including its body.
const REQUEST_TIMEOUT: &str = "30 seconds";

/// The timeout of a connection attempt.
const CONNECT_TIMEOUT: &str = "5 seconds";

/// Creates the client of an object store.
pub(crate) fn connect(
    scheme: &ObjectStoreScheme,
    url: &Url,
    variables: &[(String, String)],
) -> object_store::Result<Arc<dyn ObjectStore>> {
    // Fails harmlessly when another part of the program has installed a provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let retry = RetryConfig {
        backoff: BackoffConfig { max_backoff: Duration::from_secs(2), ..BackoffConfig::default() },
        max_retries: 4,
        retry_timeout: Duration::from_secs(15),
    };
    /// A macro, because the builders have the same methods but no common trait.
    macro_rules! build {
        ($builder:ty) => {{
            let limits = [("timeout", REQUEST_TIMEOUT), ("connect_timeout", CONNECT_TIMEOUT)];
            let limits = limits.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let is_plain = |(name, value): &&(String, String)| {
                name.to_ascii_lowercase().contains("endpoint") && value.starts_with("http://")
            };
            // An endpoint that begins with `http://` is used without TLS.
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
            let folder =
                url.to_file_path().map_err(|()| unusable("the address has no file path".into()))?;
            std::fs::create_dir_all(&folder).map_err(|error| unusable(error.into()))?;
            let store = LocalFileSystem::new_with_prefix(folder)?;
            Ok(Arc::new(store.with_fsync(true).with_automatic_cleanup(true)))
        }
        _ => Err(object_store::Error::NotSupported {
            source: "the address must begin with s3://, gs://, az:// or file:///".into(),
        }),
    }
}
