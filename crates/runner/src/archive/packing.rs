//! Writes archives.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2, readlinkat};
use rustix::io::Errno;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{BLOCK, MAX_LISTING, MAX_UNPACKED, require_time_left};
use crate::error::Error;

/// The bytes of a file in the list of files besides its name.
const LISTED: u64 = 80;

/// Packs files into a new archive, as long as `goes_on` is true. Files that are gone meanwhile are left out. Returns
/// how many there are.
/// # Errors
/// A file cannot be read, the archive cannot be written, the files are too large together, or `goes_on` is false.
pub fn pack(
    project: &Path,
    files: &BTreeSet<PathBuf>,
    archive: File,
    goes_on: &dyn Fn() -> bool,
) -> Result<usize, Error> {
    // The same limit as for unpacking.
    let listing: u64 = files.iter().map(|file| file.as_os_str().len() as u64 + LISTED).sum();
    if listing > MAX_LISTING {
        return Err(Error::step("the names of the files are too long for an archive"));
    }
    let folder = File::open(project).map_err(Error::at(project))?;
    let mut zip = ZipWriter::new(BufWriter::with_capacity(256 << 10, archive));
    let (mut packed, mut left) = (0, MAX_UNPACKED);
    for file in files {
        packed += usize::from(pack_one(&folder, file, &mut zip, &mut left, goes_on)?);
    }
    let written = zip.finish().map_err(|error| unwritten(&error))?.flush();
    written.map_err(|error| unwritten(&error))?;
    Ok(packed)
}

fn unwritten(error: &dyn fmt::Display) -> Error {
    Error::step(format!("the archive cannot be written: {error}"))
}

/// Opens a file or link below a folder. A part of the path may have been replaced by a link since it was listed, so no
/// link is followed: `None` if there is one, and if the file is gone.
fn open_below(folder: &File, file: &Path, flags: OFlags) -> Result<Option<File>, Error> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match openat2(folder, file, flags, Mode::empty(), resolve) {
        Ok(opened) => Ok(Some(opened.into())),
        Err(Errno::NOENT | Errno::LOOP | Errno::XDEV | Errno::NOTDIR | Errno::NXIO) => Ok(None),
        Err(error) => Err(Error::at(file)(error.into())),
    }
}

fn pack_one(
    folder: &File,
    file: &Path,
    zip: &mut ZipWriter<BufWriter<File>>,
    left: &mut u64,
    goes_on: &dyn Fn() -> bool,
) -> Result<bool, Error> {
    let Some((metadata, is_link)) = kind_of(folder, file)? else { return Ok(false) };
    let name = file.to_string_lossy().into_owned();
    let broken = |error: ZipError| match error {
        ZipError::Io(error) => unwritten(&error),
        error => Error::step(format!("{name} cannot be packed: {error}")),
    };
    let uncopied = |error: io::Error| match error.kind() {
        // Only writing fails like this.
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => unwritten(&error),
        _ => Error::at(file)(error),
    };
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(3))
        .large_file(metadata.len() >= 1 << 31)
        .unix_permissions(metadata.permissions().mode() & 0o777);
    if let Some(target) = is_link {
        zip.add_symlink(name.clone(), target, options).map_err(broken)?;
        return Ok(true);
    }
    if !metadata.is_file() {
        return Ok(false);
    }
    // A pipe must not be waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let Some(input) = open_below(folder, file, flags)? else { return Ok(false) };
    zip.start_file(name.clone(), options).map_err(broken)?;
    // A file without content may be of any size.
    loop {
        let copied = io::copy(&mut (&input).take(BLOCK), zip).map_err(uncopied)?;
        if copied == 0 {
            return Ok(true);
        }
        *left = left.saturating_sub(copied);
        if *left == 0 {
            return Err(Error::step(format!("the files have more than {MAX_UNPACKED} bytes")));
        }
        require_time_left(goes_on)?;
    }
}

/// Returns the metadata of a path, and its target if it is a link.
fn kind_of(folder: &File, file: &Path) -> Result<Option<(fs::Metadata, Option<String>)>, Error> {
    let parent = match file.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => open_below(folder, parent, OFlags::PATH | OFlags::DIRECTORY)?,
        None => Some(folder.try_clone().map_err(Error::at(file))?),
    };
    let (Some(parent), Some(name)) = (parent, file.file_name()) else { return Ok(None) };
    // Without following it, a link is opened itself.
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = match openat(&parent, name, flags, Mode::empty()) {
        Ok(found) => File::from(found),
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(Error::at(file)(error.into())),
    };
    let metadata = found.metadata().map_err(Error::at(file))?;
    let target = match metadata.is_symlink() {
        true => {
            let target = readlinkat(&found, "", Vec::new());
            let target = target.map_err(|error| Error::at(file)(error.into()))?;
            Some(target.to_string_lossy().into_owned())
        }
        false => None,
    };
    Ok(Some((metadata, target)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zip::ZipArchive;

    use crate::archive::selection::select;
    use crate::archive::testing::{chosen, project};

    #[test]
    fn links_are_not_followed() {
        let from = project();
        let found = select(from.path(), &chosen(&["etc/passwd"]), None, &|| true);
        assert_eq!(found.expect("readable"), BTreeSet::new());
        let files = BTreeSet::from(["etc/passwd", "README", "etc", "gone"].map(PathBuf::from));
        let archive = tempfile::tempfile().expect("a file");
        let out = archive.try_clone().expect("cloned");
        assert_eq!(pack(from.path(), &files, out, &|| true).expect("packed"), 2);
        let mut zip = ZipArchive::new(archive).expect("an archive");
        let names: Vec<_> = zip.file_names().map(|name| name.expect("text").into_owned()).collect();
        assert_eq!(names, ["README", "etc"]);
        assert!(zip.by_name("etc").expect("packed").is_symlink());
    }

    /// The file that is packed is not what finds no room.
    #[test]
    fn a_full_disk_is_that_of_the_archive() {
        let from = project();
        let mut state = 1_u32;
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        });
        let noise: Vec<u8> = noise.take(2 << 20).collect();
        fs::write(from.path().join("noise"), noise).expect("written");
        let files = BTreeSet::from([PathBuf::from("noise")]);
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let error = pack(from.path(), &files, full, &|| true).expect_err("it is full").to_string();
        assert!(error.starts_with("the archive cannot be written: No space left"), "{error}");
    }

    #[test]
    fn packing_ends_when_the_build_is_canceled() {
        let from = project();
        fs::File::create(from.path().join("huge"))
            .and_then(|file| file.set_len(1 << 40))
            .expect("made");
        let files = BTreeSet::from([PathBuf::from("huge")]);
        let archive = tempfile::tempfile().expect("a file");
        let asked = std::cell::Cell::new(0);
        let goes_on = || {
            asked.set(asked.get() + 1);
            asked.get() < 3
        };
        let error = pack(from.path(), &files, archive, &goes_on).expect_err("it is too much");
        assert!(error.to_string().contains("took too long"), "{error}");
    }
}
