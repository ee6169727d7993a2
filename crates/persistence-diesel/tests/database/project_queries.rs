//! The number of queries for lists of projects, groups, members and events does not depend on their length.

use std::ops::Range;

use crate::support::counted::{Counted, PAGE};
use crate::support::databases;
use hexforge_domain::group::{GroupFilter, GroupOrder, GroupScope};
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::project::query::{
    ListAudience, ProjectFilter, ProjectOrder, ProjectScope, Viewer,
};
use hexforge_domain::project::{ProjectRef, Starred};
use hexforge_domain_testing::builders::{
    a_day, a_group, a_member, a_moment, a_project, a_share, a_user, an_event,
};

/// Ada owns two groups. The projects of the first are shared with the second.
struct World {
    ada: UserId,
    team: NamespaceId,
    friends: NamespaceId,
}

impl World {
    fn in_store(counted: &Counted) -> Self {
        counted.write(|tx| {
            let ada = a_user("ada").insert(tx)?;
            tx.namespaces().insert_personal(ada.id, ada.username.path(), a_moment())?;
            let team = a_group("team").owner(ada.id).insert(tx)?;
            let friends = a_group("friends").owner(ada.id).insert(tx)?;
            Ok(World { ada: ada.id, team: team.id, friends: friends.id })
        })
    }

    /// Inserts public projects with these numbers, each starred, shared, with a member and an event. Inserts as many
    /// groups.
    fn add(&self, counted: &Counted, numbers: Range<usize>) {
        counted.write(|tx| {
            for number in numbers {
                let name = format!("project{number}");
                let project = a_project(&name, self.team, self.ada).public().insert(tx)?;
                tx.shares().insert(a_share(project.id, self.friends, AccessLevel::Guest))?;
                tx.stars().put(project.id, self.ada, Starred::Yes, a_moment())?;
                tx.events().insert(an_event(project.id, self.ada))?;
                let user = a_user(&format!("user{number}")).insert(tx)?;
                tx.group_members().insert(self.team, a_member(user.id, AccessLevel::Guest))?;
                a_group(&format!("group{number}")).owner(self.ada).insert(tx)?;
            }
            Ok(())
        });
    }

    /// Scopes that all contain all projects.
    fn scopes(&self) -> Vec<ProjectScope> {
        let viewer = Viewer { user: self.ada, external: false };
        let mut scopes = vec![
            ProjectScope::All,
            ProjectScope::AuthorizedFor(self.ada),
            ProjectScope::VisibleTo(viewer),
            ProjectScope::OwnedBy(self.ada),
            ProjectScope::StarredBy(viewer),
        ];
        for viewer in [ListAudience::Unrestricted, ListAudience::Viewer(viewer)] {
            scopes.extend([
                ProjectScope::OfGroup { group: self.team, viewer },
                ProjectScope::OfGroup { group: self.friends, viewer },
                ProjectScope::InGroup { group: self.team, viewer },
                ProjectScope::SharedWith { group: self.friends, viewer },
            ]);
        }
        scopes
    }
}

fn filter(scope: ProjectScope) -> ProjectFilter {
    ProjectFilter {
        scope,
        archived: None,
        visibility: None,
        search: None,
        order: ProjectOrder::CreatedAt,
        descending: true,
        builds_first: false,
        today: a_day(),
    }
}

#[test]
fn a_list_of_projects_takes_six_queries_at_most_however_long_it_is() {
    for database in databases() {
        let counted = Counted::on(database);
        let world = World::in_store(&counted);
        for (numbers, total) in [(0..5, 5), (5..200, 200)] {
            world.add(&counted, numbers);
            for scope in world.scopes() {
                for search in [None, Some("pr"), Some("PROJECT"), Some("team")] {
                    let filter =
                        ProjectFilter { search: search.map(str::to_owned), ..filter(scope) };
                    let (page, queries) = counted.read(|tx| tx.projects().list(&filter, PAGE));
                    let found = (page.items.len() as u64, page.total);
                    assert_eq!(found, (total.min(100), total), "{filter:?}");
                    // The length of the scope, or the search sample and the matches of a rare text; the change
                    // counter, the total, the ids, the rows.
                    assert!((3..=6).contains(&queries), "{queries} for {filter:?}");
                    // A cached total is not counted again, and cached ids are not read again.
                    let again = counted.read(|tx| tx.projects().list(&filter, PAGE));
                    assert_eq!(again.0, page);
                    assert!((2..=queries).contains(&again.1), "{} for {filter:?}", again.1);
                }
            }
        }
    }
}

#[test]
fn what_a_page_of_projects_shows_beside_them_takes_one_query_each() {
    for database in databases() {
        let counted = Counted::on(database);
        let world = World::in_store(&counted);
        for (numbers, shown) in [(0..5, 5), (5..200, 100)] {
            world.add(&counted, numbers);
            let (shares, queries) = counted.read(|tx| {
                let projects = tx.projects().list(&filter(ProjectScope::All), PAGE)?.items;
                let ids: Vec<ProjectId> = projects.iter().map(|project| project.id).collect();
                let homes: Vec<_> = projects.iter().map(|project| project.namespace).collect();
                tx.namespaces().find_all(&homes)?;
                tx.project_members().of_user(world.ada, &ids)?;
                tx.group_members().of_user(world.ada, &homes)?;
                let seen = tx.projects().authorized_among(world.ada, &ids, a_day())?;
                assert_eq!(seen.len(), shown);
                tx.shares().of_projects(&ids)
            });
            assert_eq!(shares.len(), shown);
            // The list itself takes three to six queries.
            assert!((8..=11).contains(&queries), "{queries} queries");
        }
    }
}

#[test]
fn other_lists_take_few_queries_however_long_they_are() {
    for database in databases() {
        let counted = Counted::on(database);
        let world = World::in_store(&counted);
        let ada = world.ada;
        let viewer = Viewer { user: ada, external: false };
        for (numbers, total) in [(0..5, 5), (5..200, 200)] {
            world.add(&counted, numbers);
            let (page, queries) = counted
                .read(|tx| tx.events().authored_by(ada, viewer, Clearance::All, a_day(), PAGE));
            // The ids, the rows, and the total unless the page shows the end of the list.
            let for_total = u64::from(total > 100);
            assert_eq!((page.total, queries), (total, 2 + for_total));
            for query in [None, Some("example"), Some("ex")] {
                let members = counted.read(|tx| tx.group_members().list(world.team, query, PAGE));
                let expected = (total + 1, 2 + for_total);
                assert_eq!((members.0.total, members.1), expected, "{query:?}");
                let (team, queries) = counted.read(|tx| {
                    let shown = ProjectRef::parse("team/project1");
                    let shown = tx.projects().find(&shown)?.expect("it was just made").id;
                    tx.project_members().team(shown, query, a_day(), PAGE)
                });
                assert_eq!((team.total, queries), (total + 1, 2 + for_total), "{query:?}");
            }
            for scope in [
                GroupScope::All,
                GroupScope::MemberOf(ada),
                GroupScope::AvailableTo { user: ada, external: false },
            ] {
                for (search, most) in [(None, 5), (Some("gr"), 6), (Some("GROUP"), 6)] {
                    let search = search.map(str::to_owned);
                    let order = GroupOrder::Name;
                    let skip = vec![world.team, world.friends];
                    let filter = GroupFilter { scope, skip, search, order, descending: false };
                    let list = || counted.read(|tx| tx.groups().list(&filter, a_day(), PAGE));
                    let (page, queries) = list();
                    assert_eq!(page.total, total, "{filter:?}");
                    // The search matches, the size of the user's scope, the change counter, the total, the ids,
                    // the rows.
                    assert!((3..=most).contains(&queries), "{queries} for {filter:?}");
                    let again = list();
                    assert!((3..=queries).contains(&again.1), "{} for {filter:?}", again.1);
                }
            }
            let (page, queries) = counted.read(|tx| tx.groups().owned_by(ada, a_day(), PAGE));
            assert_eq!((page.total, queries), (total + 2, 3));
            let (page, queries) =
                counted.read(|tx| tx.namespaces().list(Some((ada, a_day())), None, PAGE));
            assert_eq!((page.total, queries), (total + 3, 3));
        }
    }
}

#[test]
fn finding_a_project_and_what_one_is_to_it_takes_one_query_each() {
    for database in databases() {
        let counted = Counted::on(database);
        let world = World::in_store(&counted);
        world.add(&counted, 0..5);
        let named = ProjectRef::parse("TEAM/Project1");
        let (found, queries) = counted.read(|tx| tx.projects().find(&named));
        let id = found.map(|project| project.id).expect("paths ignore case");
        assert_eq!(queries, 1);
        let (by_id, queries) = counted.read(|tx| tx.projects().find(&ProjectRef::Id(id)));
        assert_eq!((by_id.is_some(), queries), (true, 1));
        let reader = Some(world.ada);
        let (found, queries) = counted.read(|tx| tx.projects().find_with_namespace(&named, reader));
        assert_eq!((found.is_some(), queries), (true, 1));
        let (role, queries) = counted.read(|tx| tx.projects().role(id, world.ada, a_day()));
        assert_eq!((role.level, queries), (Some(AccessLevel::Owner), 1));
    }
}
