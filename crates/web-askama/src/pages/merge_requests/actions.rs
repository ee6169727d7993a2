//! What visitors do on the page of a merge request.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use hexforge_application::app::App;
use hexforge_application::award::{self, AwardTarget, AwardedThing};
use hexforge_application::merge_request::fields::MergeRequestFields;
use hexforge_application::merge_request::merge::{self as merging, MergeWishes};
use hexforge_application::merge_request::{self, automatic, page, subscription, update};
use hexforge_application::note;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::NoteId;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::subscription::SubscriptionCommand;
use hexforge_domain::text::LongText;

use super::show::{Typed, show_with};
use crate::address;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::pages::discussion::{self, state_event};
use crate::pages::tracker::number;
use crate::render;
use crate::visit::Visit;

/// The address of the merge request of a form.
fn address_of(visit: &Visit) -> String {
    let [namespace, project, iid] = ["namespace", "project", "iid"].map(|name| visit.param(name));
    address::path(format!("/{namespace}/{project}/merge_requests/{iid}"))
}

fn saved(visit: &Visit) -> HttpResponse {
    render::see_other_with(visit, &address_of(visit), Notice::Saved)
}

/// Writes a comment, closes or reopens the merge request, or both.
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
            if let Some(command) = command
                && text.trim().is_empty()
            {
                let command = Some(command.into());
                let fields = MergeRequestFields { command, ..MergeRequestFields::default() };
                update::update(app, actor, &named, id, &fields)?;
                return Ok(String::new());
            }
            discussion::comment(app, actor, &named, id.into(), &text, command)
        })
        .await?;
    match done {
        Ok(anchor) => {
            let address = format!("{}{anchor}", address_of(&visit));
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
            let address = format!("{}#note_{note}", address_of(&visit));
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
    Ok(render::see_other_with(&visit, &address_of(&visit), Notice::Removed))
}

/// Merges the request, or remembers to merge it when its pipeline succeeds.
pub(super) async fn merge(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let form = visit.form();
    let message = form.raw("merge_commit_message").to_owned();
    let (remove, wait) =
        (form.is_set("should_remove_source_branch"), form.is_set("merge_when_build_succeeds"));
    let sha = Some(form.text("sha").to_owned()).filter(|sha| !sha.is_empty());
    let typed = Typed { message: Some(message.clone()), ..Typed::default() };
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let actor = signed_in.actor;
            let id = page::find_id(app, actor, &named, iid)?;
            let too_long = |problem| FieldErrors::single("merge_commit_message", problem);
            let given = Some(message.as_str()).filter(|text| !text.trim().is_empty());
            let wishes = MergeWishes {
                message: given.map(LongText::parse).transpose().map_err(too_long)?,
                remove_source_branch: Some(remove),
                when_build_succeeds: wait,
                sha: sha.clone(),
            };
            merging::merge(app, actor, &named, id, &wishes)
        })
        .await?;
    match done {
        Ok(_) => Ok(saved(&visit)),
        Err(faults) => {
            let typed = Typed { merge_faults: faults, ..typed };
            show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed).await
        }
    }
}

/// Cancels the merge that waits for a pipeline.
pub(super) async fn cancel_merge(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let id = page::find_id(app, signed_in.actor, &named, iid)?;
            automatic::cancel(app, signed_in.actor, &named, id)
        })
        .await?;
    match done {
        Ok(_) => Ok(saved(&visit)),
        Err(faults) => {
            let typed = Typed { merge_faults: faults, ..Typed::default() };
            show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed).await
        }
    }
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
        Ok(()) => Ok(render::see_other(&address_of(&visit)).finish()),
        Err(faults) => {
            let typed = Typed { comment_faults: faults, ..Typed::default() };
            show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed).await
        }
    }
}

/// Gives an emoji to a comment, or takes it back.
pub(super) async fn award_comment(visit: Visit) -> PageResult<HttpResponse> {
    let (one, iid) = (address_of(&visit), number(&visit, "iid")?);
    let find = move |app: &App, actor: Actor, named: &ProjectRef| {
        Ok(AwardedThing::Issuable(page::find_id(app, actor, named, iid)?.into()))
    };
    discussion::award_note(visit, &one, find).await
}

/// Adds a todo, or marks it as done.
pub(super) async fn todo(visit: Visit) -> PageResult<HttpResponse> {
    let one = address_of(&visit);
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
    Ok(saved(&visit))
}

pub(super) async fn delete(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let (_, view) = visit
        .run_signed_in(move |app, signed_in| {
            let id = page::find_id(app, signed_in.actor, &named, iid)?;
            merge_request::delete(app, signed_in.actor, &named, id)
        })
        .await?;
    let address = format!("/{}/merge_requests", view.project_path);
    Ok(render::see_other_with(&visit, &address, Notice::Removed))
}
