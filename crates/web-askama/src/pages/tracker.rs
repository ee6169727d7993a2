//! What the pages of issues, merge requests, boards, labels and milestones have in common.

use hexforge_application::app::App;
use hexforge_application::project::page as project_page;
use hexforge_application::tracker_choices::TrackerChoices;
use hexforge_domain::id::{self, UserId};
use hexforge_domain::label::{Label, LabelTitle};
use hexforge_domain::milestone::Milestone;
use hexforge_domain::user::User;

use crate::address;
use crate::error::{PageError, PageResult};
use crate::faults::Faults;
use crate::forms::Choice;
use crate::frame::avatar_of;
use crate::visit::{Viewer, Visit, search_text};

/// A label with its color.
#[derive(Clone, Debug)]
pub(crate) struct LabelChip {
    pub(crate) title: String,
    pub(crate) color: String,
    /// The list of things with this label.
    pub(crate) address: String,
}

/// The color of labels whose color is not known.
const NEUTRAL: &str = "#808080";

impl LabelChip {
    /// The label with a title. `list` is the address of the list that its link filters.
    pub(crate) fn new(title: &str, labels: &[Label], list: &str) -> Self {
        let found = labels.iter().find(|label| label.title.as_str() == title);
        Self {
            title: title.to_owned(),
            color: found.map_or(NEUTRAL, |label| label.color.as_str()).to_owned(),
            address: format!("{list}?{}", address::query([("label_name[]", title)])),
        }
    }

    /// The labels with these titles.
    pub(crate) fn all(titles: &[String], labels: &[Label], list: &str) -> Vec<Self> {
        titles.iter().map(|title| Self::new(title, labels, list)).collect()
    }
}

/// A person with a link.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) username: String,
    pub(crate) name: String,
    pub(crate) avatar: String,
}

impl From<&User> for Person {
    fn from(user: &User) -> Self {
        Self {
            username: user.username.as_str().to_owned(),
            name: user.name.as_str().to_owned(),
            avatar: avatar_of(user),
        }
    }
}

/// A tab with a number: `Open 3`.
pub(crate) struct Tab {
    pub(crate) name: &'static str,
    pub(crate) count: u64,
    pub(crate) address: String,
    pub(crate) is_current: bool,
}

impl Tab {
    /// The tab of a state of a list.
    pub(crate) fn new(
        visit: &Visit,
        (name, state): (&'static str, &'static str),
        count: u64,
        current: &str,
    ) -> Self {
        let address = visit.address_with("state", state);
        Self { name, count, address, is_current: state == current }
    }
}

/// The conditions of a list in the query of its address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    pub(crate) author: Option<UserId>,
    pub(crate) assignee: Option<UserId>,
    pub(crate) milestone: Option<String>,
    pub(crate) labels: Vec<String>,
    pub(crate) search: Option<String>,
    pub(crate) sort: &'static str,
}

/// The maximum number of labels.
const MAX_LABELS: usize = 20;

/// The orders of a list: the word in the query, and the name.
pub(crate) const ORDERS: [(&str, &str); 4] = [
    ("created_desc", "Last created"),
    ("created_asc", "Oldest created"),
    ("updated_desc", "Last updated"),
    ("updated_asc", "Oldest updated"),
];

impl Conditions {
    /// Reads the query.
    pub(crate) fn of(visit: &Visit) -> Self {
        let user = |name: &str| visit.query(name).and_then(id::parse).map(UserId);
        let mut labels: Vec<String> = visit.query_all("label_name[]").map(search_text).collect();
        labels.extend(visit.query("label_name").map(search_text));
        labels.truncate(MAX_LABELS);
        let sort = visit.query("sort").unwrap_or_default();
        Self {
            author: user("author_id"),
            assignee: user("assignee_id"),
            milestone: visit.query("milestone_title").map(search_text),
            labels,
            search: visit.query("search").map(search_text),
            sort: match sort {
                "id_asc" => "created_asc",
                sort => ORDERS.iter().find(|(word, _)| *word == sort).unwrap_or(&ORDERS[0]).0,
            },
        }
    }

    /// Whether the list is ordered by the time of the last change.
    pub(crate) fn is_by_update(&self) -> bool {
        self.sort.starts_with("updated")
    }

    /// Whether the newest comes first.
    pub(crate) fn is_descending(&self) -> bool {
        self.sort.ends_with("desc")
    }

    /// The choices of the filter.
    pub(crate) fn filter(&self, choices: &TrackerChoices, state: &'static str) -> Filter {
        let first = |name: &str| vec![Choice::new("", name, false)];
        let people = |chosen: Option<UserId>| {
            let mut people = first("Anybody");
            people.extend(people_choices(&choices.people, chosen));
            people
        };
        let mut milestones = first("Any milestone");
        let mut titles: Vec<&str> =
            choices.milestones.iter().map(|milestone| milestone.title.as_str()).collect();
        titles.extend(self.milestone.as_deref().filter(|title| !titles.contains(title)));
        let is_chosen = |title: &str| self.milestone.as_deref() == Some(title);
        milestones
            .extend(titles.into_iter().map(|title| Choice::new(title, title, is_chosen(title))));
        let mut labels = first("Any label");
        let mut titles: Vec<&str> =
            choices.labels.iter().map(|label| label.title.as_str()).collect();
        let others = self.labels.iter().map(String::as_str);
        titles.extend(others.filter(|title| !titles.contains(title)).collect::<Vec<_>>());
        // The form has one select; further labels of the address are kept by hidden fields.
        let is_chosen = |title: &str| self.labels.first().is_some_and(|one| one == title);
        labels.extend(titles.into_iter().map(|title| Choice::new(title, title, is_chosen(title))));
        let sorts = ORDERS.map(|(word, name)| Choice::new(word, name, word == self.sort));
        Filter {
            state,
            search: self.search.clone().unwrap_or_default(),
            authors: people(self.author),
            assignees: people(self.assignee),
            milestones,
            labels,
            more_labels: self.labels.iter().skip(1).cloned().collect(),
            sorts: sorts.to_vec(),
        }
    }
}

/// The form "Filter" of a list.
pub(crate) struct Filter {
    pub(crate) state: &'static str,
    pub(crate) search: String,
    pub(crate) authors: Vec<Choice>,
    pub(crate) assignees: Vec<Choice>,
    pub(crate) milestones: Vec<Choice>,
    pub(crate) labels: Vec<Choice>,
    pub(crate) more_labels: Vec<String>,
    pub(crate) sorts: Vec<Choice>,
}

fn people_choices(people: &[User], chosen: Option<UserId>) -> Vec<Choice> {
    let choice =
        |user: &User| Choice::new(user.id.to_string(), user.name.as_str(), Some(user.id) == chosen);
    people.iter().map(choice).collect()
}

/// The selects and checkboxes of the form of an issue or merge request.
pub(crate) struct FormChoices {
    pub(crate) assignees: Vec<Choice>,
    pub(crate) milestones: Vec<Choice>,
    pub(crate) labels: Vec<Choice>,
}

impl FormChoices {
    /// The choices, with those that are chosen. `milestone` may be closed, and `labels` may be unknown.
    pub(crate) fn new(
        choices: &TrackerChoices,
        assignee: Option<UserId>,
        milestone: (Option<i64>, Option<&Milestone>),
        labels: &[String],
    ) -> Self {
        let mut assignees = vec![Choice::new("0", "Unassigned", assignee.is_none())];
        assignees.extend(people_choices(&choices.people, assignee));
        let (chosen, own) = milestone;
        let is_listed = |one: &&Milestone| choices.milestones.iter().any(|m| m.id == one.id);
        let own = own.filter(|one| !is_listed(one));
        let mut milestones = vec![Choice::new("0", "No milestone", chosen.is_none())];
        let choice = |one: &Milestone| {
            Choice::new(one.id.to_string(), one.title.as_str(), Some(one.id.0) == chosen)
        };
        milestones.extend(choices.milestones.iter().chain(own).map(choice));
        let mut titles: Vec<&str> =
            choices.labels.iter().map(|label| label.title.as_str()).collect();
        let others: Vec<&str> = labels.iter().map(String::as_str).collect();
        titles.extend(others.iter().filter(|title| !titles.contains(title)).collect::<Vec<_>>());
        let choice = |title: &str| Choice::new(title, title, others.contains(&title));
        let labels = titles.into_iter().map(choice).collect();
        Self { assignees, milestones, labels }
    }
}

/// Parses the titles of labels that a form sent.
pub(crate) fn label_titles(
    visit: &Visit,
) -> Result<Vec<LabelTitle>, hexforge_domain::field_errors::FieldErrors> {
    visit.form().all("label_name").map(LabelTitle::parse).collect()
}

/// Sends strangers who see the project of a form to the sign-in. To others the project does not exist.
pub(crate) async fn require_sign_in(visit: &Visit) -> PageResult<()> {
    let named = visit.project();
    let see = move |app: &App, viewer: &Viewer| match viewer.signed_in() {
        Some(_) => Ok(()),
        None => project_page::get(app, viewer.actor(), &named).map(drop),
    };
    let (viewer, ()) = visit.run(see).await?;
    if viewer.signed_in().is_some() { Ok(()) } else { Err(PageError::sign_in()) }
}

/// A number in the address; what is not a number is not found.
pub(crate) fn number(visit: &Visit, name: &str) -> PageResult<i64> {
    id::parse(&visit.param(name)).ok_or_else(|| PageError::not_found(Viewer::default()))
}

/// A date of a form: `Ok(None)` if it is empty.
pub(crate) fn date(visit: &Visit, name: &str) -> Result<Option<chrono::NaiveDate>, Faults> {
    match visit.form().text(name) {
        "" => Ok(None),
        text => chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d")
            .map(Some)
            .map_err(|_| Faults::of_field(name, "is not a date such as 2026-01-31")),
    }
}
