//! Tests of the web pages over HTTP, as each kind of visitor.

mod pages {
    mod access;
    mod admin;
    mod contents;
    mod forgery;
    mod groups;
    mod limits;
    mod list;
    mod people;
    mod profile;
    mod search;
    mod sessions;
    mod support;
}
