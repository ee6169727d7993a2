//! Filtering and ordering of project lists.

use super::search::any_contains;
use super::tx::Tables;
use chrono::NaiveDate;
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::project::query::{ListAudience, ProjectFilter, ProjectOrder, ProjectScope};
use hexforge_domain::project::{Description, Project};
use std::cmp::Ordering;

impl Tables {
    /// Returns the projects that match a filter, in its order.
    pub fn matching_projects(&self, filter: &ProjectFilter) -> Vec<&Project> {
        let mut found: Vec<&Project> = (self.projects.values())
            .filter(|project| self.is_listed(project, filter.scope, filter.today))
            .filter(|p| filter.archived.is_none_or(|archived| p.archived.as_bool() == archived))
            .filter(|p| filter.visibility.is_none_or(|visibility| p.visibility == visibility))
            .filter(|p| filter.search.as_deref().is_none_or(|text| self.matches_search(p, text)))
            .collect();
        found.sort_by(|a, b| {
            let order = compare_projects(filter.order, a, b).then(a.id.cmp(&b.id));
            let order = if filter.descending { order.reverse() } else { order };
            let builds = b.features.builds.cmp(&a.features.builds);
            if filter.builds_first { builds.then(order) } else { order }
        });
        found
    }

    fn is_listed(&self, project: &Project, scope: ProjectScope, today: NaiveDate) -> bool {
        let inside = |group: NamespaceId| project.namespace == group;
        let shared = |group: NamespaceId| self.is_shared(project, group, today);
        let seen = |viewer: ListAudience| {
            viewer.restricted_to().is_none_or(|viewer| self.sees(viewer, project, today))
        };
        match scope {
            ProjectScope::All => true,
            ProjectScope::AuthorizedFor(user) => self.is_authorized(project, user, today),
            ProjectScope::VisibleTo(viewer) => self.sees(viewer, project, today),
            ProjectScope::OwnedBy(user) => self.is_owned(project, user, today),
            ProjectScope::StarredBy(viewer) => {
                self.stars.contains(&(project.id, viewer.user))
                    && seen(ListAudience::Viewer(viewer))
            }
            ProjectScope::OfGroup { group, viewer } => {
                (inside(group) || shared(group)) && seen(viewer)
            }
            ProjectScope::InGroup { group, viewer } => inside(group) && seen(viewer),
            ProjectScope::SharedWith { group, viewer } => shared(group) && seen(viewer),
            ProjectScope::ForksOf { source, viewer } => {
                project.forked_from == Some(source) && seen(viewer)
            }
        }
    }

    fn is_owned(&self, project: &Project, user: UserId, today: NaiveDate) -> bool {
        self.role(project, user, today).owner
    }

    fn matches_search(&self, project: &Project, text: &str) -> bool {
        let namespace = self.namespaces.iter().find(|n| n.id == project.namespace);
        let fields = [
            project.path.as_str(),
            project.name.as_str(),
            project.description.as_ref().map_or("", Description::as_str),
            namespace.map_or("", |namespace| &namespace.name),
        ];
        any_contains(text, &fields)
    }
}

fn compare_projects(order: ProjectOrder, a: &Project, b: &Project) -> Ordering {
    match order {
        ProjectOrder::Id => a.id.cmp(&b.id),
        ProjectOrder::Name => a.name.as_str().cmp(b.name.as_str()),
        ProjectOrder::Path => a.path.as_str().cmp(b.path.as_str()),
        ProjectOrder::CreatedAt => a.created_at.cmp(&b.created_at),
        ProjectOrder::UpdatedAt => a.updated_at.cmp(&b.updated_at),
        ProjectOrder::LastActivityAt => a.last_activity_at.cmp(&b.last_activity_at),
        ProjectOrder::Stars => a.star_count.cmp(&b.star_count),
    }
}
