//! The tags of a project, and their release notes.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::{Error, Refusal};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::tag::{self, NewTag, TagView, release};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::project::ProjectAbility;

use super::activity::feed_reader;
use super::project::{CommitLine, frame_of, missing, other_spelling};
use super::pushing::{self, Pushable};
use crate::address;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::feed::{self, Feed, FeedEntry};
use crate::frame::{Frame, Pager};
use crate::markdown::{self, CleanHtml};
use crate::render;
use crate::table::Pages;
use crate::visible;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/tags", list);
    pages.get("/{namespace}/{project}/tags.atom", feed);
    pages.get("/{namespace}/{project}/tags/new", new);
    pages.post("/{namespace}/{project}/tags", create);
    pages.post("/{namespace}/{project}/tags/delete", delete);
    pages.get("/{namespace}/{project}/tags/{rest...}", show);
    pages.post("/{namespace}/{project}/tags/{rest...}", save_notes);
}

/// The longest release notes that are rendered, in a list and on their own page. Longer ones are shown as text.
const MAX_NOTES_IN_LIST: usize = 16 * 1024;
const MAX_NOTES: usize = 512 * 1024;

/// The end of the address of the form for release notes.
const EDIT: &str = "/release/edit";

/// The end of the address to which that form is sent.
const SAVE: &str = "/release";

/// Release notes, rendered if they are not too long.
struct Notes {
    html: Option<CleanHtml>,
    text: String,
}

impl Notes {
    fn new(text: &str, max: usize, remote_images: bool) -> Self {
        let html = match text.len() <= max {
            true => markdown::render(text, remote_images),
            false => None,
        };
        let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= max).unwrap_or(text.len());
        Self { html, text: text[..end].to_owned() }
    }
}

/// A tag with its rendered release notes.
struct Found {
    view: TagView,
    notes: Option<Notes>,
}

impl Found {
    fn new(app: &App, view: TagView, max: usize) -> Self {
        let remote_images = app.settings.remote_images;
        let notes = |text| Notes::new(text, max, remote_images);
        let notes = view.release.as_ref().map(|release| notes(&release.description));
        Self { view, notes }
    }
}

struct Row {
    name: String,
    /// The name as readers see it.
    shown: String,
    address: String,
    message: Option<String>,
    commit: CommitLine,
    notes: Option<Notes>,
    /// The name, encoded for queries.
    at: String,
}

impl Row {
    fn new(Found { view, notes }: Found, base: &str, frame: &Frame) -> Self {
        let TagView { tag, .. } = view;
        let name = tag.name.as_str().to_owned();
        Self {
            address: format!("{base}/tags/{}", address::path(&name)),
            shown: visible::name(&name),
            message: tag.message.as_deref().map(visible::reveal),
            commit: CommitLine::new(&tag.commit, frame),
            at: address::value(&name),
            name,
            notes,
        }
    }
}

#[derive(Template)]
#[template(path = "tags.html")]
struct Tags {
    frame: Frame,
    base: String,
    search: String,
    rows: Vec<Row>,
    total: u64,
    pager: Pager,
    may_push: bool,
    may_delete: bool,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let (named, page) = (visit.project(), visit.page());
    let search = visit.search("search").unwrap_or_default();
    let text = search.clone();
    let (viewer, (project, tags, may_delete)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            let tags = match text.as_str() {
                "" => tag::list(app, viewer.actor(), &named, page)?,
                text => tag::search(app, viewer.actor(), &named, text, page)?,
            };
            let tags: Paged<Found> = tags.map(|view| Found::new(app, view, MAX_NOTES_IN_LIST));
            let may_delete = tag::may_delete(app, &project);
            Ok((project, tags, may_delete))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let base = format!("/{}", project.path());
    let mut frame = Frame::of_project(&visit, &viewer, "Tags", frame_of(&project, "Tags"));
    frame.feed = Some(format!("{base}/tags.atom"));
    let total = tags.total;
    let page = Tags {
        rows: tags.items.into_iter().map(|found| Row::new(found, &base, &frame)).collect(),
        search,
        total,
        pager: Pager::new(&visit, total),
        may_push: project.may(ProjectAbility::PushCode),
        may_delete,
        base,
        frame,
    };
    render::page(&visit, &viewer, &page)
}

/// The feed of the first tags of the list.
async fn feed(visit: Visit) -> PageResult<HttpResponse> {
    let (named, token) = (visit.project(), visit.feed_token());
    let page = Page::Numbered { number: 1, size: feed::ENTRIES as u64 };
    let (_, (project, tags)) = visit
        .run(move |app, viewer| {
            let actor = feed_reader(app, viewer, token.as_deref())?;
            let project = project_page::get(app, actor, &named)?;
            Ok((project, tag::list(app, actor, &named, page)?))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let base = format!("/{}", project.path());
    let mut entries: Vec<FeedEntry> =
        tags.items.into_iter().map(|view| entry(&base, view)).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.updated));
    let title = format!("Tags of {}", project.path());
    feed::send(&visit, Feed { title, page: format!("{base}/tags"), entries })
}

fn entry(base: &str, TagView { tag, release }: TagView) -> FeedEntry {
    let summary = release.map(|release| release.description).or(tag.message).unwrap_or_default();
    FeedEntry {
        page: format!("{base}/tags/{}", address::path(tag.name.as_str())),
        title: tag.name.as_str().to_owned(),
        author: tag.commit.author.name.clone(),
        updated: tag.commit.committer.at.with_timezone(&chrono::Utc),
        summary: summary.chars().take(MAX_SUMMARY).collect(),
    }
}

/// The longest text of an entry of the feed, in characters.
const MAX_SUMMARY: usize = 4_000;

#[derive(Template)]
#[template(path = "tag.html")]
struct TagPage {
    frame: Frame,
    base: String,
    row: Row,
    tree: String,
    may_push: bool,
    may_delete: bool,
}

/// One tag, or the form for its release notes.
async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let rest = visit.param("rest");
    if let Some(name) = rest.strip_suffix(EDIT) {
        return edit_notes(&visit, name.to_owned()).await;
    }
    let named = visit.project();
    let (viewer, (project, found, may_delete)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            let view = tag::get(app, viewer.actor(), &named, &rest)?;
            let may_delete = tag::may_delete(app, &project);
            Ok((project, Found::new(app, view, MAX_NOTES), may_delete))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let base = format!("/{}", project.path());
    let name = found.view.tag.name.as_str().to_owned();
    let frame = Frame::of_project(&visit, &viewer, &name, frame_of(&project, "Tags"));
    let page = TagPage {
        row: Row::new(found, &base, &frame),
        tree: format!("{base}/tree/{}", address::path(&name)),
        may_push: project.may(ProjectAbility::PushCode),
        may_delete,
        base,
        frame,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "tag_new.html")]
struct NewTagPage {
    frame: Frame,
    base: String,
    fields: NewTag,
    names: Vec<String>,
    faults: Faults,
}

async fn new(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, pushable) = pushing::find(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &pushable.project) {
        return Ok(redirect);
    }
    let given = |name: &str| visit.query(name).map(str::to_owned);
    let fields = NewTag {
        name: given("tag_name").unwrap_or_default(),
        from: given("ref").unwrap_or_else(|| pushable.default_branch()),
        message: given("message"),
        release: given("release_description"),
    };
    Ok(show_form(&visit, &viewer, pushable, fields, Faults::default()))
}

fn show_form(
    visit: &Visit,
    viewer: &Viewer,
    pushable: Pushable,
    fields: NewTag,
    faults: Faults,
) -> HttpResponse {
    let frame_of_project = frame_of(&pushable.project, "Tags");
    let page = NewTagPage {
        frame: Frame::of_project(visit, viewer, "New tag", frame_of_project),
        base: pushable.base(),
        names: pushable.names,
        fields,
        faults,
    };
    render::page_with(status_of(&page.faults), visit, viewer, &page)
}

fn status_of(faults: &Faults) -> StatusCode {
    if faults.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY }
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, pushable) = pushing::find(&visit).await?;
    let form = visit.form();
    let fields = NewTag {
        name: form.text("tag_name").to_owned(),
        from: form.text("ref").to_owned(),
        message: Some(form.raw("message").to_owned()),
        release: Some(form.raw("release_description").to_owned()),
    };
    let (named, new) = (visit.project(), fields.clone());
    let (_, created) = visit
        .run_signed_in(move |app, signed_in| {
            match tag::create(app, signed_in.actor, &named, &new) {
                Ok(_) => Ok(Ok(())),
                Err(error) => faults(error).map(Err),
            }
        })
        .await?;
    match created {
        Ok(()) => {
            let address = format!("{}/tags/{}", pushable.base(), address::path(&fields.name));
            Ok(render::see_other_with(&visit, &address, Notice::Created))
        }
        Err(faults) => Ok(show_form(&visit, &viewer, pushable, fields, faults)),
    }
}

fn faults(error: Error) -> Result<Faults, Error> {
    match error {
        Error::Refused(Refusal::TagName) => Ok(Faults::of_field("tag_name", "is not valid")),
        Error::Refused(Refusal::TagExists(_)) => Ok(Faults::of_field("tag_name", "exists already")),
        Error::Refused(Refusal::TagMoved(_)) => {
            Ok(Faults::of_field("tag_name", "is a folder of other tags"))
        }
        Error::Refused(Refusal::TagTarget(_)) => Ok(Faults::of_field("ref", "does not exist")),
        error => Faults::of(error),
    }
}

#[derive(Template)]
#[template(path = "release_edit.html")]
struct EditNotes {
    frame: Frame,
    name: String,
    action: String,
    notes: String,
    faults: Faults,
}

async fn edit_notes(visit: &Visit, name: String) -> PageResult<HttpResponse> {
    let (viewer, pushable) = pushing::find(visit).await?;
    if let Some(redirect) = other_spelling(visit, &pushable.project) {
        return Ok(redirect);
    }
    let named = visit.project();
    let (_, view) =
        visit.run(move |app, viewer| tag::get(app, viewer.actor(), &named, &name)).await?;
    let notes = view.release.map(|release| release.description).unwrap_or_default();
    let name = view.tag.name.as_str().to_owned();
    Ok(show_notes(visit, &viewer, &pushable.project, (name, notes), Faults::default()))
}

fn show_notes(
    visit: &Visit,
    viewer: &Viewer,
    project: &ProjectPage,
    (name, notes): (String, String),
    faults: Faults,
) -> HttpResponse {
    let action = format!("/{}/tags/{}{SAVE}", project.path(), address::path(&name));
    let frame = Frame::of_project(visit, viewer, "Release notes", frame_of(project, "Tags"));
    let page = EditNotes { frame, name, action, notes, faults };
    render::page_with(status_of(&page.faults), visit, viewer, &page)
}

async fn save_notes(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, pushable) = pushing::find(&visit).await?;
    let rest = visit.param("rest");
    let Some(name) = rest.strip_suffix(SAVE).map(str::to_owned) else {
        return Err(crate::error::PageError::of(missing(), viewer, false));
    };
    let notes = visit.form().raw("description").to_owned();
    let (named, fields) = (visit.project(), (name.clone(), notes.clone()));
    let (_, saved) = visit
        .submit(move |app, signed_in| {
            release::save(app, signed_in.actor, &named, &fields.0, &fields.1).map(|_| ())
        })
        .await?;
    match saved {
        Ok(()) => {
            let address = format!("{}/tags/{}", pushable.base(), address::path(&name));
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Err(faults) => Ok(show_notes(&visit, &viewer, &pushable.project, (name, notes), faults)),
    }
}

async fn delete(visit: Visit) -> PageResult<HttpResponse> {
    let (_, pushable) = pushing::find(&visit).await?;
    let (named, name) = (visit.project(), visit.form().text("name").to_owned());
    visit
        .run_signed_in(move |app, signed_in| tag::delete(app, signed_in.actor, &named, &name))
        .await?;
    let address = format!("{}/tags", pushable.base());
    Ok(render::see_other_with(&visit, &address, Notice::Removed))
}
