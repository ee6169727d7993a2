//! Resets ref files in backups of earlier releases to older targets.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use gix::refs::FullName;
use hexforge_domain::commit::ObjectId;

/// Resets ref files to older targets, and removes refs that did not exist then. The repository must not be in use.
pub fn rewind(repository: &Path, refs: &BTreeMap<String, Option<ObjectId>>) -> io::Result<()> {
    for name in refs.keys() {
        let is_ref = name.starts_with("refs/") && FullName::try_from(name.as_str()).is_ok();
        if !is_ref {
            return Err(io::Error::new(
                ErrorKind::InvalidData,
                format!("`{name}` is not a valid ref name"),
            ));
        }
    }
    remove_packed(repository, refs)?;
    for name in refs.keys() {
        let file = repository.join(name);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound && file.is_file() => {
                return Err(error);
            }
            Ok(()) | Err(_) => (),
        }
        // An empty folder would block a ref file of that name.
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

/// Removes these refs from the `packed-refs` file.
fn remove_packed(repository: &Path, refs: &BTreeMap<String, Option<ObjectId>>) -> io::Result<()> {
    let file = repository.join("packed-refs");
    let packed = match fs::read_to_string(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        packed => packed?,
    };
    let mut kept = String::with_capacity(packed.len());
    let mut is_kept = true;
    for line in packed.lines() {
        // A line that starts with `^` is the peeled target of the tag on the line above.
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
