//! Archives of artifacts and caches: zip files, written from and unpacked into a project folder. Neither follows
//! symbolic links, because jobs control both the folder and the archive.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2, readlinkat};
use rustix::io::Errno;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::error::Error;
use crate::plan::Selection;
use crate::remove::remove_all;

/// The maximum number of files of an archive.
const MAX_FILES: usize = 500_000;

/// The maximum size of all files that an archive unpacks to.
pub const MAX_UNPACKED: u64 = 32 << 30;

/// How many folders may be in one another.
const MAX_DEPTH: usize = 200;

/// The size of the blocks in which files are packed.
const BLOCK: u64 = 4 << 20;

/// The longest target of a symbolic link.
const MAX_LINK: u64 = 4096;

/// Finds the files that belong to a selection, relative to the project folder. `tracked` are the files and submodules
/// that git checked out; all others are untracked. Without it, no file counts as untracked.
/// # Errors
/// A folder cannot be read, there are too many files, or `goes_on` is false.
pub fn select(
    project: &Path,
    chosen: &Selection,
    tracked: Option<&BTreeSet<PathBuf>>,
    goes_on: &dyn Fn() -> bool,
) -> Result<BTreeSet<PathBuf>, Error> {
    let mut found = BTreeSet::new();
    let tracked = tracked.filter(|_| chosen.untracked);
    // A file in a submodule belongs to what is tracked.
    let is_untracked = |path: &Path| {
        tracked.is_some_and(|tracked| !path.ancestors().any(|above| tracked.contains(above)))
    };
    if !chosen.patterns.is_empty() || tracked.is_some() {
        walk(project, &mut Vec::new(), &mut |parts| {
            check(goes_on)?;
            let path: PathBuf = parts.iter().collect();
            let matches = chosen.patterns.iter().any(|pattern| pattern.matches(parts));
            if matches || is_untracked(&path) {
                found.insert(path);
            }
            Ok(found.len() <= MAX_FILES)
        })?;
    }
    if found.len() > MAX_FILES {
        return Err(Error::step(format!("more than {MAX_FILES} files match")));
    }
    Ok(found)
}

/// Visits all files and links below the folder, except the repository itself, until `visit` returns false.
fn walk(
    folder: &Path,
    parts: &mut Vec<String>,
    visit: &mut dyn FnMut(&[&str]) -> Result<bool, Error>,
) -> Result<bool, Error> {
    if parts.len() > MAX_DEPTH {
        return Err(Error::step(format!("more than {MAX_DEPTH} folders are in one another")));
    }
    let here: PathBuf = folder.join(parts.iter().collect::<PathBuf>());
    for entry in fs::read_dir(&here).map_err(Error::at(&here))? {
        let entry = entry.map_err(Error::at(&here))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if parts.is_empty() && name == ".git" {
            continue;
        }
        let kind = entry.file_type().map_err(Error::at(&here))?;
        parts.push(name);
        let goes_on = if kind.is_dir() {
            walk(folder, parts, visit)?
        } else if kind.is_file() || kind.is_symlink() {
            visit(&parts.iter().map(String::as_str).collect::<Vec<_>>())?
        } else {
            // Sockets, pipes and devices.
            true
        };
        parts.pop();
        if !goes_on {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Packs files into a new archive, as long as `goes_on` is true. Files that are gone meanwhile are left out. Returns how
/// many there are.
/// # Errors
/// A file cannot be read, the archive cannot be written, the files are too large together, or it shall not go on.
pub fn pack(
    project: &Path,
    files: &BTreeSet<PathBuf>,
    archive: File,
    goes_on: &dyn Fn() -> bool,
) -> Result<usize, Error> {
    let folder = File::open(project).map_err(Error::at(project))?;
    let mut zip = ZipWriter::new(BufWriter::with_capacity(256 << 10, archive));
    let (mut packed, mut left) = (0, MAX_UNPACKED);
    for file in files {
        packed += usize::from(pack_one(&folder, file, &mut zip, &mut left, goes_on)?);
    }
    let broken =
        |error: &dyn fmt::Display| Error::step(format!("the archive cannot be written: {error}"));
    zip.finish().map_err(|error| broken(&error))?.flush().map_err(|error| broken(&error))?;
    Ok(packed)
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
    let broken =
        |error: zip::result::ZipError| Error::step(format!("{name} cannot be packed: {error}"));
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
        let copied = io::copy(&mut (&input).take(BLOCK), zip).map_err(Error::at(file))?;
        if copied == 0 {
            return Ok(true);
        }
        *left = left.saturating_sub(copied);
        if *left == 0 {
            return Err(Error::step(format!("the files have more than {MAX_UNPACKED} bytes")));
        }
        check(goes_on)?;
    }
}

fn check(goes_on: &dyn Fn() -> bool) -> Result<(), Error> {
    match goes_on() {
        true => Ok(()),
        false => Err(Error::step("it took too long, or the build was canceled")),
    }
}

/// What is at a path, and the target if it is a link.
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

/// Unpacks an archive into a project folder. Existing files are replaced. Links that lead out of the folder are left out.
/// # Errors
/// The archive is damaged or too large, contains a path outside of the folder, or a file cannot be written.
pub fn unpack(archive: File, project: &Path) -> Result<Unpacked, Error> {
    let damaged =
        |error: zip::result::ZipError| Error::step(format!("the archive is damaged: {error}"));
    let mut zip = ZipArchive::new(BufReader::new(archive)).map_err(damaged)?;
    if zip.len() > MAX_FILES {
        return Err(Error::step(format!("the archive has more than {MAX_FILES} files")));
    }
    let (mut left, mut unpacked, mut links) = (MAX_UNPACKED, Unpacked::default(), Vec::new());
    for at in 0..zip.len() {
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
        left -= unpack_file(&mut entry, project, &name, mode, left)?;
        unpacked.files += 1;
    }
    // Last, so that no file is written through a link of the archive itself.
    for (name, target) in links {
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

fn unpack_file(
    entry: &mut dyn Read,
    project: &Path,
    name: &Path,
    mode: u32,
    left: u64,
) -> Result<u64, Error> {
    let path = prepare(project, name)?;
    let mut out =
        File::options().write(true).create_new(true).open(&path).map_err(Error::at(&path))?;
    let written = io::copy(&mut entry.take(left + 1), &mut out).map_err(Error::at(&path))?;
    if written > left {
        return Err(Error::step(format!("the archive unpacks to more than {MAX_UNPACKED} bytes")));
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

/// Makes the folders above a file, removes what is there, and returns its path.
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
            Err(_) => fs::create_dir(&path).map_err(Error::at(&path))?,
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
    use crate::glob::Pattern;

    fn project() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, content) in
            [("bin/app", "program"), ("bin/lib/a.o", "object"), ("README", "text"), (".git/x", "")]
        {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("has one")).expect("made");
            fs::write(path, content).expect("written");
        }
        fs::set_permissions(folder.path().join("bin/app"), fs::Permissions::from_mode(0o755))
            .expect("changed");
        std::os::unix::fs::symlink("app", folder.path().join("bin/link")).expect("linked");
        std::os::unix::fs::symlink("/etc", folder.path().join("etc")).expect("linked");
        folder
    }

    fn chosen(patterns: &[&str]) -> Selection {
        let patterns = patterns.iter().map(|pattern| Pattern::parse(pattern).expect("valid"));
        Selection { patterns: patterns.collect(), ..Selection::default() }
    }

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
            assert_eq!(unpack(archive, &target).expect("unpacked"), expected);
        }
        assert_eq!(fs::read_to_string(target.join("bin/lib/a.o")).expect("there"), "object");
        assert_eq!(fs::read_to_string(target.join("bin/link")).expect("there"), "program");
        let mode = fs::metadata(target.join("bin/app")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }

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

    #[test]
    fn what_git_did_not_check_out_is_untracked() {
        let from = project();
        let wanted = Selection { untracked: true, ..Selection::default() };
        let tracked = BTreeSet::from(["README", "bin/lib", "gone"].map(PathBuf::from));
        let files = select(from.path(), &wanted, Some(&tracked), &|| true).expect("readable");
        assert_eq!(files, BTreeSet::from(["bin/app", "bin/link", "etc"].map(PathBuf::from)));
        let found = select(from.path(), &wanted, None, &|| true);
        assert_eq!(found.expect("readable"), BTreeSet::new());
        let found = select(from.path(), &chosen(&["bin"]), None, &|| false);
        assert!(found.is_err_and(|error| error.to_string().contains("took too long")));
    }

    #[test]
    fn packing_ends_when_it_shall_not_go_on() {
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
            assert!(unpack(archive.into_file(), folder.path()).is_err(), "{name} {link:?}");
        }
        for (name, target) in [("evil", "/etc/passwd"), ("a/evil", "../../x"), ("a", "b/../../x")] {
            let folder = project();
            let unpacked = unpack(hostile(name, Some(target)).into_file(), folder.path());
            let unpacked = unpacked.expect("the archive is valid");
            assert_eq!(unpacked, Unpacked { files: 0, left_out: 1 }, "{name} {target}");
            assert!(fs::symlink_metadata(folder.path().join(name)).is_err(), "{name} {target}");
            let said = unpacked.to_string();
            assert_eq!(said, "0 files, without 1 links that lead out of the project");
        }
        let folder = project();
        let text = File::open(folder.path().join("README")).expect("opened");
        assert!(unpack(text, folder.path()).is_err());
    }
}
