//! Snippets of projects and of persons.

mod of_project;
mod personal;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::snippet::SnippetFields;
use hexforge_application::view::snippet::SnippetView;

use super::explore::visibility_name;
use super::new_project::visibility_choices;
use super::tracker::Person;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::Choice;
use crate::frame::Frame;
use crate::highlight::{self, CodeHtml};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    of_project::declare(pages);
    personal::declare(pages);
}

/// The longest content that is highlighted, in bytes. Longer ones are shown by the link "Raw" alone.
const MAX_SHOWN: usize = 1 << 20;

/// A snippet in a list.
pub(super) struct SnippetRow {
    address: String,
    title: String,
    file_name: String,
    author: Person,
    visibility: &'static str,
    updated: Moment,
}

impl SnippetRow {
    fn new(view: &SnippetView, frame: &Frame) -> Self {
        let snippet = &view.snippet;
        let folder = match &view.project_path {
            Some(path) => format!("/{path}/snippets"),
            None => "/snippets".to_owned(),
        };
        Self {
            address: format!("{folder}/{}", snippet.id),
            title: snippet.title.as_str().to_owned(),
            file_name: snippet.file_name.as_str().to_owned(),
            author: Person::from(&view.author),
            visibility: visibility_name(snippet.visibility),
            updated: frame.moment(snippet.updated_at),
        }
    }
}

/// The head and the content of one snippet.
struct Content {
    /// The address of the snippet.
    one: String,
    title: String,
    /// The name of the file, or the title without one.
    name: String,
    author: Person,
    visibility: &'static str,
    at: Moment,
    /// The lines; `None` if they are too long.
    code: Option<CodeHtml>,
}

impl Content {
    /// The content of a snippet, highlighted if there is a free place for that.
    async fn new(
        (visit, viewer): (&Visit, &Viewer),
        view: &SnippetView,
        text: String,
        one: String,
        frame: &Frame,
    ) -> PageResult<Self> {
        let snippet = &view.snippet;
        let (title, file_name) = (snippet.title.as_str(), snippet.file_name.as_str());
        let name = if file_name.is_empty() { title } else { file_name };
        let code = match text.len() <= MAX_SHOWN {
            true => {
                let (name, place) = (name.to_owned(), highlight::place().await);
                let rows = move || Ok(highlight::rows(&name, &text, place));
                Some(visit.run_long(|limiter| &limiter.blobs, viewer, rows).await?)
            }
            false => None,
        };
        Ok(Self {
            one,
            title: title.to_owned(),
            name: name.to_owned(),
            author: Person::from(&view.author),
            visibility: visibility_name(snippet.visibility),
            at: frame.moment(snippet.created_at),
            code,
        })
    }
}

/// The title of the page of a snippet.
fn what_of(view: &SnippetView) -> String {
    format!("{} (${})", view.snippet.title.as_str(), view.snippet.id)
}

/// What the form of a snippet shows.
struct Fields {
    title: String,
    file_name: String,
    content: String,
    visibility_level: Option<i64>,
}

impl Fields {
    fn empty(level: i64) -> Self {
        Self {
            title: String::new(),
            file_name: String::new(),
            content: String::new(),
            visibility_level: Some(level),
        }
    }

    /// The fields that were sent.
    fn of_form(visit: &Visit) -> Self {
        let form = visit.form();
        Self {
            title: form.text("title").to_owned(),
            file_name: form.text("file_name").to_owned(),
            content: form.raw("content").to_owned(),
            visibility_level: form.text("visibility_level").parse().ok(),
        }
    }

    /// The fields of a stored snippet.
    fn of(view: &SnippetView, content: String) -> Self {
        let snippet = &view.snippet;
        Self {
            title: snippet.title.as_str().to_owned(),
            file_name: snippet.file_name.as_str().to_owned(),
            content,
            visibility_level: Some(snippet.visibility.level().into()),
        }
    }

    /// The fields for the use cases.
    fn given(&self) -> SnippetFields {
        SnippetFields {
            title: Some(self.title.clone()),
            file_name: Some(self.file_name.clone()),
            content: Some(self.content.clone()),
            visibility_level: self.visibility_level,
        }
    }
}

#[derive(Template)]
#[template(path = "snippet_form.html")]
struct FormPage {
    frame: Frame,
    heading: &'static str,
    action: String,
    button: &'static str,
    fields: Fields,
    levels: Vec<Choice>,
    faults: Faults,
}

/// Which form is shown, and where it is sent.
struct Form {
    heading: &'static str,
    action: String,
}

impl Form {
    fn show(
        self,
        visit: &Visit,
        viewer: &Viewer,
        frame: Frame,
        fields: Fields,
        faults: Faults,
    ) -> HttpResponse {
        let Self { heading, action } = self;
        let is_right = faults.is_empty();
        let button = if heading == "New snippet" { "Create snippet" } else { "Save changes" };
        let levels = visibility_choices(fields.visibility_level);
        let page = FormPage { frame, heading, action, button, fields, levels, faults };
        let status = if is_right { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
        render::page_with(status, visit, viewer, &page)
    }
}
