//! The port to the content of LFS objects.

use super::files::FilesError;
use super::uploads::StoredFile;
use crate::id::ForkNetworkId;
use crate::lfs::LfsOid;
use crate::lfs::reservation::LfsReservations;

/// Stores the content of LFS objects. An object is visible to callers by its row; its file is stored before the row.
pub trait LfsFiles: Send + Sync {
    /// Begins an upload. The file is invisible until the upload is finished.
    fn begin(&self, network: ForkNetworkId, oid: LfsOid)
    -> Result<Box<dyn NewLfsFile>, FilesError>;

    /// The room that the uploads to this process take up.
    fn reservations(&self) -> &LfsReservations;

    /// The sizes of the files of these objects, in their order; `None` where there is no file. Reads no content.
    fn sizes(
        &self,
        network: ForkNetworkId,
        oids: &[LfsOid],
    ) -> Result<Vec<Option<u64>>, FilesError>;

    /// Calls `visit` with each object that has a file, in no particular order, until `visit` fails. Leaves out the files
    /// of unfinished uploads.
    fn for_each(
        &self,
        visit: &mut dyn FnMut(ForkNetworkId, LfsOid) -> Result<(), FilesError>,
    ) -> Result<(), FilesError>;

    /// Opens the content of an object at the offset `from`; `None` when there is no file. The size is that of the whole
    /// file.
    fn open(
        &self,
        network: ForkNetworkId,
        oid: LfsOid,
        from: u64,
    ) -> Result<Option<StoredFile>, FilesError>;

    /// Removes the file of an object that has no row, if there is one. The caller has locked the objects of the
    /// network, so that no upload of the same object is finished meanwhile, or the network has no project any more.
    fn remove(&self, network: ForkNetworkId, oid: LfsOid) -> Result<(), FilesError>;

    /// Removes all files of a network; does nothing when there are none.
    fn remove_network(&self, network: ForkNetworkId) -> Result<(), FilesError>;

    /// Removes files of uploads that were interrupted when the server stopped. Called at the start and then daily.
    fn remove_leftovers(&self) -> Result<(), FilesError>;
}

/// The content of an LFS object that is being uploaded. If it is dropped before it is sealed, it leaves nothing behind.
/// If it is sealed with its expected name and then dropped, a file may stay, which no row names.
pub trait NewLfsFile: Send {
    /// Appends a chunk to the content.
    fn append(&mut self, chunk: &[u8]) -> Result<(), FilesError>;

    /// Makes the content durable, and returns its SHA-256. This is the slow part; a caller does it before its
    /// transaction. The caller appends no more content afterwards, and must not finish content whose SHA-256 differs
    /// from the name of the object.
    fn seal(&mut self) -> Result<LfsOid, FilesError>;

    /// Moves the sealed file to its final place, and replaces an existing one. On success the file is durable there.
    /// The caller has locked the objects of the network, as for [`LfsFiles::remove`].
    fn finish(self: Box<Self>) -> Result<(), FilesError>;
}
