//! Tests of the web pages over HTTP, as each kind of visitor.

mod pages {
    mod access;
    mod builds;
    mod contents;
    mod forgery;
    mod hooks;
    mod list;
    mod members;
    mod pipelines;
    mod sessions;
    mod settings;
    mod support;
}
