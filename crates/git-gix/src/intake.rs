//! Packs that others send: written as they come, completed by what their objects are based on, and indexed.
//!
//! An object that is stored whole is hashed while it goes by, so its size does not matter. Only what is stored as a
//! difference is put together in memory, with what it differs from; git stores nothing large like that.

mod arrival;
mod complete;
mod patch;
mod resolve;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use gix::ObjectId;
use gix::object::Kind;
use hexforge_domain::ports::git::GitError;

use crate::error::io as disk;
use crate::pack_index::{self, Indexed};
use arrival::Arrival;
use complete::Added;
use resolve::{Differences, Found};

#[cfg(test)]
pub(crate) use patch::apply;

/// A pack on disk, not yet synced.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) data: PathBuf,
    pub(crate) index: PathBuf,
}

/// Why a pack was not taken in.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// It is no good pack; what is wrong with it, to follow "it".
    Bad(String),
    /// It could not be read from whoever sends it.
    Cut(io::Error),
    /// The time was over.
    Stopped,
    /// Something is wrong here.
    Failed(GitError),
}

/// An object as it lies in a pack.
struct Entry {
    offset: u64,
    /// From there to what is compressed.
    header: u8,
    /// Of what is compressed, when it is not.
    size: u64,
    crc: u32,
    stored: Stored,
}

enum Stored {
    Whole(Kind, ObjectId),
    /// As what differs from the object that lies there.
    DiffersAt(u64),
    /// As what differs from that object, wherever it is.
    DiffersFrom(ObjectId),
}

/// Takes in a pack, into a folder in which nobody looks yet. Its objects may be based on others, which are added to
/// it then. None where it has no objects.
pub(crate) fn take_in(
    from: &mut dyn Read,
    folder: &Path,
    others: Option<&gix::Repository>,
    stop: &AtomicBool,
) -> Result<Option<Taken>, Unfit> {
    let data = folder.join("incoming.pack");
    let file = File::options().read(true).write(true).create_new(true).open(&data);
    let file = file.map_err(of_disk)?;
    let (mut entries, mut checksum) = Arrival::new(from, &file, stop).whole()?;
    if entries.is_empty() {
        fs::remove_file(data).map_err(of_disk)?;
        return Ok(None);
    }
    let (found, added) = put_together(&file, &entries, others, stop)?;
    if !added.entries.is_empty() {
        entries.extend(added.entries);
        checksum = complete::seal(&file, added.end, entries.len(), stop)?;
    }
    let found = found.ids.into_iter().chain(std::iter::repeat(None));
    let objects = entries.iter().zip(found).map(|(entry, found)| {
        let id = match entry.stored {
            Stored::Whole(_, id) => id,
            _ => found.ok_or_else(|| bad("has an object that is based on nothing"))?,
        };
        Ok(Indexed { id, crc: entry.crc, offset: entry.offset })
    });
    let mut objects = objects.collect::<Result<Vec<_>, Unfit>>()?;
    // Which of the two is found is chance: one may differ from what differs from the other.
    objects.sort_unstable_by_key(|object| object.id);
    if objects.windows(2).any(|pair| pair[0].id == pair[1].id) {
        return Err(bad("has the same object twice"));
    }
    let name = |kind| folder.join(format!("pack-{checksum}.{kind}"));
    let taken = Taken { data: name("pack"), index: name("idx") };
    fs::rename(data, &taken.data).map_err(of_disk)?;
    let mut index = BufWriter::new(File::create(&taken.index).map_err(of_disk)?);
    pack_index::write(objects, &checksum, &mut index).map_err(of_disk)?;
    index.flush().map_err(of_disk)?;
    Ok(Some(taken))
}

/// Finds the names of what is stored as differences, and adds what these are based on.
fn put_together(
    file: &File,
    entries: &[Entry],
    others: Option<&gix::Repository>,
    stop: &AtomicBool,
) -> Result<(Found, Added), Unfit> {
    let end = file.metadata().map_err(of_disk)?.len().saturating_sub(20);
    let attempt = |in_pack: &HashSet<ObjectId>| {
        let differences = Differences::new(file, entries, stop);
        let mut found = differences.within()?;
        let added = complete::bases(&differences, others, end, in_pack, &mut found)?;
        Ok((found, added))
    };
    let (found, added) = attempt(&HashSet::new())?;
    if added.entries.is_empty() {
        return Ok((found, added));
    }
    // What others differ from may be in the pack as a difference itself, and in the repository too: nobody knew its
    // name. It must not be there twice, so once all names are known it is done again.
    let names: HashSet<ObjectId> = found.ids.iter().copied().flatten().collect();
    let is_twice =
        |entry: &Entry| matches!(entry.stored, Stored::Whole(_, id) if names.contains(&id));
    if added.entries.iter().any(is_twice) { attempt(&names) } else { Ok((found, added)) }
}

/// Raises the flag when the time is over: putting objects together can take long after the last was sent.
pub(crate) fn interrupted_at<T>(
    deadline: Instant,
    stop: &AtomicBool,
    work: impl FnOnce() -> T,
) -> T {
    std::thread::scope(|scope| {
        let (done, wait) = mpsc::channel::<()>();
        scope.spawn(move || {
            let left = deadline.saturating_duration_since(Instant::now());
            if wait.recv_timeout(left) == Err(mpsc::RecvTimeoutError::Timeout) {
                stop.store(true, Ordering::Relaxed);
            }
        });
        let result = work();
        drop(done);
        result
    })
}

fn bad(what: &str) -> Unfit {
    Unfit::Bad(what.to_owned())
}

fn of_disk(error: io::Error) -> Unfit {
    Unfit::Failed(disk(error))
}
