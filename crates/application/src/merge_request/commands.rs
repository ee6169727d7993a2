//! Applies the commands in texts (such as `/close`) to merge requests. They have the effect of the update call, as far
//! as the actor has permission.

use hexforge_domain::id::ProjectId;
use hexforge_domain::issue::label_list;
use hexforge_domain::label::LabelTitle;
use hexforge_domain::merge_request::{MergeRequest, MergeRequestCommand, Title, wip};
use hexforge_domain::note::commands::Command;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::subscription::Subscribed;

use super::fields::MergeRequestFields;
use crate::issue::commands::CommandValues;
use crate::todo::TodoCommand;

/// The changes that commands ask for.
pub(crate) struct RequestCommands {
    /// The fields to set.
    pub fields: MergeRequestFields,
    /// The new subscription of the actor.
    pub subscribed: Option<Subscribed>,
    /// What happens to the todo of the actor.
    pub todo: Option<TodoCommand>,
}

/// Reads the commands of a note on a merge request.
pub(crate) fn read(
    tx: &mut dyn Tx,
    request: &MergeRequest,
    commands: &[Command],
) -> Result<RequestCommands, StoreError> {
    let titles = tx.merge_requests().labels_of(&[request.id])?;
    let titles = titles.into_iter().map(|(_, _, title)| title).collect();
    let values = CommandValues::read(tx, request.project(), titles, commands)?;
    let (subscribed, todo) = (values.subscribed, values.todo);
    let title = values.title.clone().unwrap_or_else(|| request.title.clone());
    let title = match values.toggles_wip {
        // A title of marks only would become blank: then nothing changes.
        true => Title::parse(&wip::toggled(title.as_str())).ok().or(values.title.clone()),
        false => values.title.clone(),
    };
    let fields = into_fields(CommandValues { title, ..values }, MergeRequestFields::default());
    Ok(RequestCommands { fields, subscribed, todo })
}

/// Adds the values of the commands in the description of a new request to its fields. Only commands that set assignee,
/// milestone and labels count.
pub(super) fn add_to_fields(
    tx: &mut dyn Tx,
    project: ProjectId,
    given: MergeRequestFields,
    commands: &[Command],
) -> Result<MergeRequestFields, StoreError> {
    let is_setting = |command: &&Command| {
        matches!(command, Command::Assign(_) | Command::Milestone(_) | Command::Label(_))
    };
    let commands: Vec<Command> = commands.iter().filter(is_setting).cloned().collect();
    if commands.is_empty() {
        return Ok(given);
    }
    let titles: Vec<LabelTitle> = match &given.labels {
        Some(Ok(titles)) => titles.clone(),
        Some(Err(_)) | None => vec![],
    };
    let values = CommandValues::read(tx, project, titles, &commands)?;
    Ok(into_fields(values, given))
}

/// Returns the given fields with the values of the commands set.
fn into_fields(values: CommandValues, given: MergeRequestFields) -> MergeRequestFields {
    let labels = match given.labels {
        Some(Err(wrong)) => Some(Err(wrong)),
        labels => values.labels.map(label_list::sort_and_limit).or(labels),
    };
    let command = values.state.map(MergeRequestCommand::from);
    MergeRequestFields {
        command: command.or(given.command),
        title: values.title.map(Ok).or(given.title),
        assignee: values.assignee.or(given.assignee),
        milestone: values.milestone.or(given.milestone),
        labels,
        ..given
    }
}
