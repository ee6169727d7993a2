//! Reads objects piece by piece.

use std::collections::VecDeque;
use std::io::{self, Read};

use bytes::Bytes;

use crate::bucket::{Bucket, BucketError, ObjectInfo};

/// The number of bytes per request.
const PIECE: u64 = 1024 * 1024;

/// Reads several objects one after the other. The first piece is read on creation, so short objects stay readable even
/// if they are removed meanwhile.
pub(crate) struct ObjectReader {
    bucket: Bucket,
    objects: VecDeque<ObjectInfo>,
    /// The read position in the first object.
    position: u64,
    piece: Bytes,
}

impl ObjectReader {
    pub(crate) fn open(bucket: &Bucket, objects: Vec<ObjectInfo>) -> Result<Self, BucketError> {
        Self::open_at(bucket, objects, 0)
    }

    /// Reads one object from an offset.
    pub(crate) fn open_from(
        bucket: &Bucket,
        object: ObjectInfo,
        offset: u64,
    ) -> Result<Self, BucketError> {
        let is_inside = offset < object.bytes;
        let objects = if is_inside { vec![object] } else { vec![] };
        Self::open_at(bucket, objects, offset)
    }

    fn open_at(
        bucket: &Bucket,
        objects: Vec<ObjectInfo>,
        position: u64,
    ) -> Result<Self, BucketError> {
        let (bucket, objects) = (bucket.clone(), objects.into());
        let mut reader = Self { bucket, objects, position, piece: Bytes::new() };
        reader.fill()?;
        Ok(reader)
    }

    /// Reads the next piece. The piece stays empty at the end.
    fn fill(&mut self) -> Result<(), BucketError> {
        while self.piece.is_empty()
            && let Some(object) = self.objects.front()
        {
            let end = object.bytes.min(self.position + PIECE);
            self.piece = self.bucket.get(&object.key, self.position..end)?;
            self.position = end;
            if end == object.bytes {
                self.objects.pop_front();
                self.position = 0;
            }
        }
        Ok(())
    }
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let taken = self.piece.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&self.piece.split_to(taken));
        Ok(taken)
    }
}
