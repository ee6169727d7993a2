//! What visitors do on the page of an issue.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use hexforge_application::app::App;
use hexforge_application::award::{self, AwardTarget, AwardedThing};
use hexforge_application::issue::fields::IssueFields;
use hexforge_application::issue::{self, movement, page, subscription, update};
use hexforge_application::note;
use hexforge_application::project::page as project_page;
use hexforge_domain::id::{IssueId, NoteId};
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::subscription::SubscriptionCommand;

use super::show::{Typed, show_with};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::pages::discussion::{self, state_event};
use crate::pages::tracker::number;
use crate::render;
use crate::visit::Visit;

/// The address of the issue of a form.
fn address(visit: &Visit) -> String {
    let [namespace, project, iid] = ["namespace", "project", "iid"].map(|name| visit.param(name));
    crate::address::path(format!("/{namespace}/{project}/issues/{iid}"))
}

/// Writes a comment, closes or reopens the issue, or both.
pub(super) async fn comment(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let form = visit.form();
    let text = form.raw("note").to_owned();
    let typed = Typed { comment: text.clone(), ..Typed::default() };
    if form.given("preview").is_some() {
        return show_with(&visit, StatusCode::OK, Typed { is_preview: true, ..typed }).await;
    }
    let command = state_event(form);
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let actor = signed_in.actor;
            let id = page::find_id(app, actor, &named, iid)?;
            if command.is_some() && text.trim().is_empty() {
                let fields = IssueFields { command, ..IssueFields::default() };
                update::update(app, actor, &named, id, &fields)?;
                return Ok(String::new());
            }
            discussion::comment(app, actor, &named, id.into(), &text, command)
        })
        .await?;
    match done {
        Ok(anchor) => {
            let address = format!("{}{anchor}", address(&visit));
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Err(faults) => {
            let typed = Typed { comment_faults: faults, ..typed };
            show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed).await
        }
    }
}

/// Changes the text of a comment.
pub(super) async fn edit_comment(visit: Visit) -> PageResult<HttpResponse> {
    let (named, note) = (visit.project(), NoteId(number(&visit, "note")?));
    let text = visit.form().raw("note").to_owned();
    let (_, done) = visit
        .submit(move |app, signed_in| note::update(app, signed_in.actor, &named, note, &text))
        .await?;
    match done {
        Ok(_) => {
            let address = format!("{}#note_{note}", address(&visit));
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Err(faults) => {
            // What was typed is kept in the form of a new comment.
            let comment = visit.form().raw("note").to_owned();
            let typed = Typed { comment, comment_faults: faults, ..Typed::default() };
            show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed).await
        }
    }
}

pub(super) async fn delete_comment(visit: Visit) -> PageResult<HttpResponse> {
    let (named, note) = (visit.project(), NoteId(number(&visit, "note")?));
    visit
        .run_signed_in(move |app, signed_in| note::delete(app, signed_in.actor, &named, note))
        .await?;
    Ok(render::see_other_with(&visit, &address(&visit), Notice::Removed))
}

/// Gives an emoji, or takes it back.
pub(super) async fn award(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let name = visit.form().text("name").to_owned();
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let id = page::find_id(app, signed_in.actor, &named, iid)?;
            let on = AwardTarget { thing: AwardedThing::Issuable(id.into()), note: None };
            award::toggle(app, signed_in.actor, &named, on, &name)
        })
        .await?;
    match done {
        Ok(()) => Ok(render::see_other(&address(&visit)).finish()),
        Err(faults) => {
            let typed = Typed { comment_faults: faults, ..Typed::default() };
            show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed).await
        }
    }
}

/// Gives an emoji to a comment, or takes it back.
pub(super) async fn award_comment(visit: Visit) -> PageResult<HttpResponse> {
    let (one, iid) = (address(&visit), number(&visit, "iid")?);
    let find = move |app: &App, actor: Actor, named: &ProjectRef| {
        Ok(AwardedThing::Issuable(page::find_id(app, actor, named, iid)?.into()))
    };
    discussion::award_note(visit, &one, find).await
}

/// Adds a todo, or marks it as done.
pub(super) async fn todo(visit: Visit) -> PageResult<HttpResponse> {
    let one = address(&visit);
    let find = |app: &App, actor: Actor, named: &ProjectRef, iid: i64| {
        Ok(page::find_id(app, actor, named, iid)?.into())
    };
    discussion::change_todo(visit, &one, find).await
}

pub(super) async fn subscribe(visit: Visit) -> PageResult<HttpResponse> {
    change_subscription(visit, SubscriptionCommand::Subscribe).await
}

pub(super) async fn unsubscribe(visit: Visit) -> PageResult<HttpResponse> {
    change_subscription(visit, SubscriptionCommand::Unsubscribe).await
}

async fn change_subscription(
    visit: Visit,
    command: SubscriptionCommand,
) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    visit
        .run_signed_in(move |app, signed_in| {
            let id = page::find_id(app, signed_in.actor, &named, iid)?;
            subscription::apply(app, signed_in.actor, &named, id, command)
        })
        .await?;
    Ok(render::see_other_with(&visit, &address(&visit), Notice::Saved))
}

/// Moves the issue to another project, which is given by its path.
pub(super) async fn move_issue(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let target = visit.form().text("to_project").trim_matches('/').to_owned();
    let typed = Typed { move_to: target.clone(), ..Typed::default() };
    let refused = |faults| {
        let typed = Typed { move_faults: faults, ..typed };
        show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed)
    };
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let actor = signed_in.actor;
            let id: IssueId = page::find_id(app, actor, &named, iid)?;
            let Ok(found) = project_page::get(app, actor, &ProjectRef::parse(&target)) else {
                return Ok(None);
            };
            movement::apply(app, actor, &named, id, Some(found.placed.project.id.0)).map(Some)
        })
        .await?;
    match done {
        Ok(Some(view)) => {
            let address = format!("/{}/issues/{}", view.project_path, view.issue.iid);
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Ok(None) => refused(Faults::of_field("to_project", "doesn't exist")).await,
        Err(faults) => refused(faults).await,
    }
}

pub(super) async fn delete(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let (_, view) = visit
        .run_signed_in(move |app, signed_in| {
            let id = page::find_id(app, signed_in.actor, &named, iid)?;
            issue::delete(app, signed_in.actor, &named, id)
        })
        .await?;
    let address = format!("/{}/issues", view.project_path);
    Ok(render::see_other_with(&visit, &address, Notice::Removed))
}
