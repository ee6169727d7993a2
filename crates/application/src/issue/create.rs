//! Creates issues.

use hexforge_domain::event::EventAction;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::issue::{Issue, NewIssue, mention};
use hexforge_domain::note::commands::{Command, extract};
use hexforge_domain::outbox::project::IssueAction;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::LongText;

use super::Editor;
use super::activity::{self, EventSubject};
use super::commands;
use super::fields::{self, IssueFields};
use super::mentions::{Mentions, NamedObjects};
use crate::access;
use crate::access::tracker::Tracker;
use crate::app::App;
use crate::error::Error;
use crate::todo::TodoSubject;
use crate::view::issue::{self as view, IssueView};

/// Creates an issue.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    given: &IssueFields,
) -> Result<IssueView, Error> {
    let author = access::own_account(actor)?;
    let mentioned = NamedObjects::find(app, actor, named, &given.texts())?;
    let (given, commands) = split_commands(app, given);
    app.store.write(|tx| {
        let (tracker, mentions) = Mentions::lock(tx, app.requester(actor), named, &mentioned)?;
        tracker.require(TrackerAbility::CreateIssues)?;
        let project = &tracker.project;
        let given = add_command_values(tx, &tracker, given.allowed(&tracker), &commands)?;
        let mut errors = FieldErrors::default();
        let title = errors.merge(given.title.ok_or(Error::NotGiven("title"))?);
        let description = errors.check_optional("description", given.description);
        let labels = errors.merge(given.labels.unwrap_or_else(|| Ok(vec![])));
        let confidential = given.confidential.unwrap_or(false);
        let assignee = fields::resolve_assignee(tx, &tracker, given.assignee, confidential)?;
        let milestone = fields::resolve_milestone(tx, project.id, given.milestone)?;
        let now = app.clock.now();
        let (new, labels) = errors.into_result_with(|| {
            let new = NewIssue {
                project: project.id,
                author,
                assignee: assignee.flatten(),
                milestone: milestone.flatten(),
                title: title?,
                description: description?,
                confidential,
                due_date: given.due_date.flatten(),
                created_at: given.created_at.unwrap_or(now),
                at: given.created_at.unwrap_or(now),
            };
            Some((new, labels?))
        })?;
        let labels = fields::find_or_create_labels(tx, project.id, &labels, now)?;
        let issue = tx.issues().insert(new)?;
        tx.issues().set_labels(issue.id, &labels)?;
        add_participants(tx, &issue)?;
        activity::record_event(tx, author, EventAction::Opened, EventSubject::Issue(&issue), now)?;
        let editor = Editor { user: author, tracker: &tracker, now };
        activity::record_issue_hook_event(tx, editor, &issue, IssueAction::Open)?;
        editor.todos().record_creation(tx, TodoSubject::Issue(&issue))?;
        mentions.write_notes(tx, editor, &issue)?;
        Ok(view::load(tx, author, project, issue)?)
    })
}

/// Splits the fields of a new issue into the fields without commands, and the commands of the description.
fn split_commands(app: &App, given: &IssueFields) -> (IssueFields, Vec<Command>) {
    let given = given.clone();
    let Some(text) = given.valid_description() else { return (given, vec![]) };
    let (text, commands) = extract(text, app.today());
    (IssueFields { description: Some(LongText::parse(&text)), ..given }, commands)
}

/// Adds the values that commands set to the fields of a new issue. Fields that the actor may not set stay empty.
fn add_command_values(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    given: IssueFields,
    commands: &[Command],
) -> Result<IssueFields, StoreError> {
    if commands.is_empty() {
        return Ok(given);
    }
    let given = commands::add_to_fields(tx, tracker.project.id, given, commands)?;
    Ok(given.allowed(tracker))
}

/// Makes the author of an issue and the users mentioned in its description participants.
pub(super) fn add_participants(tx: &mut dyn Tx, issue: &Issue) -> Result<(), StoreError> {
    tx.issuables().participate(issue.id.into(), issue.author)?;
    let text = issue.description.as_ref().map_or("", LongText::as_str);
    tx.issuables().mention(issue.id.into(), &mention::mentioned_usernames(text))
}
