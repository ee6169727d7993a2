//! Conditional answers for pages that an address names by a commit: they change only with the visitor and the project.

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, ETAG, HeaderValue};
use hexforge_application::app::App;
use hexforge_application::project::page::ProjectPage;
use hexforge_domain::commit::ObjectId;
use hexforge_http_edge::conditional::{ETag, IfNoneMatch};

use crate::diff::Layout;
use crate::visit::{Viewer, Visit};

/// What a page depends on beside the commit, and the states that the browser has.
#[derive(Clone)]
pub(super) struct Conditions {
    known: IfNoneMatch,
    address: String,
    scheme: &'static str,
    has_shortcuts: bool,
    layout: Layout,
    /// The forms of a page belong to a session.
    session: String,
    /// A message is shown once.
    has_notice: bool,
}

impl Conditions {
    pub(super) fn of(visit: &Visit) -> Self {
        Self {
            known: visit.if_none_match(),
            address: visit.path_and_query(),
            scheme: visit.scheme().as_str(),
            has_shortcuts: visit.has_shortcuts(),
            layout: visit.layout(),
            session: visit.session_token().map_or("", |token| token.reveal()).to_owned(),
            has_notice: visit.notice().is_some(),
        }
    }

    /// The tag of the page; `None` if the name in the address is not that of the commit, so that another state of the
    /// repository may make another page of it.
    pub(super) fn tag(
        &self,
        app: &App,
        viewer: &Viewer,
        project: &ProjectPage,
        name: &str,
        commit: ObjectId,
    ) -> Option<ETag> {
        self.tag_with(app, viewer, project, (name, commit), b"")
    }

    /// Like [`tag_with`](Self::tag_with), for a page of two commits.
    pub(super) fn tag_of_two(
        &self,
        app: &App,
        viewer: &Viewer,
        project: &ProjectPage,
        [one, two]: [(&str, ObjectId); 2],
        others: &[u8],
    ) -> Option<ETag> {
        if ObjectId::parse(one.0) != Some(one.1) {
            return None;
        }
        let others = [one.1.as_bytes(), others].concat();
        self.tag_with(app, viewer, project, two, &others)
    }

    /// Like [`tag`](Self::tag), for a page that also shows something that changes.
    pub(super) fn tag_with(
        &self,
        app: &App,
        viewer: &Viewer,
        project: &ProjectPage,
        (name, commit): (&str, ObjectId),
        others: &[u8],
    ) -> Option<ETag> {
        if self.has_notice || ObjectId::parse(name) != Some(commit) {
            return None;
        }
        let visitor = viewer.signed_in().map(|signed_in| (&signed_in.actor, &signed_in.user));
        let rights = format!("{project:?} {visitor:?}");
        let now = app.clock.now();
        let messages = app.broadcasts.texts(now).join("\n");
        // Pages say how long ago something was.
        let hour = now.timestamp().div_euclid(3600);
        Some(ETag::strong(&[
            env!("CARGO_PKG_VERSION").as_bytes(),
            commit.to_string().as_bytes(),
            self.address.as_bytes(),
            self.scheme.as_bytes(),
            &[u8::from(self.has_shortcuts)],
            self.layout.word().as_bytes(),
            self.session.as_bytes(),
            rights.as_bytes(),
            messages.as_bytes(),
            &hour.to_be_bytes(),
            others,
        ]))
    }

    /// Whether the browser has this state.
    pub(super) fn has(&self, tag: Option<&ETag>) -> bool {
        tag.is_some_and(|tag| self.known.has(tag))
    }
}

/// The answer to a browser that has the page.
pub(super) fn unchanged(tag: Option<ETag>) -> HttpResponse {
    let mut response = HttpResponse::NotModified();
    response.insert_header((CACHE_CONTROL, "private, no-cache"));
    tagged(response.finish(), tag)
}

/// Adds the tag to a page.
pub(super) fn tagged(mut response: HttpResponse, tag: Option<ETag>) -> HttpResponse {
    if let Some(value) = tag.and_then(|tag| HeaderValue::from_str(tag.as_str()).ok()) {
        response.headers_mut().insert(ETAG, value);
    }
    response
}
