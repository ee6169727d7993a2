//! Who reads merge requests, in which order calls check, and the old name of the path: merge_requests.md sections 1, 13,
//! 14 and 15.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_fixtures::{
    archive, fixture_with_visibility, fork_with_topic, post_from_fork, set_level, set_switch,
    user_id, write_note,
};
use super::requests_support::{
    commit_file, new_request, path_of_request, post_request, put_request, request_as, request_now,
};
use crate::api::groups::group_support::{
    error, fields_of, forbidden, new_project, no_project, path_of_project,
};
use crate::api::projects::project_support::assert_unchanged;
use crate::api::repositories::refs_support::{do_tasks, filled_fixture};
use crate::api::support::{MISSING, assert_only_for_users, id_of, message, no_route};
use crate::api::tracker::tracker_support::{field_values, new_issue, update_issue};

on_every_store!(
    every_call_needs_a_user_on_public_projects_too,
    parameters_are_checked_before_projects_and_rights,
    the_old_name_works_for_some_calls,
    a_request_is_not_found_under_its_source,
    visibility_decides_who_reads,
    archived_projects_are_read_and_commented,
    switched_off_requests_answer_nobody,
    closed_issues_come_from_all_texts,
    only_visible_issues_are_listed,
    who_may_subscribe,
    empty_filters_and_headers,
);

/// All calls of section 1.1: the method and the part behind the path of the request. The flag tells whether the old name
/// has the call too.
const CALLS: [(&str, &str, bool); 23] = [
    ("GET", "", true),
    ("PUT", "", true),
    ("DELETE", "", false),
    ("GET", "/commits", true),
    ("GET", "/changes", true),
    ("GET", "/closes_issues", true),
    ("GET", "/versions", false),
    ("GET", "/versions/1", false),
    ("GET", "/comments", true),
    ("POST", "/comments", true),
    ("PUT", "/merge", true),
    ("POST", "/cancel_merge_when_build_succeeds", true),
    ("PUT", "/cancel_merge_when_build_succeeds", true),
    ("GET", "/notes", false),
    ("POST", "/notes", false),
    ("GET", "/notes/1", false),
    ("PUT", "/notes/1", false),
    ("DELETE", "/notes/1", false),
    ("POST", "/subscription", true),
    ("DELETE", "/subscription", true),
    ("GET", "/award_emoji", false),
    ("POST", "/award_emoji", false),
    ("POST", "/todo", false),
];

/// The parts that show something of a request.
const READS: [&str; 8] = [
    "",
    "/commits",
    "/changes",
    "/closes_issues",
    "/versions",
    "/comments",
    "/notes",
    "/versions/:newest",
];

/// GET a part of a request; `:newest` is its newest version.
fn get_part(forge: &Forge, token: &str, request: &Value, part: &str) -> hexforge_tests::Response {
    let path = path_of_request(request);
    let part = if part == "/versions/:newest" {
        let versions = forge.get(&format!("{path}/versions")).token(ROOT).send().expect(200);
        format!("/versions/{}", id_of(&versions[0]))
    } else {
        part.to_owned()
    };
    forge.get(&format!("{path}{part}")).token(token).send()
}

fn old_name(path: &str) -> String {
    path.replace("merge_requests", "merge_request")
}

/// Section 1.2: "anonymous, also on a public project".
fn every_call_needs_a_user_on_public_projects_too(forge: &Forge) {
    let fixture = fixture_with_visibility(forge, "20");
    let made = new_request(forge, &fixture, "feature/x", "t");
    let (list, one) = (format!("{}/merge_requests", fixture.cast.path), path_of_request(&made));
    let mut calls = vec![("GET", list.clone()), ("POST", list)];
    for (method, part, has_old_name) in CALLS {
        // The calls on awards and todos have tests of their own.
        if part == "/award_emoji" || part == "/todo" {
            continue;
        }
        calls.push((method, format!("{one}{part}")));
        if has_old_name {
            calls.push((method, old_name(&format!("{one}{part}"))));
        }
    }
    assert_only_for_users(forge, &calls);
}

/// Section 1.2: 401, 400, 404, 403.
fn parameters_are_checked_before_projects_and_rights(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let list = format!("{}/merge_requests", fixture.cast.path);
    let (guest, stranger) = (fixture.token("guest"), fixture.token("stranger"));
    for part in ["", "/commits", "/changes", "/closes_issues", "/versions", "/comments"] {
        let answer = forge.get(&format!("{list}/x{part}")).token(stranger).send();
        assert_eq!(answer.expect(400), error("merge_request_id is invalid"), "{part}");
    }
    let merge = forge.put(&format!("{list}/x/merge")).token(stranger).send();
    assert_eq!(merge.expect(400), error("merge_request_id is invalid"));
    let nothing = put_request(forge, stranger, &made, &json!({})).expect(400);
    let text = "title, target_branch, description, assignee_id, milestone_id, labels, state_event \
                are missing, at least one parameter must be provided";
    assert_eq!(nothing, error(text));
    assert_eq!(
        put_request(forge, stranger, &made, &json!({"title": ""})).expect(404),
        no_project()
    );
    assert_eq!(put_request(forge, guest, &made, &json!({"title": ""})).expect(403), forbidden());
    let missing = "title is missing, source_branch is missing, target_branch is missing";
    assert_eq!(post_request(forge, &fixture, "guest", &json!({})).expect(400), error(missing));
    let fields = json!({"title": "", "source_branch": "", "target_branch": ""});
    assert_eq!(post_request(forge, &fixture, "guest", &fields).expect(403), forbidden());
    let state = forge.get(&format!("{list}?state=x")).token(guest).send();
    assert_eq!(state.expect(400), error("state does not have a valid value"));
    let gone = forge.get(&format!("{list}/{MISSING}")).token(guest).send();
    assert_eq!(gone.expect(404), message("404 Not found"));
}

/// Section 1.1: the singular path.
fn the_old_name_works_for_some_calls(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let (old, developer) = (old_name(&path_of_request(&made)), fixture.token("developer"));
    let call = |method: &str, part: &str, fields: &Value| {
        forge.request(method, &format!("{old}{part}")).token(developer).json(fields).send()
    };
    for part in ["", "/commits", "/changes", "/closes_issues", "/comments"] {
        call("GET", part, &json!({})).expect(200);
    }
    assert_eq!(call("PUT", "", &json!({"title": "u"})).expect(200)["title"], "u");
    assert_eq!(call("POST", "/comments", &json!({"note": "x"})).expect(201)["note"], "x");
    assert_eq!(call("DELETE", "/subscription", &json!({})).expect(200)["subscribed"], false);
    assert_eq!(call("POST", "/subscription", &json!({})).expect(201)["subscribed"], true);
    for method in ["POST", "PUT"] {
        let answer = call(method, "/cancel_merge_when_build_succeeds", &json!({}));
        assert_eq!(answer.expect(406), message("Can't cancel the automatic merge"), "{method}");
    }
    assert_eq!(call("PUT", "/merge", &json!({})).expect(200)["state"], "merged");
    for (method, part, _) in CALLS.iter().filter(|(_, _, has_old_name)| !has_old_name) {
        let answer = call(method, part, &json!({"body": "x"}));
        assert_eq!(answer.expect(404), no_route(), "{method} {part}");
    }
    let list = forge.get(&format!("{}/merge_request", fixture.cast.path)).token(developer).send();
    assert_eq!(list.expect(404), no_route());
}

/// Section 1.1: "the same request asked for under its source project, when that is another one, is 404".
fn a_request_is_not_found_under_its_source(forge: &Forge) {
    let fixture = fixture_with_visibility(forge, "20");
    let (fork, _) = fork_with_topic(forge, &fixture);
    let made = post_from_fork(forge, &fixture, &fork, &json!({})).expect(201);
    let path = format!("{}/merge_requests/{}", path_of_project(&fork), id_of(&made));
    let stranger = fixture.token("stranger");
    for (method, part) in [
        ("GET", ""),
        ("GET", "/commits"),
        ("GET", "/changes"),
        ("GET", "/versions"),
        ("GET", "/closes_issues"),
        ("GET", "/comments"),
        ("GET", "/notes"),
        ("PUT", ""),
        ("PUT", "/merge"),
        ("POST", "/subscription"),
        ("DELETE", "/subscription"),
    ] {
        let call = forge.request(method, &format!("{path}{part}")).token(stranger);
        let answer = call.json(&json!({"title": "x"})).send();
        assert_eq!(answer.expect(404), message("404 Not found"), "{method} {part}");
    }
    assert_eq!(forge.delete(&path).token(stranger).send().expect(403), forbidden());
    let list = forge.get(&format!("{}/merge_requests", path_of_project(&fork))).token(stranger);
    assert_eq!(list.send().expect(200), json!([]), "the list shows requests into the project");
}

/// Section 1.3, row "read".
fn visibility_decides_who_reads(forge: &Forge) {
    let fixture = fixture_with_visibility(forge, "10");
    let made = new_request(forge, &fixture, "feature/x", "t");
    let list = format!("{}/merge_requests", fixture.cast.path);
    let all_read = |who: &str| {
        for part in READS {
            get_part(forge, fixture.token(who), &made, part).expect(200);
        }
        forge.get(&list).token(fixture.token(who)).send().expect(200);
    };
    all_read("stranger");
    let external = get_part(forge, fixture.token("external"), &made, "");
    assert_eq!(external.expect(404), no_project());
    set_switch(forge, &fixture, "visibility_level", "20");
    all_read("stranger");
    all_read("external");
    // An author who is but a guest reads the own request.
    set_switch(forge, &fixture, "visibility_level", "0");
    set_level(forge, &fixture, "developer", "10");
    let author = fixture.token("developer");
    for part in READS {
        get_part(forge, author, &made, part).expect(200);
    }
    assert_eq!(forge.get(&list).token(author).send().expect(403), forbidden());
}

/// Section 15, row "archived".
fn archived_projects_are_read_and_commented(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    archive(forge, &fixture);
    let (path, developer) = (path_of_request(&made), fixture.token("developer"));
    for part in READS {
        get_part(forge, fixture.token("reporter"), &made, part).expect(200);
    }
    let list = format!("{}/merge_requests", fixture.cast.path);
    forge.get(&list).token(developer).send().expect(200);
    write_note(forge, developer, &made, "a note").expect(201);
    let comment = forge.post(&format!("{path}/comments")).token(developer);
    comment.form(&[("note", "a comment")]).send().expect(201);
    for method in ["POST", "DELETE"] {
        let answer = forge.request(method, &format!("{path}/subscription")).token(developer).send();
        assert_eq!(answer.expect(403), forbidden(), "{method}");
    }
    let answer = put_request(forge, ROOT, &made, &json!({"title": "x"}));
    assert_eq!(answer.expect(403), forbidden());
    assert_eq!(forge.delete(&path).token(developer).send().expect(403), forbidden());
    forge.delete(&path).token(fixture.token("owner")).send().expect(200);
}

/// Section 15, row "`merge_requests_enabled` false".
fn switched_off_requests_answer_nobody(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let note = write_note(forge, ROOT, &made, "a note").expect(201);
    set_switch(forge, &fixture, "merge_requests_enabled", "false");
    let path = path_of_request(&made);
    for who in ["developer", "owner", "root"] {
        let token = fixture.token(who);
        for (method, part) in [
            ("GET", ""),
            ("PUT", ""),
            ("GET", "/commits"),
            ("GET", "/changes"),
            ("GET", "/versions"),
            ("GET", "/closes_issues"),
            ("GET", "/comments"),
            ("POST", "/comments"),
            ("POST", "/subscription"),
            ("DELETE", "/subscription"),
        ] {
            let call = forge.request(method, &format!("{path}{part}")).token(token);
            let answer = call.json(&json!({"title": "x", "note": "x"})).send();
            assert_eq!(answer.expect(403), forbidden(), "{who} {method} {part}");
        }
        let one = forge.get(&format!("{path}/notes/{}", id_of(&note))).token(token).send();
        assert_eq!(one.expect(404), message("404 Note Not Found"), "{who}");
        let new = write_note(forge, token, &made, "x");
        assert_eq!(new.expect(404), message("404 Note Not Found"), "{who}");
    }
    let new = commit_file(forge, &fixture, "feature/x", "y", "y");
    do_tasks(forge);
    set_switch(forge, &fixture, "merge_requests_enabled", "true");
    let now = request_now(forge, &made);
    assert_eq!((&now["sha"], &now["title"]), (&json!(new), &json!("t")));
}

/// GET /projects/:id/merge_requests/:merge_request_id/closes_issues: section 14, description and commit messages.
fn closed_issues_come_from_all_texts(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let path = &fixture.cast.path;
    let issues: Vec<Value> =
        (0..6).map(|_| new_issue(forge, ROOT, path, "an issue", &[])).collect();
    update_issue(forge, ROOT, &issues[1], &[("state_event", "close")]);
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "feature/x"]);
    tree.write("y", "y").commit("More\n\nFixes #5");
    forge.fill(fixture.project(), tree);
    let text = "fixes: #1, #2 and #3\nResolves ada/ship#4\n\
                closes http://forge.test/ada/ship/issues/6";
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "master",
        "description": text});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    write_note(forge, ROOT, &made, "Closes #99").expect(201);
    let list = format!("{}/closes_issues", path_of_request(&made));
    let get =
        |query: &str| forge.get(&format!("{list}{query}")).token(fixture.token("reporter")).send();
    let all = get("").expect(200);
    assert_eq!(field_values(&all, "iid"), [1, 2, 3, 4, 5, 6]);
    assert_eq!((&all[0]["state"], &all[1]["state"]), (&json!("opened"), &json!("closed")));
    let shown = forge.get(&format!("{path}/issues")).token(ROOT).send().expect(200);
    assert_eq!(fields_of(&all[0]), fields_of(&shown[0]), "issue objects");
    let page = get("?per_page=1&page=2");
    assert_eq!(page.header("X-Total"), Some("6"));
    assert_eq!(field_values(&page.expect(200), "iid"), [2]);
    set_switch(forge, &fixture, "issues_enabled", "false");
    assert_eq!(get("").expect(200), json!([]));
}

/// GET /projects/:id/merge_requests/:merge_request_id/closes_issues: section 14, issues "the **caller** can see".
fn only_visible_issues_are_listed(forge: &Forge) {
    let fixture = fixture_with_visibility(forge, "20");
    let owner = fixture.token("owner");
    let other = new_project(forge, owner, "other", &[("visibility_level", "20")]);
    let other = path_of_project(&other);
    new_issue(forge, owner, &other, "open", &[]);
    new_issue(forge, owner, &other, "secret", &[("confidential", "true")]);
    new_issue(forge, owner, &fixture.cast.path, "upstream", &[]);
    let text = "Closes ada/other#1, ada/other#2";
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "master",
        "description": text});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    let titles = |who: &str, request: &Value| {
        let path = format!("{}/closes_issues", path_of_request(request));
        let list = forge.get(&path).token(fixture.token(who)).send().expect(200);
        let titles = field_values(&list, "title").into_iter().cloned();
        titles.collect::<Vec<Value>>()
    };
    assert_eq!(titles("owner", &made), ["open", "secret"]);
    assert_eq!(titles("reporter", &made), ["open"]);
    // Not issues of the project the target was forked from.
    let (fork, _) = fork_with_topic(forge, &fixture);
    let path = format!("{}/merge_requests", path_of_project(&fork));
    let fields = json!({"title": "t", "source_branch": "topic", "target_branch": "master",
        "description": "Closes ada/ship#1, ada/other#1"});
    let inside = forge.post(&path).token(fixture.token("stranger")).json(&fields).send();
    assert_eq!(titles("stranger", &inside.expect(201)), ["open"]);
}

/// POST /projects/:id/merge_requests/:merge_request_id/subscription: section 13.
fn who_may_subscribe(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let list = format!("{}/merge_requests", fixture.cast.path);
    let call = |method: &str, who: &str, id: &str| {
        let path = format!("{list}/{id}/subscription");
        forge.request(method, &path).token(fixture.token(who)).send()
    };
    let id = id_of(&made).to_string();
    for method in ["POST", "DELETE"] {
        assert_eq!(call(method, "stranger", &id).expect(404), no_project());
        for wrong in [MISSING.to_string(), "x".to_owned()] {
            let answer = call(method, "developer", &wrong);
            assert_eq!(answer.expect(404), message("404 Not found"), "{method} {wrong}");
        }
        for who in ["guest", "reporter"] {
            assert_eq!(call(method, who, &id).expect(403), forbidden(), "{method} {who}");
        }
    }
    assert_eq!(call("POST", "master", &id).expect(201)["subscribed"], true);
    // Writers of notes and assignees take part.
    write_note(forge, fixture.token("reporter"), &made, "hello").expect(201);
    assert_eq!(request_as(forge, fixture.token("reporter"), &made)["subscribed"], true);
    let guest = user_id(forge, &fixture, "guest");
    put_request(forge, ROOT, &made, &json!({"assignee_id": guest})).expect(200);
    assert_unchanged(&call("POST", "guest", &id));
    assert_eq!(call("DELETE", "guest", &id).expect(200)["subscribed"], false);
    // The author may, whatever the level.
    set_level(forge, &fixture, "developer", "10");
    assert_unchanged(&call("POST", "developer", &id));
    assert_eq!(call("DELETE", "developer", &id).expect(200)["subscribed"], false);
    assert_eq!(call("POST", "developer", &id).expect(201)["subscribed"], true);
}

/// GET /projects/:id/merge_requests: section 3.
fn empty_filters_and_headers(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for number in 0..3 {
        new_request(forge, &fixture, &format!("b{number}"), "t");
    }
    let list = format!("{}/merge_requests", fixture.cast.path);
    let get = |query: &str| forge.get(&format!("{list}?{query}")).token(ROOT).send();
    assert_eq!(get("iid=").expect(200).as_array().map(Vec::len), Some(3));
    for (query, text) in [
        ("iid[]=x", "iid is invalid"),
        ("order_by=", "order_by does not have a valid value"),
        ("sort=", "sort does not have a valid value"),
    ] {
        assert_eq!(get(query).expect(400), error(text), "{query}");
    }
    let page = get("per_page=2&page=1");
    for (name, value) in [
        ("X-Total", "3"),
        ("X-Total-Pages", "2"),
        ("X-Per-Page", "2"),
        ("X-Page", "1"),
        ("X-Next-Page", "2"),
    ] {
        assert_eq!(page.header(name), Some(value), "{name}");
    }
}
