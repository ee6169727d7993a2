//! Merge requests in the original dialect: nothing differs.

use hexforge_tests::forge::ROOT;
use serde_json::{Value, json};

use super::requests_fixtures::write_note;
use super::requests_support::{
    commit_file, merge, new_request, path_of_request, post_request, put_request, request_as,
};
use crate::api::groups::group_support::{error, forbidden, in_the_original};
use crate::api::projects::project_support::assert_unchanged;
use crate::api::repositories::refs_support::{do_tasks, filled_fixture};
use crate::api::support::{id_of, message};
use crate::api::tracker::tracker_support::user_summary;

/// All calls of merge_requests.md section 1.1.
#[test]
fn merge_requests_in_the_original() {
    in_the_original(|forge| {
        let fixture = filled_fixture(forge);
        let developer = fixture.token("developer");
        let made = new_request(forge, &fixture, "feature/x", "t");
        let path = path_of_request(&made);
        let call = |method: &str, part: &str, fields: &Value| {
            forge.request(method, &format!("{path}{part}")).token(developer).json(fields).send()
        };
        let get = |part: &str| call("GET", part, &json!({})).expect(200);
        assert_eq!(get(""), made);
        assert_eq!(
            (&made["state"], &made["sha"]),
            (&json!("opened"), &json!(fixture.id("feature/x")))
        );
        let missing = "title is missing, source_branch is missing, target_branch is missing";
        let refused = post_request(forge, &fixture, "developer", &json!({}));
        assert_eq!(refused.expect(400), error(missing));
        // Without `page` the list has its headers too.
        let list = forge.get(&format!("{}/merge_requests", fixture.cast.path)).token(developer);
        let list = list.send();
        assert_eq!((list.header("X-Total"), list.header("X-Page")), (Some("1"), Some("1")));
        assert_eq!(list.expect(200), json!([made]));
        let changed = put_request(forge, developer, &made, &json!({"title": "u"})).expect(200);
        assert_eq!(changed["title"], "u");
        assert_eq!(get("/commits")[0]["id"], made["sha"]);
        assert_eq!(get("/changes")["changes"][0]["new_path"], "x");
        let version = &get("/versions")[0];
        assert_eq!((&version["real_size"], &version["state"]), (&json!("1"), &json!("collected")));
        let version = get(&format!("/versions/{}", id_of(version)));
        assert_eq!(version["diffs"][0]["new_path"], "x");
        assert_eq!(get("/closes_issues"), json!([]));
        let comment = call("POST", "/comments", &json!({"note": "Hello"})).expect(201);
        let author = user_summary(forge, id_of(&made["author"]));
        assert_eq!(comment, json!({"note": "Hello", "author": author}));
        let note = write_note(forge, developer, &made, "a note").expect(201);
        assert_eq!(note["noteable_type"], "MergeRequest");
        let one = format!("/notes/{}", id_of(&note));
        assert_eq!(get(&one), note);
        assert_eq!(call("PUT", &one, &json!({"body": "b"})).expect(200)["body"], "b");
        call("DELETE", &one, &json!({})).expect(200);
        assert_unchanged(&call("POST", "/subscription", &json!({})));
        assert_eq!(call("DELETE", "/subscription", &json!({})).expect(200)["subscribed"], false);
        assert_eq!(call("POST", "/subscription", &json!({})).expect(201)["subscribed"], true);
        let cancel = call("POST", "/cancel_merge_when_build_succeeds", &json!({}));
        assert_eq!(cancel.expect(406), message("Can't cancel the automatic merge"));
        let new = commit_file(forge, &fixture, "feature/x", "y", "y");
        do_tasks(forge);
        assert_eq!(request_as(forge, developer, &made)["sha"], new);
        let refused = merge(forge, fixture.token("reporter"), &made, &json!({}));
        assert_eq!(refused.expect(401), message("401 Unauthorized"));
        let wrong = merge(forge, developer, &made, &json!({"sha": "x"}));
        let text = format!("SHA does not match HEAD of source branch: {new}");
        assert_eq!(wrong.expect(409), message(&text));
        let merged = merge(forge, developer, &made, &json!({})).expect(200);
        assert_eq!(merged["state"], "merged");
        assert_eq!(
            merge(forge, developer, &made, &json!({})).expect(405),
            message("405 Method Not Allowed")
        );
        assert_eq!(call("DELETE", "", &json!({})).expect(403), forbidden());
        let removed = forge.delete(&path).token(ROOT).send().expect(200);
        assert_eq!((&removed["id"], &removed["state"]), (&made["id"], &json!("merged")));
        assert_eq!(call("GET", "", &json!({})).expect(404), message("404 Not found"));
    });
}
