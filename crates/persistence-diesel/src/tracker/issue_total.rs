//! Totals of issue lists, from the counters of projects, labels and milestones.

use hexforge_domain::id::{MilestoneId, UserId};
use hexforge_domain::issue::query::{Clearance, IssueFilter, IssueScope};
use hexforge_domain::project::query::Viewer;

use crate::query::access;
use crate::query::sql::Sql;
use crate::tracker::issue_conditions::{ProjectSet, title_in, title_start_in, titles_of};

/// An entity with counters of issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CounterOwner {
    Label,
    Milestone,
}

impl CounterOwner {
    fn table(self) -> &'static str {
        match self {
            Self::Label => "labels AS kept",
            Self::Milestone => "milestones AS kept",
        }
    }

    /// The condition that a row of `issues` belongs to the counters of a row.
    fn includes(self) -> &'static str {
        match self {
            Self::Label => {
                " AND (SELECT 1 FROM issue_labels AS has \
                 WHERE has.issue_id = issues.id AND has.label_id = kept.id) IS NOT NULL"
            }
            Self::Milestone => " AND +issues.milestone_id = kept.id",
        }
    }
}

/// A table with counters of issues, and the condition that an issue belongs to the counters of a row.
#[derive(Clone, Copy)]
struct Counters {
    table: &'static str,
    includes: &'static str,
}

impl From<CounterOwner> for Counters {
    fn from(owner: CounterOwner) -> Self {
        Self { table: owner.table(), includes: owner.includes() }
    }
}

/// The counters of a whole project.
const OF_PROJECT: Counters = Counters { table: "iids AS kept", includes: "" };

/// Selects the total of the list of a project, or of a list whose filter has one label or one milestone, and maybe a
/// state. `None` for all other lists.
pub(crate) fn by_counters(filter: &IssueFilter) -> Option<Sql> {
    let has_others = filter.author.is_some()
        || filter.assignee.is_some()
        || filter.search.is_some()
        || !filter.without_labels.is_empty();
    if filter.iid.is_some() || has_others {
        return None;
    }
    let (counters, which) = match (filter.scope, &filter.labels, &filter.milestone) {
        (IssueScope::Project(_), None, None) => (OF_PROJECT, None),
        (IssueScope::Milestone(_, milestone), None, None) => {
            (CounterOwner::Milestone.into(), Some(Sql::new("kept.id = ").id(milestone.0)))
        }
        (IssueScope::Project(_) | IssueScope::Group(..), Some(labels), None)
            if titles_of(labels).len() == 1 =>
        {
            (CounterOwner::Label.into(), Some(label_titled(titles_of(labels))))
        }
        (IssueScope::Project(_) | IssueScope::Group(..), None, Some(title)) => {
            (CounterOwner::Milestone.into(), Some(milestone_titled(title)))
        }
        _ => return None,
    };
    let (from, project_set, viewer): (_, _, Option<Viewer>) = match filter.scope {
        IssueScope::Project(project) | IssueScope::Milestone(project, _) => {
            (" FROM ", Sql::new("kept.project_id = ").id(project.0), None)
        }
        IssueScope::Group(group, viewer) => {
            let there = "kept.project_id = projects.id AND projects.issues_enabled \
                         AND projects.namespace_id = ";
            (" FROM projects CROSS JOIN ", Sql::new(there).id(group.0), viewer.restricted_to())
        }
        IssueScope::AuthoredBy(..) | IssueScope::AssignedTo(..) => return None,
    };
    let ctes = [
        viewer.map(|viewer| access::authorized_cte(viewer, filter.today)),
        access::reported_cte(filter.clearance, filter.today),
    ];
    let conditions = [Some(project_set), which, viewer.map(access::visible)];
    Some(
        Sql::with(ctes.into_iter().flatten())
            .sql("SELECT CAST(coalesce(sum(")
            .then(visible_count(counters, filter))
            .sql("), 0) AS BIGINT)")
            .sql(from)
            .sql(counters.table)
            .filter(conditions.into_iter().flatten()),
    )
}

/// Selects the id, title and number of issues of the labels or milestones with one of these titles.
pub(crate) fn select_counted(
    owner: CounterOwner,
    titles: &[String],
    project_set: ProjectSet,
) -> Sql {
    let which = match (owner, titles) {
        (CounterOwner::Label, titles) => label_titled(titles),
        (CounterOwner::Milestone, titles) => title_in("kept.title IN (", titles),
    };
    select_counters(owner)
        .sql(" WHERE kept.project_id")
        .then(project_set.condition())
        .sql(" AND ")
        .then(which)
}

/// Like [`select_counted`], for one milestone.
pub(crate) fn select_counted_milestone(milestone: MilestoneId) -> Sql {
    select_counters(CounterOwner::Milestone).sql(" WHERE kept.id = ").id(milestone.0)
}

/// Selects the id, the title and the number of issues of all rows of a table.
fn select_counters(owner: CounterOwner) -> Sql {
    Sql::new("SELECT kept.id, kept.title, CAST(")
        .sql(ALL_ISSUES)
        .sql(" AS BIGINT) FROM ")
        .sql(owner.table())
}

const ALL_ISSUES: &str = "kept.open_issues + kept.closed_issues + kept.open_confidential \
                          + kept.closed_confidential";

fn label_titled(titles: &[String]) -> Sql {
    title_start_in("kept.title_start IN (", titles)
        .sql(" AND ")
        .then(title_in("kept.title IN (", titles))
}

fn milestone_titled(title: &str) -> Sql {
    Sql::new("kept.title = ").text(title.to_owned())
}

/// The number of issues of a row that match the filter and that the viewer may see, from the counters of the row.
fn visible_count(counters: Counters, filter: &IssueFilter) -> Sql {
    let (plain, confidential) = match filter.open {
        None => (
            "kept.open_issues + kept.closed_issues",
            "kept.open_confidential + kept.closed_confidential",
        ),
        Some(true) => ("kept.open_issues", "kept.open_confidential"),
        Some(false) => ("kept.closed_issues", "kept.closed_confidential"),
    };
    let plain = Sql::new(plain);
    // Most rows have no confidential issue.
    let some = |plain: Sql| plain.sql(" + CASE WHEN ").sql(confidential).sql(" = 0 THEN 0");
    match filter.clearance {
        Clearance::All => plain.sql(" + ").sql(confidential),
        Clearance::Nothing => plain,
        Clearance::Own(user) => some(plain)
            .sql(" ELSE ")
            .then(own_confidential_count(counters, filter, user))
            .sql(" END"),
        Clearance::ByRole(user) => some(plain)
            .sql(" WHEN kept.project_id IN (SELECT id FROM reported) THEN ")
            .sql(confidential)
            .sql(" ELSE ")
            .then(own_confidential_count(counters, filter, user))
            .sql(" END"),
    }
}

/// Counts the confidential issues of which a user is author or assignee, by the indexes of these columns. `iid` and
/// the negations keep SQLite from reading all issues of the project by an index that covers all other columns.
fn own_confidential_count(counters: Counters, filter: &IssueFilter, user: UserId) -> Sql {
    let state = match filter.open {
        None => "",
        Some(true) => " AND NOT (issues.state = 'closed')",
        Some(false) => " AND NOT (issues.state <> 'closed')",
    };
    let counted = |which: Sql| {
        Sql::new(
            "(SELECT count(issues.iid) FROM issues WHERE issues.project_id = kept.project_id \
             AND issues.confidential AND ",
        )
        .then(which)
        .sql(state)
        .sql(counters.includes)
        .sql(")")
    };
    let written = Sql::new("issues.author_id = ").id(user.0);
    let assigned =
        Sql::new("issues.assignee_id = ").id(user.0).sql(" AND +issues.author_id <> ").id(user.0);
    counted(written).sql(" + ").then(counted(assigned))
}
