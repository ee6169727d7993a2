//! The role of users in projects; see
//! [`Projects::role`](hexforge_domain::project::port::Projects::role).

use super::check::{read, write};
use super::world::a_world;
use crate::builders::{
    GroupBuilder, a_day, a_group, a_member, a_project, a_share, a_user, day, home_of, join_group,
    join_project, share,
};
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::policy::project::ProjectRole;
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::share::NewShare;

use AccessLevel::{Developer, Guest, Master, Owner, Reporter};

fn role(store: &dyn Store, project: ProjectId, user: UserId, days: i64) -> ProjectRole {
    read(store, |tx| tx.projects().role(project, user, day(days)))
}

fn member_role(level: AccessLevel) -> ProjectRole {
    ProjectRole { level: Some(level), owner: false }
}

const NO_ROLE: ProjectRole = ProjectRole { level: None, owner: false };

/// Creates a project in a group without members, and a user.
fn a_project_apart(store: &dyn Store) -> (ProjectId, NamespaceId, UserId) {
    let maker = a_user("maker").stored_in(store).id;
    let group = a_group("apart").stored_in(store).id;
    let project = a_project("site", group, maker).public().stored_in(store).id;
    (project, group, a_user("ada").stored_in(store).id)
}

/// Neither visibility nor having created a project gives a role.
pub fn a_stranger_has_no_role(store: &dyn Store) {
    let (site, _, ada) = a_project_apart(store);
    let maker = read(store, |tx| tx.users().find_by_username("maker")).expect("it was made").id;
    assert_eq!(role(store, site, ada, 0), NO_ROLE);
    assert_eq!(role(store, site, maker, 0), NO_ROLE);
    assert_eq!(role(store, site, UserId(i64::MAX), 0), NO_ROLE);
    assert_eq!(role(store, ProjectId(i64::MAX), ada, 0), NO_ROLE);
}

/// The owner of the personal namespace owns its projects, with or without a membership.
pub fn a_user_owns_the_projects_at_home(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let site = a_project("site", home_of(store, ada), bob).stored_in(store).id;
    assert_eq!(role(store, site, ada, 0), ProjectRole { level: None, owner: true });
    assert_eq!(role(store, site, bob, 0), NO_ROLE);
    join_project(store, site, a_member(ada, Master));
    assert_eq!(role(store, site, ada, 0), ProjectRole { level: Some(Master), owner: true });
}

/// A membership counts in its own project, until it expires.
pub fn a_membership_in_a_project_gives_its_level(store: &dyn Store) {
    let (site, group, ada) = a_project_apart(store);
    let other = a_project("other", group, ada).stored_in(store).id;
    join_project(store, site, a_member(ada, Guest));
    for level in [Guest, Reporter, Developer, Master] {
        write(store, |tx| tx.project_members().update(site, a_member(ada, level)));
        assert_eq!(role(store, site, ada, 0), member_role(level));
    }
    assert_eq!(role(store, other, ada, 0), NO_ROLE);
    let ending = Membership::new(ada, Master, Some(day(2)));
    write(store, |tx| tx.project_members().update(site, ending));
    let on_days = [1, 2, 3].map(|days| role(store, site, ada, days));
    assert_eq!(on_days, [member_role(Master), NO_ROLE, NO_ROLE]);
}

/// A group membership counts in all projects of the group; owners of the group own the projects.
pub fn a_membership_in_the_group_gives_its_level(store: &dyn Store) {
    let (site, group, ada) = a_project_apart(store);
    join_group(store, group, a_member(ada, Guest));
    for level in AccessLevel::ALL {
        write(store, |tx| tx.group_members().update(group, a_member(ada, level)));
        let expected = ProjectRole { level: Some(level), owner: level == Owner };
        assert_eq!(role(store, site, ada, 0), expected);
    }
    let ending = Membership::new(ada, Owner, Some(day(2)));
    write(store, |tx| tx.group_members().update(group, ending));
    let on_days = [1, 2].map(|days| role(store, site, ada, days));
    assert_eq!(on_days, [ProjectRole { level: Some(Owner), owner: true }, NO_ROLE]);
}

/// A share gives the members of its group their access level there, limited by that of the share. A
/// share never gives ownership.
pub fn a_share_gives_no_more_than_it_allows(store: &dyn Store) {
    let (site, group, ada) = a_project_apart(store);
    let mut cases = Vec::new();
    write(store, |tx| {
        for access in [Guest, Reporter, Developer, Master] {
            for level in AccessLevel::ALL {
                let name = format!("x{}", cases.len());
                let user = a_user(&name).insert(tx)?.id;
                let crew = a_group(&name).member(user, level).insert(tx)?.id;
                tx.shares().insert(a_share(site, crew, access))?;
                cases.push((access, level, user));
            }
        }
        Ok(())
    });
    let other = a_project("other", group, ada).stored_in(store).id;
    for (access, level, user) in cases {
        let expected = member_role(access.min(level));
        assert_eq!(role(store, site, user, 0), expected, "{access:?} {level:?}");
        assert_eq!(role(store, other, user, 0), NO_ROLE);
    }
    assert_eq!(role(store, site, ada, 0), NO_ROLE);
}

/// A share counts until it expires, and only for members whose membership in the group is in force.
pub fn a_share_ends_with_its_day_or_with_the_membership(store: &dyn Store) {
    let (site, _, ada) = a_project_apart(store);
    let crew = a_group("crew").stored_in(store).id;
    join_group(store, crew, Membership::new(ada, Developer, Some(day(5))));
    share(store, NewShare { expires_at: Some(day(3)), ..a_share(site, crew, Master) });
    let bob = a_user("bob").stored_in(store).id;
    join_group(store, crew, Membership::new(bob, Developer, Some(day(2))));
    let on_days = |user| [1, 2, 3, 4].map(|days| role(store, site, user, days).level);
    assert_eq!(on_days(ada), [Some(Developer), Some(Developer), None, None]);
    assert_eq!(on_days(bob), [Some(Developer), None, None, None]);
}

/// While a group forbids sharing, the shares of its projects give no access; memberships still do.
pub fn a_forbidden_share_gives_nothing(store: &dyn Store) {
    let (site, group, ada) = a_project_apart(store);
    let crew = a_group("crew").owner(ada).stored_in(store).id;
    share(store, a_share(site, crew, Master));
    let forbid = |lock: bool| {
        write(store, |tx| {
            let group = tx.groups().lock(group)?.expect("it was made");
            tx.groups().update(&Namespace { share_with_group_lock: lock, ..group })
        });
    };
    forbid(true);
    assert_eq!(role(store, site, ada, 0), NO_ROLE);
    join_project(store, site, a_member(ada, Guest));
    assert_eq!(role(store, site, ada, 0), member_role(Guest));
    forbid(false);
    assert_eq!(role(store, site, ada, 0), member_role(Master));
    // The setting of the project's group counts, not that of the group it is shared with.
    write(store, |tx| {
        let crew = tx.groups().lock(crew)?.expect("it was made");
        tx.groups().update(&Namespace { share_with_group_lock: true, ..crew })
    });
    assert_eq!(role(store, site, ada, 0), member_role(Master));
}

/// The highest level of several memberships and shares counts.
pub fn the_highest_level_counts(store: &dyn Store) {
    let maker = a_user("maker").stored_in(store).id;
    let levels = [None, Some(Guest), Some(Developer), Some(Master)];
    let mut cases = Vec::new();
    write(store, |tx| {
        for own in levels {
            for in_group in levels {
                for by_share in levels {
                    let name = format!("x{}", cases.len());
                    let user = a_user(&name).insert(tx)?.id;
                    let member = |group: GroupBuilder, level: Option<AccessLevel>| match level {
                        Some(level) => group.member(user, level),
                        None => group,
                    };
                    let group = member(a_group(&format!("{name}-group")), in_group).insert(tx)?;
                    let crew = member(a_group(&format!("{name}-crew")), by_share).insert(tx)?;
                    let site = a_project("site", group.id, maker).insert(tx)?.id;
                    if let Some(level) = own {
                        tx.project_members().insert(site, a_member(user, level))?;
                    }
                    tx.shares().insert(a_share(site, crew.id, Master))?;
                    cases.push((site, user, (own, in_group, by_share)));
                }
            }
        }
        Ok(())
    });
    for (site, user, (own, in_group, by_share)) in cases {
        let expected = ProjectRole { level: own.max(in_group).max(by_share), owner: false };
        let reasons = (own, in_group, by_share);
        assert_eq!(role(store, site, user, 0), expected, "{reasons:?}");
    }
}

/// The higher level of two shares counts.
pub fn the_better_of_two_shares_counts(store: &dyn Store) {
    let (site, _, ada) = a_project_apart(store);
    let [one, two] = ["one", "two"].map(|path| a_group(path).stored_in(store).id);
    join_group(store, one, a_member(ada, Owner));
    join_group(store, two, a_member(ada, Developer));
    share(store, a_share(site, one, Guest));
    share(store, a_share(site, two, Master));
    assert_eq!(role(store, site, ada, 0), member_role(Developer));
}

/// ProjectRole and project lists agree.
pub fn a_user_with_a_role_is_authorized(store: &dyn Store) {
    let world = a_world(store);
    for (name, level, owner) in [
        ("home", None, true),
        ("member", Some(Guest), false),
        ("was-member", None, false),
        ("in-team", Some(Developer), false),
        ("team-public", Some(Developer), false),
        ("in-past", None, false),
        ("in-guild", Some(Owner), true),
        ("shared", Some(Reporter), false),
        ("was-shared", None, false),
        ("shared-past", None, false),
        ("locked", None, false),
        ("hidden", None, false),
        ("public", None, false),
    ] {
        let project = world.project(name).id;
        assert_eq!(role(store, project, world.ada, 0), ProjectRole { level, owner }, "{name}");
        assert_eq!(role(store, project, world.eve, 0), NO_ROLE, "{name}");
    }
}

/// See [`Projects::authorized_among`](hexforge_domain::project::port::Projects::authorized_among).
pub fn authorized_projects_are_selected(store: &dyn Store) {
    let world = a_world(store);
    let all: Vec<ProjectId> = world.projects.iter().map(|project| project.id).collect();
    let among = |user, asked: &[ProjectId]| {
        let mut found = read(store, |tx| tx.projects().authorized_among(user, asked, a_day()));
        found.sort_unstable();
        found
    };
    let mut expected: Vec<ProjectId> = (world.projects.iter())
        .map(|project| project.id)
        .filter(|id| role(store, *id, world.ada, 0) != NO_ROLE)
        .collect();
    expected.sort_unstable();
    assert!(!expected.is_empty() && expected.len() < all.len());
    assert_eq!(among(world.ada, &all), expected);
    let [member, hidden] = ["member", "hidden"].map(|name| world.project(name).id);
    assert_eq!(among(world.ada, &[hidden, member, ProjectId(i64::MAX)]), [member]);
    assert_eq!(among(world.eve, &all), []);
    assert_eq!(among(world.ada, &[]), []);
}
