//! Repository tasks; see [`RepositoryTasks`](hexforge_domain::repository::port::RepositoryTasks).

use super::check::{read, write};
use crate::builders::{a_branch, a_group, a_project, a_request_branch, a_user, an_import, at};
use chrono::TimeDelta;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{ProjectId, RepositoryTaskId, UserId};
use hexforge_domain::merge_request::BranchPush;
use hexforge_domain::ports::store::Store;
use hexforge_domain::repository::task::{
    ImportState, MAX_ATTEMPTS, MAX_CONCURRENT_MERGES, NEVER_FINISHED, RepositoryTask, TaskKind,
};
use hexforge_domain::text::Secret;
use std::collections::BTreeSet;

/// Creates a user and two projects of another user.
fn a_site(store: &dyn Store) -> (UserId, [ProjectId; 2]) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let team = a_group("team").owner(bob).stored_in(store).id;
    (ada, ["one", "two"].map(|name| a_project(name, team, bob).stored_in(store).id))
}

fn insert_task(
    store: &dyn Store,
    project: ProjectId,
    kind: &TaskKind,
    seconds: i64,
) -> RepositoryTaskId {
    write(store, |tx| tx.repository_tasks().insert(project, kind, at(seconds)))
}

/// Claims a task for one minute.
fn claim_task(store: &dyn Store, seconds: i64) -> Option<RepositoryTask> {
    write(store, |tx| tx.repository_tasks().claim(at(seconds), at(seconds + 60)))
}

fn claim_id(store: &dyn Store, seconds: i64) -> Option<RepositoryTaskId> {
    claim_task(store, seconds).map(|task| task.id)
}

fn finish_task(store: &dyn Store, id: RepositoryTaskId) {
    write(store, |tx| tx.repository_tasks().finish(id));
}

fn fail_task(store: &dyn Store, id: RepositoryTaskId, reason: &str, again: Option<i64>) {
    write(store, |tx| tx.repository_tasks().fail(id, reason, again.map(at)));
}

/// See [`RepositoryTask`]. Finished tasks are not claimed again.
pub fn a_claimed_task_has_every_field(store: &dyn Store) {
    let (ada, [one, two]) = a_site(store);
    let url = "https://u:p%20@example.com/🦀.git?a='b'";
    let branch = a_request_branch("a \"b\" 🦀");
    let (old, new) = (Some(ObjectId::ZERO), Some(ObjectId::from_bytes([255; 20])));
    let push = BranchPush { branch, old, new, user: ada, version: i64::MAX };
    for kind in [
        TaskKind::Copy { source: two },
        TaskKind::Import { url: Secret::new(url), user: ada },
        TaskKind::RemoveMerged { user: ada },
        TaskKind::RefreshMergeRequests(BranchPush { old: None, ..push.clone() }),
        TaskKind::RefreshMergeRequests(BranchPush { new: None, ..push.clone() }),
        TaskKind::CloseRequestsOfFork { source: two, user: ada },
        TaskKind::StopEnvironments {
            branches: vec![a_branch("ö/\"b\""), a_branch("c")],
            user: ada,
        },
        TaskKind::MergeAutomatically { branch: push.branch.clone(), head: ObjectId::ZERO },
        TaskKind::RemoveSourceBranch { branch: push.branch, head: ObjectId::ZERO, user: ada },
    ] {
        let id = insert_task(store, one, &kind, 0);
        let expected = RepositoryTask { id, project: one, kind, tries: 1 };
        assert_eq!(claim_task(store, 0), Some(expected));
        finish_task(store, id);
        assert_eq!(claim_task(store, 100), None);
    }
}

/// Only the claim of a running task can be extended.
pub fn the_claim_of_a_running_task_is_extended(store: &dyn Store) {
    let (ada, [one, _]) = a_site(store);
    let extend = |id, seconds| write(store, |tx| tx.repository_tasks().extend(id, at(seconds)));
    let id = insert_task(store, one, &an_import(ada), 10);
    extend(id, 500);
    assert!(claim_task(store, 10).is_some(), "a task that waits is not put off");
    extend(id, 500);
    assert_eq!(claim_task(store, 499), None);
    assert!(claim_task(store, 500).is_some());
    fail_task(store, id, "no", Some(600));
    extend(id, 900);
    assert!(claim_task(store, 600).is_some(), "a failed task is not put off");
    fail_task(store, id, "no", None);
    extend(id, 900);
    assert_eq!(claim_task(store, 2000), None, "a task that was given up stays so");
    finish_task(store, id);
    extend(id, 900);
    assert_eq!(claim_task(store, 2000), None);
}

/// A claim that expires without a result can be claimed again.
pub fn a_claimed_task_is_not_claimed_again_before_it_expires(store: &dyn Store) {
    let (ada, [one, _]) = a_site(store);
    let id = insert_task(store, one, &an_import(ada), 10);
    assert_eq!(claim_task(store, 9), None, "not yet due");
    for (seconds, tries) in
        [(10, Some(1)), (10, None), (69, None), (70, Some(2)), (100, None), (1000, Some(3))]
    {
        let task = claim_task(store, seconds);
        assert_eq!(task.as_ref().map(|task| task.tries), tries, "{seconds}");
        assert!(task.is_none_or(|task| task.id == id));
    }
    let micro = TimeDelta::microseconds(1);
    let almost = at(1060) - micro;
    assert_eq!(write(store, |tx| tx.repository_tasks().claim(almost, at(2000))), None);
    assert!(write(store, |tx| tx.repository_tasks().claim(almost + micro, at(2000))).is_some());
}

/// See [`RepositoryTasks::claim`](hexforge_domain::repository::port::RepositoryTasks::claim).
pub fn the_task_that_waits_longest_comes_first(store: &dyn Store) {
    let (ada, [one, two]) = a_site(store);
    let bob = a_user("cid").stored_in(store).id;
    let team = a_group("crew").stored_in(store).id;
    let [three, four] = ["3", "4"].map(|name| a_project(name, team, bob).stored_in(store).id);
    let remove = TaskKind::RemoveMerged { user: ada };
    let late = insert_task(store, one, &remove, 20);
    let early = insert_task(store, two, &remove, 10);
    let same = insert_task(store, three, &remove, 20);
    insert_task(store, four, &remove, 31);
    let order: Vec<_> = std::iter::from_fn(|| claim_id(store, 30)).collect();
    assert_eq!(order, [early, late, same]);
}

/// Only running imports of the same user count: no retries that wait, no other kinds, no imports of
/// other users. See
/// [`RepositoryTasks::claim`](hexforge_domain::repository::port::RepositoryTasks::claim).
pub fn concurrent_imports_of_a_user_are_limited(store: &dyn Store) {
    let (ada, _) = a_site(store);
    let cid = a_user("cid").stored_in(store).id;
    let crew = a_group("crew").stored_in(store).id;
    let project = |name: &str| a_project(name, crew, cid).stored_in(store).id;
    let mine: Vec<_> = ["a", "b", "c", "d"]
        .map(|name| insert_task(store, project(name), &an_import(ada), 0))
        .into();
    assert_eq!(claim_id(store, 0), Some(mine[0]));
    assert_eq!(claim_id(store, 0), Some(mine[1]));
    assert_eq!(claim_task(store, 0), None, "enough for one");
    let others = insert_task(store, project("e"), &an_import(cid), 1);
    let local = insert_task(store, project("f"), &TaskKind::RemoveMerged { user: ada }, 1);
    assert_eq!(claim_id(store, 1), Some(others));
    assert_eq!(claim_id(store, 1), Some(local));
    finish_task(store, others);
    finish_task(store, local);
    fail_task(store, mine[0], "nobody answers", Some(1000));
    assert_eq!(claim_id(store, 2), Some(mine[2]));
    assert_eq!(claim_task(store, 2), None);
    finish_task(store, mine[1]);
    assert_eq!(claim_id(store, 3), Some(mine[3]));
    // Expired claims do not count.
    assert_eq!(claim_id(store, 62), Some(mine[2]));
}

/// Only running merges count. Other tasks are claimed meanwhile, in both ways.
pub fn concurrent_automatic_merges_are_limited(store: &dyn Store) {
    let (ada, _) = a_site(store);
    let crew = a_group("crew").stored_in(store).id;
    let project = |name: &str| a_project(name, crew, ada).stored_in(store).id;
    let merge =
        TaskKind::MergeAutomatically { branch: a_request_branch("topic"), head: ObjectId::ZERO };
    let merges: Vec<_> =
        ["a", "b", "c", "d", "e"].map(|name| insert_task(store, project(name), &merge, 0)).into();
    let limit = usize::try_from(MAX_CONCURRENT_MERGES).expect("a small number");
    for first in &merges[..limit] {
        assert_eq!(claim_id(store, 0), Some(*first));
    }
    assert_eq!(claim_task(store, 0), None, "enough at the same time");
    let local = |seconds| {
        write(store, |tx| tx.repository_tasks().claim_local(at(seconds), at(seconds + 60)))
            .map(|task| task.id)
    };
    assert_eq!(local(0), None);
    let others = ["f", "g"]
        .map(|name| insert_task(store, project(name), &TaskKind::RemoveMerged { user: ada }, 1));
    assert_eq!(claim_id(store, 1), Some(others[0]));
    assert_eq!(local(1), Some(others[1]));
    finish_task(store, merges[0]);
    assert_eq!(claim_id(store, 2), Some(merges[limit]));
    fail_task(store, merges[1], "busy", Some(1000));
    assert_eq!(local(3), Some(merges[limit + 1]));
}

/// See [`RepositoryTasks::claim_local`](hexforge_domain::repository::port::RepositoryTasks::claim_local).
pub fn local_tasks_can_be_claimed_separately(store: &dyn Store) {
    let (ada, [one, two]) = a_site(store);
    let import = insert_task(store, one, &an_import(ada), 0);
    insert_task(store, one, &TaskKind::RemoveMerged { user: ada }, 0);
    let copy = insert_task(store, two, &TaskKind::Copy { source: one }, 10);
    let local = |seconds| {
        let task =
            write(store, |tx| tx.repository_tasks().claim_local(at(seconds), at(seconds + 60)));
        task.map(|task| task.id)
    };
    assert_eq!(local(9), None, "the import comes before the other one of its project");
    assert_eq!(local(10), Some(copy));
    assert_eq!(local(10), None);
    assert_eq!(claim_id(store, 10), Some(import));
}

/// A task whose process stops each time is given up. Later tasks can then be claimed.
pub fn a_task_that_never_ends_is_given_up(store: &dyn Store) {
    let (ada, [one, _]) = a_site(store);
    let first = insert_task(store, one, &an_import(ada), 0);
    let second = insert_task(store, one, &TaskKind::RemoveMerged { user: ada }, 0);
    for round in 0..i64::from(MAX_ATTEMPTS) {
        assert_eq!(claim_id(store, round * 60), Some(first), "{round}");
    }
    assert_eq!(claim_task(store, 299), None, "the last one has its time too");
    assert_eq!(claim_id(store, 300), Some(second));
    let failed = ImportState::Failed(NEVER_FINISHED.to_owned());
    assert_eq!(read(store, |tx| tx.repository_tasks().imports(&[one])), [(one, failed)]);
    finish_task(store, second);
    assert_eq!(claim_task(store, 1_000_000), None);
}

/// A task waits for older ones of its project; other projects do not wait.
pub fn tasks_of_one_project_are_claimed_one_after_the_other(store: &dyn Store) {
    let (ada, [one, two]) = a_site(store);
    let remove = TaskKind::RemoveMerged { user: ada };
    let [first, second] = [40, 20].map(|seconds| insert_task(store, one, &an_import(ada), seconds));
    let third = insert_task(store, one, &remove, 0);
    let other = insert_task(store, two, &remove, 30);
    assert_eq!(claim_id(store, 39), Some(other), "the first of the other project is not due");
    assert_eq!(claim_id(store, 40), Some(first));
    assert_eq!(claim_task(store, 50), None);
    fail_task(store, first, "not there", Some(80));
    assert_eq!(claim_task(store, 70), None, "it is to be tried again");
    assert_eq!(claim_id(store, 80), Some(first));
    finish_task(store, first);
    assert_eq!(claim_id(store, 80), Some(second));
    finish_task(store, second);
    assert_eq!(claim_id(store, 81), Some(third));
}

/// See [`RepositoryTasks::fail`](hexforge_domain::repository::port::RepositoryTasks::fail).
pub fn a_failed_task_is_tried_again_when_it_is_time(store: &dyn Store) {
    let (ada, [one, _]) = a_site(store);
    let kind = an_import(ada);
    let id = insert_task(store, one, &kind, 0);
    for (tries, seconds) in [(1, 0), (2, 20), (3, 40)] {
        assert_eq!(claim_task(store, seconds - 1), None);
        let expected = RepositoryTask { id, project: one, kind: kind.clone(), tries };
        assert_eq!(claim_task(store, seconds), Some(expected), "with all that it takes");
        fail_task(store, id, "nobody answers", Some(seconds + 20));
    }
}

/// A given up task is never claimed again, and later tasks of the project are.
pub fn a_task_that_is_given_up_blocks_no_other(store: &dyn Store) {
    let (ada, [one, _]) = a_site(store);
    let [first, second] = [0, 0].map(|seconds| insert_task(store, one, &an_import(ada), seconds));
    assert_eq!(claim_id(store, 0), Some(first));
    fail_task(store, first, "nobody answers", None);
    assert_eq!(claim_id(store, 1), Some(second));
    finish_task(store, second);
    assert_eq!(claim_task(store, 1_000_000), None);
}

/// See [`RepositoryTasks::imports`](hexforge_domain::repository::port::RepositoryTasks::imports).
pub fn unfinished_imports_are_listed(store: &dyn Store) {
    let (ada, [one, two]) = a_site(store);
    let states = |projects: &[ProjectId]| {
        let mut states = read(store, |tx| tx.repository_tasks().imports(projects));
        states.sort_by_key(|(project, _)| *project);
        states
    };
    insert_task(store, two, &TaskKind::RemoveMerged { user: ada }, 1000);
    insert_task(store, two, &TaskKind::Copy { source: one }, 1000);
    let id = insert_task(store, one, &an_import(ada), 0);
    let started = [(one, ImportState::Started)];
    assert_eq!(states(&[two, one, one, ProjectId(i64::MAX)]), started);
    assert_eq!(claim_id(store, 0), Some(id));
    assert_eq!(states(&[one, two]), started);
    fail_task(store, id, "for now", Some(30));
    assert_eq!(states(&[one]), [(one, ImportState::Retrying("for now".into()))]);
    assert_eq!(claim_id(store, 30), Some(id));
    assert_eq!(states(&[one]), started, "the next attempt runs");
    fail_task(store, id, "it's\0 \"🦀\" %_", None);
    let failed = ImportState::Failed("it's \"🦀\" %_".into());
    assert_eq!(states(&[one, two]), [(one, failed.clone())]);

    let other = insert_task(store, two, &an_import(ada), 0);
    assert_eq!(states(&[two, one]), [(one, failed), (two, ImportState::Started)]);
    assert_eq!(states(&[]), []);
    for done in [id, other] {
        finish_task(store, done);
    }
    assert_eq!(states(&[one, two]), []);
}

/// The state of an older import is no longer returned.
pub fn the_newest_import_of_a_project_counts(store: &dyn Store) {
    let (ada, [one, _]) = a_site(store);
    let state = || read(store, |tx| tx.repository_tasks().imports(&[one]));
    let failed = |reason: &str| [(one, ImportState::Failed(reason.to_owned()))];
    let first = insert_task(store, one, &an_import(ada), 0);
    fail_task(store, first, "first", None);
    let second = insert_task(store, one, &an_import(ada), 0);
    assert_eq!(state(), [(one, ImportState::Started)]);
    fail_task(store, second, "second", None);
    assert_eq!(state(), failed("second"));
    finish_task(store, second);
    assert_eq!(state(), failed("first"));
}

/// A copy task is kept when its source project is deleted; it finds nothing to copy.
pub fn a_copy_task_is_kept_without_its_source(store: &dyn Store) {
    let (_, [one, two]) = a_site(store);
    let kind = TaskKind::Copy { source: two };
    let id = insert_task(store, one, &kind, 0);
    insert_task(store, two, &TaskKind::Copy { source: one }, 0);
    write(store, |tx| tx.projects().delete(two));
    let late = insert_task(store, one, &kind, 0);
    let expected = RepositoryTask { id, project: one, kind, tries: 1 };
    assert_eq!(claim_task(store, 0), Some(expected));
    finish_task(store, id);
    assert_eq!(claim_id(store, 0), Some(late));
    assert_eq!(claim_task(store, 0), None, "that of the project went with it");
}

/// Tasks are deleted with the user on whose behalf they run. Work on merge requests is done without the user.
pub fn a_task_is_deleted_with_its_user(store: &dyn Store) {
    let (ada, [one, two]) = a_site(store);
    let bob = a_user("cid").stored_in(store).id;
    insert_task(store, one, &an_import(ada), 0);
    insert_task(store, two, &TaskKind::RemoveMerged { user: ada }, 0);
    let others = insert_task(store, one, &an_import(bob), 0);
    let nobodys = insert_task(store, two, &TaskKind::Copy { source: one }, 0);
    let closing = TaskKind::CloseRequestsOfFork { source: one, user: ada };
    let closing = insert_task(store, two, &closing, 0);
    write(store, |tx| tx.users().delete(ada));
    let mut order = Vec::new();
    while let Some(id) = claim_id(store, 0) {
        finish_task(store, id);
        order.push(id);
    }
    assert_eq!(order, [others, nobodys, closing]);
}

/// See [`RepositoryTask::id`].
pub fn ids_of_tasks_grow(store: &dyn Store) {
    let (ada, [one, _]) = a_site(store);
    let mut ids = BTreeSet::new();
    for round in 0..3 {
        let id = insert_task(store, one, &an_import(ada), 0);
        assert!(ids.last().is_none_or(|last| *last < id), "round {round}");
        ids.insert(id);
        finish_task(store, id);
    }
}

/// A task may be deleted with its project while it runs.
pub fn results_of_deleted_tasks_are_ignored(store: &dyn Store) {
    let (ada, [one, _]) = a_site(store);
    let id = insert_task(store, one, &an_import(ada), 0);
    assert_eq!(claim_id(store, 0), Some(id));
    write(store, |tx| tx.projects().delete(one));
    fail_task(store, id, "the project is gone", Some(10));
    fail_task(store, id, "the project is gone", None);
    finish_task(store, id);
    assert_eq!(claim_task(store, 1000), None);
}
