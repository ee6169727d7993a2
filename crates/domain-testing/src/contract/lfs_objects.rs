//! LFS objects; see [`LfsObjects`](hexforge_domain::lfs::port::LfsObjects).

use super::check::{read, write};
use crate::builders::{a_group, a_moment, a_project, a_user, home_of};
use hexforge_domain::id::{ForkNetworkId, NamespaceId, ProjectId, UserId};
use hexforge_domain::lfs::{LfsObject, LfsOid};
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::Project;
use hexforge_domain::removal::Step;

fn object(number: u8, size: u64) -> LfsObject {
    LfsObject { oid: LfsOid::from_bytes([number; 32]), size }
}

fn a_home(store: &dyn Store) -> (UserId, NamespaceId) {
    let ada = a_user("ada").stored_in(store).id;
    (ada, home_of(store, ada))
}

fn network(store: &dyn Store, project: ProjectId) -> ForkNetworkId {
    read(store, |tx| tx.lfs_objects().network(project)).expect("the project exists")
}

fn insert(store: &dyn Store, network: ForkNetworkId, object: LfsObject) {
    write(store, |tx| {
        tx.lfs_objects().lock(network)?;
        tx.lfs_objects().insert(network, object, a_moment())
    });
}

/// See [`LfsObjects::network`](hexforge_domain::lfs::port::LfsObjects::network).
pub fn forks_are_in_the_network_of_their_source(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let [team, crew] = ["team", "crew"].map(|name| a_group(name).stored_in(store).id);
    let source = a_project("site", home, ada).stored_in(store);
    let fork = a_project("site", team, ada).forked_from(source.id).stored_in(store);
    let of_fork = a_project("site", crew, ada).forked_from(fork.id).stored_in(store);
    let linked = a_project("linked", home, ada).stored_in(store);
    let found = || [&fork, &of_fork].map(|project| network(store, project.id));
    let own = network(store, source.id);
    assert_eq!(found(), [own, own]);
    let other = network(store, linked.id);
    assert_ne!(other, own);
    assert_eq!(read(store, |tx| tx.lfs_objects().network(ProjectId(i64::MAX))), None);
    // Later changes of the fork relation change no network.
    write(store, |tx| {
        tx.projects().update(&Project { forked_from: None, ..fork.clone() })?;
        tx.projects().update(&Project { forked_from: Some(source.id), ..linked.clone() })
    });
    assert_eq!((found(), network(store, linked.id)), ([own, own], other));
    write(store, |tx| tx.projects().delete(source.id));
    assert_eq!(found(), [own, own]);
    assert_eq!(read(store, |tx| tx.lfs_objects().network(source.id)), None);
    let again = a_project("again", home, ada).forked_from(of_fork.id).stored_in(store);
    assert_eq!(network(store, again.id), own);
}

/// See [`LfsObjects::insert`](hexforge_domain::lfs::port::LfsObjects::insert).
pub fn an_object_is_found_in_its_network_only(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let [one, other] = ["one", "other"].map(|name| {
        let project = a_project(name, home, ada).stored_in(store);
        network(store, project.id)
    });
    for _ in 0..2 {
        insert(store, one, object(1, 10));
    }
    insert(store, one, object(2, 1 << 40));
    insert(store, other, object(3, 0));
    read(store, |tx| {
        let objects = tx.lfs_objects();
        assert_eq!(objects.find(one, object(1, 0).oid)?, Some(object(1, 10)));
        assert_eq!(objects.find(other, object(1, 0).oid)?, None);
        let oids = [3, 2, 1, 1, 9].map(|number| object(number, 0).oid);
        let mut found = objects.find_all(one, &oids)?;
        found.sort_unstable_by_key(|object| object.oid);
        assert_eq!(found, [object(1, 10), object(2, 1 << 40)]);
        assert_eq!(objects.find_all(other, &oids)?, [object(3, 0)]);
        assert_eq!(objects.find_all(other, &[])?, []);
        assert_eq!(objects.total_bytes(one)?, (1 << 40) + 10);
        assert_eq!(objects.total_bytes(other)?, 0);
        Ok(())
    });
    assert_eq!(write(store, |tx| tx.lfs_objects().lock(one)), (1 << 40) + 10);
    objects_are_listed_in_pages(
        store,
        &[(one, object(1, 10)), (one, object(2, 1 << 40)), (other, object(3, 0))],
    );
}

/// See [`LfsObjects::list`](hexforge_domain::lfs::port::LfsObjects::list).
fn objects_are_listed_in_pages(store: &dyn Store, expected: &[(ForkNetworkId, LfsObject)]) {
    let mut expected = expected.to_vec();
    expected.sort_unstable_by_key(|(network, object)| (*network, object.oid));
    for limit in 1..5 {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = read(store, |tx| tx.lfs_objects().list(after, limit));
            assert!(page.len() <= limit as usize);
            let Some((network, last)) = page.last() else { break };
            after = Some((*network, last.oid));
            found.extend(page);
        }
        assert_eq!(found, expected, "pages of {limit}");
    }
}

/// See [`Step::LfsNetwork`].
pub fn objects_are_deleted_with_the_last_project_of_their_network(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let team = a_group("team").stored_in(store).id;
    let source = a_project("site", home, ada).stored_in(store).id;
    let fork = a_project("site", team, ada).forked_from(source).stored_in(store).id;
    let kept = a_project("kept", home, ada).stored_in(store).id;
    let (own, other) = (network(store, source), network(store, kept));
    for number in 0..200 {
        insert(store, own, object(number, 5));
    }
    insert(store, other, object(1, 7));
    let lock = |network| write(store, |tx| tx.lfs_objects().lock_if_used(network));
    let finish = || {
        let mut freed = Vec::new();
        for _ in 0..1_000 {
            match write(store, |tx| tx.removals().step(30)) {
                Step::Nothing => return freed,
                Step::Rows | Step::Project(_) => (),
                Step::LfsNetwork(network) => {
                    // The step is repeated until its files are gone.
                    assert!(read(store, |tx| tx.removals().pending()));
                    assert_eq!(
                        write(store, |tx| tx.removals().step(30)),
                        Step::LfsNetwork(network)
                    );
                    write(store, |tx| tx.lfs_objects().forget(network));
                    freed.push(network);
                }
            }
        }
        panic!("there is no end to what is left");
    };
    write(store, |tx| tx.projects().delete(source));
    assert_eq!(finish(), []);
    assert_eq!(read(store, |tx| tx.lfs_objects().total_bytes(own)), 1_000);
    write(store, |tx| tx.lfs_objects().forget(own));
    assert_eq!(read(store, |tx| tx.lfs_objects().total_bytes(own)), 1_000);
    assert!(lock(own));
    write(store, |tx| tx.projects().delete(fork));
    assert_eq!(finish(), [own]);
    assert!(!lock(own), "nobody uses the network any more");
    assert!(lock(other));
    read(store, |tx| {
        assert!(!tx.removals().pending()?);
        assert_eq!(tx.lfs_objects().total_bytes(own)?, 0);
        assert_eq!(tx.lfs_objects().find(own, object(1, 0).oid)?, None);
        assert_eq!(tx.lfs_objects().find(other, object(1, 0).oid)?, Some(object(1, 7)));
        Ok(())
    });
    // A project without objects leaves nothing.
    let empty = a_project("empty", home, ada).stored_in(store).id;
    let unused = network(store, empty);
    write(store, |tx| tx.projects().delete(empty));
    assert_eq!(finish(), []);
    assert!(!lock(unused));
    assert!(!lock(ForkNetworkId(i64::MAX)));
    assert_eq!(finish(), [], "a lock of an unused network adds no row");
}
