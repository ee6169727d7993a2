//! The one file that many refs are in.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use hexforge_domain::ports::git::GitError;

use super::lock::Lock;
use crate::durable::{replace_file, sync_folder};
use crate::error::io;
use crate::peel::peel;

/// The name of the file in the folder of a repository.
pub(crate) const FILE: &str = "packed-refs";

/// Says that each tag has what it leads to in a line of its own, and that nothing else leads anywhere.
const HEADER: &[u8] = b"# pack-refs with: peeled fully-peeled sorted \n";

/// What refs are to be; `None` takes one out.
pub(crate) type Edits<'a> = BTreeMap<&'a [u8], Option<ObjectId>>;

/// Changes the file, in one step and on disk. What it does not have needs not to be taken out. Nobody else can change
/// it until the lock is dropped: a program that packs refs would bring back a ref whose own file is still there.
pub(crate) fn rewrite(repo: &gix::Repository, edits: &Edits<'_>) -> Result<Lock, GitError> {
    let path = repo.git_dir().join(FILE);
    let lock = Lock::take(&path)?;
    let old = content(&path)?;
    let rows = read(&old)?;
    if edits.values().all(Option::is_none) && !edits.keys().any(|name| has(&rows, name)) {
        return Ok(lock);
    }
    let peeled = rows.peeled;
    let mut all: BTreeMap<&[u8], Row<'_>> = rows.rows.into_iter().collect();
    for (name, target) in edits {
        match target {
            Some(id) => drop(all.insert(*name, Row::New(*id))),
            None => drop(all.remove(*name)),
        }
    }
    let mut text = HEADER.to_vec();
    for (name, row) in all {
        match row {
            Row::Old(lines) if peeled => text.extend_from_slice(lines),
            Row::Old(lines) => {
                let id = ObjectId::from_hex(lines.get(..40).ok_or_else(damaged)?)
                    .map_err(|_| damaged())?;
                put(repo, &mut text, name, id);
            }
            Row::New(id) => put(repo, &mut text, name, id),
        }
    }
    replace_file(&path, &text)?;
    sync_folder(repo.git_dir())?;
    Ok(lock)
}

/// A ref in the file.
enum Row<'a> {
    /// With its line break, and the line of what it leads to.
    Old(&'a [u8]),
    New(ObjectId),
}

struct Rows<'a> {
    /// Whether what is said of tags is all that there is to say.
    peeled: bool,
    /// By name, in order.
    rows: Vec<(&'a [u8], Row<'a>)>,
}

fn has(rows: &Rows<'_>, name: &[u8]) -> bool {
    rows.rows.binary_search_by(|(known, _)| (*known).cmp(name)).is_ok()
}

fn read(file: &[u8]) -> Result<Rows<'_>, GitError> {
    let mut rows = Rows { peeled: false, rows: Vec::new() };
    let mut at = 0;
    for line in file.lines_with_terminator() {
        let start = at;
        at += line.len();
        match line.first() {
            Some(b'#') => rows.peeled = line.contains_str(" fully-peeled "),
            // It belongs to the line before.
            Some(b'^') => {
                let (_, Row::Old(lines)) = rows.rows.last_mut().ok_or_else(damaged)? else {
                    return Err(damaged());
                };
                *lines = &file[start - lines.len()..at];
            }
            _ => {
                let (_, name) = line.split_once_str(b" ").ok_or_else(damaged)?;
                rows.rows.push((name.trim_end_with(|c| c == '\n'), Row::Old(line)));
            }
        }
    }
    if file.last().is_some_and(|&last| last != b'\n') {
        return Err(damaged());
    }
    rows.rows.sort_by_key(|(name, _)| *name);
    Ok(rows)
}

fn put(repo: &gix::Repository, text: &mut Vec<u8>, name: &[u8], id: ObjectId) {
    text.extend_from_slice(format!("{id} ").as_bytes());
    text.extend_from_slice(name);
    text.push(b'\n');
    // What cannot be read leads nowhere.
    if let Ok((_, to)) = peel(repo, id)
        && to != id
    {
        text.extend_from_slice(format!("^{to}\n").as_bytes());
    }
}

fn damaged() -> GitError {
    GitError::Corrupt("the file of packed refs".into())
}

/// What the file has for those of these refs that are in it.
pub(crate) fn targets<'a>(
    git_dir: &Path,
    names: impl Iterator<Item = &'a str>,
) -> Result<HashMap<&'a str, ObjectId>, GitError> {
    let file = content(&git_dir.join(FILE))?;
    let rows: HashMap<&[u8], Row<'_>> = read(&file)?.rows.into_iter().collect();
    let mut targets = HashMap::new();
    for name in names {
        if let Some(Row::Old(lines)) = rows.get(name.as_bytes()) {
            let hex = lines.get(..40).ok_or_else(damaged)?;
            targets.insert(name, ObjectId::from_hex(hex).map_err(|_| damaged())?);
        }
    }
    Ok(targets)
}

/// The whole file; nothing when there is none.
fn content(path: &Path) -> Result<Vec<u8>, GitError> {
    match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        content => content.map_err(io),
    }
}
