//! Single files: commits_files.md section 6.

use hexforge_domain::repository::MAX_FOLDERS;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{error, forbidden, no_project};
use crate::api::projects::project_support::not_given;
use crate::api::repositories::commits_support::{
    add_special_files, content, send_file, state, tip, tree,
};
use crate::api::repositories::refs_support::{
    ProjectFixture, empty_fixture, filled_fixture, protect,
};
use crate::api::repositories::repository_support::{
    NO_REVISIONS, Repo, assert_for_readers_of_code,
};
use crate::api::support::message;

on_every_store!(
    a_file_is_shown_with_its_content_in_base64,
    files_of_all_kinds_are_shown,
    files_are_shown_as_they_are_stored,
    base64_that_is_none_makes_an_empty_file,
    large_files_come_back_byte_for_byte,
    missing_files_and_revisions_are_not_found,
    files_are_for_readers_of_the_code,
    checks_come_in_their_order,
    a_file_is_created_changed_and_removed,
    text_gets_line_feeds,
    paths_of_new_files_have_rules,
    paths_of_changed_files_have_other_rules,
    paths_that_are_taken_or_missing_are_refused,
    the_first_file_creates_the_default_branch,
);

fn not_found() -> Value {
    message("404 File Not Found")
}

const EXISTS: &str =
    "Your changes could not be committed because a file with the same name already exists";

/// GET /projects/:id/repository/files
fn a_file_is_shown_with_its_content_in_base64(forge: &Forge) {
    let repo = Repo::new(forge);
    let one = repo.tree.write("src/a.txt", "hello\n").commit("One");
    let two = repo.tree.write("b", "b\n").commit("Two");
    repo.fill();
    let blob = repo.tree.git(&["rev-parse", "HEAD:src/a.txt"]);
    for asked in ["src/a.txt", "/src/a.txt", "//src/a.txt", "src//a.txt"] {
        let answer = repo.get("files", &[("file_path", asked), ("ref", "master")]);
        let expected = format!(
            concat!(
                r#"{{"file_name":"a.txt","file_path":"{path}","size":6,"encoding":"base64","#,
                r#""content":"aGVsbG8K","ref":"master","blob_id":"{blob}","commit_id":"{two}","#,
                r#""last_commit_id":"{one}"}}"#,
            ),
            path = asked.trim_start_matches('/'),
            blob = blob,
            one = one,
            two = two,
        );
        assert_eq!((answer.status, answer.text()), (200, expected.as_str()), "{asked}");
    }
    // pyapi-gitlab sends the parameters as a form.
    let form = [("file_path", "src/a.txt"), ("ref", "master")];
    assert_eq!(repo.ask("files").form(&form).send().expect(200)["blob_id"], blob);
    let old = repo.get("files", &[("file_path", "src/a.txt"), ("ref", &one[..8])]).expect(200);
    assert_eq!((&old["ref"], &old["commit_id"]), (&json!(one[..8]), &json!(one)));
}

/// GET /projects/:id/repository/files
fn files_of_all_kinds_are_shown(forge: &Forge) {
    let fixture = filled_fixture(forge);
    add_special_files(forge, &fixture);
    let get = |path: &str| {
        let call = format!("{}/repository/files", fixture.cast.path);
        let ask = forge.get(&call).token(fixture.token("reporter"));
        ask.query(&[("file_path", path), ("ref", "master")]).send().expect(200)
    };
    let link = get("link");
    assert_eq!((&link["content"], &link["size"]), (&json!("UkVBRE1F"), &json!(6)));
    let module = get("module");
    assert_eq!((&module["content"], &module["size"]), (&json!(""), &json!(null)));
    assert_eq!(module["blob_id"], "1234567890123456789012345678901234567890");
    assert_eq!(module["last_commit_id"], *fixture.id("master"));
}

/// GET /projects/:id/repository/files: section 6.1, the row "LFS pointer" and the ruling.
fn files_are_shown_as_they_are_stored(forge: &Forge) {
    let repo = Repo::new(forge);
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n",
        "4d7a".repeat(16)
    );
    let latin: &[u8] = b"sch\xf6n, gr\xfcn\r\n";
    let files: [(&str, &[u8]); 3] =
        [("large.bin", pointer.as_bytes()), ("latin", latin), ("empty", b"")];
    for (path, bytes) in files {
        repo.tree.write(path, bytes);
    }
    repo.tree.commit("One");
    repo.fill();
    for (path, bytes) in files {
        let shown = repo.get("files", &[("file_path", path), ("ref", "master")]).expect(200);
        assert_eq!(shown["content"], encode(bytes), "{path}");
        assert_eq!((&shown["size"], &shown["encoding"]), (&json!(bytes.len()), &json!("base64")));
    }
}

/// POST /projects/:id/repository/files: section 5.2, decoding is lenient.
fn base64_that_is_none_makes_an_empty_file(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for (path, given, stored) in
        [("a", "!!!", ""), ("b", "aGk", "hi"), ("c", "a\nG*k=", "hi"), ("d", "====", "")]
    {
        let body = json!({
            "file_path": path, "branch_name": "master", "content": given, "encoding": "base64",
            "commit_message": "New",
        });
        send_file(forge, &fixture, ("POST", "developer"), &body).expect(201);
        assert_eq!(content(forge, &fixture, "master", path), stored, "{given}");
    }
}

/// GET /projects/:id/repository/files, PUT /projects/:id/repository/files
fn large_files_come_back_byte_for_byte(forge: &Forge) {
    let fixture = filled_fixture(forge);
    // 700,000 bytes in base64, of which every third length has its own padding.
    for size in [300_000_usize, 300_001, 300_002] {
        let encoded = encode(&(0..size).map(|n| (n * 7 % 251) as u8).collect::<Vec<_>>());
        let body = json!({
            "file_path": "large", "branch_name": "master", "content": encoded,
            "encoding": "base64", "commit_message": "Large",
        });
        send_file(forge, &fixture, ("PUT", "developer"), &body).expect(200);
        let call = format!("{}/repository/files?file_path=large&ref=master", fixture.cast.path);
        let shown = forge.get(&call).token(fixture.token("reporter")).send().expect(200);
        assert_eq!(shown["size"], size);
        assert!(shown["content"] == *encoded, "{size}");
        assert_eq!(shown["commit_id"], *fixture.id("master"));
    }
    let body = json!({
        "file_path": "huge", "branch_name": "master", "content": "x".repeat(11 << 20),
        "commit_message": "Huge",
    });
    assert_eq!(send_file(forge, &fixture, ("POST", "developer"), &body).status, 413);
}

/// Encodes bytes as base64.
fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut all = [0; 3];
        all[..group.len()].copy_from_slice(group);
        let number = u32::from(all[0]) << 16 | u32::from(all[1]) << 8 | u32::from(all[2]);
        for at in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

/// GET /projects/:id/repository/files
fn missing_files_and_revisions_are_not_found(forge: &Forge) {
    let repo = Repo::new(forge);
    let get =
        |path: &str, revision: &str| repo.get("files", &[("file_path", path), ("ref", revision)]);
    let no_commit = message("404 Commit Not Found");
    assert_eq!(get("a", "master").expect(404), no_commit);
    repo.tree.write("a", "a\n").write("src/b", "b\n").commit("One");
    repo.fill();
    for revision in NO_REVISIONS {
        assert_eq!(get("a", revision).expect(404), no_commit, "{revision}");
    }
    for path in ["src", "src/", "a/", "missing", "../a", "src/../a", "a/x", "/", "A", "./a", "a\0"]
    {
        assert_eq!(get(path, "master").expect(404), not_found(), "{path}");
    }
}

/// GET /projects/:id/repository/files
fn files_are_for_readers_of_the_code(forge: &Forge) {
    assert_for_readers_of_code(forge, "files?file_path=a.txt&ref=master", "files");
    let repo = Repo::new(forge);
    for (query, missing) in [
        (&[][..], "file_path"),
        (&[("ref", "master")], "file_path"),
        (&[("file_path", " "), ("ref", "master")], "file_path"),
        (&[("file_path", "a")], "ref"),
        (&[("file_path", "a"), ("ref", "")], "ref"),
    ] {
        assert_eq!(repo.get("files", query).expect(400), not_given(missing));
    }
}

/// POST /projects/:id/repository/files, PUT /projects/:id/repository/files, DELETE /projects/:id/repository/files
fn checks_come_in_their_order(forge: &Forge) {
    let fixture = filled_fixture(forge);
    protect(forge, &fixture, "feature/*", false, false);
    let before = state(forge, &fixture);
    for method in ["POST", "PUT", "DELETE"] {
        let send = |who: &str, body: &Value| send_file(forge, &fixture, (method, who), body);
        let path = format!("{}/repository/files", fixture.cast.path);
        let anonymous = forge.request(method, &path).json(&json!({})).send();
        assert_eq!(anonymous.expect(401), message("401 Unauthorized"), "{method}");
        assert_eq!(send("stranger", &json!({})).expect(404), no_project(), "{method}");
        for who in ["guest", "reporter"] {
            assert_eq!(send(who, &json!({})).expect(403), forbidden(), "{method}");
        }
        // The first missing parameter is named, and a blank one is missing.
        let fields = ["file_path", "branch_name", "content", "commit_message"];
        let fields = fields.into_iter().filter(|name| method != "DELETE" || *name != "content");
        let mut body = json!({});
        for field in fields {
            assert_eq!(send("developer", &body).expect(400), not_given(field), "{method}");
            body[field] = json!(" \n");
            assert_eq!(send("developer", &body).expect(400), not_given(field), "{method}");
            body[field] = json!("..");
        }
        let on_branch = "You can only create or edit files when you are on a branch";
        assert_eq!(send("developer", &body).expect(400), message(on_branch), "{method}");
        body["branch_name"] = json!("feature/x");
        let protected = "You are not allowed to push into this branch";
        assert_eq!(send("developer", &body).expect(400), message(protected), "{method}");
        body["commit_message"] = json!([]);
        assert_eq!(send("developer", &body).expect(400), error("commit_message is invalid"));
        // Authors: 5.3.
        let body = json!({
            "file_path": if method == "POST" { "new" } else { "README" }, "content": "x",
            "branch_name": "master", "commit_message": "x", "author_name": "a<b",
            "author_email": "a@example.com",
        });
        assert_eq!(send("developer", &body).expect(400), message("Invalid author"), "{method}");
    }
    assert_eq!(state(forge, &fixture), before);
}

/// POST /projects/:id/repository/files, PUT /projects/:id/repository/files, DELETE /projects/:id/repository/files
fn a_file_is_created_changed_and_removed(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let body = json!({
        "file_path": "/src/new", "branch_name": "master", "content": "one",
        "commit_message": "Change", "author_name": "Eve", "author_email": "eve@example.com",
        "last_commit_id": "ignored",
    });
    let log = || fixture.tree.git_bare(&["log", "-1", "--format=%an <%ae> %cn [%B]", "master"]);
    let expected = r#"{"file_path":"src/new","branch_name":"master"}"#;
    for (method, status) in [("POST", 201), ("PUT", 200), ("PUT", 200), ("DELETE", 200)] {
        let old = tip(forge, &fixture, "master");
        let answer = send_file(forge, &fixture, (method, "developer"), &body);
        assert_eq!((answer.status, answer.text()), (status, expected), "{method}");
        assert_eq!(fixture.id("master~1"), old, "{method}");
        assert!(log().starts_with("Eve <eve@example.com> "), "{}", log());
        assert!(log().ends_with(" [Change]"), "{}", log());
        if method != "DELETE" {
            assert_eq!(content(forge, &fixture, "master", "src/new"), "one");
        }
    }
    assert_eq!(tree(forge, &fixture, "master"), ["100644 README", "100644 docs/a"]);
    // Parameters may be in the query or in a form, also of DELETE.
    let call = format!("{}/repository/files", fixture.cast.path);
    let query = [("file_path", "README"), ("branch_name", "master"), ("commit_message", "x")];
    let gone = forge.delete(&call).token(fixture.token("developer")).query(&query).send();
    gone.expect(200);
    let form =
        [("file_path", "f"), ("branch_name", "master"), ("commit_message", "x"), ("content", "f")];
    forge.post(&call).token(fixture.token("developer")).form(&form).send().expect(201);
    assert_eq!(tree(forge, &fixture, "master"), ["100644 docs/a", "100644 f"]);
}

/// POST /projects/:id/repository/files, PUT /projects/:id/repository/files
fn text_gets_line_feeds(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for (method, content_given, encoding, stored) in [
        ("POST", "a\r\nb\rc\r\n", "text", "a\nb\rc\n"),
        ("PUT", "YQ0KYg==", "base64", "a\nb"),
        ("PUT", "YQ0KAA==", "base64", "a\r\n\0"),
        ("PUT", "a\u{0}\r\n", "text", "a\0\r\n"),
        ("PUT", "YQ0KYg==", "other", "YQ0KYg=="),
    ] {
        let body = json!({
            "file_path": "text", "branch_name": "master", "content": content_given,
            "encoding": encoding, "commit_message": "x",
        });
        assert!(send_file(forge, &fixture, (method, "developer"), &body).status < 300);
        assert_eq!(content(forge, &fixture, "master", "text"), stored, "{content_given:?}");
    }
}

/// Sends a change of a file and returns the answer.
fn change(forge: &Forge, fixture: &ProjectFixture, method: &str, path: &str) -> (u16, Value) {
    let body = json!({
        "file_path": path, "branch_name": "master", "content": "x", "commit_message": "x",
    });
    let answer = send_file(forge, fixture, (method, "developer"), &body);
    (answer.status, answer.json())
}

/// POST /projects/:id/repository/files: section 6.2.
fn paths_of_new_files_have_rules(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let before = state(forge, &fixture);
    let post = |path: &str| change(forge, &fixture, "POST", path);
    let traversal = "Your changes could not be committed, because the file name cannot include \
                     directory traversal.";
    for path in ["../x", "a..b", "ü..b"] {
        assert_eq!(post(path), (400, message(traversal)), "{path}");
    }
    let letters = "Your changes could not be committed, because the file name can contain only \
                   letters, digits, '_', '-', '@' and '.'. Separate directories with a '/'.";
    for path in ["with space", "ümlaut", "a\0", ".git", "a/.GIT/b", "git~1", "/", ".", "./"] {
        assert_eq!(post(path), (400, message(letters)), "{path}");
    }
    assert_eq!(state(forge, &fixture), before);
    for (path, written) in [("a//b", "a/b"), ("./c/d", "c/d")] {
        let (status, answer) = post(path);
        assert_eq!((status, &answer["file_path"]), (201, &json!(path)));
        assert_eq!(content(forge, &fixture, "master", written), "x");
    }
}

/// PUT /projects/:id/repository/files, DELETE /projects/:id/repository/files: section 6.2.
fn paths_of_changed_files_have_other_rules(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let before = state(forge, &fixture);
    for method in ["PUT", "DELETE"] {
        for path in [
            "../x",
            "a/../../b",
            "a/../b",
            "..",
            ".git",
            ".git/config",
            "a/.GIT",
            "git~1",
            "a\0b",
            "/",
            ".",
            &format!("{}b", "a/".repeat(MAX_FOLDERS + 1)),
        ] {
            let answer = change(forge, &fixture, method, path);
            assert_eq!(answer, (400, message("Invalid path")), "{method} {path}");
        }
    }
    assert_eq!(state(forge, &fixture), before);
    for path in ["with space.txt", "ümlaut.txt", "a..b"] {
        for method in ["PUT", "PUT", "DELETE"] {
            assert_eq!(change(forge, &fixture, method, path).0, 200, "{method} {path}");
        }
    }
    assert_eq!(change(forge, &fixture, "PUT", "./a//b").0, 200);
    assert_eq!(content(forge, &fixture, "master", "a/b"), "x");
}

/// POST /projects/:id/repository/files, PUT /projects/:id/repository/files, DELETE /projects/:id/repository/files
fn paths_that_are_taken_or_missing_are_refused(forge: &Forge) {
    let fixture = filled_fixture(forge);
    add_special_files(forge, &fixture);
    let before = state(forge, &fixture);
    for path in ["README", "link", "module", "docs", "README/x", "link/x", "module/x"] {
        assert_eq!(change(forge, &fixture, "POST", path), (400, message(EXISTS)), "{path}");
    }
    for path in ["module", "docs", "README/x", "link/x", "module/x"] {
        assert_eq!(change(forge, &fixture, "PUT", path), (400, message(EXISTS)), "{path}");
    }
    let missing = message("A file with this name doesn't exist");
    for path in ["missing", "docs", "README/x", "docs//a", "./README"] {
        assert_eq!(change(forge, &fixture, "DELETE", path), (400, missing.clone()), "{path}");
    }
    assert_eq!(state(forge, &fixture), before);
    // Modes are kept, and submodules can be removed.
    for path in ["run", "link"] {
        assert_eq!(change(forge, &fixture, "PUT", path).0, 200, "{path}");
    }
    assert_eq!(change(forge, &fixture, "DELETE", "module").0, 200);
    assert_eq!(
        tree(forge, &fixture, "master"),
        ["100644 README", "100644 docs/a", "120000 link", "100755 run"]
    );
}

/// POST /projects/:id/repository/files, PUT /projects/:id/repository/files, DELETE /projects/:id/repository/files
fn the_first_file_creates_the_default_branch(forge: &Forge) {
    for method in ["POST", "PUT"] {
        let fixture = empty_project(forge, method);
        let path = format!("{}/repository/files", fixture.0);
        let send = |method: &str, token: &str| {
            let body = json!({
                "file_path": "a", "branch_name": "trunk", "content": "x", "commit_message": "x",
            });
            forge.request(method, &path).token(token).json(&body).send()
        };
        let missing = message("A file with this name doesn't exist");
        assert_eq!(send("DELETE", &fixture.1).expect(400), missing);
        assert!(send(method, &fixture.1).status < 300, "{method}");
        let project = forge.get(&fixture.0).token(&fixture.1).send().expect(200);
        assert_eq!(project["default_branch"], "trunk");
    }
    let fixture = empty_fixture(forge);
    let answer = change(forge, &fixture, "POST", "a");
    assert_eq!(answer, (400, message("You are not allowed to push into this branch")));
}

/// An empty project of a new user: its path and the token of the user.
fn empty_project(forge: &Forge, name: &str) -> (String, String) {
    let (_, token) = forge.user(&format!("owner-{}", name.to_lowercase()));
    let made = forge.post("/projects").token(&token).form(&[("name", "Empty")]).send().expect(201);
    (format!("/projects/{}", made["id"]), token)
}
