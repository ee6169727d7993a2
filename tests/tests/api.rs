//! Tests of the HTTP API: a folder per section of the reference, a file per group of calls.

mod api {
    mod ci;
    mod everywhere;
    mod files;
    mod forms;
    mod groups;
    mod hooks;
    mod merge_requests;
    mod projects;
    mod repositories;
    mod support;
    mod tracker;
    mod users;
}
