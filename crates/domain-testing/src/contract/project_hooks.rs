//! Project hooks; see [`ProjectHooks`](hexforge_domain::project::port::ProjectHooks).

use super::check::{assert_pages, read, write};
use crate::builders::{a_hook, a_hook_url, a_project, a_user, at, home_of};
use hexforge_domain::id::{ProjectHookId, ProjectId};
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::hook::{HookSwitches, ProjectHook, ProjectHookSettings};
use hexforge_domain::text::Secret;

/// Creates two projects of a user.
fn two_projects(store: &dyn Store) -> [ProjectId; 2] {
    let ada = a_user("ada").stored_in(store).id;
    let home = home_of(store, ada);
    ["one", "two"].map(|name| a_project(name, home, ada).stored_in(store).id)
}

fn find_hook(store: &dyn Store, project: ProjectId, id: ProjectHookId) -> Option<ProjectHook> {
    read(store, |tx| tx.project_hooks().find(project, id))
}

/// Hook settings with each single event, with no event and with all events enabled.
fn all_settings() -> Vec<ProjectHookSettings> {
    let switches = |on: [bool; 8]| HookSwitches {
        push: on[0],
        tag_push: on[1],
        issues: on[2],
        merge_requests: on[3],
        note: on[4],
        build: on[5],
        pipeline: on[6],
        wiki_page: on[7],
    };
    let single = (0..8).map(|one| switches(std::array::from_fn(|index| index == one)));
    let all = single.chain([switches([false; 8]), switches([true; 8])]);
    let longest = format!("http://u:p%40@example.com/{}", "a".repeat(1974));
    (all.enumerate())
        .map(|(number, switches)| ProjectHookSettings {
            url: a_hook_url(if number == 3 { &longest } else { "https://example.com/ü?a='b'" }),
            token: (number % 3 > 0).then(|| Secret::new("s🦀".repeat(number % 3 - 1))),
            switches,
            enable_ssl_verification: number % 2 == 0,
        })
        .collect()
}

/// See [`ProjectHooks::insert`](hexforge_domain::project::port::ProjectHooks::insert).
pub fn a_project_hook_is_registered_with_every_field(store: &dyn Store) {
    let [project, other] = two_projects(store);
    for settings in all_settings() {
        let made = write(store, |tx| tx.project_hooks().insert(project, settings.clone(), at(7)));
        let expected = ProjectHook { id: made.id, project, settings, created_at: at(7) };
        assert_eq!(made, expected);
        assert_eq!(find_hook(store, project, made.id), Some(expected));
        assert_eq!(find_hook(store, other, made.id), None);
    }
    assert_eq!(find_hook(store, project, ProjectHookId(i64::MAX)), None);
}

/// Hooks are ordered newest first, also within the same moment; several may have the same URL.
pub fn hooks_of_a_project_are_listed_newest_first(store: &dyn Store) {
    let [project, other] = two_projects(store);
    let mut hooks = Vec::new();
    for (url, moment) in [("a", 1), ("b", 1), ("a", 1), ("c", 9)] {
        let settings = a_hook(&format!("http://{url}.example"));
        let insert = |project| {
            write(store, |tx| tx.project_hooks().insert(project, settings.clone(), at(moment)))
        };
        hooks.insert(0, insert(project));
        insert(other);
    }
    assert_pages(store, &hooks, |tx, page| tx.project_hooks().list(project, page));
    assert_pages(store, &[], |tx, page| tx.project_hooks().list(ProjectId(i64::MAX), page));
}

/// See [`ProjectHooks::update`](hexforge_domain::project::port::ProjectHooks::update).
pub fn a_project_hook_is_changed_in_place(store: &dyn Store) {
    let [project, other] = two_projects(store);
    let insert = |project| {
        let new = a_hook("http://example.com");
        write(store, |tx| tx.project_hooks().insert(project, new, at(1)))
    };
    let (hook, same, elsewhere) = (insert(project), insert(project), insert(other));
    for settings in all_settings() {
        write(store, |tx| tx.project_hooks().update(hook.id, &settings, at(2)));
        let expected = ProjectHook { settings, ..hook.clone() };
        assert_eq!(find_hook(store, project, hook.id), Some(expected));
    }
    assert_eq!(find_hook(store, project, same.id), Some(same));
    assert_eq!(find_hook(store, other, elsewhere.id), Some(elsewhere));
    let gone = ProjectHookId(i64::MAX);
    write(store, |tx| tx.project_hooks().update(gone, &a_hook("http://a.example"), at(3)));
    assert_eq!(find_hook(store, project, gone), None);
}

/// See [`ProjectHooks::delete`](hexforge_domain::project::port::ProjectHooks::delete).
pub fn a_deleted_project_hook_is_gone_alone(store: &dyn Store) {
    let [project, _] = two_projects(store);
    let insert = || {
        let new = a_hook("http://example.com");
        write(store, |tx| tx.project_hooks().insert(project, new, at(1)))
    };
    let (one, two) = (insert(), insert());
    write(store, |tx| tx.project_hooks().delete(one.id));
    write(store, |tx| tx.project_hooks().delete(one.id));
    assert_eq!(find_hook(store, project, one.id), None);
    assert_pages(store, &[two], |tx, page| tx.project_hooks().list(project, page));
}

/// See [`ProjectHooks::of_projects`](hexforge_domain::project::port::ProjectHooks::of_projects).
pub fn hooks_of_several_projects_come_at_once(store: &dyn Store) {
    let projects =
        ["ada", "bob", "eve"].map(|user| super::labels::a_project_with_owner(store, user).0);
    let mut hooks = Vec::new();
    for project in [projects[1], projects[0], projects[2], projects[1]] {
        let new = a_hook("http://a.example");
        hooks.push(write(store, |tx| tx.project_hooks().insert(project, new, at(1))));
    }
    let of = |projects: &[ProjectId]| read(store, |tx| tx.project_hooks().of_projects(projects));
    assert_eq!(
        of(&[projects[0], projects[1]]),
        [hooks[0].clone(), hooks[1].clone(), hooks[3].clone()]
    );
    assert_eq!(of(&[ProjectId(i64::MAX)]), []);
    assert_eq!(of(&[]), []);
}
