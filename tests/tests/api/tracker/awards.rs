//! Awards of issues, merge requests, snippets and the notes on them: rest_of_v3.md section 5, merge_requests.md section 13.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Response, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{error, no_project};
use crate::api::merge_requests::requests_support::{new_request, path_of_request, request_as};
use crate::api::projects::project_support::a_cast;
use crate::api::repositories::refs_support::{ProjectFixture, filled_fixture};
use crate::api::support::{MISSING, assert_only_for_users, id_of, ids, message, queued_events};
use crate::api::tracker::tracker_support::{
    issue_now, new_issue, path_of_issue, update_issue, user_summary,
};

on_every_store!(
    an_award_is_given_shown_and_taken_back,
    awards_are_listed_oldest_first,
    each_refusal_has_its_text,
    awards_belong_to_their_target,
    only_givers_and_administrators_take_awards_back,
    readers_may_award,
    hidden_targets_have_no_awards,
    system_notes_are_not_awarded,
    votes_and_subscriptions_follow_awards,
    awards_cause_nothing_else,
    only_users_use_awards,
    aliases_are_replaced_by_main_names,
);

/// What can be awarded: its path, and the values that an award shows of it.
struct Target {
    path: String,
    id: i64,
    kind: &'static str,
}

/// An issue, a merge request and a snippet of the developer, each with a note of the developer.
fn targets(forge: &Forge, fixture: &ProjectFixture) -> Vec<Target> {
    let developer = fixture.token("developer");
    let issue = new_issue(forge, developer, &fixture.cast.path, "an issue", &[]);
    let request = new_request(forge, fixture, "feature/x", "a request");
    let project = forge.get(&fixture.cast.path).token(ROOT).send().expect(200);
    let on = [("name", project["name"].as_str().expect("a name")), ("snippets_enabled", "true")];
    forge.put(&fixture.cast.path).token(ROOT).form(&on).send().expect(200);
    let snippets = format!("{}/snippets", fixture.cast.path);
    let form = [("title", "t"), ("file_name", "f"), ("code", "c"), ("visibility_level", "0")];
    let snippet = forge.post(&snippets).token(developer).form(&form).send().expect(201);
    let snippet_path = format!("{snippets}/{}", id_of(&snippet));
    let things = [
        Target { path: path_of_issue(&issue), id: id_of(&issue), kind: "Issue" },
        Target { path: path_of_request(&request), id: id_of(&request), kind: "MergeRequest" },
        Target { path: snippet_path, id: id_of(&snippet), kind: "Snippet" },
    ];
    let mut all = Vec::new();
    for thing in things {
        let notes = format!("{}/notes", thing.path);
        let note = forge.post(&notes).token(developer).form(&[("body", "a note")]).send();
        let id = id_of(&note.expect(201));
        all.extend([thing, Target { path: format!("{notes}/{id}"), id, kind: "Note" }]);
    }
    all
}

fn give(forge: &Forge, token: &str, target: &str, name: &str) -> Response {
    let path = format!("{target}/award_emoji");
    forge.post(&path).token(token).form(&[("name", name)]).send()
}

fn award_path(target: &str, award: &Value) -> String {
    format!("{target}/award_emoji/{}", id_of(award))
}

/// POST /projects/:id/issues/:issue_id/award_emoji,
/// GET /projects/:id/issues/:issue_id/award_emoji/:award_id,
/// DELETE /projects/:id/issues/:issue_id/award_emoji/:award_id,
/// POST /projects/:id/issues/:noteable_id/notes/:note_id/award_emoji,
/// GET /projects/:id/issues/:noteable_id/notes/:note_id/award_emoji/:award_id,
/// DELETE /projects/:id/issues/:noteable_id/notes/:note_id/award_emoji/:award_id,
/// POST /projects/:id/merge_requests/:merge_request_id/award_emoji,
/// GET /projects/:id/merge_requests/:merge_request_id/award_emoji/:award_id,
/// DELETE /projects/:id/merge_requests/:merge_request_id/award_emoji/:award_id,
/// POST /projects/:id/merge_requests/:noteable_id/notes/:note_id/award_emoji,
/// GET /projects/:id/merge_requests/:noteable_id/notes/:note_id/award_emoji/:award_id,
/// DELETE /projects/:id/merge_requests/:noteable_id/notes/:note_id/award_emoji/:award_id
fn an_award_is_given_shown_and_taken_back(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let targets = targets(forge, &fixture);
    forge.clock.advance(TimeDelta::seconds(5));
    let reporter = fixture.token("reporter");
    let user = id_of(&forge.get("/user").token(reporter).send().expect(200));
    let now = "2016-09-22T10:30:05.000Z";
    for Target { path, id, kind } in &targets {
        let award = give(forge, reporter, path, "+1").expect(201);
        let expected = json!({
            "id": id_of(&award), "name": "thumbsup", "user": user_summary(forge, user),
            "created_at": now, "updated_at": now, "awardable_id": id, "awardable_type": kind
        });
        assert_eq!(award.to_string(), expected.to_string());
        let one = award_path(path, &award);
        assert_eq!(forge.get(&one).token(reporter).send().expect(200), expected);
        let list = forge.get(&format!("{path}/award_emoji")).token(reporter).send().expect(200);
        assert_eq!(list, json!([expected]));
        assert_eq!(forge.delete(&one).token(reporter).send().expect(200), expected);
        for answer in [forge.get(&one).token(reporter), forge.delete(&one).token(reporter)] {
            assert_eq!(answer.send().expect(404), message("404 Not found"));
        }
        give(forge, reporter, path, "thumbsup").expect(201);
    }
}

/// GET /projects/:id/issues/:issue_id/award_emoji,
/// GET /projects/:id/issues/:noteable_id/notes/:note_id/award_emoji,
/// GET /projects/:id/merge_requests/:merge_request_id/award_emoji,
/// GET /projects/:id/merge_requests/:noteable_id/notes/:note_id/award_emoji
fn awards_are_listed_oldest_first(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for Target { path, .. } in targets(forge, &fixture) {
        let given: Vec<i64> = [
            ("reporter", "tada"),
            ("developer", "tada"),
            ("reporter", "heart"),
            ("master", "archery"),
            ("developer", "8ball"),
        ]
        .map(|(who, name)| id_of(&give(forge, fixture.token(who), &path, name).expect(201)))
        .into();
        let list = format!("{path}/award_emoji");
        let whole = forge.get(&list).token(ROOT).send();
        assert_eq!(ids(&whole.expect(200)), given);
        assert_eq!(whole.header("X-Total"), Some("5"));
        assert_eq!(whole.expect(200)[3]["name"], "bow_and_arrow");
        let page = forge.get(&format!("{list}?per_page=2&page=2")).token(ROOT).send();
        assert_eq!(ids(&page.expect(200)), given[2..4]);
    }
}

/// POST /projects/:id/issues/:issue_id/award_emoji and its twins, in the order of the checks.
fn each_refusal_has_its_text(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (reporter, developer) = (fixture.token("reporter"), fixture.token("developer"));
    let all = targets(forge, &fixture);
    for Target { path, .. } in &all {
        let refused = |token: &str, name: &str| give(forge, token, path, name).expect(404);
        give(forge, reporter, path, "+1").expect(201);
        let about = |problem: &str| message(&format!("404 Award Emoji {problem}Not Found"));
        let taken = about("{:name=>[\"has already been taken\"]} ");
        assert_eq!(refused(reporter, "+1"), taken);
        assert_eq!(refused(reporter, "thumbsup"), taken);
        let unknown = about("{:name=>[\"is not included in the list\"]} ");
        for name in ["nothing", ":tada:", "Tada", "tada "] {
            assert_eq!(refused(reporter, name), unknown, "{name}");
        }
        let blank = about("{:name=>[\"can't be blank\", \"is not included in the list\"]} ");
        assert_eq!(refused(reporter, ""), blank);
        for vote in ["thumbsup", "thumbsdown", "+1", "-1"] {
            assert_eq!(refused(developer, vote), about(""), "{vote}");
        }
        give(forge, developer, path, "tada").expect(201);
        give(forge, reporter, path, "tada").expect(201);
        let missing = forge.post(&format!("{path}/award_emoji")).token(reporter).send();
        assert_eq!(missing.expect(400), error("name is missing"));
    }
    for (path, answer) in [
        ("/projects/987654/issues/1/award_emoji".to_owned(), no_project()),
        (format!("{}/issues/{MISSING}/award_emoji", fixture.cast.path), message("404 Not found")),
        (
            format!("{}/merge_requests/{MISSING}/award_emoji", fixture.cast.path),
            message("404 Not found"),
        ),
        (format!("{}/notes/{MISSING}/award_emoji", all[0].path), message("404 Not found")),
        (format!("{}/notes/{MISSING}/award_emoji", all[2].path), message("404 Not found")),
    ] {
        assert_eq!(forge.get(&path).token(ROOT).send().expect(404), answer, "{path}");
        let given = forge.post(&path).token(ROOT).form(&[("name", "tada")]).send();
        assert_eq!(given.expect(404), answer, "{path}");
        let nameless = forge.post(&path).token(ROOT).send();
        assert_eq!(nameless.expect(400), error("name is missing"), "{path}");
    }
    let project = &fixture.cast.path;
    for (path, name) in [
        (format!("{project}/issues/x/award_emoji"), "issue_id"),
        (format!("{project}/merge_requests/x/award_emoji"), "merge_request_id"),
        (format!("{project}/issues/x/notes/1/award_emoji"), "noteable_id"),
        (format!("{}/notes/x/award_emoji", all[0].path), "note_id"),
        (format!("{}/award_emoji/x", all[0].path), "award_id"),
    ] {
        let answer = forge.get(&path).token(ROOT).send().expect(400);
        assert_eq!(answer, error(&format!("{name} is invalid")), "{path}");
    }
}

/// GET /projects/:id/issues/:issue_id/award_emoji/:award_id and its twins.
fn awards_belong_to_their_target(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let targets = targets(forge, &fixture);
    for target in &targets {
        let award = give(forge, ROOT, &target.path, "tada").expect(201);
        for other in targets.iter().filter(|other| other.path != target.path) {
            let path = award_path(&other.path, &award);
            let answers = [forge.get(&path).token(ROOT), forge.delete(&path).token(ROOT)];
            for answer in answers {
                assert_eq!(answer.send().expect(404), message("404 Not found"), "{path}");
            }
        }
    }
    let (issue, note_of_request) = (&targets[0].path, targets[3].id);
    let path = format!("{issue}/notes/{note_of_request}/award_emoji");
    assert_eq!(forge.get(&path).token(ROOT).send().expect(404), message("404 Not found"));
}

/// DELETE /projects/:id/issues/:issue_id/award_emoji/:award_id and its twins: 401, not 403.
fn only_givers_and_administrators_take_awards_back(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for Target { path, .. } in targets(forge, &fixture) {
        let award = give(forge, fixture.token("reporter"), &path, "tada").expect(201);
        let one = award_path(&path, &award);
        for who in ["developer", "master", "owner"] {
            let answer = forge.delete(&one).token(fixture.token(who)).send().expect(401);
            assert_eq!(answer, message("401 Unauthorized"), "{who}");
        }
        assert_eq!(forge.delete(&one).token(ROOT).send().expect(200), award);
    }
}

/// POST /projects/:id/issues/:issue_id/award_emoji: also in archived projects.
fn readers_may_award(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    let path = path_of_issue(&issue);
    forge.post(&format!("{}/archive", cast.path)).token(cast.token("owner")).send().expect(201);
    for who in ["guest", "reporter", "developer", "master", "owner", "stranger", "external"] {
        give(forge, cast.token(who), &path, "tada").expect(201);
    }
}

/// GET /projects/:id/issues/:issue_id/award_emoji and its twins.
fn hidden_targets_have_no_awards(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let targets = targets(forge, &fixture);
    let award = |path: &str| give(forge, fixture.token("developer"), path, "tada").expect(201);
    let awards: Vec<Value> = targets.iter().map(|target| award(&target.path)).collect();
    let hidden = message("404 Award Emoji Not Found");
    let assert_hidden = |token: &str, at: usize| {
        let (path, award) = (&targets[at].path, &awards[at]);
        let list = format!("{path}/award_emoji");
        assert_eq!(forge.get(&list).token(token).send().expect(404), hidden, "{path}");
        let one = award_path(path, award);
        assert_eq!(forge.get(&one).token(token).send().expect(404), hidden, "{path}");
        assert_eq!(forge.delete(&one).token(token).send().expect(404), hidden, "{path}");
        assert_eq!(give(forge, token, path, "heart").expect(404), hidden, "{path}");
        assert_eq!(give(forge, token, path, "nothing").expect(404), hidden, "{path}");
    };
    let guest = fixture.token("guest");
    give(forge, guest, &targets[0].path, "heart").expect(201);
    assert_hidden(guest, 2);
    assert_hidden(guest, 3);
    let issue = forge.get(&targets[0].path).token(ROOT).send().expect(200);
    update_issue(forge, ROOT, &issue, &[("confidential", "true")]);
    assert_hidden(guest, 0);
    assert_hidden(guest, 1);
    let off = [
        ("name", "Ship"),
        ("issues_enabled", "false"),
        ("merge_requests_enabled", "false"),
        ("snippets_enabled", "false"),
    ];
    forge.put(&fixture.cast.path).token(ROOT).form(&off).send().expect(200);
    for at in 0..targets.len() {
        assert_hidden(fixture.token("developer"), at);
    }
}

/// POST /projects/:id/issues/:noteable_id/notes/:note_id/award_emoji
fn system_notes_are_not_awarded(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    update_issue(forge, ROOT, &issue, &[("state_event", "close")]);
    let notes = format!("{}/notes", path_of_issue(&issue));
    let note = forge.get(&notes).token(ROOT).send().expect(200)[0].clone();
    assert_eq!(note["system"], true);
    let path = format!("{notes}/{}", id_of(&note));
    let answer = give(forge, cast.token("guest"), &path, "tada").expect(404);
    assert_eq!(answer, message("404 Award Emoji Not Found"));
    let list = forge.get(&format!("{path}/award_emoji")).token(ROOT).send().expect(200);
    assert_eq!(list, json!([]));
}

/// GET /projects/:id/issues/:issue_id, GET /projects/:id/merge_requests/:merge_request_id
fn votes_and_subscriptions_follow_awards(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let targets = targets(forge, &fixture);
    let reporter = fixture.token("reporter");
    for (thing, note) in [(&targets[0], &targets[1]), (&targets[2], &targets[3])] {
        let shown = || {
            let shown = forge.get(&thing.path).token(reporter).send().expect(200);
            json!([shown["upvotes"], shown["downvotes"], shown["subscribed"]])
        };
        give(forge, reporter, &note.path, "+1").expect(201);
        assert_eq!(shown(), json!([0, 0, false]));
        let award = give(forge, reporter, &thing.path, "+1").expect(201);
        give(forge, fixture.token("master"), &thing.path, "-1").expect(201);
        give(forge, fixture.token("master"), &thing.path, "tada").expect(201);
        assert_eq!(shown(), json!([1, 1, true]));
        let subscription = format!("{}/subscription", thing.path);
        if thing.kind == "Issue" {
            assert_eq!(forge.post(&subscription).token(reporter).send().status, 304);
        }
        forge.delete(&award_path(&thing.path, &award)).token(reporter).send().expect(200);
        assert_eq!(shown(), json!([0, 1, false]));
    }
}

/// POST /projects/:id/issues/:issue_id/award_emoji: no event, no hook, no new update time.
fn awards_cause_nothing_else(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let targets = targets(forge, &fixture);
    let events = format!("{}/events", fixture.cast.path);
    let events = || forge.get(&events).token(ROOT).send().expect(200);
    let (events_before, hooks_before) = (events(), queued_events(forge).len());
    let issue = forge.get(&targets[0].path).token(ROOT).send().expect(200);
    let request = forge.get(&targets[2].path).token(ROOT).send().expect(200);
    forge.clock.advance(TimeDelta::minutes(1));
    for Target { path, .. } in &targets {
        let award = give(forge, fixture.token("master"), path, "tada").expect(201);
        let one = award_path(path, &award);
        forge.delete(&one).token(fixture.token("master")).send().expect(200);
    }
    assert_eq!((events(), queued_events(forge).len()), (events_before, hooks_before));
    assert_eq!(issue_now(forge, ROOT, &issue), issue);
    assert_eq!(request_as(forge, ROOT, &request), request);
}

/// GET /projects/:id/issues/:issue_id/award_emoji and its twins.
fn only_users_use_awards(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let mut calls = Vec::new();
    for kind in ["issues", "merge_requests"] {
        for target in [format!("{}/{kind}/1", cast.path), format!("{}/{kind}/1/notes/1", cast.path)]
        {
            for method in ["GET", "POST"] {
                calls.push((method, format!("{target}/award_emoji")));
            }
            for method in ["GET", "DELETE"] {
                calls.push((method, format!("{target}/award_emoji/1")));
            }
        }
    }
    assert_only_for_users(forge, &calls);
}

/// POST /projects/:id/issues/:issue_id/award_emoji and its twins: "Aliases are replaced before anything else", "the
/// stored and shown name is the main one".
fn aliases_are_replaced_by_main_names(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let reporter = fixture.token("reporter");
    let taken = message("404 Award Emoji {:name=>[\"has already been taken\"]} Not Found");
    for Target { path, .. } in targets(forge, &fixture) {
        for (alias, name) in
            [("+1", "thumbsup"), ("-1", "thumbsdown"), ("archery", "bow_and_arrow")]
        {
            let award = give(forge, reporter, &path, alias).expect(201);
            assert_eq!(award["name"], name, "{path}");
            let shown = forge.get(&award_path(&path, &award)).token(reporter).send();
            assert_eq!(shown.expect(200)["name"], name, "{path}");
            for again in [alias, name] {
                assert_eq!(give(forge, reporter, &path, again).expect(404), taken, "{again}");
            }
        }
    }
}
