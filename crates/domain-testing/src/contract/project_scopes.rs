//! Scopes of project lists; see [`ProjectScope`].

use super::check::{all_projects, insider, outsider, read, write};
use super::world::{World, a_world};
use crate::builders::{
    a_group, a_member, a_project, a_share, a_user, at, day, join_project, share,
};
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::query::{ListAudience, ProjectFilter, ProjectScope};
use hexforge_domain::project::{Project, Starred};

/// Returns the names of the projects in a scope on a day.
fn names(store: &dyn Store, scope: ProjectScope, days: i64) -> Vec<String> {
    let filter = ProjectFilter { scope, today: day(days), ..all_projects() };
    let page = read(store, |tx| tx.projects().list(&filter, Page::Whole));
    assert_eq!(page.total, page.items.len() as u64, "{scope:?}");
    page.map(|project| project.name.as_str().to_owned()).items
}

/// Checks the names of the projects in scopes. Names are in creation order.
#[track_caller]
fn assert_shown(store: &dyn Store, expected: &[(ProjectScope, i64, &str)]) {
    for (scope, days, expected) in expected {
        let expected: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(names(store, *scope, *days), expected, "{scope:?} on day {days}");
    }
}

/// See [`ProjectScope::All`].
pub fn all_projects_are_all_there_are(store: &dyn Store) {
    let world = a_world(store);
    let all: Vec<&str> = world.projects.iter().map(|project| project.name.as_str()).collect();
    assert_eq!(names(store, ProjectScope::All, 0), all);
}

/// See [`ProjectScope::AuthorizedFor`].
pub fn a_user_is_authorized_by_home_memberships_and_shares(store: &dyn Store) {
    let World { ada, bob, eve, .. } = a_world(store);
    let of = ProjectScope::AuthorizedFor;
    let all = "home member was-member in-team team-internal team-public in-past in-guild shared \
               shared-internal shared-public was-shared shared-past locked hidden internal public";
    assert_shown(
        store,
        &[
            (
                of(ada),
                0,
                "home member in-team team-internal team-public in-guild shared shared-internal \
                 shared-public",
            ),
            (
                of(ada),
                -1,
                "home member was-member in-team team-internal team-public in-past in-guild shared \
                 shared-internal shared-public was-shared shared-past",
            ),
            (of(bob), 0, &all[5..]),
            (of(eve), 0, ""),
            (of(UserId(i64::MAX)), 0, ""),
        ],
    );
}

/// See [`ProjectScope::VisibleTo`].
pub fn a_user_sees_what_is_open_and_what_it_is_authorized_for(store: &dyn Store) {
    let World { ada, eve, .. } = a_world(store);
    let to = ProjectScope::VisibleTo;
    assert_shown(
        store,
        &[
            (
                to(insider(ada)),
                0,
                "home member in-team team-internal team-public in-guild shared shared-internal \
                 shared-public internal public",
            ),
            (
                to(outsider(ada)),
                0,
                "home member in-team team-internal team-public in-guild shared shared-internal \
                 shared-public public",
            ),
            (
                to(outsider(ada)),
                -1,
                "home member was-member in-team team-internal team-public in-past in-guild shared \
                 shared-internal shared-public was-shared shared-past public",
            ),
            (
                to(insider(eve)),
                0,
                "team-internal team-public shared-internal shared-public internal public",
            ),
            (to(outsider(eve)), 0, "team-public shared-public public"),
        ],
    );
}

/// See [`ProjectScope::OwnedBy`]: memberships below owner and shares do not give ownership.
pub fn a_user_owns_what_is_at_home_and_in_its_groups(store: &dyn Store) {
    let World { ada, bob, eve, .. } = a_world(store);
    let by = ProjectScope::OwnedBy;
    assert_shown(
        store,
        &[(by(ada), 0, "home in-guild"), (by(ada), -1, "home in-past in-guild"), (by(eve), 0, "")],
    );
    assert_eq!(names(store, by(bob), 0).len(), 16);
}

/// See [`ProjectScope::StarredBy`]: a star does not make a project visible.
pub fn a_user_finds_what_it_starred_and_may_see(store: &dyn Store) {
    let world = a_world(store);
    let by = ProjectScope::StarredBy;
    assert_shown(store, &[(by(insider(world.ada)), 0, "")]);
    for project in world.projects.iter().filter(|project| project.name.as_str() != "member") {
        for user in [world.ada, world.eve] {
            write(store, |tx| tx.stars().put(project.id, user, Starred::Yes, at(1)));
        }
    }
    assert_shown(
        store,
        &[
            (
                by(insider(world.ada)),
                0,
                "home in-team team-internal team-public in-guild shared shared-internal \
                 shared-public internal public",
            ),
            (
                by(outsider(world.ada)),
                -1,
                "home was-member in-team team-internal team-public in-past in-guild shared \
                 shared-internal shared-public was-shared shared-past public",
            ),
            (by(outsider(world.eve)), 0, "team-public shared-public public"),
            (by(insider(world.bob)), 0, ""),
        ],
    );
    write(store, |tx| tx.stars().put(world.project("public").id, world.eve, Starred::No, at(2)));
    assert_shown(store, &[(by(outsider(world.eve)), 0, "team-public shared-public")]);
}

/// See [`ProjectScope::OfGroup`], [`ProjectScope::InGroup`] and [`ProjectScope::SharedWith`].
pub fn a_group_shows_what_is_inside_and_what_is_shared_with_it(store: &dyn Store) {
    let World { ada, eve, team, past, vault, .. } = a_world(store);
    let of = |group, viewer| ProjectScope::OfGroup { group, viewer };
    let inside = |group, viewer| ProjectScope::InGroup { group, viewer };
    let shared = |group, viewer| ProjectScope::SharedWith { group, viewer };
    let all = ListAudience::Unrestricted;
    let [ada_in, eve_in, eve_out] =
        [insider(ada), insider(eve), outsider(eve)].map(ListAudience::Viewer);
    assert_shown(
        store,
        &[
            (inside(team, all), 0, "in-team team-internal team-public"),
            (inside(team, ada_in), 0, "in-team team-internal team-public"),
            (inside(team, eve_in), 0, "team-internal team-public"),
            (inside(team, eve_out), 0, "team-public"),
            (inside(past, ada_in), 0, ""),
            (inside(past, ada_in), -1, "in-past"),
            (inside(vault, all), 0, "locked"),
            (shared(team, all), 0, "shared shared-internal shared-public"),
            (shared(team, all), -1, "shared shared-internal shared-public was-shared"),
            (shared(team, ada_in), 0, "shared shared-internal shared-public"),
            (shared(team, eve_in), 0, "shared-internal shared-public"),
            (shared(team, eve_out), 0, "shared-public"),
            (shared(past, all), 0, "shared-past"),
            (shared(past, ada_in), 0, ""),
            (shared(past, ada_in), -1, "shared-past"),
            (
                of(team, all),
                0,
                "in-team team-internal team-public shared shared-internal shared-public",
            ),
            (
                of(team, ada_in),
                -1,
                "in-team team-internal team-public shared shared-internal shared-public \
                 was-shared",
            ),
            (of(team, eve_in), 0, "team-internal team-public shared-internal shared-public"),
            (of(team, eve_out), 0, "team-public shared-public"),
            (of(NamespaceId(i64::MAX), all), 0, ""),
        ],
    );
}

/// See [`ProjectScope::ForksOf`].
pub fn forks_of_a_project_are_listed_to_those_who_see_them(store: &dyn Store) {
    let world = a_world(store);
    let (source, other) = (world.project("public").id, world.project("shared-public").id);
    let forks = [("team-public", source), ("in-team", source), ("team-internal", other)];
    for (fork, source) in forks {
        let fork = Project { forked_from: Some(source), ..world.project(fork).clone() };
        write(store, |tx| tx.projects().update(&fork));
    }
    let of = |viewer| ProjectScope::ForksOf { source, viewer };
    let seen_by = |viewer| of(ListAudience::Viewer(viewer));
    assert_shown(
        store,
        &[
            (of(ListAudience::Unrestricted), 0, "in-team team-public"),
            (seen_by(insider(world.ada)), 0, "in-team team-public"),
            (seen_by(outsider(world.eve)), 0, "team-public"),
        ],
    );
}

/// See [`ProjectScope`]: a share may be older than the setting that forbids it.
pub fn a_share_gives_no_access_while_the_namespace_forbids_sharing(store: &dyn Store) {
    let world = a_world(store);
    let scopes = [
        ProjectScope::AuthorizedFor(world.ada),
        ProjectScope::VisibleTo(insider(world.ada)),
        ProjectScope::SharedWith { group: world.team, viewer: ListAudience::Unrestricted },
        ProjectScope::OfGroup { group: world.team, viewer: ListAudience::Unrestricted },
    ];
    let shown = |scope| names(store, scope, 0).contains(&"locked".to_owned());
    assert_eq!(scopes.map(shown), [false; 4]);
    write(store, |tx| {
        let vault = tx.groups().lock(world.vault)?.expect("it was made");
        tx.groups().update(&Namespace { share_with_group_lock: false, ..vault })
    });
    assert_eq!(scopes.map(shown), [true; 4]);
}

/// A project is listed once, however many reasons make it visible.
pub fn a_project_is_listed_once_however_it_is_reached(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let team = a_group("team").owner(ada).member(bob, AccessLevel::Guest).stored_in(store).id;
    let crew = a_group("crew").owner(ada).owner(bob).stored_in(store).id;
    let site = a_project("site", team, ada).public().stored_in(store).id;
    for user in [ada, bob] {
        join_project(store, site, a_member(user, AccessLevel::Guest));
        write(store, |tx| tx.stars().put(site, user, Starred::Yes, at(1)));
    }
    for group in [team, crew] {
        share(store, a_share(site, group, AccessLevel::Guest));
    }
    let viewer = ListAudience::Viewer(insider(ada));
    for scope in [
        ProjectScope::All,
        ProjectScope::AuthorizedFor(ada),
        ProjectScope::VisibleTo(insider(ada)),
        ProjectScope::OwnedBy(ada),
        ProjectScope::StarredBy(insider(ada)),
        ProjectScope::OfGroup { group: team, viewer },
        ProjectScope::OfGroup { group: team, viewer: ListAudience::Unrestricted },
        ProjectScope::InGroup { group: team, viewer },
        ProjectScope::SharedWith { group: team, viewer },
        ProjectScope::SharedWith { group: crew, viewer: ListAudience::Unrestricted },
    ] {
        assert_eq!(names(store, scope, 0), ["site"], "{scope:?}");
    }
}
