//! Which issues a list shows, as queries.

use hexforge_domain::id::{NamespaceId, ProjectId};
use hexforge_domain::issue::Issue;
use hexforge_domain::issue::query::{IssueFilter, IssueOrder, IssueScope, LabelFilter};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::query::Viewer;

use crate::access;
use crate::sql::Sql;
use crate::title_start;
use crate::tx::DieselTx;

impl DieselTx<'_> {
    /// Three queries, the total, the ids, the rows; four where there are two ways to find many.
    pub(crate) fn list_issues(
        &mut self,
        filter: &IssueFilter,
        page: Page,
    ) -> Result<Paged<Issue>, StoreError> {
        let counted = fitting("SELECT issues.id", filter, Way::Gather);
        let total = self.total(&format!("issues {filter:?}"), &counted)?;
        let way = self.way_to_issues(filter, total, page)?;
        let ids = self.ids(in_order(filter, way).page(page))?;
        Ok(Paged { items: self.issues_by_id(&ids)?, total })
    }

    /// The way on which fewer rows are looked at. One of `all / total` fits when issues are gone through.
    fn way_to_issues(
        &mut self,
        filter: &IssueFilter,
        total: u64,
        page: Page,
    ) -> Result<Way, StoreError> {
        let all = match filter.scope {
            // In the order of an index in any case.
            IssueScope::AuthoredBy(..) => return Ok(Way::Gather),
            IssueScope::Project(_) if !led(filter) => return Ok(Way::Gather),
            _ if total <= FEW => return Ok(Way::Gather),
            IssueScope::Project(project) | IssueScope::Milestone(project, _) => {
                Sql::new("SELECT issues FROM iids WHERE project_id = ").id(project.0)
            }
            IssueScope::Group(..) => Sql::new("SELECT coalesce(max(id), 0) FROM issues"),
        };
        let all = self.ids(all)?.first().copied().unwrap_or_default().unsigned_abs();
        let shown = page.limit().map_or(total, |limit| page.offset().saturating_add(limit));
        let walked = all.saturating_mul(shown) / total;
        Ok(if walked < total { Way::Walk } else { Way::Gather })
    }
}

/// So few issues are gathered without asking how many there are among which they are.
const FEW: u64 = 100;

/// How the issues of a label, a milestone or a group are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Through the issues of the project, or of all projects, in their order until the page is full: soon,
    /// where many fit.
    Walk,
    /// By the label, milestone or group, and then sorted: soon, where few fit.
    Gather,
}

/// Whether labels or a milestone lead to the issues.
fn led(filter: &IssueFilter) -> bool {
    filter.labels.is_some() || filter.milestone.is_some()
}

/// The ids of the issues that fit, in their order. What is gathered is sorted when all of it is there: planners that
/// know of an index in this order would go through all issues of all projects for a label that few have.
fn in_order(filter: &IssueFilter, way: Way) -> Sql {
    let at_once = match filter.scope {
        IssueScope::AuthoredBy(..) => true,
        IssueScope::Project(_) => !led(filter),
        IssueScope::Milestone(..) | IssueScope::Group(..) => false,
    };
    if at_once || way == Way::Walk {
        return fitting("SELECT issues.id", filter, way).sql(order(filter));
    }
    let (select, order) = match (filter.order, filter.descending) {
        (IssueOrder::CreatedAt, false) => (CREATED, " ORDER BY moment, id"),
        (IssueOrder::CreatedAt, true) => (CREATED, " ORDER BY moment DESC, id DESC"),
        (IssueOrder::UpdatedAt, false) => (UPDATED, " ORDER BY moment, id"),
        (IssueOrder::UpdatedAt, true) => (UPDATED, " ORDER BY moment DESC, id DESC"),
    };
    Sql::new("WITH gathered (id, moment) AS MATERIALIZED (")
        .then(fitting(select, filter, way))
        .sql(") SELECT id FROM gathered")
        .sql(order)
}

const CREATED: &str = "SELECT issues.id, issues.created_at";
const UPDATED: &str = "SELECT issues.id, issues.updated_at";

/// What is selected of the issues that fit, in no order.
fn fitting(select: &'static str, filter: &IssueFilter, way: Way) -> Sql {
    let (from, scope, viewer) = scope(filter, way);
    let named = [
        viewer.map(|viewer| access::authorized_as_named(viewer, filter.today)),
        access::reported_as_named(filter.clearance, filter.today),
    ];
    let everywhere = way == Way::Walk && matches!(filter.scope, IssueScope::Group(..));
    let state = filter.open.map(|open| Sql::new(state(open, everywhere)));
    let labels = filter.labels.as_ref().map(|labels| match place(filter.scope) {
        Some(place) if way == Way::Gather => among_labelled(labels, place),
        Some(_) | None => is_labelled("issues.id", labels),
    });
    let milestone = filter.milestone.as_deref().map(|title| match place(filter.scope) {
        Some(place) if way == Way::Gather => among_milestones(title, place),
        Some(_) | None => is_for_milestone(title),
    });
    let conditions = [
        Some(scope),
        viewer.map(access::visible),
        access::cleared(filter.clearance),
        state,
        filter.iid.map(|iid| Sql::new("issues.iid = ").id(iid)),
        milestone,
        labels,
    ];
    Sql::with(named.into_iter().flatten())
        .sql(select)
        .sql(from)
        .filter(conditions.into_iter().flatten())
}

/// The words are those of the partial indexes, unless all projects are gone through: those have the issues of
/// one project in order.
fn state(open: bool, everywhere: bool) -> &'static str {
    match (open, everywhere) {
        (true, false) => "issues.state <> 'closed'",
        (true, true) => "NOT (issues.state = 'closed')",
        (false, false) => "issues.state = 'closed'",
        (false, true) => "NOT (issues.state <> 'closed')",
    }
}

/// From where, under which condition, and who has to see the projects. Where something else leads to the
/// issues, a plus keeps planners from going through all of them.
fn scope(filter: &IssueFilter, way: Way) -> (&'static str, Sql, Option<Viewer>) {
    const ISSUES: &str = " FROM issues";
    // A join in this order: issues are read in theirs, and their projects looked up.
    const ISSUES_FIRST: &str = " FROM issues CROSS JOIN projects";
    const PROJECTS_FIRST: &str = " FROM projects CROSS JOIN issues";
    let joined = || Sql::new("projects.id = issues.project_id AND projects.issues_enabled");
    let led = led(filter);
    match filter.scope {
        IssueScope::Project(project) => {
            let other = led && way == Way::Gather;
            let column = if other { "+issues.project_id = " } else { "issues.project_id = " };
            (ISSUES, Sql::new(column).id(project.0), None)
        }
        IssueScope::Milestone(project, milestone) => {
            let (column, other) = match way {
                Way::Gather => ("issues.milestone_id = ", " AND +issues.project_id = "),
                Way::Walk => ("+issues.milestone_id = ", " AND issues.project_id = "),
            };
            (ISSUES, Sql::new(column).id(milestone.0).sql(other).id(project.0), None)
        }
        IssueScope::AuthoredBy(author, viewer) => {
            (ISSUES_FIRST, joined().sql(" AND issues.author_id = ").id(author.0), viewer)
        }
        IssueScope::Group(group, viewer) => match way {
            // What leads is in projects of the group, and so are the issues.
            Way::Gather if led => (ISSUES_FIRST, joined(), viewer),
            Way::Gather => {
                let there = joined().sql(" AND projects.namespace_id = ").id(group.0);
                (PROJECTS_FIRST, there, viewer)
            }
            Way::Walk => {
                // Written so that SQLite looks for no index, and PostgreSQL still knows how many projects it is.
                let there =
                    joined().sql(" AND NOT (projects.namespace_id <> ").id(group.0).sql(")");
                (ISSUES_FIRST, there, viewer)
            }
        },
    }
}

/// Projects whose labels and milestones lead to issues.
#[derive(Clone, Copy)]
enum Place {
    Project(ProjectId),
    Group(NamespaceId),
}

fn place(scope: IssueScope) -> Option<Place> {
    match scope {
        IssueScope::Project(project) | IssueScope::Milestone(project, _) => {
            Some(Place::Project(project))
        }
        IssueScope::Group(group, _) => Some(Place::Group(group)),
        IssueScope::AuthoredBy(..) => None,
    }
}

impl Place {
    /// What comes after a column of projects.
    fn condition(self) -> Sql {
        match self {
            Self::Project(project) => Sql::new(" = ").id(project.0),
            Self::Group(group) => {
                Sql::new(" IN (SELECT homes.id FROM projects AS homes WHERE homes.namespace_id = ")
                    .id(group.0)
                    .sql(")")
            }
        }
    }
}

/// The condition that an issue is among those to which milestones of a title lead. A project has one at
/// most: as a value it leaves planners no other way.
fn among_milestones(title: &str, place: Place) -> Sql {
    let led = match place {
        Place::Project(_) => "issues.milestone_id = (",
        Place::Group(_) => "issues.milestone_id IN (",
    };
    Sql::new(led)
        .sql("SELECT milestones.id FROM milestones WHERE milestones.project_id")
        .then(place.condition())
        .sql(" AND milestones.title = ")
        .text(title.to_owned())
        .sql(")")
}

/// The same, asked of one issue.
fn is_for_milestone(title: &str) -> Sql {
    Sql::new(
        "(SELECT milestones.title FROM milestones WHERE milestones.id = issues.milestone_id) = ",
    )
    .text(title.to_owned())
}

/// The condition that an issue is among those to which labels lead. Where it needs several, the one that the
/// fewest issues of its project have leads, and only those are asked for the others.
fn among_labelled(labels: &LabelFilter, place: Place) -> Sql {
    let led = Sql::new(
        "SELECT has.issue_id FROM labels JOIN issue_labels AS has \
         ON has.label_id = labels.id WHERE labels.project_id",
    )
    .then(place.condition())
    .sql(" AND ")
    .then(starting("labels.title_start IN (", titles_of(labels)))
    .sql(" AND ")
    .then(titled("labels.title IN (", titles_of(labels)));
    let found = Sql::new("issues.id IN (");
    match labels {
        LabelFilter::All(titles) if titles.len() > 1 => found
            .sql("WITH led (id) AS MATERIALIZED (")
            .then(led)
            .sql(
                " AND labels.id = (SELECT rarest.id FROM labels AS rarest \
                 WHERE rarest.project_id = labels.project_id AND ",
            )
            .then(starting("rarest.title_start IN (", titles))
            .sql(" AND ")
            .then(titled("rarest.title IN (", titles))
            .sql(
                " ORDER BY rarest.open_issues + rarest.closed_issues + rarest.open_confidential \
                 + rarest.closed_confidential, rarest.id LIMIT 1)) SELECT led.id FROM led WHERE ",
            )
            .then(is_labelled("led.id", labels))
            .sql(")"),
        LabelFilter::All(_) | LabelFilter::Any(_) => found.then(led).sql(")"),
    }
}

/// The same, asked of one issue. Written as a value because planners would gather all labelled issues.
fn is_labelled(issue: &'static str, labels: &LabelFilter) -> Sql {
    let select = match labels {
        LabelFilter::Any(_) => "(SELECT 1",
        LabelFilter::All(_) => "(SELECT count(*)",
    };
    let having = Sql::new(select)
        .sql(
            " FROM issue_labels AS has JOIN labels ON labels.id = has.label_id \
             WHERE has.issue_id = ",
        )
        .sql(issue)
        .sql(" AND ")
        .then(titled("labels.title IN (", titles_of(labels)));
    match labels {
        LabelFilter::Any(_) => having.sql(" LIMIT 1) IS NOT NULL"),
        LabelFilter::All(titles) => {
            having.sql(") = ").id(i64::try_from(titles.len()).unwrap_or(i64::MAX))
        }
    }
}

/// The titles that are named.
fn titles_of(labels: &LabelFilter) -> &[String] {
    match labels {
        LabelFilter::Any(titles) | LabelFilter::All(titles) => titles,
    }
}

/// The condition that a title, of which the first words speak, is one of these.
fn titled(words: &'static str, titles: &[String]) -> Sql {
    one_of(words, titles.iter().map(String::as_str))
}

/// The same of where titles begin, by which an index leads to them.
fn starting(words: &'static str, titles: &[String]) -> Sql {
    one_of(words, titles.iter().map(|title| title_start::of(title)))
}

fn one_of<'a>(words: &'static str, texts: impl ExactSizeIterator<Item = &'a str>) -> Sql {
    if texts.len() == 0 {
        return Sql::new("FALSE");
    }
    let mut word = words;
    let named = texts.fold(Sql::new(""), |sql, text| {
        sql.sql(std::mem::replace(&mut word, ", ")).text(text.to_owned())
    });
    named.sql(")")
}

fn order(filter: &IssueFilter) -> &'static str {
    match (filter.order, filter.descending) {
        (IssueOrder::CreatedAt, false) => " ORDER BY issues.created_at, issues.id",
        (IssueOrder::CreatedAt, true) => " ORDER BY issues.created_at DESC, issues.id DESC",
        (IssueOrder::UpdatedAt, false) => " ORDER BY issues.updated_at, issues.id",
        (IssueOrder::UpdatedAt, true) => " ORDER BY issues.updated_at DESC, issues.id DESC",
    }
}
