//! Applies the commands in texts (such as `/close`). They have the effect of the update calls, as far as the actor has
//! permission.

use hexforge_domain::id::{LabelId, ProjectId};
use hexforge_domain::issue::{Issue, IssueCommand, Title, label_list};
use hexforge_domain::label::LabelTitle;
use hexforge_domain::milestone::MilestoneFilter;
use hexforge_domain::note::commands::Command;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::tracker::IssueAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::subscription::Subscribed;

use super::Editor;
use super::fields::IssueFields;
use crate::error::Error;
use crate::todo::{TodoCommand, TodoSubject};

/// The maximum number of commands per text; the others are ignored.
const MAX_COMMANDS: usize = 50;
/// The maximum number of label names per command; the others are ignored.
const MAX_NAMES: usize = 50;

/// Applies commands to an issue that the actor may see. Commands without permission are ignored.
pub(crate) fn apply(
    tx: &mut dyn Tx,
    editor: Editor<'_>,
    issue: Issue,
    commands: &[Command],
) -> Result<Issue, Error> {
    let titles = tx.issues().labels_of(&[issue.id])?;
    let titles = titles.into_iter().map(|(_, _, title)| title).collect();
    let values = CommandValues::read(tx, issue.project, titles, commands)?;
    if let Some(subscribed) = values.subscribed {
        tx.issuables().subscribe(issue.id.into(), editor.user, subscribed)?;
    }
    let todo = values.todo;
    let issue = if editor.tracker.authorize(IssueAbility::Update, &issue).is_ok() {
        editor.change(tx, issue, &values.into_fields(IssueFields::default()))?
    } else {
        issue
    };
    // Last, because changes mark the todo as done.
    if let Some(command) = todo {
        editor.todos().apply(tx, TodoSubject::Issue(&issue), command)?;
    }
    Ok(issue)
}

/// Adds the values of the commands in the description of a new issue to its fields. Commands that change the title or
/// the state are ignored.
pub(super) fn add_to_fields(
    tx: &mut dyn Tx,
    project: ProjectId,
    given: IssueFields,
    commands: &[Command],
) -> Result<IssueFields, StoreError> {
    let titles = given.labels.as_ref().and_then(|labels| labels.as_ref().ok());
    let titles = titles.cloned().unwrap_or_default();
    let values = CommandValues::read(tx, project, titles, commands)?;
    Ok(CommandValues { title: None, state: None, ..values }.into_fields(given))
}

/// The combined values of all commands; for commands of the same kind the last one wins.
#[derive(Default)]
pub(crate) struct CommandValues {
    pub state: Option<IssueCommand>,
    pub title: Option<Title>,
    pub assignee: Option<i64>,
    pub milestone: Option<i64>,
    pub due_date: Option<Option<chrono::NaiveDate>>,
    pub labels: Option<Vec<LabelTitle>>,
    pub subscribed: Option<Subscribed>,
    pub todo: Option<TodoCommand>,
    /// Whether the mark for work in progress is to be set or removed. Issues have none.
    pub toggles_wip: bool,
}

impl CommandValues {
    /// Reads commands. `titles` are the labels before.
    pub(crate) fn read(
        tx: &mut dyn Tx,
        project: ProjectId,
        titles: Vec<LabelTitle>,
        commands: &[Command],
    ) -> Result<Self, StoreError> {
        let (mut values, mut titles) = (Self::default(), titles);
        let mut relabelled = false;
        for command in commands.iter().take(MAX_COMMANDS) {
            match command {
                Command::Close => values.state = Some(IssueCommand::Close),
                Command::Reopen => values.state = Some(IssueCommand::Reopen),
                Command::Title(title) => {
                    // An invalid title is ignored.
                    values.title = Title::parse(title).ok();
                }
                Command::Assign(name) => {
                    let user = tx.users().find_by_username(name)?;
                    values.assignee = user.map(|user| user.id.0).or(values.assignee);
                }
                Command::Unassign => values.assignee = Some(0),
                Command::Milestone(name) => {
                    values.milestone = find_milestone(tx, project, name)?.or(values.milestone);
                }
                Command::RemoveMilestone => values.milestone = Some(0),
                Command::Label(names) => {
                    titles.extend(find_label_titles(tx, project, names)?);
                    relabelled = true;
                }
                Command::Unlabel(names) => {
                    let gone = find_label_titles(tx, project, names)?;
                    titles.retain(|title| !names.is_empty() && !gone.contains(title));
                    relabelled = true;
                }
                Command::Relabel(names) => {
                    let found = find_label_titles(tx, project, names)?;
                    if !found.is_empty() {
                        titles = found;
                        relabelled = true;
                    }
                }
                Command::Due(day) => values.due_date = Some(Some(*day)),
                Command::RemoveDueDate => values.due_date = Some(None),
                Command::Subscribe => values.subscribed = Some(Subscribed::Yes),
                Command::Unsubscribe => values.subscribed = Some(Subscribed::No),
                Command::Todo => values.todo = Some(TodoCommand::Create),
                Command::Done => values.todo = Some(TodoCommand::Done),
                Command::WorkInProgress => values.toggles_wip = !values.toggles_wip,
                Command::Nothing => {}
            }
        }
        values.labels = relabelled.then_some(titles);
        Ok(values)
    }

    /// Returns the given fields with the values of the commands set.
    fn into_fields(self, given: IssueFields) -> IssueFields {
        let labels = match given.labels {
            Some(Err(wrong)) => Some(Err(wrong)),
            labels => self.labels.map(label_list::sort_and_limit).or(labels),
        };
        IssueFields {
            command: self.state.or(given.command),
            title: self.title.map(Ok).or(given.title),
            assignee: self.assignee.or(given.assignee),
            milestone: self.milestone.or(given.milestone),
            due_date: self.due_date.or(given.due_date),
            labels,
            ..given
        }
    }
}

/// Returns the titles of existing labels by title or id. Unknown labels are not created.
fn find_label_titles(
    tx: &mut dyn Tx,
    project: ProjectId,
    names: &[String],
) -> Result<Vec<LabelTitle>, StoreError> {
    let names = &names[..names.len().min(MAX_NAMES)];
    let parsed: Vec<LabelTitle> =
        names.iter().filter_map(|name| LabelTitle::parse(name).ok()).collect();
    let found =
        if parsed.is_empty() { vec![] } else { tx.labels().find_by_titles(project, &parsed)? };
    let mut titles: Vec<LabelTitle> = found.into_iter().map(|label| label.title).collect();
    let is_title = |name: &&String| titles.iter().any(|title| title.as_str() == **name);
    let numbers: Vec<i64> =
        names.iter().filter(|name| !is_title(name)).filter_map(|name| name.parse().ok()).collect();
    for id in numbers {
        titles.extend(tx.labels().find(project, LabelId(id))?.map(|label| label.title));
    }
    Ok(titles)
}

/// Returns the id of the milestone with this title or iid.
fn find_milestone(
    tx: &mut dyn Tx,
    project: ProjectId,
    name: &str,
) -> Result<Option<i64>, StoreError> {
    if let Some(milestone) = tx.milestones().find_by_title(project, name)? {
        return Ok(Some(milestone.id.0));
    }
    let Ok(iid) = name.parse() else { return Ok(None) };
    let filter = MilestoneFilter { state: None, iids: Some(vec![iid]) };
    let found = tx.milestones().list(project, &filter, Page::Whole)?;
    Ok(found.items.first().map(|milestone| milestone.id.0))
}
