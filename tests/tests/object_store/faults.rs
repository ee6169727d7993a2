//! An object store that is unavailable, does not answer, or has damaged packs.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use hexforge_tests::program::ROOT;
use hexforge_tests::s3::Mood;
use sha2::{Digest, Sha256};

use crate::support::{Site, output_text};

fn replace(site: &Site, key: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let store = site.installation.object_store();
    let mut content = store.get(key).expect("it is stored");
    change(&mut content);
    store.set_content(key, content);
}

/// Removes the cache and the links of a machine, as on a new machine.
fn empty_cache(site: &mut Site) {
    site.servers[0].kill().expect("a running process can be killed");
    for folder in ["cache", "repositories"] {
        fs::remove_dir_all(site.installation.folder(0).join(folder)).expect("it is there");
    }
    site.servers[0] = site.installation.start(0);
}

#[test]
fn a_pack_that_was_changed_or_cut_off_is_named_and_everything_else_is_served() {
    let mut site = Site::single();
    site.project("ship");
    let of_ship = site.packs();
    let [pack] = of_ship.as_slice() else { panic!("one push is one pack: {of_ship:?}") };
    site.tree.write("other", "boat\n").commit("Another");
    site.project("boat");
    let name = Path::new(pack).file_stem().expect("a name").to_string_lossy().into_owned();
    let whole = site.installation.object_store().get(pack).expect("it is stored");
    for (word, change) in [
        ("SHA-256", (|content| content[20] ^= 1) as fn(&mut Vec<u8>)),
        ("bytes instead of", |content| content.truncate(content.len() / 2)),
    ] {
        replace(&site, pack, change);
        empty_cache(&mut site);
        let target = tempfile::tempdir().expect("a folder for temporary files exists");
        let cloned = site.clone_to(0, "ship", target.path());
        assert!(!cloned.status.success(), "{word}");
        site.clone_and_compare(0, "boat");
        let doctor = site.run(0, &["doctor", "--deep"]);
        let text = output_text(&doctor);
        assert!(!doctor.status.success() && text.contains(&name), "{text}");
        assert!(text.contains(word), "{text}");
        site.installation.object_store().set_content(pack, whole.clone());
        let target = tempfile::tempdir().expect("a folder for temporary files exists");
        let cloned = site.clone_to(0, "ship", target.path());
        assert!(cloned.status.success(), "{}", output_text(&cloned));
        let doctor = site.run(0, &["doctor", "--deep"]);
        assert!(doctor.status.success(), "{}", output_text(&doctor));
    }
    site.installation.object_store().remove(pack);
    let doctor = site.run(0, &["doctor"]);
    assert!(
        output_text(&doctor).contains(&format!("the pack {name} is missing")),
        "{}",
        output_text(&doctor)
    );
}

#[test]
fn while_the_store_is_away_cached_repositories_are_read_and_pushes_leave_nothing() {
    for mood in [Some(Mood::Away), Some(Mood::ReadOnly), None] {
        let site = Site::single();
        site.project("ship");
        let store = site.installation.object_store();
        let before = store.keys();
        let tip = site.tree.refs_at(&site.address(0, "ship"));
        match mood {
            Some(mood) => store.set_mood(mood),
            None => store.close(),
        }
        site.clone_and_compare(0, "ship");
        let tree = site.servers[0].request("GET", "/projects/1/repository/tree").token(ROOT);
        assert_eq!(tree.send().expect(200)[0]["name"], "README");
        site.tree.write("new", "content\n").commit("New");
        let begun = Instant::now();
        let pushed = site.push(0, "ship", "master");
        assert!(!pushed.status.success());
        assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
        let text = output_text(&pushed);
        assert!(text.contains("try again") || text.contains("503"), "{text}");
        let branch = [("branch_name", "b"), ("ref", "master")];
        let branch =
            site.servers[0].request("POST", "/projects/1/repository/branches").form(&branch);
        branch.token(ROOT).send().expect(200);
        let file = site.servers[0].request("POST", "/projects/1/uploads").token(ROOT);
        file.file("a.txt", b"text").send().expect(503);
        store.set_mood(Mood::Well);
        store.reopen();
        assert_eq!(store.keys(), before, "nothing is left");
        let now = site.tree.refs_at(&site.address(0, "ship"));
        assert_eq!(now.get("refs/heads/master"), tip.get("refs/heads/master"));
        let pushed = site.push(0, "ship", "master");
        assert!(pushed.status.success(), "{}", output_text(&pushed));
        site.tree.git(&["branch", "b", &tip["refs/heads/master"]]);
        site.clone_and_compare(0, "ship");
    }
}

#[test]
fn a_store_that_does_not_answer_holds_nobody_for_long() {
    let site = Site::single();
    site.project("ship");
    let store = site.installation.object_store();
    store.set_mood(Mood::Silent);
    site.tree.write("new", "content\n").commit("New");
    let begun = Instant::now();
    let pushed = site.push(0, "ship", "master");
    assert!(!pushed.status.success(), "{}", output_text(&pushed));
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    // After a failure the store is not used for some seconds, so that requests fail fast.
    let file = site.servers[0].request("POST", "/projects/1/uploads").token(ROOT);
    file.file("a.txt", b"text").send().expect(503);
    store.set_mood(Mood::Slow(Duration::from_millis(300)));
    let until = Instant::now() + Duration::from_secs(120);
    while !site.push(0, "ship", "master").status.success() {
        assert!(Instant::now() < until, "it is there again");
    }
    site.clone_and_compare(0, "ship");
}

/// The file of a failed upload is removed in a transaction, so that an upload of the same object cannot store it meanwhile.
#[test]
fn a_failed_lfs_upload_does_not_block_writers_while_the_store_hangs() {
    let site = Site::single();
    site.project("ship");
    let (server, store) = (&site.servers[0], site.installation.object_store());
    let oid: String = Sha256::digest(b"large").iter().map(|byte| format!("{byte:02x}")).collect();
    let target = format!("/root/ship.git/gitlab-lfs/objects/{oid}/5");
    let upload = || server.page("PUT", &target).token(ROOT).body("large").send().status;
    store.set_mood(Mood::Silent);
    let slowest = std::thread::scope(|scope| {
        let (uploading, mut slowest) = (scope.spawn(upload), Duration::ZERO);
        while !uploading.is_finished() {
            let begun = Instant::now();
            let fields = [("name", "ship"), ("description", "text")];
            let edit = server.request("PUT", "/projects/1").token(ROOT).form(&fields);
            edit.send().expect(200);
            slowest = slowest.max(begun.elapsed());
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(uploading.join().expect("the upload is answered"), 503);
        slowest
    });
    assert!(slowest < Duration::from_secs(20), "{slowest:?}");
    store.set_mood(Mood::Well);
    // After a failure the store is not used for some seconds.
    let until = Instant::now() + Duration::from_secs(60);
    while upload() != 200 {
        assert!(Instant::now() < until, "the store is there again");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_damaged_index_is_not_used() {
    let mut site = Site::single();
    site.project("ship");
    let key = site.packs()[0].replace(".pack", ".idx");
    let whole = site.installation.object_store().get(&key).expect("it is stored");
    replace(&site, &key, |content| content[1100] ^= 1);
    empty_cache(&mut site);
    let target = tempfile::tempdir().expect("a folder for temporary files exists");
    assert!(!site.clone_to(0, "ship", target.path()).status.success());
    site.installation.object_store().set_content(&key, whole);
    site.clone_and_compare(0, "ship");
}

/// Any machine removes packs that no repository names after the grace period; other packs stay.
#[test]
fn the_sweep_removes_old_packs_that_no_repository_names() {
    let Some(mut site) = Site::several(2) else { return };
    site.project("ship");
    let store = site.installation.object_store();
    let named = site.packs();
    let stray =
        |digit: &str| format!("some-prefix/packs/{0}/{1}.pack", digit.repeat(2), digit.repeat(64));
    let (old, young, index) = (stray("1"), stray("2"), stray("3").replace(".pack", ".idx"));
    for key in [&old, &young, &index] {
        store.set_content(key, b"left".to_vec());
    }
    for key in [&old, &index, &named[0]] {
        store.set_age(key, chrono::TimeDelta::days(3));
    }
    // Each start runs a sweep.
    site.servers[1] = {
        site.servers[1].kill().expect("a running process can be killed");
        site.installation.start(1)
    };
    let store = site.installation.object_store();
    let until = Instant::now() + Duration::from_secs(120);
    while store.get(&old).is_some() || store.get(&index).is_some() {
        assert!(Instant::now() < until, "{:?}", store.keys());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(store.get(&young).is_some());
    site.clone_and_compare(0, "ship");
    assert!(site.packs().contains(&named[0]));
}

#[test]
fn a_store_that_cannot_be_used_stops_the_start_with_a_sentence() {
    let site = Site::single();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    for (address, word) in [("ftp://x/y", "ftp://x/y"), ("nothing", "nothing")] {
        let arguments = ["serve", "--object-store-url", address];
        let ended = site.run_in(folder.path(), &site.database, &arguments);
        let text = output_text(&ended);
        assert!(!ended.status.success() && text.contains("object_store_url"), "{text}");
        assert!(text.contains(word), "{text}");
    }
    // A second server on the same data folder would remove packs of the first.
    let data = site.installation.folder(0).to_owned();
    let ended = site.run_in(&data, &site.database, &["serve", "--listen", "127.0.0.1:0"]);
    let text = output_text(&ended);
    assert!(text.contains("data folder of its own"), "{text}");
}
