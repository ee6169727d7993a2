//! The pack rows; see [`Packs`](hexforge_domain::pack::port::Packs).

use super::check::{read, write};
use super::concurrency::THREADS;
use super::refs::two_projects;
use crate::builders::at;
use hexforge_domain::id::ProjectId;
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::ports::store::{Store, StoreError};
use std::sync::Barrier;
use std::thread;

fn name(byte: u8) -> PackName {
    PackName::from_bytes([byte; 32])
}

fn a_pack(byte: u8) -> Pack {
    Pack { name: name(byte), bytes: u64::from(byte) << 33, objects: u64::from(byte) }
}

fn add_packs(store: &dyn Store, project: ProjectId, packs: &[u8]) {
    let packs: Vec<Pack> = packs.iter().map(|byte| a_pack(*byte)).collect();
    write(store, |tx| {
        tx.refs().lock(project)?;
        tx.packs().add(project, &packs, at(0))
    });
}

fn retire_packs(store: &dyn Store, project: ProjectId, packs: &[u8], moment: i64) {
    let packs: Vec<PackName> = packs.iter().map(|byte| name(*byte)).collect();
    write(store, |tx| tx.packs().retire(project, &packs, at(moment)));
}

fn live_packs(store: &dyn Store, project: ProjectId) -> Vec<Pack> {
    read(store, |tx| tx.packs().live(project))
}

fn names_with_rows(store: &dyn Store) -> Vec<PackName> {
    read(store, |tx| tx.packs().names_after(None, 100))
}

/// See [`Packs::live`](hexforge_domain::pack::port::Packs::live).
pub fn live_packs_are_listed_in_the_order_of_their_addition(store: &dyn Store) {
    let [one, _] = two_projects(store);
    assert_eq!(live_packs(store, one), []);
    for pack in [3, 1, 2] {
        add_packs(store, one, &[pack]);
    }
    add_packs(store, one, &[5, 4]);
    assert_eq!(live_packs(store, one), [3, 1, 2, 5, 4].map(a_pack));
}

/// See [`Packs::retire`](hexforge_domain::pack::port::Packs::retire).
pub fn a_pack_is_live_until_it_is_retired(store: &dyn Store) {
    let [one, _] = two_projects(store);
    add_packs(store, one, &[1, 2, 3]);
    retire_packs(store, one, &[1, 3, 9], 1);
    assert_eq!(live_packs(store, one), [a_pack(2)]);
    add_packs(store, one, &[1, 2]);
    assert_eq!(live_packs(store, one), [1, 2].map(a_pack));
}

/// See [`Packs::add`](hexforge_domain::pack::port::Packs::add).
pub fn packs_belong_to_each_repository_that_added_them(store: &dyn Store) {
    let [one, two] = two_projects(store);
    add_packs(store, one, &[1, 2]);
    add_packs(store, two, &[2, 1]);
    retire_packs(store, one, &[1], 1);
    assert_eq!(live_packs(store, one), [a_pack(2)]);
    assert_eq!(live_packs(store, two), [2, 1].map(a_pack));
}

/// See [`RepositoryState`](hexforge_domain::refs::RepositoryState).
pub fn changes_of_packs_raise_their_version_alone(store: &dyn Store) {
    let [one, two] = two_projects(store);
    write(store, |tx| tx.refs().lock(two).map(drop));
    let versions = |project| {
        let state = read(store, |tx| tx.refs().state(project)).expect("the repository has a state");
        (state.refs_version, state.packs_version)
    };
    add_packs(store, one, &[1]);
    let (refs, first) = versions(one);
    retire_packs(store, one, &[1], 1);
    let (same, second) = versions(one);
    assert_eq!((refs, same), (0, 0));
    assert!(0 < first && first < second, "{first} {second}");
    assert_eq!(versions(two), (0, 0));
}

/// See [`Packs::forget_retired`](hexforge_domain::pack::port::Packs::forget_retired).
pub fn rows_of_retired_packs_are_kept_for_a_while(store: &dyn Store) {
    let [one, two] = two_projects(store);
    add_packs(store, one, &[1, 2, 3, 4]);
    add_packs(store, two, &[4]);
    for pack in [1, 2, 4] {
        retire_packs(store, one, &[pack], i64::from(pack) * 10);
    }
    retire_packs(store, one, &[1], 100);
    let forget =
        |before, limit| write(store, |tx| tx.packs().forget_retired(at(200), before, limit));
    assert_eq!(names_with_rows(store), [1, 2, 3, 4].map(name));
    assert_eq!(forget(at(10), 10), 0);
    assert_eq!(forget(at(41), 2), 2);
    assert_eq!(names_with_rows(store), [3, 4].map(name));
    assert_eq!(forget(at(41), 2), 1);
    assert_eq!(names_with_rows(store), [3, 4].map(name));
    assert_eq!(forget(at(1000), 2), 0);
    assert_eq!(
        (live_packs(store, one), live_packs(store, two)),
        (vec![a_pack(3)], vec![a_pack(4)])
    );
}

/// Packs of a deleted project are retired first, because other processes may still read them.
pub fn packs_of_a_removed_project_are_retired_first(store: &dyn Store) {
    let [one, two] = two_projects(store);
    add_packs(store, one, &[1, 2]);
    add_packs(store, two, &[2]);
    write(store, |tx| {
        tx.removals().begin()?;
        tx.projects().delete(one)
    });
    assert_eq!(live_packs(store, one), []);
    assert_eq!(names_with_rows(store), [1, 2].map(name));
    let forget = |now, before| write(store, |tx| tx.packs().forget_retired(now, before, 10));
    assert_eq!(forget(at(50), at(50)), 0);
    assert_eq!(names_with_rows(store), [1, 2].map(name));
    assert_eq!(forget(at(60), at(51)), 2);
    assert_eq!(names_with_rows(store), [name(2)]);
    assert_eq!(live_packs(store, two), [a_pack(2)]);
}

/// See [`Packs::names_after`](hexforge_domain::pack::port::Packs::names_after).
pub fn names_of_packs_come_in_pages(store: &dyn Store) {
    let [one, two] = two_projects(store);
    add_packs(store, one, &[200, 3, 1]);
    add_packs(store, two, &[2, 3, 100]);
    retire_packs(store, one, &[1], 1);
    let page =
        |after: Option<u8>, limit| read(store, |tx| tx.packs().names_after(after.map(name), limit));
    assert_eq!(page(None, 3), [1, 2, 3].map(name));
    assert_eq!(page(Some(3), 3), [100, 200].map(name));
    assert_eq!(page(Some(4), 1), [name(100)]);
    assert_eq!(page(Some(200), 3), []);
}

/// See [`Packs::condemn`](hexforge_domain::pack::port::Packs::condemn).
pub fn a_condemned_pack_cannot_be_added(store: &dyn Store) {
    let [one, _] = two_projects(store);
    let condemned =
        write(store, |tx| tx.packs().condemn(&[name(2), name(1), name(2)], at(0), at(0)));
    assert_eq!(condemned, [1, 2].map(name));
    let attempt = |packs: &[u8]| -> Result<(), StoreError> {
        let packs: Vec<Pack> = packs.iter().map(|byte| a_pack(*byte)).collect();
        store.write(|tx| {
            tx.refs().lock(one)?;
            tx.packs().add(one, &packs, at(0))
        })
    };
    assert!(matches!(attempt(&[3, 1]), Err(StoreError::Busy)));
    assert_eq!(live_packs(store, one), []);
    write(store, |tx| tx.packs().release(&[name(1), name(9)], at(0)));
    assert!(attempt(&[3, 1]).is_ok());
    assert!(matches!(attempt(&[2]), Err(StoreError::Busy)));
    assert_eq!(live_packs(store, one), [3, 1].map(a_pack));
}

/// See [`Packs::condemn`](hexforge_domain::pack::port::Packs::condemn).
pub fn a_pack_with_a_row_is_not_condemned(store: &dyn Store) {
    let [one, _] = two_projects(store);
    add_packs(store, one, &[1, 2]);
    retire_packs(store, one, &[2], 1);
    let condemned = write(store, |tx| tx.packs().condemn(&[1, 2, 3].map(name), at(0), at(0)));
    assert_eq!(condemned, [name(3)]);
    add_packs(store, one, &[1, 2]);
}

/// See [`Packs::condemned_before`](hexforge_domain::pack::port::Packs::condemned_before).
pub fn packs_that_stay_condemned_are_found(store: &dyn Store) {
    for (pack, moment) in [(1, 10), (2, 20), (3, 30)] {
        write(store, |tx| tx.packs().condemn(&[name(pack)], at(moment), at(0)));
    }
    let before = |moment, limit| read(store, |tx| tx.packs().condemned_before(at(moment), limit));
    assert_eq!(before(10, 10), []);
    assert_eq!(before(21, 10), [1, 2].map(name));
    assert_eq!(before(100, 1).len(), 1);
    // A pack that one process has condemned is not given to another.
    let condemn = |moment, abandoned| {
        let all = [1, 2, 3].map(name);
        write(store, |tx| tx.packs().condemn(&all, at(moment), at(abandoned)))
    };
    assert_eq!(condemn(40, 10), []);
    assert_eq!(condemn(40, 20), [name(1)]);
    assert_eq!(before(40, 10), [2, 3].map(name));
    // The first process releases too late.
    write(store, |tx| tx.packs().release(&[1, 2].map(name), at(10)));
    assert_eq!(before(100, 10), [1, 2, 3].map(name));
    write(store, |tx| tx.packs().release(&[1, 2].map(name), at(40)));
    assert_eq!(before(100, 10), [2, 3].map(name));
}

/// A pack is never both added and condemned, in whatever order concurrent transactions run.
pub fn a_pack_is_added_or_condemned_at_once(store: &dyn Store) {
    let [one, _] = two_projects(store);
    write(store, |tx| tx.refs().lock(one).map(drop));
    for round in 0..20 {
        let start = Barrier::new(THREADS);
        thread::scope(|scope| {
            for n in 0..THREADS {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    let outcome = store.write(|tx| {
                        if n % 2 == 0 {
                            return tx.packs().condemn(&[name(round)], at(0), at(0)).map(drop);
                        }
                        tx.refs().lock(one)?;
                        tx.packs().add(one, &[a_pack(round)], at(0))
                    });
                    let fine = matches!(outcome, Ok(()) | Err(StoreError::Busy));
                    assert!(fine, "{outcome:?}");
                });
            }
        });
        let condemned = read(store, |tx| tx.packs().condemned_before(at(1), 100));
        let is_live = live_packs(store, one).iter().any(|pack| pack.name == name(round));
        assert_ne!(condemned.contains(&name(round)), is_live, "round {round}");
    }
}
