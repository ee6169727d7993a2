//! Tests of the web pages over HTTP, as each kind of visitor.

mod pages {
    mod access;
    mod boards;
    mod builds;
    mod compare;
    mod contents;
    mod costly;
    mod diffs;
    mod editing;
    mod files;
    mod forgery;
    mod hooks;
    mod issues;
    mod labels;
    mod list;
    mod members;
    mod pipelines;
    mod refs;
    mod sessions;
    mod settings;
    mod support;
}
