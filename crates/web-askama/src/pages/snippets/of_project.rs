//! The snippets of a project, with their discussions.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::award::{self, AwardTarget, AwardedThing};
use hexforge_application::error::Error;
use hexforge_application::note;
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::snippet::page::{self, SnippetList, SnippetPage};
use hexforge_application::snippet::{self};
use hexforge_domain::id::{NoteId, SnippetId};
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;

use super::{Content, Fields, Form, SnippetRow, what_of};
use crate::address;
use crate::cookies::Notice;
use crate::error::{PageError, PageResult};
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::count;
use crate::pages::discussion::{self, NOTES_PER_PAGE, RenderedTexts, Thread};
use crate::pages::issues::CommentForm;
use crate::pages::project::{frame_of, other_spelling};
use crate::pages::tracker::number;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/snippets", list);
    pages.get("/{namespace}/{project}/snippets/new", new);
    pages.post("/{namespace}/{project}/snippets", create);
    pages.get("/{namespace}/{project}/snippets/{id}", show);
    pages.get("/{namespace}/{project}/snippets/{id}/raw", raw);
    pages.get("/{namespace}/{project}/snippets/{id}/edit", edit);
    pages.post("/{namespace}/{project}/snippets/{id}/edit", update);
    pages.post("/{namespace}/{project}/snippets/{id}/delete", delete);
    pages.post("/{namespace}/{project}/snippets/{id}/notes", comment);
    pages.post("/{namespace}/{project}/snippets/{id}/notes/{note}", edit_comment);
    pages.post("/{namespace}/{project}/snippets/{id}/notes/{note}/delete", delete_comment);
    pages.post("/{namespace}/{project}/snippets/{id}/notes/{note}/award", award_comment);
    pages.post("/{namespace}/{project}/snippets/{id}/award", award);
}

#[derive(Template)]
#[template(path = "snippets.html")]
struct ListPage {
    frame: Frame,
    base: String,
    rows: Vec<SnippetRow>,
    total: String,
    pager: Pager,
    may_create: bool,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let (named, asked) = (visit.project(), visit.page());
    let (viewer, (project, found)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            Ok((project, page::list(app, viewer.actor(), &named, asked)?))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let SnippetList { snippets, may_create } = found;
    let frame = frame(&visit, &viewer, &project, "Snippets");
    let page = ListPage {
        base: format!("/{}", project.path()),
        rows: snippets.items.iter().map(|view| SnippetRow::new(view, &frame)).collect(),
        total: count(snippets.total, "snippet"),
        pager: Pager::new(&visit, snippets.total),
        may_create,
        frame,
    };
    render::page(&visit, &viewer, &page)
}

fn frame(visit: &Visit, viewer: &Viewer, project: &ProjectPage, what: &str) -> Frame {
    Frame::of_project(visit, viewer, what, frame_of(project, "Overview"))
}

#[derive(Template)]
#[template(path = "snippet.html")]
struct ShowPage {
    frame: Frame,
    content: Content,
    thread: Thread,
    comment: CommentForm,
    may_update: bool,
}

/// The snippet in the address.
fn id_of(visit: &Visit) -> PageResult<SnippetId> {
    number(visit, "id").map(SnippetId)
}

/// The address of the snippet of a form.
fn address_of(visit: &Visit) -> String {
    let [namespace, project, id] = ["namespace", "project", "id"].map(|name| visit.param(name));
    address::path(format!("/{namespace}/{project}/snippets/{id}"))
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    show_with(&visit, StatusCode::OK, String::new(), Faults::default(), false).await
}

/// Shows the snippet with the comment that was typed.
async fn show_with(
    visit: &Visit,
    status: StatusCode,
    typed: String,
    faults: Faults,
    is_preview: bool,
) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), id_of(visit)?);
    let asked = visit.long_page(NOTES_PER_PAGE);
    let preview = is_preview.then(|| typed.clone());
    let (viewer, (project, shown, texts)) = visit
        .run(move |app, viewer| {
            let actor = viewer.actor();
            let project = project_page::get(app, actor, &named)?;
            let shown = page::show(app, actor, &named, id, asked)?;
            let path = project.path();
            let (place, text) = ((&named, path.as_str()), preview.as_deref());
            let texts = RenderedTexts::new(app, actor, place, "", &shown.discussion, text)?;
            Ok((project, shown, texts))
        })
        .await?;
    if status == StatusCode::OK
        && !is_preview
        && let Some(redirect) = other_spelling(visit, &project)
    {
        return Ok(redirect);
    }
    let SnippetPage { view, content, discussion, may_update } = shown;
    let frame = frame(visit, &viewer, &project, &what_of(&view));
    let one = format!("/{}/snippets/{id}", project.path());
    let pager = Pager::of_page(visit, asked, discussion.notes.total);
    let people = (viewer.actor().user(), view.snippet.author);
    let RenderedTexts { notes, preview, .. } = texts;
    let text = content.as_str().to_owned();
    let page = ShowPage {
        thread: Thread::new(&frame, &discussion, notes, pager, people),
        content: Content::new((visit, &viewer), &view, text, one, &frame).await?,
        comment: CommentForm { text: typed, faults, preview },
        may_update,
        frame,
    };
    Ok(render::page_with(status, visit, &viewer, &page))
}

async fn raw(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), id_of(&visit)?);
    let (_, content) =
        visit.run(move |app, viewer| snippet::raw(app, viewer.actor(), &named, id)).await?;
    Ok(render::foreign_bytes("text/plain; charset=utf-8").body(content.as_str().to_owned()))
}

/// The project, for those who may create snippets. Strangers who see it are sent to the sign-in.
async fn creatable(visit: &Visit) -> PageResult<(Viewer, ProjectPage)> {
    let named = visit.project();
    let (viewer, project) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            if viewer.signed_in().is_some() {
                snippet::authorize_creation(app, viewer.actor(), &named)?;
            }
            Ok(project)
        })
        .await?;
    match viewer.signed_in() {
        Some(_) => Ok((viewer, project)),
        None => Err(PageError::sign_in()),
    }
}

fn new_form(project: &ProjectPage) -> Form {
    Form { heading: "New snippet", action: format!("/{}/snippets", project.path()) }
}

async fn new(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, project) = creatable(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let frame = frame(&visit, &viewer, &project, "New snippet");
    let fields = Fields::empty(0);
    Ok(new_form(&project).show(&visit, &viewer, frame, fields, Faults::default()))
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let typed = Fields::of_form(&visit);
    let (named, given) = (visit.project(), typed.given());
    let (_, made) = visit
        .submit(move |app, who| {
            snippet::authorize_creation(app, who.actor, &named)?;
            snippet::create(app, who.actor, &named, &given)
        })
        .await?;
    match made {
        Ok(view) => {
            let path = view.project_path.unwrap_or_default();
            let address = format!("/{path}/snippets/{}", view.snippet.id);
            Ok(render::see_other_with(&visit, &address, Notice::Created))
        }
        Err(faults) => {
            let (viewer, project) = creatable(&visit).await?;
            let frame = frame(&visit, &viewer, &project, "New snippet");
            Ok(new_form(&project).show(&visit, &viewer, frame, typed, faults))
        }
    }
}

/// The snippet and its project, for those who may change it.
async fn changeable(visit: &Visit) -> PageResult<(Viewer, (ProjectPage, SnippetPage))> {
    let (named, id, asked) = (visit.project(), id_of(visit)?, visit.page());
    visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            let shown = page::show(app, viewer.actor(), &named, id, asked)?;
            if shown.may_update { Ok((project, shown)) } else { Err(Error::Forbidden(None)) }
        })
        .await
}

fn edit_form(project: &ProjectPage, id: SnippetId) -> Form {
    Form { heading: "Edit snippet", action: format!("/{}/snippets/{id}/edit", project.path()) }
}

async fn edit(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (project, shown)) = changeable(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let id = shown.view.snippet.id;
    let frame = frame(&visit, &viewer, &project, "Edit snippet");
    let fields = Fields::of(&shown.view, shown.content.as_str().to_owned());
    Ok(edit_form(&project, id).show(&visit, &viewer, frame, fields, Faults::default()))
}

async fn update(visit: Visit) -> PageResult<HttpResponse> {
    let (typed, id) = (Fields::of_form(&visit), id_of(&visit)?);
    let (named, given) = (visit.project(), typed.given());
    let (_, changed) =
        visit.submit(move |app, who| snippet::update(app, who.actor, &named, id, &given)).await?;
    match changed {
        Ok(_) => Ok(render::see_other_with(&visit, &address_of(&visit), Notice::Saved)),
        Err(faults) => {
            let (viewer, (project, _)) = changeable(&visit).await?;
            let frame = frame(&visit, &viewer, &project, "Edit snippet");
            Ok(edit_form(&project, id).show(&visit, &viewer, frame, typed, faults))
        }
    }
}

async fn delete(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), id_of(&visit)?);
    let (_, view) =
        visit.run_signed_in(move |app, who| snippet::delete(app, who.actor, &named, id)).await?;
    let address = format!("/{}/snippets", view.project_path.unwrap_or_default());
    Ok(render::see_other_with(&visit, &address, Notice::Removed))
}

async fn comment(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), id_of(&visit)?);
    let text = visit.form().raw("note").to_owned();
    if visit.form().given("preview").is_some() {
        return show_with(&visit, StatusCode::OK, text, Faults::default(), true).await;
    }
    let body = text.clone();
    let (_, done) = visit
        .submit(move |app, who| discussion::comment(app, who.actor, &named, id.into(), &body, None))
        .await?;
    match done {
        Ok(anchor) => {
            let address = format!("{}{anchor}", address_of(&visit));
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Err(faults) => {
            show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, text, faults, false).await
        }
    }
}

async fn edit_comment(visit: Visit) -> PageResult<HttpResponse> {
    let (named, note) = (visit.project(), NoteId(number(&visit, "note")?));
    let text = visit.form().raw("note").to_owned();
    let body = text.clone();
    let (_, done) =
        visit.submit(move |app, who| note::update(app, who.actor, &named, note, &body)).await?;
    match done {
        Ok(_) => {
            let address = format!("{}#note_{note}", address_of(&visit));
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        // What was typed is kept in the form of a new comment.
        Err(faults) => {
            show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, text, faults, false).await
        }
    }
}

async fn delete_comment(visit: Visit) -> PageResult<HttpResponse> {
    let (named, note) = (visit.project(), NoteId(number(&visit, "note")?));
    visit.run_signed_in(move |app, who| note::delete(app, who.actor, &named, note)).await?;
    Ok(render::see_other_with(&visit, &address_of(&visit), Notice::Removed))
}

async fn award_comment(visit: Visit) -> PageResult<HttpResponse> {
    let (one, id) = (address_of(&visit), id_of(&visit)?);
    let find = move |_: &App, _: Actor, _: &ProjectRef| Ok(AwardedThing::Snippet(id));
    discussion::award_note(visit, &one, find).await
}

async fn award(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), id_of(&visit)?);
    let name = visit.form().text("name").to_owned();
    let on = AwardTarget { thing: AwardedThing::Snippet(id), note: None };
    let (_, done) =
        visit.submit(move |app, who| award::toggle(app, who.actor, &named, on, &name)).await?;
    let notice = if done.is_ok() { Notice::Saved } else { Notice::Refused };
    Ok(render::see_other_with(&visit, &address_of(&visit), notice))
}
