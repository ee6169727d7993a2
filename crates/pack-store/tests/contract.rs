//! The contract of pack stores on `FolderPacks`, and cases that only packs in a folder have.

use std::fs;
use std::path::{Path, PathBuf};

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
