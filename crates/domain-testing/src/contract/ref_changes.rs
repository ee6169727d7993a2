//! Changes of refs; see [`change`].

use super::check::write;
use super::concurrency::THREADS;
use super::refs::{a_ref, id, list_refs, put_refs, two_projects};
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::RefChange;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::refs::{Atomicity, ChangedRefs, Peeled, Ref, change};
use std::sync::Barrier;
use std::thread;

/// A change of a branch. The byte 0 stands for no object.
fn branch_change(branch: &str, old: u8, new: u8) -> RefChange {
    let object = |byte: u8| (byte > 0).then(|| id(byte));
    RefChange { name: format!("refs/heads/{branch}"), old: object(old), new: object(new) }
}

/// Makes changes and returns the names of the refused branches. A refusal under
/// [`Atomicity::AllOrNone`] rolls back.
fn change_refs(
    store: &dyn Store,
    project: ProjectId,
    changes: &[RefChange],
    atomicity: Atomicity,
) -> Vec<String> {
    let mut made = None;
    let outcome = store.write(|tx| {
        let ChangedRefs { refused, done } =
            change(tx, project, changes, &Peeled::new(), atomicity)?;
        let ends = atomicity == Atomicity::AllOrNone && !refused.is_empty();
        assert_eq!(done.len(), if ends { 0 } else { changes.len() - refused.len() });
        made = Some(refused);
        if ends { Err(StoreError::Aborted) } else { Ok(()) }
    });
    let made = made.expect("changes have an outcome");
    assert!(outcome.is_ok() || !made.is_empty(), "{outcome:?}");
    made.iter().map(|name| name.trim_start_matches("refs/heads/").to_owned()).collect()
}

fn branches(store: &dyn Store, project: ProjectId) -> Vec<String> {
    let name = |one: Ref| {
        format!("{}={}", one.name.trim_start_matches("refs/heads/"), one.target.as_bytes()[0])
    };
    list_refs(store, project).into_iter().map(name).collect()
}

/// A ref changes only if it points to the expected object.
pub fn refs_change_only_from_their_expected_target(store: &dyn Store) {
    let [one, two] = two_projects(store);
    put_refs(store, two, &[a_ref("refs/heads/a", 9)]);
    for (changes, expected, left) in [
        (vec![branch_change("a", 0, 1), branch_change("b", 0, 1)], vec![], vec!["a=1", "b=1"]),
        (vec![branch_change("a", 0, 2)], vec!["a"], vec!["a=1", "b=1"]),
        (vec![branch_change("a", 2, 3), branch_change("b", 1, 2)], vec!["a"], vec!["a=1", "b=2"]),
        (
            vec![branch_change("c", 1, 2), branch_change("c2", 1, 0), branch_change("c3", 0, 0)],
            vec!["c", "c2", "c3"],
            vec!["a=1", "b=2"],
        ),
        (vec![branch_change("a", 2, 0), branch_change("b", 2, 0)], vec!["a"], vec!["a=1"]),
        (vec![branch_change("a", 1, 1)], vec![], vec!["a=1"]),
        (vec![], vec![], vec!["a=1"]),
    ] {
        assert_eq!(
            change_refs(store, one, &changes, Atomicity::Independent),
            expected,
            "{changes:?}"
        );
        assert_eq!(branches(store, one), left, "{changes:?}");
    }
    assert_eq!(branches(store, two), ["a=9"]);
}

/// See [`Atomicity::AllOrNone`].
pub fn changes_that_belong_together_are_made_together(store: &dyn Store) {
    let [one, _] = two_projects(store);
    put_refs(store, one, &[a_ref("refs/heads/a", 1)]);
    for (changes, in_the_way) in [
        ([branch_change("a", 1, 2), branch_change("b", 1, 2)], vec!["b"]),
        ([branch_change("a", 1, 0), branch_change("b", 1, 0)], vec!["b"]),
        ([branch_change("b", 0, 1), branch_change("b/c", 0, 1)], vec!["b", "b/c"]),
        ([branch_change("b", 0, 1), branch_change("a/c", 0, 1)], vec!["a/c"]),
    ] {
        assert_eq!(
            change_refs(store, one, &changes, Atomicity::AllOrNone),
            in_the_way,
            "{changes:?}"
        );
        assert_eq!(branches(store, one), ["a=1"], "{changes:?}");
    }
    let changes = [branch_change("a", 1, 2), branch_change("b", 0, 2)];
    assert_eq!(change_refs(store, one, &changes, Atomicity::AllOrNone), [""; 0]);
    assert_eq!(branches(store, one), ["a=2", "b=2"]);
}

/// A ref name cannot be a folder of another ref, because git stores refs in files.
pub fn no_ref_name_is_a_folder_of_another(store: &dyn Store) {
    let [one, two] = two_projects(store);
    put_refs(store, one, &[a_ref("refs/heads/a/b", 1), a_ref("refs/heads/c", 1)]);
    put_refs(store, two, &[a_ref("refs/heads/x/y", 1)]);
    for (names, expected) in [
        (vec!["a"], vec!["a"]),
        (vec!["a/b/c"], vec!["a/b/c"]),
        (vec!["c/d/e"], vec!["c/d/e"]),
        (vec!["x", "a/c", "ab", "a-b"], vec![]),
        (vec!["n", "n/m", "o", "p/q", "p/q/r/s"], vec!["n", "n/m", "p/q", "p/q/r/s"]),
    ] {
        let changes: Vec<RefChange> = names.iter().map(|name| branch_change(name, 0, 1)).collect();
        assert_eq!(
            change_refs(store, one, &changes, Atomicity::Independent),
            expected,
            "{names:?}"
        );
    }
    let left = ["a-b=1", "a/b=1", "a/c=1", "ab=1", "c=1", "o=1", "x=1"];
    assert_eq!(branches(store, one), left);
}

/// The name and folders of a deleted ref are free for new refs of the same request.
pub fn the_name_of_a_removed_ref_is_free(store: &dyn Store) {
    let [one, _] = two_projects(store);
    put_refs(store, one, &["a", "b/c", "b/d"].map(|name| a_ref(&format!("refs/heads/{name}"), 1)));
    let changes = [
        branch_change("a/b", 0, 2),
        branch_change("a", 1, 0),
        branch_change("b", 0, 2),
        branch_change("b/c", 1, 0),
    ];
    assert_eq!(change_refs(store, one, &changes, Atomicity::Independent), ["b"]);
    assert_eq!(branches(store, one), ["a/b=2", "b/d=1"]);
    let changes = [branch_change("b", 0, 3), branch_change("b/d", 1, 0)];
    assert_eq!(change_refs(store, one, &changes, Atomicity::AllOrNone), [""; 0]);
    assert_eq!(branches(store, one), ["a/b=2", "b=3"]);
}

/// Stores more refs than fit into one statement, with peeled tags.
pub fn many_refs_are_made_at_once(store: &dyn Store) {
    let [one, _] = two_projects(store);
    let changes: Vec<RefChange> =
        (0..1003).map(|n| branch_change(&format!("{n:04}/x"), 0, 1)).collect();
    let made = write(store, |tx| {
        change(tx, one, &changes, &Peeled::from([(id(1), id(2))]), Atomicity::AllOrNone)
    });
    assert_eq!((made.done.len(), made.refused.len()), (1003, 0));
    let expected: Vec<Ref> = changes
        .iter()
        .map(|change| Ref { name: change.name.clone(), target: id(1), peeled: Some(id(2)) })
        .collect();
    assert_eq!(list_refs(store, one), expected);
}

/// Of several concurrent changes that expect the same object, the first succeeds and the others are
/// refused.
pub fn one_of_several_changes_at_once_wins(store: &dyn Store) {
    let [one, _] = two_projects(store);
    for (round, old) in [0, 1, 1, 1].into_iter().enumerate() {
        if old > 0 {
            put_refs(store, one, &[a_ref("refs/heads/a", old)]);
        }
        let start = Barrier::new(THREADS);
        let winners: usize = thread::scope(|scope| {
            let attempt = |n: usize| {
                let changes = [branch_change("a", old, 10 + n as u8)];
                let start = &start;
                move || {
                    start.wait();
                    let made = write(store, |tx| {
                        change(tx, one, &changes, &Peeled::new(), Atomicity::Independent)
                    });
                    made.done.len()
                }
            };
            let threads: Vec<_> = (0..THREADS).map(|n| scope.spawn(attempt(n))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum()
        });
        assert_eq!(winners, 1, "round {round}");
    }
}
