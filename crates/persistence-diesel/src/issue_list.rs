//! Which issues a list shows, as queries.

use hexforge_domain::id::ProjectId;
use hexforge_domain::issue::Issue;
use hexforge_domain::issue::query::{IssueFilter, IssueOrder, IssueScope, LabelFilter};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::query::Viewer;

use crate::access;
use crate::sql::Sql;
use crate::tx::DieselTx;

impl DieselTx<'_> {
    /// Three queries: the total, the ids, the rows.
    pub(crate) fn list_issues(
        &mut self,
        filter: &IssueFilter,
        page: Page,
    ) -> Result<Paged<Issue>, StoreError> {
        let total = self.total(&format!("issues {filter:?}"), &fitting(filter, Way::Gather))?;
        let way = if total > MANY { Way::Walk } else { Way::Gather };
        let ids = self.ids(fitting(filter, way).sql(order(filter)).page(page))?;
        Ok(Paged { items: self.issues_by_id(&ids)?, total })
    }
}

/// More issues of a label or milestone than this are looked for by going through the project.
const MANY: u64 = 1000;

/// How the issues of a label or milestone are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Through the issues of the project in their order until the page is full: soon, where many fit.
    Walk,
    /// By the label or milestone, and then sorted: soon, where few fit.
    Gather,
}

/// The ids of the issues that fit, in no order.
fn fitting(filter: &IssueFilter, way: Way) -> Sql {
    let leads = filter.labels.is_some() || filter.milestone.is_some();
    let (from, scope, viewer) = scope(filter.scope, leads && way == Way::Gather);
    let named = [
        viewer.map(|viewer| access::authorized_as_named(viewer, filter.today)),
        access::reported_as_named(filter.clearance, filter.today),
    ];
    // These words are those of the partial indexes.
    let state = filter.open.map(|open| {
        Sql::new(if open { "issues.state <> 'closed'" } else { "issues.state = 'closed'" })
    });
    let conditions = [
        Some(scope),
        viewer.map(access::visible),
        access::cleared(filter.clearance),
        state,
        filter.iid.map(|iid| Sql::new("issues.iid = ").id(iid)),
        filter.milestone.as_deref().map(|title| of_milestone(title, project(filter.scope))),
        filter.labels.as_ref().map(|labels| with_labels(labels, project(filter.scope))),
    ];
    Sql::with(named.into_iter().flatten()).sql(from).filter(conditions.into_iter().flatten())
}

/// From where, under which condition, and who has to see the projects. Where something else leads to the
/// issues of a project, the plus keeps planners from going through all of them.
fn scope(scope: IssueScope, led: bool) -> (&'static str, Sql, Option<Viewer>) {
    const ISSUES: &str = "SELECT issues.id FROM issues";
    // A join in this order: issues are read in theirs, and their projects looked up.
    const OF_AUTHOR: &str = "SELECT issues.id FROM issues CROSS JOIN projects";
    const OF_GROUP: &str = "SELECT issues.id FROM projects CROSS JOIN issues";
    let joined = || Sql::new("projects.id = issues.project_id AND projects.issues_enabled AND ");
    match scope {
        IssueScope::Project(project) => {
            let column = if led { "+issues.project_id = " } else { "issues.project_id = " };
            (ISSUES, Sql::new(column).id(project.0), None)
        }
        IssueScope::Milestone(project, milestone) => {
            let condition = Sql::new("issues.milestone_id = ")
                .id(milestone.0)
                .sql(" AND +issues.project_id = ")
                .id(project.0);
            (ISSUES, condition, None)
        }
        IssueScope::AuthoredBy(author, viewer) => {
            (OF_AUTHOR, joined().sql("issues.author_id = ").id(author.0), viewer)
        }
        IssueScope::Group(group, viewer) => {
            (OF_GROUP, joined().sql("projects.namespace_id = ").id(group.0), viewer)
        }
    }
}

/// The one project in which all issues of a scope are.
fn project(scope: IssueScope) -> Option<ProjectId> {
    match scope {
        IssueScope::Project(project) | IssueScope::Milestone(project, _) => Some(project),
        IssueScope::AuthoredBy(..) | IssueScope::Group(..) => None,
    }
}

fn of_milestone(title: &str, project: Option<ProjectId>) -> Sql {
    let title = title.to_owned();
    match project {
        Some(project) => Sql::new(
            "issues.milestone_id IN (SELECT milestones.id FROM milestones WHERE milestones.project_id = ",
        )
        .id(project.0)
        .sql(" AND milestones.title = ")
        .text(title)
        .sql(")"),
        None => Sql::new(
            "EXISTS (SELECT 1 FROM milestones WHERE milestones.id = issues.milestone_id \
             AND milestones.title = ",
        )
        .text(title)
        .sql(")"),
    }
}

/// In one project its labels lead to their issues; elsewhere each issue is asked for its labels.
fn with_labels(labels: &LabelFilter, project: Option<ProjectId>) -> Sql {
    const HAVING: &str = " FROM issue_labels AS has JOIN labels ON labels.id = has.label_id WHERE ";
    let (titles, all) = match labels {
        LabelFilter::Any(titles) => (titles, None),
        LabelFilter::All(titles) => (titles, i64::try_from(titles.len()).ok()),
    };
    let mut word = "labels.title IN (";
    let titled = titles.iter().fold(Sql::new(""), |sql, title| {
        sql.sql(std::mem::replace(&mut word, ", ")).text(title.clone())
    });
    let titled = if titles.is_empty() { Sql::new("FALSE") } else { titled.sql(")") };
    match (project, all) {
        (Some(project), all) => {
            let found = Sql::new("issues.id IN (SELECT has.issue_id")
                .sql(HAVING)
                .sql("labels.project_id = ")
                .id(project.0)
                .sql(" AND ")
                .then(titled);
            match all {
                None => found.sql(")"),
                Some(count) => {
                    found.sql(" GROUP BY has.issue_id HAVING count(*) = ").id(count).sql(")")
                }
            }
        }
        (None, None) => Sql::new("EXISTS (SELECT 1")
            .sql(HAVING)
            .sql("has.issue_id = issues.id AND ")
            .then(titled)
            .sql(")"),
        (None, Some(count)) => Sql::new("(SELECT count(*)")
            .sql(HAVING)
            .sql("has.issue_id = issues.id AND ")
            .then(titled)
            .sql(") = ")
            .id(count),
    }
}

fn order(filter: &IssueFilter) -> &'static str {
    match (filter.order, filter.descending) {
        (IssueOrder::CreatedAt, false) => " ORDER BY issues.created_at, issues.id",
        (IssueOrder::CreatedAt, true) => " ORDER BY issues.created_at DESC, issues.id DESC",
        (IssueOrder::UpdatedAt, false) => " ORDER BY issues.updated_at, issues.id",
        (IssueOrder::UpdatedAt, true) => " ORDER BY issues.updated_at DESC, issues.id DESC",
    }
}
