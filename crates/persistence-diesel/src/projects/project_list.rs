//! Queries for project lists. The cost of a page depends on its size, not on the number of projects or the length
//! of the list.

use std::sync::Arc;

use hexforge_domain::id::NamespaceId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::{Mode, StoreError};
use hexforge_domain::project::Project;
use hexforge_domain::project::query::{ProjectFilter, ProjectOrder, ProjectScope};

use crate::database::backend::Backend;
use crate::database::tx::DieselTx;
use crate::query::page::{CountCost, Span};
use crate::query::project_scope::{Scope, project_id_in};
use crate::query::search::{Search, Texts};
use crate::query::sql::Sql;

/// Up to this length, the query reads the whole list.
const SHORT: u64 = 1000;
/// Up to this number of matches, the search runs once, and later queries use the ids.
const FEW: usize = 200;
/// The number of newest projects that are sampled to estimate how common a search text is.
const SAMPLE: i64 = 300;
/// A search text is common if this many sampled projects contain it.
const COMMON: i64 = 10;

/// The cost of looking up, checking and sorting one project, relative to skipping one while walking an index.
const LOOKUP_COST: u128 = 3;

/// The query strategy for a list of projects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    /// Reads all projects in list order until the page is full. Fast if many projects match.
    Walk,
    /// Reads the projects of a group in list order, and all projects that are shared with it.
    WalkInside,
    /// Reads all projects of the scope, then sorts them. Fast if the scope is small.
    ByScope,
    /// Reads all projects that match the search, then sorts them. Fast if few match.
    BySearch,
}

/// A list with the inputs of its queries.
struct List<'a> {
    filter: &'a ProjectFilter,
    search: Search,
    /// The ids of the search matches, if there are few.
    found: Option<Vec<i64>>,
    /// The number of sampled projects that match the search.
    hits: i64,
    /// True if counting reads the scope instead of all search matches.
    counts_scope: bool,
    backend: Backend,
}

impl DieselTx<'_> {
    /// At most seven queries: the change counter, the length of the scope, the length of the list, the search
    /// sample, the search matches, the ids, the rows.
    pub(crate) fn list_projects(
        &mut self,
        filter: &ProjectFilter,
        page: Page,
    ) -> Result<Paged<Project>, StoreError> {
        let search = Search::new(filter.search.as_deref());
        let (found, backend) = (None, self.backend());
        let mut list = List { filter, search, found, hits: 0, counts_scope: false, backend };
        let cached_as = list.cache_name().filter(|_| self.mode == Mode::Read);
        if let Some(name) = &cached_as
            && self.totals.has_cached_ids(name)
            && let Some(members) = self.totals.cached_ids(name, self.extent()?.changes)
        {
            return self.page_of_ids(&members, page);
        }
        let base = match list.scope() {
            scope if scope.is_among_all() => None,
            scope => Some(self.length_of_scope(scope)?),
        };
        let short = base.is_some_and(|base| base <= SHORT);
        if !short {
            self.run_search(&mut list)?;
            if let Some(base) = base {
                let projects = self.extent()?.projects.unsigned_abs();
                list.counts_scope = u128::from(base) < list.estimated_matches(projects);
            }
        }
        if let Some(members) = self.medium_search_ids(&list, short)? {
            let total = members.len() as u64;
            let ids = self.ids(list.page_of_unordered_ids(&members, page))?;
            return Ok(Paged { items: self.projects_by_id(&ids)?, total });
        }
        let (total, counted_as) = match base {
            Some(base) if base == 0 || list.is_all_of_scope() => (base, list.scope().name()),
            _ => (self.length(&list, short)?, list.name()),
        };
        if total == 0 {
            return Ok(Paged { items: vec![], total });
        }
        if let Some(name) = cached_as
            && short
        {
            let all = self.ids(list.page_of(Strategy::ByScope, Span::forward(Page::Whole)))?;
            let (all, changes): (Arc<[i64]>, _) = (all.into(), self.extent()?.changes);
            self.totals.cache_ids(name, changes, Arc::clone(&all));
            return self.page_of_ids(&all, page);
        }
        let span = self.span(page, total, &counted_as)?;
        let strategy =
            if short { Strategy::ByScope } else { self.strategy(&list, base, total, span)? };
        let mut ids = self.ids(list.page_of(strategy, span))?;
        span.restore(&mut ids);
        Ok(Paged { items: self.projects_by_id(&ids)?, total })
    }

    /// Returns a page of a list whose ids are all known, in list order.
    fn page_of_ids(&mut self, ids: &[i64], page: Page) -> Result<Paged<Project>, StoreError> {
        let Paged { items: ids, total } = page.slice(ids.to_vec());
        Ok(Paged { items: self.projects_by_id(&ids)?, total })
    }

    /// Returns the number of projects in a scope, cached if possible.
    pub(crate) fn length_of_scope(&mut self, scope: Scope) -> Result<u64, StoreError> {
        let name = scope.name();
        let all = Sql::new("SELECT projects.id FROM projects").filter(scope.set_conditions());
        match scope.scope {
            // Stars do not increase the change counter, because they are too frequent.
            ProjectScope::StarredBy(_) => self.total(&name, &all),
            _ => self.tracked_total(&name, CountCost::PerRow, &all),
        }
    }

    /// Returns all ids of the list if the search text is neither rare nor common. They are cached, because searching
    /// again for each page would cost more than the page.
    fn medium_search_ids(
        &mut self,
        list: &List<'_>,
        short: bool,
    ) -> Result<Option<Arc<[i64]>>, StoreError> {
        let searches = !matches!(list.search, Search::Everything);
        let stars = matches!(list.filter.scope, ProjectScope::StarredBy(_));
        if short
            || stars
            || !searches
            || list.found.is_some()
            || list.hits >= COMMON
            || self.mode != Mode::Read
        {
            return Ok(None);
        }
        let (name, changes) = (list.name(), self.extent()?.changes);
        if let Some(members) = self.totals.cached_ids(&name, changes) {
            return Ok(Some(members));
        }
        let members = self.ids(list.all_ids(short).sql(" LIMIT ").id(SHORT as i64 + 1))?;
        if members.len() as u64 > SHORT {
            return Ok(None);
        }
        let members: Arc<[i64]> = members.into();
        self.totals.cache_ids(name, changes, Arc::clone(&members));
        Ok(Some(members))
    }

    /// Returns the length of the list. It does not depend on the order.
    fn length(&mut self, list: &List<'_>, short: bool) -> Result<u64, StoreError> {
        if list.found.as_ref().is_some_and(Vec::is_empty) {
            return Ok(0);
        }
        let counted = list.all_ids(short);
        let cost = if list.found.is_some() { CountCost::PerRow } else { CountCost::High };
        match list.filter.scope {
            ProjectScope::StarredBy(_) => self.total(&list.name(), &counted),
            _ => self.tracked_total(&list.name(), cost, &counted),
        }
    }

    /// Estimates how common the search text is. If it is rare, reads the ids of all matches.
    fn run_search(&mut self, list: &mut List<'_>) -> Result<(), StoreError> {
        let (Some(contains), Some(matching)) = (list.search.within("search_text"), list.matching())
        else {
            return Ok(());
        };
        let newest =
            Sql::new("SELECT 1 FROM (SELECT search_text FROM projects ORDER BY id DESC LIMIT ")
                .id(SAMPLE)
                .sql(") AS newest WHERE ")
                .then(contains);
        list.hits = self.count(&newest, None)?;
        if list.hits >= COMMON {
            return Ok(());
        }
        list.found = self.few_ids(matching, FEW)?;
        Ok(())
    }

    /// Chooses the strategy that reads the fewest projects.
    fn strategy(
        &mut self,
        list: &List<'_>,
        base: Option<u64>,
        total: u64,
        span: Span,
    ) -> Result<Strategy, StoreError> {
        if list.found.is_some() {
            return Ok(Strategy::BySearch);
        }
        let projects = u128::from(self.extent()?.projects.unsigned_abs());
        let shown = u128::from(span.reach().min(total));
        // The walk reads `projects / total` projects for each one shown.
        let walked = shown * projects / u128::from(total).max(1);
        let in_scope = match base {
            Some(base) => u128::from(base),
            None if list.is_all_of_scope() => u128::from(total),
            // An unknown part of all projects.
            None => projects,
        } * LOOKUP_COST;
        let matching = match list.search {
            Search::Everything => u128::MAX,
            Search::Indexed(_) | Search::Short(_) | Search::Nothing => {
                list.estimated_matches(self.extent()?.projects.unsigned_abs())
                    .max(u128::from(total))
                    * LOOKUP_COST
            }
        };
        let is_in_order = !list.filter.builds_first;
        if let (Some(base), Some(_), true) = (base, list.scope().group(), is_in_order)
            && shown * u128::from(base) / u128::from(total).max(1) <= in_scope.min(matching)
        {
            return Ok(Strategy::WalkInside);
        }
        Ok(if walked <= in_scope.min(matching) {
            Strategy::Walk
        } else if in_scope <= matching {
            Strategy::ByScope
        } else {
            Strategy::BySearch
        })
    }
}

impl List<'_> {
    fn scope(&self) -> Scope {
        Scope { scope: self.filter.scope, today: self.filter.today }
    }

    /// Returns an estimate of the number of search matches, from the sample.
    fn estimated_matches(&self, projects: u64) -> u128 {
        let hits = u128::from(self.hits.unsigned_abs()).max(1);
        hits * u128::from(projects) / SAMPLE as u128
    }

    /// Returns the name of the list, unique among all lists regardless of order.
    fn name(&self) -> String {
        let ProjectFilter { scope, archived, visibility, search, today, .. } = self.filter;
        format!("projects {scope:?} {today} {archived:?} {visibility:?} {search:?}")
    }

    /// Returns the name under which the ids of the list are cached. It is unique and includes the order. `None` if the
    /// list can change without an increase of the change counter.
    fn cache_name(&self) -> Option<String> {
        let ProjectFilter { scope, order, descending, builds_first, .. } = self.filter;
        let lasts = match order {
            ProjectOrder::Id | ProjectOrder::CreatedAt => !builds_first,
            ProjectOrder::Name
            | ProjectOrder::Path
            | ProjectOrder::UpdatedAt
            | ProjectOrder::LastActivityAt
            | ProjectOrder::Stars => false,
        };
        let is_counted = match scope {
            // Stars and links to sources do not increase the change counter. The other two scopes are too long.
            ProjectScope::StarredBy(_)
            | ProjectScope::ForksOf { .. }
            | ProjectScope::All
            | ProjectScope::VisibleTo(_) => false,
            ProjectScope::AuthorizedFor(_)
            | ProjectScope::OwnedBy(_)
            | ProjectScope::OfGroup { .. }
            | ProjectScope::InGroup { .. }
            | ProjectScope::SharedWith { .. } => true,
        };
        (lasts && is_counted && self.is_all_of_scope())
            .then(|| format!("{} by {order:?}, {descending}", self.scope().name()))
    }

    /// Selects a page of a list whose ids are all known, unordered.
    fn page_of_unordered_ids(&self, members: &[i64], page: Page) -> Sql {
        Sql::new("SELECT projects.id FROM projects WHERE projects.id IN (")
            .ids(members.to_vec())
            .sql(")")
            .then(self.order(Strategy::BySearch, Span::forward(page)))
            .page(page)
    }

    /// Returns true if the list contains the whole scope.
    fn is_all_of_scope(&self) -> bool {
        let ProjectFilter { archived, visibility, .. } = self.filter;
        matches!((archived, visibility, &self.search), (None, None, Search::Everything))
    }

    /// Selects all ids of the list, unordered, for counting.
    fn all_ids(&self, short: bool) -> Sql {
        let scope = self.scope();
        let fitting = Sql::new("SELECT projects.id FROM projects");
        if self.found.is_some() {
            return fitting.filter(
                self.found_ids()
                    .into_iter()
                    .chain(scope.row_conditions())
                    .chain(self.filter_conditions()),
            );
        }
        match (&self.search, self.matching()) {
            (Search::Indexed(_), Some(matching)) if !short && !self.counts_scope => {
                Sql::with(scope.count_cte()).then(fitting).filter(
                    [project_id_in(matching)]
                        .into_iter()
                        .chain(scope.count_conditions())
                        .chain(self.filter_conditions()),
                )
            }
            _ => {
                let mut known = scope.count_conditions().into_iter();
                let first = known
                    .next()
                    .into_iter()
                    .chain(self.filter_conditions())
                    .chain(self.contains_search_text());
                Sql::with(scope.count_cte()).then(fitting).filter(first.chain(known))
            }
        }
    }

    /// Selects the ids of a page, in order.
    fn page_of(&self, strategy: Strategy, span: Span) -> Sql {
        let scope = self.scope();
        if let (Strategy::WalkInside, Some(group)) = (strategy, scope.group()) {
            return self.page_of_group(group, span);
        }
        let contains = self.contains_search_text();
        let conditions: Vec<Sql> = match strategy {
            // Most rows are skipped, so the cheapest condition comes first.
            Strategy::Walk | Strategy::WalkInside => self
                .walk_conditions()
                .into_iter()
                .chain(contains)
                .chain(scope.row_conditions())
                .collect(),
            Strategy::ByScope => {
                let mut set = scope.set_conditions().into_iter();
                set.next()
                    .into_iter()
                    .chain(self.filter_conditions())
                    .chain(contains)
                    .chain(set)
                    .collect()
            }
            Strategy::BySearch => {
                let matching = self.found_ids().or_else(|| self.matching().map(project_id_in));
                matching
                    .into_iter()
                    .chain(self.filter_conditions())
                    .chain(scope.row_conditions())
                    .collect()
            }
        };
        // `OFFSET 0` is an optimization barrier: it keeps PostgreSQL from walking an index where few projects
        // match.
        let fitting = match (strategy, self.backend) {
            (Strategy::Walk | Strategy::WalkInside, _) | (_, Backend::Sqlite) => {
                Sql::new("SELECT projects.id FROM projects").filter(conditions)
            }
            (Strategy::ByScope | Strategy::BySearch, Backend::Postgres) => {
                Sql::new("SELECT projects.id FROM (SELECT * FROM projects")
                    .filter(conditions)
                    .sql(" OFFSET 0) AS projects")
            }
        };
        fitting.then(self.order(strategy, span)).span(span)
    }

    /// Selects the ids of a page of a group's projects. It merges the first projects inside of the group, by an
    /// index on the group, with the first of the few projects that are shared with it.
    fn page_of_group(&self, group: NamespaceId, span: Span) -> Sql {
        let scope = self.scope();
        let reach = Span { offset: 0, limit: span.reach(), ..span };
        let first = |conditions: Vec<Sql>, strategy| {
            Sql::new("SELECT * FROM (SELECT projects.id, ")
                .sql(self.sort_column().unwrap_or("projects.id"))
                .sql(" AS place FROM projects")
                .filter(
                    conditions
                        .into_iter()
                        .chain(self.walk_conditions())
                        .chain(self.contains_search_text()),
                )
                .then(self.order(strategy, span))
                .span(reach)
        };
        let direction = if self.filter.descending == span.backward { "" } else { " DESC" };
        let inside = first(scope.group_conditions(group), Strategy::Walk).sql(") AS inside");
        let all = match scope.shared_conditions(group) {
            Some(shared) => {
                inside.sql(" UNION ALL ").then(first(shared, Strategy::BySearch)).sql(") AS shared")
            }
            None => inside,
        };
        Sql::new("SELECT id FROM (")
            .then(all)
            .sql(") AS fitting ORDER BY place")
            .sql(direction)
            .sql(", id")
            .sql(direction)
            .span(span)
    }

    /// The conditions of the filter on the archived state and on the visibility level.
    fn filter_conditions(&self) -> Vec<Sql> {
        let visibility = self.filter.visibility.map(|visibility| {
            Sql::new("projects.visibility_level = ").id(i64::from(visibility.level()))
        });
        self.archived().into_iter().chain(visibility).collect()
    }

    /// Like [`filter_conditions`](Self::filter_conditions), but keeps planners from using another index than the one
    /// in list order.
    fn walk_conditions(&self) -> Vec<Sql> {
        let visibility = self.filter.visibility.map(|visibility| {
            Sql::new("+projects.visibility_level = ").id(i64::from(visibility.level()))
        });
        self.archived().into_iter().chain(visibility).collect()
    }

    fn archived(&self) -> Option<Sql> {
        self.filter.archived.map(|archived| {
            Sql::new(if archived { "projects.archived" } else { "NOT projects.archived" })
        })
    }

    fn found_ids(&self) -> Option<Sql> {
        self.found.as_ref().map(|ids| Sql::new("projects.id IN (").ids(ids.clone()).sql(")"))
    }

    /// Selects the ids of the projects that match the search, or whose namespace name does. An id may occur more
    /// than once.
    fn matching(&self) -> Option<Sql> {
        let projects = self.search.matching(&Texts::Projects, self.backend)?;
        let namespaces = self.search.matching(&Texts::NamespaceNames, self.backend)?;
        let inside = Sql::new("SELECT projects.id FROM projects WHERE namespace_id IN (")
            .then(namespaces)
            .sql(")");
        Some(match self.backend {
            Backend::Sqlite => projects.sql(" UNION ALL ").then(inside),
            // Without the `WITH`, PostgreSQL would scan all projects instead of the index when the query has a
            // limit.
            Backend::Postgres => Sql::with([("matching", projects)])
                .sql("SELECT id FROM matching UNION ALL ")
                .then(inside),
        })
    }

    /// The condition that the project or the name of its namespace contains the search text.
    fn contains_search_text(&self) -> Option<Sql> {
        let text = self.search.within("projects.search_text")?;
        let name = self.search.within(
            "(SELECT namespaces.name_folded FROM namespaces WHERE namespaces.id = projects.namespace_id)",
        )?;
        Some(Sql::new("(").then(text).sql(" OR ").then(name).sql(")"))
    }

    /// The sort column, or `None` if it is the id.
    fn sort_column(&self) -> Option<&'static str> {
        match self.filter.order {
            ProjectOrder::Id => None,
            ProjectOrder::Name => Some("projects.name"),
            ProjectOrder::Path => Some("projects.path"),
            ProjectOrder::CreatedAt => Some("projects.created_at"),
            ProjectOrder::UpdatedAt => Some("projects.updated_at"),
            ProjectOrder::LastActivityAt => Some("projects.last_activity_at"),
            ProjectOrder::Stars => Some("projects.star_count"),
        }
    }

    fn order(&self, strategy: Strategy, span: Span) -> Sql {
        // SQLite prefers an index in list order to one that selects the rows. The unary plus makes it sort instead.
        let sorts = strategy != Strategy::Walk && self.backend == Backend::Sqlite;
        let plus = if sorts { "+" } else { "" };
        let direction = |descending| if descending != span.backward { " DESC" } else { "" };
        let builds = direction(true);
        let direction = direction(self.filter.descending);
        let mut order = Sql::new(" ORDER BY ");
        if self.filter.builds_first {
            order = order.sql("projects.builds_enabled").sql(builds).sql(", ");
        }
        if let Some(key) = self.sort_column() {
            order = order.sql(plus).sql(key).sql(direction).sql(", ");
        }
        order.sql(plus).sql("projects.id").sql(direction)
    }
}
