//! Queries for group lists; see [`project_list`](crate::projects::project_list).

use chrono::NaiveDate;
use hexforge_domain::group::{GroupFilter, GroupOrder, GroupScope};
use hexforge_domain::id::UserId;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::query::ProjectScope;

use crate::database::backend::Backend;
use crate::database::tx::DieselTx;
use crate::groups::namespace::name_or_path_contains;
use crate::query::access;
use crate::query::page::{CountCost, Span};
use crate::query::project_scope::Scope;
use crate::query::search::{Search, Texts};
use crate::query::sql::Sql;

/// Up to this number of groups or projects of a user, the query reads all of them.
const FEW: u64 = 500;
/// Up to this number of matching namespaces, the search runs once, and later queries use the ids.
const FOUND: usize = 200;

/// The query strategy for a list of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    /// Reads an index in list order until the page is full.
    Walk,
    /// Reads all groups of the list, then sorts them.
    Gather,
}

impl DieselTx<'_> {
    /// At most six queries: the change counter, the size of the user's scope, the search, the total, the ids, the
    /// rows.
    pub(crate) fn list_groups(
        &mut self,
        filter: &GroupFilter,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Namespace>, StoreError> {
        let search = Search::new(filter.search.as_deref());
        let skip: Vec<i64> = filter.skip.iter().map(|id| id.0).collect();
        let found = match search.matching(&Texts::Namespaces, self.backend()) {
            Some(matching) => self.few_ids(matching, FOUND)?,
            None => None,
        };
        let (scope, few) = self.groups_in_scope(filter.scope, today)?;
        let search_condition = match &found {
            Some(ids) => Some(Sql::new("namespaces.id IN (").ids(ids.clone()).sql(")")),
            None => name_or_path_contains(&search),
        };
        let skipped =
            (!skip.is_empty()).then(|| Sql::new("namespaces.id NOT IN (").ids(skip).sql(")"));
        // The cheapest condition comes first.
        let conditions: Vec<Sql> =
            [skipped, search_condition, scope].into_iter().flatten().collect();
        let fitting = |is_group: &'static str| {
            Sql::new("SELECT namespaces.id FROM namespaces")
                .filter([Sql::new(is_group)].into_iter().chain(conditions.clone()))
        };
        let GroupFilter { scope, skip, search, .. } = filter;
        let name = format!("groups {today} {scope:?} {skip:?} {search:?}");
        let total = match &found {
            Some(ids) if ids.is_empty() => 0,
            _ => {
                let few = few || found.is_some();
                let cost = if few { CountCost::PerRow } else { CountCost::High };
                let fitting = fitting("namespaces.owner_id IS NULL");
                self.tracked_total(&name, cost, &fitting)?
            }
        };
        if total == 0 {
            return Ok(Paged { items: vec![], total });
        }
        let strategy = if few || found.is_some() { Strategy::Gather } else { Strategy::Walk };
        let ids = match strategy {
            // The condition of the partial indexes that are in list order.
            Strategy::Walk => fitting("coalesce(namespaces.owner_id, 0) = 0"),
            Strategy::Gather => fitting("namespaces.owner_id IS NULL"),
        };
        let span = self.span(page, total, &name)?;
        let mut ids =
            self.ids(ids.then(order(filter, strategy, span, self.backend())).span(span))?;
        span.restore(&mut ids);
        Ok(Paged { items: self.namespaces_by_id(&ids)?, total })
    }

    /// Returns the condition that a group is in the scope, and true if the scope has few groups.
    fn groups_in_scope(
        &mut self,
        scope: GroupScope,
        today: NaiveDate,
    ) -> Result<(Option<Sql>, bool), StoreError> {
        match scope {
            GroupScope::All => Ok((None, false)),
            GroupScope::MemberOf(user) => {
                let groups = access::groups_of(user, today);
                let name = format!("groups of {user} on {today}");
                if self.tracked_total(&name, CountCost::PerRow, &groups)? <= FEW {
                    let condition = Sql::new("namespaces.id IN (").then(groups).sql(")");
                    return Ok((Some(condition), true));
                }
                Ok((Some(is_member(user, today)), false))
            }
            GroupScope::AvailableTo { user, external } => {
                let scope = Scope { scope: ProjectScope::AuthorizedFor(user), today };
                let with_project = if self.length_of_scope(scope)? <= FEW {
                    Sql::new("namespaces.id IN (SELECT namespace_id FROM projects WHERE id IN (")
                        .then(access::authorized(user, today))
                        .sql("))")
                } else {
                    Sql::new("(SELECT 1 FROM projects WHERE namespace_id = namespaces.id AND ")
                        .then(access::is_authorized(user, today))
                        .sql(" LIMIT 1) IS NOT NULL")
                };
                let condition = Sql::new("(namespaces.visibility_level >= ")
                    .id(access::lowest_open_level(external))
                    .sql(" OR ")
                    .then(is_member(user, today))
                    .sql(" OR ")
                    .then(with_project)
                    .sql(")");
                Ok((Some(condition), false))
            }
        }
    }
}

/// The condition that the user is a member of a row of `namespaces`.
fn is_member(user: UserId, today: NaiveDate) -> Sql {
    Sql::new("(SELECT 1 FROM group_members WHERE group_id = namespaces.id AND user_id = ")
        .id(user.0)
        .sql(" AND ")
        .then(access::is_in_force("expires_at", today))
        .sql(") IS NOT NULL")
}

/// Names and paths are unique among groups, so no second sort column is needed.
fn order(filter: &GroupFilter, strategy: Strategy, span: Span, backend: Backend) -> Sql {
    let sorts = (strategy, backend) == (Strategy::Gather, Backend::Sqlite);
    let key = match filter.order {
        GroupOrder::Name => "namespaces.name",
        GroupOrder::Path => "namespaces.path",
    };
    let direction = if filter.descending != span.backward { " DESC" } else { "" };
    Sql::new(if sorts { " ORDER BY +" } else { " ORDER BY " }).sql(key).sql(direction)
}
