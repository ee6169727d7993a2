//! The scopes of project lists as SQL conditions.

use chrono::NaiveDate;
use hexforge_domain::id::NamespaceId;
use hexforge_domain::project::query::{ProjectScope, Viewer};

use crate::query::access;
use crate::query::sql::Sql;

/// A project scope, evaluated on a day.
#[derive(Clone, Copy)]
pub(crate) struct Scope {
    pub scope: ProjectScope,
    pub today: NaiveDate,
}

impl Scope {
    /// Returns the name of the scope, unique among all scopes.
    pub fn name(self) -> String {
        format!("projects {:?} {}", self.scope, self.today)
    }

    /// Returns true if the scope is a part of all projects, rather than the projects of a user or group.
    pub fn is_among_all(self) -> bool {
        match self.scope {
            ProjectScope::All | ProjectScope::VisibleTo(_) => true,
            ProjectScope::AuthorizedFor(_)
            | ProjectScope::OwnedBy(_)
            | ProjectScope::StarredBy(_)
            | ProjectScope::OfGroup { .. }
            | ProjectScope::InGroup { .. }
            | ProjectScope::SharedWith { .. }
            | ProjectScope::ForksOf { .. } => false,
        }
    }

    /// Returns the group that contains most projects of the scope.
    pub fn group(self) -> Option<NamespaceId> {
        match self.scope {
            ProjectScope::OfGroup { group, .. } | ProjectScope::InGroup { group, .. } => {
                Some(group)
            }
            ProjectScope::All
            | ProjectScope::VisibleTo(_)
            | ProjectScope::AuthorizedFor(_)
            | ProjectScope::OwnedBy(_)
            | ProjectScope::StarredBy(_)
            | ProjectScope::SharedWith { .. }
            | ProjectScope::ForksOf { .. } => None,
        }
    }

    /// The conditions for the projects inside of its [`group`](Self::group).
    pub fn group_conditions(self, group: NamespaceId) -> Vec<Sql> {
        let inside = Sql::new("projects.namespace_id = ").id(group.0);
        [inside].into_iter().chain(self.visibility_condition()).collect()
    }

    /// The conditions for the projects that are only shared with its [`group`](Self::group). `None` if the scope
    /// does not include them.
    pub fn shared_conditions(self, group: NamespaceId) -> Option<Vec<Sql>> {
        let ProjectScope::OfGroup { .. } = self.scope else { return None };
        let shared = project_id_in(access::shared_with(group, self.today));
        let elsewhere = Sql::new("+projects.namespace_id <> ").id(group.0);
        Some([shared, elsewhere].into_iter().chain(self.visibility_condition()).collect())
    }

    /// The scope as per-row conditions on `projects`, for queries that read few rows.
    pub fn row_conditions(self) -> Vec<Sql> {
        let today = self.today;
        let inside = |group: NamespaceId| Sql::new("+projects.namespace_id = ").id(group.0);
        let which = match self.scope {
            ProjectScope::All | ProjectScope::VisibleTo(_) => None,
            ProjectScope::AuthorizedFor(user) => Some(access::is_authorized(user, today)),
            ProjectScope::OwnedBy(user) => Some(access::is_owned(user, today)),
            ProjectScope::StarredBy(viewer) => Some(access::is_starred(viewer.user)),
            ProjectScope::OfGroup { group, .. } => Some(
                Sql::new("(")
                    .then(inside(group))
                    .sql(" OR ")
                    .then(access::is_shared_with(group, today))
                    .sql(")"),
            ),
            ProjectScope::InGroup { group, .. } => Some(inside(group)),
            ProjectScope::SharedWith { group, .. } => Some(access::is_shared_with(group, today)),
            ProjectScope::ForksOf { source, .. } => {
                Some(Sql::new("projects.forked_from_id = ").id(source.0))
            }
        };
        which.into_iter().chain(self.visibility_condition()).collect()
    }

    /// The scope as a set of ids, read from indexes on users and groups, for queries that read the whole scope.
    pub fn set_conditions(self) -> Vec<Sql> {
        if let ProjectScope::VisibleTo(viewer) = self.scope {
            return vec![project_id_in(
                Sql::new("SELECT id FROM projects WHERE visibility_level >= ")
                    .id(access::lowest_open_level(viewer.external))
                    .sql(" UNION ALL ")
                    .then(access::authorized(viewer.user, self.today)),
            )];
        }
        self.set_condition().into_iter().chain(self.visibility_condition()).collect()
    }

    /// The conditions for counting, when the scope may contain most projects. Needs [`count_cte`](Self::count_cte).
    pub fn count_conditions(self) -> Vec<Sql> {
        match self.scope {
            ProjectScope::VisibleTo(viewer) => vec![access::visible(viewer)],
            _ => self.set_conditions(),
        }
    }

    /// The common table expression that [`count_conditions`](Self::count_conditions) refers to.
    pub fn count_cte(self) -> Option<(&'static str, Sql)> {
        match self.scope {
            ProjectScope::VisibleTo(viewer) => Some(access::authorized_cte(viewer, self.today)),
            _ => None,
        }
    }

    /// The condition that a project is in the set of the scope, without the visibility to the viewer.
    fn set_condition(self) -> Option<Sql> {
        let today = self.today;
        match self.scope {
            ProjectScope::All | ProjectScope::VisibleTo(_) => None,
            ProjectScope::AuthorizedFor(user) => {
                Some(project_id_in(access::authorized(user, today)))
            }
            ProjectScope::OwnedBy(user) => Some(
                Sql::new("projects.namespace_id IN (")
                    .then(access::personal_namespace_of(user))
                    .sql(" UNION ALL ")
                    .then(access::groups_owned_by(user, today))
                    .sql(")"),
            ),
            ProjectScope::StarredBy(viewer) => Some(project_id_in(
                Sql::new("SELECT project_id FROM stars WHERE user_id = ").id(viewer.user.0),
            )),
            ProjectScope::OfGroup { group, .. } => Some(project_id_in(
                Sql::new("SELECT id FROM projects WHERE namespace_id = ")
                    .id(group.0)
                    .sql(" UNION ALL ")
                    .then(access::shared_with(group, today)),
            )),
            ProjectScope::InGroup { group, .. } => {
                Some(Sql::new("projects.namespace_id = ").id(group.0))
            }
            ProjectScope::SharedWith { group, .. } => {
                Some(project_id_in(access::shared_with(group, today)))
            }
            ProjectScope::ForksOf { source, .. } => {
                Some(Sql::new("projects.forked_from_id = ").id(source.0))
            }
        }
    }

    /// The per-row condition that the viewer sees the project.
    fn visibility_condition(self) -> Option<Sql> {
        self.viewer().map(|viewer| access::is_visible(viewer, self.today))
    }

    fn viewer(self) -> Option<Viewer> {
        match self.scope {
            ProjectScope::All | ProjectScope::AuthorizedFor(_) | ProjectScope::OwnedBy(_) => None,
            ProjectScope::VisibleTo(viewer) | ProjectScope::StarredBy(viewer) => Some(viewer),
            ProjectScope::OfGroup { viewer, .. }
            | ProjectScope::InGroup { viewer, .. }
            | ProjectScope::SharedWith { viewer, .. }
            | ProjectScope::ForksOf { viewer, .. } => viewer.restricted_to(),
        }
    }
}

/// The condition that a query selects the id of a row of `projects`.
pub(crate) fn project_id_in(ids: Sql) -> Sql {
    Sql::new("projects.id IN (").then(ids).sql(")")
}
