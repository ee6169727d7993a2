//! Which projects a list shows, as queries.

use hexforge_domain::id::NamespaceId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::Project;
use hexforge_domain::project::query::{ProjectFilter, ProjectOrder, ProjectScope, Viewer};

use crate::access;
use crate::backend::Backend;
use crate::search::Search;
use crate::sql::Sql;
use crate::tx::DieselTx;

/// More projects than this are looked for by going through all of them.
const MANY: i64 = 1000;

/// How the projects of a list are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Through all projects in their order until the page is full: soon, where many fit.
    Walk,
    /// By the indexes of what is asked for, and then sorted: soon, where few fit.
    Gather,
    /// By the indexes too, in no order, until there are enough to know.
    Count,
}

/// A list with all that its queries need.
struct List<'a> {
    filter: &'a ProjectFilter,
    search: Search,
    /// What the search finds, where that is little.
    found: Option<Vec<i64>>,
    backend: Backend,
}

impl DieselTx<'_> {
    /// Three queries: the total, the ids, the rows. With a search among all projects one more before
    /// them, which finds what contains the text, if that is little.
    pub(crate) fn list_projects(
        &mut self,
        filter: &ProjectFilter,
        page: Page,
    ) -> Result<Paged<Project>, StoreError> {
        let search = Search::new(filter.search.as_deref());
        let mut list = List { filter, search, found: None, backend: self.backend() };
        if let Some(found) = list.indexed() {
            let found = self.ids(found.sql(" LIMIT ").id(MANY + 1))?;
            list.found = (found.len() as u64 <= MANY.unsigned_abs()).then_some(found);
        }
        let total = self.total(&format!("projects {filter:?}"), &list.fitting(Way::Count))?;
        if total == 0 {
            return Ok(Paged { items: vec![], total });
        }
        let many = total > MANY.unsigned_abs() && list.is_among_all();
        let way = if many { Way::Walk } else { Way::Gather };
        let ids = self.ids(list.fitting(way).then(list.order(way)).page(page))?;
        Ok(Paged { items: self.projects_by_id(&ids)?, total })
    }
}

impl List<'_> {
    /// The ids of the projects that fit, in no order.
    fn fitting(&self, way: Way) -> Sql {
        let archived = self.filter.archived.map(|archived| {
            Sql::new(if archived { "projects.archived" } else { "NOT projects.archived" })
        });
        let visibility = self.filter.visibility.map(|visibility| {
            let column = match way {
                Way::Walk => "+projects.visibility_level = ",
                Way::Gather | Way::Count => "projects.visibility_level = ",
            };
            Sql::new(column).id(i64::from(visibility.level()))
        });
        let conditions = [self.scope(way), archived, visibility, self.containing()];
        Sql::with(self.named())
            .sql("SELECT projects.id FROM projects")
            .filter(conditions.into_iter().flatten())
    }

    /// What the conditions refer to by name.
    fn named(&self) -> impl Iterator<Item = (&'static str, Sql)> {
        let authorized =
            self.viewer().map(|viewer| access::authorized_as_named(viewer, self.filter.today));
        let in_names = self.search.within("name_folded").filter(|_| self.found.is_none());
        let namespaces = in_names.map(|condition| {
            ("named", Sql::new("SELECT id FROM namespaces WHERE ").then(condition))
        });
        authorized.into_iter().chain(namespaces)
    }

    /// Who has to see the projects.
    fn viewer(&self) -> Option<Viewer> {
        match self.filter.scope {
            ProjectScope::All | ProjectScope::AuthorizedFor(_) | ProjectScope::OwnedBy(_) => None,
            ProjectScope::VisibleTo(viewer) | ProjectScope::StarredBy(viewer) => Some(viewer),
            ProjectScope::OfGroup { viewer, .. }
            | ProjectScope::InGroup { viewer, .. }
            | ProjectScope::SharedWith { viewer, .. } => viewer,
        }
    }

    /// Whether the list is a part of all projects, and not of the few that are something to somebody.
    fn is_among_all(&self) -> bool {
        match self.filter.scope {
            ProjectScope::All | ProjectScope::VisibleTo(_) => true,
            ProjectScope::AuthorizedFor(_)
            | ProjectScope::OwnedBy(_)
            | ProjectScope::StarredBy(_)
            | ProjectScope::OfGroup { .. }
            | ProjectScope::InGroup { .. }
            | ProjectScope::SharedWith { .. } => false,
        }
    }

    fn scope(&self, way: Way) -> Option<Sql> {
        let today = self.filter.today;
        let one_of = |ids: Sql| Sql::new("projects.id IN (").then(ids).sql(")");
        let inside = |group: NamespaceId| {
            Sql::new("SELECT id FROM projects WHERE namespace_id = ").id(group.0)
        };
        let which = match self.filter.scope {
            ProjectScope::All => None,
            ProjectScope::VisibleTo(viewer) if way == Way::Gather && self.found.is_none() => {
                return Some(one_of(
                    Sql::new("SELECT id FROM projects WHERE visibility_level >= ")
                        .id(access::lowest_open(viewer.external))
                        .sql(" UNION ALL SELECT id FROM authorized"),
                ));
            }
            ProjectScope::VisibleTo(_) => None,
            ProjectScope::AuthorizedFor(user) => Some(one_of(access::authorized(user, today))),
            ProjectScope::OwnedBy(user) => Some(
                Sql::new("projects.namespace_id IN (")
                    .then(access::home_of(user))
                    .sql(" UNION ALL ")
                    .then(access::groups_owned_by(user, today))
                    .sql(")"),
            ),
            ProjectScope::StarredBy(viewer) => Some(one_of(
                Sql::new("SELECT project_id FROM stars WHERE user_id = ").id(viewer.user.0),
            )),
            ProjectScope::OfGroup { group, .. } => Some(one_of(
                inside(group).sql(" UNION ALL ").then(access::shared_with(group, today)),
            )),
            ProjectScope::InGroup { group, .. } => {
                Some(Sql::new("projects.namespace_id = ").id(group.0))
            }
            ProjectScope::SharedWith { group, .. } => {
                Some(one_of(access::shared_with(group, today)))
            }
        };
        let seen = self.viewer().map(access::visible);
        match (which, seen) {
            (Some(which), Some(seen)) => Some(which.sql(" AND ").then(seen)),
            (which, seen) => which.or(seen),
        }
    }

    /// The ids of the projects that contain what is searched for, or whose namespaces have it in their
    /// names, some of them twice. `None` where no index serves that, or none is needed because the list
    /// is short.
    fn indexed(&self) -> Option<Sql> {
        if !self.is_among_all() || !matches!(self.search, Search::Indexed(_)) {
            return None;
        }
        let inside = " UNION ALL SELECT id FROM projects WHERE namespace_id IN (";
        Some(match self.search.phrase(self.backend) {
            Some(phrase) => {
                Sql::new("SELECT rowid FROM projects_search WHERE projects_search MATCH ")
                    .text(phrase.clone())
                    .sql(inside)
                    .sql("SELECT rowid FROM namespaces_search WHERE namespaces_search MATCH ")
                    .text(format!("name_folded : {phrase}"))
                    .sql(")")
            }
            None => Sql::new("SELECT id FROM projects WHERE ")
                .then(self.search.within("search_text")?)
                .sql(inside)
                .sql("SELECT id FROM namespaces WHERE ")
                .then(self.search.within("name_folded")?)
                .sql(")"),
        })
    }

    /// The condition that the project, or the name of its namespace, contains what is searched for.
    fn containing(&self) -> Option<Sql> {
        if let Some(found) = &self.found {
            return Some(Sql::new("projects.id IN (").ids(found.clone()).sql(")"));
        }
        let text = self.search.within("projects.search_text")?;
        Some(Sql::new("(").then(text).sql(" OR projects.namespace_id IN (SELECT id FROM named))"))
    }

    fn order(&self, way: Way) -> Sql {
        let key = match self.filter.order {
            ProjectOrder::Id => None,
            ProjectOrder::Name => Some("projects.name"),
            ProjectOrder::Path => Some("projects.path"),
            ProjectOrder::CreatedAt => Some("projects.created_at"),
            ProjectOrder::UpdatedAt => Some("projects.updated_at"),
            ProjectOrder::LastActivityAt => Some("projects.last_activity_at"),
        };
        let direction = if self.filter.descending { " DESC" } else { "" };
        let mut order = Sql::new(" ORDER BY ");
        if self.filter.builds_first {
            order = order.sql("projects.builds_enabled DESC, ");
        }
        if let Some(key) = key {
            // SQLite takes an index that has the order before one that has the rows; the plus makes it
            // sort. PostgreSQL knows better, and no plus for these types.
            if (way, self.backend) == (Way::Gather, Backend::Sqlite) {
                order = order.sql("+");
            }
            order = order.sql(key).sql(direction).sql(", ");
        }
        order.sql("projects.id").sql(direction)
    }
}
