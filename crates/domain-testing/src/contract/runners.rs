//! Runners; see [`Runners`](hexforge_domain::runner::port::Runners).

use super::builds::{insert_job, insert_pipeline};
use super::check::{assert_pages, read, write};
use super::labels::a_project_with_owner;
use crate::builders::{
    a_day, a_group, a_member, a_moment, a_project, a_runner, a_user, at, home_of,
};
use hexforge_domain::build::{Build, NewBuild, Tags};
use hexforge_domain::ci::status::Status;
use hexforge_domain::id::{BuildId, ProjectId, RunnerId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::runner::query::{RunnerFilter, RunnerScope, RunnerSelection};
use hexforge_domain::runner::{NewRunner, Runner, RunnerInfo};
use hexforge_domain::text::Secret;

fn an_info() -> RunnerInfo {
    let text = |text: &str| Some(text.to_owned());
    RunnerInfo {
        name: text("gitlab-ci-multi-runner"),
        version: text("1.5.2"),
        revision: text("76fdacd"),
        platform: text("linux"),
        architecture: text("amd64"),
    }
}

/// All fields are read back as they were written, also after an update.
pub fn a_runner_has_every_field(store: &dyn Store) {
    let new = NewRunner {
        shared: false,
        run_untagged: false,
        locked: true,
        tags: Tags::from_iter(["ruby", "a \"b\""]),
        info: an_info(),
        ..a_runner("my runner 🦀")
    };
    let made = write(store, |tx| tx.runners().insert(new.clone()));
    let expected = Runner {
        id: made.id,
        description: new.description,
        active: true,
        shared: false,
        run_untagged: false,
        locked: true,
        tags: new.tags,
        info: new.info,
        created_at: a_moment(),
        updated_at: a_moment(),
        contacted_at: None,
    };
    assert_eq!(made, expected);
    let changed = Runner {
        description: "other".into(),
        active: false,
        shared: true,
        run_untagged: true,
        locked: false,
        tags: Tags::default(),
        info: RunnerInfo::default(),
        updated_at: at(5),
        contacted_at: Some(at(6)),
        ..made
    };
    write(store, |tx| {
        assert_eq!(tx.runners().lock(changed.id)?.map(|locked| locked.id), Some(changed.id));
        tx.runners().update(&changed)
    });
    assert_eq!(write(store, |tx| tx.runners().lock(RunnerId(i64::MAX))), None);
    read(store, |tx| {
        assert_eq!(tx.runners().find(changed.id)?, Some(changed.clone()));
        assert_eq!(tx.runners().find_all(&[changed.id])?, [changed]);
        Ok(())
    });
}

/// An assignment is stored once, and the project is found by its registration token.
pub fn runners_are_bound_to_projects(store: &dyn Store) {
    let ((one, _), (two, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let runner = write(store, |tx| tx.runners().insert(a_runner("one"))).id;
    write(store, |tx| {
        tx.runners().bind(runner, two)?;
        tx.runners().bind(runner, one)?;
        tx.runners().bind(runner, one)
    });
    let is_assigned = |project| read(store, |tx| tx.runners().is_assigned(runner, project));
    let newest = |limit| read(store, |tx| tx.runners().newest_projects(runner, None, limit));
    assert_eq!((newest(9), newest(2), newest(1)), (vec![two, one], vec![two, one], vec![two]));
    assert!(is_assigned(one) && is_assigned(two));
    write(store, |tx| tx.projects().delete(one));
    assert_eq!(newest(9), [two]);
    assert!(!is_assigned(one) && is_assigned(two));
}

/// Only the projects that a user is authorized for, by namespace, membership or group.
pub fn the_newest_projects_of_a_runner_are_those_of_a_user(store: &dyn Store) {
    let [ada, eve] = ["ada", "eve"].map(|name| a_user(name).stored_in(store).id);
    let team = a_group("team").owner(eve).stored_in(store).id;
    let home = home_of(store, ada);
    let projects = [("a", home, ada), ("b", team, eve), ("c", home, ada), ("d", team, eve)]
        .map(|(name, place, creator)| a_project(name, place, creator).stored_in(store).id);
    let runner = write(store, |tx| {
        let runner = tx.runners().insert(a_runner("one"))?.id;
        for project in projects {
            tx.runners().bind(runner, project)?;
        }
        tx.project_members().insert(projects[0], a_member(eve, AccessLevel::Guest))?;
        Ok(runner)
    });
    let newest = |user, limit| {
        let authorized = Some((user, a_day()));
        read(store, |tx| tx.runners().newest_projects(runner, authorized, limit))
    };
    assert_eq!(newest(ada, 9), [projects[2], projects[0]]);
    assert_eq!(newest(eve, 9), [projects[3], projects[1], projects[0]]);
    assert_eq!(newest(eve, 2), [projects[3], projects[1]]);
}

/// The assignments of many runners are found in one query.
pub fn projects_of_many_runners_are_found_together(store: &dyn Store) {
    let ((one, _), (two, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let [a, b, unbound, other] =
        ["a", "b", "c", "d"].map(|name| write(store, |tx| tx.runners().insert(a_runner(name))).id);
    write(store, |tx| {
        tx.runners().bind(b, two)?;
        tx.runners().bind(b, one)?;
        tx.runners().bind(a, two)?;
        tx.runners().bind(other, one)
    });
    let of = |ids: &[RunnerId]| read(store, |tx| tx.runners().projects_of(ids));
    assert_eq!(of(&[b, unbound, a]), [(a, two), (b, one), (b, two)]);
    assert_eq!(of(&[unbound, RunnerId(i64::MAX)]), []);
    assert_eq!(of(&[]), []);
    let many: Vec<RunnerId> = (0..2000).map(|number| RunnerId(i64::MAX - number)).collect();
    assert_eq!(of(&[&many[..], &[other]].concat()), [(other, one)]);
}

/// Runners are ordered by id; see [`Runners::list`](hexforge_domain::runner::port::Runners::list).
pub fn runners_are_listed_by_id(store: &dyn Store) {
    assert_pages(store, &[], |tx, page| tx.runners().list(&RunnerFilter::ALL, page));
    let made: Vec<Runner> = ["b", "a", "c", "d"]
        .map(|name| write(store, |tx| tx.runners().insert(a_runner(name))))
        .into();
    assert_pages(store, &made, |tx, page| tx.runners().list(&RunnerFilter::ALL, page));
}

/// A rolled back rotation is not counted.
pub fn rotations_of_the_registration_token_are_counted(store: &dyn Store) {
    assert_eq!(read(store, |tx| tx.runners().rotations()), 0);
    assert_eq!(write(store, |tx| tx.runners().rotate()), 1);
    let undone: Result<(), StoreError> = store.write(|tx| {
        tx.runners().rotate()?;
        Err(StoreError::Gone)
    });
    assert!(undone.is_err());
    assert_eq!(write(store, |tx| tx.runners().rotate()), 2);
    assert_eq!(read(store, |tx| tx.runners().rotations()), 2);
}

/// A project is found by its current token only.
pub fn a_runners_token_finds_its_project_until_it_is_replaced(store: &dyn Store) {
    let ((one, _), (two, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let token = |project| {
        read(store, |tx| tx.projects().runners_token(project)).expect("every project has one")
    };
    let (of_one, of_two) = (token(one), token(two));
    let found = |token: &str| read(store, |tx| tx.runners().project_by_token(token));
    assert_eq!((found(of_one.reveal()), found(of_two.reveal())), (Some(one), Some(two)));
    assert_eq!((found("nobody's"), found("\0"), found("")), (None, None, None));
    let new = Secret::new("another 🦀");
    write(store, |tx| tx.projects().set_runners_token(two, &new));
    assert_eq!(token(two), new);
    assert_eq!((found(of_two.reveal()), found(new.reveal())), (None, Some(two)));
    let taken: Result<(), StoreError> =
        store.write(|tx| tx.projects().set_runners_token(one, &new));
    assert!(matches!(taken, Err(StoreError::Duplicate("runners_token"))), "{taken:?}");
    write(store, |tx| tx.projects().delete(two));
    assert_eq!(found(new.reveal()), None);
    assert_eq!(read(store, |tx| tx.projects().runners_token(one)), Some(of_one));
    let gone: Result<(), StoreError> = store.write(|tx| tx.projects().set_runners_token(two, &new));
    assert!(matches!(gone, Err(StoreError::Gone)), "{gone:?}");
}

/// Builds of a deleted runner are kept without a runner.
pub fn builds_outlive_their_runner(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let pipeline = insert_pipeline(store, project);
    let runner = write(store, |tx| tx.runners().insert(a_runner("one"))).id;
    let build = Build { runner: Some(runner), ..insert_job(store, &pipeline, "rspec", |_| ()) };
    write(store, |tx| {
        tx.builds().update(&build)?;
        tx.runners().bind(runner, project)
    });
    write(store, |tx| tx.runners().delete(runner));
    read(store, |tx| {
        assert_eq!(tx.runners().find(runner)?, None);
        assert_eq!(tx.runners().newest_projects(runner, None, 9)?, []);
        assert_eq!(tx.builds().find(build.id)?, Some(Build { runner: None, ..build }));
        Ok(())
    });
}

fn next_builds(store: &dyn Store, runner: &Runner, limit: u32) -> Vec<BuildId> {
    let found = read(store, |tx| tx.builds().next_for(runner, limit));
    found.into_iter().map(|build| build.id).collect()
}

fn insert_pending_build(
    store: &dyn Store,
    project: ProjectId,
    name: &str,
    tags: &[&str],
) -> BuildId {
    let tags: Tags = tags.iter().copied().collect();
    let of = |new: &mut NewBuild| new.tags = tags.clone();
    insert_job(store, &insert_pipeline(store, project), name, of).id
}

fn run_on(store: &dyn Store, build: BuildId, runner: &Runner) {
    write(store, |tx| {
        let build = tx.builds().find(build)?.expect("it was made");
        let runner = Some(runner.id);
        tx.builds().update(&Build { status: Status::Running, runner, ..build })
    });
}

fn set_features(store: &dyn Store, id: ProjectId, builds: bool, shared_runners: bool) {
    write(store, |tx| {
        let mut project = tx.projects().find(&ProjectRef::Id(id))?.expect("it was made");
        (project.features.builds, project.features.shared_runners) = (builds, shared_runners);
        tx.projects().update(&project)
    });
}

/// Only pending jobs whose tags the runner has are offered; of each project the oldest.
pub fn a_runner_gets_jobs_that_match_its_tags(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let plain = write(store, |tx| tx.runners().insert(a_runner("plain")));
    assert_eq!(next_builds(store, &plain, 9), []);
    let ruby = write(store, |tx| {
        let tags = Tags::from_iter(["ruby", "linux", "c,d"]);
        tx.runners().insert(NewRunner { tags, run_untagged: false, ..a_runner("ruby") })
    });
    let pipeline = insert_pipeline(store, project);
    insert_job(store, &pipeline, "created", |new| new.status = Status::Created);
    insert_pending_build(store, project, "java", &["java"]);
    let tagged = insert_pending_build(store, project, "ruby", &["ruby", "c,d"]);
    let untagged = insert_pending_build(store, project, "first", &[]);
    insert_pending_build(store, project, "second", &[]);
    assert_eq!(next_builds(store, &plain, 9), [untagged]);
    assert_eq!(next_builds(store, &ruby, 9), [tagged]);
    let both = Runner { run_untagged: true, ..ruby };
    assert_eq!(next_builds(store, &both, 9), [tagged]);
    run_on(store, tagged, &both);
    assert_eq!(next_builds(store, &both, 9), [untagged]);
    assert_eq!(next_builds(store, &both, 0), []);
}

/// Projects with fewer builds on shared runners come first, then the oldest build; projects may
/// disable shared runners.
pub fn shared_runners_are_fair_between_projects(store: &dyn Store) {
    let ((one, _), (two, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let (three, _) = a_project_with_owner(store, "eve");
    let shared = write(store, |tx| tx.runners().insert(a_runner("shared")));
    let bound = write(store, |tx| {
        let made = tx.runners().insert(NewRunner { shared: false, ..a_runner("bound") })?;
        tx.runners().bind(made.id, three)?;
        Ok(made)
    });
    let first: Vec<_> =
        (0..3).map(|n| insert_pending_build(store, one, &n.to_string(), &[])).collect();
    let second: Vec<_> =
        (0..2).map(|n| insert_pending_build(store, two, &n.to_string(), &[])).collect();
    let third: Vec<_> =
        (0..2).map(|n| insert_pending_build(store, three, &n.to_string(), &[])).collect();
    assert_eq!(next_builds(store, &shared, 9), [first[0], second[0], third[0]]);
    assert_eq!(next_builds(store, &shared, 2), [first[0], second[0]]);
    run_on(store, first[0], &shared);
    assert_eq!(next_builds(store, &shared, 9), [second[0], third[0], first[1]]);
    run_on(store, second[0], &shared);
    // Builds on other runners do not count.
    run_on(store, third[0], &bound);
    assert_eq!(next_builds(store, &shared, 9), [third[1], first[1], second[1]]);
    set_features(store, two, true, false);
    set_features(store, three, false, true);
    assert_eq!(next_builds(store, &shared, 9), [first[1]]);
    assert_eq!(next_builds(store, &Runner { locked: true, ..shared }, 9), []);
}

/// Builds are offered oldest first, whatever runs, also if the project has disabled shared runners.
pub fn assigned_runners_serve_their_projects(store: &dyn Store) {
    let ((one, _), (two, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let (other, _) = a_project_with_owner(store, "eve");
    let runner = write(store, |tx| {
        let made = tx.runners().insert(NewRunner { shared: false, ..a_runner("bound") })?;
        tx.runners().bind(made.id, one)?;
        tx.runners().bind(made.id, two)?;
        Ok(made)
    });
    insert_pending_build(store, other, "x", &[]);
    let first = insert_pending_build(store, two, "a", &[]);
    let second = insert_pending_build(store, one, "b", &[]);
    let third = insert_pending_build(store, two, "c", &[]);
    set_features(store, one, true, false);
    assert_eq!(next_builds(store, &runner, 9), [first, second]);
    run_on(store, first, &runner);
    assert_eq!(next_builds(store, &runner, 9), [second, third]);
    assert_eq!(next_builds(store, &runner, 1), [second]);
    set_features(store, one, false, true);
    assert_eq!(next_builds(store, &runner, 9), [third]);
}

/// See [`Runners::list`](hexforge_domain::runner::port::Runners::list).
pub fn runners_are_listed_by_their_scope(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let project = a_project("site", home_of(store, ada), ada).stored_in(store).id;
    let mut all = Vec::new();
    for (name, shared) in [("a", true), ("b", false), ("c", false), ("d", true)] {
        let made = write(store, |tx| tx.runners().insert(NewRunner { shared, ..a_runner(name) }));
        all.push(made);
    }
    all[1].active = false;
    all[1].contacted_at = Some(at(100));
    all[3].contacted_at = Some(at(50));
    write(store, |tx| {
        for runner in &all {
            tx.runners().update(runner)?;
        }
        tx.runners().bind(all[2].id, project)
    });
    let selections = [
        (RunnerSelection::All, vec![0, 1, 2, 3]),
        (RunnerSelection::OfProject(project), vec![0, 2, 3]),
    ];
    for (selection, chosen) in selections {
        for (scope, among) in [
            (None, vec![0, 1, 2, 3]),
            (Some(RunnerScope::Active), vec![0, 2, 3]),
            (Some(RunnerScope::Paused), vec![1]),
            (Some(RunnerScope::Online { since: at(49) }), vec![1, 3]),
            (Some(RunnerScope::Online { since: at(50) }), vec![1]),
            (Some(RunnerScope::Specific), vec![1, 2]),
            (Some(RunnerScope::Shared), vec![0, 3]),
        ] {
            let expected: Vec<Runner> = (chosen.iter())
                .filter(|index| among.contains(*index))
                .map(|index| all[*index].clone())
                .collect();
            let filter = RunnerFilter { selection, scope };
            assert_pages(store, &expected, |tx, page| tx.runners().list(&filter, page));
        }
    }
}

/// See [`Runners::is_accessible`](hexforge_domain::runner::port::Runners::is_accessible).
pub fn masters_and_owners_access_the_runners_of_their_projects(store: &dyn Store) {
    let [ada, bob, eve] = ["ada", "bob", "eve"].map(|name| a_user(name).stored_in(store).id);
    let group = a_group("team").owner(ada).stored_in(store).id;
    let in_group = a_project("ship", group, ada).stored_in(store).id;
    let own = a_project("boat", home_of(store, bob), bob).stored_in(store).id;
    let runner = write(store, |tx| {
        let runner = tx.runners().insert(NewRunner { shared: false, ..a_runner("a") })?;
        tx.runners().bind(runner.id, in_group)?;
        Ok(runner)
    });
    let accessible = |user| {
        let filter = RunnerFilter {
            selection: RunnerSelection::AccessibleTo { user, today: a_day() },
            scope: None,
        };
        let listed = read(store, |tx| tx.runners().list(&filter, Page::Whole)).items;
        let found = read(store, |tx| tx.runners().is_accessible(runner.id, user, a_day()));
        assert_eq!(listed.len(), usize::from(found));
        found
    };
    assert!(accessible(ada) && !accessible(bob) && !accessible(eve));
    write(store, |tx| tx.project_members().insert(in_group, a_member(eve, AccessLevel::Developer)));
    assert!(!accessible(eve));
    write(store, |tx| {
        tx.project_members().delete(in_group, eve)?;
        tx.project_members().insert(in_group, a_member(eve, AccessLevel::Master))
    });
    assert!(accessible(eve));
    // The personal namespace of its owner.
    write(store, |tx| tx.runners().bind(runner.id, own));
    assert!(accessible(bob));
    write(store, |tx| tx.runners().unbind(runner.id, own));
    assert!(!accessible(bob));
    write(store, |tx| tx.group_members().insert(group, a_member(bob, AccessLevel::Master)));
    assert!(accessible(bob));
}
