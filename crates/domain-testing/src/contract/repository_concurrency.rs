//! Concurrent repository tasks and releases.

use super::check::{read, write};
use super::concurrency::{Attempt, THREADS, assert_one_wins};
use crate::builders::{a_project, a_release, a_tag, a_user, at, home_of};
use hexforge_domain::id::{ProjectId, RepositoryTaskId};
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::repository::task::TaskKind;
use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

/// Creates `number` projects. The first one is the source of copies.
fn projects(store: &dyn Store, number: usize) -> Vec<ProjectId> {
    let ada = a_user("ada").stored_in(store).id;
    let home = home_of(store, ada);
    (0..number).map(|n| a_project(&format!("p{n}"), home, ada).stored_in(store).id).collect()
}

/// See [`RepositoryTasks::claim`](hexforge_domain::repository::port::RepositoryTasks::claim): no
/// task is claimed by two concurrent callers.
pub fn concurrent_claims_get_different_tasks(store: &dyn Store) {
    const TASKS: usize = 12;
    let projects = projects(store, TASKS);
    let copy = TaskKind::Copy { source: projects[0] };
    let made: BTreeSet<RepositoryTaskId> = write(store, |tx| {
        projects
            .iter()
            .map(|project| tx.repository_tasks().insert(*project, &copy, at(0)))
            .collect()
    });
    let start = Barrier::new(THREADS);
    let taken: Vec<RepositoryTaskId> = thread::scope(|scope| {
        let worker = || {
            let mut taken = Vec::new();
            start.wait();
            while let Some(task) = write(store, |tx| tx.repository_tasks().claim(at(0), at(60))) {
                taken.push(task.id);
            }
            taken
        };
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no worker panics")).collect()
    });
    assert_eq!(taken.len(), TASKS);
    assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), made);
}

/// In whatever order the transactions commit, a claimed task is older than all tasks that are
/// claimed later.
pub fn concurrently_added_tasks_are_claimed_in_order(store: &dyn Store) {
    const EACH: usize = 8;
    let site = projects(store, 1)[0];
    let copy = TaskKind::Copy { source: site };
    let add = || -> Result<RepositoryTaskId, StoreError> {
        store.write(|tx| {
            let id = tx.repository_tasks().insert(site, &copy, at(0));
            // Gives other transactions time to overtake if they do not wait.
            thread::yield_now();
            id
        })
    };
    let mut done = Vec::new();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..EACH).for_each(|_| assert!(add().is_ok())));
        }
        while done.len() < THREADS * EACH {
            let Some(task) = write(store, |tx| tx.repository_tasks().claim(at(0), at(60))) else {
                thread::yield_now();
                continue;
            };
            let other = write(store, |tx| tx.repository_tasks().claim(at(0), at(60)));
            assert_eq!(other, None, "while {task:?} is under way");
            write(store, |tx| tx.repository_tasks().finish(task.id));
            done.push(task.id);
        }
    });
    assert!(done.is_sorted(), "{done:?}");
}

/// See [`Releases::insert`](hexforge_domain::tag::port::Releases::insert).
pub fn a_release_made_at_once_is_made_once(store: &dyn Store) {
    let site = projects(store, 1)[0];
    let attempt = |n: usize| -> Attempt<'_> {
        let release = a_release("v1", &format!("by {n}"));
        Box::new(move |tx| tx.releases().insert(site, &release, at(0)))
    };
    let attempts: Vec<_> = (0..THREADS).map(attempt).collect();
    assert_one_wins(store, "tag", &attempts);
    assert!(read(store, |tx| tx.releases().find(site, &a_tag("v1"))).is_some());
}
