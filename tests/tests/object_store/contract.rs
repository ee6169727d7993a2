//! The contract tests of the ports, with an S3 server.

use hexforge_blobs_object_store::{BucketBuildFiles, BucketLfsFiles, BucketUploads, CachedPacks};
use hexforge_domain::ports::pack_store::PackStore;
use hexforge_domain_testing::{build_files_contract, lfs_files_contract, uploads_contract};
use hexforge_pack_store::contract::{self, World};
use hexforge_tests::s3::S3Server;

#[test]
fn cached_packs_keep_the_contract() {
    for case in contract::CASES {
        let (server, folder) = (S3Server::start(), tempfile::tempdir().expect("a folder"));
        // Small pages, so that lists have several.
        server.set_page_size(2);
        let open = |name: &str| {
            CachedPacks::open(server.bucket(), folder.path().join(name), 1 << 20)
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
        let (server, folder) = (S3Server::start(), tempfile::tempdir().expect("a folder"));
        server.set_page_size(2);
        case(&BucketUploads::new(server.bucket(), folder.path()));
    }
}

#[test]
fn build_files_keep_the_contract() {
    for case in build_files_contract::CASES {
        let (server, folder) = (S3Server::start(), tempfile::tempdir().expect("a folder"));
        server.set_page_size(2);
        case(&BucketBuildFiles::new(server.bucket(), folder.path()));
    }
}

#[test]
fn lfs_files_keep_the_contract() {
    for case in lfs_files_contract::CASES {
        let (server, folder) = (S3Server::start(), tempfile::tempdir().expect("a folder"));
        server.set_page_size(2);
        case(&BucketLfsFiles::new(server.bucket(), folder.path()));
    }
}

/// A pack that is uploaded in several parts is unchanged.
#[test]
fn large_packs_are_sent_and_fetched_in_parts() {
    let (server, folder) = (S3Server::start(), tempfile::tempdir().expect("a folder"));
    let open = |name: &str| {
        CachedPacks::open(server.bucket(), folder.path().join(name), 1 << 30)
            .expect("a cache can be made")
    };
    let mut number = 1_u64;
    let content: Vec<u8> = (0..20 << 20)
        .map(|_| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (number >> 56) as u8
        })
        .collect();
    let (data, index) = (folder.path().join("data"), folder.path().join("index"));
    std::fs::write(&data, &content).expect("it can be written");
    std::fs::write(&index, "an index").expect("it can be written");
    let pack = open("one").put(&data, &index, 1).expect("it can be stored");
    let parts = server.requests().iter().filter(|request| request.contains("partNumber")).count();
    assert_eq!(parts, 3);
    let found = open("other").local_path(&pack).expect("it is stored");
    assert!(std::fs::read(found).expect("it can be read") == content);
    assert_eq!(server.unfinished_uploads(), Vec::<String>::new());
}
