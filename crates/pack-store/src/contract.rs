//! The contract of [`PackStore`]: test cases for every implementation. Each case gets an empty store.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::ports::pack_store::{PackError, PackStore};

/// All test cases.
pub const CASES: [fn(&World<'_>); 6] = [
    a_pack_is_stored_under_the_sha_256_of_its_bytes,
    a_pack_made_of_an_old_file_is_stored_from_now_on,
    a_removed_pack_is_missing,
    a_pack_that_was_never_stored_is_missing,
    a_visit_ends_with_its_failure,
    a_summary_is_stored_with_its_pack,
];

/// The SHA-256 of `abc`.
const NAME: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// A store, and a folder for source files.
pub struct World<'a> {
    /// The store under test.
    pub store: &'a dyn PackStore,
    /// Creates a store with the same packs that has not used them yet, like another process.
    pub reopen: &'a dyn Fn() -> Box<dyn PackStore>,
    /// An empty folder.
    pub folder: &'a Path,
}

impl World<'_> {
    fn write_file(&self, name: &str, content: &str) -> PathBuf {
        let file = self.folder.join(name);
        fs::write(&file, content).expect("it can be written");
        file
    }

    /// Stores a pack with this content.
    pub fn store_pack(&self, content: &str) -> Pack {
        let (data, index) =
            (self.write_file("data", content), self.write_file("index", "an index"));
        let pack = self.store.put(&data, &index, 3).expect("it can be stored");
        // The caller may remove the source files after the pack is stored.
        for file in [data, index] {
            fs::remove_file(file).expect("the store leaves its source files in place");
        }
        pack
    }

    /// The names of all packs, sorted. Checks that each was stored within the last minute.
    pub fn names(&self) -> Vec<PackName> {
        let mut names = Vec::new();
        let visited = self.store.for_each_pack(&mut |name, since| {
            let age = Timestamp::from(SystemTime::now()) - since;
            assert!(age < TimeDelta::minutes(1) && age > TimeDelta::minutes(-1), "{age}");
            names.push(name);
            Ok(())
        });
        visited.expect("they can be listed");
        names.sort();
        names
    }
}

fn a_pack_is_stored_under_the_sha_256_of_its_bytes(world: &World<'_>) {
    assert_eq!(world.names(), []);
    let pack = world.store_pack("abc");
    let name = PackName::parse(NAME).expect("a name");
    assert_eq!(pack, Pack { name, bytes: 3, objects: 3 });
    let file = world.store.local_path(&pack).expect("it is stored");
    assert_eq!(fs::read_to_string(&file).expect("it can be read"), "abc");
    let index = fs::read_to_string(file.with_extension("idx"));
    assert_eq!(index.expect("the index is beside it"), "an index");
    let inode =
        |file: &Path| std::os::unix::fs::MetadataExt::ino(&file.metadata().expect("a file"));
    let before = inode(&file);
    assert_eq!(world.store_pack("abc"), pack, "it may be stored again");
    assert_eq!(inode(&file), before, "links to it stay links to the stored file");
    let other = world.store_pack("other");
    let mut names = vec![name, other.name];
    names.sort();
    assert_eq!(world.names(), names);
    let found = (world.reopen)().local_path(&pack).expect("it is stored");
    assert_eq!(fs::read_to_string(&found).expect("it can be read"), "abc");
    let index = fs::read_to_string(found.with_extension("idx"));
    assert_eq!(index.expect("the index is beside it"), "an index");
}

fn a_pack_made_of_an_old_file_is_stored_from_now_on(world: &World<'_>) {
    let (data, index) = (world.write_file("data", "abc"), world.write_file("index", "an index"));
    for file in [&data, &index] {
        let opened = fs::File::open(file).expect("it is there");
        opened.set_modified(SystemTime::UNIX_EPOCH).expect("it is ours");
    }
    let pack = world.store.put(&data, &index, 3).expect("it can be stored");
    assert_eq!(world.names(), [pack.name]);
}

fn a_removed_pack_is_missing(world: &World<'_>) {
    let (pack, other) = (world.store_pack("abc"), world.store_pack("other"));
    for _ in 0..2 {
        world.store.remove(pack.name).expect("removing a missing pack succeeds");
        assert_eq!(world.store.stored_at(pack.name), Ok(None));
        assert_eq!(world.store.local_path(&pack), Err(PackError::Missing(pack.name)));
    }
    assert!(world.store.stored_at(other.name).expect("it can be asked").is_some());
    assert_eq!(world.names(), [other.name]);
    assert_eq!(world.store_pack("abc"), pack, "it may be stored again");
    assert!(world.store.local_path(&pack).is_ok());
}

fn a_pack_that_was_never_stored_is_missing(world: &World<'_>) {
    let pack = Pack { name: PackName::from_bytes([7; 32]), bytes: 1, objects: 1 };
    assert_eq!(world.store.stored_at(pack.name), Ok(None));
    assert_eq!(world.store.local_path(&pack), Err(PackError::Missing(pack.name)));
    assert_eq!(world.store.remove(pack.name), Ok(()));
}

fn a_visit_ends_with_its_failure(world: &World<'_>) {
    let _ = (world.store_pack("abc"), world.store_pack("other"));
    let mut count = 0;
    let visited = world.store.for_each_pack(&mut |_, _| {
        count += 1;
        Err(PackError::Failed("enough".into()))
    });
    assert_eq!((visited, count), (Err(PackError::Failed("enough".into())), 1));
}

fn a_summary_is_stored_with_its_pack(world: &World<'_>) {
    let (pack, other) = (world.store_pack("abc"), world.store_pack("other"));
    assert_eq!(world.store.summary(pack.name), Ok(None));
    for summary in [&b"one"[..], b"", b"two"] {
        world.store.put_summary(pack.name, summary).expect("it can be stored");
        assert_eq!(world.store.summary(pack.name), Ok(Some(summary.to_vec())));
    }
    assert_eq!((world.reopen)().summary(pack.name), Ok(Some(b"two".to_vec())));
    assert_eq!(world.store.summary(other.name), Ok(None));
    let mut names = vec![pack.name, other.name];
    names.sort();
    assert_eq!(world.names(), names, "a summary is not a pack");
    world.store.remove(pack.name).expect("it can be removed");
    assert_eq!(world.store.summary(pack.name), Ok(None));
    world.store.put_summary(pack.name, b"late").expect("the pack need not exist");
    assert_eq!(world.store.summary(pack.name), Ok(None));
    assert_eq!(world.store_pack("abc"), pack);
    assert_eq!(world.store.summary(pack.name), Ok(None));
}
