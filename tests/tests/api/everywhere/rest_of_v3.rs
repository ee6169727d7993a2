//! Rows of rest_of_v3.md that the tests of the single resources do not name.

use hexforge_domain::award::Awardable;
use hexforge_domain::id::SnippetId;
use hexforge_domain::paging::Page;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Request, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::ci_support::{ci_fixture, push};
use crate::api::ci::runner_support::{CiProject, TWO_STAGES, shared_runner};
use crate::api::groups::group_support::{
    add_member, forbidden, new_group, new_project, path_of_group, path_of_project, project_in,
    share,
};
use crate::api::merge_requests::requests_support::{new_request, path_of_request, put_request};
use crate::api::projects::project_support::{a_cast, assert_unchanged};
use crate::api::repositories::refs_support::filled_fixture;
use crate::api::support::{
    MISSING, assert_only_for_users, id_of, ids, message, no_route, read_store,
};
use crate::api::tracker::todo_support::todos_with;
use crate::api::tracker::tracker_support::{new_issue, path_of_issue};

on_every_store!(
    the_team_of_a_snippet_includes_groups_and_shares,
    snippets_of_projects_and_users_have_one_sequence,
    awards_go_with_their_snippet,
    subscriptions_need_the_right_to_change_the_request,
    awards_of_snippets_are_for_users,
    every_action_is_a_filter_of_todos,
    masters_of_a_group_access_its_runners_and_shares_do_not_count,
    a_runner_shows_its_last_contact,
    deployments_have_pages_and_triggers_no_user,
    three_licences_are_popular,
    every_licence_has_all_of_its_fields,
    calls_that_are_left_out_are_not_served,
    calls_of_later_releases_are_not_served,
);

/// Creates a snippet of a project.
#[track_caller]
fn new_snippet(forge: &Forge, token: &str, project: &str, level: &str) -> i64 {
    let form = [("title", "t"), ("file_name", "f"), ("code", "c"), ("visibility_level", level)];
    let made = forge.post(&format!("{project}/snippets")).token(token).form(&form).send();
    id_of(&made.expect(201))
}

/// 2.2: "Level 0 is for the project's team (any level from guest, through groups and shares too) and administrators."
/// GET /projects/:id/snippets, GET /projects/:id/snippets/:snippet_id
fn the_team_of_a_snippet_includes_groups_and_shares(forge: &Forge) {
    let (of_group, by_group) = forge.user("of-group");
    let (of_share, by_share) = forge.user("of-share");
    let (_, stranger) = forge.user("stranger");
    let group = new_group(forge, ROOT, "crew", &[]);
    let fields = [("snippets_enabled", "true"), ("visibility_level", "20")];
    let shown = project_in(forge, &group, "Ship", &fields);
    let guests = new_group(forge, ROOT, "guests", &[]);
    add_member(forge, &path_of_group(&group), of_group, 10, &[]);
    add_member(forge, &path_of_group(&guests), of_share, 50, &[]);
    share(forge, &shown, &guests, "10");
    let project = path_of_project(&shown);
    let snippet = new_snippet(forge, ROOT, &project, "0");
    let (list, one) = (format!("{project}/snippets"), format!("{project}/snippets/{snippet}"));
    for token in [&by_group, &by_share] {
        assert_eq!(ids(&forge.get(&list).token(token).send().expect(200)), [snippet]);
        forge.get(&one).token(token).send().expect(200);
    }
    assert_eq!(forge.get(&list).token(&stranger).send().expect(200), json!([]));
    let hidden = forge.get(&one).token(&stranger).send().expect(404);
    assert_eq!(hidden, message("404 Not found"));
}

/// 2.1: "one sequence for the whole service". POST /projects/:id/snippets, POST /snippets
fn snippets_of_projects_and_users_have_one_sequence(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let on = [("snippets_enabled", "true")];
    let [one, two] =
        ["One", "Two"].map(|name| path_of_project(&new_project(forge, &ada, name, &on)));
    let form = [("title", "t"), ("file_name", "f"), ("content", "c")];
    let first = new_snippet(forge, &ada, &one, "0");
    let personal = id_of(&forge.post("/snippets").token(&ada).form(&form).send().expect(201));
    let second = new_snippet(forge, &ada, &two, "0");
    assert!(first < personal && personal < second, "{first} {personal} {second}");
}

/// 2.3: "notes and awards go with the snippet". DELETE /projects/:id/snippets/:snippet_id
fn awards_go_with_their_snippet(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let on = [("snippets_enabled", "true")];
    let project = path_of_project(&new_project(forge, &ada, "Ship", &on));
    let id = new_snippet(forge, &ada, &project, "0");
    let path = format!("{project}/snippets/{id}");
    let awards = format!("{path}/award_emoji");
    let given = forge.post(&awards).token(&ada).form(&[("name", "tada")]).send().expect(201);
    let stored = || {
        let on = Awardable::Snippet(SnippetId(id));
        read_store(forge, |tx| tx.awards().list(on, Page::Whole)).total
    };
    assert_eq!(stored(), 1);
    forge.delete(&path).token(&ada).send().expect(200);
    assert_eq!(stored(), 0);
    for path in [awards.clone(), format!("{awards}/{}", id_of(&given))] {
        let gone = forge.get(&path).token(&ada).send().expect(404);
        assert_eq!(gone, message("404 Not found"), "{path}");
    }
}

/// 3.4: "author, assignee, developer+: 403 otherwise; 404 `404 Not found`", both names of the path.
/// POST /projects/:id/merge_requests/:merge_request_id/subscription,
/// DELETE /projects/:id/merge_requests/:merge_request_id/subscription
fn subscriptions_need_the_right_to_change_the_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "a request");
    let reporter = fixture.token("reporter");
    let me = id_of(&forge.get("/user").token(reporter).send().expect(200));
    let paths = ["merge_requests", "merge_request"]
        .map(|name| format!("{}/{name}/{}/subscription", fixture.cast.path, id_of(&made)));
    assert_only_for_users(
        forge,
        &[("POST", paths[0].clone()), ("DELETE", paths[0].clone()), ("POST", paths[1].clone())],
    );
    for path in &paths {
        for who in ["guest", "reporter"] {
            for method in ["POST", "DELETE"] {
                let refused = forge.request(method, path).token(fixture.token(who)).send();
                assert_eq!(refused.expect(403), forbidden(), "{who} {method} {path}");
            }
        }
        for who in ["master", "owner", "root"] {
            let token = fixture.token(who);
            let subscribed = forge.post(path).token(token).send().expect(201);
            assert_eq!((&subscribed["id"], &subscribed["subscribed"]), (&made["id"], &json!(true)));
            assert_unchanged(&forge.post(path).token(token).send());
            let left = forge.delete(path).token(token).send().expect(200);
            assert_eq!(left["subscribed"], false, "{who}");
            assert_unchanged(&forge.delete(path).token(token).send());
        }
    }
    put_request(forge, ROOT, &made, &json!({"assignee_id": me})).expect(200);
    // The assignee participates, so the subscription exists.
    assert_unchanged(&forge.post(&paths[0]).token(reporter).send());
    let left = forge.delete(&paths[1]).token(reporter).send().expect(200);
    assert_eq!(left["subscribed"], false);
    for name in ["merge_requests", "merge_request"] {
        let path = format!("{}/{name}/{MISSING}/subscription", fixture.cast.path);
        let missing = forge.post(&path).token(ROOT).send().expect(404);
        assert_eq!(missing, message("404 Not found"), "{path}");
    }
    forge.get(&path_of_request(&made)).token(ROOT).send().expect(200);
}

/// 1.1 for the awards of snippets (5).
fn awards_of_snippets_are_for_users(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let mut calls = Vec::new();
    for target in ["snippets/1", "snippets/1/notes/1"] {
        let list = format!("{}/{target}/award_emoji", cast.path);
        calls.extend(["GET", "POST"].map(|method| (method, list.clone())));
        calls.extend(["GET", "DELETE"].map(|method| (method, format!("{list}/1"))));
    }
    assert_only_for_users(forge, &calls);
}

/// 6.3: "1 assigned, 2 mentioned, 3 build_failed, 4 marked". GET /todos
fn every_action_is_a_filter_of_todos(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (owner, guest) = (cast.token("owner"), cast.token("guest"));
    let me = id_of(&forge.get("/user").token(guest).send().expect(200)).to_string();
    new_issue(forge, owner, &cast.path, "one", &[("assignee_id", &me)]);
    new_issue(forge, owner, &cast.path, "two", &[("description", "@guest")]);
    let third = new_issue(forge, owner, &cast.path, "three", &[]);
    forge.post(&format!("{}/todo", path_of_issue(&third))).token(guest).send().expect(201);
    for (number, name, count) in
        [(1, "assigned", 1), (2, "mentioned", 1), (3, "build_failed", 0), (4, "marked", 1)]
    {
        for query in [format!("&action_id={number}"), format!("&action={name}")] {
            let found = todos_with(forge, guest, &query);
            let found = found.as_array().expect("a list");
            assert_eq!(found.len(), count, "{query}");
            assert!(found.iter().all(|todo| todo["action_name"] == name), "{query}");
        }
    }
}

/// 9.1: "master or owner (40, 50, by project or by group)", "Membership through shares does not count."
/// GET /runners, GET /runners/:id, PUT /runners/:id, DELETE /runners/:id
fn masters_of_a_group_access_its_runners_and_shares_do_not_count(forge: &Forge) {
    let group = new_group(forge, ROOT, "crew", &[]);
    let shown = project_in(forge, &group, "Ship", &[]);
    let token = shown["runners_token"].as_str().expect("administrators see it").to_owned();
    let runner = hexforge_tests::Runner::register(forge.address, &token, &[]);
    let others = new_group(forge, ROOT, "others", &[]);
    share(forge, &shown, &others, "40");
    let path = format!("/runners/{}", runner.id);
    let change = |token: &str| forge.put(&path).token(token).form(&[("description", "d")]).send();
    for (name, source, level, may) in [
        ("group-owner", &group, 50, true),
        ("group-master", &group, 40, true),
        ("group-developer", &group, 30, false),
        ("shared-owner", &others, 50, false),
    ] {
        let (user, token) = forge.user(name);
        add_member(forge, &path_of_group(source), user, level, &[]);
        let listed = ids(&forge.get("/runners").token(&token).send().expect(200));
        let (read, changed) = (forge.get(&path).token(&token).send(), change(&token));
        if may {
            assert_eq!(listed, [runner.id], "{name}");
            read.expect(200);
            changed.expect(200);
            continue;
        }
        assert!(listed.is_empty(), "{name}");
        let refused = message("403 Forbidden  - No access granted");
        let gone = forge.delete(&path).token(&token).send();
        for answer in [read, changed, gone] {
            assert_eq!(answer.expect(403), refused, "{name}");
        }
    }
}

/// 9.1: "`contacted_at` (nullable timestamp)". GET /runners/:id
fn a_runner_shows_its_last_contact(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let runner = ship.runner(&[]);
    let contacted = || {
        let path = format!("/runners/{}", runner.id);
        forge.get(&path).token(&ship.owner).send().expect(200)["contacted_at"].clone()
    };
    assert_eq!(contacted(), Value::Null);
    runner.take();
    assert_eq!(contacted(), "2016-09-22T10:30:00.000Z");
}

/// 1.4, 11: "paged; by id ascending", "`user` (summary or null)". GET /projects/:id/deployments
fn deployments_have_pages_and_triggers_no_user(forge: &Forge) {
    let fixture = ci_fixture(forge, "deploy: {script: ship, environment: production}");
    let runner = shared_runner(forge, &[]);
    let list = format!("{}/deployments", fixture.cast.path);
    let reporter = fixture.token("reporter");
    for number in 0..5 {
        push(forge, &fixture, &format!("topic-{number}"));
        runner.end(&runner.take().expect("a build is waiting"), "success");
    }
    let all = ids(&forge.get(&list).token(reporter).send().expect(200));
    assert_eq!(all.len(), 5);
    assert!(all.is_sorted(), "{all:?}");
    for (page, expected) in [(1, &all[..2]), (2, &all[2..4]), (3, &all[4..]), (4, &[])] {
        let query = format!("{list}?per_page=2&page={page}");
        let answer = forge.get(&query).token(reporter).send();
        assert_eq!(ids(&answer.expect(200)), expected, "{page}");
        assert_eq!(answer.header("X-Total"), Some("5"));
    }
    let triggers = format!("{}/triggers", fixture.cast.path);
    let trigger = forge.post(&triggers).token(fixture.token("master")).send().expect(201);
    let token = trigger["token"].as_str().expect("a token");
    let form = [("token", token), ("ref", "master")];
    let start = format!("{}/trigger/builds", fixture.cast.path);
    forge.post(&start).form(&form).send().expect(201);
    runner.end(&runner.take().expect("a build is waiting"), "success");
    let last = forge.get(&format!("{list}?page=6&per_page=1")).token(reporter).send().expect(200);
    assert_eq!((&last[0]["iid"], &last[0]["user"]), (&json!(6), &Value::Null));
    assert_eq!(last[0]["ref"], "master");
}

/// 12: "only popular ones (mit, apache-2.0, gpl-3.0)", "by `key`". GET /templates/licenses, GET /licenses
fn three_licences_are_popular(forge: &Forge) {
    for path in ["/templates/licenses?popular=true", "/licenses?popular=1"] {
        let list = forge.get(path).send().expect(200);
        let shown: Vec<(&str, bool)> = (list.as_array().expect("a list").iter())
            .map(|one| (one["key"].as_str().expect("a key"), one["popular"] == true))
            .collect();
        assert_eq!(shown, [("apache-2.0", true), ("gpl-3.0", true), ("mit", true)], "{path}");
    }
}

/// 12: the fields of a licence. GET /templates/licenses, GET /templates/licenses/:name
fn every_licence_has_all_of_its_fields(forge: &Forge) {
    let list = forge.get("/templates/licenses").send().expect(200);
    for licence in list.as_array().expect("a list") {
        let key = licence["key"].as_str().expect("a key");
        let url = format!("http://choosealicense.com/licenses/{key}/");
        assert_eq!(licence["html_url"], url);
        for field in ["name", "source_url", "description", "content"] {
            assert!(licence[field].as_str().is_some_and(|text| !text.is_empty()), "{key} {field}");
        }
        for field in ["conditions", "permissions", "limitations"] {
            let words = licence[field].as_array().expect("a list");
            assert!(words.iter().all(Value::is_string), "{key} {field}");
        }
        let nickname = &licence["nickname"];
        assert!(nickname.is_null() || nickname.is_string(), "{key}");
        let popular = ["mit", "apache-2.0", "gpl-3.0"].contains(&key);
        assert_eq!(licence["popular"], popular, "{key}");
        let one = forge.get(&format!("/templates/licenses/{key}")).send().expect(200);
        let mut unfilled = one.clone();
        unfilled["content"] = licence["content"].clone();
        assert_eq!(unfilled, *licence, "{key}");
    }
}

/// 17 and 14.2: the 14 calls that are left out.
fn calls_that_are_left_out_are_not_served(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let trigger = format!("/api/v3{}", ship.path("/services/mattermost_slash_commands/trigger"));
    for (method, path) in [
        ("POST", "/api/v3/internal/allowed"),
        ("GET", "/api/v3/internal/merge_request_urls"),
        ("GET", "/api/v3/internal/discover"),
        ("GET", "/api/v3/internal/check"),
        ("GET", "/api/v3/internal/broadcast_message"),
        ("POST", "/api/v3/internal/two_factor_recovery_codes"),
        ("POST", "/api/v3/internal/lfs_authenticate"),
        ("GET", "/api/v3/sidekiq/queue_metrics"),
        ("GET", "/api/v3/sidekiq/process_metrics"),
        ("GET", "/api/v3/sidekiq/job_stats"),
        ("GET", "/api/v3/sidekiq/compound_metrics"),
        ("POST", "/ci/api/v1/builds/1/artifacts/authorize"),
        ("POST", "/ci/api/v1/projects/1/refs/master/trigger"),
        ("POST", &trigger),
    ] {
        for token in [None, Some(ROOT)] {
            let request = Request::new(forge.address, method, path);
            let request = match token {
                Some(token) => request.token(token),
                None => request,
            };
            let answer = request.form(&[("token", "x")]).send();
            assert_eq!(answer.status, 404, "{method} {path}");
        }
    }
}

/// 12 and 17: Dockerfile templates, and what has "no call in this release".
fn calls_of_later_releases_are_not_served(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let of_project = ["/import", "/issues/1/time_stats", "/merge_requests/1/time_stats", "/badges"];
    let of_project = of_project.map(|rest| ship.path(rest));
    let others = [
        "/templates/dockerfiles",
        "/dockerfiles",
        "/personal_access_tokens",
        "/users/1/impersonation_tokens",
        "/groups/1/milestones",
    ];
    for path in of_project.iter().map(String::as_str).chain(others) {
        for method in ["GET", "POST"] {
            let answer = forge.request(method, path).token(ROOT).send();
            assert_eq!(answer.expect(404), no_route(), "{method} {path}");
        }
    }
}
