//! What commits, files and cherry-picks of the API cause: commits_files.md sections 5.4, 5.5 and 7.

use hexforge_http_actix::Dialect;
use hexforge_tests::forge::{ROOT, Restrictions};
use hexforge_tests::{Backend, Forge, ForgeOptions, Receiver, Response, on_every_store};
use serde_json::{Value, json};

use crate::api::everywhere::concurrent_calls::{at_once, statuses};
use crate::api::groups::group_support::in_the_original;
use crate::api::hooks::hook_support::{clear_outbox, deliver_payloads, hook_of, system_hook};
use crate::api::repositories::commits_support::{
    content, post_body, post_commit, send_file, state, tip, tree,
};
use crate::api::repositories::refs_support::{
    ProjectFixture, empty_fixture, filled_fixture, new_branch, protect,
};
use crate::api::support::{message, queued_events};

on_every_store!(
    hooks_are_told_of_a_commit_as_of_a_push,
    the_first_commit_is_a_new_branch_in_the_feed,
    first_commits_at_once_to_different_branches_lose_nothing,
    writers_of_one_file_at_once_get_clear_answers,
    picks_at_once_get_clear_answers,
    a_removed_branch_takes_no_commit_with_it,
    files_that_git_refuses_are_refused,
);

const ZEROS: &str = "0000000000000000000000000000000000000000";

/// POST /projects/:id/repository/commits, PUT /projects/:id/repository/files
fn hooks_are_told_of_a_commit_as_of_a_push(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (old, receiver) = (fixture.id("master"), Receiver::new());
    hook_of(forge, &fixture.cast.path, &receiver.url("/project"), &[("push_events", "true")]);
    system_hook(forge, &receiver.url("/system"), &[("push_events", "true")]);
    clear_outbox(forge);
    let body = json!({
        "branch_name": "master", "commit_message": "Change\n\nall of it",
        "author_name": "Eve", "author_email": "eve@example.com",
        "actions": [
            {"action": "move", "file_path": "moved", "previous_path": "docs/a"},
            {"action": "update", "file_path": "README", "content": "four\n"},
            {"action": "create", "file_path": "new", "content": ""},
        ],
    });
    let made = post_body(forge, &fixture, "developer", &body).expect(201);
    let told = deliver_payloads(forge, &receiver);
    let [first, second] = &told[..] else { panic!("{told:?}") };
    let (project, service) =
        if first["commits"] == json!([]) { (second, first) } else { (first, second) };
    let feed = format!("{}/events?per_page=1", fixture.cast.path);
    let feed = forge.get(&feed).token(ROOT).send().expect(200);
    assert_eq!(project.to_string(), feed[0]["data"].to_string());
    for payload in [project, service] {
        assert_eq!(payload["object_kind"], "push");
        assert_eq!((&payload["before"], &payload["after"]), (&json!(old), &made["id"]));
        assert_eq!(payload["ref"], "refs/heads/master");
        assert_eq!(payload["user_name"], feed[0]["author"]["name"]);
    }
    assert_eq!((&project["total_commits_count"], &service["commits"]), (&json!(1), &json!([])));
    let commit = &project["commits"][0];
    assert_eq!((&commit["id"], &commit["message"]), (&made["id"], &body["commit_message"]));
    assert_eq!(commit["author"], json!({"name": "Eve", "email": "eve@example.com"}));
    // A moved file counts as added.
    assert_eq!(commit["added"], json!(["moved", "new"]));
    assert_eq!((&commit["modified"], &commit["removed"]), (&json!(["README"]), &json!([])));

    let body = json!({
        "file_path": "README", "branch_name": "master", "content": "five\n",
        "commit_message": "Change again",
    });
    send_file(forge, &fixture, ("PUT", "developer"), &body).expect(200);
    let told = deliver_payloads(forge, &receiver);
    assert_eq!(told.len(), 2, "{told:?}");
    let after = tip(forge, &fixture, "master");
    for payload in &told {
        assert_eq!((&payload["before"], &payload["after"]), (&made["id"], &json!(after)));
    }
    // A refused write causes nothing.
    let body = json!({
        "file_path": "README", "branch_name": "master", "content": "x", "commit_message": "x",
    });
    send_file(forge, &fixture, ("POST", "developer"), &body).expect(400);
    assert_eq!(deliver_payloads(forge, &receiver), Vec::<Value>::new());
}

/// POST /projects/:id/repository/commits
fn the_first_commit_is_a_new_branch_in_the_feed(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let actions = json!([{"action": "create", "file_path": "a", "content": "1\n"}]);
    let made = post_commit(forge, &fixture, "master", "trunk", actions.clone()).expect(201);
    let feed = |count: usize| {
        let path = format!("{}/events?per_page={count}", fixture.cast.path);
        forge.get(&path).token(ROOT).send().expect(200)
    };
    let event = &feed(1)[0];
    assert_eq!(event["action_name"], "pushed new");
    let data = &event["data"];
    assert_eq!((&data["before"], &data["after"]), (&json!(ZEROS), &made["id"]));
    assert_eq!(data["ref"], "refs/heads/trunk");
    assert_eq!(data["commits"][0]["added"], json!(["a"]));
    let actions = json!([{"action": "update", "file_path": "a", "content": "2\n"}]);
    post_commit(forge, &fixture, "master", "trunk", actions).expect(201);
    assert_eq!(feed(1)[0]["action_name"], "pushed to");
}

/// POST /projects/:id/repository/commits
fn first_commits_at_once_to_different_branches_lose_nothing(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let before = queued_events(forge).len();
    let commit = |branch: &str| {
        let actions = json!([{"action": "create", "file_path": branch, "content": "x"}]);
        post_commit(forge, &fixture, "master", branch, actions)
    };
    let answers = at_once([&|| commit("one"), &|| commit("two")]);
    let mut made = Vec::new();
    for (answer, branch) in answers.iter().zip(["one", "two"]) {
        match answer.status {
            201 => {
                assert_eq!(answer.json()["parent_ids"], json!([]));
                assert_eq!(json!(tip(forge, &fixture, branch)), answer.json()["id"]);
                assert_eq!(tree(forge, &fixture, branch), [format!("100644 {branch}")]);
                made.push(branch);
            }
            // The other commit came first, so the repository is not empty any more.
            _ => {
                let text = "You can only create or edit files when you are on a branch";
                assert_eq!(answer.expect(400), message(text));
                let path = format!("{}/{branch}", fixture.branches);
                forge.get(&path).token(ROOT).send().expect(404);
            }
        }
    }
    assert!(!made.is_empty());
    assert_eq!(queued_events(forge).len() - before, made.len());
    let project = forge.get(&fixture.cast.path).token(ROOT).send().expect(200);
    let default = project["default_branch"].as_str().expect("a branch").to_owned();
    assert!(made.contains(&&*default), "{default} {made:?}");
    let branch = forge.get(&format!("{}/{default}", fixture.branches)).token(ROOT).send();
    assert_eq!(branch.expect(200)["protected"], true);
}

/// Whether a write succeeded. Otherwise it was refused because the branch had moved.
#[track_caller]
fn succeeded(answer: &Response, status: u16) -> bool {
    if answer.status == status {
        return true;
    }
    let text = "Could not update branch master. Please refresh and try again.";
    assert_eq!(answer.expect(400), message(text));
    false
}

/// PUT /projects/:id/repository/files, POST /projects/:id/repository/files
fn writers_of_one_file_at_once_get_clear_answers(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (before, count) = (queued_events(forge).len(), commit_count(&fixture));
    let change = |text: &str| {
        let body = json!({
            "file_path": "README", "branch_name": "master", "content": text,
            "commit_message": text,
        });
        send_file(forge, &fixture, ("PUT", "developer"), &body)
    };
    let texts = ["a", "b", "c"];
    let answers = at_once([&|| change("a"), &|| change("b"), &|| change("c")]);
    let made = answers.iter().filter(|answer| succeeded(answer, 200)).count();
    assert!(made > 0);
    assert_eq!(commit_count(&fixture) - count, made);
    assert_eq!(queued_events(forge).len() - before, made);
    assert!(texts.contains(&&*content(forge, &fixture, "master", "README")));
    // Only one of several writers creates a file.
    let count = commit_count(&fixture);
    let create = || {
        let body = json!({
            "file_path": "new", "branch_name": "master", "content": "x", "commit_message": "New",
        });
        send_file(forge, &fixture, ("POST", "developer"), &body)
    };
    let answers = at_once([&create, &create, &create]);
    assert_eq!(statuses(&answers), [201, 400, 400]);
    for answer in answers.iter().filter(|answer| answer.status == 400) {
        let exists =
            "Your changes could not be committed because a file with the same name already exists";
        let moved = "Could not update branch master. Please refresh and try again.";
        assert!([message(exists), message(moved)].contains(&answer.json()), "{}", answer.text());
    }
    assert_eq!(commit_count(&fixture), count + 1);
}

fn commit_count(fixture: &ProjectFixture) -> usize {
    let count = fixture.tree.git_bare(&["rev-list", "--count", "master"]);
    count.trim().parse().expect("a number")
}

/// POST /projects/:id/repository/commits/:sha/cherry_pick, PUT /projects/:id/repository/files
fn picks_at_once_get_clear_answers(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (before, count) = (queued_events(forge).len(), commit_count(&fixture));
    let path = format!("{}/repository/commits/feature%2Fx/cherry_pick", fixture.cast.path);
    let pick = || {
        let body = json!({"branch": "master"});
        forge.post(&path).token(fixture.token("developer")).json(&body).send()
    };
    let write = || {
        let body = json!({
            "file_path": "README", "branch_name": "master", "content": "four\n",
            "commit_message": "Four",
        });
        send_file(forge, &fixture, ("PUT", "developer"), &body)
    };
    let [one, two, written] = at_once([&pick, &pick, &write]);
    let wrote = usize::from(succeeded(&written, 200));
    let picked = [&one, &two].into_iter().filter(|answer| answer.status == 201).count();
    for refused in [&one, &two].into_iter().filter(|answer| answer.status != 201) {
        let text = refused.expect(400)["message"].as_str().expect("a text").to_owned();
        let texts = ["Sorry, we cannot cherry-pick", "Could not update branch master."];
        assert!(texts.iter().any(|start| text.starts_with(start)), "{text}");
    }
    assert!(picked <= 1, "the second one changes nothing");
    assert_eq!(commit_count(&fixture) - count, picked + wrote);
    assert_eq!(queued_events(forge).len() - before, picked + wrote);
    if picked == 1 {
        assert_eq!(content(forge, &fixture, "master", "x"), "x\n");
    }
    let readme = content(forge, &fixture, "master", "README");
    assert_eq!(readme, if wrote == 1 { "four\n" } else { "three\n" });
}

/// POST /projects/:id/repository/commits, DELETE /projects/:id/repository/branches/:branch
fn a_removed_branch_takes_no_commit_with_it(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for round in 0..3 {
        let branch = format!("b{round}");
        new_branch(forge, &fixture, &branch, "master");
        let actions = json!([{"action": "create", "file_path": "new", "content": "x"}]);
        let path = format!("{}/{branch}", fixture.branches);
        let [made, removed] = at_once([
            &|| post_commit(forge, &fixture, "developer", &branch, actions.clone()),
            &|| forge.delete(&path).token(fixture.token("developer")).send(),
        ]);
        let texts = [
            "You can only create or edit files when you are on a branch".to_owned(),
            format!("Could not update branch {branch}. Please refresh and try again."),
        ];
        if made.status != 201 {
            assert!(
                texts.map(|text| message(&text)).contains(&made.expect(400)),
                "{}",
                made.text()
            );
        }
        let shown = forge.get(&path).token(ROOT).send();
        match (made.status, removed.status) {
            // The branch was removed after the commit, or before it.
            (201 | 400, 200) => assert_eq!(shown.status, 404),
            (201, _) => assert_eq!(shown.expect(200)["commit"]["id"], made.json()["id"]),
            other => panic!("{other:?}"),
        }
    }
}

/// POST /projects/:id/repository/commits, POST /projects/:id/repository/files, PUT /projects/:id/repository/files
fn files_that_git_refuses_are_refused(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let before = state(forge, &fixture);
    let modules = "[submodule \"x\"]\n\tpath = x\n\turl = --upload-pack=evil\n";
    for path in [".gitmodules", ".GitModules"] {
        let expected = message(&format!("The content of the file `{path}` is not valid in git"));
        let actions = json!([
            {"action": "create", "file_path": "beside", "content": "x"},
            {"action": "create", "file_path": path, "content": modules},
        ]);
        let answer = post_commit(forge, &fixture, "developer", "master", actions);
        assert_eq!(answer.expect(400), expected, "{path}");
        let body = json!({
            "file_path": path, "branch_name": "master", "content": modules,
            "commit_message": "Modules",
        });
        for method in ["POST", "PUT"] {
            let answer = send_file(forge, &fixture, (method, "developer"), &body);
            assert_eq!(answer.expect(400), expected, "{method} {path}");
        }
    }
    assert_eq!(state(forge, &fixture), before);
    let good = "[submodule \"x\"]\n\tpath = x\n\turl = https://example.com/x.git\n";
    let actions = json!([{"action": "create", "file_path": ".gitmodules", "content": good}]);
    post_commit(forge, &fixture, "developer", "master", actions).expect(201);
    assert_eq!(content(forge, &fixture, "master", ".gitmodules"), good);
}

/// POST /projects/:id/repository/commits, PUT /projects/:id/repository/files
#[test]
fn a_repository_over_its_size_limit_takes_no_commit() {
    for backend in [Backend::Fake, Backend::Sqlite, Backend::Postgres] {
        let options = ForgeOptions { backend, dialect: Dialect::Specification };
        let restrictions =
            Restrictions { repository_bytes: Some(20_000), ..Restrictions::default() };
        let Some(forge) = Forge::start_restricted(options, restrictions) else { continue };
        let fixture = filled_fixture(&forge);
        let before = state(&forge, &fixture);
        // Text that does not compress well.
        let large: String =
            (0..8_000_u32).map(|n| format!("{:x}", n.wrapping_mul(2_654_435_761))).collect();
        let actions = json!([{"action": "create", "file_path": "large", "content": large}]);
        let refused = message("The repository has reached its size limit");
        let answer = post_commit(&forge, &fixture, "developer", "master", actions);
        assert_eq!(answer.expect(400), refused);
        let body = json!({
            "file_path": "large", "branch_name": "master", "content": large,
            "commit_message": "Large",
        });
        let answer = send_file(&forge, &fixture, ("PUT", "developer"), &body);
        assert_eq!(answer.expect(400), refused);
        assert_eq!(state(&forge, &fixture), before);
        let actions = json!([{"action": "create", "file_path": "small", "content": "x"}]);
        post_commit(&forge, &fixture, "developer", "master", actions).expect(201);
    }
}

/// The calls on commits and files are the same in both dialects.
#[test]
fn commits_and_files_in_the_original() {
    in_the_original(|forge| {
        let fixture = filled_fixture(forge);
        let actions = json!([{"action": "create", "file_path": "a", "content": "1\n"}]);
        let made = post_commit(forge, &fixture, "developer", "master", actions).expect(201);
        let call = |path: &str| format!("{}/repository/{path}", fixture.cast.path);
        let developer = fixture.token("developer");
        let list = forge.get(&call("commits?per_page=1")).token(developer).send().expect(200);
        assert_eq!(list[0]["id"], made["id"]);
        let id = made["id"].as_str().expect("an id");
        let one = forge.get(&call(&format!("commits/{id}"))).token(developer).send();
        assert_eq!(one.expect(200), made);
        let diff = forge.get(&call(&format!("commits/{id}/diff"))).token(developer).send();
        assert_eq!(diff.expect(200)[0]["new_path"], "a");
        let comment = forge.post(&call(&format!("commits/{id}/comments"))).token(developer);
        comment.json(&json!({"note": "x", "path": "a", "line": 1})).send().expect(201);
        let body = |content: &str| {
            json!({
                "file_path": "f", "branch_name": "master", "content": content,
                "commit_message": "File",
            })
        };
        let answer = json!({"file_path": "f", "branch_name": "master"});
        for (method, status) in [("POST", 201), ("PUT", 200), ("DELETE", 200)] {
            let sent = send_file(forge, &fixture, (method, "developer"), &body("x\r\n"));
            assert_eq!(sent.expect(status), answer, "{method}");
        }
        protect(forge, &fixture, "master", false, false);
        let refused = send_file(forge, &fixture, ("PUT", "developer"), &body("x"));
        assert_eq!(refused.expect(400), message("You are not allowed to push into this branch"));
        let pick =
            forge.post(&call("commits/feature%2Fx/cherry_pick")).token(fixture.token("master"));
        pick.json(&json!({"branch": "master"})).send().expect(201);
        assert_eq!(content(forge, &fixture, "master", "x"), "x\n");
    });
}
