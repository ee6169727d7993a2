//! Removes folders of builds, however deep they are: a build may nest more folders than a recursion has stack for.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Removes a file, a link, or a folder with everything in it. Follows no links. What is not there is no error.
/// # Errors
/// A part cannot be removed; other parts may be gone.
pub fn remove_all(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(metadata) if metadata.is_dir() => remove_folder(path),
        Ok(_) => fs::remove_file(path),
    }
}

/// Folders inside of others are moved up, so paths stay short.
fn remove_folder(top: &Path) -> io::Result<()> {
    let attic = tempfile::Builder::new().prefix(".removed-").tempdir_in(open(top)?)?.keep();
    let mut moved = 0_u64;
    let mut next: Vec<PathBuf> = vec![top.to_owned()];
    while let Some(folder) = next.pop() {
        for entry in fs::read_dir(open(&folder)?)? {
            let entry = entry?;
            let path = entry.path();
            if path == attic {
                continue;
            }
            if entry.file_type()?.is_dir() {
                moved += 1;
                let place = attic.join(moved.to_string());
                // A folder whose parent entry cannot be changed by its owner.
                let _ = open(&path);
                fs::rename(&path, &place)?;
                next.push(place);
            } else {
                fs::remove_file(&path)?;
            }
        }
        if folder != top {
            fs::remove_dir(&folder)?;
        }
    }
    fs::remove_dir(&attic)?;
    fs::remove_dir(top)
}

/// Lets the owner list and change a folder: a build may have taken these rights away.
fn open(folder: &Path) -> io::Result<&Path> {
    let mode = fs::metadata(folder)?.permissions().mode();
    if mode & 0o700 != 0o700 {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode | 0o700))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_and_closed_folders_are_removed_and_links_are_not_followed() {
        let place = tempfile::tempdir().expect("a folder");
        let top = place.path().join("top");
        fs::create_dir(&top).expect("made");
        // Deeper than a path can be long.
        let mut deep = place.path().join("d");
        fs::create_dir(&deep).expect("made");
        for _ in 0..3000 {
            let above = place.path().join("above");
            fs::create_dir(&above).expect("made");
            fs::rename(&deep, above.join("d")).expect("moved");
            fs::rename(&above, &deep).expect("moved");
        }
        deep = {
            fs::rename(&deep, top.join("d")).expect("moved");
            top.join("closed")
        };
        fs::create_dir(&deep).expect("made");
        fs::write(deep.join("file"), "").expect("written");
        fs::set_permissions(&deep, fs::Permissions::from_mode(0o0)).expect("changed");
        let kept = place.path().join("kept");
        fs::write(&kept, "").expect("written");
        std::os::unix::fs::symlink(place.path(), top.join("link")).expect("linked");
        remove_all(&top).expect("removed");
        assert!(!top.exists() && kept.exists());
        remove_all(&top).expect("nothing to do");
        remove_all(&kept).expect("removed");
        assert!(!kept.exists());
    }
}
