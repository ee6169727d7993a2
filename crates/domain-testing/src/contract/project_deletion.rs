//! Deletion of projects; see
//! [`Projects::delete`](hexforge_domain::project::port::Projects::delete).

use super::check::{insider, read, write};
use crate::builders::{
    a_branch, a_day, a_group, a_hook, a_member, a_moment, a_project, a_protection, a_release,
    a_share, a_tag, a_user, an_event, an_import, home_of,
};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef, Starred};

/// Creates a project with one row of each kind.
fn insert_rows_of_each_kind(
    tx: &mut dyn Tx,
    name: &str,
    user: UserId,
) -> Result<Project, StoreError> {
    let home = tx.namespaces().personal(user)?.expect("the user has a namespace");
    let project = a_project(name, home.id, user).insert(tx)?;
    let group = a_group(&format!("group-of-{name}")).insert(tx)?;
    tx.project_members().insert(project.id, a_member(user, AccessLevel::Master))?;
    tx.stars().put(project.id, user, Starred::Yes, a_moment())?;
    tx.shares().insert(a_share(project.id, group.id, AccessLevel::Guest))?;
    tx.project_hooks().insert(project.id, a_hook("http://example.com"), a_moment())?;
    tx.protections().put(project.id, &a_protection("master"))?;
    tx.releases().insert(project.id, &a_release("v1", "text"), a_moment())?;
    tx.repository_tasks().insert(project.id, &an_import(user), a_moment())?;
    tx.events().insert(an_event(project.id, user))?;
    Ok(project)
}

/// Returns the number of rows of each kind that belong to a project.
fn count_rows(tx: &mut dyn Tx, id: ProjectId, user: UserId) -> Result<Vec<u64>, StoreError> {
    let starred = tx.stars().find(id, user)?;
    Ok(vec![
        tx.projects().find(&ProjectRef::Id(id))?.into_iter().count() as u64,
        tx.projects().find_all(&[id])?.len() as u64,
        tx.project_members().list(id, None, Page::Whole)?.total,
        tx.project_members().find(id, user)?.into_iter().count() as u64,
        u64::from(starred == Starred::Yes),
        tx.shares().of_projects(&[id])?.len() as u64,
        tx.project_hooks().list(id, Page::Whole)?.total,
        tx.protections().list(id)?.len() as u64,
        tx.releases().find(id, &a_tag("v1"))?.into_iter().count() as u64,
        tx.repository_tasks().imports(&[id])?.len() as u64,
        tx.events().of_project(id, Clearance::All, a_day(), Page::Whole)?.total,
    ])
}

/// A project is deleted with all its rows, and rows of other projects are kept.
pub fn deleting_a_project_takes_everything_along_and_nothing_of_others(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let (one, two) = write(store, |tx| {
        Ok((insert_rows_of_each_kind(tx, "one", ada)?, insert_rows_of_each_kind(tx, "two", ada)?))
    });
    let whole = read(store, |tx| count_rows(tx, one.id, ada));
    assert!(whole.iter().all(|rows| *rows == 1), "{whole:?}");

    write(store, |tx| tx.projects().delete(one.id));
    let left = read(store, |tx| count_rows(tx, one.id, ada));
    assert!(left.iter().all(|rows| *rows == 0), "{left:?}");
    assert_eq!(read(store, |tx| count_rows(tx, two.id, ada)), whole);
    let events = read(store, |tx| {
        tx.events().authored_by(ada, insider(ada), Clearance::All, a_day(), Page::Whole)
    });
    assert_eq!(events.map(|event| event.project).items, [two.id]);
    // Name and path are free again; deleting the project a second time changes nothing.
    a_project("one", one.namespace, ada).stored_in(store);
    write(store, |tx| tx.projects().delete(one.id));
    assert_eq!(read(store, |tx| tx.projects().count_in(one.namespace)), 2);
}

/// See [`StoreError::Gone`].
pub fn rows_cannot_be_added_to_a_deleted_project(store: &dyn Store) {
    type Work = fn(&mut dyn Tx, &Project, UserId) -> Result<(), StoreError>;
    let ada = a_user("ada").stored_in(store).id;
    let group = a_group("team").stored_in(store);
    let site = a_project("site", group.id, ada).stored_in(store);
    write(store, |tx| tx.projects().delete(site.id));
    let works: [(&str, Work); 8] = [
        ("member", |tx, site, ada| {
            tx.project_members().insert(site.id, a_member(ada, AccessLevel::Guest))
        }),
        ("star", |tx, site, ada| tx.stars().put(site.id, ada, Starred::Yes, a_moment())),
        ("share", |tx, site, _| {
            tx.shares().insert(a_share(site.id, site.namespace, AccessLevel::Guest)).map(|_| ())
        }),
        ("hook", |tx, site, _| {
            let hook = a_hook("http://example.com");
            tx.project_hooks().insert(site.id, hook, a_moment()).map(|_| ())
        }),
        ("protection", |tx, site, _| tx.protections().put(site.id, &a_protection("master"))),
        ("release", |tx, site, _| {
            tx.releases().insert(site.id, &a_release("v1", "text"), a_moment())
        }),
        ("task", |tx, site, ada| {
            tx.repository_tasks().insert(site.id, &an_import(ada), a_moment()).map(|_| ())
        }),
        ("event", |tx, site, ada| tx.events().insert(an_event(site.id, ada)).map(|_| ())),
    ];
    for (name, work) in works {
        let outcome = store.write(|tx| work(tx, &site, ada));
        assert!(matches!(outcome, Err(StoreError::Gone)), "{name}: {outcome:?}");
    }
    let left = read(store, |tx| count_rows(tx, site.id, ada));
    assert!(left.iter().all(|rows| *rows == 0), "{left:?}");
}

/// Updating a deleted project does not create it again.
pub fn updating_a_deleted_project_creates_none(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let home = home_of(store, ada);
    let site = a_project("site", home, ada).stored_in(store);
    write(store, |tx| tx.projects().delete(site.id));
    write(store, |tx| {
        tx.projects().update(&site)?;
        tx.projects().set_default_branch(site.id, Some(&a_branch("master")))?;
        tx.projects().record_activity(site.id, a_moment())?;
        tx.projects().lower_forks(site.id, a_moment())?;
        assert!(!tx.releases().update(site.id, &a_release("v1", "text"), a_moment())?);
        assert!(!tx.protections().remove(site.id, "master")?);
        tx.releases().remove(site.id, &a_tag("v1"))?;
        tx.stars().put(site.id, ada, Starred::No, a_moment())
    });
    assert_eq!(read(store, |tx| tx.projects().count_in(home)), 0);
}
