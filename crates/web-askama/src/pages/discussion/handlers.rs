//! The forms that the pages of issues and of merge requests have in common: comments, awards, todos and subscriptions.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use hexforge_application::app::App;
use hexforge_application::award::{self, AwardTarget, AwardedThing};
use hexforge_application::error::Error;
use hexforge_application::issue::fields::IssueFields;
use hexforge_application::merge_request::fields::MergeRequestFields;
use hexforge_application::{issue, merge_request, note, todo as todos};
use hexforge_domain::id::NoteId;
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issue::IssueCommand;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::subscription::SubscriptionCommand;

use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::pages::discussion;
use crate::pages::tracker::number;
use crate::render;
use crate::visit::Visit;

/// The page of an issue or of a merge request, with the discussion.
pub(in crate::pages) trait DiscussedPage: 'static {
    /// The address of the issue or merge request of a form.
    fn address(visit: &Visit) -> String;

    /// Returns the issue or merge request with this number in a project, if the actor may see it.
    fn find_id(app: &App, actor: Actor, named: &ProjectRef, iid: i64) -> Result<Issuable, Error>;

    /// Shows the page again with the comment that was typed.
    async fn show_again(
        visit: &Visit,
        status: StatusCode,
        comment: TypedComment,
    ) -> PageResult<HttpResponse>;
}

/// What was typed into the form of a comment, to show it again.
#[derive(Default)]
pub(in crate::pages) struct TypedComment {
    pub(in crate::pages) text: String,
    pub(in crate::pages) faults: Faults,
    pub(in crate::pages) is_preview: bool,
}

/// Writes a comment, closes or reopens the issue or merge request, or both.
pub(in crate::pages) async fn comment<P: DiscussedPage>(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let form = visit.form();
    let text = form.raw("note").to_owned();
    let typed = TypedComment { text: text.clone(), ..TypedComment::default() };
    if form.given("preview").is_some() {
        let typed = TypedComment { is_preview: true, ..typed };
        return P::show_again(&visit, StatusCode::OK, typed).await;
    }
    let command = discussion::state_event(form);
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let actor = signed_in.actor;
            let id = P::find_id(app, actor, &named, iid)?;
            if let Some(command) = command
                && text.trim().is_empty()
            {
                change_state(app, actor, &named, id, command)?;
                return Ok(String::new());
            }
            discussion::comment(app, actor, &named, id.into(), &text, command)
        })
        .await?;
    match done {
        Ok(anchor) => {
            let address = format!("{}{anchor}", P::address(&visit));
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Err(faults) => {
            let typed = TypedComment { faults, ..typed };
            P::show_again(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed).await
        }
    }
}

/// Closes or reopens an issue or merge request.
fn change_state(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: Issuable,
    command: IssueCommand,
) -> Result<(), Error> {
    match id {
        Issuable::Issue(id) => {
            let fields = IssueFields { command: Some(command), ..IssueFields::default() };
            issue::update::update(app, actor, named, id, &fields).map(drop)
        }
        Issuable::MergeRequest(id) => {
            let command = Some(command.into());
            let fields = MergeRequestFields { command, ..MergeRequestFields::default() };
            merge_request::update::update(app, actor, named, id, &fields).map(drop)
        }
    }
}

/// Changes the text of a comment.
pub(in crate::pages) async fn edit_comment<P: DiscussedPage>(
    visit: Visit,
) -> PageResult<HttpResponse> {
    let (named, note) = (visit.project(), NoteId(number(&visit, "note")?));
    let text = visit.form().raw("note").to_owned();
    let (_, done) = visit
        .submit(move |app, signed_in| note::update(app, signed_in.actor, &named, note, &text))
        .await?;
    match done {
        Ok(_) => {
            let address = format!("{}#note_{note}", P::address(&visit));
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Err(faults) => {
            // What was typed is kept in the form of a new comment.
            let text = visit.form().raw("note").to_owned();
            let typed = TypedComment { text, faults, ..TypedComment::default() };
            P::show_again(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed).await
        }
    }
}

pub(in crate::pages) async fn delete_comment<P: DiscussedPage>(
    visit: Visit,
) -> PageResult<HttpResponse> {
    let (named, note) = (visit.project(), NoteId(number(&visit, "note")?));
    visit
        .run_signed_in(move |app, signed_in| note::delete(app, signed_in.actor, &named, note))
        .await?;
    Ok(render::see_other_with(&visit, &P::address(&visit), Notice::Removed))
}

/// Gives an emoji, or takes it back.
pub(in crate::pages) async fn award<P: DiscussedPage>(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let name = visit.form().text("name").to_owned();
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let id = P::find_id(app, signed_in.actor, &named, iid)?;
            let on = AwardTarget { thing: AwardedThing::Issuable(id), note: None };
            award::toggle(app, signed_in.actor, &named, on, &name)
        })
        .await?;
    match done {
        Ok(()) => Ok(render::see_other_with(&visit, &P::address(&visit), Notice::Saved)),
        Err(faults) => {
            let typed = TypedComment { faults, ..TypedComment::default() };
            P::show_again(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed).await
        }
    }
}

/// Gives an emoji to a comment, or takes it back.
pub(in crate::pages) async fn award_comment<P: DiscussedPage>(
    visit: Visit,
) -> PageResult<HttpResponse> {
    let (address, iid) = (P::address(&visit), number(&visit, "iid")?);
    let find = move |app: &App, actor: Actor, named: &ProjectRef| {
        P::find_id(app, actor, named, iid).map(AwardedThing::Issuable)
    };
    discussion::award_note(visit, &address, find).await
}

/// Adds a todo of the visitor, or marks it as done.
pub(in crate::pages) async fn todo<P: DiscussedPage>(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let is_done = visit.form().text("state_event") == "done";
    visit
        .run_signed_in(move |app, signed_in| {
            let actor = signed_in.actor;
            let on = P::find_id(app, actor, &named, iid)?;
            match is_done {
                true => todos::mark_done_on(app, actor, on),
                false => todos::create(app, actor, &named, on).map(drop),
            }
        })
        .await?;
    Ok(render::see_other_with(&visit, &P::address(&visit), Notice::Saved))
}

pub(in crate::pages) async fn subscribe<P: DiscussedPage>(
    visit: Visit,
) -> PageResult<HttpResponse> {
    change_subscription::<P>(visit, SubscriptionCommand::Subscribe).await
}

pub(in crate::pages) async fn unsubscribe<P: DiscussedPage>(
    visit: Visit,
) -> PageResult<HttpResponse> {
    change_subscription::<P>(visit, SubscriptionCommand::Unsubscribe).await
}

async fn change_subscription<P: DiscussedPage>(
    visit: Visit,
    command: SubscriptionCommand,
) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    visit
        .run_signed_in(move |app, signed_in| {
            let actor = signed_in.actor;
            match P::find_id(app, actor, &named, iid)? {
                Issuable::Issue(id) => {
                    issue::subscription::apply(app, actor, &named, id, command).map(drop)
                }
                Issuable::MergeRequest(id) => {
                    merge_request::subscription::apply(app, actor, &named, id, command).map(drop)
                }
            }
        })
        .await?;
    Ok(render::see_other_with(&visit, &P::address(&visit), Notice::Saved))
}
