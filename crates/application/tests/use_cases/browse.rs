//! The parts of the history that pages show beside files and folders.

use hexforge_application::error::{Entity, Error};
use hexforge_application::repository::{self, Revision, browse};
use hexforge_domain::id::ProjectId;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::repository::{BlameRun, Divergence};
use hexforge_domain_testing::builders::{a_project, a_user, home_of};

use crate::support::{World, actor};

/// A private project of ada with two commits on `master`, and one more on `side`.
fn a_poem() -> (World, ProjectId, Actor) {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    let home = home_of(&*world.app.store, ada.id);
    let id = a_project("poem", home, ada.id).stored_in(&*world.app.store).id;
    world.git.commit(id, "master", &[("a", "1\n2\n"), ("b/c", "1")]);
    world.git.commit(id, "master", &[("a", "1\n2\n"), ("b/c", "2")]);
    world.git.commit(id, "side", &[("a", "1\n2\n")]);
    (world, id, actor(&ada))
}

fn revision(world: &World, who: Actor, id: ProjectId, name: &str) -> Result<Revision, Error> {
    let readable = repository::readable(&world.app, who, None, &ProjectRef::Id(id))?;
    Ok(repository::revision(&world.app, &readable, name)?.expect("the branch exists"))
}

#[test]
fn the_last_commits_come_with_their_texts() {
    let (world, id, ada) = a_poem();
    let at = revision(&world, ada, id, "master").expect("ada reads it");
    let found = browse::last_commits(&at, "").expect("it can be read");
    assert!(found.is_complete);
    let mut messages: Vec<(&str, &str)> = (found.by_path.iter())
        .map(|(path, commit)| (path.as_str(), commit.message.as_str()))
        .collect();
    messages.sort_unstable();
    assert_eq!(messages, [("a", "Commit 1\n"), ("b", "Commit 2\n")]);
}

#[test]
fn a_blame_comes_with_its_commits() {
    let (world, id, ada) = a_poem();
    let at = revision(&world, ada, id, "master").expect("ada reads it");
    let found = browse::blame(&at, "/b/c", 1..=100).expect("it can be read");
    let [BlameRun { first: 1, count: 1, commit, previous: Some(_), .. }] = &found.blame.runs[..]
    else {
        panic!("{found:?}");
    };
    assert_eq!(found.commits[commit].message, "Commit 2\n");
    let missing = browse::blame(&at, "b", 1..=100);
    assert!(matches!(missing, Err(Error::NotFound(Entity::File))), "{missing:?}");
}

#[test]
fn branches_are_counted_against_each_other() {
    let (world, id, ada) = a_poem();
    let [master, side] =
        ["master", "side"].map(|name| revision(&world, ada, id, name).expect("ada reads it"));
    let expected = Some(Divergence { ahead: 1, behind: 2 });
    assert_eq!(browse::divergence(&master, &side).expect("both exist"), expected);
    let tips = [side.commit(), master.commit()];
    let found = browse::divergences(&master, &tips).expect("both exist");
    assert_eq!(found, [expected, Some(Divergence { ahead: 0, behind: 0 })]);
}

#[test]
fn files_are_listed_by_their_paths() {
    let (world, id, ada) = a_poem();
    let at = revision(&world, ada, id, "master").expect("ada reads it");
    let found = browse::file_paths(&at).expect("it can be read");
    assert_eq!((found.paths, found.is_cut), (vec!["a".to_owned(), "b/c".to_owned()], false));
}

#[test]
fn nothing_is_read_without_the_right_to_read_the_code() {
    let (world, id, _) = a_poem();
    let eve = actor(&world.user(a_user("eve")));
    for who in [eve, Actor::Anonymous] {
        assert!(revision(&world, who, id, "master").is_err());
    }
}
