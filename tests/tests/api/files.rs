//! Uploaded files.

pub mod upload_support;
mod uploads;
mod uploads_checks;
mod uploads_files;
mod uploads_readers;
mod uploads_removal;
