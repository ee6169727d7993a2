//! Packs, uploads, build logs and artifacts in an object store such as S3.
//!
//! [`Bucket`] speaks to the store. [`CachedPacks`] keeps packs in it and the packs that are in use in a local folder,
//! [`BucketUploads`] and [`BucketBuildFiles`] keep files of projects in it.
//!
//! | Key | Content |
//! |---|---|
//! | `packs/<2 hex>/<SHA-256>.pack`, `.idx` | a pack and its index |
//! | `uploads/<project>/<secret>/<hex digits of the name>` | an uploaded file |
//! | `builds/<project>/<build>/log/<edition>-<offset>` | a piece of a log, see [`BucketBuildFiles`] |
//! | `builds/<project>/<build>/artifacts` | the artifacts of a build |
//!
//! No key contains text of a caller as it was sent.

mod bucket;
mod build_files;
mod cache;
mod flights;
mod packs;
mod project_files;
mod read;
mod receive;
mod uploads;

pub use bucket::{Bucket, BucketError, Stored};
pub use build_files::BucketBuildFiles;
pub use packs::CachedPacks;
pub use uploads::BucketUploads;
