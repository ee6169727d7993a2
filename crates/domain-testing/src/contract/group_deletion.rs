//! Deletion of groups; see [`Groups::delete`](hexforge_domain::group::port::Groups::delete).

use super::check::{read, write};
use crate::builders::{
    a_day, a_group, a_hook, a_member, a_moment, a_project, a_share, a_user, an_event, home_of,
};
use hexforge_domain::group::GroupRef;
use hexforge_domain::id::{NamespaceId, ProjectId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef, Starred};

fn project(store: &dyn Store, id: ProjectId) -> Option<Project> {
    read(store, |tx| tx.projects().find(&ProjectRef::Id(id)))
}

/// A group is deleted with its members, shares and projects.
pub fn deleting_a_group_takes_everything_inside_along(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let group = a_group("team").owner(ada).member(bob, AccessLevel::Guest).stored_in(store);
    let inside = a_project("inside", group.id, ada).stored_in(store).id;
    let hook = write(store, |tx| {
        tx.project_members().insert(inside, a_member(bob, AccessLevel::Master))?;
        tx.stars().put(inside, bob, Starred::Yes, a_moment())?;
        tx.events().insert(an_event(inside, bob))?;
        tx.project_hooks().insert(inside, a_hook("http://example.com"), a_moment())
    });
    write(store, |tx| tx.groups().delete(group.id));
    read(store, |tx| {
        assert_eq!(tx.groups().find(&GroupRef::new("team"))?, None);
        assert_eq!(tx.namespaces().find(group.id)?, None);
        assert_eq!(tx.namespaces().find_by_path(&group.path)?, None);
        assert_eq!(tx.group_members().list(group.id, None, Page::Whole)?.total, 0);
        assert_eq!(tx.group_members().find(group.id, ada)?, None);
        assert_eq!(tx.projects().find(&ProjectRef::Id(inside))?, None);
        assert_eq!(tx.projects().count_in(group.id)?, 0);
        assert_eq!(tx.project_members().list(inside, None, Page::Whole)?.total, 0);
        assert_eq!(tx.stars().find(inside, bob)?, Starred::No);
        assert_eq!(tx.events().of_project(inside, Clearance::All, a_day(), Page::Whole)?.total, 0);
        assert_eq!(tx.project_hooks().find(inside, hook.id)?, None);
        assert!(tx.users().find(ada)?.is_some() && tx.users().find(bob)?.is_some());
        Ok(())
    });
    // Path and name are free again; deleting the group a second time changes nothing.
    a_group("team").stored_in(store);
    write(store, |tx| tx.groups().delete(group.id));
    assert!(read(store, |tx| tx.groups().find(&GroupRef::new("team"))).is_some());
}

/// Projects of others that were shared with the group are kept. Forks of its projects are kept
/// without a source.
pub fn deleting_a_group_leaves_what_others_have(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let (team, other) = (a_group("team").stored_in(store).id, a_group("other").stored_in(store).id);
    let home = home_of(store, ada);
    let source = a_project("source", home, ada).stored_in(store);
    let inside = a_project("inside", team, ada).forked_from(source.id).stored_in(store);
    let fork = a_project("fork", home, ada).forked_from(inside.id).stored_in(store);
    let staying = write(store, |tx| {
        tx.shares().insert(a_share(inside.id, other, AccessLevel::Guest))?;
        tx.shares().insert(a_share(source.id, team, AccessLevel::Guest))?;
        tx.shares().insert(a_share(source.id, other, AccessLevel::Guest))
    });
    let before = project(store, source.id).map(|project| project.forks_count);
    assert_eq!(before, Some(1));
    write(store, |tx| tx.groups().delete(team));
    assert_eq!(project(store, source.id), Some(source.clone()));
    assert_eq!(project(store, fork.id), Some(Project { forked_from: None, ..fork }));
    let shares = read(store, |tx| tx.shares().of_projects(&[source.id, inside.id]));
    assert_eq!(shares, [staying]);
}

/// See [`StoreError::Gone`].
pub fn rows_cannot_be_added_to_a_deleted_group(store: &dyn Store) {
    type Work = fn(&mut dyn Tx, NamespaceId, &Project) -> Result<(), StoreError>;
    let ada = a_user("ada").stored_in(store).id;
    let group = a_group("team").stored_in(store).id;
    let site = a_project("site", home_of(store, ada), ada).stored_in(store);
    write(store, |tx| tx.groups().delete(group));
    let works: [(&str, Work); 4] = [
        ("project", |tx, group, site| {
            a_project("new", group, site.creator.expect("ada exists")).insert(tx).map(|_| ())
        }),
        ("move", |tx, group, site| {
            tx.projects().update(&Project { namespace: group, ..site.clone() })
        }),
        ("member", |tx, group, site| {
            let user = site.creator.expect("ada exists");
            tx.group_members().insert(group, a_member(user, AccessLevel::Guest))
        }),
        ("share", |tx, group, site| {
            tx.shares().insert(a_share(site.id, group, AccessLevel::Guest)).map(|_| ())
        }),
    ];
    for (name, work) in works {
        let outcome = store.write(|tx| work(tx, group, &site));
        assert!(matches!(outcome, Err(StoreError::Gone)), "{name}: {outcome:?}");
    }
    assert_eq!(project(store, site.id), Some(site));
}
