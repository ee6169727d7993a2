//! Contents of files, however large.
