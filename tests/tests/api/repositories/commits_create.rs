//! POST /projects/:id/repository/commits, what it writes: commits_files.md sections 5.2, 5.4, 5.5 and 7.

use std::thread;
use std::time::{Duration, Instant};

use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::repositories::commits_support::{
    add_special_files, content, post_body, post_commit, tip, tree,
};
use crate::api::repositories::refs_support::{empty_fixture, filled_fixture, protect};
use crate::api::support::{message, queued_events};

on_every_store!(
    actions_make_one_commit,
    actions_are_applied_in_order,
    modes_are_kept,
    contents_are_stored_byte_for_byte,
    authors_need_a_name_and_an_address,
    a_form_lists_actions,
    the_first_commit_creates_the_default_branch,
    a_commit_is_a_push,
    writers_at_once_lose_nothing,
    a_commit_may_have_very_many_actions,
);

/// POST /projects/:id/repository/commits
fn actions_make_one_commit(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let old = fixture.id("master");
    let body = json!({
        "branch_name": "master", "commit_message": "All kinds\n\nof actions",
        "actions": [
            {"action": "create", "file_path": "/new/file", "content": "new\n", "other": 1},
            {"action": "update", "file_path": "README", "content": "four\n"},
            {"action": "move", "file_path": "moved/a", "previous_path": "/docs/a"},
        ],
        "ignored": true,
    });
    let answer = post_body(forge, &fixture, "developer", &body);
    let made = answer.expect(201);
    let id = tip(forge, &fixture, "master");
    let at = made["created_at"].as_str().expect("a time");
    assert!(at.ends_with("+00:00"), "{at}");
    let field = |name: &str| made[name].as_str().expect("a text");
    let (name, email) = (field("author_name"), field("author_email"));
    let expected = format!(
        concat!(
            r#"{{"id":"{id}","short_id":"{short}","title":"All kinds","author_name":"{name}","#,
            r#""author_email":"{email}","created_at":"{at}","message":"All kinds\n\nof actions","#,
            r#""parent_ids":["{old}"],"committed_date":"{at}","authored_date":"{at}","#,
            r#""stats":{{"additions":2,"deletions":1,"total":3}},"status":null}}"#,
        ),
        id = id,
        short = &id[..8],
        name = name,
        email = email,
        at = at,
        old = old,
    );
    assert_eq!(answer.text(), expected);
    assert_eq!(
        tree(forge, &fixture, "master"),
        ["100644 README", "100644 moved/a", "100644 new/file"]
    );
    assert_eq!(content(forge, &fixture, "master", "README"), "four\n");
    assert_eq!(content(forge, &fixture, "master", "moved/a"), "a\n");
    let shown = forge.get(&format!("{}/repository/commits/{id}", fixture.cast.path));
    assert_eq!(shown.token(fixture.token("reporter")).send().text(), answer.text());
}

/// POST /projects/:id/repository/commits
fn actions_are_applied_in_order(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let commit =
        |actions: Value| post_commit(forge, &fixture, "developer", "master", actions).expect(201);
    let twice = json!([
        {"action": "create", "file_path": "twice", "content": "1"},
        {"action": "create", "file_path": "twice", "content": "2"},
    ]);
    commit(twice);
    assert_eq!(content(forge, &fixture, "master", "twice"), "2");
    // Neither no action nor the same content changes the tree.
    for actions in [json!([]), json!([{"action": "update", "file_path": "twice", "content": "2"}])]
    {
        let made = commit(actions);
        assert_eq!(made["stats"]["total"], 0);
        let diff = format!("{}/repository/commits/master/diff", fixture.cast.path);
        assert_eq!(
            forge.get(&diff).token(fixture.token("developer")).send().expect(200),
            json!([])
        );
    }
    // The last file of a folder takes the folder with it, and the last file of all leaves an empty tree.
    commit(json!([{"action": "delete", "file_path": "docs/a"}]));
    assert_eq!(tree(forge, &fixture, "master"), ["100644 README", "100644 twice"]);
    commit(json!([
        {"action": "delete", "file_path": "README"}, {"action": "delete", "file_path": "twice"},
    ]));
    assert_eq!(
        fixture.tree.git_bare(&["rev-parse", "master^{tree}"]),
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    );
}

/// POST /projects/:id/repository/commits
fn modes_are_kept(forge: &Forge) {
    let fixture = filled_fixture(forge);
    add_special_files(forge, &fixture);
    let actions = json!([
        {"action": "update", "file_path": "run", "content": "y\n"},
        {"action": "update", "file_path": "link", "content": "docs/a"},
        {"action": "move", "file_path": "bin/run", "previous_path": "run"},
        {"action": "move", "file_path": "moved", "previous_path": "README", "content": "new", "encoding": "text"},
        {"action": "delete", "file_path": "module"},
    ]);
    post_commit(forge, &fixture, "developer", "master", actions).expect(201);
    assert_eq!(
        tree(forge, &fixture, "master"),
        ["100755 bin/run", "100644 docs/a", "120000 link", "100644 moved"]
    );
    assert_eq!(content(forge, &fixture, "master", "link"), "docs/a");
    assert_eq!(content(forge, &fixture, "master", "bin/run"), "y\n");
    assert_eq!(content(forge, &fixture, "master", "moved"), "new");
}

/// POST /projects/:id/repository/commits
fn contents_are_stored_byte_for_byte(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let create = |path: &str, content: &str, encoding: Value| json!({"action": "create", "file_path": path, "content": content, "encoding": encoding});
    let actions = json!([
        create("empty", "", json!(null)),
        create("crlf", "a\r\nb\r\n", json!("text")),
        create("blank", " \n", json!("utf-8")),
        create("decoded", "aGVs\r\nb!G8", json!("base64")),
        create("nul", "a\u{0}b", json!(null)),
        create("words", "aGVsbG8=", json!("BASE64")),
    ]);
    let body = json!({"branch_name": "master", "commit_message": " ", "actions": actions});
    let made = post_body(forge, &fixture, "developer", &body).expect(201);
    assert_eq!((&made["title"], &made["message"]), (&json!("--no commit message"), &json!(" ")));
    for (path, expected) in [
        ("empty", ""),
        ("crlf", "a\r\nb\r\n"),
        ("blank", " \n"),
        ("decoded", "hello"),
        ("nul", "a\0b"),
        ("words", "aGVsbG8="),
    ] {
        assert_eq!(content(forge, &fixture, "master", path), expected, "{path}");
    }
    // A file in another charset is moved as it is, whatever the encoding says.
    let latin = json!([{"action": "create", "file_path": "latin", "content": "/+n/", "encoding": "base64"}]);
    post_commit(forge, &fixture, "developer", "master", latin).expect(201);
    let id = fixture.id("master:latin");
    let moved = json!([
        {"action": "move", "file_path": "moved", "previous_path": "latin", "encoding": "base64"},
    ]);
    post_commit(forge, &fixture, "developer", "master", moved).expect(201);
    assert_eq!(fixture.id("master:moved"), id);
}

/// POST /projects/:id/repository/commits
fn authors_need_a_name_and_an_address(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let post = |name: Value, email: Value| {
        let body = json!({
            "branch_name": "master", "commit_message": "x", "actions": [],
            "author_name": name, "author_email": email,
        });
        post_body(forge, &fixture, "developer", &body)
    };
    let made = post(json!("Foo Sr."), json!("<foo@example.com>")).expect(201);
    assert_eq!(
        (&made["author_name"], &made["author_email"]),
        (&json!("Foo Sr"), &json!("foo@example.com"))
    );
    let committer = fixture.tree.git_bare(&["log", "-1", "--format=%ce", "master"]);
    for (name, email) in [
        (json!("Foo"), json!(null)),
        (json!(null), json!("foo@example.com")),
        (json!(" "), json!("foo@example.com")),
        (json!("Foo"), json!("")),
    ] {
        let made = post(name.clone(), email.clone()).expect(201);
        assert_eq!(made["author_email"], *committer, "{name} {email}");
    }
    for (name, email) in [
        ("a<b", "a@example.com"),
        ("a", "a>b@example.com"),
        ("a\nb", "a@example.com"),
        ("a", "a@example.com\nparent x"),
        (".", "a@example.com"),
        ("a", "<>"),
    ] {
        let old = fixture.id("master");
        assert_eq!(
            post(json!(name), json!(email)).expect(400),
            message("Invalid author"),
            "{name}"
        );
        assert_eq!(fixture.id("master"), old);
    }
}

/// POST /projects/:id/repository/commits
fn a_form_lists_actions(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let form = [
        ("branch_name", "master"),
        ("commit_message", "Form"),
        ("actions[][action]", "create"),
        ("actions[][file_path]", "a"),
        ("actions[][content]", "1"),
        ("actions[][action]", "delete"),
        ("actions[][file_path]", "README"),
    ];
    // The path of the project works as everywhere.
    let path = forge.get(&fixture.cast.path).token(fixture.token("owner")).send().expect(200);
    let path = path["path_with_namespace"].as_str().expect("a path").replace('/', "%2F");
    let call = format!("/projects/{path}/repository/commits");
    let developer = fixture.token("developer");
    forge.post(&call).token(developer).form(&form).send().expect(201);
    assert_eq!(tree(forge, &fixture, "master"), ["100644 a", "100644 docs/a"]);
}

/// POST /projects/:id/repository/commits
fn the_first_commit_creates_the_default_branch(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let create = || json!([{"action": "create", "file_path": "a", "content": "1\n"}]);
    let refused = message("You are not allowed to push into this branch");
    for who in ["developer", "root"] {
        let answer = post_commit(forge, &fixture, who, "trunk", create());
        assert_eq!(answer.expect(400), refused, "{who}");
    }
    let malformed = post_commit(forge, &fixture, "master", "a..b", create()).expect(400);
    assert_eq!(malformed, message("Could not update branch a..b. Please refresh and try again."));
    let made = post_commit(forge, &fixture, "master", "trunk", create()).expect(201);
    assert_eq!(made["parent_ids"], json!([]));
    let project = forge.get(&fixture.cast.path).token(fixture.token("owner")).send().expect(200);
    assert_eq!(project["default_branch"], "trunk");
    let branch = forge.get(&format!("{}/trunk", fixture.branches));
    let branch = branch.token(fixture.token("owner")).send().expect(200);
    assert_eq!((&branch["protected"], &branch["commit"]["id"]), (&json!(true), &made["id"]));
    let answer = post_commit(forge, &fixture, "developer", "trunk", json!([]));
    assert_eq!(answer.expect(400), refused);
    protect(forge, &fixture, "trunk", true, false);
    post_commit(forge, &fixture, "developer", "trunk", json!([])).expect(201);
}

/// POST /projects/:id/repository/commits: section 7.
fn a_commit_is_a_push(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let owner = fixture.token("owner");
    let issue = forge.post(&format!("{}/issues", fixture.cast.path)).token(owner);
    issue.form(&[("title", "Bug")]).send().expect(201);
    let told = queued_events(forge).len();
    let old = fixture.id("master");
    let ci = "test:\n  script: \"true\"\n";
    let body = json!({
        "branch_name": "master", "commit_message": "Closes #1", "author_name": "Eve",
        "author_email": "eve@example.com",
        "actions": [
            {"action": "create", "file_path": ".gitlab-ci.yml", "content": ci},
            {"action": "move", "file_path": "moved", "previous_path": "docs/a"},
            {"action": "update", "file_path": "README", "content": "four\n"},
        ],
    });
    let made = post_body(forge, &fixture, "developer", &body).expect(201);
    assert_eq!(made["status"], "pending");
    let events =
        forge.get(&format!("{}/events", fixture.cast.path)).token(owner).send().expect(200);
    let pushed: Vec<&Value> = events
        .as_array()
        .expect("a list")
        .iter()
        .filter(|event| event["action_name"] == "pushed to")
        .collect();
    let [event] = pushed[..] else { panic!("{events}") };
    assert_eq!(event["author_username"], "developer");
    let data = &event["data"];
    assert_eq!((&data["before"], &data["after"]), (&json!(old), &made["id"]));
    assert_eq!(data["commits"].as_array().map(Vec::len), Some(1));
    let commit = &data["commits"][0];
    assert_eq!(commit["author"], json!({"name": "Eve", "email": "eve@example.com"}));
    assert_eq!(commit["modified"], json!(["README"]));
    assert!(queued_events(forge).len() > told);
    let pipelines =
        forge.get(&format!("{}/pipelines", fixture.cast.path)).token(owner).send().expect(200);
    assert_eq!(pipelines[0]["sha"], made["id"]);
    assert_eq!(pipelines[0]["before_sha"], made["id"]);
    assert_eq!(pipelines[0]["user"]["username"], "developer");
    let issue = forge.get(&format!("{}/issues", fixture.cast.path)).token(owner).send().expect(200);
    assert_eq!(issue[0]["state"], "closed");
    let skipped = json!({
        "branch_name": "master", "commit_message": "Later [ci skip]", "actions": [],
    });
    let made = post_body(forge, &fixture, "developer", &skipped).expect(201);
    assert_eq!(made["status"], "skipped");
}

/// POST /projects/:id/repository/commits: section 5.5.
fn writers_at_once_lose_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let write = &|n: usize| {
        let path = format!("file-{n}");
        let actions = json!([{"action": "create", "file_path": path, "content": "x"}]);
        let answer = post_commit(forge, &fixture, "developer", "master", actions);
        match answer.status {
            201 => true,
            _ => {
                let text = "Could not update branch master. Please refresh and try again.";
                assert_eq!(answer.expect(400), message(text));
                false
            }
        }
    };
    let made = thread::scope(|scope| {
        let writers: Vec<_> = (0..6).map(|n| scope.spawn(move || write(n))).collect();
        let made = writers.into_iter().enumerate();
        made.filter_map(|(n, writer)| writer.join().expect("no panic").then_some(n))
            .collect::<Vec<_>>()
    });
    assert!(!made.is_empty());
    let tree = tree(forge, &fixture, "master");
    for n in &made {
        assert!(tree.contains(&format!("100644 file-{n}")), "{n} {tree:?}");
    }
    assert_eq!(tree.len(), made.len() + 2);
    let count = fixture.tree.git_bare(&["rev-list", "--count", "master"]);
    assert_eq!(count, (made.len() + 3).to_string());
}

/// POST /projects/:id/repository/commits: the size of the body is the only limit of the number of actions, so the work
/// for each of them does not grow with the number of the others.
fn a_commit_may_have_very_many_actions(forge: &Forge) {
    const MANY: usize = 4_000;
    let fixture = filled_fixture(forge);
    let path = |number: usize| format!("many/{}/{number}", number % 100);
    let commit = |action: &dyn Fn(usize) -> Value| {
        let actions = (0..MANY).map(action).collect::<Vec<_>>();
        let begun = Instant::now();
        post_commit(forge, &fixture, "developer", "master", json!(actions)).expect(201);
        begun.elapsed()
    };
    let files = || {
        let url = format!("{}/repository/tree?path=many/7&per_page=100", fixture.cast.path);
        let listed = forge.get(&url).token(fixture.token("reporter")).send();
        listed.expect(200).as_array().expect("a list").len()
    };
    let mut took = Vec::new();
    took.push(commit(
        &|number| json!({"action": "create", "file_path": path(number), "content": "x"}),
    ));
    assert_eq!(files(), MANY / 100);
    assert_eq!(content(forge, &fixture, "master", &path(MANY - 1)), "x");
    took.push(commit(
        &|number| json!({"action": "update", "file_path": path(number), "content": "y"}),
    ));
    assert_eq!(content(forge, &fixture, "master", &path(0)), "y");
    took.push(commit(&|number| {
        let new = format!("moved/{}/{number}", number % 100);
        json!({"action": "move", "file_path": new, "previous_path": path(number)})
    }));
    assert_eq!(content(forge, &fixture, "master", "moved/0/0"), "y");
    took.push(commit(&|number| {
        json!({"action": "delete", "file_path": format!("moved/{}/{number}", number % 100)})
    }));
    assert_eq!(tree(forge, &fixture, "master"), ["100644 README", "100644 docs/a"]);
    // Generous, because machines that run tests are busy. Work that grows with the square takes minutes.
    assert!(took.iter().all(|one| *one < Duration::from_secs(60)), "{took:?}");
    // One that fails undoes all.
    let before = tip(forge, &fixture, "master");
    let mut actions: Vec<Value> = (0..MANY)
        .map(|number| json!({"action": "create", "file_path": path(number), "content": "x"}))
        .collect();
    actions.push(json!({"action": "delete", "file_path": "missing"}));
    post_commit(forge, &fixture, "developer", "master", json!(actions)).expect(400);
    assert_eq!(tip(forge, &fixture, "master"), before);
}
