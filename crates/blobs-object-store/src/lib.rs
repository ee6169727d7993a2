//! Packs, uploads, build logs and artifacts in an object store such as S3.
//!
//! [`Bucket`] is the client of the store. [`CachedPacks`] stores packs in it and keeps the packs in use in a local
//! folder. [`BucketUploads`], [`BucketBuildFiles`] and [`BucketLfsFiles`] store files of projects in it.
//!
//! | Key | Content |
//! |---|---|
//! | `packs/<2 hex>/<SHA-256>.pack`, `.idx` | a pack and its index |
//! | `uploads/<project>/<secret>/<hex digits of the name>` | an uploaded file; a long name has several path segments |
//! | `builds/<project>/<build>/log/<edition>-<offset>-<end>` | a piece of a log, see [`BucketBuildFiles`] |
//! | `builds/<project>/<build>/artifacts`, `artifacts-<random>` | name of the current artifacts, and the artifacts |
//! | `lfs/<fork network>/<2 hex>/<SHA-256>` | an LFS object |
//!
//! No key contains unencoded text of a caller.

mod bucket;
mod build_files;
mod cache;
mod connect;
mod index;
mod lfs_files;
mod packs;
mod prefix;
mod read;
mod receive;
mod redact;
mod single_flight;
mod uploads;

pub use bucket::{Bucket, BucketError, ObjectInfo};
pub use build_files::BucketBuildFiles;
pub use lfs_files::BucketLfsFiles;
pub use packs::CachedPacks;
pub use uploads::BucketUploads;
