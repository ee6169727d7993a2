//! Refused commits and the order of checks: commits_files.md sections 1, 5.1 and 5.3.

use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{error, forbidden, no_project};
use crate::api::repositories::commits_support::{
    add_special_files, post_body, post_commit, send_file, state,
};
use crate::api::repositories::refs_support::{
    ProjectFixture, empty_fixture, empty_fixture_with_visibility, fill, filled_fixture, protect,
};
use crate::api::support::message;

on_every_store!(
    checks_come_in_their_order,
    archived_projects_refuse_every_write,
    public_projects_are_read_and_commented_by_everybody,
    authors_and_branches_with_nul_are_refused,
    parameters_have_to_be_utf_8,
    branches_are_checked_first,
    actions_are_checked_in_turn,
    an_empty_repository_takes_only_creations,
    actions_that_were_crashes_or_lost_data_are_refused,
    lists_that_are_none_are_invalid,
);

/// POST /projects/:id/repository/commits, POST /projects/:id/repository/commits/:sha/cherry_pick
fn checks_come_in_their_order(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let missing = "branch_name is missing, commit_message is missing, actions is missing";
    let good = json!({"branch_name": "missing", "commit_message": "x", "actions": []});
    for body in [json!({}), good.clone()] {
        let path = format!("{}/repository/commits", fixture.cast.path);
        let anonymous = forge.post(&path).json(&body).send();
        assert_eq!(anonymous.expect(401), message("401 Unauthorized"));
        let hidden = post_body(forge, &fixture, "stranger", &body);
        assert_eq!(hidden.expect(404), no_project());
        assert_eq!(post_body(forge, &fixture, "guest", &body).expect(403), forbidden());
    }
    for who in ["reporter", "developer"] {
        let answer = post_body(forge, &fixture, who, &json!({}));
        assert_eq!(answer.expect(400), error(missing), "{who}");
    }
    assert_eq!(post_body(forge, &fixture, "reporter", &good).expect(403), forbidden());
    let pick = |who: &str, body: &Value| {
        let path = format!("{}/repository/commits/missing/cherry_pick", fixture.cast.path);
        forge.post(&path).token(fixture.token(who)).json(body).send()
    };
    assert_eq!(pick("stranger", &json!({})).expect(404), no_project());
    assert_eq!(pick("guest", &json!({})).expect(403), forbidden());
    assert_eq!(pick("reporter", &json!({})).expect(400), error("branch is missing"));
    assert_eq!(pick("reporter", &json!({"branch": "x"})).expect(403), forbidden());
    let no_commit = pick("developer", &json!({"branch": "x"}));
    assert_eq!(no_commit.expect(404), message("404 Commit Not Found"));
}

/// POST /projects/:id/repository/commits, POST /projects/:id/repository/files
fn archived_projects_refuse_every_write(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let root = fixture.token("root");
    forge.post(&format!("{}/archive", fixture.cast.path)).token(root).send().expect(201);
    let before = state(forge, &fixture);
    let at = |call: &str| format!("{}/repository/{call}", fixture.cast.path);
    let body = json!({
        "branch_name": "master", "branch": "master", "commit_message": "x", "actions": [],
        "file_path": "README", "content": "x",
    });
    for who in ["developer", "master", "owner", "root"] {
        for (method, call) in [
            ("POST", "commits"),
            ("POST", "commits/feature%2Fx/cherry_pick"),
            ("POST", "files"),
            ("PUT", "files"),
            ("DELETE", "files"),
        ] {
            let answer = forge.request(method, &at(call)).token(fixture.token(who)).json(&body);
            assert_eq!(answer.send().expect(403), forbidden(), "{who} {method} {call}");
        }
    }
    assert_eq!(state(forge, &fixture), before);
    for call in ["commits", "commits/master", "commits/master/diff"] {
        forge.get(&at(call)).token(fixture.token("reporter")).send().expect(200);
    }
}

/// Section 1, the columns "guest" and "signed-in stranger, public project".
fn public_projects_are_read_and_commented_by_everybody(forge: &Forge) {
    let fixture = empty_fixture_with_visibility(forge, "20");
    fill(forge, &fixture);
    let before = state(forge, &fixture);
    let id = fixture.id("master");
    let at = |call: &str| format!("{}/repository/{call}", fixture.cast.path);
    let comments = at(&format!("commits/{id}/comments"));
    let body = json!({
        "branch_name": "master", "branch": "master", "commit_message": "x", "actions": [],
        "file_path": "README", "content": "x",
    });
    for who in ["stranger", "external", "guest", "reporter"] {
        let token = fixture.token(who);
        for call in ["commits", "commits/master", "commits/master/diff", "commits/master/comments"]
        {
            forge.get(&at(call)).token(token).send().expect(200);
        }
        forge.get(&at("files?file_path=README&ref=master")).token(token).send().expect(200);
        for (method, call) in [
            ("POST", "commits"),
            ("POST", "commits/feature%2Fx/cherry_pick"),
            ("POST", "files"),
            ("PUT", "files"),
            ("DELETE", "files"),
        ] {
            let answer = forge.request(method, &at(call)).token(token).json(&body).send();
            assert_eq!(answer.expect(403), forbidden(), "{who} {method} {call}");
        }
        // Parameters come before the right to push for commits, and after it for files.
        let answer = forge.post(&at("commits")).token(token).json(&json!({})).send();
        assert_eq!(answer.status, 400, "{who}");
        let answer = forge.post(&at("files")).token(token).json(&json!({})).send();
        assert_eq!(answer.expect(403), forbidden(), "{who}");
    }
    assert_eq!(state(forge, &fixture), before);
    for who in ["stranger", "external", "guest"] {
        let note = json!({"note": "x"});
        forge.post(&comments).token(fixture.token(who)).json(&note).send().expect(201);
    }
    assert_eq!(forge.get(&comments).send().expect(401), message("401 Unauthorized"));
}

/// POST /projects/:id/repository/commits, POST /projects/:id/repository/files,
/// PUT /projects/:id/repository/files, DELETE /projects/:id/repository/files,
/// POST /projects/:id/repository/commits/:sha/cherry_pick: section 5.1 row 2 and section 5.3.
fn authors_and_branches_with_nul_are_refused(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let before = state(forge, &fixture);
    let body = |more: &Value| {
        let mut body = json!({
            "branch_name": "master", "commit_message": "x", "actions": [], "content": "x",
        });
        for (name, value) in more.as_object().expect("fields") {
            body[name] = value.clone();
        }
        body
    };
    let commit = |more: &Value| post_body(forge, &fixture, "developer", &body(more));
    let file = |method: &str, more: &Value| {
        let mut body = body(more);
        body["file_path"] = json!(if method == "POST" { "new" } else { "README" });
        send_file(forge, &fixture, (method, "developer"), &body)
    };
    for author in [
        json!({"author_name": "A\u{0}da", "author_email": "ada@example.com"}),
        json!({"author_name": "Ada", "author_email": "ada\u{0}@example.com"}),
        json!({"author_name": "A\nda", "author_email": "ada@example.com"}),
    ] {
        assert_eq!(commit(&author).expect(400), message("Invalid author"), "{author}");
        for method in ["POST", "PUT", "DELETE"] {
            let answer = file(method, &author);
            assert_eq!(answer.expect(400), message("Invalid author"), "{method} {author}");
        }
    }
    let branch = json!({"branch_name": "mas\u{0}ter"});
    let text = "You can only create or edit files when you are on a branch";
    assert_eq!(commit(&branch).expect(400), message(text));
    for method in ["POST", "PUT", "DELETE"] {
        assert_eq!(file(method, &branch).expect(400), message(text), "{method}");
    }
    let pick = format!("{}/repository/commits/feature%2Fx/cherry_pick", fixture.cast.path);
    let pick = forge.post(&pick).token(fixture.token("developer"));
    let pick = pick.json(&json!({"branch": "mas\u{0}ter"})).send();
    assert_eq!(pick.expect(404), message("404 Branch Not Found"));
    assert_eq!(state(forge, &fixture), before);
    // Only one of the two: the caller is the author, so the other one does not matter.
    commit(&json!({"author_name": "A\u{0}da"})).expect(201);
}

/// POST /projects/:id/repository/commits, GET /projects/:id/repository/files
fn parameters_have_to_be_utf_8(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let before = state(forge, &fixture);
    let at = |call: &str| format!("{}/repository/{call}", fixture.cast.path);
    let developer = fixture.token("developer");
    let wrong = error("a parameter is not valid UTF-8");
    let query = at("files?file_path=%FF&ref=master");
    assert_eq!(forge.get(&query).token(developer).send().expect(400), wrong);
    let file = "file_path=%FF&branch_name=master&content=x&commit_message=x";
    let commit = "branch_name=master&commit_message=x\
                  &actions[][action]=create&actions[][file_path]=%FF&actions[][content]=x";
    for (method, call, body) in [
        ("POST", "files", file),
        ("PUT", "files", file),
        ("DELETE", "files", file),
        ("POST", "commits", commit),
    ] {
        let send = forge.request(method, &at(call)).token(developer);
        let send = send.header("Content-Type", "application/x-www-form-urlencoded").body(body);
        assert_eq!(send.send().expect(400), wrong, "{method} {call}");
    }
    assert_eq!(state(forge, &fixture), before);
}

/// POST /projects/:id/repository/commits: rows 1 and 2.
fn branches_are_checked_first(forge: &Forge) {
    let fixture = filled_fixture(forge);
    protect(forge, &fixture, "master", false, true);
    protect(forge, &fixture, "later/*", false, false);
    let before = state(forge, &fixture);
    let wrong = || json!([{"action": "dance"}]);
    for branch in ["master", "later/x"] {
        let answer = post_commit(forge, &fixture, "developer", branch, wrong());
        let text = "You are not allowed to push into this branch";
        assert_eq!(answer.expect(400), message(text), "{branch}");
    }
    let id = fixture.id("master");
    for branch in ["missing", "", "v1.0.0", "refs/heads/master", "Master", " master", "a..b", &id] {
        let answer = post_commit(forge, &fixture, "master", branch, wrong());
        let text = "You can only create or edit files when you are on a branch";
        assert_eq!(answer.expect(400), message(text), "{branch}");
    }
    assert_eq!(state(forge, &fixture), before);
    for who in ["master", "owner", "root"] {
        post_commit(forge, &fixture, who, "master", json!([])).expect(201);
    }
}

/// Asserts that actions are refused with this text.
#[track_caller]
fn assert_refused(forge: &Forge, fixture: &ProjectFixture, actions: Value, text: &str) {
    let shown = actions.to_string();
    let answer = post_commit(forge, fixture, "developer", "master", actions);
    assert_eq!(answer.expect(400), message(text), "{shown}");
}

fn traversal(path: &str) -> String {
    format!(
        "Your changes could not be committed, because the file name, `{path}` cannot include \
         directory traversal."
    )
}

fn letters(path: &str) -> String {
    format!(
        "Your changes could not be committed, because the file name, `{path}` can contain only \
         letters, digits, '_', '-', '@' and '.'. Separate directories with a '/'."
    )
}

fn exists(path: &str) -> String {
    format!(
        "Your changes could not be committed because a file with the name `{path}` already exists."
    )
}

/// POST /projects/:id/repository/commits: rows 3 to 12.
fn actions_are_checked_in_turn(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let before = state(forge, &fixture);
    let check = |actions: Value, text: &str| assert_refused(forge, &fixture, actions, text);
    let act =
        |action: &str, path: &str| json!({"action": action, "file_path": path, "content": "x"});
    // Row 3.
    check(json!([{"action": "delete"}]), "You must specify a file_path.");
    for path in ["", " ", "/"] {
        check(json!([act("create", path)]), "You must specify a file_path.");
    }
    // Rows 4 and 5. The first wrong action counts, and the first rule of it.
    for path in ["../x", "a..b", "a/../b", "ü..b"] {
        check(json!([act("create", path)]), &traversal(path));
    }
    check(json!([act("create", "/../x")]), &traversal("../x"));
    for path in ["with space", "ümlaut", "a*b", "a\\b", "a\u{0}b", "a:b"] {
        check(json!([act("create", path)]), &letters(path));
    }
    check(json!([act("create", "README"), act("create", "")]), &exists("README"));
    // Row 6, with any action.
    let with_previous = |action: &str, previous: &str| json!([{"action": action, "file_path": "README", "previous_path": previous, "content": ""}]);
    for action in ["create", "update", "move", "delete", "dance"] {
        check(with_previous(action, "../x"), &traversal("../x"));
        check(with_previous(action, "/a b"), &letters("a b"));
    }
    // Row 8.
    for (action, text) in [("update", "updated"), ("delete", "deleted"), ("dance", "danced")] {
        for path in ["missing", "docs", "README/x"] {
            let text = format!("File to be {text} `{path}` does not exist.");
            check(json!([act(action, path)]), &text);
        }
    }
    check(
        json!([{"action": "move", "file_path": "new", "previous_path": "missing"}]),
        "File to be moved `missing` does not exist.",
    );
    // Row 9, against the branch before the commit.
    check(json!([act("create", "README")]), &exists("README"));
    check(json!([act("delete", "README"), act("create", "README")]), &exists("README"));
    check(
        json!([act("create", "new"), act("update", "new")]),
        "File to be updated `new` does not exist.",
    );
    // Rows 10 and 11.
    let supply = "You must supply the original file path when moving file `new`.";
    check(json!([act("move", "new")]), supply);
    for path in ["README", "docs/a"] {
        check(
            json!([{"action": "move", "file_path": path, "previous_path": "docs/a"}]),
            &format!("Move destination `{path}` already exists."),
        );
    }
    // Row 12.
    check(json!([act("dance", "README")]), "Unknown action type `dance`.");
    assert_eq!(state(forge, &fixture), before);
}

/// POST /projects/:id/repository/commits: row 7.
fn an_empty_repository_takes_only_creations(forge: &Forge) {
    let fixture = empty_fixture(forge);
    for action in ["update", "delete", "move", "dance"] {
        let actions = json!([{"action": action, "file_path": "a", "content": ""}]);
        let answer = post_commit(forge, &fixture, "master", "master", actions);
        assert_eq!(answer.expect(400), message(&format!("No files to {action}.")));
    }
    // Section 5.3: a malformed branch name in an empty repository.
    for branch in ["a..b", "a\u{0}b"] {
        let actions = json!([{"action": "create", "file_path": "a", "content": ""}]);
        let text = format!("Could not update branch {branch}. Please refresh and try again.");
        let answer = post_commit(forge, &fixture, "master", branch, actions);
        assert_eq!(answer.expect(400), message(&text));
    }
}

/// POST /projects/:id/repository/commits: section 5.3.
fn actions_that_were_crashes_or_lost_data_are_refused(forge: &Forge) {
    let fixture = filled_fixture(forge);
    add_special_files(forge, &fixture);
    let before = state(forge, &fixture);
    let check = |actions: Value, text: &str| assert_refused(forge, &fixture, actions, text);
    let act =
        |action: &str, path: &str| json!({"action": action, "file_path": path, "content": "x"});
    let to = |path: &str| json!({"action": "move", "file_path": path, "previous_path": "docs/a"});
    // An earlier action of the same commit.
    let deleted = "File to be deleted `README` does not exist.";
    check(json!([act("delete", "README"), act("delete", "README")]), deleted);
    let updated = "File to be updated `docs/a` does not exist.";
    check(json!([act("delete", "docs/a"), act("update", "docs/a")]), updated);
    check(json!([to("new"), act("update", "docs/a")]), updated);
    check(json!([act("create", "new"), to("new")]), "Move destination `new` already exists.");
    // A path through a file, a link or a submodule, and a file where a folder is.
    for path in ["README/x", "link/x", "module/x", "module", "docs"] {
        check(json!([act("create", path)]), &exists(path));
        check(json!([to(path)]), &format!("Move destination `{path}` already exists."));
    }
    check(json!([act("update", "module")]), "File to be updated `module` does not exist.");
    // Odd components.
    for path in ["a//b", "/a", "a/", "./a", "a/./b", ".git", ".git/config", "a/.GIT/b", ".Git"] {
        let given = if path == "/a" { "//a" } else { path };
        check(json!([act("create", given)]), &letters(path));
    }
    check(json!([act("create", "git~1")]), &letters("git~1"));
    let long = "a/".repeat(3000) + "a";
    check(json!([act("create", &long)]), &letters(&long));
    assert_eq!(state(forge, &fixture), before);
}

/// POST /projects/:id/repository/commits: section 5.3, first row.
fn lists_that_are_none_are_invalid(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for actions in [
        json!("x"),
        json!(null),
        json!({}),
        json!(["create"]),
        json!([{"file_path": "a"}]),
        json!([{"action": "create", "file_path": "a"}]),
        json!([{"action": "update", "file_path": "README", "content": null}]),
        json!([{"action": "create", "file_path": "a", "content": 5}]),
    ] {
        let shown = actions.to_string();
        let answer = post_commit(forge, &fixture, "reporter", "master", actions);
        assert_eq!(answer.expect(400), error("actions is invalid"), "{shown}");
    }
    let body = json!({"branch_name": [], "actions": 1});
    let text = "branch_name is invalid, commit_message is missing, actions is invalid";
    assert_eq!(post_body(forge, &fixture, "developer", &body).expect(400), error(text));
}
