//! Queries for lists of merge requests.

use chrono::NaiveDate;
use hexforge_domain::id::{MergeRequestId, NamespaceId, ProjectId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::merge_request::port::BranchEnd;
use hexforge_domain::merge_request::query::{
    MergeRequestFilter, MergeRequestOrder, RequestConditions, RequestScope, StateFilter,
};
use hexforge_domain::merge_request::{Ends, RequestBranch};
use hexforge_domain::project::query::ListAudience;

use crate::query::access;
use crate::query::search::Search;
use crate::query::sql::Sql;
use crate::query::title_start;
use crate::removal::project_exists;

/// The condition that a merge request is open. It equals the condition of the partial indexes word for word, so that
/// they are used.
pub(super) const OPEN: &str = "state IN ('opened', 'reopened')";

/// Selects the ids of the open merge requests that match another condition.
pub(super) fn open(which: Sql) -> Sql {
    Sql::new("SELECT id FROM merge_requests WHERE ").sql(OPEN).sql(" AND ").then(which)
}

/// Selects the ids of the merge requests that match a filter, unordered.
pub(super) fn matching(filter: &MergeRequestFilter) -> Sql {
    let state = match filter.states {
        StateFilter::All => None,
        StateFilter::Open => Some(OPEN),
        StateFilter::Closed => Some("state = 'closed'"),
        StateFilter::Merged => Some("state = 'merged'"),
    };
    let (ctes, scope) = scope(filter.scope);
    let conditions = [
        Some(scope),
        state.map(Sql::new),
        filter.iids.clone().map(|iids| Sql::new("iid IN (").ids(iids).sql(")")),
    ];
    let conditions = conditions.into_iter().flatten().chain(more(&filter.conditions));
    Sql::with(ctes).sql("SELECT id FROM merge_requests").filter(conditions)
}

/// Selects the total of a list of a project whose filter has nothing but a state, from the counters of the project.
/// `None` for all other lists.
pub(super) fn total_by_counters(filter: &MergeRequestFilter) -> Option<Sql> {
    let RequestScope::Project(project) = filter.scope else { return None };
    if filter.iids.is_some() || filter.conditions != RequestConditions::default() {
        return None;
    }
    let counters = match filter.states {
        StateFilter::All => "open_requests + closed_requests + merged_requests",
        StateFilter::Open => "open_requests",
        StateFilter::Closed => "closed_requests",
        StateFilter::Merged => "merged_requests",
    };
    Some(
        Sql::new("SELECT CAST(")
            .sql(counters)
            .sql(" AS BIGINT) FROM iids WHERE project_id = ")
            .id(project.0),
    )
}

/// Returns the common table expressions and the condition of a scope.
fn scope(scope: RequestScope) -> (Vec<(&'static str, Sql)>, Sql) {
    let (column, user, audience, today) = match scope {
        RequestScope::Project(project) => {
            return (vec![], Sql::new("project_id = ").id(project.0));
        }
        RequestScope::AssignedTo(user, audience, today) => {
            ("assignee_id = ", user, audience, today)
        }
        RequestScope::AuthoredBy(user, audience, today) => ("author_id = ", user, audience, today),
        RequestScope::Group(group, audience, today) => return in_group(group, audience, today),
    };
    let viewer = audience.restricted_to();
    let projects = Sql::new("SELECT projects.id FROM projects").filter(
        [Sql::new("projects.merge_requests_enabled")]
            .into_iter()
            .chain(viewer.map(access::visible)),
    );
    let condition = Sql::new(column).id(user.0).sql(" AND project_id IN (").then(projects).sql(")");
    (viewer.map(|viewer| access::authorized_cte(viewer, today)).into_iter().collect(), condition)
}

/// Like [`scope`], for the requests into the projects of a group.
fn in_group(
    group: NamespaceId,
    audience: ListAudience,
    today: NaiveDate,
) -> (Vec<(&'static str, Sql)>, Sql) {
    let projects = |seen: Option<Sql>| {
        let inside = Sql::new("projects.namespace_id = ").id(group.0);
        let enabled = Sql::new("projects.merge_requests_enabled");
        let selected = [inside, enabled].into_iter().chain(seen);
        Sql::new("project_id IN (SELECT projects.id FROM projects").filter(selected).sql(")")
    };
    let Some(viewer) = audience.restricted_to() else { return (vec![], projects(None)) };
    let condition = projects(Some(access::visible(viewer)))
        .sql(" AND (+author_id = ")
        .id(viewer.user.0)
        .sql(" OR +assignee_id = ")
        .id(viewer.user.0)
        .sql(" OR +")
        .then(projects(Some(access::code_visible(viewer))))
        .sql(")");
    let reported = access::reported_cte(Clearance::ByRole(viewer.user), today);
    let ctes = [access::authorized_cte(viewer, today)].into_iter().chain(reported);
    (ctes.collect(), condition)
}

/// The conditions on people, labels and texts. A unary plus keeps the order of the list: the page is read by the index
/// of the scope.
fn more(conditions: &RequestConditions) -> Vec<Sql> {
    let search = Search::new(conditions.search.as_deref().map(str::trim));
    let [title, description] =
        ["lower(title)", "lower(coalesce(description, ''))"].map(|column| search.within(column));
    let search = title.zip(description).map(|(title, description)| {
        Sql::new("(").then(title).sql(" OR ").then(description).sql(")")
    });
    let milestone = conditions.milestone.clone().map(|title| {
        Sql::new(
            "(SELECT milestones.title FROM milestones \
             WHERE milestones.id = merge_requests.milestone_id) = ",
        )
        .text(title)
    });
    let labels = conditions.labels.iter().map(|title| {
        Sql::new(
            "(SELECT 1 FROM merge_request_labels AS has JOIN labels ON labels.id = has.label_id \
             WHERE has.merge_request_id = merge_requests.id AND labels.title = ",
        )
        .text(title.clone())
        .sql(" LIMIT 1) IS NOT NULL")
    });
    let others = [
        conditions.author.map(|user| Sql::new("+author_id = ").id(user.0)),
        conditions.assignee.map(|user| Sql::new("+assignee_id = ").id(user.0)),
        milestone,
        search,
    ];
    others.into_iter().flatten().chain(labels).collect()
}

/// Like [`matching`], in the order of the filter.
pub(super) fn ordered(filter: &MergeRequestFilter) -> Sql {
    matching(filter).sql(match (filter.order, filter.descending) {
        (MergeRequestOrder::CreatedAt, false) => " ORDER BY created_at, id",
        (MergeRequestOrder::CreatedAt, true) => " ORDER BY created_at DESC, id DESC",
        (MergeRequestOrder::UpdatedAt, false) => " ORDER BY updated_at, id",
        (MergeRequestOrder::UpdatedAt, true) => " ORDER BY updated_at DESC, id DESC",
    })
}

/// The condition that a column has this branch. `column` and `start` are the beginning of a comparison with the column
/// and with its indexed beginning.
fn has_branch(column: &'static str, start: &'static str, branch: &RequestBranch) -> Sql {
    let name = branch.as_str();
    Sql::new(start).text(title_start::prefix(name).to_owned()).sql(column).text(name.to_owned())
}

fn has_source_branch(branch: &RequestBranch) -> Sql {
    has_branch(" AND source_branch = ", "substr(source_branch, 1, 250) = ", branch)
}

fn has_target_branch(branch: &RequestBranch) -> Sql {
    has_branch(" AND target_branch = ", "substr(target_branch, 1, 250) = ", branch)
}

/// Selects the ids of the open merge requests with a branch at one end.
pub(super) fn open_at(end: BranchEnd<'_>) -> Sql {
    open(match end {
        BranchEnd::Source(project, branch) => is_from(project, has_source_branch(branch)),
        BranchEnd::Target(project, branch) => Sql::new("project_id = ")
            .id(project.0)
            .sql(" AND ")
            .then(has_target_branch(branch))
            .sql(" AND (source_project_id = project_id OR ")
            .then(project_exists("merge_requests.source_project_id"))
            .sql(")"),
    })
}

/// The condition that a merge request comes from a project and matches another condition. Its target project must
/// exist: the rows of a removed one may not be deleted yet.
pub(super) fn is_from(source: ProjectId, which: Sql) -> Sql {
    Sql::new("source_project_id = ")
        .id(source.0)
        .sql(" AND ")
        .then(which)
        .sql(" AND ")
        .then(project_exists("merge_requests.project_id"))
}

/// Selects the ids of the open merge requests with the same branches.
pub(super) fn twins(ends: &Ends, except: Option<MergeRequestId>) -> Sql {
    let same = Sql::new("project_id = ")
        .id(ends.target_project.0)
        .sql(" AND source_project_id = ")
        .id(ends.source_project.0)
        .sql(" AND ")
        .then(has_target_branch(&ends.target_branch))
        .sql(" AND ")
        .then(has_source_branch(&ends.source_branch));
    open(match except {
        Some(id) => same.sql(" AND id <> ").id(id.0),
        None => same,
    })
}

/// Restricts a query to ids above `after`, in the order of ids.
pub(super) fn after(query: Sql, after: Option<MergeRequestId>, limit: u32) -> Sql {
    query
        .sql(" AND id > ")
        .id(after.map_or(0, |id| id.0))
        .sql(" ORDER BY id LIMIT ")
        .id(i64::from(limit))
}

/// Selects labels, each with the number of open merge requests of which a user is author or assignee. It reads the
/// user's open merge requests in the projects of the labels first, and then their labels.
pub(super) fn open_counts_concerning(user: UserId, labels: &[i64]) -> Sql {
    let of = |column: &'static str| {
        open(
            Sql::new("project_id IN (SELECT project_id FROM labels WHERE id IN (")
                .few_ids(labels)
                .sql(")) AND ")
                .sql(column)
                .id(user.0),
        )
    };
    Sql::new("SELECT has.label_id, count(*) FROM (")
        .then(of("author_id = "))
        .sql(" UNION ")
        .then(of("assignee_id = "))
        .sql(
            ") AS own CROSS JOIN merge_request_labels AS has \
             WHERE has.merge_request_id = own.id AND +has.label_id IN (",
        )
        .few_ids(labels)
        .sql(") GROUP BY has.label_id")
}
