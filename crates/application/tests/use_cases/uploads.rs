//! Uploading files of projects, reading them, and removing them with their project.

use std::io::Read;

use crate::support::{World, actor};
use hexforge_application::error::{Entity, Error};
use hexforge_application::project;
use hexforge_application::project::upload;
use hexforge_application::removal::{self, Sweep};
use hexforge_domain::id::ProjectId;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::upload::{UploadKey, UploadName, UploadSecret};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain_testing::builders::{a_project, a_user, home_of};

/// Stores a private project of ada. Returns it with ada.
fn a_private_project(world: &World) -> (Project, Actor) {
    let ada = world.user(a_user("ada"));
    let home = home_of(&*world.app.store, ada.id);
    (a_project("ship", home, ada.id).stored_in(&*world.app.store), actor(&ada))
}

fn by_id(project: &Project) -> ProjectRef {
    ProjectRef::Id(project.id)
}

fn receive(world: &World, project: ProjectId, name: &str, content: &[u8]) -> UploadKey {
    let mut file = upload::begin(&world.app, project, name).expect("a file can be begun");
    file.append(content).expect("a file can be added to");
    file.finish(&world.app).expect("a file can be finished")
}

fn read(world: &World, reader: Actor, named: &ProjectRef, at: &UploadKey) -> Result<String, Error> {
    let opened = upload::open(&world.app, reader, named, at.secret.clone(), at.name.clone());
    let mut text = String::new();
    opened?.content.read_to_string(&mut text).expect("fakes can be read");
    Ok(text)
}

fn count_files(world: &World) -> usize {
    world.app.uploads.projects().expect("fakes can be listed").count()
}

#[test]
fn a_file_that_was_received_is_read_by_those_who_read_the_project() {
    let world = World::new();
    let (project, ada) = a_private_project(&world);
    let stranger = actor(&world.user(a_user("bob")));
    assert_eq!(upload::authorize(&world.app, ada, &by_id(&project)).expect("hers"), project.id);
    let key = receive(&world, project.id, "../notes.txt", b"hello");
    assert_eq!(key.name.as_str(), "notes.txt");
    assert_eq!(read(&world, ada, &by_id(&project), &key).expect("hers"), "hello");
    for reader in [stranger, Actor::Anonymous] {
        let refused = read(&world, reader, &by_id(&project), &key);
        assert_error!(refused.expect_err("private"), Error::NotFound(Entity::Record));
    }
    let refused = upload::authorize(&world.app, stranger, &by_id(&project));
    assert_error!(refused.expect_err("private"), Error::NotFound(Entity::Project));
    let refused = upload::authorize(&world.app, Actor::Anonymous, &by_id(&project));
    assert_error!(refused.expect_err("private"), Error::Unauthenticated);
}

#[test]
fn whatever_is_wrong_with_an_address_the_file_is_not_found() {
    let world = World::new();
    let (project, ada) = a_private_project(&world);
    let key = receive(&world, project.id, "a.txt", b"x");
    let other = UploadKey { name: UploadName::from_client("b.txt"), ..key.clone() };
    let wrong = UploadKey { secret: UploadSecret::new([0; 16]), ..key.clone() };
    let missing = ProjectRef::Id(ProjectId(987));
    for (named, key) in [(by_id(&project), other), (by_id(&project), wrong), (missing, key)] {
        let error = read(&world, ada, &named, &key).expect_err("a wrong address");
        assert_error!(error, Error::NotFound(Entity::Record));
    }
}

#[test]
fn files_go_after_the_project_and_not_when_its_removal_is_refused() {
    let world = World::new();
    let (project, ada) = a_private_project(&world);
    let stranger = actor(&world.user(a_user("bob")));
    receive(&world, project.id, "a.txt", b"x");
    project::delete(&world.app, stranger, &by_id(&project)).expect_err("not hers");
    assert_eq!(count_files(&world), 1);
    project::delete(&world.app, ada, &by_id(&project)).expect("hers");
    assert_eq!(count_files(&world), 0);
}

#[test]
fn a_file_finished_after_the_removal_of_its_project_is_discarded() {
    let world = World::new();
    let (project, ada) = a_private_project(&world);
    let file = upload::begin(&world.app, project.id, "a.txt").expect("a file can be begun");
    project::delete(&world.app, ada, &by_id(&project)).expect("hers");
    let outcome = file.finish(&world.app).expect_err("the project is gone");
    assert_error!(outcome, Error::NotFound(Entity::Project));
    assert_eq!(count_files(&world), 0);
}

#[test]
fn the_sweep_removes_any_number_of_files_without_a_project() {
    let world = World::new();
    let (project, ada) = a_private_project(&world);
    let key = receive(&world, project.id, "a.txt", b"x");
    for id in 100_000..101_200 {
        let lost = UploadKey { project: ProjectId(id), ..key.clone() };
        let file = world.app.uploads.begin(&lost).expect("a file can be begun");
        file.finish().expect("a file can be finished");
    }
    assert_eq!(removal::sweep(&world.app).expect("fakes can be swept"), Sweep::Done(1200));
    assert_eq!(read(&world, ada, &by_id(&project), &key).expect("kept"), "x");
    assert_eq!(removal::sweep(&world.app).expect("fakes can be swept"), Sweep::Done(0));
}

#[test]
fn the_sweep_removes_nothing_if_the_database_has_no_project() {
    let world = World::new();
    let (project, ada) = a_private_project(&world);
    let key = receive(&world, project.id, "a.txt", b"x");
    project::delete(&world.app, ada, &by_id(&project)).expect("hers");
    assert_eq!(removal::sweep(&world.app).expect("fakes can be swept"), Sweep::Done(0));
    let file = world.app.uploads.begin(&key).expect("a file can be begun");
    file.finish().expect("a file can be finished");
    assert_eq!(removal::sweep(&world.app).expect("fakes can be swept"), Sweep::NoProjects);
    assert_eq!(count_files(&world), 1);
}
