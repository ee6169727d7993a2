//! The contract of pack stores on `FolderPacks`, and cases that only packs in a folder have.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use hexforge_domain::ports::pack_store::PackStore;
use hexforge_pack_store::FolderPacks;
use hexforge_pack_store::contract::{CASES, World};

/// The SHA-256 of `abc`.
const NAME: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// Runs a case with an empty store, and the folder of its packs.
fn with_world(case: impl FnOnce(&World<'_>, &PathBuf)) {
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let packs = folder.path().join("packs");
    let store = FolderPacks::new(&packs);
    let reopen = || -> Box<dyn PackStore> { Box::new(FolderPacks::new(&packs)) };
    case(&World { store: &store, reopen: &reopen, folder: folder.path() }, &packs);
}

#[test]
fn packs_in_a_folder_keep_the_contract() {
    for case in CASES {
        with_world(|world, _| case(world));
    }
}

fn replace(file: &Path, content: &str) {
    fs::remove_file(file).expect("it is there");
    fs::write(file, content).expect("it can be written");
}

#[test]
fn a_damaged_pack_is_known_by_its_bytes_and_mended_by_storing_it_again() {
    with_world(|world, packs| {
        let pack = world.store_pack("abc");
        let file = world.store.local_path(&pack).expect("it is stored");
        for (content, expected) in
            [("abd", "its SHA-256 is"), ("ab", "it has 2 bytes instead of 3")]
        {
            replace(&file, content);
            let error = (world.reopen)().local_path(&pack).expect_err("it is damaged").to_string();
            assert!(error.contains(NAME) && error.contains(expected), "{error}");
        }
        assert_eq!(world.store_pack("abc"), pack);
        assert_eq!((world.reopen)().local_path(&pack), Ok(file.clone()));
        // `with_size_check_only` checks only the size, so it accepts other bytes of the same length.
        replace(&file, "abd");
        assert_eq!(FolderPacks::with_size_check_only(packs).local_path(&pack), Ok(file));
    });
}

#[test]
fn other_files_are_no_packs() {
    with_world(|world, packs| {
        let pack = world.store_pack("abc");
        let subfolder = packs.join(&NAME[..2]);
        for name in ["short.pack", &format!("{NAME}.tmp"), "left"] {
            fs::write(subfolder.join(name), "").expect("it can be written");
        }
        fs::write(packs.join("file"), "").expect("it can be written");
        assert_eq!(world.names(), [pack.name]);
    });
}

#[test]
fn only_a_regular_file_is_read_as_a_summary() {
    with_world(|world, packs| {
        let pack = world.store_pack("abc");
        let summary = packs.join(&NAME[..2]).join(format!("{NAME}.summary"));
        let make_fifo = || {
            let made = std::process::Command::new("mkfifo").arg(&summary).status();
            assert!(made.expect("mkfifo runs").success());
        };
        let link = || std::os::unix::fs::symlink("/dev/zero", &summary).expect("it can be made");
        for (what, make) in [("a FIFO", &make_fifo as &dyn Fn()), ("a link", &link)] {
            make();
            // Opening a FIFO for reading would wait for a writer.
            let (sender, outcome) = mpsc::channel();
            let store = (world.reopen)();
            std::thread::spawn(move || sender.send(store.summary(pack.name)));
            let outcome = outcome.recv_timeout(Duration::from_secs(10)).expect("it ends");
            assert!(outcome.is_err(), "{what}: {} bytes", outcome.iter().flatten().count());
            world.store.put_summary(pack.name, b"new").expect("it replaces what is there");
            assert_eq!(world.store.summary(pack.name), Ok(Some(b"new".to_vec())), "{what}");
            fs::remove_file(&summary).expect("it is there");
        }
    });
}

#[test]
fn a_summary_goes_after_its_pack_and_is_found_if_the_removal_was_interrupted() {
    with_world(|world, _| {
        let (pack, other) = (world.store_pack("abc"), world.store_pack("other"));
        let file = world.store.local_path(&pack).expect("it is stored");
        world.store.put_summary(pack.name, b"one").expect("it can be stored");
        // The pack cannot be removed, so somebody may still store a summary of it.
        fs::remove_file(&file).expect("it is there");
        fs::create_dir(&file).expect("the name is free");
        world.store.remove(pack.name).expect_err("a folder is not removed");
        assert_eq!(world.store.summary(pack.name), Ok(Some(b"one".to_vec())));
        // The process is killed after the pack is gone.
        fs::remove_dir(&file).expect("it is empty");
        let mut names = vec![pack.name, other.name];
        names.sort();
        assert_eq!(world.names(), names, "the sweep finds the rest");
        world.store.remove(pack.name).expect("it can be removed");
        assert_eq!(world.store.summary(pack.name), Ok(None));
        assert_eq!(world.names(), [other.name]);
    });
}
