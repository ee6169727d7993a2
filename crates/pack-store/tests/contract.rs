//! What every store of packs does.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::ports::pack_store::{PackError, PackStore};
use hexforge_pack_store::FolderPacks;
use tempfile::TempDir;

/// The SHA-256 of `abc`.
const NAME: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// A store, and a folder for files that go into it.
struct World {
    store: Box<dyn PackStore>,
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        Self { store: Box::new(FolderPacks::new(folder.path().join("packs"))), folder }
    }

    /// A store on the same packs, of a process that has not used them.
    fn anew(&self) -> FolderPacks {
        FolderPacks::new(self.folder.path().join("packs"))
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        fs::write(&file, content).expect("it can be written");
        file
    }

    fn put(&self, content: &str) -> Pack {
        let (data, index) = (self.file("data", content), self.file("index", "an index"));
        let pack = self.store.put(&data, &index, 3).expect("it can be stored");
        // Whoever stored it removes the files.
        for file in [data, index] {
            fs::remove_file(file).expect("it is left in its place");
        }
        pack
    }

    fn names(&self) -> Vec<PackName> {
        let mut names = Vec::new();
        let seen = self.store.each(&mut |name, since| {
            let age = Timestamp::from(SystemTime::now()) - since;
            assert!(age < TimeDelta::minutes(1) && age > TimeDelta::minutes(-1), "{age}");
            names.push(name);
            Ok(())
        });
        seen.expect("they can be listed");
        names.sort();
        names
    }
}

#[test]
fn a_pack_is_stored_under_the_sha_256_of_its_bytes() {
    let world = World::new();
    assert_eq!(world.names(), []);
    let pack = world.put("abc");
    let name = PackName::parse(NAME).expect("a name");
    assert_eq!(pack, Pack { name, bytes: 3, objects: 3 });
    let file = world.store.local(&pack).expect("it is stored");
    assert_eq!(fs::read_to_string(&file).expect("it can be read"), "abc");
    let index = fs::read_to_string(file.with_extension("idx"));
    assert_eq!(index.expect("the index is beside it"), "an index");
    let inode =
        |file: &Path| std::os::unix::fs::MetadataExt::ino(&file.metadata().expect("a file"));
    let before = inode(&file);
    assert_eq!(world.put("abc"), pack, "it may be stored again");
    assert_eq!(inode(&file), before, "links to it stay links to the stored file");
    let other = world.put("other");
    let mut names = vec![name, other.name];
    names.sort();
    assert_eq!(world.names(), names);
    assert_eq!(world.anew().local(&pack), Ok(file));
}

#[test]
fn a_pack_made_of_an_old_file_is_stored_from_now_on() {
    let world = World::new();
    let (data, index) = (world.file("data", "abc"), world.file("index", "an index"));
    for file in [&data, &index] {
        let opened = fs::File::open(file).expect("it is there");
        opened.set_modified(SystemTime::UNIX_EPOCH).expect("it is ours");
    }
    let pack = world.store.put(&data, &index, 3).expect("it can be stored");
    assert_eq!(world.names(), [pack.name]);
}

#[test]
fn a_removed_pack_is_missing() {
    let world = World::new();
    let (pack, other) = (world.put("abc"), world.put("other"));
    for _ in 0..2 {
        world.store.remove(pack.name).expect("a missing pack is passed over");
        assert_eq!(world.store.stored_since(pack.name), Ok(None));
        assert_eq!(world.store.local(&pack), Err(PackError::Missing(pack.name)));
    }
    assert!(world.store.stored_since(other.name).expect("it can be asked").is_some());
    assert_eq!(world.names(), [other.name]);
}

#[test]
fn a_visit_ends_with_its_failure() {
    let world = World::new();
    let _ = (world.put("abc"), world.put("other"));
    let mut count = 0;
    let seen = world.store.each(&mut |_, _| {
        count += 1;
        Err(PackError::Failed("enough".into()))
    });
    assert_eq!((seen, count), (Err(PackError::Failed("enough".into())), 1));
}

fn replace(file: &Path, content: &str) {
    fs::remove_file(file).expect("it is there");
    fs::write(file, content).expect("it can be written");
}

#[test]
fn a_damaged_pack_is_known_by_its_bytes_and_mended_by_storing_it_again() {
    let world = World::new();
    let pack = world.put("abc");
    let file = world.store.local(&pack).expect("it is stored");
    for (content, told) in [("abd", "its SHA-256 is"), ("ab", "it has 2 bytes instead of 3")] {
        replace(&file, content);
        let error = world.anew().local(&pack).expect_err("it is damaged").to_string();
        assert!(error.contains(NAME) && error.contains(told), "{error}");
    }
    assert_eq!(world.put("abc"), pack);
    assert_eq!(world.anew().local(&pack), Ok(file.clone()));
    // Whoever only glances reads no bytes.
    replace(&file, "abd");
    let glancing = FolderPacks::glancing(world.folder.path().join("packs"));
    assert_eq!(glancing.local(&pack), Ok(file));
}

#[test]
fn other_files_are_no_packs() {
    let world = World::new();
    let pack = world.put("abc");
    let shelf = world.folder.path().join("packs").join(&NAME[..2]);
    for name in ["short.pack", &format!("{NAME}.tmp"), "left"] {
        fs::write(shelf.join(name), "").expect("it can be written");
    }
    fs::write(world.folder.path().join("packs/file"), "").expect("it can be written");
    assert_eq!(world.names(), [pack.name]);
}
