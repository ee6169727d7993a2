//! Shared helpers of the cases: transactions that must succeed or fail, and the check of
//! pagination.

use crate::builders::{UserBuilder, a_day};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::project::query::{ProjectFilter, ProjectOrder, ProjectScope, Viewer};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::user::User;
use std::fmt::Debug;

/// Runs a write transaction that must succeed.
#[track_caller]
pub(super) fn write<T: Send>(
    store: &dyn Store,
    work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send,
) -> T {
    store.write(work).expect("a writing transaction without a mistake succeeds")
}

/// Runs a read transaction that must succeed.
#[track_caller]
pub(super) fn read<T: Send>(
    store: &dyn Store,
    work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send,
) -> T {
    store.read(work).expect("a reading transaction succeeds")
}

/// Runs a transaction that must fail with a duplicate of the field.
#[track_caller]
pub(super) fn assert_duplicate<T: Debug + Send>(
    store: &dyn Store,
    field: &str,
    work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send,
) {
    let outcome = store.write(work);
    let named = matches!(&outcome, Err(StoreError::Duplicate(duplicate)) if *duplicate == field);
    assert!(named, "expected a duplicate `{field}`, not {outcome:?}");
}

/// Stores a user.
#[track_caller]
pub(super) fn insert(store: &dyn Store, user: UserBuilder) -> User {
    write(store, |tx| user.insert(tx))
}

/// Returns the user with this id. Panics if there is none.
#[track_caller]
pub(super) fn user(store: &dyn Store, id: UserId) -> User {
    read(store, |tx| tx.users().find(id)).expect("the account exists")
}

/// Returns the project with this id. Panics if there is none.
#[track_caller]
pub(super) fn project(store: &dyn Store, id: ProjectId) -> Project {
    read(store, |tx| tx.projects().find(&ProjectRef::Id(id))).expect("the project exists")
}

/// The filter for all projects, ordered by id.
pub(super) fn all_projects() -> ProjectFilter {
    ProjectFilter {
        scope: ProjectScope::All,
        archived: None,
        visibility: None,
        search: None,
        order: ProjectOrder::Id,
        descending: false,
        builds_first: false,
        today: a_day(),
    }
}

/// A viewer who is not external.
pub(super) fn insider(user: UserId) -> Viewer {
    Viewer { user, external: false }
}

/// A viewer who is external.
pub(super) fn outsider(user: UserId) -> Viewer {
    Viewer { user, external: true }
}

/// Checks the pagination of a list against its expected rows: the whole list, pages of several
/// sizes, and pages past the end. The total must be the same for all.
#[track_caller]
pub(super) fn assert_pages<T: Clone + Debug + PartialEq + Sync>(
    store: &dyn Store,
    expected: &[T],
    list: impl Fn(&mut dyn Tx, Page) -> Result<Paged<T>, StoreError> + Sync,
) {
    let length = expected.len() as u64;
    let numbered = [1, 2, length.max(1), length + 1].into_iter().flat_map(|size| {
        let beyond = [length + 2, u64::MAX];
        (1..=length + 1).chain(beyond).map(move |number| Page::Numbered { number, size })
    });
    let pages: Vec<Page> = numbered.chain([Page::Whole]).collect();
    read(store, |tx| {
        for page in pages {
            assert_eq!(list(tx, page)?, page.slice(expected.to_vec()), "{page:?}");
        }
        Ok(())
    });
}
