//! Who may download files of POST /projects/:id/uploads, and how readers authenticate. Reference sections 1.2 and 4.11.

use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, Request, on_every_store};
use serde_json::Value;

use crate::api::files::upload_support::{PICTURE, file_at, upload_file};
use crate::api::groups::group_support::{new_project, path_of_project};
use crate::api::projects::project_support::a_cast;
use crate::api::support::{id_of, message};

on_every_store!(
    files_of_private_projects_are_for_those_who_read_them,
    files_of_internal_projects_are_for_users,
    files_of_public_projects_are_for_everybody,
    readers_sign_in_in_any_way,
    invalid_credentials_authenticate_nobody,
    invalid_credentials_do_not_affect_valid_ones,
    guessing_passwords_is_braked,
    sudo_does_not_count,
);

/// Requests a file without credentials and as every user of the cast, and asserts the answers.
#[track_caller]
fn assert_readers(forge: &Forge, level: &str, nobody: u16, readers: &[&str], others: &[&str]) {
    let cast = a_cast(forge, level);
    let url = upload_file(forge, cast.token("owner"), &cast.path, "a.png", PICTURE);
    let ask = || file_at(forge, &cast.project, &url);
    assert_eq!(ask().send().status, nobody);
    assert_eq!(ask().token("no such token").send().status, nobody);
    for who in readers {
        let file = ask().token(cast.token(who)).send();
        assert_eq!((file.status, &file.body[..]), (200, PICTURE), "{who}");
    }
    for who in others {
        let refused = ask().token(cast.token(who)).send();
        assert_eq!(refused.expect(404), message("404 Not found"), "{who}");
    }
}

/// POST /projects/:id/uploads
fn files_of_private_projects_are_for_those_who_read_them(forge: &Forge) {
    let readers = ["guest", "reporter", "developer", "master", "owner", "root"];
    assert_readers(forge, "0", 404, &readers, &["stranger", "external"]);
}

/// POST /projects/:id/uploads
fn files_of_internal_projects_are_for_users(forge: &Forge) {
    assert_readers(forge, "10", 404, &["stranger", "guest", "owner", "root"], &["external"]);
}

/// POST /projects/:id/uploads
fn files_of_public_projects_are_for_everybody(forge: &Forge) {
    assert_readers(forge, "20", 200, &["stranger", "external", "guest", "owner", "root"], &[]);
}

/// A private project of ada's with a file: her token, a request for the file, and the project.
fn a_file(forge: &Forge) -> (String, impl Fn() -> Request, Value) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "Ship", &[]);
    let url = upload_file(forge, &token, &path_of_project(&project), "a.png", PICTURE);
    let (address, target) = (forge.address, format!("/ada/ship{url}"));
    (token, move || Request::new(address, "GET", &target), project)
}

/// The value of an `Authorization: Basic` header, with a password or token.
fn basic(name: &str, password: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let both = format!("{name}:{password}");
    let mut encoded = String::from("Basic ");
    for group in both.as_bytes().chunks(3) {
        let bits =
            group.iter().fold(0, |bits, b| bits << 8 | u32::from(*b)) << (8 * (3 - group.len()));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            encoded.push(if at <= group.len() { char::from(digit) } else { '=' });
        }
    }
    encoded
}

/// POST /projects/:id/uploads
fn readers_sign_in_in_any_way(forge: &Forge) {
    let (token, ask, _) = a_file(forge);
    for (how, request) in [
        ("header", ask().token(&token)),
        ("parameter", ask().query(&[("private_token", &token)])),
        ("bearer", ask().header("Authorization", &format!("Bearer {token}"))),
        ("bearer parameter", ask().query(&[("access_token", &token)])),
        ("name and password", ask().header("Authorization", &basic("ada", PASSWORD))),
        (
            "address and password",
            ask().header("Authorization", &basic("ada@example.com", PASSWORD)),
        ),
        ("name and token", ask().header("Authorization", &basic("ada", &token))),
        ("address and token", ask().header("Authorization", &basic("ada@example.com", &token))),
        ("administrator", ask().header("Authorization", &basic("root", ROOT))),
    ] {
        let file = request.send();
        assert_eq!((file.status, &file.body[..]), (200, PICTURE), "{how}");
    }
}

/// POST /projects/:id/uploads
fn invalid_credentials_authenticate_nobody(forge: &Forge) {
    let (token, ask, project) = a_file(forge);
    forge.user("bob");
    let not_found = message("404 Not found");
    for (how, header) in [
        ("a wrong password", basic("ada", "wrong password")),
        ("no password", basic("ada", "")),
        ("nobody", basic("nobody", PASSWORD)),
        ("somebody else who may not", basic("bob", PASSWORD)),
        ("a token under another name", basic("bob", &token)),
        ("nonsense", "Basic %%%".to_owned()),
        ("no pair", "Basic YWRh".to_owned()),
        ("a wrong bearer", "Bearer nonsense".to_owned()),
    ] {
        let refused = ask().header("Authorization", &header).send();
        assert_eq!(refused.expect(404), not_found, "{how}");
    }
    // A blocked user is treated like an anonymous caller, with any credentials.
    let ada = id_of(&project["owner"]);
    forge.put(&format!("/users/{ada}/block")).token(ROOT).send().expect(200);
    for header in [basic("ada", PASSWORD), basic("ada", &token), format!("Bearer {token}")] {
        assert_eq!(ask().header("Authorization", &header).send().expect(404), not_found);
    }
    assert_eq!(ask().token(&token).send().expect(404), not_found);
}

/// POST /projects/:id/uploads
fn invalid_credentials_do_not_affect_valid_ones(forge: &Forge) {
    let (token, ask, project) = a_file(forge);
    let proxied = ask().token(&token).header("Authorization", &basic("proxy", "secret"));
    assert_eq!(proxied.send().status, 200);
    let own = ask().token("no such token").header("Authorization", &basic("ada", PASSWORD));
    assert_eq!(own.send().status, 200);
    // Wrong credentials do not prevent reading public files, and the password is not checked.
    let public = [("name", "Ship"), ("public", "true")];
    forge.put(&path_of_project(&project)).token(&token).form(&public).send().expect(200);
    for _ in 0..15 {
        let file = ask().header("Authorization", &basic("ada", "wrong password")).send();
        assert_eq!(file.status, 200);
    }
}

/// POST /projects/:id/uploads, POST /session
fn guessing_passwords_is_braked(forge: &Forge) {
    let (token, ask, _) = a_file(forge);
    let guess = || ask().header("Authorization", &basic("ada", "wrong password")).send();
    let guesses: Vec<u16> = (0..12).map(|_| guess().status).collect();
    assert_eq!(guesses[..10], [404; 10]);
    assert_eq!(guesses[10..], [429; 2]);
    // The right password is refused while the limit lasts, here and by `POST /session`. Tokens still work.
    let right = || ask().header("Authorization", &basic("ada", PASSWORD)).send().status;
    assert_eq!(right(), 429);
    let form = [("login", "ada"), ("password", PASSWORD)];
    assert_eq!(forge.post("/session").form(&form).send().status, 429);
    assert_eq!(ask().header("Authorization", &basic("ada", &token)).send().status, 200);
    assert_eq!(ask().token(&token).send().status, 200);
    // Missing files are limited like hidden ones.
    let missing = forge.page("GET", &format!("/ada/missing/uploads/{}/a.png", "0".repeat(32)));
    let missing = missing.header("Authorization", &basic("ada", "wrong password")).send();
    assert_eq!(missing.status, 429);
    forge.clock.advance(chrono::TimeDelta::minutes(2));
    assert_eq!(right(), 200);
}

/// POST /projects/:id/uploads
fn sudo_does_not_count(forge: &Forge) {
    let (token, ask, _) = a_file(forge);
    let (_, stranger) = forge.user("stranger");
    assert_eq!(ask().token(&token).query(&[("sudo", "root")]).send().status, 200);
    assert_eq!(ask().token(ROOT).header("SUDO", "stranger").send().status, 200);
    assert_eq!(ask().token(&stranger).query(&[("sudo", "ada")]).send().status, 404);
}
