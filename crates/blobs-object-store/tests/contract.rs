//! The contracts of the ports, on an object store in a folder. The tests in `tests/` run them over the wire.

use std::path::Path;

use hexforge_blobs_object_store::{
    Bucket, BucketBuildFiles, BucketLfsFiles, BucketUploads, CachedPacks,
};
use hexforge_domain::ports::pack_store::PackStore;
use hexforge_domain_testing::{build_files_contract, lfs_files_contract, uploads_contract};
use hexforge_pack_store::contract::{self, World};

fn bucket(folder: &Path) -> Bucket {
    let address = format!("file://{}", folder.join("store").display());
    Bucket::open(&address, []).expect("a folder is a store")
}

#[test]
fn cached_packs_keep_the_contract() {
    for case in contract::CASES {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let open = |name: &str| {
            CachedPacks::open(bucket(folder.path()), folder.path().join(name), 1 << 20)
                .expect("a cache can be made")
        };
        let store = open("cache");
        let reopen = || -> Box<dyn PackStore> { Box::new(open("other")) };
        case(&World { store: &store, reopen: &reopen, folder: folder.path() });
    }
}

#[test]
fn uploads_keep_the_contract() {
    for case in uploads_contract::CASES {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        case(&BucketUploads::new(bucket(folder.path()), &folder.path().join("scratch")));
    }
}

#[test]
fn build_files_keep_the_contract() {
    for case in build_files_contract::CASES {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        case(&BucketBuildFiles::new(bucket(folder.path()), &folder.path().join("scratch")));
    }
}

#[test]
fn lfs_files_keep_the_contract() {
    for case in lfs_files_contract::CASES {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        case(&BucketLfsFiles::new(bucket(folder.path()), &folder.path().join("scratch")));
    }
}
