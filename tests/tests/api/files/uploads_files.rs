//! Downloads of files that were uploaded by POST /projects/:id/uploads. Reference section 4.11.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use crate::api::files::upload_support::{PICTURE, file_at, upload_file};
use crate::api::groups::group_support::{new_group, new_project, path_of_group, path_of_project};
use crate::api::projects::project_support::read;
use crate::api::support::{id_of, message};

on_every_store!(
    pictures_and_videos_are_shown_and_everything_else_is_fetched,
    head_is_answered_without_the_file,
    wrong_addresses_are_not_found,
    other_methods_have_no_route,
    the_address_follows_the_project,
    forks_do_not_take_uploads_along,
);

/// POST /projects/:id/uploads
fn pictures_and_videos_are_shown_and_everything_else_is_fetched(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[]);
    let path = path_of_project(&project);
    let other = "application/octet-stream";
    for (name, media_type, disposition) in [
        ("a.png", "image/png", "inline; filename=\"a.png\""),
        ("a.JPG", "image/jpeg", "inline; filename=\"a.JPG\""),
        ("a.jpeg", "image/jpeg", "inline; filename=\"a.jpeg\""),
        ("a.gif", "image/gif", "inline; filename=\"a.gif\""),
        ("a.bmp", "image/bmp", "inline; filename=\"a.bmp\""),
        ("a.tiff", "image/tiff", "inline; filename=\"a.tiff\""),
        ("a.mp4", "video/mp4", "inline; filename=\"a.mp4\""),
        ("a.m4v", "video/mp4", "inline; filename=\"a.m4v\""),
        ("a.mov", "video/quicktime", "inline; filename=\"a.mov\""),
        ("a.webm", "video/webm", "inline; filename=\"a.webm\""),
        ("a.ogv", "video/ogg", "inline; filename=\"a.ogv\""),
        ("a.svg", other, "attachment; filename=\"a.svg\""),
        ("a.html", other, "attachment; filename=\"a.html\""),
        ("a.png.html", other, "attachment; filename=\"a.png.html\""),
        ("a.txt", other, "attachment; filename=\"a.txt\""),
        ("a.pdf", other, "attachment; filename=\"a.pdf\""),
        ("README", other, "attachment; filename=\"README\""),
        ("größe.js", other, "attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe.js"),
    ] {
        let url = upload_file(forge, &token, &path, name, PICTURE);
        let file = file_at(forge, &project, &url).token(&token).send();
        assert_eq!((file.status, &file.body[..]), (200, PICTURE), "{name}");
        for (header, value) in [
            ("Content-Type", media_type),
            ("Content-Disposition", disposition),
            ("Content-Length", &PICTURE.len().to_string()),
            ("X-Content-Type-Options", "nosniff"),
            ("Content-Security-Policy", "default-src 'none'; sandbox"),
            ("Cache-Control", "private"),
        ] {
            assert_eq!(file.header(header), Some(value), "{name} {header}");
        }
    }
    let url = upload_file(forge, &token, &path, "empty.png", b"");
    let file = file_at(forge, &project, &url).token(&token).send();
    assert_eq!((file.status, file.text(), file.header("Content-Length")), (200, "", Some("0")));
}

/// POST /projects/:id/uploads: reference section 1.4
fn head_is_answered_without_the_file(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[]);
    let url = upload_file(forge, &token, &path_of_project(&project), "a.png", PICTURE);
    let ask = |method: &str| {
        let mut answer = forge.page(method, &format!("/ada/ship{url}")).token(&token).send();
        answer.headers.retain(|(name, _)| name != "date" && name != "x-request-id");
        answer.headers.sort();
        answer
    };
    let (head, get) = (ask("HEAD"), ask("GET"));
    assert_eq!((head.status, head.headers), (200, get.headers));
    assert_eq!((head.body.len(), &get.body[..]), (0, PICTURE));
}

/// POST /projects/:id/uploads
fn wrong_addresses_are_not_found(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[("public", "true")]);
    let other = new_project(forge, &token, "Boat", &[("public", "true")]);
    let url = upload_file(forge, &token, &path_of_project(&project), "a.png", PICTURE);
    assert_eq!(forge.page("GET", &format!("/ada/ship{url}")).send().status, 200);
    assert_eq!(forge.page("GET", &format!("/ADA/Ship/{url}/")).send().status, 200);
    let secret = url.split('/').nth(2).expect("an address has a secret");
    let id = id_of(&project);
    for target in [
        format!("/ada/boat{url}"),
        format!("/ada/ship/uploads/{secret}/b.png"),
        format!("/ada/ship/uploads/{secret}/A.PNG"),
        format!("/ada/ship/uploads/{secret}/name"),
        format!("/ada/ship/uploads/{secret}/content"),
        format!("/ada/ship/uploads/{}/a.png", secret.to_uppercase().replace('0', "O")),
        format!("/ada/ship/uploads/{}/a.png", "0".repeat(32)),
        "/ada/ship/uploads/x/a.png".to_owned(),
        "/ada/ship/uploads/..%2F..%2F..%2F..%2Fhexforge.db/a.png".to_owned(),
        format!("/ada/ship/uploads/{secret}/..%2F{secret}%2Fa.png"),
        format!("/ada/ship/uploads/{secret}/..%5Ca.png"),
        format!("/ada/ship/uploads/%2e%2e/{secret}"),
        format!("/ada/ship/uploads/{secret}/a.png%00"),
        format!("/..%2F..%2Fada/ship{url}"),
        format!("/ada%00/ship{url}"),
    ] {
        let answer = forge.page("GET", &target).token(&token).send();
        assert_eq!(answer.expect(404), message("404 Not found"), "{target}");
    }
    // Addresses that are too long or too short do not work either; a project id is not a path.
    for target in [
        format!("/ada/ship/uploads/{secret}"),
        format!("/ada/ship{url}/x"),
        format!("/ada/ship/uploads/../uploads/{secret}/../{secret}/a.png"),
        format!("/{id}{url}"),
        format!("/ada/ship/uploads/{secret}/%ff.png"),
        format!("/%ff/ship{url}"),
        format!("/api/v3{url}"),
    ] {
        assert_eq!(forge.page("GET", &target).token(&token).send().status, 404, "{target}");
    }
    assert_eq!(file_at(forge, &other, &url).send().status, 404);
}

/// POST /projects/:id/uploads: reference section 1.4
fn other_methods_have_no_route(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[("public", "true")]);
    let url = upload_file(forge, &token, &path_of_project(&project), "a.png", PICTURE);
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let answer = forge.page(method, &format!("/ada/ship{url}")).token(&token).send();
        assert_eq!(answer.expect(404)["error"], "404 Not Found", "{method}");
    }
    assert_eq!(file_at(forge, &project, &url).send().status, 200);
}

/// POST /projects/:id/uploads, PUT /projects/:id, POST /groups/:id/projects/:project_id
fn the_address_follows_the_project(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[]);
    let path = path_of_project(&project);
    let url = upload_file(forge, &token, &path, "a.png", PICTURE);
    let form = [("name", "Ship"), ("path", "boat")];
    forge.put(&path).token(&token).form(&form).send().expect(200);
    let crew = new_group(forge, &token, "crew", &[]);
    let ask = |page: &str| forge.page("GET", &format!("{page}{url}")).token(&token).send().status;
    assert_eq!((ask("/ada/ship"), ask("/ada/boat")), (404, 200));
    let into = format!("{}/projects/{}", path_of_group(&crew), id_of(&project));
    forge.post(&into).token(ROOT).send().expect(201);
    assert_eq!((ask("/ada/boat"), ask("/crew/boat")), (404, 200));
    let project = read(forge, &token, &project);
    assert_eq!(file_at(forge, &project, &url).token(&token).send().body, PICTURE);
}

/// POST /projects/:id/uploads, POST /projects/fork/:id
fn forks_do_not_take_uploads_along(forge: &Forge) {
    let (_, owner) = forge.user("ada");
    let (_, token) = forge.user("bob");
    let project = new_project(forge, &owner, "Ship", &[("public", "true")]);
    let url = upload_file(forge, &owner, &path_of_project(&project), "a.png", PICTURE);
    let fork = format!("/projects/fork/{}", id_of(&project));
    let fork = forge.post(&fork).token(&token).form(&[("namespace", "bob")]).send().expect(201);
    assert_eq!(file_at(forge, &fork, &url).token(&token).send().status, 404);
    assert_eq!(file_at(forge, &project, &url).token(&token).send().status, 200);
}
