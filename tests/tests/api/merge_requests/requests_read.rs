//! Reading merge requests: merge_requests.md sections 1 and 3.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_support::{new_request, path_of_request, post_request, put_request};
use crate::api::groups::group_support::{error, forbidden, no_project};
use crate::api::projects::project_support::assert_unchanged;
use crate::api::repositories::refs_support::filled_fixture;
use crate::api::support::{MISSING, id_of, message};

on_every_store!(
    lists_are_filtered_and_ordered,
    wrong_filters_are_reported,
    who_may_read,
    wrong_ids_are_reported,
    a_switched_off_project_shows_no_requests,
    authors_subscribe_and_unsubscribe,
    issues_to_be_closed_are_listed,
);

/// GET /projects/:id/merge_requests
fn lists_are_filtered_and_ordered(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let path = format!("{}/merge_requests", fixture.cast.path);
    let mut made = Vec::new();
    for (number, source) in ["a", "b", "c", "d"].into_iter().enumerate() {
        made.push(new_request(forge, &fixture, source, &format!("request {number}")));
        forge.clock.advance(TimeDelta::minutes(1));
    }
    let close = json!({"state_event": "close"});
    put_request(forge, ROOT, &made[1], &close).expect(200);
    put_request(forge, ROOT, &made[2], &close).expect(200);
    forge.clock.advance(TimeDelta::minutes(1));
    put_request(forge, ROOT, &made[2], &json!({"state_event": "reopen"})).expect(200);
    for (query, expected) in [
        ("", vec![4, 3, 2, 1]),
        ("?state=all", vec![4, 3, 2, 1]),
        ("?state=", vec![4, 3, 2, 1]),
        ("?state=opened", vec![4, 3, 1]),
        ("?state=closed", vec![2]),
        ("?state=merged", vec![]),
        ("?sort=asc", vec![1, 2, 3, 4]),
        ("?order_by=updated_at", vec![3, 2, 4, 1]),
        ("?order_by=updated_at&sort=asc", vec![1, 4, 2, 3]),
        ("?iid=3", vec![3]),
        ("?iid[]=3&iid[]=1&iid[]=99", vec![3, 1]),
        ("?iid=2&state=opened", vec![]),
        ("?per_page=2&page=2", vec![2, 1]),
        ("?labels=x&milestone=y&search=z&author_id=7", vec![4, 3, 2, 1]),
    ] {
        let answer = forge.get(&format!("{path}{query}")).token(ROOT).send();
        let list = answer.expect(200);
        let iids = list.as_array().expect("a list").iter().map(|one| one["iid"].as_i64());
        let iids: Vec<i64> = iids.map(|iid| iid.expect("a number")).collect();
        assert_eq!(iids, expected, "{query}");
    }
    let answer = forge.get(&format!("{path}?per_page=3")).token(ROOT).send();
    assert_eq!(answer.header("X-Total"), Some("4"));
}

/// GET /projects/:id/merge_requests
fn wrong_filters_are_reported(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for (query, text) in [
        ("state=reopened", "state does not have a valid value"),
        ("order_by=title", "order_by does not have a valid value"),
        ("sort=up", "sort does not have a valid value"),
        ("iid=x", "iid is invalid"),
    ] {
        let path = format!("{}/merge_requests?{query}", fixture.cast.path);
        assert_eq!(forge.get(&path).token(ROOT).send().expect(400), error(text), "{query}");
    }
}

/// GET /projects/:id/merge_requests, GET /projects/:id/merge_requests/:merge_request_id
fn who_may_read(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "a request");
    let list = format!("{}/merge_requests", fixture.cast.path);
    let one = path_of_request(&made);
    for path in [list.clone(), one.clone()] {
        assert_eq!(forge.get(&path).send().expect(401), message("401 Unauthorized"));
    }
    let mut calls = vec![list.clone(), one.clone()];
    for part in ["commits", "changes", "versions", "closes_issues", "comments"] {
        calls.push(format!("{one}/{part}"));
    }
    for path in &calls {
        for (who, status, body) in [("stranger", 404, no_project()), ("guest", 403, forbidden())] {
            let answer = forge.get(path).token(fixture.token(who)).send();
            assert_eq!(answer.expect(status), body, "{who} {path}");
        }
        for who in ["reporter", "developer", "master", "owner", "root"] {
            forge.get(path).token(fixture.token(who)).send().expect(200);
        }
    }
    // Who is assigned reads the own request, but not the list.
    let guest = id_of(&forge.get("/user").token(fixture.token("guest")).send().expect(200));
    put_request(forge, ROOT, &made, &json!({"assignee_id": guest})).expect(200);
    forge.get(&one).token(fixture.token("guest")).send().expect(200);
    forge.get(&list).token(fixture.token("guest")).send().expect(403);
    forge
        .put(&fixture.cast.path)
        .token(ROOT)
        .form(&[("name", "Ship"), ("visibility_level", "20")])
        .send()
        .expect(200);
    forge.get(&list).token(fixture.token("stranger")).send().expect(200);
}

/// GET /projects/:id/merge_requests/:merge_request_id
fn wrong_ids_are_reported(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "a request");
    let path = format!("{}/merge_requests", fixture.cast.path);
    let wrong = error("merge_request_id is invalid");
    let get = |path: &str| forge.get(path).token(ROOT).send();
    assert_eq!(get(&format!("{path}/x")).expect(400), wrong);
    assert_eq!(get(&format!("{path}/x/commits")).expect(400), wrong);
    assert_eq!(get(&format!("{path}/{MISSING}")).expect(404), message("404 Not found"));
    let versions = format!("{}/versions", path_of_request(&made));
    assert_eq!(get(&format!("{versions}/x")).expect(400), error("version_id is invalid"));
    assert_eq!(get(&format!("{versions}/{MISSING}")).expect(404), message("404 Not found"));
    let empty = put_request(forge, ROOT, &made, &json!({})).expect(400);
    let text = "title, target_branch, description, assignee_id, milestone_id, labels, state_event \
                are missing, at least one parameter must be provided";
    assert_eq!(empty, error(text));
    for part in ["versions", "notes"] {
        let old =
            format!("{}/{part}", path_of_request(&made)).replace("merge_requests", "merge_request");
        get(&old).expect(404);
    }
}

/// Section 15.
fn a_switched_off_project_shows_no_requests(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "a request");
    let (list, one) = (format!("{}/merge_requests", fixture.cast.path), path_of_request(&made));
    let form = [("name", "Ship"), ("merge_requests_enabled", "false")];
    forge.put(&fixture.cast.path).token(ROOT).form(&form).send().expect(200);
    for path in [&list, &one] {
        assert_eq!(forge.get(path).token(ROOT).send().expect(403), forbidden());
    }
    let notes = forge.get(&format!("{one}/notes")).token(ROOT).send();
    assert_eq!(notes.expect(404), message("404 Notes Not Found"));
    let unauthorized = message("401 Unauthorized");
    let merge = forge.put(&format!("{one}/merge")).token(ROOT).send();
    assert_eq!(merge.expect(401), unauthorized);
    let cancel = format!("{one}/cancel_merge_when_build_succeeds");
    assert_eq!(forge.post(&cancel).token(ROOT).send().expect(401), unauthorized);
    forge.delete(&one).token(fixture.token("owner")).send().expect(200);
}

/// POST /projects/:id/merge_requests/:merge_request_id/subscription,
/// DELETE /projects/:id/merge_requests/:merge_request_id/subscription: section 13.
fn authors_subscribe_and_unsubscribe(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "a request");
    let path = format!("{}/subscription", path_of_request(&made));
    let token = fixture.token("developer");
    assert_eq!(made["subscribed"], true);
    assert_unchanged(&forge.post(&path).token(token).send());
    assert_eq!(forge.delete(&path).token(token).send().expect(200)["subscribed"], false);
    assert_unchanged(&forge.delete(&path).token(token).send());
    let note = format!("{}/notes", path_of_request(&made));
    forge.post(&note).token(token).form(&[("body", "hello")]).send().expect(201);
    let shown = forge.get(&path_of_request(&made)).token(token).send().expect(200);
    assert_eq!(shown["subscribed"], false);
    assert_eq!(forge.post(&path).token(token).send().expect(201)["subscribed"], true);
    let answer = forge.post(&path).token(fixture.token("reporter")).send();
    assert_eq!(answer.expect(403), forbidden());
    let text = format!("{}/merge_requests/x/subscription", fixture.cast.path);
    assert_eq!(forge.post(&text).token(token).send().expect(404), message("404 Not found"));
}

/// GET /projects/:id/merge_requests/:merge_request_id/closes_issues: section 14.
fn issues_to_be_closed_are_listed(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let project = &fixture.cast.path;
    for title in ["one", "two", "three"] {
        let form = [("title", title)];
        forge.post(&format!("{project}/issues")).token(ROOT).form(&form).send().expect(201);
    }
    let fields = json!({"title": "Fixes #3", "source_branch": "feature/x",
        "target_branch": "master", "description": "Closes #2, #1 and #99"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    let path = format!("{}/closes_issues", path_of_request(&made));
    let closed = forge.get(&path).token(fixture.token("reporter")).send().expect(200);
    let iids: Vec<&Value> =
        closed.as_array().expect("a list").iter().map(|one| &one["iid"]).collect();
    assert_eq!(iids, [&json!(1), &json!(2)]);
    put_request(forge, ROOT, &made, &json!({"target_branch": "feature/y"})).expect(200);
    let closed = forge.get(&path).token(ROOT).send().expect(200);
    assert_eq!(closed, json!([]), "it is not the default branch");
}
