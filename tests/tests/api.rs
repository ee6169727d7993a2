//! The interface over HTTP: a folder for each section, a file for each group of calls.

mod api {
    mod ci;
    mod everywhere;
    mod files;
    mod forms;
    mod groups;
    mod hooks;
    mod projects;
    mod repositories;
    mod support;
    mod tracker;
    mod users;
}
