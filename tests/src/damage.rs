//! Damages objects in packs like a broken disk, while a server that has already read the pack runs.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// How an object is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The pack indexes no longer contain it.
    Missing,
    /// Its compressed bytes are overwritten.
    Garbage,
}

/// Damages an object in all packs of a bare repository.
pub fn damage(bare: &Path, id: &str, how: Damage) {
    let id: Vec<u8> = (0..id.len() / 2)
        .map(|at| u8::from_str_radix(&id[2 * at..2 * at + 2], 16).expect("an id"))
        .collect();
    let mut found = false;
    for index in indexes(bare) {
        let bytes = fs::read(&index).expect("it can be read");
        let Some(entry) = Entry::find(&bytes, &id) else { continue };
        found = true;
        match how {
            Damage::Missing => overwrite(&index, entry.name_at + 19, &[id[19] ^ 1]),
            Damage::Garbage => {
                let pack = index.with_extension("pack");
                // The first bytes are the header of the entry with its size; the smallest objects take ten bytes.
                overwrite(&pack, entry.offset + 3, &[0xff; 3]);
            }
        }
    }
    assert!(found, "the object is in a pack");
}

/// The indexes of the packs of a repository.
fn indexes(bare: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(bare.join("objects/pack")).expect("a repository has packs");
    let files = files.map(|file| file.expect("it can be read").path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "idx")).collect()
}

fn overwrite(file: &Path, at: u64, bytes: &[u8]) {
    fs::set_permissions(file, Permissions::from_mode(0o644)).expect("it is ours");
    let opened = File::options().write(true).open(file).expect("it can be written");
    opened.write_all_at(bytes, at).expect("it can be written");
}

/// The position of an object in a pack index of version 2.
struct Entry {
    /// The offset of its id in the index.
    name_at: u64,
    /// The offset of its entry in the pack.
    offset: u64,
}

impl Entry {
    fn find(index: &[u8], id: &[u8]) -> Option<Self> {
        let number = |at: usize| {
            u32::from_be_bytes(index[at..at + 4].try_into().expect("four bytes")) as usize
        };
        let (names, count) = (8 + 256 * 4, number(8 + 255 * 4));
        let place = (0..count).find(|place| &index[names + 20 * place..][..20] == id)?;
        // The table of ids is followed by checksums and then by offsets.
        let offset = number(names + 24 * count + 4 * place);
        Some(Self { name_at: (names + 20 * place) as u64, offset: offset as u64 })
    }
}
