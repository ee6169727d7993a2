//! Prevents two installations from sharing one prefix of an object store: each would remove objects
//! that the other needs.

use std::fs;

use anyhow::{Context, Result, ensure};
use hexforge_blobs_object_store::{Bucket, BucketError};
use hexforge_persistence_diesel::DieselStore;

use super::{CacheFolders, bucket};
use crate::config::Config;
use crate::system::{self, random_name};

/// The key of the object with the installation id, and the name of the secret in the database.
const KEY: &str = "installation";

/// Ensures that the object store belongs to the installation of this database. An empty prefix
/// belongs to the first installation that claims it.
///
/// A machine that claimed the store before also starts while the store is unreachable: it serves its cache.
pub fn claim(config: &Config, store: &DieselStore) -> Result<()> {
    let Some(bucket) = bucket(config)? else { return Ok(()) };
    let id = store.shared_secret::<anyhow::Error>(KEY, || Ok(random_name()))?;
    let root = CacheFolders::new(config).root;
    let noted = root.join(KEY);
    match find_or_put(&bucket, &id) {
        Ok(owner) => {
            ensure!(owner == id, "{}", belongs_to_another(config));
            system::make_folders(&root)?;
            fs::write(noted, id).context("the installation id cannot be stored in the cache folder")
        }
        Err(error @ BucketError::Unreachable(_))
            if fs::read_to_string(noted).is_ok_and(|it| it == id) =>
        {
            tracing::error!(%error, "the object store does not answer");
            Ok(())
        }
        Err(error) => Err(error).context("the object store cannot be used"),
    }
}

/// Ensures that the object store belongs to no installation yet, for a restore.
pub fn ensure_unclaimed(config: &Config) -> Result<()> {
    let Some(bucket) = bucket(config)? else { return Ok(()) };
    let owner = bucket.read_small(KEY).context("the object store cannot be used")?;
    ensure!(owner.is_none(), "{}; restore into an empty prefix", belongs_to_another(config));
    Ok(())
}

/// Removes the installation id from a restored database, so that it differs from the installation of the backup.
pub fn forget(store: &DieselStore) -> Result<()> {
    Ok(store.delete_shared_secret(KEY)?)
}

fn find_or_put(bucket: &Bucket, id: &str) -> Result<String, BucketError> {
    if bucket.read_small(KEY)?.is_none() {
        bucket.put(KEY, id.to_owned().into())?;
    }
    let owner = bucket.read_small(KEY)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&owner).into_owned())
}

fn belongs_to_another(config: &Config) -> String {
    let address = config.object_store_url.as_deref().unwrap_or_default();
    format!("the object store {address} belongs to another installation")
}
