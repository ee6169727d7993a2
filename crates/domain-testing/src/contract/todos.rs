//! Todos, and the users that texts mention; see [`Todos`](hexforge_domain::todo::port::Todos) and
//! [`ProjectMembers::mentioned`](hexforge_domain::member::port::ProjectMembers::mentioned).

use super::check::{assert_pages, insider, read, write};
use super::issuables::two_of_each;
use super::labels::a_project_with_owner;
use crate::builders::{
    a_day, a_group, a_member, a_note, a_project, a_share, a_todo, a_user, at, day, home_of,
    join_group, join_project, share,
};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{IssueId, NoteId, ProjectId, TodoId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::note::Noteable;
use hexforge_domain::note::port::NoteReader;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::project::ProjectRole;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::todo::{
    MarkedTodos, NewTodo, Todo, TodoAction, TodoFilter, TodoKind, TodoState,
};

/// Two issues, two merge requests and a commit.
fn targets(store: &dyn Store, project: ProjectId, author: UserId) -> Vec<Noteable> {
    let things = two_of_each(store, project, author).concat();
    let commit = Noteable::Commit { project, id: ObjectId::from_bytes([7; 20]) };
    things.into_iter().map(Noteable::from).chain([commit]).collect()
}

/// Lists the todos that match a filter, newest first.
fn list(store: &dyn Store, filter: &TodoFilter) -> Vec<Todo> {
    read(store, |tx| tx.todos().list(filter, Page::Whole)).items
}

fn all_of(user: UserId) -> TodoFilter {
    TodoFilter::all_of(user, None)
}

/// Stores a todo, and returns it.
#[track_caller]
fn insert(store: &dyn Store, new: NewTodo) -> Todo {
    let (user, target) = (new.user, new.target);
    write(store, |tx| tx.todos().insert(&[new]));
    read(store, |tx| tx.todos().find_pending(user, target)).expect("it was stored")
}

/// All fields are read back as they were written.
pub fn a_todo_has_every_field(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let targets = targets(store, project, ada);
    for (target, action) in targets.into_iter().zip(TodoAction::ALL.into_iter().cycle()) {
        let note = a_note(project, target, ada, "@bob");
        let note = write(store, |tx| tx.notes().insert(note)).id;
        let new = NewTodo {
            author: ada,
            action,
            note: Some(note),
            at: at(7),
            ..a_todo(project, target, bob)
        };
        let made = insert(store, new);
        let expected = Todo {
            id: made.id,
            user: bob,
            project,
            target,
            author: ada,
            action,
            note: Some(note),
            state: TodoState::Pending,
            created_at: at(7),
        };
        assert_eq!(made, expected);
        write(store, |tx| tx.todos().mark_done(bob, target));
        let done = Todo { state: TodoState::Done, ..expected };
        assert_eq!(list(store, &TodoFilter { id: Some(made.id), ..all_of(bob) }), [done]);
    }
    for new in [
        a_todo(project, IssueId(i64::MAX), bob),
        NewTodo { note: Some(NoteId(i64::MAX)), ..a_todo(project, commit(project), bob) },
        a_todo(project, commit(project), UserId(i64::MAX)),
    ] {
        let refused = store.write(|tx| tx.todos().insert(std::slice::from_ref(&new)));
        assert!(matches!(refused, Err(StoreError::Gone)), "{refused:?}");
    }
}

fn commit(project: ProjectId) -> Noteable {
    Noteable::Commit { project, id: ObjectId::from_bytes([9; 20]) }
}

/// Another todo for the same target is left out until the first one is done. Other users and targets are independent.
pub fn a_user_has_one_pending_todo_for_a_target(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let all = targets(store, project, ada);
    for target in &all {
        let first = insert(store, a_todo(project, *target, ada));
        let both = [ada, bob].map(|user| NewTodo { at: at(9), ..a_todo(project, *target, user) });
        write(store, |tx| tx.todos().insert(&[both.clone(), both].concat()));
        let pending = |user| read(store, |tx| tx.todos().find_pending(user, *target));
        assert_eq!(pending(ada), Some(first.clone()));
        assert_eq!(pending(bob).map(|todo| todo.created_at), Some(at(9)));
        write(store, |tx| tx.todos().mark_done(ada, *target));
        assert_eq!((pending(ada), pending(bob).is_some()), (None, true));
        let second = insert(store, a_todo(project, *target, ada));
        assert_ne!(second.id, first.id);
    }
    let other = a_project("other", home_of(store, ada), ada).stored_in(store).id;
    let Some(Noteable::Commit { id, .. }) = all.last().copied() else { panic!("a commit") };
    insert(store, a_todo(other, Noteable::Commit { project: other, id }, ada));
    assert_eq!(list(store, &all_of(ada)).len(), 2 * all.len() + 1);
    assert_eq!(list(store, &all_of(bob)).len(), all.len());
}

/// The newest todo has the highest id.
pub fn todos_are_listed_newest_first(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let mut made = Vec::new();
    for target in targets(store, project, ada) {
        made.push(insert(store, NewTodo { at: at(-7), ..a_todo(project, target, ada) }));
        insert(store, a_todo(project, target, bob));
    }
    made.reverse();
    assert_pages(store, &made, |tx, page| tx.todos().list(&all_of(ada), page));
}

/// Filters are combined.
pub fn each_filter_restricts_the_list(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let other = a_project("other", home_of(store, ada), ada).stored_in(store).id;
    let mut made = Vec::new();
    for target in targets(store, project, ada) {
        let action = TodoAction::Assigned;
        made.push(insert(store, NewTodo { author: bob, action, ..a_todo(project, target, ada) }));
    }
    made.push(insert(store, a_todo(other, commit(other), ada)));
    write(store, |tx| tx.todos().mark_done(ada, made[0].target));
    made[0].state = TodoState::Done;
    let found = |filter: TodoFilter| -> Vec<usize> {
        let position = |todo: Todo| made.iter().position(|one| *one == todo);
        list(store, &filter).into_iter().map(|todo| position(todo).expect("a todo")).collect()
    };
    let all = || all_of(ada);
    assert_eq!(found(all()), [5, 4, 3, 2, 1, 0]);
    let (assigned, marked) = (TodoAction::Assigned, TodoAction::Marked);
    for (filter, expected) in [
        (TodoFilter { state: Some(TodoState::Done), ..all() }, vec![0]),
        (TodoFilter { state: Some(TodoState::Pending), ..all() }, vec![5, 4, 3, 2, 1]),
        (TodoFilter { id: Some(made[3].id), ..all() }, vec![3]),
        (TodoFilter { id: Some(TodoId(i64::MAX)), ..all() }, vec![]),
        (TodoFilter { actions: vec![marked], ..all() }, vec![5]),
        (TodoFilter { actions: vec![assigned, assigned], ..all() }, vec![4, 3, 2, 1, 0]),
        (TodoFilter { actions: vec![assigned, marked], ..all() }, vec![]),
        (TodoFilter { author: Some(bob), ..all() }, vec![4, 3, 2, 1, 0]),
        (TodoFilter { author: Some(ada), ..all() }, vec![5]),
        (TodoFilter { project: Some(other), ..all() }, vec![5]),
        (TodoFilter { project: Some(project), ..all() }, vec![4, 3, 2, 1, 0]),
        (TodoFilter { kind: Some(TodoKind::Issue), ..all() }, vec![1, 0]),
        (TodoFilter { kind: Some(TodoKind::MergeRequest), ..all() }, vec![3, 2]),
        (
            TodoFilter {
                kind: Some(TodoKind::Issue),
                state: Some(TodoState::Pending),
                author: Some(bob),
                project: Some(project),
                actions: vec![assigned],
                ..all()
            },
            vec![1],
        ),
    ] {
        assert_eq!(found(filter.clone()), expected, "{filter:?}");
    }
    assert_eq!(found(all_of(bob)), Vec::<usize>::new());
}

/// A user who may not see the target any more does not see the todo. Administrators see all.
pub fn todos_for_hidden_targets_are_not_listed(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [bob, eve] = ["bob", "eve"].map(|name| a_user(name).stored_in(store).id);
    let [issues, requests] = two_of_each(store, project, ada);
    write(store, |tx| {
        let Issuable::Issue(id) = issues[1] else { panic!("an issue") };
        let mut secret = tx.issues().find(project, id)?.expect("it was made");
        secret.confidential = true;
        tx.issues().update(&secret)?;
        let Issuable::MergeRequest(id) = requests[1] else { panic!("a merge request") };
        let mut assigned = tx.merge_requests().find(project, id)?.expect("it was made");
        assigned.assignee = Some(bob);
        tx.merge_requests().update(&assigned)
    });
    let things = [issues, requests].concat().into_iter().map(Noteable::from);
    let targets: Vec<Noteable> = things.chain([commit(project)]).collect();
    for target in &targets {
        write(store, |tx| {
            tx.todos().insert(&[bob, eve].map(|user| a_todo(project, *target, user)))
        });
    }
    let visible = |user| {
        let reader = Some(NoteReader { viewer: insider(user), today: a_day() });
        let found = list(store, &TodoFilter::all_of(user, reader));
        let seen = |target: &Noteable| found.iter().any(|todo| todo.target == *target);
        targets.iter().map(seen).collect::<Vec<bool>>()
    };
    let expect = |expected: [bool; 5]| assert_eq!(visible(bob), expected);
    // The order is: issue, confidential issue, request, own request, commit.
    expect([false, false, false, false, false]);
    join_project(store, project, a_member(bob, AccessLevel::Guest));
    expect([true, false, false, true, false]);
    write(store, |tx| tx.project_members().update(project, a_member(bob, AccessLevel::Reporter)));
    expect([true, true, true, true, true]);
    let change = |change: fn(&mut Project)| {
        write(store, |tx| {
            let mut found = tx.projects().find(&ProjectRef::Id(project))?.expect("it was made");
            change(&mut found);
            tx.projects().update(&found)
        });
    };
    change(|project| project.features.issues = false);
    expect([false, false, true, true, true]);
    change(|project| project.features.merge_requests = false);
    expect([false, false, false, false, true]);
    assert_eq!(visible(eve), [false; 5]);
    assert_eq!(list(store, &all_of(eve)).len(), targets.len());
}

/// Each step marks at most the given number, and the next one continues after it. Todos that are done already do not count.
pub fn matching_todos_are_marked_in_steps(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    for target in targets(store, project, ada) {
        write(store, |tx| tx.todos().insert(&[ada, bob].map(|user| a_todo(project, target, user))));
    }
    let mark = |filter: &TodoFilter, after, limit| {
        write(store, |tx| tx.todos().mark_matching_done(filter, after, limit))
    };
    let mut ids: Vec<TodoId> = list(store, &all_of(ada)).into_iter().map(|todo| todo.id).collect();
    ids.reverse();
    let step = |count, next| MarkedTodos { count, next };
    let issues = TodoFilter { kind: Some(TodoKind::Issue), ..all_of(ada) };
    assert_eq!(mark(&issues, None, 1), step(1, Some(ids[0])));
    assert_eq!(mark(&issues, Some(ids[1]), 9), step(0, None), "after the last one");
    assert_eq!(mark(&issues, Some(ids[0]), 9), step(1, None));
    assert_eq!(mark(&issues, None, 9), step(0, None));
    let pending = TodoFilter { state: Some(TodoState::Pending), ..all_of(ada) };
    assert_eq!(list(store, &pending).len(), 3);
    let done = TodoFilter { state: Some(TodoState::Done), ..all_of(ada) };
    assert_eq!(mark(&done, None, 9), step(0, None));
    assert_eq!(mark(&pending, None, 2), step(2, Some(ids[3])));
    assert_eq!(mark(&all_of(ada), Some(ids[3]), 9), step(1, None));
    assert_eq!(list(store, &pending), []);
    assert_eq!(list(store, &TodoFilter { user: bob, ..pending }).len(), 5);
}

/// Todos are deleted with their target, note, user, author and project, and with a membership.
pub fn todos_go_with_everything_that_they_refer_to(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let other = a_project("other", home_of(store, ada), ada).stored_in(store).id;
    let [bob, eve] = ["bob", "eve"].map(|name| a_user(name).stored_in(store).id);
    let all = targets(store, project, ada);
    let note = a_note(project, commit(project), ada, "@bob");
    let note = write(store, |tx| tx.notes().insert(note));
    let left = |user| list(store, &all_of(user)).len();
    for target in &all {
        write(store, |tx| {
            tx.todos().insert(&[bob, eve].map(|user| a_todo(project, *target, user)))
        });
    }
    insert(store, NewTodo { note: Some(note.id), ..a_todo(project, commit(project), bob) });
    insert(store, NewTodo { author: eve, ..a_todo(other, commit(other), bob) });
    assert_eq!((left(bob), left(eve)), (7, 5));
    write(store, |tx| tx.notes().delete(&note));
    assert_eq!((left(bob), left(eve)), (6, 5));
    write(store, |tx| tx.todos().delete_in_project(eve, project));
    assert_eq!((left(bob), left(eve)), (6, 0));
    write(store, |tx| tx.users().delete(eve));
    assert_eq!(left(bob), 5);
    write(store, |tx| {
        for target in &all[..3] {
            match *target {
                Noteable::Issue(id) => tx.issues().delete(id)?,
                Noteable::MergeRequest(id) => tx.merge_requests().delete(id)?,
                Noteable::Snippet(_) | Noteable::Commit { .. } => {}
            }
        }
        Ok(())
    });
    assert_eq!(left(bob), 2);
    write(store, |tx| tx.projects().delete(project));
    assert_eq!(left(bob), 0);
}

/// Each user is found once, with the rights in the project, and memberships must be in force.
pub fn names_mention_users_groups_and_the_team(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [bob, eve, old] = ["bob", "eve", "old"].map(|name| a_user(name).stored_in(store).id);
    let group = a_group("Team").member(eve, AccessLevel::Developer).stored_in(store).id;
    join_group(store, group, Membership::new(old, AccessLevel::Master, Some(day(-1))));
    join_project(store, project, a_member(bob, AccessLevel::Reporter));
    let mentioned = |names: &[&str], limit| {
        let found =
            read(store, |tx| tx.project_members().mentioned(project, names, a_day(), limit));
        found.into_iter().map(|(user, role)| (user.id, role)).collect::<Vec<_>>()
    };
    let level = |level| ProjectRole { level, owner: false };
    let reporter = level(Some(AccessLevel::Reporter));
    let owner = ProjectRole { level: None, owner: true };
    assert_eq!(mentioned(&[], 9), []);
    assert_eq!(mentioned(&["nobody", "Bob", "al"], 9), []);
    assert_eq!(mentioned(&["bob", "ada", "bob"], 9), [(ada, owner), (bob, reporter)]);
    assert_eq!(mentioned(&["bob", "ada"], 1), [(ada, owner)]);
    assert_eq!(mentioned(&["tEAM", "eve"], 9), [(eve, level(None))]);
    assert_eq!(mentioned(&["all"], 9), [(bob, reporter)]);
    share(store, a_share(project, group, AccessLevel::Guest));
    let guest = level(Some(AccessLevel::Guest));
    assert_eq!(mentioned(&["all"], 9), [(bob, reporter), (eve, guest)]);
    assert_eq!(mentioned(&["all", "ada", "old"], 9).len(), 4);
}
