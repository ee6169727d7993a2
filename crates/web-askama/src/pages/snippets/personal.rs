//! Personal snippets, which belong to no project.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::error::Error;
use hexforge_application::snippet::page::{self, PersonalPage};
use hexforge_application::snippet::personal;
use hexforge_domain::id::SnippetId;
use hexforge_domain::visibility::Visibility;

use super::{Content, Fields, Form, SnippetRow, what_of};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::count;
use crate::pages::tracker::number;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/dashboard/snippets", list);
    pages.get("/snippets", redirect);
    pages.get("/snippets/public", list_public);
    pages.get("/snippets/new", new);
    pages.post("/snippets", create);
    pages.get("/snippets/{id}", show);
    pages.get("/snippets/{id}/raw", raw);
    pages.get("/snippets/{id}/edit", edit);
    pages.post("/snippets/{id}/edit", update);
    pages.post("/snippets/{id}/delete", delete);
}

#[derive(Template)]
#[template(path = "personal_snippets.html")]
struct ListPage {
    frame: Frame,
    rows: Vec<SnippetRow>,
    total: String,
    pager: Pager,
    is_public: bool,
}

/// The list of snippets is that of the dashboard.
async fn redirect(_: Visit) -> PageResult<HttpResponse> {
    render::moved("/dashboard/snippets")
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    show_list(visit, false).await
}

async fn list_public(visit: Visit) -> PageResult<HttpResponse> {
    show_list(visit, true).await
}

async fn show_list(visit: Visit, is_public: bool) -> PageResult<HttpResponse> {
    let asked = visit.page();
    let (viewer, snippets) = visit
        .run_signed_in(move |app, who| match is_public {
            true => personal::list_public(app, who.actor, asked),
            false => personal::list(app, who.actor, asked),
        })
        .await?;
    let frame = Frame::new(&visit, &viewer, if is_public { "Public snippets" } else { "Snippets" });
    let page = ListPage {
        rows: snippets.items.iter().map(|view| SnippetRow::new(view, &frame)).collect(),
        total: count(snippets.total, "snippet"),
        pager: Pager::new(&visit, snippets.total),
        is_public,
        frame,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "personal_snippet.html")]
struct ShowPage {
    frame: Frame,
    content: Content,
    is_own: bool,
}

/// The snippet in the address.
fn id_of(visit: &Visit) -> PageResult<SnippetId> {
    number(visit, "id").map(SnippetId)
}

async fn load(visit: &Visit) -> PageResult<(Viewer, PersonalPage)> {
    let id = id_of(visit)?;
    visit.run(move |app, viewer| page::show_personal(app, viewer.actor(), id)).await
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, PersonalPage { view, content, is_own }) = load(&visit).await?;
    let frame = Frame::new(&visit, &viewer, &what_of(&view));
    let one = format!("/snippets/{}", view.snippet.id);
    let text = content.as_str().to_owned();
    let content = Content::new((&visit, &viewer), &view, text, one, &frame).await?;
    render::page(&visit, &viewer, &ShowPage { frame, content, is_own })
}

async fn raw(visit: Visit) -> PageResult<HttpResponse> {
    let (_, PersonalPage { content, .. }) = load(&visit).await?;
    Ok(render::foreign_bytes("text/plain; charset=utf-8").body(content.as_str().to_owned()))
}

fn show_form(
    visit: &Visit,
    viewer: &Viewer,
    id: Option<SnippetId>,
    fields: Fields,
    faults: Faults,
) -> HttpResponse {
    let (heading, action) = match id {
        Some(id) => ("Edit snippet", format!("/snippets/{id}/edit")),
        None => ("New snippet", "/snippets".to_owned()),
    };
    let frame = Frame::new(visit, viewer, heading);
    Form { heading, action }.show(visit, viewer, frame, fields, faults)
}

async fn new(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, ()) = visit.run_signed_in(|_, _| Ok(())).await?;
    let fields = Fields::empty(Visibility::Internal.level().into());
    Ok(show_form(&visit, &viewer, None, fields, Faults::default()))
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let typed = Fields::of_form(&visit);
    let given = typed.given();
    let (viewer, made) =
        visit.submit(move |app, who| personal::create(app, who.actor, &given)).await?;
    match made {
        Ok(view) => {
            let address = format!("/snippets/{}", view.snippet.id);
            Ok(render::see_other_with(&visit, &address, Notice::Created))
        }
        Err(faults) => Ok(show_form(&visit, &viewer, None, typed, faults)),
    }
}

async fn edit(visit: Visit) -> PageResult<HttpResponse> {
    let id = id_of(&visit)?;
    let (viewer, shown) = visit
        .run(move |app, viewer| {
            let shown = page::show_personal(app, viewer.actor(), id)?;
            if shown.is_own { Ok(shown) } else { Err(Error::Forbidden(None)) }
        })
        .await?;
    let fields = Fields::of(&shown.view, shown.content.as_str().to_owned());
    Ok(show_form(&visit, &viewer, Some(id), fields, Faults::default()))
}

async fn update(visit: Visit) -> PageResult<HttpResponse> {
    let (typed, id) = (Fields::of_form(&visit), id_of(&visit)?);
    let given = typed.given();
    let (viewer, changed) =
        visit.submit(move |app, who| personal::update(app, who.actor, id, &given)).await?;
    match changed {
        Ok(_) => {
            let address = format!("/snippets/{id}");
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Err(faults) => Ok(show_form(&visit, &viewer, Some(id), typed, faults)),
    }
}

async fn delete(visit: Visit) -> PageResult<HttpResponse> {
    let id = id_of(&visit)?;
    visit.run_signed_in(move |app, who| personal::delete(app, who.actor, id)).await?;
    Ok(render::see_other_with(&visit, "/dashboard/snippets", Notice::Removed))
}
