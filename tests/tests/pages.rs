//! Tests of the web pages over HTTP, as each kind of visitor.

mod pages {
    mod access;
    mod admin;
    mod boards;
    mod builds;
    mod compare;
    mod contents;
    mod costly;
    mod crawler;
    mod dashboards;
    mod diffs;
    mod editing;
    mod files;
    mod forgery;
    mod groups;
    mod hooks;
    mod hostile;
    mod issues;
    mod labels;
    mod limits;
    mod list;
    mod members;
    mod merge_requests;
    mod names;
    mod people;
    mod pipelines;
    mod places;
    mod profile;
    mod prose;
    mod query_counts;
    mod refs;
    mod search;
    mod sessions;
    mod settings;
    mod signatures;
    mod snippets;
    mod support;
}
