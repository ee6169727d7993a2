//! Packs, uploads, build logs and artifacts in an object store such as S3.
//!
//! [`Bucket`] speaks to the store. [`CachedPacks`] keeps packs in it and the packs that are in use in a local folder,
//! [`BucketUploads`] and [`BucketBuildFiles`] keep files of projects in it.
//!
//! | Key | Content |
//! |---|---|
//! | `packs/<2 hex>/<SHA-256>.pack`, `.idx` | a pack and its index |
//! | `uploads/<project>/<secret>/<hex digits of the name>` | an uploaded file; the digits of a long name have several parts |
//! | `builds/<project>/<build>/log/<edition>-<offset>-<end>` | a piece of a log, see [`BucketBuildFiles`] |
//! | `builds/<project>/<build>/artifacts`, `artifacts-<random>` | the name of the artifacts of a build, and these |
//!
//! No key contains text of a caller as it was sent.

mod bucket;
mod build_files;
mod cache;
mod connect;
mod index;
mod packs;
mod prefix;
mod read;
mod receive;
mod redact;
mod single_flight;
mod uploads;

pub use bucket::{Bucket, BucketError, ObjectInfo};
pub use build_files::BucketBuildFiles;
pub use packs::CachedPacks;
pub use uploads::BucketUploads;
