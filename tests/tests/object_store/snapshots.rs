//! Several backups in one target: a folder or an object store.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::installation::Installation;

use crate::support::{Site, output_text};

#[test]
fn snapshots_in_a_folder_share_what_did_not_change() {
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let place = format!("{}/", folder.path().join("backups").display());
    snapshots_share(Site::single(), &place, TestDatabase::sqlite());
}

#[test]
fn snapshots_in_an_object_store_share_what_did_not_change() {
    let Some(database) = TestDatabase::postgres() else { return };
    let Some(site) = Site::several(1) else { return };
    snapshots_share(site, "s3://forge/backups", database);
}

/// A damaged LFS object is named and left out. Its content is not looked up by its path, so that the next snapshot has
/// the file that an upload repaired.
#[test]
fn a_repaired_lfs_object_is_whole_in_the_next_snapshot() {
    const NAME: &str = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";
    let site = Site::single();
    site.project("ship");
    let (server, store) = (&site.servers[0], site.installation.object_store());
    let place = site.folder.path().join("backups/").display().to_string();
    let upload = || {
        let path = format!("/root/ship.git/gitlab-lfs/objects/{NAME}/7");
        let token = hexforge_tests::program::ROOT;
        assert_eq!(server.page("PUT", &path).token(token).body("content").send().status, 200);
    };
    let snapshots = || run(&site, &["backups", &place]).lines().count();
    run(&site, &["backup", &place]);
    upload();
    let key = store.keys().into_iter().find(|key| key.ends_with(NAME)).expect("it is stored");
    for (damaged, expected) in [(&b"CONTENT"[..], 2), (b"cont", 3)] {
        store.set_content(&key, damaged);
        let made = site.run(0, &["backup", &place]);
        let text = output_text(&made);
        assert!(
            !made.status.success() && text.contains(NAME) && text.contains("damaged"),
            "{text}"
        );
        assert_eq!(snapshots(), expected);
        assert_eq!(restored_lfs_object(&site, &place, NAME), None);
    }
    store.remove(&key);
    let made = site.run(0, &["backup", &place]);
    assert!(!made.status.success() && output_text(&made).contains(NAME), "{}", output_text(&made));
    upload();
    run(&site, &["backup", &place]);
    assert!(run(&site, &["verify", &place]).contains("is whole"));
    assert_eq!(restored_lfs_object(&site, &place, NAME).as_deref(), Some(&b"content"[..]));
    // Objects that the target has are not read again.
    store.forget_requests();
    run(&site, &["backup", &place, "--keep", "1"]);
    let requests = store.requests();
    assert!(!requests.iter().any(|request| request.ends_with(NAME)), "{requests:?}");
    assert_eq!(snapshots(), 1);
    assert_eq!(restored_lfs_object(&site, &place, NAME).as_deref(), Some(&b"content"[..]));
    // A backup in one file leaves damaged objects out too.
    let file = site.folder.path().join("backup").display().to_string();
    store.set_content(&key, b"CONTENT");
    let made = site.run(0, &["backup", &file]);
    assert!(!made.status.success() && output_text(&made).contains(NAME), "{}", output_text(&made));
    assert_eq!(restored_lfs_object(&site, &file, NAME), None);
}

/// The file of an LFS object after a restore into a new data folder, if there is one.
fn restored_lfs_object(site: &Site, place: &str, name: &str) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let (data, database) = (folder.path().join("data"), TestDatabase::sqlite());
    let arguments = ["restore", place, "--object-store-url", ""];
    let output = site.run_in(&data, &database, &arguments);
    assert!(output.status.success(), "{}", output_text(&output));
    std::fs::read(data.join("lfs/1").join(&name[..2]).join(name)).ok()
}

fn run(site: &Site, arguments: &[&str]) -> String {
    let output = site.run(0, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", output_text(&output));
    output_text(&output)
}

/// The names of all contents in the target.
fn contents(site: &Site, place: &str) -> BTreeSet<String> {
    if place.contains("://") {
        let keys = site.installation.object_store().keys();
        return keys.into_iter().filter(|key| key.starts_with("backups/content/")).collect();
    }
    fn add(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => add(&path, found),
                path => drop(found.insert(path.display().to_string())),
            }
        }
    }
    let mut found = BTreeSet::new();
    add(&PathBuf::from(place).join("content"), &mut found);
    found
}

/// The ids of all commits of a project after a restore into a new installation without an object store.
fn restored(site: &Site, place: &str, at: &str, database: &TestDatabase) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let data = folder.path().join("data");
    let arguments = ["restore", place, "--at", at, "--object-store-url", ""];
    let output = site.run_in(&data, database, &arguments);
    assert!(output.status.success(), "{}", output_text(&output));
    let key = hexforge_tests::installation::SECRET_KEY;
    let installation = Installation::single(database, &data).with("HEXFORGE_SECRET_KEY", key);
    let server = installation.start(0);
    let root = hexforge_tests::program::ROOT;
    let address = format!("http://root:{root}@{}/root/ship.git", server.address);
    let target = tempfile::tempdir().expect("a folder for temporary files exists");
    let path = target.path().to_string_lossy().into_owned();
    let cloned = site.git(&["clone", "-q", "--mirror", &address, &path]);
    assert!(cloned.status.success(), "{}", output_text(&cloned));
    let listed = site.git(&["-C", &path, "rev-list", "--all"]);
    String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect()
}

fn snapshots_share(site: Site, place: &str, target: TestDatabase) {
    site.project("ship");
    let first_commit = site.tree.git(&["rev-list", "master"]);
    run(&site, &["backup", place]);
    let first = contents(&site, place);
    assert_eq!(first.len(), 2, "a pack and its index: {first:?}");
    site.tree.write("more", "text\n").commit("More");
    assert!(site.push(0, "ship", "master").status.success());
    run(&site, &["backup", place]);
    let second = contents(&site, place);
    assert_eq!(second.len(), 4, "another pack and its index: {second:?}");
    let snapshots = run(&site, &["backups", place]);
    let snapshots: Vec<&str> = snapshots.lines().collect();
    let [old, new] = snapshots.as_slice() else { panic!("{snapshots:?}") };
    for arguments in [vec!["verify", place], vec!["verify", place, "--at", old]] {
        assert!(run(&site, &arguments).contains("is whole"));
    }
    assert_eq!(restored(&site, place, old, &target), [first_commit]);

    let unknown = site.run(0, &["verify", place, "--at", "never"]);
    assert!(
        output_text(&unknown).contains("there is no snapshot never"),
        "{}",
        output_text(&unknown)
    );
    if place.contains("://") {
        // Packs of the newest snapshot are not read again.
        site.installation.object_store().forget_requests();
    }
    run(&site, &["backup", place, "--keep", "1"]);
    if place.contains("://") {
        let requests = site.installation.object_store().requests();
        let is_pack = |request: &&String| request.ends_with(".pack") && request.starts_with("GET");
        assert_eq!(requests.iter().filter(is_pack).count(), 0, "{requests:?}");
    }
    let snapshots = run(&site, &["backups", place]);
    assert_eq!(snapshots.lines().count(), 1, "{snapshots}");
    assert!(!snapshots.contains(new), "{snapshots}");
    assert_eq!(contents(&site, place), second, "all of it is still needed");
    assert!(run(&site, &["verify", place]).contains("is whole"));
    // The contents of a removed project are removed with the last snapshot that has them.
    let root = hexforge_tests::program::ROOT;
    site.servers[0].request("POST", "/projects").token(root).form(&[("name", "boat")]).send();
    site.servers[0].request("DELETE", "/projects/1").token(root).send().expect(200);
    run(&site, &["backup", place, "--keep", "1"]);
    assert_eq!(contents(&site, place), BTreeSet::new());
    site.project("plane");
    run(&site, &["backup", place, "--keep", "2"]);
    let last = contents(&site, place);

    let damaged = last.first().expect("there are some");
    let name = Path::new(damaged).file_name().expect("a name").to_string_lossy().into_owned();
    if place.contains("://") {
        site.installation.object_store().set_content(damaged, b"x".to_vec());
    } else {
        std::fs::write(damaged, b"x").expect("it can be written");
    }
    let verified = site.run(0, &["verify", place]);
    assert!(
        !verified.status.success() && output_text(&verified).contains(&name),
        "{}",
        output_text(&verified)
    );
}
