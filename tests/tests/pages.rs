//! Tests of the web pages over HTTP, as each kind of visitor.

mod pages {
    mod access;
    mod boards;
    mod contents;
    mod forgery;
    mod issues;
    mod labels;
    mod list;
    mod sessions;
    mod support;
}
