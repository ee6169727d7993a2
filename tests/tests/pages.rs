//! Tests of the web pages over HTTP, as each kind of visitor.

mod pages {
    mod access;
    mod boards;
    mod compare;
    mod contents;
    mod costly;
    mod diffs;
    mod editing;
    mod files;
    mod forgery;
    mod issues;
    mod labels;
    mod list;
    mod merge_requests;
    mod refs;
    mod sessions;
    mod support;
}
