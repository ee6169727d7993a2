//! Refused requests about branches, and the order of checks: reference sections 1.1 to 1.3, 2.6 and 2.7.

use hexforge_tests::damage::Damage;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{error, forbidden, no_project};
use crate::api::projects::project_support::names;
use crate::api::repositories::refs_support::{
    ProjectFixture, branch_json, empty_fixture_with_visibility, fill, filled_fixture, new_branch,
    protect,
};
use crate::api::support::{MISSING, assert_only_for_users, message, queued_events};

on_every_store!(
    checks_come_in_their_order,
    reading_is_for_those_who_read_the_code,
    writing_is_for_developers_and_up,
    what_is_archived_stays_as_it_is,
    names_that_git_does_not_allow_are_refused,
    what_names_no_commit_is_refused,
    a_name_that_is_a_folder_is_refused,
    protected_names_are_for_those_who_may_push_there,
    a_damaged_object_hurts_only_those_who_ask_for_it,
    a_damaged_default_branch_hinders_no_change,
);

/// The calls that change something, as paths below `/projects/:id/repository`.
const WRITES: [(&str, &str); 5] = [
    ("POST", "/branches?branch_name=new&ref=master"),
    ("DELETE", "/branches/feature/x"),
    ("PUT", "/branches/feature/x/protect"),
    ("PUT", "/branches/feature/x/unprotect"),
    ("DELETE", "/merged_branches"),
];

/// GET /projects/:id/repository/branches, GET /projects/:id/repository/branches/:branch,
/// POST /projects/:id/repository/branches, DELETE /projects/:id/repository/branches/:branch,
/// PUT /projects/:id/repository/branches/:branch/protect,
/// PUT /projects/:id/repository/branches/:branch/unprotect,
/// DELETE /projects/:id/repository/merged_branches
fn checks_come_in_their_order(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let told = queued_events(forge).len();
    let calls = [
        ("GET", "/branches"),
        ("GET", "/branches/missing"),
        ("POST", "/branches"),
        ("DELETE", "/branches/missing"),
        ("PUT", "/branches/missing/protect?developers_can_push=nonsense"),
        ("PUT", "/branches/missing/unprotect"),
        ("DELETE", "/merged_branches"),
    ];
    let paths =
        |project: &str| calls.map(|(method, path)| (method, format!("{project}/repository{path}")));
    // First the caller, then the visibility of the project, then that of its code.
    assert_only_for_users(forge, &paths(&fixture.cast.path));
    assert_only_for_users(forge, &paths(&format!("/projects/{MISSING}")));
    for (method, path) in paths(&format!("/projects/{MISSING}")) {
        let missing = forge.request(method, &path).token(ROOT).send().expect(404);
        assert_eq!(missing, no_project(), "{method} {path}");
    }
    for (method, path) in paths(&fixture.cast.path) {
        let hidden = forge.request(method, &path).token(fixture.token("stranger")).send();
        assert_eq!(hidden.expect(404), no_project(), "{method} {path}");
        let refused = forge.request(method, &path).token(fixture.token("guest")).send();
        assert_eq!(refused.expect(403), forbidden(), "{method} {path}");
    }
    // Then the parameters, then the permission to write, then the look-up of the branch.
    let reporter = fixture.token("reporter");
    for (method, path, text) in [
        ("POST", "/branches", "branch_name is missing, ref is missing"),
        ("POST", "/branches?branch_name=x", "ref is missing"),
        ("POST", "/branches?ref=x", "branch_name is missing"),
        (
            "PUT",
            "/branches/missing/protect?developers_can_push=nonsense&developers_can_merge=2",
            "developers_can_push is invalid, developers_can_merge is invalid",
        ),
    ] {
        let path = format!("{}/repository{path}", fixture.cast.path);
        for token in [reporter, fixture.token("owner")] {
            let wrong = forge.request(method, &path).token(token).send();
            assert_eq!(wrong.expect(400), error(text), "{method} {path}");
        }
    }
    for (method, path) in [
        ("POST", "/branches?branch_name=..&ref="),
        ("DELETE", "/branches/missing"),
        ("DELETE", "/branches/master"),
        ("PUT", "/branches/missing/protect"),
        ("PUT", "/branches/missing/unprotect"),
    ] {
        let path = format!("{}/repository{path}", fixture.cast.path);
        let refused = forge.request(method, &path).token(reporter).send();
        assert_eq!(refused.expect(403), forbidden(), "{method} {path}");
    }
    // The format of the name is checked first, then whether the branch exists, then the source.
    for (name, from, text) in [
        ("", "", "Branch name is invalid"),
        ("a b", "missing", "Branch name is invalid"),
        ("master", "missing", "Branch already exists"),
        ("new", "missing", "Invalid reference name"),
        ("new", "", "Invalid reference name"),
    ] {
        let form = [("branch_name", name), ("ref", from)];
        let answer = forge.post(&fixture.branches).token(ROOT).form(&form).send();
        assert_eq!(answer.expect(400), message(text), "{name} {from}");
    }
    assert_eq!(queued_events(forge).len(), told);
}

/// GET /projects/:id/repository/branches, GET /projects/:id/repository/branches/:branch
fn reading_is_for_those_who_read_the_code(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let everybody =
        ["owner", "root", "guest", "reporter", "developer", "master", "stranger", "external"];
    for (level, refused, hidden) in [
        ("0", &["guest"][..], &["stranger", "external"][..]),
        ("10", &[], &["external"]),
        ("20", &[], &[]),
    ] {
        let form = [("name", "Ship"), ("visibility_level", level)];
        forge.put(&fixture.cast.path).token(ROOT).form(&form).send().expect(200);
        for who in everybody {
            for path in [fixture.branches.clone(), format!("{}/master", fixture.branches)] {
                let answer = forge.get(&path).token(fixture.token(who)).send();
                if hidden.contains(&who) {
                    assert_eq!(answer.expect(404), no_project(), "{who} {level}");
                } else if refused.contains(&who) {
                    assert_eq!(answer.expect(403), forbidden(), "{who} {level}");
                } else {
                    answer.expect(200);
                }
            }
        }
    }
}

/// POST /projects/:id/repository/branches, DELETE /projects/:id/repository/branches/:branch
fn writing_is_for_developers_and_up(forge: &Forge) {
    let fixture = empty_fixture_with_visibility(forge, "20");
    fill(forge, &fixture);
    for who in ["guest", "reporter", "stranger", "external"] {
        for (method, path) in &WRITES[..4] {
            let path = format!("{}/repository{path}", fixture.cast.path);
            let refused = forge.request(method, &path).token(fixture.token(who)).send();
            assert_eq!(refused.expect(403), forbidden(), "{who} {method} {path}");
        }
    }
    for who in ["developer", "master", "owner", "root"] {
        let form = [("branch_name", "new"), ("ref", "master")];
        forge.post(&fixture.branches).token(fixture.token(who)).form(&form).send().expect(200);
        let path = format!("{}/new", fixture.branches);
        forge.delete(&path).token(fixture.token(who)).send().expect(200);
    }
}

/// POST /projects/:id/repository/branches, DELETE /projects/:id/repository/branches/:branch,
/// PUT /projects/:id/repository/branches/:branch/protect
fn what_is_archived_stays_as_it_is(forge: &Forge) {
    let fixture = filled_fixture(forge);
    forge.post(&format!("{}/archive", fixture.cast.path)).token(ROOT).send().expect(201);
    for who in ["developer", "master", "owner", "root"] {
        for (method, path) in &WRITES[..2] {
            let path = format!("{}/repository{path}", fixture.cast.path);
            let refused = forge.request(method, &path).token(fixture.token(who)).send();
            assert_eq!(refused.expect(403), forbidden(), "{who} {method} {path}");
        }
        forge.get(&fixture.branches).token(fixture.token(who)).send().expect(200);
    }
    // Protections can be changed in archived projects.
    for action in ["protect", "unprotect"] {
        let path = format!("{}/feature/x/{action}", fixture.branches);
        let answer = forge.put(&path).token(fixture.token("master")).send().expect(200);
        assert_eq!(answer["protected"], action == "protect");
    }
}

/// POST /projects/:id/repository/branches
fn names_that_git_does_not_allow_are_refused(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let before = forge.get(&fixture.branches).token(ROOT).send();
    let (long, deep) = ("x".repeat(5000), "x/".repeat(2500) + "x");
    for name in [
        "", " ", "-x", "--help", "..", "a..b", "HEAD", "@", "a b", "a~b", "a^b", "a:b", "a?b",
        "a*b", "a[b", "a\\b", "a\tb", "a\nb", "a\u{1b}b", "a\u{7f}b", "/a", "a/", "a//b", "a.",
        "a.lock", "a.lock/b", ".a", "a/.b", "a@{b", "../../x", &long, &deep,
    ] {
        let fields = json!({"branch_name": name, "ref": "master"});
        let refused = forge.post(&fixture.branches).token(ROOT).json(&fields).send();
        assert_eq!(refused.expect(400), message("Branch name is invalid"), "{name:?}");
    }
    // NUL bytes are refused earlier, as in every text.
    for (field, other) in [("branch_name", "ref"), ("ref", "branch_name")] {
        let fields = json!({field: "a\0b", other: "new"});
        let refused = forge.post(&fixture.branches).token(ROOT).json(&fields).send();
        assert_eq!(refused.expect(400), error(&format!("{field} is invalid")));
    }
    assert_eq!(forge.get(&fixture.branches).token(ROOT).send().body, before.body);
    fixture.tree.assert_sound();
}

/// POST /projects/:id/repository/branches
fn what_names_no_commit_is_refused(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let ambiguous = an_ambiguous_start(&fixture);
    let (tree, blob) = (fixture.id("master^{tree}"), fixture.id("master:README"));
    fixture.tree.git_bare(&["tag", "of-a-blob", &blob]);
    fixture.tree.git_bare(&["tag", "-a", "of-a-tree", "-m", "x", &tree]);
    let (zeros, unknown, long) = ("0".repeat(40), "1".repeat(40), "x".repeat(5000));
    for from in [
        "",
        " ",
        "missing",
        "master~10",
        "master^2",
        "master..feature/x",
        "^master",
        "-x",
        "..",
        "a..b",
        "master:README",
        ":/Two",
        "master^{/Two}",
        "master@{1}",
        "@{-1}",
        "HEAD@{0}",
        "master^{tree}",
        "a\nb",
        "a\u{1b}b",
        "of-a-blob",
        "of-a-tree",
        "config",
        "description",
        "packed-refs",
        "objects",
        "objects/pack",
        "refs",
        "refs/heads",
        "refs/heads/",
        "feature",
        "feature/x/y",
        "../../../etc/passwd",
        "/etc/passwd",
        "//",
        "ünï",
        "FETCH_HEAD",
        &tree,
        &blob,
        &tree[..12],
        &zeros,
        &unknown,
        &unknown[..39],
        "abc",
        "a",
        &long,
        &ambiguous,
    ] {
        let fields = json!({"branch_name": "new", "ref": from});
        let refused = forge.post(&fixture.branches).token(ROOT).json(&fields).send();
        assert_eq!(refused.expect(400), message("Invalid reference name"), "{from:?}");
    }
    let list = forge.get(&fixture.branches).token(ROOT).send().expect(200);
    assert_eq!(names(&list), ["feature/x", "master"]);
}

/// A prefix of four digits that two commits share.
pub fn an_ambiguous_start(fixture: &ProjectFixture) -> String {
    let tree = fixture.id("master^{tree}");
    let mut script = String::new();
    for number in 0..1500 {
        script.push_str(&format!(
            "commit refs/heads/many\nmark :{}\ncommitter B <b@c> {number} +0000\ndata 1\nx\n{}",
            number + 1,
            if number == 0 { format!("M 040000 {tree} \n") } else { String::new() },
        ));
    }
    let mut import = fixture.tree.command(&[
        "--git-dir",
        &fixture.tree.bare().to_string_lossy(),
        "fast-import",
        "--quiet",
        "--force",
    ]);
    fixture.tree.change_bare(|| {
        let child = import.stdin(std::process::Stdio::piped()).spawn();
        let mut child = child.expect("git can be started");
        let mut input = child.stdin.take().expect("it was asked for");
        std::io::Write::write_all(&mut input, script.as_bytes()).expect("git reads");
        drop(input);
        assert!(child.wait().expect("git ends").success());
    });
    let commits = fixture.tree.git_bare(&["rev-list", "refs/heads/many"]);
    let mut starts: Vec<&str> = commits.lines().map(|id| &id[..4]).collect();
    starts.sort_unstable();
    let found = starts.windows(2).find(|pair| pair[0] == pair[1]).expect("1500 of 65536 meet");
    // The objects stay when the branch is removed.
    let start = found[0].to_owned();
    fixture.tree.git_bare(&["update-ref", "-d", "refs/heads/many"]);
    start
}

/// POST /projects/:id/repository/branches
fn a_name_that_is_a_folder_is_refused(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for packed in [false, true] {
        if packed {
            fixture.tree.git_bare(&["pack-refs", "--all", "--prune"]);
        }
        for name in ["feature", "master/x", "feature/x/y/z"] {
            let form = [("branch_name", name), ("ref", "master")];
            let refused = forge.post(&fixture.branches).token(ROOT).form(&form).send();
            let text = format!("Could not update branch {name}. Please refresh and try again.");
            assert_eq!(refused.expect(400), message(&text), "packed: {packed}");
        }
        fixture.tree.assert_sound();
    }
    let list = forge.get(&fixture.branches).token(ROOT).send().expect(200);
    assert_eq!(names(&list), ["feature/x", "master"]);
}

/// POST /projects/:id/repository/branches
fn protected_names_are_for_those_who_may_push_there(forge: &Forge) {
    let fixture = filled_fixture(forge);
    protect(forge, &fixture, "release/*", false, true);
    protect(forge, &fixture, "open-*", true, false);
    let refusal = "GitLab: You are not allowed to push code to protected branches on this project.";
    let form = [("branch_name", "release/1"), ("ref", "master")];
    let refused =
        forge.post(&fixture.branches).token(fixture.token("developer")).form(&form).send();
    assert_eq!(refused.expect(400), message(refusal));
    // Errors of earlier checks are reported first.
    let form = [("branch_name", "release/1"), ("ref", "missing")];
    let refused =
        forge.post(&fixture.branches).token(fixture.token("developer")).form(&form).send();
    assert_eq!(refused.expect(400), message("Invalid reference name"));
    for who in ["master", "owner", "root"] {
        let name = format!("release/{who}");
        let form = [("branch_name", name.as_str()), ("ref", "master")];
        let made = forge.post(&fixture.branches).token(fixture.token(who)).form(&form).send();
        let mut expected = branch_json(&fixture, &name);
        expected["protected"] = json!(true);
        expected["developers_can_merge"] = json!(true);
        assert_eq!(made.expect(200), expected, "{who}");
    }
    let made = new_branch(forge, &fixture, "open-1", "master");
    assert_eq!((&made["protected"], &made["developers_can_push"]), (&json!(true), &json!(true)));
}

/// POST /projects/:id/repository/branches, DELETE /projects/:id/repository/branches/:branch
fn a_damaged_default_branch_hinders_no_change(forge: &Forge) {
    let fixture = filled_fixture(forge);
    // The first use of a pack verifies its checksum.
    forge.get(&fixture.branches).token(ROOT).send().expect(200);
    fixture.tree.damage("master^{tree}", Damage::Garbage);
    new_branch(forge, &fixture, "new", "feature/x");
    forge.delete(&format!("{}/new", fixture.branches)).token(ROOT).send().expect(200);
}

/// GET /projects/:id/repository/branches, GET /projects/:id/repository/branches/:branch,
/// POST /projects/:id/repository/branches
fn a_damaged_object_hurts_only_those_who_ask_for_it(forge: &Forge) {
    forge.pin_to_first_server();
    let fixture = filled_fixture(forge);
    let internal = message("500 Internal Server Error");
    let files = ["missing", "garbage"].map(|name| {
        fixture.tree.git(&["checkout", "-q", "--orphan", name]);
        (name, fixture.tree.write("f", name).commit(name))
    });
    fixture.tree.push();
    // The first use of a pack verifies its checksum.
    forge.get(&format!("{}/master", fixture.branches)).token(ROOT).send().expect(200);
    fixture.tree.damage("missing", Damage::Missing);
    fixture.tree.damage("garbage", Damage::Garbage);
    let [(_, missing), (_, garbage)] = &files;
    for name in ["missing", "garbage"] {
        let answer = forge.get(&format!("{}/{name}", fixture.branches)).token(ROOT).send();
        assert_eq!(answer.expect(500), internal, "{name}");
    }
    // Other branches and the list are not affected.
    let list = forge.get(&fixture.branches).token(ROOT).send().expect(200);
    assert_eq!(
        list,
        Value::from(vec![branch_json(&fixture, "feature/x"), branch_json(&fixture, "master")])
    );
    for (from, status) in
        [(missing.as_str(), 400), (garbage.as_str(), 500), ("garbage", 500), ("missing", 400)]
    {
        let form = [("branch_name", "new"), ("ref", from)];
        let answer = forge.post(&fixture.branches).token(ROOT).form(&form).send();
        let text =
            if status == 400 { "Invalid reference name" } else { "500 Internal Server Error" };
        assert_eq!(answer.expect(status), message(text), "{from}");
    }
    new_branch(forge, &fixture, "fine", "master");
    let list = forge.get(&fixture.branches).token(ROOT).send().expect(200);
    assert_eq!(names(&list), ["feature/x", "fine", "master"]);
    // A branch to a missing object can be removed.
    for name in ["missing", "garbage"] {
        let path = format!("{}/{name}", fixture.branches);
        forge.delete(&path).token(ROOT).send().expect(200);
    }
}
