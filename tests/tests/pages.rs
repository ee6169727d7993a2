//! Tests of the web pages over HTTP, as each kind of visitor.

mod pages {
    mod access;
    mod contents;
    mod forgery;
    mod list;
    mod sessions;
    mod support;
}
