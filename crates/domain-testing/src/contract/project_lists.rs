//! Order and filters of project lists; see
//! [`Projects::list`](hexforge_domain::project::port::Projects::list).

use super::check::{all_projects, assert_pages, project, read, write};
use crate::builders::{a_group, a_project, a_user, at, home_of};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::query::{ListAudience, ProjectFilter, ProjectOrder, ProjectScope};
use hexforge_domain::project::{Archived, Features, Project, Starred};
use hexforge_domain::visibility::Visibility;
use std::cmp::Ordering;

/// Creates projects whose order differs for every sort key, with equal values for each key.
fn a_mixture(store: &dyn Store) -> Vec<Project> {
    let ada = a_user("ada").stored_in(store).id;
    let (home, group) = (home_of(store, ada), a_group("team").stored_in(store).id);
    let mixture = [
        (home, "b", "Zoo", 5, 1, 3, true),
        (home, "C", "apple", 1, 2, 3, false),
        (group, "b", "Zoo", 5, 2, 1, false),
        (group, "a", "Äpfel", 3, 9, 1, true),
        (home, "_d", "Zo", 1, 1, 9, true),
        (group, "C", "apple", 5, 2, 2, false),
        (home, "e.f", "2 x", 4, 7, 2, false),
        (home, "e-f", "_", 4, 2, 2, true),
    ];
    let made = mixture.map(|(namespace, path, name, created, updated, active, builds)| {
        let project = a_project(&format!("n{path}"), namespace, ada).path(path).stored_in(store);
        let project = Project {
            name: hexforge_domain::project::ProjectName::stored(name.to_owned()),
            features: Features { builds, ..Features::default() },
            created_at: at(created),
            updated_at: at(updated),
            last_activity_at: at(active),
            ..project
        };
        write(store, |tx| tx.projects().update(&project));
        project
    });
    made.into()
}

fn compare(order: ProjectOrder, a: &Project, b: &Project) -> Ordering {
    let by = match order {
        ProjectOrder::Id => Ordering::Equal,
        ProjectOrder::Name => a.name.as_str().as_bytes().cmp(b.name.as_str().as_bytes()),
        ProjectOrder::Path => a.path.as_str().as_bytes().cmp(b.path.as_str().as_bytes()),
        ProjectOrder::CreatedAt => a.created_at.cmp(&b.created_at),
        ProjectOrder::UpdatedAt => a.updated_at.cmp(&b.updated_at),
        ProjectOrder::LastActivityAt => a.last_activity_at.cmp(&b.last_activity_at),
        ProjectOrder::Stars => a.star_count.cmp(&b.star_count),
    };
    by.then(a.id.cmp(&b.id))
}

const ORDERS: [ProjectOrder; 7] = [
    ProjectOrder::Id,
    ProjectOrder::Name,
    ProjectOrder::Path,
    ProjectOrder::CreatedAt,
    ProjectOrder::UpdatedAt,
    ProjectOrder::LastActivityAt,
    ProjectOrder::Stars,
];

/// All orders, in both directions; equal values are ordered by id in the same direction.
pub fn projects_are_listed_in_the_order_asked_for(store: &dyn Store) {
    let mut expected = a_mixture(store);
    for order in ORDERS {
        expected.sort_by(|a, b| compare(order, a, b));
        for descending in [false, true] {
            let filter = ProjectFilter { order, descending, ..all_projects() };
            assert_pages(store, &expected, |tx, page| tx.projects().list(&filter, page));
            expected.reverse();
        }
    }
}

/// See [`ProjectFilter::builds_first`]: both halves are in the requested order.
pub fn projects_with_builds_come_first_if_asked_for(store: &dyn Store) {
    let mut expected = a_mixture(store);
    for order in ORDERS {
        for descending in [false, true] {
            expected.sort_by(|a, b| {
                let order = compare(order, a, b);
                let order = if descending { order.reverse() } else { order };
                b.features.builds.cmp(&a.features.builds).then(order)
            });
            let filter = ProjectFilter { order, descending, builds_first: true, ..all_projects() };
            assert_pages(store, &expected, |tx, page| tx.projects().list(&filter, page));
        }
    }
}

/// An empty list is not an error.
pub fn an_empty_store_lists_no_projects(store: &dyn Store) {
    assert_pages(store, &[], |tx, page| tx.projects().list(&all_projects(), page));
}

/// All conditions of a filter are combined with AND, and the total counts only matching projects.
pub fn filters_of_projects_hold_together(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let (home, group) = (home_of(store, ada), a_group("team").stored_in(store).id);
    let mut projects = Vec::new();
    for visibility in Visibility::ALL {
        for archived in [Archived::No, Archived::Yes] {
            for namespace in [home, group] {
                let word = visibility.as_str();
                let name = format!("{word}-{}", archived.as_bool());
                let new = a_project(&name, namespace, ada).visibility(visibility);
                let project = Project { archived, ..new.stored_in(store) };
                write(store, |tx| tx.projects().update(&project));
                projects.push(project);
            }
        }
    }
    let scopes = [
        (ProjectScope::All, None),
        (ProjectScope::InGroup { group, viewer: ListAudience::Unrestricted }, Some(group)),
        (ProjectScope::OwnedBy(ada), Some(home)),
    ];
    let visibilities = [None].into_iter().chain(Visibility::ALL.map(Some));
    for visibility in visibilities {
        for archived in [None, Some(false), Some(true)] {
            for search in [None, Some("TRUE"), Some("ern"), Some("nothing")] {
                for (scope, namespace) in scopes {
                    let search = search.map(str::to_owned);
                    let fits = |p: &&Project| {
                        visibility.is_none_or(|visibility| p.visibility == visibility)
                            && archived.is_none_or(|archived| p.archived.as_bool() == archived)
                            && namespace.is_none_or(|namespace| p.namespace == namespace)
                            && (search.as_ref())
                                .is_none_or(|s| p.name.as_str().contains(&s.to_lowercase()))
                    };
                    let expected: Vec<Project> = projects.iter().filter(fits).cloned().collect();
                    let filter =
                        ProjectFilter { scope, visibility, archived, search, ..all_projects() };
                    let listed = read(store, |tx| tx.projects().list(&filter, Page::Whole));
                    assert_eq!(listed.items, expected, "{filter:?}");
                    let second = Page::Numbered { number: 2, size: 2 };
                    let listed = read(store, |tx| tx.projects().list(&filter, second));
                    assert_eq!(listed, second.slice(expected), "{filter:?}");
                }
            }
        }
    }
}

/// Listed projects have current counters.
pub fn listed_projects_have_their_counters(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let home = home_of(store, ada);
    let source = a_project("source", home, ada).stored_in(store).id;
    let fork = a_project("fork", home, ada).forked_from(source).stored_in(store).id;
    write(store, |tx| tx.stars().put(source, ada, Starred::Yes, at(1)));
    let listed = read(store, |tx| tx.projects().list(&all_projects(), Page::Whole)).items;
    assert_eq!(listed, [project(store, source), project(store, fork)]);
    let counters: Vec<_> = listed.iter().map(|p| (p.star_count, p.forks_count)).collect();
    assert_eq!(counters, [(1, 1), (0, 0)]);
}
