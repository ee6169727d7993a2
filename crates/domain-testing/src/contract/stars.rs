//! Stars; see [`Stars`](hexforge_domain::project::port::Stars).

use super::check::{project, read, write};
use crate::builders::{a_project, a_user, at, home_of};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::{Project, Starred};

fn put_star(store: &dyn Store, project: ProjectId, user: UserId, starred: Starred, seconds: i64) {
    write(store, |tx| tx.stars().put(project, user, starred, at(seconds)));
}

/// A star is counted, sets the update time of the project, and belongs to one user and one project.
pub fn a_star_is_counted_and_can_be_taken_back(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let home = home_of(store, ada);
    let site = a_project("site", home, ada).stored_in(store);
    let other = a_project("other", home, ada).stored_in(store);
    let stars = |user| read(store, |tx| tx.stars().find(site.id, user));
    let after = |star_count, seconds| {
        let expected = Project { star_count, updated_at: at(seconds), ..site.clone() };
        assert_eq!(project(store, site.id), expected);
    };
    assert_eq!((stars(ada), stars(bob)), (Starred::No, Starred::No));
    put_star(store, site.id, ada, Starred::Yes, 10);
    after(1, 10);
    assert_eq!((stars(ada), stars(bob)), (Starred::Yes, Starred::No));
    put_star(store, site.id, bob, Starred::Yes, 20);
    after(2, 20);
    put_star(store, site.id, ada, Starred::No, 30);
    after(1, 30);
    assert_eq!((stars(ada), stars(bob)), (Starred::No, Starred::Yes));
    put_star(store, site.id, bob, Starred::No, 40);
    after(0, 40);
    put_star(store, site.id, bob, Starred::Yes, 50);
    after(1, 50);
    assert_eq!(project(store, other.id), other);
    assert_eq!(read(store, |tx| tx.stars().find(other.id, bob)), Starred::No);
    assert_eq!(read(store, |tx| tx.stars().find(ProjectId(i64::MAX), bob)), Starred::No);
}

/// Repeating a star does not count it again.
pub fn a_star_is_counted_once(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let site = a_project("site", home_of(store, ada), ada).stored_in(store).id;
    for (starred, expected) in [
        (Starred::No, 0),
        (Starred::Yes, 1),
        (Starred::Yes, 1),
        (Starred::No, 0),
        (Starred::No, 0),
        (Starred::Yes, 1),
    ] {
        put_star(store, site, ada, starred, 1);
        assert_eq!(project(store, site).star_count, expected, "{starred:?}");
    }
}

/// See [`Projects::update`](hexforge_domain::project::port::Projects::update): the counters of a
/// stale project do not overwrite the stored ones.
pub fn updating_does_not_overwrite_the_count_of_stars(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let site = a_project("site", home_of(store, ada), ada).stored_in(store);
    put_star(store, site.id, ada, Starred::Yes, 1);
    write(store, |tx| tx.projects().update(&site));
    assert_eq!(project(store, site.id).star_count, 1);
}
