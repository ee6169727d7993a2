//! Removal of files that were uploaded by POST /projects/:id/uploads. Reference section 4.7.

use hexforge_application::error::{Entity, Error};
use hexforge_application::project::upload;
use hexforge_application::removal::{self, Sweep};
use hexforge_domain::id::ProjectId;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use crate::api::files::upload_support::{
    PICTURE, assert_nothing_kept, file_at, projects_with_files, upload_file,
};
use crate::api::groups::group_support::{
    new_group, new_project, path_of_group, path_of_project, project_in,
};
use crate::api::support::id_of;

on_every_store!(
    files_go_with_their_project,
    files_go_with_the_group_of_their_project,
    files_go_with_the_owner_of_their_project,
    a_removal_that_was_interrupted_is_finished_at_the_next_start,
    a_file_whose_project_goes_meanwhile_is_not_kept,
);

/// DELETE /projects/:id
fn files_go_with_their_project(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let projects = ["One", "Two"].map(|name| new_project(forge, &token, name, &[]));
    let urls = projects
        .each_ref()
        .map(|project| upload_file(forge, &token, &path_of_project(project), "a.png", PICTURE));
    forge.delete(&path_of_project(&projects[0])).token(&token).send().expect(200);
    assert_eq!(projects_with_files(forge), 1);
    // A new project with the same path does not have them either.
    let again = new_project(forge, &token, "One", &[]);
    assert_eq!(again["web_url"], projects[0]["web_url"]);
    assert_eq!(file_at(forge, &again, &urls[0]).token(&token).send().status, 404);
    assert_eq!(file_at(forge, &projects[1], &urls[1]).token(&token).send().status, 200);
    // A refused removal removes nothing.
    let (_, stranger) = forge.user("stranger");
    forge.delete(&path_of_project(&projects[1])).token(&stranger).send().expect(404);
    assert_eq!(file_at(forge, &projects[1], &urls[1]).token(&token).send().status, 200);
}

/// DELETE /groups/:id
fn files_go_with_the_group_of_their_project(forge: &Forge) {
    let crew = new_group(forge, ROOT, "crew", &[]);
    for name in ["One", "Two"] {
        let project = project_in(forge, &crew, name, &[]);
        upload_file(forge, ROOT, &path_of_project(&project), "a.png", PICTURE);
    }
    assert_eq!(projects_with_files(forge), 2);
    forge.delete(&path_of_group(&crew)).token(ROOT).send().expect(200);
    assert_nothing_kept(forge);
}

/// DELETE /users/:id
fn files_go_with_the_owner_of_their_project(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let own = new_project(forge, &token, "Own", &[]);
    upload_file(forge, &token, &path_of_project(&own), "a.png", PICTURE);
    let other = new_project(forge, ROOT, "Other", &[("public", "true")]);
    let url = upload_file(forge, &token, &path_of_project(&other), "a.png", PICTURE);
    forge.delete(&format!("/users/{ada}")).token(ROOT).send().expect(200);
    assert_eq!(projects_with_files(forge), 1);
    // Files that the user uploaded to other projects stay.
    assert_eq!(file_at(forge, &other, &url).send().status, 200);
}

/// DELETE /projects/:id: a crash between the commit and the removal of the files
fn a_removal_that_was_interrupted_is_finished_at_the_next_start(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let kept = new_project(forge, &token, "Kept", &[]);
    let url = upload_file(forge, &token, &path_of_project(&kept), "a.png", PICTURE);
    let gone = new_project(forge, &token, "Gone", &[]);
    upload_file(forge, &token, &path_of_project(&gone), "a.png", PICTURE);
    let deleted = forge.app.store.write(|tx| tx.projects().delete(ProjectId(id_of(&gone))));
    deleted.expect("the store of the server can be written");
    assert_eq!(projects_with_files(forge), 2);
    assert_eq!(removal::sweep(&forge.app).expect("files can be swept"), Sweep::Done(1));
    assert_eq!(projects_with_files(forge), 1);
    assert_eq!(removal::sweep(&forge.app).expect("files can be swept"), Sweep::Done(0));
    assert_eq!(file_at(forge, &kept, &url).token(&token).send().body, PICTURE);
}

/// DELETE /projects/:id
fn a_file_whose_project_goes_meanwhile_is_not_kept(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[]);
    let id = ProjectId(id_of(&project));
    let mut file = upload::begin(&forge.app, id, "a.png").expect("a file can be begun");
    file.append(PICTURE).expect("a file can be added to");
    forge.delete(&path_of_project(&project)).token(&token).send().expect(200);
    let outcome = file.finish(&forge.app);
    assert!(matches!(outcome, Err(Error::NotFound(Entity::Project))), "{outcome:?}");
    assert_nothing_kept(forge);
}
