//! Removes folders of builds. They may be nested deeper than a recursion has stack for, and other builds of their owner
//! may change them meanwhile: each folder is opened once without following links, and reached through that afterwards.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, fstat, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::path::Arg;

/// Removes a file, a link, or a folder with everything in it. Follows no links. A missing path is no error.
/// # Errors
/// A part cannot be removed; other parts may be gone.
pub fn remove_all(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(metadata) if metadata.is_dir() => {
            remove_contents(path)?;
            fs::remove_dir(path)
        }
        Ok(_) => fs::remove_file(path),
    }
}

/// Removes everything in a folder. Folders inside of others are moved up to it, so that none is deep.
/// # Errors
/// A part cannot be removed; other parts may be gone.
pub fn remove_contents(folder: &Path) -> io::Result<()> {
    let (top, mut moved) = (open(CWD, folder)?, 0_u64);
    let mut folders = remove_files(&top)?;
    while let Some(name) = folders.pop() {
        let Some(folder) = remove_or_open(&top, &name)? else { continue };
        for inner in remove_files(&folder)? {
            folders.push(move_up(&folder, &inner, &top, &mut moved)?);
        }
        match unlinkat(&top, &name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Removes what is no folder, and returns the names of the folders. Their owner may list, change and move them then.
fn remove_files(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut folders = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." && remove_or_open(folder, name)?.is_some() {
            folders.push(name.to_owned());
        }
    }
    Ok(folders)
}

/// Removes a file or a link, or opens a folder. Returns `None` if nothing is left.
fn remove_or_open(parent: &OwnedFd, name: &CStr) -> io::Result<Option<OwnedFd>> {
    match unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(None),
        Err(Errno::ISDIR | Errno::PERM) => open(parent, name).map(Some),
        Err(error) => Err(error.into()),
    }
}

/// Opens a folder, which is no link, and gives its owner the rights that a build may have taken away.
fn open(parent: impl AsFd, name: impl Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(parent, name, flags | OFlags::PATH | OFlags::NOFOLLOW, Mode::empty())?;
    let mode = fstat(&folder)?.st_mode & 0o7777;
    if mode & 0o700 != 0o700 {
        // Rights cannot be changed through a folder that is opened as a path only.
        let same = format!("/proc/self/fd/{}", folder.as_raw_fd());
        fs::set_permissions(same, fs::Permissions::from_mode(mode | 0o700))?;
    }
    Ok(openat(&folder, c".", flags, Mode::empty())?)
}

/// Moves a folder into another one, and returns its new name.
fn move_up(parent: &OwnedFd, name: &CStr, top: &OwnedFd, moved: &mut u64) -> io::Result<CString> {
    loop {
        *moved += 1;
        let place = CString::new(format!(".removed-{moved}"))?;
        match renameat(parent, name, top, &place) {
            Ok(()) => return Ok(place),
            // A build has used the name.
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR | Errno::ISDIR) => {}
            Err(error) => return Err(error.into()),
        }
    }
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
        // The names that moved folders get.
        fs::create_dir_all(top.join(".removed-2/inside")).expect("made");
        fs::write(top.join(".removed-3"), "").expect("written");
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
