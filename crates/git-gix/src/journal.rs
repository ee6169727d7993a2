//! What was changed in repositories and is not recorded in the database yet.
//!
//! Refs and rows cannot be changed in one step. So a change is noted in a file first; then the refs are
//! changed; then the rows are written; then the file goes. Whoever made the file holds a lock on it: a file
//! that can be locked by somebody else was left behind by a process that is gone.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::{ChangeKey, GitError, RefChange, Unsettled};

use crate::durable::make_folders;
use crate::error::io;
use crate::refs::leftover;
use crate::refs::update::{self, Unreadable};
use crate::store::OpenRepository;

/// What the name of a file begins with until it is whole.
const UNFINISHED: &str = "new-";

pub(crate) struct Journal {
    folder: PathBuf,
    /// Where notes go that somebody wants to keep; it is there as long as anybody does.
    held: PathBuf,
    /// The files of this process, locked as long as they are open.
    own: Mutex<HashMap<String, File>>,
    /// Empty ones for the next changes: to make a file and to remove it costs more than all else here.
    blank: Mutex<Vec<(PathBuf, File)>>,
}

/// How many empty files are kept.
const BLANK: usize = 8;

impl Journal {
    pub(crate) fn new(folder: PathBuf, held: PathBuf) -> Self {
        Self { folder, held, own: Mutex::default(), blank: Mutex::default() }
    }

    /// Notes a change before it is made.
    pub(crate) fn note(
        &self,
        project: ProjectId,
        changes: &[RefChange],
        note: &str,
    ) -> Result<ChangeKey, GitError> {
        make_folders(&self.folder)?;
        let (path, file) = self.take_blank()?;
        match self.write(project, &path, &file, &encode(changes, note)) {
            Ok(name) => {
                let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
                own.insert(name.clone(), file);
                Ok(ChangeKey(name))
            }
            Err(error) => {
                // Under whichever of its names it is, it must not be taken for a change.
                let _ = file.set_len(0);
                let _ = fs::remove_file(path);
                Err(io(error))
            }
        }
    }

    /// Writes a note into an empty file and gives it the name by which it is found.
    fn write(
        &self,
        project: ProjectId,
        path: &Path,
        mut file: &File,
        text: &str,
    ) -> std::io::Result<String> {
        file.write_all(text.as_bytes())?;
        // Files are found by their project; their order is that of their making.
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let random = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let random = random.unwrap_or_default().replace(UNFINISHED, "");
        let nanos = since.map_or(0, |since| since.as_nanos());
        let name = format!("{}-{nanos:032}-{random}", project.0);
        fs::rename(path, self.folder.join(&name))?;
        // In this order the disk is waited for once: the file brings its name along. What the disk has of a
        // file whose writing was cut off is known by its end that is missing.
        file.sync_all()?;
        File::open(&self.folder)?.sync_all()?;
        Ok(name)
    }

    /// An empty file that is locked: others take what has a proper name and is not locked.
    fn take_blank(&self) -> Result<(PathBuf, File), GitError> {
        let kept = self.blank.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // Somebody may have tidied up.
        if let Some((path, file)) = kept.filter(|(path, _)| path.exists()) {
            return Ok((path, file));
        }
        let made = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.folder);
        let made = made.map_err(io)?;
        made.as_file().lock().map_err(io)?;
        let (file, path) = made.keep().map_err(|error| io(error.error))?;
        Ok((path, file))
    }

    /// Makes an empty file of a note that is not needed any more, if it is ours and one more is of use.
    fn make_blank(&self, note: &Path, mut file: File) -> bool {
        let mut blank = self.blank.lock().unwrap_or_else(PoisonError::into_inner);
        let random = note.file_name().and_then(|name| name.to_str()?.split('-').nth(2));
        let (Some(random), true) = (random, blank.len() < BLANK) else { return false };
        let path = self.folder.join(format!("{UNFINISHED}{random}"));
        let made = file.set_len(0).and_then(|()| file.rewind());
        if made.and_then(|()| fs::rename(note, &path)).is_err() {
            return false;
        }
        blank.push((path, file));
        true
    }

    /// Forgets a change.
    pub(crate) fn settle(&self, change: &ChangeKey) -> Result<(), GitError> {
        let path = self.path(&change.0)?;
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner).remove(&change.0);
        if self.held.exists() && fs::rename(&path, self.held.join(&change.0)).is_ok() {
            return Ok(());
        }
        if own.is_some_and(|file| self.make_blank(&path, file)) {
            return Ok(());
        }
        match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(error)),
            _ => Ok(()),
        }
    }

    /// Lets others have a change.
    pub(crate) fn leave(&self, change: &ChangeKey) {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).remove(&change.0);
    }

    /// The changes that processes which are gone left behind.
    pub(crate) fn unsettled(
        &self,
        project: Option<ProjectId>,
        open: impl Fn(ProjectId) -> Result<Option<Arc<OpenRepository>>, GitError>,
    ) -> Result<Vec<Unsettled>, GitError> {
        let mut left = Vec::new();
        for name in self.names(project)? {
            match self.hand_out(&name, &open) {
                Ok(Some(unsettled)) => left.push(unsettled),
                Ok(None) => (),
                // What cannot be read must not hold up what can.
                Err(error) if project.is_none() => {
                    tracing::error!(name, %error, "a change of a repository cannot be settled yet");
                }
                Err(error) => {
                    for Unsettled { key, .. } in left {
                        self.leave(&key);
                    }
                    return Err(error);
                }
            }
        }
        Ok(left)
    }

    /// A change that is to be settled, if whoever made it is gone.
    fn hand_out(
        &self,
        name: &str,
        open: &impl Fn(ProjectId) -> Result<Option<Arc<OpenRepository>>, GitError>,
    ) -> Result<Option<Unsettled>, GitError> {
        let key = ChangeKey(name.to_owned());
        let Some(mut file) = self.take_over(name)? else { return Ok(None) };
        let Some(Note { project, changes, note, tries }) = read(name, &file) else {
            // It was not written whole, so nothing was changed after it.
            self.settle(&key)?;
            return Ok(None);
        };
        // Known also to who comes after us if this is our end.
        file.write_all(TRIED.as_bytes()).map_err(io)?;
        let unreadable = if tries < TRIES { Unreadable::Fails } else { Unreadable::IsPassedOver };
        let changes = match open(project)? {
            Some(repository) => {
                leftover::free(repository.git_dir(), &changes)?;
                update::made_in(&repository, &changes, unreadable)?
            }
            None => Vec::new(),
        };
        self.own.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), file);
        Ok(Some(Unsettled { key, project, note, changes, tries }))
    }

    /// The files of changes that were never noted in full.
    pub(crate) fn unfinished(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let unfinished =
            |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        entries.filter(unfinished).map(|entry| entry.path()).collect()
    }

    fn names(&self, project: Option<ProjectId>) -> Result<Vec<String>, GitError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(io)?.file_name().to_string_lossy().into_owned();
            let of = project_of(&name);
            if of.is_some() && (project.is_none() || of == project) {
                names.push(name);
            }
        }
        names.sort_by_key(|name| name.split('-').nth(1).map(str::to_owned));
        Ok(names)
    }

    /// The file, if whoever wrote it is gone.
    fn take_over(&self, name: &str) -> Result<Option<File>, GitError> {
        if self.own.lock().unwrap_or_else(PoisonError::into_inner).contains_key(name) {
            return Ok(None);
        }
        let file = match File::options().read(true).append(true).open(self.path(name)?) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        match file.try_lock() {
            // Settled by another process between our look and our lock.
            Ok(()) if !self.path(name)?.exists() => Ok(None),
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(io(error)),
        }
    }

    fn path(&self, name: &str) -> Result<PathBuf, GitError> {
        if project_of(name).is_none() || name.contains(['/', '\\']) {
            return Err(GitError::Failed("no name of a journal file".into()));
        }
        Ok(self.folder.join(name))
    }
}

pub(crate) fn project_of(name: &str) -> Option<ProjectId> {
    name.split('-').next()?.parse().ok().map(ProjectId)
}

/// How often a ref that cannot be read keeps a change from being settled.
const TRIES: u32 = 5;

/// A line for each ref, an empty one, the note, and a last line by which a whole file is known.
fn encode(changes: &[RefChange], note: &str) -> String {
    let mut text = String::new();
    let id = |id: Option<ObjectId>| id.unwrap_or(ObjectId::ZERO);
    for change in changes {
        text.push_str(&format!("{} {} {}\n", id(change.old), id(change.new), change.name));
    }
    format!("{text}\n{note}\n{WHOLE}")
}

const WHOLE: &str = "whole\n";

/// One for each time that it was taken over.
const TRIED: &str = "tried\n";

/// What is in a file.
pub(crate) struct Note {
    pub(crate) project: ProjectId,
    pub(crate) changes: Vec<RefChange>,
    note: String,
    tries: u32,
}

fn read(name: &str, mut file: &File) -> Option<Note> {
    let mut content = Vec::new();
    file.read_to_end(&mut content).ok()?;
    parse(name, &content)
}

/// What a file says, if it is whole.
pub(crate) fn parse(name: &str, content: &[u8]) -> Option<Note> {
    let mut text = std::str::from_utf8(content).ok()?;
    let mut tries = 0;
    while let Some(rest) = text.strip_suffix(TRIED) {
        text = rest;
        tries += 1;
    }
    let (refs, rest) = text.split_once("\n\n").or_else(|| Some(("", text.strip_prefix('\n')?)))?;
    let note = rest.strip_suffix(WHOLE)?.strip_suffix('\n')?;
    let id = |text: &str| {
        ObjectId::parse(text).map(|id| if id == ObjectId::ZERO { None } else { Some(id) })
    };
    let change = |line: &str| {
        let mut parts = line.splitn(3, ' ');
        let (old, new, name) = (parts.next()?, parts.next()?, parts.next()?);
        Some(RefChange { name: name.to_owned(), old: id(old)?, new: id(new)? })
    };
    let changes: Option<Vec<RefChange>> = refs.lines().map(change).collect();
    Some(Note { project: project_of(name)?, changes: changes?, note: note.to_owned(), tries })
}
