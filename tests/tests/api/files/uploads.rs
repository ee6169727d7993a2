//! POST /projects/:id/uploads: accepted requests and their answers. Reference section 4.11.

use hexforge_tests::{Forge, on_every_store};

use crate::api::files::upload_support::{PICTURE, file_at, upload_file, url_of};
use crate::api::groups::group_support::{fields_of, new_project, no_project, path_of_project};
use crate::api::projects::project_support::a_cast;
use crate::api::support::{MISSING, assert_only_for_users, message};

on_every_store!(
    an_upload_answers_how_to_use_the_file,
    names_are_made_harmless,
    every_address_is_new,
    whoever_reads_a_private_project_uploads,
    whoever_reads_a_public_project_uploads,
    nobody_uploads_without_signing_in,
    archived_projects_take_uploads,
    a_project_is_named_by_its_path_too,
    the_name_may_come_in_the_form_for_all_languages,
);

/// POST /projects/:id/uploads
fn an_upload_answers_how_to_use_the_file(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[]);
    let path = format!("{}/uploads", path_of_project(&project));
    for (name, alt, label) in [
        ("dk.png", "dk", "!"),
        ("a.jpg", "a", "!"),
        ("a.jpeg", "a", "!"),
        ("a.gif", "a", "!"),
        ("a.bmp", "a", "!"),
        ("a.b.TIFF", "a.b", "!"),
        ("film.mp4", "film", "!"),
        ("film.M4V", "film", "!"),
        ("film.mov", "film", "!"),
        ("film.webm", "film", "!"),
        ("film.ogv", "film", "!"),
        ("logo.svg", "logo.svg", "!"),
        ("notes.txt", "notes.txt", ""),
        ("page.html", "page.html", ""),
        ("README", "README", ""),
        ("x.webp", "x.webp", ""),
    ] {
        let answer = forge.post(&path).token(&token).file(name, PICTURE).send().expect(201);
        assert_eq!(fields_of(&answer), ["alt", "url", "markdown"]);
        let url = url_of(&answer);
        let parts: Vec<&str> = url.split('/').collect();
        let ["", "uploads", secret, last] = parts[..] else { panic!("{url}") };
        assert_eq!(last, name);
        assert_eq!(secret.len(), 32);
        assert!(secret.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{secret}");
        assert_eq!(answer["alt"], alt);
        assert_eq!(answer["markdown"], format!("{label}[{alt}]({url})"));
    }
}

/// POST /projects/:id/uploads
fn names_are_made_harmless(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[]);
    let path = path_of_project(&project);
    let long = "a".repeat(300);
    for (given, name) in [
        ("../../x", "x"),
        ("/etc/passwd", "passwd"),
        ("C:\\\\temp\\\\a b.txt", "a_b.txt"),
        ("C:\\temp\\b.txt", "b.txt"),
        ("..\\..\\x.txt", "x.txt"),
        ("say \\\"hi\\\".txt", "say__hi_.txt"),
        ("..", "_.."),
        (".", "_."),
        ("...", "_..."),
        ("a/", "_"),
        (".git", ".git"),
        ("größe+1-2_3.txt", "größe+1-2_3.txt"),
        ("a]b[c](d).txt", "a_b_c__d_.txt"),
        ("a%2Fb?c#d;e.txt", "a_2Fb_c_d_e.txt"),
        (&long, &"a".repeat(200)),
    ] {
        let url = upload_file(forge, &token, &path, given, b"x");
        assert_eq!(url.rsplit('/').next(), Some(name), "{given}");
        assert_eq!(url.matches('/').count(), 3, "{given}");
        let file = file_at(forge, &project, &url).token(&token).send();
        assert_eq!((file.status, file.text()), (200, "x"), "{given}");
    }
}

/// POST /projects/:id/uploads
fn every_address_is_new(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[]);
    let path = path_of_project(&project);
    let one = upload_file(forge, &token, &path, "a.txt", b"one");
    let two = upload_file(forge, &token, &path, "a.txt", b"two");
    assert_ne!(one, two);
    for (url, content) in [(one, "one"), (two, "two")] {
        assert_eq!(file_at(forge, &project, &url).token(&token).send().text(), content);
    }
}

/// POST /projects/:id/uploads: reference section 1.11
fn whoever_reads_a_private_project_uploads(forge: &Forge) {
    let cast = a_cast(forge, "0");
    for who in ["guest", "reporter", "developer", "master", "owner", "root"] {
        upload_file(forge, cast.token(who), &cast.path, "a.txt", b"x");
    }
    let path = format!("{}/uploads", cast.path);
    for who in ["stranger", "external"] {
        let refused = forge.post(&path).token(cast.token(who)).file("a.txt", b"x").send();
        assert_eq!(refused.expect(404), no_project(), "{who}");
    }
}

/// POST /projects/:id/uploads: reference section 1.11
fn whoever_reads_a_public_project_uploads(forge: &Forge) {
    let cast = a_cast(forge, "20");
    for who in ["stranger", "external", "guest", "owner", "root"] {
        upload_file(forge, cast.token(who), &cast.path, "a.txt", b"x");
    }
}

/// POST /projects/:id/uploads
fn nobody_uploads_without_signing_in(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[("public", "true")]);
    let paths = [path_of_project(&project), format!("/projects/{MISSING}")];
    let calls = paths.map(|path| ("POST", format!("{path}/uploads")));
    assert_only_for_users(forge, &calls);
    for (_, path) in &calls {
        let refused = forge.post(path).file("a.txt", b"x").send();
        assert_eq!(refused.expect(401), message("401 Unauthorized"));
    }
}

/// POST /projects/:id/uploads: reference section 1.11
fn archived_projects_take_uploads(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[]);
    let path = path_of_project(&project);
    forge.post(&format!("{path}/archive")).token(&token).send().expect(201);
    upload_file(forge, &token, &path, "a.txt", b"x");
}

/// POST /projects/:id/uploads: reference section 1.7
fn a_project_is_named_by_its_path_too(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[("path", "ship.js")]);
    let url = upload_file(forge, &token, "/projects/ada%2Fship.js", "a.txt", b"x");
    assert_eq!(file_at(forge, &project, &url).token(&token).send().status, 200);
}

/// POST /projects/:id/uploads
fn the_name_may_come_in_the_form_for_all_languages(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[]);
    let path = format!("{}/uploads", path_of_project(&project));
    for (disposition, name) in [
        ("name=\"file\"; filename*=UTF-8''gr%C3%B6%C3%9Fe.png", "größe.png"),
        ("name=\"file\"; filename=\"x.png\"; filename*=UTF-8''%C3%B6.png", "ö.png"),
        ("name=\"file\"; filename*=UTF-8''a%00b.png", "a_b.png"),
        ("name=\"file\"; filename*=UTF-8''..%2F..%2Fb.png", "b.png"),
        ("name=\"file\"; filename=bare.png", "bare.png"),
        ("name=\"file\"; filename=\"a.png\"\r\nContent-Type: text/html", "a.png"),
    ] {
        let answer = forge.post(&path).token(&token).form_data(&[(disposition, b"x")]).send();
        let url = url_of(&answer.expect(201));
        assert_eq!(url.rsplit('/').next(), Some(name), "{disposition}");
    }
}
