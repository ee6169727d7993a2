//! The files of one commit in one file.

use crate::commit::ObjectId;

/// How an archive is packed.
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
    /// What the name of a file of this format ends in.
    pub fn extension(self) -> &'static str {
        match self {
            ArchiveFormat::TarGz => "tar.gz",
            ArchiveFormat::Tar => "tar",
            ArchiveFormat::TarBz2 => "tar.bz2",
            ArchiveFormat::Zip => "zip",
        }
    }

    /// The format that the ending of a path asks for.
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

/// An archive that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Archive {
    /// Of which commit.
    pub commit: ObjectId,
    /// How it is packed.
    pub format: ArchiveFormat,
    /// The one folder in which everything lies, without a slash.
    pub folder: String,
}
