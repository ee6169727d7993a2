//! Merge requests; see [`MergeRequests`](hexforge_domain::merge_request::port::MergeRequests).

use super::check::{assert_pages, read, write};
use super::issuables::details_of;
use super::labels::a_project_with_owner;
use crate::builders::{
    a_day, a_group, a_label, a_member, a_merge_request, a_milestone, a_note, a_project,
    a_request_branch, a_title, a_user, an_event, at, home_of, label_in,
};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::event::{EventAction, EventTarget, NewEvent};
use hexforge_domain::id::{LabelId, MergeRequestId, MergeRequestVersionId, ProjectId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::merge_request::query::{
    MergeRequestFilter, MergeRequestOrder, RequestConditions, RequestScope, StateFilter,
};
use hexforge_domain::merge_request::version::{FileCount, VersionCommits};
use hexforge_domain::merge_request::{
    AutomaticMerge, Ends, MergeRequest, MergeRequestState, MergeStatus, NewMergeRequest,
    NewVersion, SeenVersions, Version,
};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::project::query::{ListAudience, Viewer};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::subscription::Subscribed;
use hexforge_domain::text::LongText;
use hexforge_domain::visibility::Visibility;

pub(super) fn insert(store: &dyn Store, new: NewMergeRequest) -> MergeRequest {
    write(store, |tx| tx.merge_requests().insert(new))
}

pub(super) fn update(store: &dyn Store, request: &MergeRequest) {
    write(store, |tx| tx.merge_requests().update(request));
}

fn find(store: &dyn Store, id: MergeRequestId) -> Option<MergeRequest> {
    read(store, |tx| tx.merge_requests().find_all(&[id])).pop()
}

pub(super) fn a_commit(byte: u8) -> ObjectId {
    ObjectId::from_bytes([byte; 20])
}

/// All fields are read back as they were written, also after an update. An update does not move a request.
pub fn a_merge_request_has_every_field(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let (fork, bob) = a_project_with_owner(store, "bob");
    let goal = write(store, |tx| tx.milestones().insert(a_milestone(project, "1.0"))).id;
    let ends = Ends {
        source_project: fork,
        source_branch: a_request_branch("a/b ü"),
        target_project: project,
        target_branch: a_request_branch("master"),
    };
    let new = NewMergeRequest {
        ends: ends.clone(),
        assignee: Some(bob),
        milestone: Some(goal),
        description: LongText::parse("Don't \"quote\" 🦀").ok(),
        at: at(-100),
        ..a_merge_request(project, ada, "mend it 🦀")
    };
    let made = insert(store, new.clone());
    let expected = MergeRequest {
        id: made.id,
        iid: 1,
        ends: ends.clone(),
        author: ada,
        assignee: Some(bob),
        milestone: Some(goal),
        updated_by: None,
        title: new.title,
        description: new.description,
        state: MergeRequestState::Opened,
        merge_status: MergeStatus::Unchecked,
        head: None,
        merge_commit: None,
        automatic_merge: None,
        seen: SeenVersions::default(),
        user_notes_count: 0,
        created_at: at(-100),
        updated_at: at(-100),
    };
    assert_eq!(made, expected);
    assert_eq!(read(store, |tx| tx.merge_requests().find(project, made.id)), Some(expected));
    let changed = MergeRequest {
        ends: Ends { target_branch: a_request_branch("stable"), ..ends },
        author: bob,
        assignee: None,
        milestone: None,
        updated_by: Some(bob),
        title: a_title("mended"),
        description: None,
        state: MergeRequestState::Merged,
        merge_status: MergeStatus::Conflicting,
        head: Some(a_commit(1)),
        merge_commit: Some(a_commit(2)),
        automatic_merge: Some(AutomaticMerge {
            user: bob,
            message: LongText::parse("Merge it 🦀").ok(),
            remove_source_branch: Some(true),
        }),
        seen: SeenVersions { source: i64::MAX, target: 7 },
        updated_at: at(50),
        ..made
    };
    let mut moved = changed.clone();
    (moved.iid, moved.created_at) = (9, at(9));
    moved.ends.source_project = project;
    moved.ends.source_branch = a_request_branch("other");
    moved.ends.target_project = fork;
    update(store, &moved);
    read(store, |tx| {
        assert_eq!(tx.merge_requests().find(project, changed.id)?, Some(changed.clone()));
        assert_eq!(tx.merge_requests().find(fork, changed.id)?, None);
        let ids = [changed.id, MergeRequestId(i64::MAX)];
        assert_eq!(tx.merge_requests().find_all(&ids)?, std::slice::from_ref(&changed));
        Ok(())
    });
    let automatic = AutomaticMerge { user: ada, message: None, remove_source_branch: None };
    let bare = MergeRequest { automatic_merge: Some(automatic), head: None, ..changed };
    update(store, &bare);
    assert_eq!(find(store, bare.id).as_ref(), Some(&bare));
    let none = MergeRequest { automatic_merge: None, ..bare };
    update(store, &none);
    assert_eq!(find(store, none.id).as_ref(), Some(&none));
}

/// Numbers are unique also after deletions and rolled back transactions, and are not those of issues.
pub fn numbers_of_merge_requests_are_given_once_in_each_project(store: &dyn Store) {
    let ((project, ada), (other, bob)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let [one, two] = [1, 2].map(|number| {
        let made = insert(store, a_merge_request(project, ada, "a request"));
        assert_eq!(made.iid, number);
        made
    });
    assert_eq!(insert(store, a_merge_request(other, bob, "a request")).iid, 1);
    let found = |project, iids: &[i64]| {
        let mut found = read(store, |tx| tx.merge_requests().find_by_iids(project, iids));
        found.sort_by_key(|request| request.iid);
        found
    };
    assert_eq!(found(project, &[2, 1, 9]), [one.clone(), two.clone()]);
    assert_eq!(found(project, &[]), []);
    assert_eq!(found(other, &[2]), []);
    write(store, |tx| {
        tx.merge_requests().delete(two.id)?;
        tx.merge_requests().delete(two.id)?;
        tx.merge_requests().delete(one.id)
    });
    let failed: Result<(), StoreError> = store.write(|tx| {
        tx.merge_requests().insert(a_merge_request(project, ada, "never was"))?;
        Err(StoreError::Busy)
    });
    assert!(failed.is_err());
    assert_eq!(insert(store, a_merge_request(project, ada, "a request")).iid, 3);
}

fn all_of(project: ProjectId) -> MergeRequestFilter {
    MergeRequestFilter {
        descending: false,
        ..MergeRequestFilter::newest_first(RequestScope::Project(project))
    }
}

/// Creates requests in all states, whose times of creation and of change have different orders.
fn requests_in_all_states(
    store: &dyn Store,
    project: ProjectId,
    author: UserId,
) -> Vec<MergeRequest> {
    let states = MergeRequestState::ALL.into_iter().chain([MergeRequestState::Closed]);
    let made =
        states.zip([(3, 9), (1, 11), (1, 10), (2, 10), (4, 12)]).map(|(state, (made, changed))| {
            let new =
                NewMergeRequest { at: at(made), ..a_merge_request(project, author, "a request") };
            let request = insert(store, new);
            let request = MergeRequest { state, updated_at: at(changed), ..request };
            update(store, &request);
            request
        });
    made.collect()
}

/// Equal times are ordered by id.
pub fn merge_requests_are_listed_in_every_order(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let (other, bob) = a_project_with_owner(store, "bob");
    let requests = requests_in_all_states(store, project, ada);
    insert(store, a_merge_request(other, bob, "elsewhere"));
    for (order, places) in [
        (MergeRequestOrder::CreatedAt, [1, 2, 3, 0, 4]),
        (MergeRequestOrder::UpdatedAt, [0, 2, 3, 1, 4]),
    ] {
        let mut expected: Vec<_> = places.iter().map(|place| requests[*place].clone()).collect();
        for descending in [false, true] {
            let filter = MergeRequestFilter { order, descending, ..all_of(project) };
            assert_pages(store, &expected, |tx, page| tx.merge_requests().list(&filter, page));
            expected.reverse();
        }
    }
}

/// All conditions are combined.
pub fn merge_requests_are_found_by_state_and_number(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let requests = requests_in_all_states(store, project, ada);
    for (states, iids, places) in [
        (StateFilter::Open, None, vec![1, 0]),
        (StateFilter::Closed, None, vec![2, 4]),
        (StateFilter::Merged, None, vec![3]),
        (StateFilter::All, Some(vec![5, 2, 2, 77]), vec![1, 4]),
        (StateFilter::Closed, Some(vec![5, 2]), vec![4]),
        (StateFilter::All, Some(vec![]), vec![]),
    ] {
        let expected: Vec<_> = places.iter().map(|place| requests[*place].clone()).collect();
        let filter = MergeRequestFilter { states, iids, ..all_of(project) };
        assert_pages(store, &expected, |tx, page| tx.merge_requests().list(&filter, page));
    }
}

/// All conditions are combined, and the count agrees with the list.
pub fn merge_requests_are_found_by_people_labels_and_text(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let [bug, wish] = ["bug", "wish"].map(|title| label_in(store, project, title).id);
    let goal = write(store, |tx| tx.milestones().insert(a_milestone(project, "1.0"))).id;
    let requests = [
        ("Engine 100% slow", ada, Some(bob), &[bug, wish][..], Some(goal)),
        ("engine room", bob, None, &[bug], None),
    ];
    let requests = requests.map(|(title, author, assignee, labels, milestone)| {
        let new = a_merge_request(project, ada, title);
        let request = insert(store, NewMergeRequest { author, assignee, milestone, ..new });
        write(store, |tx| tx.merge_requests().set_labels(request.id, labels));
        request.iid
    });
    let everything = RequestConditions::default();
    let titles = |titles: &[&str]| titles.iter().map(|title| (*title).to_owned()).collect();
    let text = |text: &str| Some(text.to_owned());
    for (conditions, places) in [
        (everything.clone(), vec![0, 1]),
        (RequestConditions { author: Some(bob), ..everything.clone() }, vec![1]),
        (RequestConditions { assignee: Some(bob), ..everything.clone() }, vec![0]),
        (RequestConditions { milestone: text("1.0"), ..everything.clone() }, vec![0]),
        (RequestConditions { labels: titles(&["bug"]), ..everything.clone() }, vec![0, 1]),
        (RequestConditions { labels: titles(&["bug", "wish"]), ..everything.clone() }, vec![0]),
        (RequestConditions { search: text("ENGINE"), ..everything.clone() }, vec![0, 1]),
        (RequestConditions { search: text("0%"), ..everything.clone() }, vec![0]),
        (RequestConditions { search: text("x"), author: Some(bob), ..everything }, vec![]),
    ] {
        let filter = MergeRequestFilter { conditions, ..all_of(project) };
        let found = read(store, |tx| tx.merge_requests().list(&filter, Page::Whole));
        let found: Vec<i64> = found.items.iter().map(|request| request.iid).collect();
        let expected: Vec<i64> = places.iter().map(|place| requests[*place]).collect();
        assert_eq!(found, expected, "{filter:?}");
        let count = read(store, |tx| tx.merge_requests().count(&filter));
        assert_eq!(count, expected.len() as u64, "{filter:?}");
    }
    let everybody = ListAudience::Unrestricted;
    let viewer = ListAudience::Viewer(Viewer { user: bob, external: true });
    for (scope, count) in [
        (RequestScope::AssignedTo(bob, everybody, a_day()), 1),
        (RequestScope::AuthoredBy(bob, everybody, a_day()), 1),
        (RequestScope::AssignedTo(ada, everybody, a_day()), 0),
        (RequestScope::AuthoredBy(bob, viewer, a_day()), 0),
    ] {
        let filter = MergeRequestFilter::newest_first(scope);
        assert_eq!(read(store, |tx| tx.merge_requests().count(&filter)), count, "{filter:?}");
    }
}

/// See [`RequestScope::Group`].
pub fn merge_requests_of_a_group_are_those_that_the_viewer_may_read(store: &dyn Store) {
    let [ada, guest, reporter] =
        ["ada", "guest", "reporter"].map(|n| a_user(n).stored_in(store).id);
    let [team, other] = ["team", "other"].map(|path| a_group(path).stored_in(store).id);
    let [open, hidden, disabled] = write(store, |tx| {
        let open = a_project("open", team, ada).visibility(Visibility::Public).insert(tx)?.id;
        let hidden = a_project("hidden", team, ada).insert(tx)?.id;
        let mut disabled = a_project("disabled", team, ada).insert(tx)?;
        disabled.features.merge_requests = false;
        tx.projects().update(&disabled)?;
        for (user, level) in [(guest, AccessLevel::Guest), (reporter, AccessLevel::Reporter)] {
            tx.project_members().insert(hidden, a_member(user, level))?;
        }
        let elsewhere = a_project("site", other, ada).visibility(Visibility::Public).insert(tx)?.id;
        tx.merge_requests().insert(a_merge_request(elsewhere, ada, "elsewhere"))?;
        Ok([open, hidden, disabled.id])
    });
    for (project, author, title) in [
        (open, ada, "open"),
        (hidden, ada, "hidden"),
        (hidden, guest, "own"),
        (disabled, ada, "disabled"),
    ] {
        insert(store, a_merge_request(project, author, title));
    }
    let viewer = |user| ListAudience::Viewer(Viewer { user, external: false });
    for (audience, expected) in [
        (ListAudience::Unrestricted, vec!["hidden", "open", "own"]),
        (viewer(reporter), vec!["hidden", "open", "own"]),
        (viewer(guest), vec!["open", "own"]),
        (viewer(ada), vec!["open"]),
    ] {
        let filter = MergeRequestFilter::newest_first(RequestScope::Group(team, audience, a_day()));
        let found = read(store, |tx| tx.merge_requests().list(&filter, Page::Whole));
        let mut titles: Vec<_> = found.items.iter().map(|found| found.title.as_str()).collect();
        titles.sort_unstable();
        assert_eq!(titles, expected, "{audience:?}");
        let count = read(store, |tx| tx.merge_requests().count(&filter));
        assert_eq!(count, expected.len() as u64, "{audience:?}");
    }
}

/// Labels are ordered by request, then by the bytes of the title.
pub fn labels_of_merge_requests_come_by_title(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [beta, alpha, zeta] =
        ["beta", "alpha", "Zeta"].map(|title| label_in(store, project, title).id);
    let requests = write(store, |tx| {
        let mut requests = Vec::new();
        for labels in [&[beta, alpha, zeta][..], &[], &[beta, beta]] {
            let id = tx.merge_requests().insert(a_merge_request(project, ada, "a request"))?.id;
            tx.merge_requests().set_labels(id, labels)?;
            requests.push(id);
        }
        Ok(requests)
    });
    let found = read(store, |tx| tx.merge_requests().labels_of(&requests));
    let found: Vec<_> =
        found.iter().map(|(on, label, title)| (*on, *label, title.as_str())).collect();
    let expected = [
        (requests[0], zeta, "Zeta"),
        (requests[0], alpha, "alpha"),
        (requests[0], beta, "beta"),
        (requests[2], beta, "beta"),
    ];
    assert_eq!(found, expected);
    assert_eq!(read(store, |tx| tx.merge_requests().labels_of(&[])), []);
}

/// Only open requests count, and for a restricted reader only those of which it is author or assignee.
pub fn open_merge_requests_with_a_label_are_counted(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let [bug, wish] = ["bug", "wish"].map(|title| label_in(store, project, title).id);
    let by_bob = insert(store, a_merge_request(project, bob, "by bob"));
    let for_bob =
        NewMergeRequest { assignee: Some(bob), ..a_merge_request(project, ada, "for bob") };
    let for_bob = insert(store, for_bob);
    let other = insert(store, a_merge_request(project, ada, "other"));
    let set = |request: &MergeRequest, labels: &[LabelId]| {
        write(store, |tx| tx.merge_requests().set_labels(request.id, labels));
    };
    set(&by_bob, &[bug, wish]);
    set(&for_bob, &[bug]);
    set(&other, &[bug]);
    let assert_counts = |all: [u32; 2], bobs: [u32; 2]| {
        for (concerning, expected) in [(None, all), (Some(bob), bobs)] {
            let found = read(store, |tx| tx.merge_requests().open_counts(&[bug, wish], concerning));
            let count =
                |label| found.iter().find(|(id, _)| *id == label).map_or(0, |found| found.1);
            assert_eq!([count(bug), count(wish)], expected, "{concerning:?}");
        }
    };
    assert_counts([3, 1], [2, 1]);
    for (state, all, bobs) in [
        (MergeRequestState::Closed, [2, 0], [1, 0]),
        (MergeRequestState::Closed, [2, 0], [1, 0]),
        (MergeRequestState::Reopened, [3, 1], [2, 1]),
        (MergeRequestState::Merged, [2, 0], [1, 0]),
    ] {
        update(store, &MergeRequest { state, ..by_bob.clone() });
        assert_counts(all, bobs);
    }
    set(&by_bob, &[bug]);
    set(&for_bob, &[wish]);
    assert_counts([1, 1], [0, 1]);
    write(store, |tx| tx.merge_requests().delete(other.id));
    assert_counts([0, 1], [0, 1]);
    assert_eq!(read(store, |tx| tx.merge_requests().open_counts(&[], None)), []);
    write(store, |tx| tx.labels().delete(wish));
    assert_counts([0, 0], [0, 0]);
    assert_eq!(read(store, |tx| tx.merge_requests().labels_of(&[for_bob.id])), []);
}

/// A version without commits takes the head away.
pub fn versions_come_newest_first_and_set_the_head(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [request, other] =
        [1, 2].map(|_| insert(store, a_merge_request(project, ada, "a request")));
    let newest = |id| read(store, |tx| tx.merge_requests().newest_version(id));
    assert_eq!(newest(request.id), None);
    let full = VersionCommits {
        head: Some(a_commit(1)),
        start: Some(a_commit(2)),
        base: Some(a_commit(3)),
    };
    let mut made = Vec::new();
    for (commits, size) in [
        (full, Some(FileCount::of(3))),
        (VersionCommits { head: Some(a_commit(4)), ..full }, Some(FileCount::of(2000))),
        (VersionCommits { start: Some(a_commit(2)), ..VersionCommits::default() }, None),
    ] {
        let new = NewVersion { request: request.id, commits, size, at: at(7) };
        let version = write(store, |tx| tx.merge_requests().insert_version(new));
        let id = version.id;
        assert_eq!(version, Version { id, request: request.id, commits, size, created_at: at(7) });
        assert_eq!(find(store, request.id).and_then(|found| found.head), commits.head);
        assert_eq!(newest(request.id).as_ref(), Some(&version));
        made.insert(0, version);
    }
    assert_eq!(find(store, other.id), Some(other.clone()));
    read(store, |tx| {
        assert_eq!(tx.merge_requests().versions(request.id)?, made);
        assert_eq!(tx.merge_requests().versions(other.id)?, []);
        assert_eq!(tx.merge_requests().version(request.id, made[1].id)?.as_ref(), Some(&made[1]));
        assert_eq!(tx.merge_requests().version(other.id, made[1].id)?, None);
        let unknown = MergeRequestVersionId(i64::MAX);
        assert_eq!(tx.merge_requests().version(request.id, unknown)?, None);
        Ok(())
    });
}

fn event_on(project: ProjectId, author: UserId, request: MergeRequestId) -> NewEvent {
    let (kind, belongs_to) = ("MergeRequest".to_owned(), Some(request.into()));
    let target = EventTarget { kind, id: Some(request.0), title: None, belongs_to };
    NewEvent { action: EventAction::Opened, target: Some(target), ..an_event(project, author) }
}

/// Stores one row of each kind that goes with a request.
fn fill(store: &dyn Store, project: ProjectId, user: UserId, label: LabelId, id: MergeRequestId) {
    write(store, |tx| {
        tx.notes().insert(a_note(project, id, user, "a note"))?;
        tx.issuables().subscribe(id.into(), user, Subscribed::Yes)?;
        tx.issuables().participate(id.into(), user)?;
        tx.merge_requests().set_labels(id, &[label])?;
        let commits = VersionCommits::default();
        let new = NewVersion { request: id, commits, size: None, at: at(1) };
        tx.merge_requests().insert_version(new)?;
        tx.events().insert(event_on(project, user, id)).map(drop)
    });
}

/// Counts the rows of each kind that go with a request.
fn rows_of(store: &dyn Store, user: UserId, id: MergeRequestId) -> [usize; 5] {
    let details = details_of(store, user, &[id.into()]);
    read(store, |tx| {
        Ok([
            tx.notes().list(id.into(), None, Page::Whole)?.items.len(),
            details.iter().filter(|(_, one)| one.subscription.is_some()).count(),
            details.iter().filter(|(_, one)| one.participates).count(),
            tx.merge_requests().labels_of(&[id])?.len(),
            tx.merge_requests().versions(id)?.len(),
        ])
    })
}

/// Rows of other requests are kept.
pub fn a_deleted_merge_request_takes_everything_along(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let label = label_in(store, project, "bug").id;
    let [gone, stays] =
        [1, 2].map(|_| insert(store, a_merge_request(project, ada, "a request")).id);
    for id in [gone, stays] {
        fill(store, project, ada, label, id);
        assert_eq!(rows_of(store, ada, id), [1; 5]);
    }
    write(store, |tx| tx.merge_requests().delete(gone));
    assert_eq!(find(store, gone), None);
    assert_eq!(rows_of(store, ada, gone), [0; 5]);
    assert_eq!(rows_of(store, ada, stays), [1; 5]);
    read(store, |tx| {
        let events = tx.events().of_project(project, Clearance::All, a_day(), Page::Whole)?;
        assert_eq!(events.total, 1);
        assert_eq!(tx.merge_requests().open_counts(&[label], None)?, [(label, 1)]);
        Ok(())
    });
}

/// Requests of others lose a deleted editor and the automatic merge of a deleted user.
pub fn merge_requests_go_with_their_author_and_assignee(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let label = label_in(store, project, "bug").id;
    let written = insert(store, a_merge_request(project, bob, "written")).id;
    let to_do = NewMergeRequest { assignee: Some(bob), ..a_merge_request(project, ada, "to do") };
    let to_do = insert(store, to_do).id;
    let stays = insert(store, a_merge_request(project, ada, "stays"));
    let automatic = AutomaticMerge {
        user: bob,
        message: LongText::parse("later").ok(),
        remove_source_branch: Some(true),
    };
    let edited =
        MergeRequest { updated_by: Some(bob), automatic_merge: Some(automatic), ..stays.clone() };
    update(store, &edited);
    for id in [written, to_do, stays.id] {
        fill(store, project, ada, label, id);
    }
    write(store, |tx| {
        tx.notes().insert(a_note(project, stays.id, bob, "a note"))?;
        tx.issuables().participate(stays.id.into(), bob)?;
        tx.users().delete(bob)
    });
    for id in [written, to_do] {
        assert_eq!((find(store, id), rows_of(store, ada, id)), (None, [0; 5]));
    }
    let left = MergeRequest { user_notes_count: 1, ..stays.clone() };
    assert_eq!(find(store, stays.id), Some(left));
    assert_eq!(rows_of(store, ada, stays.id), [1; 5]);
    read(store, |tx| {
        let events = tx.events().of_project(project, Clearance::All, a_day(), Page::Whole)?;
        assert_eq!(events.total, 1);
        assert_eq!(tx.merge_requests().open_counts(&[label], None)?, [(label, 1)]);
        Ok(())
    });
}

/// The number of the source project stays when the project is deleted.
pub fn merge_requests_go_with_their_target_project_only(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let (fork, bob) = a_project_with_owner(store, "bob");
    let mut new = a_merge_request(project, ada, "from the fork");
    new.ends.source_project = fork;
    let request = insert(store, new);
    let (note, label) = write(store, |tx| {
        let on = hexforge_domain::note::Noteable::Commit { project, id: a_commit(1) };
        let note = tx.notes().insert(a_note(project, on, ada, "a comment"))?.id;
        Ok((note, tx.labels().insert_all(project, vec![a_label("bug")])?[0].id))
    });
    fill(store, project, bob, label, request.id);
    write(store, |tx| tx.projects().delete(fork));
    let left = MergeRequest { user_notes_count: 1, ..request.clone() };
    assert_eq!(find(store, request.id), Some(left));
    write(store, |tx| tx.projects().delete(project));
    assert_eq!(find(store, request.id), None);
    assert_eq!(rows_of(store, bob, request.id), [0; 5]);
    assert_eq!(read(store, |tx| tx.notes().find_all(&[note])), []);
}

/// The label becomes one of the project's own.
pub fn a_label_of_a_merge_request_stays_with_a_project_that_changes_groups(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let team = a_group("team").stored_in(store).id;
    let site: Project = a_project("site", team, ada).stored_in(store);
    let home = home_of(store, ada);
    write(store, |tx| {
        for title in ["used", "unused"] {
            tx.group_labels().insert(team, a_label(title))?;
        }
        let used = tx.labels().find_by_title(site.id, "used")?.expect("copied from the group");
        let request = tx.merge_requests().insert(a_merge_request(site.id, ada, "a request"))?;
        tx.merge_requests().set_labels(request.id, &[used.id])?;
        let closed = MergeRequest { state: MergeRequestState::Closed, ..request };
        tx.merge_requests().update(&closed)?;
        let site = tx.projects().find(&ProjectRef::Id(site.id))?.expect("it was made");
        tx.projects().update(&Project { namespace: home, ..site })?;
        tx.group_labels().adapt_to_group(closed.project())
    });
    read(store, |tx| {
        let used = tx.labels().find_by_title(site.id, "used")?;
        assert_eq!(used.map(|label| label.of_group), Some(None));
        assert_eq!(tx.labels().find_by_title(site.id, "unused")?, None);
        Ok(())
    });
}
