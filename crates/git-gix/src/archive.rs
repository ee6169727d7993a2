//! The files of one commit in one file.
