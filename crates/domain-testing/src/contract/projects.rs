//! Single projects; see [`Projects`](hexforge_domain::project::port::Projects).

use super::check::{assert_duplicate, project, read, write};
use crate::builders::{a_group, a_project, a_user, at, home_of};
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::namespace::NamespacePath;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::project::{
    Archived, Description, Features, NamespaceWithOwner, NewProject, Project, ProjectHeader,
    ProjectName, ProjectPath, ProjectRef, ProjectWithNamespace, Starred,
};
use hexforge_domain::text::Secret;
use hexforge_domain::visibility::Visibility;
use std::collections::BTreeSet;

/// Creates a user; returns it with its personal namespace.
fn a_home(store: &dyn Store) -> (UserId, NamespaceId) {
    let ada = a_user("Ada.L").stored_in(store).id;
    (ada, home_of(store, ada))
}

/// Features that all differ from the default.
fn other_features() -> Features {
    Features {
        issues: false,
        merge_requests: false,
        wiki: false,
        builds: false,
        snippets: true,
        container_registry: false,
        shared_runners: false,
        public_builds: false,
        lfs: Some(false),
        merge_only_if_build_succeeds: true,
        merge_only_if_discussions_resolved: true,
        request_access: true,
    }
}

fn at_path(namespace: &str, path: &str) -> ProjectRef {
    ProjectRef::Path { namespace: namespace.to_owned(), path: path.to_owned() }
}

/// See [`Projects::insert`](hexforge_domain::project::port::Projects::insert).
pub fn a_new_project_has_every_field(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let source = a_project("source", home, ada).stored_in(store).id;
    let longest = Description::parse(&"🦀".repeat(2000)).ok();
    let quoted = Description::parse("Don't \"quote\" \\ %_\n🦀").ok();
    for (number, visibility, description, forked_from, rest) in [
        (1, Visibility::Private, None, None, None),
        (
            2,
            Visibility::Internal,
            quoted,
            Some(source),
            Some("https://u:p@example.com/a.git?b=%20"),
        ),
        (3, Visibility::Public, longest, None, Some("")),
    ] {
        let new = NewProject {
            namespace: home,
            creator: ada,
            name: ProjectName::parse(&format!("🦀 Größe {number}")).expect("a valid name"),
            path: ProjectPath::parse(&format!("Path.{number}_-")).expect("a valid path"),
            description,
            visibility,
            features: if number == 2 { other_features() } else { Features::default() },
            forked_from,
            runners_token: Secret::new(format!("token {number}")),
            import_url: rest.map(str::to_owned),
            avatar: rest.map(str::to_owned),
            at: at(number),
        };
        let made = write(store, |tx| tx.projects().insert(new.clone()));
        let expected = Project {
            id: made.id,
            namespace: new.namespace,
            creator: Some(new.creator),
            name: new.name,
            path: new.path,
            description: new.description,
            visibility: new.visibility,
            archived: Archived::No,
            features: new.features,
            star_count: 0,
            forks_count: 0,
            open_issues_count: 0,
            external_tracker: false,
            forked_from: new.forked_from,
            import_url: new.import_url,
            default_branch: None,
            avatar: new.avatar,
            created_at: new.at,
            updated_at: new.at,
            last_activity_at: new.at,
        };
        assert_eq!(made, expected);
        assert_eq!(project(store, made.id), expected);
    }
}

/// See [`Project::id`].
pub fn ids_of_deleted_projects_are_not_used_again(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let mut ids = BTreeSet::new();
    for round in 0..3 {
        let site = a_project("site", home, ada).stored_in(store).id;
        write(store, |tx| tx.projects().delete(site));
        assert!(ids.insert(site), "round {round}: {site} was used before");
    }
}

/// See [`Projects::find`](hexforge_domain::project::port::Projects::find).
pub fn a_project_is_found_by_its_id_and_by_its_path_in_any_case(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let group = a_group("Team_a").stored_in(store).id;
    let personal = a_project("site", home, ada).path("Site.js").stored_in(store);
    let shared = a_project("site", group, ada).path("site.js").stored_in(store);
    let found = |named: &ProjectRef| {
        let (project, header) =
            read(store, |tx| Ok((tx.projects().find(named)?, tx.projects().header(named)?)));
        let expected = project.clone().map(|Project { id, path, visibility, archived, .. }| {
            ProjectHeader { id, path, visibility, archived, repository_version: 0 }
        });
        assert_eq!(header, expected, "{named:?}");
        project
    };
    for project in [&personal, &shared] {
        assert_eq!(found(&ProjectRef::Id(project.id)).as_ref(), Some(project));
    }
    for (namespace, path, expected) in [
        ("Ada.L", "Site.js", &personal),
        ("ada.l", "site.js", &personal),
        ("ADA.L", "SITE.JS", &personal),
        ("Team_a", "site.js", &shared),
        ("team_A", "Site.JS", &shared),
    ] {
        let named = at_path(namespace, path);
        assert_eq!(found(&named).as_ref(), Some(expected), "{named:?}");
    }
    for (namespace, path) in [
        ("Ada.L", "site"),
        ("Ada.L", "sitexjs"),
        ("Ada.L", "%"),
        ("Ada_L", "site.js"),
        ("Teamxa", "site.js"),
        ("", "site.js"),
        ("Ada.L", ""),
        ("Ada.L", "Site.js/"),
        ("Ada.L\0", "Site.js"),
        ("Ada.L", "Site.js\0"),
        ("Ada.L", "ſite.js"),
    ] {
        let named = at_path(namespace, path);
        assert_eq!(found(&named), None, "{named:?}");
    }
    for id in [0, -1, i64::MAX] {
        assert_eq!(found(&ProjectRef::Id(ProjectId(id))), None, "{id}");
    }
}

/// See [`Projects::find_all`](hexforge_domain::project::port::Projects::find_all).
pub fn several_projects_are_found_at_once(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let [one, two, three] =
        ["one", "two", "three"].map(|name| a_project(name, home, ada).stored_in(store));
    let found = |ids: &[ProjectId]| {
        let mut found = read(store, |tx| tx.projects().find_all(ids));
        found.sort_by_key(|project| project.id);
        found
    };
    assert_eq!(found(&[]), []);
    assert_eq!(found(&[ProjectId(i64::MAX)]), []);
    assert_eq!(found(&[three.id, one.id, three.id, ProjectId(-1)]), [one, three]);
    assert_eq!(found(&[two.id]), [two]);
}

/// See [`Projects::lock`](hexforge_domain::project::port::Projects::lock).
pub fn locking_answers_with_the_project(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let site = a_project("site", home, ada).stored_in(store);
    let locked = write(store, |tx| {
        tx.projects().lock(site.id)?;
        tx.projects().lock(site.id)
    });
    assert_eq!(locked, Some(site.clone()));
    assert_eq!(write(store, |tx| tx.projects().lock(ProjectId(i64::MAX))), None);
    let both = write(store, |tx| tx.projects().lock_all(&[ProjectId(i64::MAX), site.id, site.id]));
    assert_eq!(both.iter().map(|project| project.id).collect::<Vec<_>>(), [site.id]);
}

/// Names are unique case-sensitively and paths ignoring case, both per namespace.
pub fn names_and_paths_are_taken_once_in_a_namespace(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let group = a_group("team").stored_in(store).id;
    a_project("Site", home, ada).path("site.a").stored_in(store);
    assert_duplicate(store, "name", |tx| a_project("Site", home, ada).path("free").insert(tx));
    for path in ["site.a", "Site.a", "SITE.A"] {
        assert_duplicate(store, "path", |tx| a_project("Free", home, ada).path(path).insert(tx));
    }
    let same_elsewhere = a_project("Site", group, ada).path("site.a").stored_in(store);
    let other_case = a_project("SITE", home, ada).path("site_a").stored_in(store);

    let moved = Project { namespace: home, ..same_elsewhere.clone() };
    let free = |path: &str| ProjectPath::stored(path.to_owned());
    let moved_path = Project { path: free("Site.A"), ..moved.clone() };
    let moved_path = Project { name: ProjectName::stored("Free".into()), ..moved_path };
    assert_duplicate(store, "path", |tx| tx.projects().update(&moved_path));
    let moved_name = Project { path: free("free"), ..moved };
    assert_duplicate(store, "name", |tx| tx.projects().update(&moved_name));
    let renamed = Project { path: free("SITE.a"), ..other_case.clone() };
    assert_duplicate(store, "path", |tx| tx.projects().update(&renamed));
    // A project does not collide with itself.
    for path in ["SITE_A", "site_A", "other"] {
        let renamed = Project { path: free(path), ..other_case.clone() };
        write(store, |tx| tx.projects().update(&renamed));
        assert_eq!(project(store, other_case.id), renamed);
    }
    assert_eq!(project(store, same_elsewhere.id), same_elsewhere);
}

/// See [`Projects::find_clashing`](hexforge_domain::project::port::Projects::find_clashing).
pub fn clashing_projects_are_those_of_the_name_or_path(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let group = a_group("team").stored_in(store).id;
    let one = a_project("One", home, ada).path("uno").stored_in(store);
    let two = a_project("Two", home, ada).path("due_x").stored_in(store);
    a_project("One", group, ada).path("uno").stored_in(store);
    let clashing = |namespace: NamespaceId, name: &str, path: &str| {
        let (name, path) =
            (ProjectName::stored(name.to_owned()), ProjectPath::stored(path.to_owned()));
        let found = read(store, |tx| tx.projects().find_clashing(namespace, &name, &path));
        let mut ids: Vec<_> = found.into_iter().map(|project| project.id).collect();
        ids.sort();
        ids
    };
    for (name, path, expected) in [
        ("One", "free", &[one.id][..]),
        ("Free", "UNO", &[one.id]),
        ("One", "uno", &[one.id]),
        ("One", "DUE_x", &[one.id, two.id]),
        ("one", "free", &[]),
        ("Free", "duexx", &[]),
        ("Uno", "one", &[]),
    ] {
        assert_eq!(clashing(home, name, path), expected, "{name} {path}");
    }
    assert_eq!(clashing(NamespaceId(i64::MAX), "One", "uno"), []);
}

/// See [`Projects::count_in`](hexforge_domain::project::port::Projects::count_in).
pub fn projects_of_a_namespace_are_counted(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let group = a_group("team").stored_in(store).id;
    let count = |namespace| read(store, |tx| tx.projects().count_in(namespace));
    assert_eq!((count(home), count(group)), (0, 0));
    let one = a_project("one", home, ada).stored_in(store);
    a_project("two", home, ada).stored_in(store);
    a_project("one", group, ada).stored_in(store);
    assert_eq!((count(home), count(group)), (2, 1));
    let moved = Project { path: ProjectPath::stored("moved".into()), namespace: group, ..one };
    let moved = Project { name: ProjectName::stored("moved".into()), ..moved };
    write(store, |tx| tx.projects().update(&moved));
    assert_eq!((count(home), count(group)), (1, 2));
    write(store, |tx| tx.projects().delete(moved.id));
    assert_eq!((count(home), count(group), count(NamespaceId(i64::MAX))), (1, 1, 0));
}

/// The counter equals a recount after any sequence of creations, moves and deletions, including
/// rolled back ones.
pub fn the_counter_of_personal_projects_is_right_after_any_changes(store: &dyn Store) {
    let users = ["ada", "bob", "cid"].map(|name| a_user(name).stored_in(store).id);
    let group = a_group("team").stored_in(store).id;
    let places = [home_of(store, users[0]), home_of(store, users[1]), group];
    let mut projects: Vec<Project> = Vec::new();
    let mut dice = 7_u64;
    let mut roll = |sides: usize| {
        dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (dice >> 33) as usize % sides
    };
    for round in 0..60 {
        let place = places[roll(places.len())];
        let keep = roll(4) > 0;
        let chosen = roll(projects.len().max(1));
        let done: Result<Option<Project>, StoreError> = store.write(|tx| {
            let changed = match (roll(3), projects.get(chosen)) {
                (0, Some(project)) => {
                    let moved = Project { namespace: place, ..project.clone() };
                    tx.projects().update(&moved)?;
                    Some(moved)
                }
                (1, Some(project)) => {
                    tx.projects().delete(project.id)?;
                    None
                }
                _ => Some(a_project(&format!("p{round}"), place, users[0]).insert(tx)?),
            };
            if keep { Ok(changed) } else { Err(StoreError::Gone) }
        });
        match done {
            Ok(Some(changed)) => {
                projects.retain(|project| project.id != changed.id);
                projects.push(changed);
            }
            Ok(None) => drop(projects.remove(chosen)),
            Err(error) => assert!(!keep, "{error}"),
        }
        for user in users {
            let home = home_of(store, user);
            let (counters, counted) = read(store, |tx| {
                Ok((tx.projects().count_personal(&[user])?, tx.projects().count_in(home)?))
            });
            let counter = counters.first().map_or(0, |(_, count)| *count);
            assert_eq!(counter, counted, "round {round}");
        }
    }
}

/// See [`Projects::count_personal`](hexforge_domain::project::port::Projects::count_personal).
pub fn personal_projects_of_several_users_are_counted(store: &dyn Store) {
    let [ada, bob, cid] = ["ada", "bob", "cid"].map(|name| a_user(name).stored_in(store).id);
    let group = a_group("team").owner(ada).owner(cid).stored_in(store).id;
    for (name, namespace, creator) in [
        ("one", home_of(store, ada), bob),
        ("two", home_of(store, ada), ada),
        ("one", home_of(store, bob), ada),
        ("one", group, ada),
        ("two", group, cid),
    ] {
        a_project(name, namespace, creator).stored_in(store);
    }
    let counted = |owners: &[UserId]| {
        let mut counted = read(store, |tx| tx.projects().count_personal(owners));
        counted.retain(|(_, count)| *count > 0);
        counted.sort();
        counted
    };
    assert_eq!(counted(&[bob, cid, ada, bob, UserId(i64::MAX)]), [(ada, 2), (bob, 1)]);
    assert_eq!(counted(&[bob]), [(bob, 1)]);
    assert_eq!(counted(&[cid]), []);
    assert_eq!(counted(&[]), []);
}

/// See [`Projects::update`](hexforge_domain::project::port::Projects::update).
pub fn updating_stores_every_field_but_the_counters(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let bob = a_user("bob").stored_in(store).id;
    let group = a_group("team").stored_in(store).id;
    let site = a_project("site", home, ada).described("before").stored_in(store);
    let other = a_project("other", home, ada).stored_in(store);
    let changed = Project {
        id: site.id,
        namespace: group,
        creator: Some(bob),
        name: ProjectName::parse("After 🦀").expect("a valid name"),
        path: ProjectPath::parse("After").expect("a valid path"),
        description: Description::parse("after 🦀").ok(),
        visibility: Visibility::Internal,
        archived: Archived::Yes,
        features: other_features(),
        star_count: 0,
        forks_count: 0,
        open_issues_count: 0,
        external_tracker: false,
        forked_from: None,
        import_url: Some("git://example.com/x".into()),
        default_branch: None,
        avatar: Some("after.png".into()),
        created_at: at(1),
        updated_at: at(2),
        last_activity_at: at(3),
    };
    let asked = Project { star_count: 7, forks_count: 8, open_issues_count: 9, ..changed.clone() };
    write(store, |tx| tx.projects().update(&asked));
    assert_eq!(project(store, site.id), changed);
    let found = read(store, |tx| tx.projects().find(&at_path("team", "after")));
    assert_eq!(found.as_ref(), Some(&changed));
    assert_eq!(read(store, |tx| tx.projects().find(&at_path("ada.l", "site"))), None);

    let emptied = Project {
        creator: None,
        description: None,
        archived: Archived::No,
        features: Features { lfs: Some(true), ..Features::default() },
        import_url: None,
        avatar: None,
        ..changed
    };
    write(store, |tx| tx.projects().update(&emptied));
    assert_eq!(project(store, site.id), emptied);
    assert_eq!(project(store, other.id), other);
}

/// After a rename of its owner, a project is found by the new path.
pub fn projects_follow_a_renamed_user_at_once(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let site = a_project("site", home, ada).stored_in(store);
    let new = NamespacePath::parse("countess").expect("letters make a path");
    write(store, |tx| {
        tx.namespaces().rename_personal(ada, &new, at(1))?;
        assert_eq!(tx.projects().find(&at_path("Countess", "site"))?, Some(site.clone()));
        assert_eq!(tx.projects().find(&at_path("Ada.L", "site"))?, None);
        Ok(())
    });
}

/// See [`Projects::record_activity`](hexforge_domain::project::port::Projects::record_activity).
pub fn activity_is_noted_at_most_once_an_hour(store: &dyn Store) {
    const HOUR: i64 = 3600;
    let (ada, home) = a_home(store);
    let site = a_project("site", home, ada).stored_in(store);
    let other = a_project("other", home, ada).stored_in(store);
    for (moment, noted) in [
        (1, 0),
        (HOUR - 1, 0),
        (HOUR, HOUR),
        (HOUR + 1, HOUR),
        (2 * HOUR - 1, HOUR),
        (5 * HOUR, 5 * HOUR),
        (5 * HOUR, 5 * HOUR),
        // The clocks of two machines may differ.
        (2 * HOUR, 5 * HOUR),
        (0, 5 * HOUR),
    ] {
        write(store, |tx| tx.projects().record_activity(site.id, at(moment)));
        let expected = Project { last_activity_at: at(noted), ..site.clone() };
        assert_eq!(project(store, site.id), expected, "{moment}");
    }
    write(store, |tx| tx.projects().record_activity(ProjectId(i64::MAX), at(9 * HOUR)));
    assert_eq!(project(store, other.id), other);
}

/// A project cannot be a fork of a deleted project.
pub fn a_fork_needs_its_source(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let source = a_project("source", home, ada).stored_in(store).id;
    write(store, |tx| tx.projects().delete(source));
    let outcome =
        store.write(|tx| a_project("fork", home, ada).forked_from(source).insert(tx).map(|_| ()));
    assert!(matches!(outcome, Err(StoreError::Gone)), "{outcome:?}");
}

/// See [`Projects::find_with_namespace`](hexforge_domain::project::port::Projects::find_with_namespace).
pub fn a_project_is_found_with_its_place(store: &dyn Store) {
    let ada = a_user("Ada.L").stored_in(store);
    let bob = a_user("bob").stored_in(store);
    let home = home_of(store, ada.id);
    let team = a_group("team").stored_in(store);
    let own = a_project("own", home, ada.id).stored_in(store);
    let shared = a_project("shared", team.id, ada.id).stored_in(store);
    write(store, |tx| tx.stars().put(shared.id, bob.id, Starred::Yes, at(1)));
    let shared = project(store, shared.id);
    let found = |named: &ProjectRef, reader| {
        read(store, |tx| tx.projects().find_with_namespace(named, reader))
    };
    let namespace = |id| read(store, |tx| tx.namespaces().find(id)).expect("a namespace");
    let with_namespace = |project: &Project, owner, starred| {
        let place = NamespaceWithOwner { namespace: namespace(project.namespace), owner };
        Some((ProjectWithNamespace { project: project.clone(), place }, starred))
    };
    for named in [ProjectRef::Id(own.id), at_path("ada.l", "OWN")] {
        let expected = with_namespace(&own, Some(ada.clone()), Starred::No);
        assert_eq!(found(&named, Some(bob.id)), expected);
        assert_eq!(found(&named, None), expected);
    }
    for named in [ProjectRef::Id(shared.id), at_path("team", "shared")] {
        assert_eq!(found(&named, Some(bob.id)), with_namespace(&shared, None, Starred::Yes));
        assert_eq!(found(&named, Some(ada.id)), with_namespace(&shared, None, Starred::No));
        assert_eq!(found(&named, None), with_namespace(&shared, None, Starred::No));
    }
    for named in [ProjectRef::Id(ProjectId(i64::MAX)), at_path("team", "own"), at_path("a\0", "b")]
    {
        assert_eq!(found(&named, Some(bob.id)), None);
    }
}
