//! Merge requests by their branches; see [`MergeRequests`](hexforge_domain::merge_request::port::MergeRequests).

use super::check::{read, write};
use super::labels::a_project_with_owner;
use super::merge_requests::{a_commit, insert, update};
use crate::builders::{a_merge_request, a_request_branch, a_title, at};
use hexforge_domain::id::{MergeRequestId, ProjectId, UserId};
use hexforge_domain::merge_request::port::BranchEnd;
use hexforge_domain::merge_request::{
    AutomaticMerge, Ends, MergeRequest, MergeRequestState, MergeStatus, NewMergeRequest,
};
use hexforge_domain::ports::store::Store;

/// A branch as a project and a name.
type Branch<'a> = (ProjectId, &'a str);

fn ends(source: Branch<'_>, target: Branch<'_>) -> Ends {
    Ends {
        source_project: source.0,
        source_branch: a_request_branch(source.1),
        target_project: target.0,
        target_branch: a_request_branch(target.1),
    }
}

fn request(
    store: &dyn Store,
    author: UserId,
    source: Branch<'_>,
    target: Branch<'_>,
) -> MergeRequest {
    let new = a_merge_request(target.0, author, "a request");
    insert(store, NewMergeRequest { ends: ends(source, target), ..new })
}

fn set_state(store: &dyn Store, request: &MergeRequest, state: MergeRequestState) {
    update(store, &MergeRequest { state, ..request.clone() });
}

fn ids(found: &[MergeRequest]) -> Vec<MergeRequestId> {
    found.iter().map(|request| request.id).collect()
}

/// The oldest twin is returned. Long names that begin alike are different names.
pub fn twins_are_open_and_have_the_same_branches(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let (fork, _) = a_project_with_owner(store, "bob");
    let long = "ü".repeat(900);
    let (one, two) = (format!("{long}1"), format!("{long}2"));
    let (topic, master) = ((project, "topic"), (project, "master"));
    let first = request(store, ada, topic, master);
    let second = request(store, ada, topic, master);
    let long = request(store, ada, (project, &one), (project, &two));
    let twin = |source, target, except| {
        let ends = ends(source, target);
        let found = read(store, |tx| tx.merge_requests().open_twin(&ends, except));
        found.map(|request| request.id)
    };
    assert_eq!(twin(topic, master, None), Some(first.id));
    assert_eq!(twin(topic, master, Some(first.id)), Some(second.id));
    assert_eq!(twin((project, &one), (project, &two), None), Some(long.id));
    for (source, target) in [
        ((project, &*two), (project, &*two)),
        ((project, &*one), (project, &*one)),
        ((fork, "topic"), master),
        (topic, (fork, "master")),
        (topic, (project, "stable")),
        ((project, "other"), master),
    ] {
        assert_eq!(twin(source, target, None), None, "{source:?} {target:?}");
    }
    set_state(store, &first, MergeRequestState::Closed);
    assert_eq!(twin(topic, master, None), Some(second.id));
    set_state(store, &first, MergeRequestState::Reopened);
    set_state(store, &second, MergeRequestState::Merged);
    assert_eq!(twin(topic, master, Some(first.id)), None);
}

/// Closed and merged requests, and requests of deleted projects, are left out.
pub fn open_requests_of_a_branch_come_by_id(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let (other, _) = a_project_with_owner(store, "bob");
    let (topic, master) = ((project, "topic"), (project, "master"));
    let requests = [
        request(store, ada, topic, master),
        request(store, ada, (other, "topic"), master),
        request(store, ada, topic, (project, "stable")),
        request(store, ada, topic, (other, "master")),
        request(store, ada, topic, master),
        request(store, ada, topic, master),
    ];
    set_state(store, &requests[4], MergeRequestState::Closed);
    set_state(store, &requests[5], MergeRequestState::Merged);
    let [a, b, c, d, ..] = requests.each_ref().map(|request| request.id);
    let (topic, master) = (a_request_branch("topic"), a_request_branch("master"));
    let open =
        |end, after, limit| ids(&read(store, |tx| tx.merge_requests().open_at(end, after, limit)));
    let (source, target) =
        (BranchEnd::Source(project, &topic), BranchEnd::Target(project, &master));
    assert_eq!(open(source, None, 9), [a, c, d]);
    assert_eq!(open(source, None, 2), [a, c]);
    assert_eq!(open(source, Some(c), 2), [d]);
    assert_eq!(open(target, None, 9), [a, b]);
    assert_eq!(open(target, Some(a), 9), [b]);
    assert_eq!(open(BranchEnd::Source(project, &master), None, 9), []);
    assert_eq!(open(BranchEnd::Target(other, &topic), None, 9), []);
    let heads = |limit| read(store, |tx| tx.merge_requests().open_heads(project, &master, limit));
    assert_eq!(heads(9), []);
    for (request, byte) in requests.iter().zip([1_u8, 2, 3, 4]) {
        update(store, &MergeRequest { head: Some(a_commit(byte)), ..request.clone() });
    }
    assert_eq!(heads(9), [(a, a_commit(1)), (b, a_commit(2))]);
    assert_eq!(heads(1), [(a, a_commit(1))]);
    write(store, |tx| tx.projects().delete(other));
    assert_eq!(open(source, None, 9), [a, c]);
}

/// Requests inside of the project are left out.
pub fn open_requests_of_a_fork_come_by_id(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let (fork, bob) = a_project_with_owner(store, "bob");
    let (other, _) = a_project_with_owner(store, "eve");
    let requests = [
        request(store, bob, (fork, "one"), (project, "master")),
        request(store, bob, (fork, "two"), (other, "master")),
        request(store, bob, (fork, "one"), (fork, "master")),
        request(store, ada, (project, "one"), (project, "master")),
        request(store, bob, (fork, "three"), (project, "master")),
        request(store, bob, (fork, "four"), (project, "master")),
    ];
    set_state(store, &requests[5], MergeRequestState::Closed);
    let [a, b, _, _, e, _] = requests.each_ref().map(|request| request.id);
    let open = |after, limit| {
        ids(&read(store, |tx| tx.merge_requests().open_from_fork(fork, after, limit)))
    };
    assert_eq!(open(None, 9), [a, b, e]);
    assert_eq!(open(Some(a), 1), [b]);
    write(store, |tx| tx.projects().delete(other));
    assert_eq!(open(None, 9), [a, e]);
    write(store, |tx| tx.projects().delete(fork));
    assert_eq!(open(None, 9), [a, e]);
}

/// Requests with another head, another branch or without an automatic merge are left out.
pub fn automatic_merges_are_found_by_their_head(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let head = a_commit(1);
    let automatic = AutomaticMerge { user: ada, message: None, remove_source_branch: None };
    let make = |branch, head, automatic_merge, state| {
        let made = request(store, ada, (project, branch), (project, "master"));
        update(store, &MergeRequest { head: Some(head), automatic_merge, state, ..made.clone() });
        made.id
    };
    let some = || Some(automatic.clone());
    let opened = MergeRequestState::Opened;
    let one = make("topic", head, some(), opened);
    make("topic", head, None, opened);
    make("topic", a_commit(2), some(), opened);
    make("other", head, some(), opened);
    make("topic", head, some(), MergeRequestState::Closed);
    let two = make("topic", head, some(), MergeRequestState::Reopened);
    let branch = a_request_branch("topic");
    let found = |limit| {
        ids(&read(store, |tx| tx.merge_requests().open_automatic(project, &branch, head, limit)))
    };
    assert_eq!(found(9), [one, two]);
    assert_eq!(found(1), [one]);
}

/// The branch may be at either end. Other requests keep their status, and no update time changes.
pub fn a_push_resets_the_merge_status_of_open_requests(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let (other, _) = a_project_with_owner(store, "bob");
    let (topic, master) = ((project, "topic"), (project, "master"));
    let requests = [
        request(store, ada, topic, master),
        request(store, ada, master, (project, "stable")),
        request(store, ada, topic, (project, "stable")),
        request(store, ada, (other, "master"), (other, "stable")),
        request(store, ada, topic, master),
    ];
    let mut expected = Vec::new();
    for (place, request) in requests.iter().enumerate() {
        let merge_status =
            if place == 0 { MergeStatus::Conflicting } else { MergeStatus::Mergeable };
        let state =
            if place == 4 { MergeRequestState::Closed } else { MergeRequestState::Reopened };
        let (title, updated_at) = (a_title("checked"), at(5));
        let checked = MergeRequest { merge_status, state, title, updated_at, ..request.clone() };
        update(store, &checked);
        expected.push(checked);
    }
    let reset = |name: &str| {
        let branch = a_request_branch(name);
        write(store, |tx| tx.merge_requests().reset_merge_status(project, &branch))
    };
    assert!(!reset("nowhere"));
    assert!(reset("master"));
    assert!(reset("master"));
    for checked in &mut expected[..2] {
        checked.merge_status = MergeStatus::Unchecked;
    }
    let all: Vec<MergeRequestId> = ids(&requests);
    let mut found = read(store, |tx| tx.merge_requests().find_all(&all));
    found.sort_by_key(|request| request.id);
    assert_eq!(found, expected);
}
