//! Receives the content of LFS objects.

use std::io::{self, Read};

use hexforge_domain::id::ForkNetworkId;
use hexforge_domain::lfs::reservation::LfsReservation;
use hexforge_domain::lfs::{LfsObject, LfsOperation};
use hexforge_domain::ports::lfs_files::NewLfsFile;
use hexforge_domain::ports::store::StoreError;

use super::{LfsProject, LfsRefusal, LfsRequester, recheck};
use crate::app::App;
use crate::error::Error;
use crate::retry;

/// The size of the buffer for the content.
const BLOCK: usize = 256 << 10;

/// The reason why an upload failed. The server keeps no part of a failed upload.
#[derive(Debug)]
pub enum UploadError {
    /// The caller may not upload any more.
    Refused(LfsRefusal),
    /// The content does not have the announced size or name.
    Mismatch,
    /// The objects of the fork network would be larger than the limit.
    TooLarge,
    /// Other uploads in progress take up the room for the object.
    NoRoomNow,
    /// The client disconnected, or sent too slowly.
    Interrupted(io::Error),
}

impl<E: Into<LfsRefusal>> From<E> for UploadError {
    fn from(error: E) -> Self {
        UploadError::Refused(error.into())
    }
}

/// Receives an object that the caller may upload. It is durable on success. An object that the project has already is
/// not read, unless its file was lost.
pub fn receive(
    app: &App,
    requester: LfsRequester,
    project: &LfsProject,
    object: LfsObject,
    from: &mut dyn Read,
) -> Result<(), UploadError> {
    let network = project.network;
    let max_bytes = project.max_bytes(app);
    let found = super::find(app, project, object.oid)?;
    if let Some(found) = found {
        require_same(found, object)?;
        if has_file(app, network, object)? {
            return Ok(());
        }
    }
    let reservation = app.lfs_files.reservations().begin(network);
    let mut room = Room { app, network, max_bytes, object, has_row: found.is_some(), reservation };
    let mut file = app.lfs_files.begin(network, object.oid)?;
    copy_exactly(&mut room, from, &mut *file)?;
    let stored = match file.seal() {
        Ok(oid) if oid != object.oid => return Err(UploadError::Mismatch),
        Ok(_) => record_with_retries(app, requester, project, object, file),
        Err(error) => Err(error.into()),
    };
    if stored.is_err() {
        // The object may be named already, although it has no row.
        discard(app, network, object);
    }
    stored
}

fn require_same(found: LfsObject, announced: LfsObject) -> Result<(), UploadError> {
    if found == announced { Ok(()) } else { Err(UploadError::Mismatch) }
}

fn require_room(max_bytes: u64, used: u64, more: u64) -> Result<(), UploadError> {
    let is_small = used.saturating_add(more) <= max_bytes;
    if is_small { Ok(()) } else { Err(UploadError::TooLarge) }
}

/// Returns whether the file of an object is there and has the right size.
fn has_file(app: &App, network: ForkNetworkId, object: LfsObject) -> Result<bool, Error> {
    let sizes = app.lfs_files.sizes(network, &[object.oid])?;
    Ok(sizes == [Some(object.size)])
}

/// The room for an upload. It is reserved in steps, so that an upload that announces much and sends little takes little
/// room from others. Each process reserves for itself; [`record`] checks the limit again, for all of them.
struct Room<'a> {
    app: &'a App,
    network: ForkNetworkId,
    /// The limit for uploads to the project.
    max_bytes: u64,
    object: LfsObject,
    /// Whether the object has a row, which counts already. Its file was lost.
    has_row: bool,
    reservation: LfsReservation,
}

impl Room<'_> {
    /// The number of bytes that are reserved at a time.
    const STEP: u64 = 64 << 20;

    /// Reserves room for this many bytes of the object, and for the rest of a step.
    fn require(&mut self, bytes: u64) -> Result<(), UploadError> {
        let reserved = self.reservation.bytes();
        if bytes <= reserved {
            return Ok(());
        }
        let step = (bytes - reserved).max(Self::STEP).min(self.object.size - reserved);
        let others = self.reservation.grow(step);
        // The total is read after the growth: an upload that ends at this moment is in the total, or among the others.
        let used = self
            .app
            .store
            .read_autocommit::<_, Error>(|tx| Ok(tx.lfs_objects().total_bytes(self.network)?))?;
        let used = if self.has_row { used.saturating_sub(self.object.size) } else { used };
        if !self.has_row {
            require_room(self.max_bytes, used, self.object.size)?;
        }
        let received = others.saturating_add(self.reservation.bytes());
        // A repair alone may take the room that its row counts, even beyond a limit that was lowered.
        let has_room =
            (self.has_row && others == 0) || require_room(self.max_bytes, used, received).is_ok();
        if has_room { Ok(()) } else { Err(UploadError::NoRoomNow) }
    }
}

/// Copies content of the size of the object, and reads at most one byte more.
fn copy_exactly(
    room: &mut Room<'_>,
    from: &mut dyn Read,
    to: &mut dyn NewLfsFile,
) -> Result<(), UploadError> {
    let size = room.object.size;
    let mut from = from.take(size.saturating_add(1));
    let (mut block, mut received) = (vec![0; BLOCK], 0);
    // An upload for which there is no room is refused before its content is read.
    room.require(size.min(1))?;
    loop {
        let length = match from.read(&mut block) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(UploadError::Interrupted(error)),
        };
        received += length as u64;
        if received > size {
            return Err(UploadError::Mismatch);
        }
        room.require(received)?;
        to.append(&block[..length])?;
    }
    if received == size { Ok(()) } else { Err(UploadError::Mismatch) }
}

/// Calls [`record`] again while other transactions conflict with it.
fn record_with_retries(
    app: &App,
    requester: LfsRequester,
    project: &LfsProject,
    object: LfsObject,
    file: Box<dyn NewLfsFile>,
) -> Result<(), UploadError> {
    let mut file = Some(file);
    let is_busy = |error: &UploadError| {
        matches!(error, UploadError::Refused(LfsRefusal::Failed(Error::Store(StoreError::Busy))))
    };
    retry::while_busy(retry::TRIES, is_busy, || record(app, requester, project, object, &mut file))
}

/// Names the file and inserts the row of an object, after another check of the permission.
fn record(
    app: &App,
    requester: LfsRequester,
    project: &LfsProject,
    object: LfsObject,
    file: &mut Option<Box<dyn NewLfsFile>>,
) -> Result<(), UploadError> {
    app.store.write(|tx| {
        // The project cannot be removed before the transaction ends.
        tx.projects().lock(project.id)?.ok_or(LfsRefusal::NoProject)?;
        let project = recheck(app, tx, requester, LfsOperation::Upload, project.id)?;
        let network = project.network;
        let used = tx.lfs_objects().lock(network)?;
        let found = tx.lfs_objects().find(network, object.oid)?;
        match found {
            Some(found) => {
                require_same(found, object)?;
                if has_file(app, network, object)? {
                    return Ok(());
                }
            }
            None => require_room(project.max_bytes(app), used, object.size)?,
        }
        match file.take() {
            Some(file) => file.finish()?,
            // The transaction was rolled back after it had stored the file, and is tried again. Meanwhile a failed
            // upload of the same object may have removed the file, because the object had no row.
            None if !has_file(app, network, object)? => {
                return Err(Error::Store(StoreError::Busy).into());
            }
            None => (),
        }
        match found {
            Some(_) => Ok(()),
            None => Ok(tx.lfs_objects().insert(network, object, app.clock.now())?),
        }
    })
}

/// Removes the file of an object that has no row. The project may have been removed meanwhile, and even its network: the
/// upload may have stored the file after the files of the network were removed.
fn discard(app: &App, network: ForkNetworkId, object: LfsObject) {
    let removed = app.store.write::<_, Error>(|tx| {
        let is_used = tx.lfs_objects().lock_if_used(network)?;
        if !is_used || tx.lfs_objects().find(network, object.oid)?.is_none() {
            app.lfs_files.remove(network, object.oid)?;
        }
        Ok(())
    });
    // The error of the upload is reported. A file that stays is replaced by the next upload of the object, or removed
    // with its network.
    drop(removed);
}
