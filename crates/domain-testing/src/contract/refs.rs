//! Stored refs; see [`Refs`](hexforge_domain::refs::port::Refs).

use super::check::{read, write};
use crate::builders::{a_project, a_user, home_of};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::refs::{Ref, RepositoryState};

/// Builds an object id by repeating one byte.
pub(super) fn id(byte: u8) -> ObjectId {
    ObjectId::from_bytes([byte; 20])
}

/// A ref that is not an annotated tag.
pub(super) fn a_ref(name: &str, target: u8) -> Ref {
    Ref { name: name.to_owned(), target: id(target), peeled: None }
}

/// Creates two projects of a user.
pub(super) fn two_projects(store: &dyn Store) -> [ProjectId; 2] {
    let ada = a_user("ada").stored_in(store).id;
    let home = home_of(store, ada);
    ["one", "two"].map(|name| a_project(name, home, ada).stored_in(store).id)
}

/// Stores refs.
pub(super) fn put_refs(store: &dyn Store, project: ProjectId, refs: &[Ref]) {
    write(store, |tx| {
        tx.refs().lock(project)?;
        tx.refs().put(project, refs)
    });
}

/// All refs of a repository.
pub(super) fn list_refs(store: &dyn Store, project: ProjectId) -> Vec<Ref> {
    read(store, |tx| tx.refs().list(project))
}

fn state(store: &dyn Store, project: ProjectId) -> Option<RepositoryState> {
    read(store, |tx| tx.refs().state(project))
}

/// See [`Refs::lock`](hexforge_domain::refs::port::Refs::lock).
pub fn a_repository_has_a_state_once_it_is_locked(store: &dyn Store) {
    let [one, two] = two_projects(store);
    assert_eq!(state(store, one), None);
    let first =
        RepositoryState { head: "refs/heads/master".into(), refs_version: 0, packs_version: 0 };
    for _ in 0..2 {
        assert_eq!(write(store, |tx| tx.refs().lock(one)), first);
        assert_eq!(state(store, one), Some(first.clone()));
    }
    assert_eq!(state(store, two), None);
}

/// See [`Refs::lock`](hexforge_domain::refs::port::Refs::lock).
pub fn a_state_needs_a_project(store: &dyn Store) {
    let locked = store.write(|tx| tx.refs().lock(ProjectId(i64::MAX)));
    assert!(matches!(locked, Err(StoreError::Gone)), "{locked:?}");
}

/// See [`Refs::find`](hexforge_domain::refs::port::Refs::find).
pub fn refs_are_found_by_exactly_their_names(store: &dyn Store) {
    let [one, two] = two_projects(store);
    let long = format!("refs/heads/{}", ["x".repeat(249).as_str(); 4].join("/"));
    let annotated = Ref { name: "refs/tags/v1".into(), target: id(1), peeled: Some(id(2)) };
    let refs = [
        a_ref("refs/heads/Größe/🦀", 3),
        a_ref("refs/heads/O'Hara%_\"", 4),
        a_ref("refs/heads/master", 5),
        a_ref(&long, 6),
        annotated,
    ];
    put_refs(store, one, &refs);
    put_refs(store, two, &[a_ref("refs/heads/master", 9)]);
    for one_ref in &refs {
        let found = read(store, |tx| tx.refs().find(one, &[&one_ref.name]));
        assert_eq!(found, std::slice::from_ref(one_ref));
    }
    let names: Vec<&str> = refs.iter().map(|one| one.name.as_str()).collect();
    let mut found = read(store, |tx| tx.refs().find(one, &names));
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(found, list_refs(store, one));
    for other in ["refs/heads/Master", "refs/heads/maste", "refs/heads/master/", "master", ""] {
        assert_eq!(read(store, |tx| tx.refs().find(one, &[other])), [], "{other}");
    }
    assert_eq!(read(store, |tx| tx.refs().find(one, &[])), []);
}

/// See [`Refs::list`](hexforge_domain::refs::port::Refs::list).
pub fn refs_come_in_the_order_of_their_bytes(store: &dyn Store) {
    let [one, two] = two_projects(store);
    let mut names = vec!["Z", "a", "B", "a-b", "a.b", "a/b", "aß", "a🦀", "é", "z", "1", "_"];
    let refs: Vec<Ref> = names.iter().map(|name| a_ref(&format!("refs/heads/{name}"), 1)).collect();
    put_refs(store, one, &refs);
    names.sort_unstable();
    let listed: Vec<String> = list_refs(store, one).into_iter().map(|one| one.name).collect();
    let expected: Vec<String> = names.iter().map(|name| format!("refs/heads/{name}")).collect();
    assert_eq!(listed, expected);
    assert_eq!(list_refs(store, two), []);
}

/// See [`Refs::folders_among`](hexforge_domain::refs::port::Refs::folders_among).
pub fn folders_are_names_with_refs_below_them(store: &dyn Store) {
    let [one, two] = two_projects(store);
    let names = ["refs/heads/a/b/c", "refs/heads/a-b", "refs/heads/a0", "refs/heads/%/x"];
    put_refs(store, one, &names.map(|name| a_ref(name, 1)));
    let among = |project, names: &[&str]| {
        let mut folders = read(store, |tx| tx.refs().folders_among(project, names));
        folders.sort();
        folders
    };
    let asked = [
        "refs/heads/a",
        "refs/heads/a/b",
        "refs/heads/a/b/c",
        "refs/heads/a-",
        "refs/heads/_",
        "refs/heads/A",
        "refs/heads/%",
    ];
    assert_eq!(among(one, &asked), ["refs/heads/%", "refs/heads/a", "refs/heads/a/b"]);
    let none: [&str; 0] = [];
    assert_eq!(among(two, &asked), none);
    assert_eq!(among(one, &[]), none);
    let many: Vec<String> = (0..300).map(|n| format!("refs/heads/{n}")).collect();
    let mut many: Vec<&str> = many.iter().map(String::as_str).collect();
    many.push("refs/heads/a");
    assert_eq!(among(one, &many), ["refs/heads/a"]);
}

/// See [`Refs::put`](hexforge_domain::refs::port::Refs::put).
pub fn the_last_stored_target_of_a_ref_counts(store: &dyn Store) {
    let [one, two] = two_projects(store);
    put_refs(store, two, &[a_ref("refs/tags/v1", 9)]);
    let annotated = Ref { peeled: Some(id(3)), ..a_ref("refs/tags/v1", 2) };
    for one_ref in [a_ref("refs/tags/v1", 1), annotated, a_ref("refs/tags/v1", 1)] {
        put_refs(store, one, std::slice::from_ref(&one_ref));
        assert_eq!(list_refs(store, one), [one_ref]);
    }
    assert_eq!(list_refs(store, two), [a_ref("refs/tags/v1", 9)]);
}

/// See [`Refs::remove`](hexforge_domain::refs::port::Refs::remove).
pub fn removed_refs_are_gone_alone(store: &dyn Store) {
    let [one, two] = two_projects(store);
    let refs: Vec<Ref> = (0..250).map(|n| a_ref(&format!("refs/heads/{n:03}"), 1)).collect();
    for project in [one, two] {
        put_refs(store, project, &refs);
    }
    let going: Vec<&str> = refs[..240].iter().map(|one| one.name.as_str()).collect();
    write(store, |tx| {
        tx.refs().lock(one)?;
        tx.refs().remove(one, &going)?;
        tx.refs().remove(one, &["refs/heads/none", "refs/heads/000"])
    });
    assert_eq!(list_refs(store, one), refs[240..]);
    assert_eq!(list_refs(store, two), refs);
}

/// See [`RepositoryState`].
pub fn each_change_raises_the_version(store: &dyn Store) {
    let [one, two] = two_projects(store);
    write(store, |tx| tx.refs().lock(two).map(drop));
    let mut last = write(store, |tx| tx.refs().lock(one));
    let mut changed =
        |change: &(
              dyn Fn(&mut dyn hexforge_domain::refs::port::Refs) -> Result<(), StoreError> + Sync
          )| {
            write(store, |tx| change(tx.refs()));
            let now = state(store, one).expect("the repository has a state");
            assert!(now.refs_version > last.refs_version, "{now:?} after {last:?}");
            assert_eq!(now.packs_version, last.packs_version);
            last = now.clone();
            now.head
        };
    for head in [
        changed(&|refs| refs.put(one, &[a_ref("refs/heads/a", 1)])),
        changed(&|refs| refs.put(one, &[a_ref("refs/heads/a", 2)])),
        changed(&|refs| refs.remove(one, &["refs/heads/a"])),
    ] {
        assert_eq!(head, "refs/heads/master");
    }
    assert_eq!(changed(&|refs| refs.set_head(one, "refs/heads/größe")), "refs/heads/größe");
    assert_eq!(state(store, two).map(|state| state.refs_version), Some(0));
}

/// See [`Refs::copy`](hexforge_domain::refs::port::Refs::copy).
pub fn refs_of_one_repository_are_copied_to_another(store: &dyn Store) {
    let [one, two] = two_projects(store);
    let copy = || {
        write(store, |tx| {
            tx.refs().lock(two)?;
            tx.refs().copy(one, two)
        });
    };
    copy();
    assert_eq!(list_refs(store, two), []);
    let refs = [a_ref("refs/heads/a", 1), Ref { peeled: Some(id(2)), ..a_ref("refs/tags/v1", 3) }];
    let others = ["refs/heads0", "refs/keep/x", "refs/notes/commits"];
    put_refs(store, one, &refs);
    put_refs(store, one, &others.map(|name| a_ref(name, 4)));
    write(store, |tx| tx.refs().set_head(one, "refs/heads/a"));
    copy();
    assert_eq!(list_refs(store, two), refs);
    assert_eq!(list_refs(store, one).len(), refs.len() + others.len());
    let copied = state(store, two).expect("the copy has a state");
    assert_eq!(copied.head, "refs/heads/a");
    assert!(copied.refs_version > 0);
}

/// Refs are deleted with their project.
pub fn refs_are_deleted_with_their_project(store: &dyn Store) {
    let [one, two] = two_projects(store);
    for project in [one, two] {
        put_refs(store, project, &[a_ref("refs/heads/a", 1)]);
    }
    write(store, |tx| {
        tx.removals().begin()?;
        tx.projects().delete(one)
    });
    assert_eq!(list_refs(store, one), []);
    assert_eq!(state(store, one), None);
    assert_eq!(list_refs(store, two), [a_ref("refs/heads/a", 1)]);
}
