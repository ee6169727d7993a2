//! The interface over HTTP, one file for each group of calls.

mod api {
    mod version;
}
