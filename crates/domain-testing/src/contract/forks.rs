//! Forks and their sources.

use super::check::{project, read, write};
use crate::builders::{a_day, a_group, a_project, a_user, at, home_of};
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::project::Project;
use hexforge_domain::project::query::{ProjectFilter, ProjectOrder, ProjectScope};
use hexforge_domain::visibility::Visibility;

/// Creates a user; returns it with its personal namespace.
fn a_home(store: &dyn Store) -> (UserId, NamespaceId) {
    let ada = a_user("ada").stored_in(store).id;
    (ada, home_of(store, ada))
}

fn forks_count(store: &dyn Store, id: ProjectId) -> u32 {
    project(store, id).forks_count
}

/// The fork counter equals a recount after any sequence of forks, links and deletions, including
/// rolled back ones.
pub fn the_counter_of_forks_is_right_after_any_changes(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let mut projects: Vec<Project> = Vec::new();
    let mut most = 0;
    let mut dice = 5_u64;
    let mut roll = |sides: usize| {
        dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (dice >> 33) as usize % sides
    };
    for round in 0..80 {
        let chosen = roll(projects.len() * 2 + 1);
        let source = projects.get(roll(projects.len() + 2)).map(|project| project.id);
        let keep = roll(4) > 0;
        let group = a_group(&format!("g{round}")).stored_in(store).id;
        let done: Result<(), StoreError> = store.write(|tx| {
            match (roll(4), projects.get(chosen)) {
                (0, Some(project)) => tx.projects().delete(project.id)?,
                (1, Some(project)) => {
                    // Deletes the project with the group that it was moved to.
                    let moved = Project { namespace: group, ..project.clone() };
                    tx.projects().update(&moved)?;
                    tx.groups().delete(group)?;
                }
                (_, Some(project)) => {
                    let source = source.filter(|source| *source != project.id);
                    tx.projects().update(&Project { forked_from: source, ..project.clone() })?;
                }
                (_, None) => {
                    let new = a_project(&format!("p{round}"), home, ada);
                    match source {
                        Some(source) => new.forked_from(source).insert(tx)?,
                        None => new.insert(tx)?,
                    };
                }
            }
            if keep { Ok(()) } else { Err(StoreError::Gone) }
        });
        assert_eq!(done.is_ok(), keep, "round {round}: {done:?}");
        let all = ProjectFilter {
            scope: ProjectScope::All,
            archived: None,
            visibility: None,
            search: None,
            order: ProjectOrder::Id,
            descending: false,
            builds_first: false,
            today: a_day(),
        };
        projects = read(store, |tx| tx.projects().list(&all, Page::Whole)).items;
        for project in &projects {
            let forks = projects.iter().filter(|fork| fork.forked_from == Some(project.id));
            assert_eq!(project.forks_count as usize, forks.count(), "round {round}");
            most = most.max(project.forks_count);
        }
    }
    assert!(most > 1, "some project has several forks");
}

/// See [`Project::forks_count`].
pub fn forks_are_counted_while_they_exist(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let group = a_group("team").stored_in(store).id;
    let source = a_project("source", home, ada).stored_in(store);
    let one = a_project("one", home, ada).forked_from(source.id).stored_in(store);
    let two = a_project("two", group, ada).forked_from(source.id).stored_in(store);
    let of_one = a_project("of-one", home, ada).forked_from(one.id).stored_in(store);
    assert_eq!((forks_count(store, source.id), forks_count(store, one.id)), (2, 1));
    assert_eq!((forks_count(store, two.id), forks_count(store, of_one.id)), (0, 0));
    // Being forked does not change the source project.
    let expected = Project { forks_count: 2, ..source.clone() };
    assert_eq!(project(store, source.id), expected);

    write(store, |tx| tx.projects().delete(one.id));
    assert_eq!(forks_count(store, source.id), 1);
    let left = Project { forked_from: None, ..of_one };
    assert_eq!(project(store, left.id), left);
    write(store, |tx| tx.groups().delete(group));
    assert_eq!(project(store, source.id), source);
}

/// See [`Projects::update`](hexforge_domain::project::port::Projects::update): the counters of a
/// stale project do not overwrite the stored ones.
pub fn updating_does_not_overwrite_the_count_of_forks(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let source = a_project("source", home, ada).stored_in(store);
    a_project("fork", home, ada).forked_from(source.id).stored_in(store);
    write(store, |tx| tx.projects().update(&source));
    assert_eq!(forks_count(store, source.id), 1);
}

/// See [`Projects::delete`](hexforge_domain::project::port::Projects::delete).
pub fn forks_outlive_their_source(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let source = a_project("source", home, ada).stored_in(store);
    let fork = a_project("fork", home, ada).forked_from(source.id).stored_in(store);
    write(store, |tx| tx.projects().delete(source.id));
    assert_eq!(project(store, fork.id), Project { forked_from: None, ..fork });
}

/// See [`Projects::lower_forks`](hexforge_domain::project::port::Projects::lower_forks).
pub fn forks_are_lowered_to_their_source(store: &dyn Store) {
    use Visibility::{Internal, Private, Public};
    for (number, source_is) in (1..).zip([Private, Internal, Public]) {
        let ada = a_user(&format!("ada{number}")).stored_in(store).id;
        let home = home_of(store, ada);
        let source = a_project("source", home, ada).visibility(source_is).stored_in(store);
        let of_another = a_project("apart", home, ada).public().stored_in(store);
        let forks = [("low", Private), ("middle", Internal), ("high", Public)].map(|(name, is)| {
            let fork = a_project(name, home, ada).visibility(is);
            fork.forked_from(source.id).stored_in(store)
        });
        write(store, |tx| tx.projects().lower_forks(source.id, at(77)));
        for fork in forks {
            let expected = if fork.visibility > source_is {
                Project { visibility: source_is, updated_at: at(77), ..fork }
            } else {
                fork
            };
            assert_eq!(project(store, expected.id), expected, "{source_is:?}");
        }
        assert_eq!(project(store, of_another.id), of_another);
        assert_eq!(project(store, source.id), Project { forks_count: 3, ..source });
    }
}

/// See [`Projects::lower_forks`](hexforge_domain::project::port::Projects::lower_forks): forks of
/// forks are lowered too.
pub fn forks_of_forks_are_lowered_too(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let source = a_project("source", home, ada).stored_in(store).id;
    let mut chain = vec![source];
    for (name, visibility) in
        [("one", Visibility::Public), ("two", Visibility::Private), ("three", Visibility::Public)]
    {
        let fork = a_project(name, home, ada).visibility(visibility);
        let last = chain[chain.len() - 1];
        chain.push(fork.forked_from(last).stored_in(store).id);
    }
    write(store, |tx| tx.projects().lower_forks(source, at(5)));
    for id in chain {
        assert_eq!(project(store, id).visibility, Visibility::Private);
    }
}

/// See [`Projects::update`](hexforge_domain::project::port::Projects::update).
pub fn a_fork_link_is_set_and_removed(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let source = a_project("source", home, ada).stored_in(store);
    let other = a_project("other", home, ada).stored_in(store);
    let linked = Project { forked_from: Some(source.id), ..other.clone() };
    write(store, |tx| tx.projects().update(&linked));
    assert_eq!((project(store, other.id), forks_count(store, source.id)), (linked.clone(), 1));
    write(store, |tx| tx.projects().update(&other));
    assert_eq!((project(store, other.id), forks_count(store, source.id)), (other, 0));
    let nowhere = Project { forked_from: Some(ProjectId(i64::MAX)), ..linked };
    let outcome = store.write(|tx| tx.projects().update(&nowhere));
    assert!(matches!(outcome, Err(StoreError::Gone)), "{outcome:?}");
}

/// See [`Projects::is_fork_of`](hexforge_domain::project::port::Projects::is_fork_of).
pub fn direct_and_indirect_forks_are_recognized(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let source = a_project("source", home, ada).stored_in(store).id;
    let fork = a_project("fork", home, ada).forked_from(source).stored_in(store).id;
    let of_fork = a_project("of-fork", home, ada).forked_from(fork).stored_in(store).id;
    let other = a_project("other", home, ada).stored_in(store).id;
    for (project, from, expected) in [
        (fork, source, true),
        (of_fork, source, true),
        (of_fork, fork, true),
        (source, fork, false),
        (source, of_fork, false),
        (source, source, false),
        (other, source, false),
        (source, other, false),
    ] {
        let found = read(store, |tx| tx.projects().is_fork_of(project, from));
        assert_eq!(found, expected, "{project} {from}");
    }
}

/// Changes of the fork link do not change whether a repository was copied.
pub fn a_copy_stays_a_copy_without_its_source(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let source = a_project("source", home, ada).stored_in(store);
    let group = a_group("team").stored_in(store).id;
    let fork = a_project("source", group, ada).forked_from(source.id).stored_in(store);
    let linked = a_project("linked", home, ada).stored_in(store);
    let copies = || -> Vec<bool> {
        let ids = [source.id, fork.id, linked.id, ProjectId(i64::MAX)];
        read(store, |tx| ids.into_iter().map(|id| tx.projects().was_created_as_fork(id)).collect())
    };
    let expected = [false, true, false, false];
    assert_eq!(copies(), expected);
    write(store, |tx| {
        tx.projects().update(&Project { forked_from: None, ..fork.clone() })?;
        tx.projects().update(&Project { forked_from: Some(source.id), ..linked.clone() })
    });
    assert_eq!(copies(), expected);
    write(store, |tx| tx.projects().delete(source.id));
    assert_eq!(copies(), expected);
}
