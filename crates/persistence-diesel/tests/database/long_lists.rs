//! Long lists use other query strategies than short ones. With every strategy, a list equals that of the fake, which
//! simply filters and sorts.

use crate::support::databases;
use chrono::TimeDelta;
use hexforge_domain::group::{GroupFilter, GroupOrder, GroupScope};
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::project::query::{
    ListAudience, ProjectFilter, ProjectOrder, ProjectScope, Viewer,
};
use hexforge_domain::project::{Project, ProjectRef, Starred};
use hexforge_domain::visibility::Visibility;
use hexforge_domain_testing::builders::{
    a_day, a_group, a_member, a_moment, a_project, a_share, a_user,
};
use hexforge_domain_testing::fakes::FakeStore;
use hexforge_persistence_diesel::Options;

const PROJECTS: usize = 2400;
const GROUPS: usize = 620;
/// Projects before this one are old: their names contain a word of their own, and most of them are private.
const OLD: usize = 600;

struct World {
    /// A user who is a member of few projects and of no group.
    some: UserId,
    /// A user who is a member of every second project and of nearly all groups.
    everywhere: UserId,
    /// A group that contains half of the projects.
    department: NamespaceId,
    first: ProjectId,
}

fn fill(store: &dyn Store) -> World {
    let filled: Result<World, StoreError> = store.write(|tx| {
        let some = a_user("some").insert(tx)?.id;
        let everywhere = a_user("everywhere").insert(tx)?.id;
        tx.namespaces().insert_personal(
            some,
            a_user("some").build().username.path(),
            a_moment(),
        )?;
        let department = a_group("department").private().insert(tx)?.id;
        let mut groups = Vec::new();
        for n in 0..GROUPS {
            let word = if n % 3 == 0 { "otter" } else { "heron" };
            let group = a_group(&format!("{word}-{n}"));
            let group = if n % 5 == 0 { group } else { group.private() };
            let group =
                if n % 20 == 0 { group } else { group.member(everywhere, AccessLevel::Owner) };
            groups.push(group.insert(tx)?.id);
        }
        let mut first = None;
        for n in 0..PROJECTS {
            let id =
                project(tx, n, if n % 2 == 0 { department } else { groups[n % GROUPS] }, some)?;
            first = first.or(Some(id));
            if n % 4 < 2 {
                tx.project_members().insert(id, a_member(everywhere, AccessLevel::Guest))?;
            }
            if n % 97 == 0 {
                tx.project_members().insert(id, a_member(some, AccessLevel::Guest))?;
                tx.shares().insert(a_share(id, groups[n % 7], AccessLevel::Guest))?;
                tx.stars().put(id, some, Starred::Yes, a_moment())?;
            }
        }
        let first = first.expect("there are many");
        Ok(World { some, everywhere, department, first })
    });
    filled.expect("an empty store can be filled")
}

fn project(
    tx: &mut dyn Tx,
    n: usize,
    namespace: NamespaceId,
    creator: UserId,
) -> Result<ProjectId, StoreError> {
    let word = match n {
        _ if n < OLD => "olden",
        _ if n.is_multiple_of(3) => "beaver",
        _ if n == 2222 => "quokka",
        _ => "plain",
    };
    let visibility = match n % 5 {
        _ if n < OLD && !n.is_multiple_of(40) => Visibility::Private,
        0..3 => Visibility::Private,
        3 => Visibility::Internal,
        _ => Visibility::Public,
    };
    let moved = TimeDelta::minutes(i64::try_from(n * 7919 % 1009).unwrap_or_default());
    let project = a_project(&format!("{word}-{}", n * 31 % 10_007), namespace, creator);
    Ok(project.visibility(visibility).at(a_moment() + moved).insert(tx)?.id)
}

/// Filters for project lists that together use every query strategy.
fn project_filters(world: &World) -> Vec<ProjectFilter> {
    let some = Viewer { user: world.some, external: true };
    let everywhere = Viewer { user: world.everywhere, external: false };
    let group = world.department;
    let scopes = [
        ProjectScope::All,
        ProjectScope::VisibleTo(some),
        ProjectScope::VisibleTo(everywhere),
        ProjectScope::AuthorizedFor(world.everywhere),
        ProjectScope::OwnedBy(world.everywhere),
        ProjectScope::StarredBy(some),
        ProjectScope::OfGroup { group, viewer: ListAudience::Viewer(some) },
        ProjectScope::InGroup { group, viewer: ListAudience::Unrestricted },
    ];
    let searches = ["olden", "beaver", "quokka", "otter-1", "never", "ol", "qu"];
    let orders = [ProjectOrder::Id, ProjectOrder::Name, ProjectOrder::UpdatedAt];
    let mut filters = Vec::new();
    for scope in scopes {
        for search in searches.map(Some).into_iter().chain([None]) {
            let number = filters.len();
            filters.push(ProjectFilter {
                scope,
                archived: None,
                visibility: (number % 5 == 4).then_some(Visibility::Public),
                search: search.map(str::to_owned),
                order: orders[number % orders.len()],
                descending: number % 2 == 0,
                builds_first: false,
                today: a_day(),
            });
        }
    }
    // A short list, whose ids are cached from the first page on.
    for (order, descending) in [(ProjectOrder::CreatedAt, true), (ProjectOrder::Id, false)] {
        let scope = ProjectScope::AuthorizedFor(world.some);
        let newest = ProjectFilter::newest_first(scope, a_day());
        filters.push(ProjectFilter { order, descending, ..newest });
    }
    filters
}

/// Returns the project names of a page, which are the same in every store, and the total of the list.
fn projects(store: &dyn Store, filter: &ProjectFilter, page: Page) -> (Vec<String>, u64) {
    let found: Result<_, StoreError> = store.read(|tx| tx.projects().list(filter, page));
    let found = found.expect("a store can be read");
    let name = |project: &Project| project.name.as_str().to_owned();
    (found.items.iter().map(name).collect(), found.total)
}

/// Filters for group lists that together use every query strategy.
fn group_filters(world: &World) -> Vec<GroupFilter> {
    let (some, everywhere) = (world.some, world.everywhere);
    let scopes = [
        GroupScope::All,
        GroupScope::MemberOf(everywhere),
        GroupScope::AvailableTo { user: some, external: true },
        GroupScope::AvailableTo { user: everywhere, external: false },
    ];
    let searches = [None, Some("otter"), Some("heron-11"), Some("never"), Some("tt"), Some("99")];
    let mut filters = Vec::new();
    for scope in scopes {
        for search in searches {
            let order = if filters.len() % 2 == 0 { GroupOrder::Name } else { GroupOrder::Path };
            let search = search.map(str::to_owned);
            let descending = filters.len() % 3 == 0;
            filters.push(GroupFilter { scope, skip: vec![], search, order, descending });
        }
    }
    filters
}

fn groups(store: &dyn Store, filter: &GroupFilter, page: Page) -> (Vec<String>, u64) {
    let found: Result<_, StoreError> = store.read(|tx| tx.groups().list(filter, a_day(), page));
    let found = found.expect("a store can be read");
    (found.items.iter().map(|group| group.name.clone()).collect(), found.total)
}

#[test]
fn long_lists_are_those_of_the_fake() {
    let fake = FakeStore::default();
    let world = fill(&fake);
    let all = |filter| projects(&fake, filter, Page::Whole).0;
    let expected: Vec<_> = project_filters(&world).iter().map(all).collect();
    let all = |filter| groups(&fake, filter, Page::Whole).0;
    let expected_groups: Vec<_> = group_filters(&world).iter().map(all).collect();
    for database in databases() {
        let store = database.open(Options::default());
        let world = fill(&store);
        database.gather_statistics();
        // Among them are last pages, which are read from the end, and pages beyond the end.
        let pages =
            [(1, 20), (2, 20), (31, 20), (40, 20), (61, 20), (120, 20), (121, 20), (1, 100)];
        for (number, size) in pages {
            let page = Page::Numbered { number, size };
            let start = usize::try_from((number - 1) * size).unwrap_or_default();
            let cut = |all: &[String]| -> (Vec<String>, u64) {
                let shown = all.iter().skip(start).take(usize::try_from(size).unwrap_or_default());
                (shown.cloned().collect(), all.len() as u64)
            };
            for (filter, expected) in project_filters(&world).iter().zip(&expected) {
                assert_eq!(projects(&store, filter, page), cut(expected), "{filter:?}");
            }
            for (filter, expected) in group_filters(&world).iter().zip(&expected_groups) {
                assert_eq!(groups(&store, filter, page), cut(expected), "{filter:?}");
            }
        }
    }
}

/// The cached ids of a short list are not used after a change to the list.
#[test]
fn short_lists_follow_every_change() {
    for database in databases() {
        let store = database.open(Options::default());
        let store: &dyn Store = &store;
        let write = |work: &(dyn Fn(&mut dyn Tx) -> Result<(), StoreError> + Sync)| {
            store.write(work).expect("a store can be written");
        };
        let made: Result<_, StoreError> = store.write(|tx| {
            let ada = a_user("ada").insert(tx)?.id;
            let team = a_group("team").member(ada, AccessLevel::Guest).insert(tx)?.id;
            let other = a_group("other").insert(tx)?.id;
            for n in 10..30 {
                a_project(&format!("site-{n}"), team, ada).insert(tx)?;
            }
            let shown = a_project("shown", other, ada).insert(tx)?.id;
            Ok((ada, team, shown))
        });
        let (ada, team, shown) = made.expect("an empty store can be filled");
        let scope = ProjectScope::AuthorizedFor(ada);
        let filter = ProjectFilter::newest_first(scope, a_day());
        let expect = |first: &str, total: u64, what: &str| {
            for _ in 0..2 {
                let (names, counted) =
                    projects(store, &filter, Page::Numbered { number: 1, size: 5 });
                assert_eq!((names[0].as_str(), counted), (first, total), "{what}");
                let (last, _) = projects(store, &filter, Page::Numbered { number: 4, size: 6 });
                assert_eq!(last.len() as u64, total - 18, "{what}");
            }
        };
        expect("site-29", 20, "all of the team");
        write(&|tx| tx.project_members().insert(shown, a_member(ada, AccessLevel::Guest)));
        expect("shown", 21, "a membership");
        write(&|tx| a_project("newest", team, ada).insert(tx).map(drop));
        expect("newest", 22, "a project");
        write(&|tx| {
            let newest = tx.projects().find(&ProjectRef::parse("team/newest"))?;
            tx.projects().delete(newest.expect("it was made").id)
        });
        expect("shown", 21, "a project went");
        write(&|tx| tx.project_members().delete(shown, ada).map(drop));
        expect("site-29", 20, "a membership ended");
    }
}

/// A cached total is not used after a change to the list.
#[test]
fn totals_follow_every_change() {
    for database in databases() {
        let store = database.open(Options::default());
        let world = fill(&store);
        let store: &dyn Store = &store;
        let total = |scope| {
            let filter = ProjectFilter::newest_first(scope, a_day());
            let page = Page::Numbered { number: 1, size: 1 };
            let found: Result<_, StoreError> =
                store.read(|tx| tx.projects().list(&filter, page).map(|page| page.total));
            found.expect("a store can be read")
        };
        let write = |work: &(dyn Fn(&mut dyn Tx) -> Result<(), StoreError> + Sync)| {
            store.write(work).expect("a store can be written");
        };
        let viewer = Viewer { user: world.some, external: false };
        let lists = [
            ProjectScope::All,
            ProjectScope::VisibleTo(viewer),
            ProjectScope::AuthorizedFor(world.everywhere),
        ];
        let before = lists.map(total);
        let expect = |more: [i64; 3], what: &str| {
            for ((scope, before), more) in lists.into_iter().zip(before).zip(more) {
                assert_eq!(total(scope), before.saturating_add_signed(more), "{scope:?}: {what}");
            }
        };
        expect([0, 0, 0], "remembered");
        // A private, old project in the department. The user `everywhere` is a member.
        let project = ProjectId(world.first.0 + 4);
        let change = |visibility| {
            write(&|tx| {
                let found = tx.projects().find(&ProjectRef::Id(project))?;
                let mut found = found.expect("it was made");
                found.visibility = visibility;
                tx.projects().update(&found)
            });
        };
        change(Visibility::Public);
        expect([0, 1, 0], "a project became public");
        change(Visibility::Private);
        expect([0, 0, 0], "and private again");
        write(&|tx| tx.project_members().delete(project, world.everywhere).map(drop));
        expect([0, 0, -1], "a member left");
        write(&|tx| {
            tx.group_members().insert(world.department, a_member(world.some, AccessLevel::Guest))
        });
        assert!(total(ProjectScope::VisibleTo(viewer)) > before[1], "a member joined a group");
        write(&|tx| tx.group_members().delete(world.department, world.some).map(drop));
        expect([0, 0, -1], "and left it");
        let rolled_back: Result<(), StoreError> = store.write(|tx| {
            tx.projects().delete(project)?;
            let filter = ProjectFilter::newest_first(ProjectScope::All, a_day());
            tx.projects().list(&filter, Page::Whole)?;
            Err(StoreError::Gone)
        });
        assert!(rolled_back.is_err());
        expect([0, 0, -1], "nothing became of a deletion");
        write(&|tx| tx.projects().delete(project));
        expect([-1, 0, -1], "a project went");
        write(&|tx| tx.groups().delete(world.department));
        assert_eq!(total(ProjectScope::All), PROJECTS as u64 / 2, "a group went with its projects");
        write(&|tx| tx.users().delete(world.everywhere));
        assert_eq!(total(ProjectScope::AuthorizedFor(world.everywhere)), 0, "a user went");
    }
}
