//! Reads archives.

use std::cell::Cell;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use zip::ZipArchive;

use super::{BLOCK, MAX_FILES, MAX_LISTING, MAX_UNPACKED, require_time_left};
use crate::error::Error;
use crate::remove::remove_all;

/// The longest target of a symbolic link.
const MAX_LINK: u64 = 4096;

/// The result of [`unpack`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// The number of files and links in the folder.
    pub files: usize,
    /// The number of links that were left out, because they lead out of the folder.
    pub left_out: usize,
}

impl fmt::Display for Unpacked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files", self.files)?;
        match self.left_out {
            0 => Ok(()),
            count => write!(f, ", without {count} links that lead out of the project"),
        }
    }
}

/// Unpacks an archive into a project folder, as long as `goes_on` is true. Existing files are replaced. Links that lead
/// out of the folder are left out.
/// # Errors
/// The archive is damaged or too large, contains a path outside of the folder, a file cannot be written, or `goes_on`
/// is false.
pub fn unpack(
    archive: File,
    project: &Path,
    goes_on: &dyn Fn() -> bool,
) -> Result<Unpacked, Error> {
    let damaged =
        |error: zip::result::ZipError| Error::step(format!("the archive is damaged: {error}"));
    let listing =
        Listing { archive: BufReader::new(archive), left: Rc::new(Cell::new(MAX_LISTING)) };
    let left = Rc::clone(&listing.left);
    let mut zip = ZipArchive::new(listing).map_err(damaged)?;
    left.set(u64::MAX);
    if zip.len() > MAX_FILES {
        return Err(Error::step(format!("the archive has more than {MAX_FILES} files")));
    }
    let (mut left, mut unpacked, mut links) = (MAX_UNPACKED, Unpacked::default(), Vec::new());
    for at in 0..zip.len() {
        require_time_left(goes_on)?;
        let mut entry = zip.by_index(at).map_err(damaged)?;
        let name = PathBuf::from(entry.name().map_err(damaged)?.into_owned());
        if !is_below(&name) || name.starts_with(".git") {
            return Err(Error::step(format!(
                "the archive has a path outside of the project: {}",
                name.display()
            )));
        }
        if entry.is_dir() {
            make_folder(project, &name)?;
            continue;
        }
        if entry.is_symlink() {
            let mut target = String::new();
            let read = entry.by_ref().take(MAX_LINK).read_to_string(&mut target);
            read.map_err(|_| {
                Error::step(format!("the link {} has no valid target", name.display()))
            })?;
            links.push((name, target));
            continue;
        }
        let mode = entry.unix_mode().unwrap_or(0o644) & 0o777;
        left -= unpack_file(&mut entry, project, (&name, mode), left, goes_on)?;
        unpacked.files += 1;
    }
    // Last, so that no file is written through a link of the archive itself.
    for (name, target) in links {
        require_time_left(goes_on)?;
        if leads_out(&name, &target) {
            unpacked.left_out += 1;
            continue;
        }
        let path = prepare(project, &name)?;
        std::os::unix::fs::symlink(target, &path).map_err(Error::at(&path))?;
        unpacked.files += 1;
    }
    Ok(unpacked)
}

/// A reader of an archive with a limit of bytes while the list of files is parsed into memory.
struct Listing<R> {
    archive: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Listing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.archive.read(buffer)?;
        match self.left.get().checked_sub(read as u64) {
            Some(left) => self.left.set(left),
            None => return Err(io::Error::other("the list of its files is too long")),
        }
        Ok(read)
    }
}

impl<R: Seek> Seek for Listing<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.archive.seek(to)
    }
}

fn unpack_file(
    mut entry: impl Read,
    project: &Path,
    (name, mode): (&Path, u32),
    left: u64,
    goes_on: &dyn Fn() -> bool,
) -> Result<u64, Error> {
    let path = prepare(project, name)?;
    let mut out =
        File::options().write(true).create_new(true).open(&path).map_err(Error::at(&path))?;
    let mut written = 0;
    loop {
        let block =
            io::copy(&mut entry.by_ref().take(BLOCK), &mut out).map_err(Error::at(&path))?;
        written += block;
        if written > left {
            let problem = format!("the archive unpacks to more than {MAX_UNPACKED} bytes");
            return Err(Error::step(problem));
        }
        if block < BLOCK {
            break;
        }
        require_time_left(goes_on)?;
    }
    out.flush().map_err(Error::at(&path))?;
    // The owner can always read and remove it.
    fs::set_permissions(&path, fs::Permissions::from_mode(mode | 0o600))
        .map_err(Error::at(&path))?;
    Ok(written)
}

/// Returns whether the target of a link is not below the project folder.
fn leads_out(name: &Path, target: &str) -> bool {
    let mut place: Vec<Component<'_>> =
        name.parent().map(|parent| parent.components().collect()).unwrap_or_default();
    !Path::new(target).components().all(|part| match part {
        Component::Normal(_) => {
            place.push(part);
            true
        }
        Component::CurDir => true,
        Component::ParentDir => place.pop().is_some(),
        Component::RootDir | Component::Prefix(_) => false,
    })
}

/// Creates the parent folders of a file, removes an existing entry at its path, and returns the path.
fn prepare(project: &Path, name: &Path) -> Result<PathBuf, Error> {
    if let Some(parent) = name.parent() {
        make_folder(project, parent)?;
    }
    let path = project.join(name);
    if fs::symlink_metadata(&path).is_ok() {
        remove_all(&path).map_err(Error::at(&path))?;
    }
    Ok(path)
}

/// Makes a folder and those above it. Refuses to pass through links and files.
fn make_folder(project: &Path, name: &Path) -> Result<(), Error> {
    let mut path = project.to_owned();
    for part in name.components() {
        path.push(part);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => (),
            Ok(_) => return Err(Error::step(format!("{} is not a folder", path.display()))),
            // The mode is that of git, not that of the runner's umask, because the user of a container may differ.
            Err(_) => fs::create_dir(&path)
                .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)))
                .map_err(Error::at(&path))?,
        }
    }
    Ok(())
}

/// Whether a path stays below its folder.
fn is_below(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use crate::archive::packing::pack;
    use crate::archive::selection::select;
    use crate::archive::testing::{chosen, project};

    #[test]
    fn files_are_packed_and_unpacked() {
        let (from, to) = (project(), tempfile::tempdir().expect("a folder"));
        let archive = to.path().join("a.zip");
        let files = select(from.path(), &chosen(&["bin"]), None, &|| true).expect("readable");
        assert_eq!(files.len(), 3);
        let out = File::create(&archive).expect("made");
        assert_eq!(pack(from.path(), &files, out, &|| true).expect("packed"), 3);
        let target = to.path().join("project");
        fs::create_dir(&target).expect("made");
        for _ in 0..2 {
            let expected = Unpacked { files: 3, left_out: 0 };
            let archive = File::open(&archive).expect("opened");
            assert_eq!(unpack(archive, &target, &|| true).expect("unpacked"), expected);
        }
        assert_eq!(fs::read_to_string(target.join("bin/lib/a.o")).expect("there"), "object");
        assert_eq!(fs::read_to_string(target.join("bin/link")).expect("there"), "program");
        let mode = fs::metadata(target.join("bin/app")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }

    /// The runner keeps its own files private.
    #[test]
    fn folders_have_the_usual_permissions_whatever_those_of_new_files() {
        let (from, to) = (project(), tempfile::tempdir().expect("a folder"));
        let files = select(from.path(), &chosen(&["bin"]), None, &|| true).expect("readable");
        let archive = tempfile::tempfile().expect("a file");
        let out = archive.try_clone().expect("cloned");
        pack(from.path(), &files, out, &|| true).expect("packed");
        let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
        let unpacked = unpack(archive, to.path(), &|| true);
        rustix::process::umask(before);
        assert_eq!(unpacked.expect("unpacked").files, 3);
        for (name, expected) in [("bin", 0o755), ("bin/lib", 0o755), ("bin/app", 0o755)] {
            let mode = fs::metadata(to.path().join(name)).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, expected, "{name}");
        }
    }

    /// Writes an archive with one file or link.
    fn hostile(name: &str, link: Option<&str>) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut zip = ZipWriter::new(file.reopen().expect("opened"));
        match link {
            Some(target) => {
                zip.add_symlink(name, target, SimpleFileOptions::default()).expect("added");
            }
            None => {
                zip.start_file(name, SimpleFileOptions::default()).expect("added");
                zip.write_all(b"x").expect("written");
            }
        }
        zip.finish().expect("written");
        file
    }

    /// Only the list of files is read before their number is known.
    #[test]
    fn a_long_list_of_files_is_not_read_into_memory() {
        let left = Rc::new(Cell::new(10));
        let mut listing = Listing { archive: io::Cursor::new([0; 30]), left: Rc::clone(&left) };
        assert_eq!(listing.read(&mut [0; 8]).ok(), Some(8));
        assert!(
            listing.read(&mut [0; 8]).is_err_and(|error| error.to_string().contains("too long"))
        );
        let project = project();
        let name = "n".repeat(MAX_LISTING as usize);
        let files = BTreeSet::from([PathBuf::from(name)]);
        let out = tempfile::tempfile().expect("a file");
        assert!(pack(project.path(), &files, out, &|| true).is_err());
    }

    /// Between two files, and in a file that is long.
    #[test]
    fn unpacking_ends_when_the_build_is_canceled() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut zip = ZipWriter::new(file.reopen().expect("opened"));
        for (name, length) in [("short", 1), ("long", 3 * BLOCK), ("last", 1)] {
            zip.start_file(name, SimpleFileOptions::default()).expect("added");
            io::copy(&mut io::repeat(b'x').take(length), &mut zip).expect("written");
        }
        zip.finish().expect("written");
        for (questions, found) in [(0_u32, vec![]), (1, vec!["short"]), (3, vec!["long", "short"])]
        {
            let folder = tempfile::tempdir().expect("a folder");
            let left = Cell::new(questions);
            let goes_on = || left.replace(left.get().saturating_sub(1)) > 0;
            let archive = file.reopen().expect("opened");
            let error = unpack(archive, folder.path(), &goes_on).expect_err("it is canceled");
            assert!(error.to_string().contains("canceled"), "{error}");
            let entries = fs::read_dir(folder.path()).expect("a folder").flatten();
            let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
            names.sort();
            assert_eq!(names, found, "{questions}");
            let long = fs::metadata(folder.path().join("long")).map(|long| long.len());
            assert!(long.is_err() || long.is_ok_and(|length| length == 2 * BLOCK));
        }
    }

    #[test]
    fn archives_cannot_leave_the_project() {
        for (name, link) in [
            ("../x", None),
            ("/etc/x", None),
            ("a/../../x", None),
            (".git/hooks/post-checkout", None),
            ("etc/x", None),
            ("etc/x", Some("y")),
        ] {
            let folder = project();
            let archive = hostile(name, link);
            assert!(
                unpack(archive.into_file(), folder.path(), &|| true).is_err(),
                "{name} {link:?}"
            );
        }
        for (name, target) in [("evil", "/etc/passwd"), ("a/evil", "../../x"), ("a", "b/../../x")] {
            let folder = project();
            let archive = hostile(name, Some(target)).into_file();
            let unpacked = unpack(archive, folder.path(), &|| true);
            let unpacked = unpacked.expect("the archive is valid");
            assert_eq!(unpacked, Unpacked { files: 0, left_out: 1 }, "{name} {target}");
            assert!(fs::symlink_metadata(folder.path().join(name)).is_err(), "{name} {target}");
            let said = unpacked.to_string();
            assert_eq!(said, "0 files, without 1 links that lead out of the project");
        }
        let folder = project();
        let text = File::open(folder.path().join("README")).expect("opened");
        assert!(unpack(text, folder.path(), &|| true).is_err());
    }
}
