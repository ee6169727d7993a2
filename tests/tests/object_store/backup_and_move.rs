//! Backups of installations with an object store, and moving an installation into one.

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::Request;
use hexforge_tests::installation::Installation;
use hexforge_tests::program::{Program, ROOT};

use crate::support::{Site, output_text};

/// The SHA-256 of the LFS object `content`.
const LFS_OBJECT: &str = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";

/// Uploads an LFS object and a file, and returns the address of the file.
fn upload(server: &Program) -> String {
    let path = format!("/root/ship.git/gitlab-lfs/objects/{LFS_OBJECT}/7");
    let stored = server.page("PUT", &path).token(ROOT).body("content").send();
    assert_eq!(stored.status, 200, "{}", stored.text());
    let file = server.request("POST", "/projects/1/uploads").token(ROOT);
    let url = file.file("notes-1.txt", b"text").send().expect(201)["url"].clone();
    format!("/root/ship{}", url.as_str().unwrap_or_default())
}

fn assert_uploaded(server: &Program, url: &str) {
    let answer = Request::new(server.address, "GET", url).token(ROOT).send();
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"text"[..]));
    let path = format!("/root/ship.git/gitlab-lfs/objects/{LFS_OBJECT}");
    let object = server.page("GET", &path).token(ROOT).send();
    assert_eq!((object.status, object.body.as_slice()), (200, &b"content"[..]));
}

#[test]
fn a_backup_of_an_object_store_is_restored_into_another_one() {
    let mut site = Site::single();
    site.project("ship");
    let url = upload(&site.servers[0]);
    let file = site.folder.path().join("backup");
    let file = file.to_string_lossy().into_owned();
    let made = site.run(0, &["backup", &file]);
    assert!(made.status.success(), "{}", output_text(&made));
    let verified = site.run(0, &["verify", &file]);
    assert!(verified.status.success(), "{}", output_text(&verified));

    let database = TestDatabase::sqlite();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    site.installation = Installation::machines(&database, folder.path(), 1);
    let data = site.installation.folder(0).to_owned();
    let restored = site.run_in(&data, &database, &["restore", &file]);
    assert!(restored.status.success(), "{}", output_text(&restored));
    site.servers[0] = site.installation.start(0);
    site.clone_and_compare(0, "ship");
    assert_uploaded(&site.servers[0], &url);
    assert!(!data.join("packs").exists() && !data.join("packs-before-object-store").exists());
    let doctor = site.run_in(&data, &database, &["doctor", "--deep"]);
    assert!(doctor.status.success(), "{}", output_text(&doctor));
}

#[test]
fn an_installation_moves_into_an_object_store_with_its_next_start() {
    let mut site = Site::single();
    let database = TestDatabase::sqlite();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let local = Installation::single(&database, &folder.path().join("machine-0"));
    site.servers[0] = local.start(0);
    site.project("ship");
    let url = upload(&site.servers[0]);
    site.servers[0].kill().expect("a running process can be killed");
    let key = std::fs::read(folder.path().join("machine-0/secret.key")).expect("it was made");
    let key: String = key.iter().map(|byte| format!("{byte:02x}")).collect();

    let moved = Installation::machines(&database, folder.path(), 1);
    site.installation = moved.with("HEXFORGE_SECRET_KEY", &key);
    let data = site.installation.folder(0).to_owned();
    site.servers[0] = site.installation.start(0);
    site.clone_and_compare(0, "ship");
    assert_uploaded(&site.servers[0], &url);
    assert_eq!(site.packs().len(), 1);
    assert!(!data.join("packs").exists() && data.join("packs-before-object-store").exists());
    assert!(data.join("uploads-before-object-store").exists());
    assert!(data.join("lfs-before-object-store").exists());
}
