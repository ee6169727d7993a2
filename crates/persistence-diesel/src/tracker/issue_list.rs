//! Queries for issue lists.

use diesel::RunQueryDsl;
use diesel::sql_types::{BigInt, Text};
use hexforge_domain::id::{MilestoneId, UserId};
use hexforge_domain::issue::Issue;
use hexforge_domain::issue::query::{IssueFilter, IssueOrder, IssueScope, LabelFilter};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::query::Viewer;

use crate::database::tx::DieselTx;
use crate::query::access;
use crate::query::page;
use crate::query::search::Search;
use crate::query::sql::Sql;
use crate::tracker::issue_conditions::{ProjectSet, title_in, title_start_in, titles_of};
use crate::tracker::issue_total::{self, CounterOwner};

impl DieselTx<'_> {
    /// Two queries for a project without label and milestone, and one for the total unless the page shows the end of
    /// the list. Three queries for other lists: total, ids, rows. They take one more to choose between two strategies,
    /// and two more if several labels and a milestone select issues together.
    pub(crate) fn list_issues(
        &mut self,
        filter: &IssueFilter,
        page: Page,
    ) -> Result<Paged<Issue>, StoreError> {
        if matches!(filter.scope, IssueScope::Project(_)) && !has_label_or_milestone(filter) {
            // There is nothing to choose, so the total is needed only if the page does not show the end of the list.
            let ids = self.ids(ordered_issues(filter, None, Strategy::Gather).page(page))?;
            let total = match page::length_at_end(page, ids.len()) {
                Some(length) => length,
                None => self.total_of_issues(filter, None)?,
            };
            return Ok(Paged { items: self.issues_by_id(&ids)?, total });
        }
        let selectors = self.load_selectors(filter)?;
        let total = self.total_of_issues(filter, selectors.as_ref())?;
        if total == 0 && has_label_or_milestone(filter) {
            return Ok(Paged { items: vec![], total });
        }
        let strategy = self.choose_strategy(filter, selectors.as_ref(), total, page)?;
        let ids = self.ids(ordered_issues(filter, selectors.as_ref(), strategy).page(page))?;
        Ok(Paged { items: self.issues_by_id(&ids)?, total })
    }

    /// One query for the total. One or two more if several labels and a milestone select issues together.
    pub(crate) fn count_issues(&mut self, filter: &IssueFilter) -> Result<u64, StoreError> {
        let selectors = self.load_selectors(filter)?;
        self.total_of_issues(filter, selectors.as_ref())
    }

    fn total_of_issues(
        &mut self,
        filter: &IssueFilter,
        selectors: Option<&Selectors>,
    ) -> Result<u64, StoreError> {
        if let Some(counters) = issue_total::by_counters(filter) {
            let sum = self.ids(counters)?;
            return Ok(sum.first().copied().unwrap_or_default().unsigned_abs());
        }
        let name = format!("issues {filter:?}");
        let counted = || matching_issues("SELECT issues.id", filter, selectors, Strategy::Gather);
        match selectors {
            Some(selectors) if selectors.finds_nothing() => Ok(0),
            Some(selectors) if selectors.candidates > MAX_UNCACHED_READS => {
                self.expensive_total(&name, &counted())
            }
            Some(_) | None => self.total(&name, &counted()),
        }
    }

    /// Chooses the strategy that reads fewer rows. A walk reads `all / total` issues for each issue that matches.
    fn choose_strategy(
        &mut self,
        filter: &IssueFilter,
        selectors: Option<&Selectors>,
        total: u64,
        page: Page,
    ) -> Result<Strategy, StoreError> {
        let gathered = selectors.map_or(total, |selectors| selectors.candidates.max(total));
        let all = match filter.scope {
            // An author's few labelled issues are collected. Other lists of an author are in the order of an index.
            IssueScope::AuthoredBy(..) if selectors.is_some() && total > MAX_UNCACHED_READS => {
                return Ok(Strategy::Walk);
            }
            IssueScope::AuthoredBy(..) | IssueScope::AssignedTo(..) => {
                return Ok(Strategy::Gather);
            }
            IssueScope::Project(_) if !has_label_or_milestone(filter) => {
                return Ok(Strategy::Gather);
            }
            _ if gathered <= FEW || total == 0 => return Ok(Strategy::Gather),
            IssueScope::Project(project) | IssueScope::Milestone(project, _) => {
                Sql::new("SELECT issues FROM iids WHERE project_id = ").id(project.0)
            }
            IssueScope::Group(..) => Sql::new("SELECT coalesce(max(id), 0) FROM issues"),
        };
        let all = self.ids(all)?.first().copied().unwrap_or_default().unsigned_abs();
        let shown = page.limit().map_or(total, |limit| page.offset().saturating_add(limit));
        let walked = all.saturating_mul(shown) / total;
        Ok(if walked < gathered { Strategy::Walk } else { Strategy::Gather })
    }

    /// Returns the ids of all labels and milestones that select issues together, and of a milestone of a group. `None`
    /// if only one title of a project or a label of a group selects issues, or only a milestone for an author.
    fn load_selectors(&mut self, filter: &IssueFilter) -> Result<Option<Selectors>, StoreError> {
        // For a group, PostgreSQL would estimate a small milestone by the size of all milestones.
        let is_of_group = matches!(filter.scope, IssueScope::Group(..));
        let needs_ids = is_of_group && filter.milestone.is_some();
        let is_counted = issue_total::by_counters(filter).is_some();
        if !has_label_or_milestone(filter) || is_counted && !needs_ids {
            return Ok(None);
        }
        let titles = filter.labels.as_ref().map(titles_of);
        let (labels, milestones, author) = match (project_set_of(filter.scope), filter.scope) {
            (Some(project_set), scope) => {
                let labels = titles
                    .map(|titles| self.find_counted(CounterOwner::Label, titles, project_set));
                let titles = filter.milestone.as_slice();
                let of_title = (!titles.is_empty())
                    .then(|| self.find_counted(CounterOwner::Milestone, titles, project_set))
                    .transpose()?;
                let milestones = match scope {
                    IssueScope::Milestone(_, milestone) => {
                        let rows = self.find_counted_milestone(milestone)?;
                        let has_title = |id: i64| {
                            of_title.as_ref().is_none_or(|all| all.iter().any(|row| row.0 == id))
                        };
                        Some(rows.into_iter().filter(|row| has_title(row.0)).collect())
                    }
                    _ => of_title,
                };
                (labels.transpose()?, milestones, None)
            }
            (None, IssueScope::AuthoredBy(author, _)) => {
                let Some(titles) = titles else { return Ok(None) };
                (Some(self.labels_used_by(author, titles)?), None, Some(author))
            }
            (None, _) => return Ok(None),
        };
        Ok(Some(Selectors::new(filter, labels.unwrap_or_default(), milestones, author)))
    }

    fn find_counted(
        &mut self,
        owner: CounterOwner,
        titles: &[String],
        project_set: ProjectSet,
    ) -> Result<Vec<CountedRow>, StoreError> {
        self.load_counted(issue_total::select_counted(owner, titles, project_set))
    }

    fn find_counted_milestone(
        &mut self,
        milestone: MilestoneId,
    ) -> Result<Vec<CountedRow>, StoreError> {
        self.load_counted(issue_total::select_counted_milestone(milestone))
    }

    /// Returns the labels with these titles on an author's issues. It does one index step for each label they have.
    fn labels_used_by(
        &mut self,
        author: UserId,
        titles: &[String],
    ) -> Result<Vec<CountedRow>, StoreError> {
        let first = "WITH RECURSIVE used (id) AS (SELECT \
             (SELECT min(label_id) FROM issue_labels WHERE author_id = ";
        let next = ") UNION ALL SELECT (SELECT min(label_id) FROM issue_labels WHERE author_id = ";
        let labels = " AND label_id > used.id) FROM used WHERE used.id IS NOT NULL) \
             SELECT labels.id, labels.title, CAST(0 AS BIGINT) FROM used \
             CROSS JOIN labels WHERE labels.id = used.id AND ";
        self.load_counted(
            Sql::new(first)
                .id(author.0)
                .sql(next)
                .id(author.0)
                .sql(labels)
                .then(title_in("labels.title IN (", titles)),
        )
    }

    fn load_counted(&mut self, query: Sql) -> Result<Vec<CountedRow>, StoreError> {
        self.run(|conn| query.rows::<(BigInt, Text, BigInt)>().load(conn))
    }
}

/// Up to this number, matching issues are collected without estimating the cost of a walk.
const FEW: u64 = 100;

/// Totals that read more issues than this are cached. Up to this number, issues of an author are collected.
const MAX_UNCACHED_READS: u64 = 1_000;

/// The id and title of a label or milestone, and the number of its issues.
type CountedRow = (i64, String, i64);

/// Labels and milestones that select issues together. Queries contain their ids instead of their titles, so that
/// planners know the number of issues of each.
struct Selectors {
    /// An issue must have one label of each set.
    labels: Vec<Vec<i64>>,
    /// An issue must have one of these milestones.
    milestones: Option<Vec<i64>>,
    /// The set whose issues are read first.
    lead: Lead,
    /// The maximum number of issues of the leading set. It is 0 for an author, whose issues are not counted.
    candidates: u64,
    author: Option<UserId>,
}

#[derive(Clone, Copy)]
enum Lead {
    /// The set of labels at this index.
    Labels(usize),
    Milestones,
}

impl Selectors {
    fn new(
        filter: &IssueFilter,
        labels: Vec<CountedRow>,
        milestones: Option<Vec<CountedRow>>,
        author: Option<UserId>,
    ) -> Self {
        let sum = |rows: &[&CountedRow]| rows.iter().map(|row| row.2.unsigned_abs()).sum::<u64>();
        let sets: Vec<Vec<&CountedRow>> = match &filter.labels {
            None => vec![],
            Some(LabelFilter::Any(_)) => vec![labels.iter().collect()],
            Some(LabelFilter::All(titles)) => {
                let with_title =
                    |title: &String| labels.iter().filter(|row| &row.1 == title).collect();
                titles.iter().map(with_title).collect()
            }
        };
        let by_labels = sets.iter().enumerate().map(|(at, set)| (sum(set), Lead::Labels(at)));
        let by_milestones =
            milestones.iter().map(|rows| (sum(&rows.iter().collect::<Vec<_>>()), Lead::Milestones));
        let rarest = by_labels.chain(by_milestones).min_by_key(|(issues, _)| *issues);
        let (candidates, lead) = rarest.unwrap_or((0, Lead::Milestones));
        let ids = |rows: &[&CountedRow]| rows.iter().map(|row| row.0).collect();
        Self {
            labels: sets.iter().map(|set| ids(set)).collect(),
            milestones: milestones.map(|rows| rows.into_iter().map(|row| row.0).collect()),
            lead,
            candidates,
            author,
        }
    }

    /// Returns true if a set is empty because nothing has its titles.
    fn finds_nothing(&self) -> bool {
        self.labels.iter().chain(&self.milestones).any(Vec::is_empty)
    }

    /// The conditions on an issue.
    fn conditions(&self, strategy: Strategy) -> Vec<Sql> {
        let for_milestone = |column: &'static str| {
            let ids = self.milestones.clone();
            ids.map(|ids| Sql::new(column).sql(" IN (").few_ids(&ids).sql(")"))
        };
        let (label_condition, leading_set, milestone) = match (strategy, self.lead) {
            (Strategy::Walk, _) => (None, None, for_milestone("+issues.milestone_id")),
            (Strategy::Gather, Lead::Milestones) => {
                (None, None, for_milestone("issues.milestone_id"))
            }
            (Strategy::Gather, Lead::Labels(at)) => {
                (self.has_label_of_set(at), Some(at), for_milestone("+issues.milestone_id"))
            }
        };
        let labels = self.other_label_conditions(leading_set, "issues.id");
        // If a label set leads, the other labels are checked before the issues are read.
        let labels = if label_condition.is_some() { vec![] } else { labels };
        label_condition.into_iter().chain(milestone).chain(labels).collect()
    }

    /// The condition that an issue has a label of this set. The labels of all other sets are checked on its result.
    fn has_label_of_set(&self, at: usize) -> Option<Sql> {
        let led = Sql::new("issues.id IN (WITH led (id) AS MATERIALIZED (");
        let having = Sql::new("SELECT has.issue_id FROM issue_labels AS has");
        let author = self.author.map(|author| Sql::new("has.author_id = ").id(author.0));
        let label = Sql::new("has.label_id IN (").few_ids(self.labels.get(at)?).sql(")");
        Some(
            led.then(having.filter(author.into_iter().chain([label])))
                .sql(") SELECT led.id FROM led")
                .then(Sql::new("").filter(self.other_label_conditions(Some(at), "led.id")))
                .sql(")"),
        )
    }

    /// The conditions that an issue has a label of each set except one. They are scalar subqueries because planners
    /// would otherwise collect all labelled issues.
    fn other_label_conditions(&self, leading_set: Option<usize>, issue: &'static str) -> Vec<Sql> {
        let has_label = |ids: &Vec<i64>| {
            // Several ids are compared with the few labels of the issue, instead of one index look-up per id.
            let column = if ids.len() == 1 { "has.label_id" } else { "+has.label_id" };
            Sql::new("(SELECT 1 FROM issue_labels AS has WHERE has.issue_id = ")
                .sql(issue)
                .sql(" AND ")
                .sql(column)
                .sql(" IN (")
                .few_ids(ids)
                .sql(") LIMIT 1) IS NOT NULL")
        };
        let others = self.labels.iter().enumerate().filter(|(at, _)| Some(*at) != leading_set);
        others.map(|(_, ids)| has_label(ids)).collect()
    }
}

/// The query strategy for the issues of a label, a milestone or a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    /// Reads the issues of the project, or of all projects, in list order until the page is full. Fast if many
    /// issues match.
    Walk,
    /// Reads all issues of the label, milestone or group, then sorts them. Fast if few issues match.
    Gather,
}

/// Returns true if labels or a milestone select the issues.
fn has_label_or_milestone(filter: &IssueFilter) -> bool {
    filter.labels.is_some() || filter.milestone.is_some()
}

/// Selects the ids of the matching issues, in list order. Collected issues are sorted in a separate step. Otherwise
/// planners would use an index in list order and read all issues of all projects for a rare label.
fn ordered_issues(filter: &IssueFilter, selectors: Option<&Selectors>, strategy: Strategy) -> Sql {
    let is_in_index_order = match filter.scope {
        IssueScope::AuthoredBy(..) => selectors.is_none(),
        IssueScope::Project(_) => !has_label_or_milestone(filter),
        IssueScope::Milestone(..) | IssueScope::AssignedTo(..) | IssueScope::Group(..) => false,
    };
    if is_in_index_order || strategy == Strategy::Walk {
        return matching_issues("SELECT issues.id", filter, selectors, strategy).sql(order(filter));
    }
    let (select, order) = match (filter.order, filter.descending) {
        (IssueOrder::CreatedAt, false) => (CREATED, " ORDER BY moment, id"),
        (IssueOrder::CreatedAt, true) => (CREATED, " ORDER BY moment DESC, id DESC"),
        (IssueOrder::UpdatedAt, false) => (UPDATED, " ORDER BY moment, id"),
        (IssueOrder::UpdatedAt, true) => (UPDATED, " ORDER BY moment DESC, id DESC"),
    };
    Sql::new("WITH gathered (id, moment) AS MATERIALIZED (")
        .then(matching_issues(select, filter, selectors, strategy))
        .sql(") SELECT id FROM gathered")
        .sql(order)
}

const CREATED: &str = "SELECT issues.id, issues.created_at";
const UPDATED: &str = "SELECT issues.id, issues.updated_at";

/// Selects columns of the matching issues, unordered.
fn matching_issues(
    select: &'static str,
    filter: &IssueFilter,
    selectors: Option<&Selectors>,
    strategy: Strategy,
) -> Sql {
    let (from, scope, viewer) = scope(filter, selectors, strategy);
    let ctes = [
        viewer.map(|viewer| access::authorized_cte(viewer, filter.today)),
        access::reported_cte(filter.clearance, filter.today),
    ];
    let everywhere = match filter.scope {
        IssueScope::Group(..) => strategy == Strategy::Walk,
        IssueScope::AuthoredBy(..) | IssueScope::AssignedTo(..) => true,
        IssueScope::Project(_) | IssueScope::Milestone(..) => false,
    };
    let state = filter.open.map(|open| Sql::new(state(open, everywhere)));
    let selected = match selectors {
        Some(selectors) => {
            // For an author's issues the milestone has no id: any milestone of that title matches, in any project.
            let title = selectors.author.and(filter.milestone.as_deref());
            selectors.conditions(strategy).into_iter().chain(title.map(is_for_milestone)).collect()
        }
        None => single_selector_conditions(filter, strategy),
    };
    let conditions = [
        Some(scope),
        access::may_see_issue(filter.clearance),
        state,
        filter.iid.map(|iid| Sql::new("issues.iid = ").id(iid)),
    ];
    Sql::with(ctes.into_iter().flatten())
        .sql(select)
        .sql(from)
        .filter(conditions.into_iter().flatten().chain(selected).chain(other_conditions(filter)))
}

/// The conditions on people, texts and missing labels. A unary plus keeps the order of the list: the page is read by
/// the index of the scope.
fn other_conditions(filter: &IssueFilter) -> Vec<Sql> {
    let search = Search::new(filter.search.as_deref().map(str::trim));
    let [title, description] = ["lower(issues.title)", "lower(coalesce(issues.description, ''))"]
        .map(|column| search.within(column));
    let search = title.zip(description).map(|(title, description)| {
        Sql::new("(").then(title).sql(" OR ").then(description).sql(")")
    });
    let without = (!filter.without_labels.is_empty()).then(|| {
        Sql::new(HAS_LABEL)
            .then(title_in("labels.title IN (", &filter.without_labels))
            .sql(" LIMIT 1) IS NULL")
    });
    let conditions = [
        filter.author.map(|user| Sql::new("+issues.author_id = ").id(user.0)),
        filter.assignee.map(|user| Sql::new("+issues.assignee_id = ").id(user.0)),
        search,
        without,
    ];
    conditions.into_iter().flatten().collect()
}

/// The conditions that an issue has the label, or the milestone, of a title.
fn single_selector_conditions(filter: &IssueFilter, strategy: Strategy) -> Vec<Sql> {
    let labels = filter.labels.as_ref().map(|labels| match project_set_of(filter.scope) {
        Some(project_set) if strategy == Strategy::Gather => among_labelled(labels, project_set),
        Some(_) | None => is_labelled(labels),
    });
    let milestone = filter.milestone.as_deref().map(|title| match project_set_of(filter.scope) {
        Some(project_set) if strategy == Strategy::Gather => among_milestones(title, project_set),
        Some(_) | None => is_for_milestone(title),
    });
    milestone.into_iter().chain(labels).collect()
}

/// The condition on the state. Within a project it has the words of the partial indexes. For issues of all projects
/// it avoids them, because those indexes are in the order of one project.
fn state(open: bool, everywhere: bool) -> &'static str {
    match (open, everywhere) {
        (true, false) => "issues.state <> 'closed'",
        (true, true) => "NOT (issues.state = 'closed')",
        (false, false) => "issues.state = 'closed'",
        (false, true) => "NOT (issues.state <> 'closed')",
    }
}

/// Returns the tables, the scope condition, and the viewer who must see the projects. If another condition selects
/// the issues, a unary plus keeps planners from reading all issues of the project.
fn scope(
    filter: &IssueFilter,
    selectors: Option<&Selectors>,
    strategy: Strategy,
) -> (&'static str, Sql, Option<Viewer>) {
    const ISSUES: &str = " FROM issues";
    // `CROSS JOIN` fixes the join order: issues are read in list order, and their projects are looked up.
    const ISSUES_FIRST: &str = " FROM issues CROSS JOIN projects";
    const PROJECTS_FIRST: &str = " FROM projects CROSS JOIN issues";
    let joined = || Sql::new("projects.id = issues.project_id AND projects.issues_enabled");
    let is_selective = has_label_or_milestone(filter);
    match filter.scope {
        IssueScope::Project(project) => {
            let other = is_selective && strategy == Strategy::Gather;
            let column = if other { "+issues.project_id = " } else { "issues.project_id = " };
            (ISSUES, Sql::new(column).id(project.0), None)
        }
        IssueScope::Milestone(project, _) if selectors.is_some() => {
            let column = match strategy {
                Strategy::Gather => "+issues.project_id = ",
                Strategy::Walk => "issues.project_id = ",
            };
            (ISSUES, Sql::new(column).id(project.0), None)
        }
        IssueScope::Milestone(project, milestone) => {
            let (column, other) = match strategy {
                Strategy::Gather => ("issues.milestone_id = ", " AND +issues.project_id = "),
                Strategy::Walk => ("+issues.milestone_id = ", " AND issues.project_id = "),
            };
            (ISSUES, Sql::new(column).id(milestone.0).sql(other).id(project.0), None)
        }
        IssueScope::AuthoredBy(author, viewer) => {
            let column = match strategy {
                Strategy::Gather if selectors.is_some() => "+issues.author_id = ",
                Strategy::Gather | Strategy::Walk => "issues.author_id = ",
            };
            // A scalar subquery: PostgreSQL chooses the order of a cross join itself, and would read projects first.
            let viewer = viewer.restricted_to();
            let project = Sql::new("SELECT 1 FROM projects").filter([seen(joined(), viewer)]);
            let project = access::returns_row(project);
            (ISSUES, Sql::new(column).id(author.0).sql(" AND ").then(project), viewer)
        }
        IssueScope::AssignedTo(assignee, viewer) => {
            let viewer = viewer.restricted_to();
            let project = Sql::new("SELECT 1 FROM projects").filter([seen(joined(), viewer)]);
            let project = access::returns_row(project);
            let assigned = Sql::new("issues.assignee_id = ").id(assignee.0);
            (ISSUES, assigned.sql(" AND ").then(project), viewer)
        }
        IssueScope::Group(group, viewer) => {
            let viewer = viewer.restricted_to();
            let (from, there) = match strategy {
                // The labels or milestone belong to projects of the group, and so do the issues.
                Strategy::Gather if is_selective => (ISSUES_FIRST, joined()),
                Strategy::Gather => {
                    let there = joined().sql(" AND projects.namespace_id = ").id(group.0);
                    (PROJECTS_FIRST, there)
                }
                Strategy::Walk => {
                    // This form keeps SQLite from using an index, and PostgreSQL can still estimate the number of
                    // projects.
                    let other = joined().sql(" AND NOT (projects.namespace_id <> ");
                    (ISSUES_FIRST, other.id(group.0).sql(")"))
                }
            };
            (from, seen(there, viewer), viewer)
        }
    }
}

/// A condition on projects, and that the viewer sees them.
fn seen(condition: Sql, viewer: Option<Viewer>) -> Sql {
    match viewer {
        Some(viewer) => condition.sql(" AND ").then(access::visible(viewer)),
        None => condition,
    }
}

fn project_set_of(scope: IssueScope) -> Option<ProjectSet> {
    match scope {
        IssueScope::Project(project) | IssueScope::Milestone(project, _) => {
            Some(ProjectSet::Project(project))
        }
        IssueScope::Group(group, _) => Some(ProjectSet::Group(group)),
        IssueScope::AuthoredBy(..) | IssueScope::AssignedTo(..) => None,
    }
}

/// The condition that an issue has a milestone of this title. A project has at most one, and as a scalar subquery
/// it forces planners to use the index on milestones.
fn among_milestones(title: &str, project_set: ProjectSet) -> Sql {
    let led = match project_set {
        ProjectSet::Project(_) => "issues.milestone_id = (",
        ProjectSet::Group(_) => "issues.milestone_id IN (",
    };
    Sql::new(led)
        .sql("SELECT milestones.id FROM milestones WHERE milestones.project_id")
        .then(project_set.condition())
        .sql(" AND milestones.title = ")
        .text(title.to_owned())
        .sql(")")
}

/// Like [`among_milestones`], as a condition on one issue.
fn is_for_milestone(title: &str) -> Sql {
    Sql::new(
        "(SELECT milestones.title FROM milestones WHERE milestones.id = issues.milestone_id) = ",
    )
    .text(title.to_owned())
}

/// The condition that an issue has a label of one of these titles, read from the labels.
fn among_labelled(labels: &LabelFilter, project_set: ProjectSet) -> Sql {
    Sql::new(
        "issues.id IN (SELECT has.issue_id FROM labels JOIN issue_labels AS has \
         ON has.label_id = labels.id WHERE labels.project_id",
    )
    .then(project_set.condition())
    .sql(" AND ")
    .then(title_start_in("labels.title_start IN (", titles_of(labels)))
    .sql(" AND ")
    .then(title_in("labels.title IN (", titles_of(labels)))
    .sql(")")
}

/// Like [`among_labelled`], as a condition on one issue. It is a scalar subquery because planners would otherwise
/// collect all labelled issues.
fn is_labelled(labels: &LabelFilter) -> Sql {
    Sql::new(HAS_LABEL)
        .then(title_in("labels.title IN (", titles_of(labels)))
        .sql(" LIMIT 1) IS NOT NULL")
}

/// Begins a scalar subquery that finds a label of an issue. A condition on `labels` has to follow.
const HAS_LABEL: &str = "(SELECT 1 FROM issue_labels AS has JOIN labels ON labels.id = has.label_id \
                         WHERE has.issue_id = issues.id AND ";

fn order(filter: &IssueFilter) -> &'static str {
    match (filter.order, filter.descending) {
        (IssueOrder::CreatedAt, false) => " ORDER BY issues.created_at, issues.id",
        (IssueOrder::CreatedAt, true) => " ORDER BY issues.created_at DESC, issues.id DESC",
        (IssueOrder::UpdatedAt, false) => " ORDER BY issues.updated_at, issues.id",
        (IssueOrder::UpdatedAt, true) => " ORDER BY issues.updated_at DESC, issues.id DESC",
    }
}
