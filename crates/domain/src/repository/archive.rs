//! Archives: all files of a commit as one file.

use crate::commit::ObjectId;

/// The file format of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArchiveFormat {
    /// tar, compressed with gzip.
    TarGz,
    /// tar.
    Tar,
    /// tar, compressed with bzip2.
    TarBz2,
    /// zip.
    Zip,
}

impl ArchiveFormat {
    /// The file name extension of the format.
    pub fn extension(self) -> &'static str {
        match self {
            ArchiveFormat::TarGz => "tar.gz",
            ArchiveFormat::Tar => "tar",
            ArchiveFormat::TarBz2 => "tar.bz2",
            ArchiveFormat::Zip => "zip",
        }
    }

    /// Parses a file name extension.
    pub fn parse(extension: &str) -> Option<Self> {
        match extension {
            "" | "tar.gz" | "tgz" | "gz" => Some(ArchiveFormat::TarGz),
            "tar" => Some(ArchiveFormat::Tar),
            "tar.bz2" | "tbz" | "tbz2" | "tb2" | "bz2" => Some(ArchiveFormat::TarBz2),
            "zip" => Some(ArchiveFormat::Zip),
            _ => None,
        }
    }
}

/// A requested archive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Archive {
    /// The commit.
    pub commit: ObjectId,
    /// The file format.
    pub format: ArchiveFormat,
    /// The name of the top-level folder of the archive, without a slash.
    pub folder: String,
}
