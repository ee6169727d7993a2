//! `hexforge backup`.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hexforge_domain::id::ProjectId;
use hexforge_git_gix::Layout;
use hexforge_pack_store::FolderPacks;
use hexforge_persistence_diesel::backup::{self as database, BackupError, Parts, Snapshot};
use hexforge_persistence_diesel::{DatabaseUrl, store};

use super::Summary;
use super::file::{Header, Kind, Writer};
use super::manifest::{MANIFEST, Manifest};
use super::progress::Progress;
use crate::config::Config;
use crate::system::{Hold, Trash, random_name, trash};
use crate::wiring;

/// Of how many projects it is asked at once whether the database has them.
const BATCH: usize = 500;

/// Writes everything of one moment into a new file.
pub fn make(config: &Config, file: &Path) -> Result<Summary> {
    let data = &config.data_dir;
    ensure!(data.is_dir(), "there is no data folder {}", data.display());
    ensure!(!file.exists(), "{} is there already", file.display());
    if database::kind(&config.database_url) != "sqlite" || database_file_exists(config) {
        let pending = store::pending_migrations(&config.database_url)?;
        ensure!(
            pending.is_empty(),
            "the database is of an earlier release: make the backup with that release, or start this one first"
        );
    }
    let mut progress = Progress::new();
    let place = Place::beside(file)?;
    let hold = Hold::take(data).context("the data folder cannot be held on to")?;
    let Some(hold) = hold else { bail!("another backup is being made") };
    // The database comes first: the objects of its refs were stored before the refs.
    progress.step("copying the database");
    let mut snapshot = Snapshot::take(&config.database_url, &place.folder)?;
    let writer = Writer::begin(BufWriter::with_capacity(256 * 1024, place.create()?))?;
    let (links, summary) = (HashMap::new(), Summary::default());
    let mut copy = Copy { data, writer, links, summary, progress, missing: vec![] };
    let manifest = Manifest {
        made: chrono::Utc::now().format("%Y-%m-%d %H:%M:%S UTC").to_string(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        database: database::kind(&config.database_url).to_owned(),
        migrations: snapshot.migrations()?,
        repositories: Some(snapshot.repositories()?),
    };
    copy.summary.repositories = manifest.repositories.unwrap_or_default();
    copy.part(MANIFEST, manifest.write().as_bytes())?;
    snapshot.give(&mut copy)?;
    copy.progress.step("copying repositories and files");
    copy.keys()?;
    copy.packs(&mut snapshot, &wiring::packs(config))?;
    copy.in_files(&mut snapshot)?;
    for root in ["uploads", "builds"] {
        copy.projects(&mut snapshot, root)?;
    }
    copy.thrown_away(&mut snapshot)?;
    let Copy { writer, summary, missing, .. } = copy;
    let written = writer.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    place.finish(&written, file)?;
    drop(hold);
    // What was thrown away meanwhile waited for this.
    Trash::new(data).empty().context("the trash cannot be emptied")?;
    let lost = missing.len();
    ensure!(lost == 0, "the backup is made, but {lost} packs are missing: {}", missing.join(", "));
    Ok(summary)
}

/// Returns whether there is a database in a file: to ask it for migrations would make it.
fn database_file_exists(config: &Config) -> bool {
    matches!(&config.database_url, DatabaseUrl::Sqlite(file) if file.exists())
}

/// A folder for what is not finished, beside the file that it will be; it goes with this.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn beside(file: &Path) -> Result<Self> {
        let name = file.file_name().context("the backup needs the name of a file")?;
        let name = format!(".{}-{}", name.to_string_lossy(), random_name());
        let folder = file.with_file_name(name);
        DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        // The database is asked by its whole path.
        Ok(Self { folder: folder.canonicalize()? })
    }

    fn unfinished(&self) -> PathBuf {
        self.folder.join("unfinished")
    }

    /// For nobody else to read.
    fn create(&self) -> io::Result<File> {
        File::options().write(true).create_new(true).mode(0o600).open(self.unfinished())
    }

    fn finish(&self, written: &File, file: &Path) -> Result<()> {
        written.sync_all()?;
        // Unlike a rename this fails when somebody was faster.
        fs::hard_link(self.unfinished(), file)
            .or_else(|error| match error.kind() {
                ErrorKind::AlreadyExists => Err(error),
                // Not every file system has links.
                _ => fs::rename(self.unfinished(), file),
            })
            .with_context(|| format!("{} cannot be written", file.display()))?;
        let folder = self.folder.parent().unwrap_or(Path::new("/"));
        Ok(File::open(folder)?.sync_all()?)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// By what a file with several names is known. Its number may be given to another once it is gone, so its last name,
/// which tells the content of a pack, and its length belong to it.
type Identity = (u64, u64, OsString, u64);

/// A backup that is being written.
struct Copy<'a, W: Write> {
    data: &'a Path,
    writer: Writer<W>,
    /// Files that have several names: forks share packs.
    links: HashMap<Identity, PathBuf>,
    summary: Summary,
    progress: Progress,
    /// The names of packs that are not there.
    missing: Vec<String>,
}

impl<W: Write> Copy<'_, W> {
    fn part(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let header = Header { kind: Kind::Part, path: name.into(), mode: 0o600 };
        let mut entry = self.writer.entry(&header)?;
        entry.write_all(content)?;
        entry.finish()?;
        self.count(content.len() as u64);
        Ok(())
    }

    fn count(&mut self, bytes: u64) {
        self.summary.files += 1;
        self.summary.bytes += bytes;
        self.progress.done(&self.summary);
    }

    /// A file that is open, under the path that it has in the data folder.
    fn open_file(&mut self, path: &Path, file: &mut File) -> io::Result<()> {
        let found = file.metadata()?;
        let mut header =
            Header { kind: Kind::File, path: path.to_owned(), mode: found.mode() & 0o777 };
        let name = path.file_name().unwrap_or_default().to_owned();
        let identity = (found.dev(), found.ino(), name, found.len());
        if found.nlink() > 1 {
            if let Some(same) = self.links.get(&identity) {
                header.kind = Kind::Link;
                let mut entry = self.writer.entry(&header)?;
                entry.write_all(same.as_os_str().as_encoded_bytes())?;
                entry.finish()?;
                self.count(0);
                return Ok(());
            }
            self.links.insert(identity, path.to_owned());
        }
        let mut entry = self.writer.entry(&header)?;
        let bytes = io::copy(file, &mut entry)?;
        entry.finish()?;
        self.count(bytes);
        Ok(())
    }

    /// A file, if it is there.
    fn file(&mut self, from: &Path, path: &Path) -> io::Result<()> {
        match File::open(from) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            file => self.open_file(path, &mut file?),
        }
    }

    /// All files in a folder and those in it.
    fn tree(&mut self, from: &Path, path: &Path) -> io::Result<()> {
        for entry in entries(from)? {
            let Some(name) = entry.file_name() else { continue };
            let (inner, kind) = (path.join(name), fs::symlink_metadata(&entry));
            match kind.map(|found| found.file_type()) {
                Ok(kind) if kind.is_dir() => self.tree(&entry, &inner)?,
                Ok(kind) if kind.is_file() => self.file(&entry, &inner)?,
                // Nothing of ours, or gone.
                Ok(_) | Err(_) => (),
            }
        }
        Ok(())
    }

    /// What the whole installation is known by.
    fn keys(&mut self) -> Result<()> {
        let data = self.data;
        self.file(&data.join("secret.key"), Path::new("secret.key"))?;
        self.tree(&data.join("ssh"), Path::new("ssh"))?;
        Ok(())
    }

    /// The folders of all projects below a folder, as far as the database has the project.
    fn projects(&mut self, snapshot: &mut Snapshot, root: &str) -> Result<()> {
        let data = self.data;
        let shelves = entries(&data.join(root))?.into_iter().filter(|shelf| is_shelf(shelf));
        let shelves = shelves.flat_map(|shelf| entries(&shelf).unwrap_or_default());
        let folders = shelves.filter(|shelf| is_shelf(shelf));
        let folders = folders.flat_map(|shelf| entries(&shelf).unwrap_or_default());
        let mut folders = folders.filter_map(|folder| Some((project_of(&folder)?, folder)));
        loop {
            let some: Vec<(ProjectId, PathBuf)> = folders.by_ref().take(BATCH).collect();
            if some.is_empty() {
                return Ok(());
            }
            let ids: Vec<ProjectId> = some.iter().map(|(id, _)| *id).collect();
            let known = snapshot.projects(&ids)?;
            for (_, folder) in some.iter().filter(|(id, _)| known.contains(id)) {
                self.tree(folder, folder.strip_prefix(data)?)?;
            }
        }
    }

    /// The packs of all repositories, each with its index.
    fn packs(&mut self, snapshot: &mut Snapshot, packs: &FolderPacks) -> Result<()> {
        let (data, mut last) = (self.data, None);
        loop {
            let names = snapshot.packs(last, BATCH as i64)?;
            let Some(end) = names.last() else { return Ok(()) };
            last = Some(*end);
            for name in names {
                let pack = packs.path(name);
                let index = pack.with_extension("idx");
                let opened = File::open(&index).and_then(|index| Ok([index, File::open(&pack)?]));
                let mut opened = match opened {
                    // Everything else is worth a backup all the same.
                    Err(error) if error.kind() == ErrorKind::NotFound => {
                        self.missing.push(name.to_string());
                        continue;
                    }
                    opened => opened.with_context(|| format!("the pack {name}"))?,
                };
                for (file, opened) in [&index, &pack].into_iter().zip(&mut opened) {
                    self.open_file(file.strip_prefix(data)?, opened)?;
                }
            }
        }
    }

    /// Repositories that an upgrade could not take over, with all their files.
    fn in_files(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let (data, layout) = (self.data, Layout::new(self.data));
        for project in snapshot.in_files()? {
            for folder in [layout.repository(project), layout.earlier(project)] {
                self.tree(&folder, folder.strip_prefix(data)?)?;
            }
        }
        Ok(())
    }

    /// What was removed since the moment of the backup.
    fn thrown_away(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        for (place, was) in trash::contents(self.data)? {
            // A project's folder, or one file in it.
            let of = was.iter().nth(3).map(Path::new).and_then(project_of);
            let Some(project) = of else { continue };
            if snapshot.projects(&[project])?.is_empty() {
                continue;
            }
            // The folders of repositories are made from rows and packs.
            match place.is_dir() {
                _ if was.starts_with("repositories") => (),
                true => self.tree(&place, &was)?,
                false => self.file(&place, &was)?,
            }
        }
        Ok(())
    }
}

impl<W: Write> Parts for Copy<'_, W> {
    fn part(
        &mut self,
        name: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<(), BackupError>,
    ) -> Result<(), BackupError> {
        let header = Header { kind: Kind::Part, path: name.into(), mode: 0o600 };
        let mut entry = Counted { inner: self.writer.entry(&header)?, bytes: 0 };
        write(&mut entry)?;
        let bytes = entry.bytes;
        entry.inner.finish()?;
        self.count(bytes);
        Ok(())
    }
}

struct Counted<W> {
    inner: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// What is in a folder; nothing when it is not there.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(vec![]),
        entries => entries?.map(|entry| entry.map(|entry| entry.path())).collect(),
    }
}

/// Whether a folder holds folders of projects: its name is two digits.
fn is_shelf(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The project whose folder this is.
fn project_of(folder: &Path) -> Option<ProjectId> {
    let name = folder.file_name()?.to_str()?;
    name.strip_suffix(".git").unwrap_or(name).parse().ok().map(ProjectId)
}
