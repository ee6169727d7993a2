//! Copying a repository while others work in it, and rewinding ref files of backups of earlier releases.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use gix::refs::FullName;
use hexforge_domain::commit::ObjectId;

/// What is done with a file of a repository: its path in there, and the file.
pub type Visit<'a> = dyn FnMut(&Path, &mut File) -> io::Result<()> + 'a;

/// Shows every file that a copy of a repository needs.
///
/// Ref files of an earlier release are copied as they are. Packs may be put together meanwhile: one that is gone is in
/// another, so it is looked again until nothing is new. Fails with [`ErrorKind::NotFound`] if the repository goes.
pub fn files(repository: &Path, visit: &mut Visit<'_>) -> io::Result<()> {
    below(repository, Path::new("refs"), visit)?;
    for file in ["packed-refs", "HEAD", "config"] {
        one(repository, Path::new(file), visit)?;
    }
    let objects = repository.join("objects");
    for folder in entries(&objects)? {
        let name = folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let is_shelf = name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_shelf || name == "info" {
            below(repository, &Path::new("objects").join(name), visit)?;
        }
    }
    packs(repository, visit)?;
    // Whoever threw it away meanwhile took the rest with it.
    fs::metadata(repository).map(drop)
}

/// So often it is looked for a pack whose index is there: then it is missing, which no copy can mend.
const LOOKS: u32 = 20;

/// Packs whole: with all files that belong to one.
fn packs(repository: &Path, visit: &mut Visit<'_>) -> io::Result<()> {
    let mut seen = BTreeSet::new();
    for _ in 0..LOOKS {
        let mut is_gone = false;
        let before = seen.len();
        for file in entries(&repository.join("objects").join("pack"))? {
            let Some(name) = file.file_name().map(PathBuf::from) else { continue };
            if file.extension().is_none_or(|extension| extension != "idx") || seen.contains(&name) {
                continue;
            }
            let index = Path::new("objects/pack").join(&name);
            if pack(repository, &index, visit)? {
                seen.insert(name);
            } else {
                is_gone = true;
            }
        }
        if !is_gone && seen.len() == before {
            return Ok(());
        }
    }
    Ok(())
}

/// The pack of an index; answers whether it is still there.
fn pack(repository: &Path, index: &Path, visit: &mut Visit<'_>) -> io::Result<bool> {
    let pack = index.with_extension("pack");
    // Both are held open before either is read: then neither can go.
    let mut opened = Vec::new();
    for file in [&pack, index] {
        match File::open(repository.join(file)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            file => opened.push(file?),
        }
    }
    for beside in ["rev", "bitmap", "keep", "promisor", "mtimes"] {
        one(repository, &index.with_extension(beside), visit)?;
    }
    for (file, opened) in [pack.as_path(), index].into_iter().zip(&mut opened) {
        visit(file, opened)?;
    }
    Ok(true)
}

/// One file, if it is there.
fn one(repository: &Path, file: &Path, visit: &mut Visit<'_>) -> io::Result<()> {
    match File::open(repository.join(file)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        opened => visit(file, &mut opened?),
    }
}

/// All files in a folder and those in it, but for locks and what is not finished.
fn below(repository: &Path, folder: &Path, visit: &mut Visit<'_>) -> io::Result<()> {
    for path in entries(&repository.join(folder))? {
        let Some(name) = path.file_name() else { continue };
        let inner = folder.join(name);
        let text = name.to_string_lossy();
        let Ok(kind) = fs::symlink_metadata(&path).map(|found| found.file_type()) else { continue };
        if kind.is_dir() {
            below(repository, &inner, visit)?;
        } else if kind.is_file() && !text.ends_with(".lock") && !text.starts_with("tmp_") {
            one(repository, &inner, visit)?;
        }
    }
    Ok(())
}

/// What is in a folder; nothing when it is not there.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(vec![]),
        entries => entries?.map(|entry| entry.map(|entry| entry.path())).collect(),
    }
}

/// Lets refs of a repository hold what they held before, or removes those that were not there. Nobody else may be at
/// work in it.
pub fn rewind(repository: &Path, refs: &BTreeMap<String, Option<ObjectId>>) -> io::Result<()> {
    for name in refs.keys() {
        let is_ref = name.starts_with("refs/") && FullName::try_from(name.as_str()).is_ok();
        if !is_ref {
            return Err(io::Error::new(ErrorKind::InvalidData, format!("`{name}` is no ref")));
        }
    }
    unpack(repository, refs)?;
    for name in refs.keys() {
        let file = repository.join(name);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound && file.is_file() => {
                return Err(error);
            }
            Ok(()) | Err(_) => (),
        }
        // Folders that are empty now may be in the way of a ref of that name.
        let above = file.ancestors().skip(1).take_while(|above| *above != repository.join("refs"));
        for folder in above {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
    for (name, id) in refs {
        let Some(id) = id else { continue };
        let file = repository.join(name);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(file, format!("{id}\n"))?;
    }
    for folder in ["refs/heads", "refs/tags"] {
        fs::create_dir_all(repository.join(folder))?;
    }
    Ok(())
}

/// Takes refs out of the packed ones.
fn unpack(repository: &Path, refs: &BTreeMap<String, Option<ObjectId>>) -> io::Result<()> {
    let file = repository.join("packed-refs");
    let packed = match fs::read_to_string(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        packed => packed?,
    };
    let mut kept = String::with_capacity(packed.len());
    let mut is_kept = true;
    for line in packed.lines() {
        // What a tag leads to stands below it.
        if !line.starts_with('^') {
            let name = line.split_once(' ').map(|(_, name)| name);
            is_kept = line.starts_with('#') || !name.is_some_and(|name| refs.contains_key(name));
        }
        if is_kept {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    fs::write(file, kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_go_back_to_what_they_were() {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let id = |digit: &str| ObjectId::parse(&digit.repeat(40)).expect("an id");
        let path = |file: &str| folder.path().join(file);
        let write = |file: &str, text: &str| {
            fs::create_dir_all(path(file).parent().expect("a folder")).expect("it can be made");
            fs::write(path(file), text).expect("it can be written");
        };
        let line = |digit: &str, name: &str| format!("{} {name}\n", digit.repeat(40));
        let head = "# pack-refs with: peeled fully-peeled sorted \n";
        let stays = line("1", "refs/heads/stays");
        let tag = format!("{}^{}\n", line("2", "refs/tags/new"), "3".repeat(40));
        let old = line("4", "refs/heads/old");
        write("packed-refs", &format!("{head}{stays}{old}{tag}"));
        write("refs/heads/old", &line("5", "").replace(' ', ""));
        write("refs/heads/a/b", &line("6", "").replace(' ', ""));
        let refs = BTreeMap::from([
            ("refs/tags/new".to_owned(), None),
            ("refs/heads/old".to_owned(), Some(id("4"))),
            ("refs/heads/a/b".to_owned(), None),
            ("refs/heads/a".to_owned(), Some(id("7"))),
        ]);
        rewind(folder.path(), &refs).expect("it can be written");
        let read = |file: &str| fs::read_to_string(path(file)).expect("it is there");
        assert_eq!(read("packed-refs"), format!("{head}{stays}"));
        assert_eq!(read("refs/heads/old"), format!("{}\n", "4".repeat(40)));
        assert_eq!(read("refs/heads/a"), format!("{}\n", "7".repeat(40)));
        for wrong in ["../x", "HEAD", "refs/../../x", "refs/heads/../../../x"] {
            let refs = BTreeMap::from([(wrong.to_owned(), None)]);
            assert!(rewind(folder.path(), &refs).is_err(), "{wrong}");
        }
    }
}
