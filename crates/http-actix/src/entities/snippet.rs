//! Snippets.

use hexforge_application::view::snippet::SnippetView;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;
use super::user::UserSummaryJson;
use hexforge_http_edge::links::Links;

/// A snippet of a project in a response.
#[derive(Serialize, ToSchema)]
pub struct SnippetJson<'a> {
    id: i64,
    title: &'a str,
    file_name: &'a str,
    author: UserSummaryJson<'a>,
    updated_at: Iso,
    created_at: Iso,
    /// Always null.
    expires_at: Option<Iso>,
    web_url: String,
}

impl<'a> SnippetJson<'a> {
    /// The snippet, with URLs built by `links`.
    pub fn new(view: &'a SnippetView, links: &Links) -> Self {
        let snippet = &view.snippet;
        Self {
            id: snippet.id.0,
            title: snippet.title.as_str(),
            file_name: snippet.file_name.as_str(),
            author: UserSummaryJson::new(&view.author, links),
            updated_at: Iso(snippet.updated_at),
            created_at: Iso(snippet.created_at),
            expires_at: None,
            web_url: web_url(view, links),
        }
    }
}

/// A personal snippet in a response.
#[derive(Serialize, ToSchema)]
pub struct PersonalSnippetJson<'a> {
    id: i64,
    title: &'a str,
    file_name: &'a str,
    author: UserSummaryJson<'a>,
    updated_at: Iso,
    created_at: Iso,
    web_url: String,
    raw_url: String,
}

impl<'a> PersonalSnippetJson<'a> {
    /// The snippet, with URLs built by `links`.
    pub fn new(view: &'a SnippetView, links: &Links) -> Self {
        let (snippet, web_url) = (&view.snippet, web_url(view, links));
        Self {
            id: snippet.id.0,
            title: snippet.title.as_str(),
            file_name: snippet.file_name.as_str(),
            author: UserSummaryJson::new(&view.author, links),
            updated_at: Iso(snippet.updated_at),
            created_at: Iso(snippet.created_at),
            raw_url: format!("{web_url}/raw"),
            web_url,
        }
    }
}

fn web_url(view: &SnippetView, links: &Links) -> String {
    links.snippet(view.project_path.as_deref(), view.snippet.id.0)
}
