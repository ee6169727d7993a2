//! Rows of rest_of_v3.md in all of their combinations, stated here by hand from the reference.

use chrono::TimeDelta;
use hexforge_domain::id::SnippetId;
use hexforge_domain::visibility::Visibility;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::runner_support::{CiProject, TWO_STAGES, shared_runner};
use crate::api::groups::group_support::{
    add_member, external_user, forbidden, new_project, path_of_project,
};
use crate::api::merge_requests::requests_support::{new_request, path_of_request, put_request};
use crate::api::projects::project_support::a_cast;
use crate::api::repositories::refs_support::filled_fixture;
use crate::api::support::{field_error, id_of, ids, message, read_store};
use crate::api::tracker::todo_support::{actions, finish_all, todos};
use crate::api::tracker::tracker_support::{new_issue, path_of_issue};

on_every_store!(
    external_members_see_all_snippets,
    restricted_levels_of_snippets_have_their_names,
    nobody_creates_snippets_while_they_are_off,
    a_personal_snippet_is_internal_by_default,
    votes_are_refused_to_the_author_of_what_is_awarded,
    an_emoji_note_finishes_the_todo_of_a_merge_request,
    assignees_and_milestones_of_merge_requests_finish_todos,
    every_filter_restricts_what_is_marked_as_done,
    numbers_of_settings_have_their_bounds,
    levels_and_protections_of_settings_are_listed,
    urls_of_settings_are_checked,
    runners_that_are_online_called_within_an_hour,
    all_lists_of_runners_have_pages,
    runners_without_tags_run_untagged_jobs,
    refusals_of_runners_for_projects_come_in_their_order,
    templates_are_open_whatever_the_token,
    votes_on_own_objects_are_stored_as_notes,
    the_default_level_of_snippets_is_only_stored,
);

#[track_caller]
fn set(forge: &Forge, body: &Value) {
    forge.put("/application/settings").token(ROOT).json(body).send().expect(200);
}

const SNIPPET: [(&str, &str); 4] =
    [("title", "t"), ("file_name", "f"), ("code", "c"), ("content", "c")];

fn of_level(level: &str) -> Vec<(&str, &str)> {
    [&SNIPPET[..], &[("visibility_level", level)]].concat()
}

/// 2.2: "external users who are not of the team do not see level 10". Those of the team see all levels.
/// GET /projects/:id/snippets
fn external_members_see_all_snippets(forge: &Forge) {
    let on = [("snippets_enabled", "true"), ("visibility_level", "20")];
    let project = path_of_project(&new_project(forge, ROOT, "Ship", &on));
    let list = format!("{project}/snippets");
    let made = ["0", "10", "20"].map(|level| {
        id_of(&forge.post(&list).token(ROOT).form(&of_level(level)).send().expect(201))
    });
    let (external, token) = external_user(forge, "external");
    let seen = || ids(&forge.get(&list).token(&token).send().expect(200));
    assert_eq!(seen(), [made[2]]);
    add_member(forge, &project, external, 10, &[]);
    assert_eq!(seen(), [made[2], made[1], made[0]]);
}

/// 2.3: "`private`, `internal`, `public` when restricted". POST /projects/:id/snippets,
/// PUT /projects/:id/snippets/:snippet_id
fn restricted_levels_of_snippets_have_their_names(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let project = new_project(forge, &ada, "Ship", &[("snippets_enabled", "true")]);
    let list = format!("{}/snippets", path_of_project(&project));
    let made =
        |token: &str, level: &str| forge.post(&list).token(token).form(&of_level(level)).send();
    for (level, name, other) in
        [("0", "private", "20"), ("10", "internal", "0"), ("20", "public", "10")]
    {
        set(forge, &json!({"restricted_visibility_levels": [level]}));
        let text = format!("{name} has been restricted by your GitLab administrator");
        let refused = field_error("visibility_level", &text);
        assert_eq!(made(&ada, level).expect(400), refused);
        let snippet = format!("{list}/{}", id_of(&made(&ada, other).expect(201)));
        let form = [("visibility_level", level)];
        assert_eq!(forge.put(&snippet).token(&ada).form(&form).send().expect(400), refused);
        // An unknown level is told differently, and administrators may use every level.
        let unknown = field_error(
            "visibility_level",
            "unknown has been restricted by your GitLab administrator",
        );
        assert_eq!(made(&ada, "30").expect(400), unknown);
        let unlisted = field_error("visibility_level", "is not included in the list");
        assert_eq!(made(ROOT, "30").expect(400), unlisted);
        forge.put(&snippet).token(ROOT).form(&form).send().expect(200);
        made(ROOT, level).expect(201);
    }
}

/// 2.3: "anybody while snippets are off get 403 before any parameter is looked at". POST /projects/:id/snippets
fn nobody_creates_snippets_while_they_are_off(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let list = format!("{}/snippets", cast.path);
    for who in ["stranger", "guest", "reporter", "developer", "master", "owner", "root"] {
        for body in [json!({}), json!({"title": {"a": "b"}})] {
            let refused = forge.post(&list).token(cast.token(who)).json(&body).send();
            assert_eq!(refused.expect(403), forbidden(), "{who} {body}");
        }
    }
}

/// 18: "`visibility_level` 0/10/20, default 10". POST /snippets
fn a_personal_snippet_is_internal_by_default(forge: &Forge) {
    for (form, expected) in [
        (SNIPPET.to_vec(), Visibility::Internal),
        (of_level("0"), Visibility::Private),
        (of_level("10"), Visibility::Internal),
        (of_level("20"), Visibility::Public),
    ] {
        let made = forge.post("/snippets").token(ROOT).form(&form).send().expect(201);
        let stored = read_store(forge, |tx| tx.snippets().find(SnippetId(id_of(&made))));
        assert_eq!(stored.expect("it is stored").visibility, expected);
    }
}

/// 5: "a vote … on one's own thing or note". POST /projects/:id/issues/:issue_id/award_emoji,
/// POST /projects/:id/issues/:noteable_id/notes/:note_id/award_emoji
fn votes_are_refused_to_the_author_of_what_is_awarded(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue = path_of_issue(&new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]));
    let form = [("body", "a note")];
    let note = forge.post(&format!("{issue}/notes")).token(cast.token("guest")).form(&form).send();
    let note = format!("{issue}/notes/{}", id_of(&note.expect(201)));
    let refused = message("404 Award Emoji Not Found");
    for vote in ["thumbsup", "thumbsdown", "+1", "-1"] {
        for (target, author, other) in [(&issue, "owner", "guest"), (&note, "guest", "owner")] {
            let awards = format!("{target}/award_emoji");
            let give = |who: &str| {
                forge.post(&awards).token(cast.token(who)).form(&[("name", vote)]).send()
            };
            assert_eq!(give(author).expect(404), refused, "{author} {vote}");
            let given = give(other).expect(201);
            let one = format!("{awards}/{}", id_of(&given));
            forge.delete(&one).token(cast.token(other)).send().expect(200);
        }
    }
}

/// 3.2: "The caller's pending todos of the target become done."
/// POST /projects/:id/merge_requests/:noteable_id/notes
fn an_emoji_note_finishes_the_todo_of_a_merge_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let request = path_of_request(&new_request(forge, &fixture, "feature/x", "t"));
    for who in ["reporter", "master"] {
        forge.post(&format!("{request}/todo")).token(fixture.token(who)).send().expect(201);
    }
    let note = forge.post(&format!("{request}/notes")).token(fixture.token("reporter"));
    let award = note.form(&[("body", ":tada:")]).send().expect(201);
    assert_eq!(
        (&award["name"], &award["awardable_type"]),
        (&json!("tada"), &json!("MergeRequest"))
    );
    assert_eq!(actions(forge, fixture.token("reporter")), Vec::<String>::new());
    assert_eq!(actions(forge, fixture.token("master")), ["marked"]);
}

/// 6.2: "edits its title, description, assignee, milestone or labels".
/// PUT /projects/:id/merge_requests/:merge_request_id
fn assignees_and_milestones_of_merge_requests_finish_todos(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (master, owner) = (fixture.token("master"), fixture.token("owner"));
    let request = new_request(forge, &fixture, "feature/x", "t");
    let milestones = format!("{}/milestones", fixture.cast.path);
    let milestone = forge.post(&milestones).token(owner).form(&[("title", "1.0")]).send();
    let milestone = id_of(&milestone.expect(201));
    for (fields, left) in [
        (json!({"assignee_id": fixture.cast.ada}), 0),
        (json!({"assignee_id": fixture.cast.ada}), 1),
        (json!({"milestone_id": milestone}), 0),
        (json!({"milestone_id": milestone}), 1),
    ] {
        finish_all(forge, master);
        let todo = format!("{}/todo", path_of_request(&request));
        forge.post(&todo).token(master).send().expect(201);
        put_request(forge, master, &request, &fields).expect(200);
        assert_eq!(actions(forge, master).len(), left, "{fields}");
    }
    assert_eq!(actions(forge, owner), ["assigned"]);
}

/// 6.3: DELETE /todos "takes the filters below".
fn every_filter_restricts_what_is_marked_as_done(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (owner, guest) = (cast.token("owner"), cast.token("guest"));
    let me = id_of(&forge.get("/user").token(guest).send().expect(200));
    let other = new_project(forge, guest, "Other", &[]);
    let other_path = path_of_project(&other);
    let here = id_of(&cast.project);
    for (query, changed) in [
        ("action=mentioned".to_owned(), 1),
        ("action=assigned".to_owned(), 0),
        ("action=approval_required".to_owned(), 0),
        ("action_id=4".to_owned(), 1),
        (format!("author_id={me}"), 1),
        (format!("author_id={}", cast.ada), 1),
        ("author_id=0".to_owned(), 0),
        (format!("project_id={here}"), 1),
        (format!("project_id={here}&author_id={me}"), 0),
        ("type=MergeRequest".to_owned(), 0),
        ("type=Issue".to_owned(), 2),
        ("state=done".to_owned(), 0),
        ("state=anything".to_owned(), 2),
    ] {
        // Two todos: one by a mention of the owner here, one of the guest's own in another project.
        finish_all(forge, guest);
        new_issue(forge, owner, &cast.path, "an issue", &[("description", "@guest")]);
        let own = new_issue(forge, guest, &other_path, "an issue", &[]);
        forge.post(&format!("{}/todo", path_of_issue(&own))).token(guest).send().expect(201);
        let marked = forge.delete(&format!("/todos?{query}")).token(guest).send().expect(200);
        assert_eq!(marked, json!(changed), "{query}");
        let left = todos(forge, guest);
        assert_eq!(left.as_array().map(Vec::len), Some(2 - changed), "{query}");
    }
}

/// 7.2, the rows and the ruling about numbers. PUT /application/settings
fn numbers_of_settings_have_their_bounds(forge: &Forge) {
    let put = |name: &str, value: &Value| {
        forge.put("/application/settings").token(ROOT).json(&json!({ name: value })).send()
    };
    let (positive, natural) = ("must be greater than 0", "must be greater than or equal to 0");
    for (name, least, below) in [
        ("max_attachment_size", 1, positive),
        ("container_registry_token_expire_delay", 1, positive),
        ("session_expire_delay", 0, natural),
        ("default_projects_limit", 0, natural),
    ] {
        for (value, text) in [
            (json!(least - 1), below),
            (json!((least - 1).to_string()), below),
            (json!(-1_000_000_000_000_i64), below),
            (json!("many"), "is not a number"),
            (json!("1x"), "is not a number"),
            (json!(true), "is not a number"),
            (json!([1]), "is not a number"),
            (json!({"a": 1}), "is not a number"),
            (json!(1.5), "must be an integer"),
            (json!("2.0"), "must be an integer"),
        ] {
            let refused = put(name, &value).expect(400);
            assert_eq!(refused, field_error(name, text), "{name} {value}");
        }
        for value in [json!(least), json!("7"), json!(" 8 ")] {
            let number: i64 = value.as_i64().unwrap_or_else(|| {
                value.as_str().expect("a text").trim().parse().expect("a number")
            });
            assert_eq!(put(name, &value).expect(200)[name], number, "{name} {value}");
        }
    }
}

/// 7.2, the ruling: "`default_branch_protection` outside 0-3, levels outside 0/10/20 … are 400 `is not included in the
/// list`". PUT /application/settings
fn levels_and_protections_of_settings_are_listed(forge: &Forge) {
    let put = |name: &str, value: &Value| {
        forge.put("/application/settings").token(ROOT).json(&json!({ name: value })).send()
    };
    const LEVELS: &[i64] = &[0, 10, 20];
    for (name, allowed) in [
        ("default_branch_protection", &[0, 1, 2, 3][..]),
        ("default_project_visibility", LEVELS),
        ("default_snippet_visibility", LEVELS),
        ("default_group_visibility", LEVELS),
    ] {
        for number in -1..25 {
            for value in [json!(number), json!(number.to_string())] {
                let answer = put(name, &value);
                if allowed.contains(&number) {
                    assert_eq!(answer.expect(200)[name], number, "{name} {value}");
                } else {
                    let refused = field_error(name, "is not included in the list");
                    assert_eq!(answer.expect(400), refused, "{name} {value}");
                }
            }
        }
        for value in [json!("public"), json!([0]), json!({"a": 0}), json!(true), json!(0.5)] {
            let refused = field_error(name, "is not included in the list");
            assert_eq!(put(name, &value).expect(400), refused, "{name} {value}");
        }
    }
    for number in [-10, 1, 5, 11, 30] {
        for value in [json!([0, number]), json!([number.to_string()])] {
            let text = format!("'{number}' is not a valid visibility level");
            let name = "restricted_visibility_levels";
            assert_eq!(put(name, &value).expect(400), field_error(name, &text), "{value}");
        }
    }
}

/// 7.2: "home_page_url, after_sign_out_path: http(s)". PUT /application/settings
fn urls_of_settings_are_checked(forge: &Forge) {
    for name in ["home_page_url", "after_sign_out_path"] {
        let put = |value: &str| {
            forge.put("/application/settings").token(ROOT).form(&[(name, value)]).send()
        };
        for wrong in
            ["example.com", "/", "ftp://example.com", "http://", "javascript:alert(1)", "x"]
        {
            let refused = put(wrong).expect(400);
            assert_eq!(refused, field_error(name, "must be a valid URL"), "{name} {wrong}");
        }
        for url in ["http://example.com", "https://example.com:8443/a?b=c"] {
            assert_eq!(put(url).expect(200)[name], url);
        }
    }
}

/// 9.2: "`online` = contacted within the last hour". GET /runners/all
fn runners_that_are_online_called_within_an_hour(forge: &Forge) {
    let runner = shared_runner(forge, &[]);
    let online = || ids(&forge.get("/runners/all?scope=online").token(ROOT).send().expect(200));
    assert_eq!(online(), Vec::<i64>::new(), "it never called");
    runner.take();
    for (minutes, expected) in [(0, 1), (59, 1), (2, 0)] {
        forge.clock.advance(TimeDelta::minutes(minutes));
        assert_eq!(online().len(), expected, "{minutes}");
    }
}

/// 1.4: "runners (all three lists)". GET /runners, GET /runners/all, GET /projects/:id/runners
fn all_lists_of_runners_have_pages(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let own = [(); 3].map(|()| ship.runner(&[]).id);
    let shared = shared_runner(forge, &[]).id;
    let all = [own[0], own[1], own[2], shared];
    for (path, token, expected) in [
        ("/runners".to_owned(), ship.owner.as_str(), &own[..]),
        ("/runners/all".to_owned(), ROOT, &all),
        (ship.path("/runners"), &ship.owner, &all),
    ] {
        let whole = forge.get(&path).token(token).send();
        assert_eq!(ids(&whole.expect(200)), expected, "{path}");
        assert_eq!(whole.header("X-Per-Page"), Some("20"), "{path}");
        for (number, page) in expected.chunks(2).enumerate() {
            let query = format!("{path}?per_page=2&page={}", number + 1);
            let answer = forge.get(&query).token(token).send();
            assert_eq!(ids(&answer.expect(200)), page, "{query}");
            assert_eq!(answer.header("X-Total"), Some(expected.len().to_string().as_str()));
        }
    }
}

/// 9.3: "Not running untagged jobs and having no tag". PUT /runners/:id
fn runners_without_tags_run_untagged_jobs(forge: &Forge) {
    let (bare, tagged) = (shared_runner(forge, &[]), shared_runner(forge, &[("tag_list", "a")]));
    let put =
        |id: i64, body: Value| forge.put(&format!("/runners/{id}")).token(ROOT).json(&body).send();
    let refused = field_error(
        "tags_list",
        "can not be empty when runner is not allowed to pick untagged jobs",
    );
    assert_eq!(put(bare.id, json!({"run_untagged": false})).expect(400), refused);
    put(tagged.id, json!({"run_untagged": false})).expect(200);
    for empty in [json!([]), json!(""), json!(" , ")] {
        let answer = put(tagged.id, json!({"tag_list": empty}));
        assert_eq!(answer.expect(400), refused, "{empty}");
    }
    let both = put(tagged.id, json!({"run_untagged": true, "tag_list": []})).expect(200);
    assert_eq!((&both["run_untagged"], &both["tag_list"]), (&json!(true), &json!([])));
}

/// 9.4: "`Runner is shared`, `Runner is locked`, `No access granted` … in this order; enabled already: 409".
/// POST /projects/:id/runners
fn refusals_of_runners_for_projects_come_in_their_order(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let boat = CiProject::new(forge, "bob", TWO_STAGES);
    let (shared, own) = (shared_runner(forge, &[]), ship.runner(&[]));
    let (locked, foreign, both) =
        (ship.runner(&[("locked", "true")]), boat.runner(&[]), boat.runner(&[("locked", "true")]));
    let lock = format!("/runners/{}", shared.id);
    forge.put(&lock).token(ROOT).form(&[("locked", "true")]).send().expect(200);
    let refused = |reason: &str| (403, message(&format!("403 Forbidden  - {reason}")));
    let conflict = (409, message("Runner was already enabled for this project"));
    for (runner, for_owner, for_root) in [
        // Shared, locked, and out of reach for the owner.
        (shared.id, refused("Runner is shared"), refused("Runner is shared")),
        // Locked, and enabled already.
        (locked.id, refused("Runner is locked"), refused("Runner is locked")),
        // Locked, and out of reach.
        (both.id, refused("Runner is locked"), refused("Runner is locked")),
        (own.id, conflict.clone(), conflict.clone()),
    ] {
        let form = [("runner_id", runner.to_string())];
        let form = form.each_ref().map(|(name, id)| (*name, id.as_str()));
        for (token, (status, body)) in [(ship.owner.as_str(), for_owner), (ROOT, for_root)] {
            let answer = forge.post(&ship.path("/runners")).token(token).form(&form).send();
            assert_eq!(answer.expect(status), body, "{runner}");
        }
    }
    let id = foreign.id.to_string();
    let post = |token: &str| {
        let path = ship.path("/runners");
        forge.post(&path).token(token).form(&[("runner_id", &id)]).send()
    };
    let (status, body) = refused("No access granted");
    assert_eq!(post(&ship.owner).expect(status), body);
    post(ROOT).expect(201);
    // It is enabled for a project of the owner, so it is within reach now.
    assert_eq!(post(&ship.owner).expect(409), conflict.1);
}

/// 12: "Open to everyone, with or without a token (a wrong token does not hurt)." All twelve calls, and 1.4: "Template
/// lists come whole unless `page` or `per_page` is given."
fn templates_are_open_whatever_the_token(forge: &Forge) {
    let (blocked, token) = forge.user("blocked");
    forge.put(&format!("/users/{blocked}/block")).token(ROOT).send().expect(200);
    for prefix in ["/templates", ""] {
        for (kind, name, count) in
            [("licenses", "isc", 15), ("gitignores", "Rust", 21), ("gitlab_ci_ymls", "Rust", 12)]
        {
            for path in [format!("{prefix}/{kind}"), format!("{prefix}/{kind}/{name}")] {
                let anonymous = forge.get(&path).send().expect(200);
                for token in ["wrong", "", token.as_str()] {
                    let answer = forge.get(&path).token(token).send();
                    assert_eq!(answer.expect(200), anonymous, "{path} {token:?}");
                }
                let query = format!("{path}?private_token=wrong");
                assert_eq!(forge.get(&query).send().expect(200), anonymous, "{query}");
            }
            let list = format!("{prefix}/{kind}");
            let whole = forge.get(&list).send().expect(200);
            let whole = whole.as_array().expect("a list");
            assert!(whole.len() >= count, "{list}");
            let page = forge.get(&format!("{list}?page=2&per_page=5")).send();
            assert_eq!(page.expect(200), json!(whole[5..10]), "{list}");
            assert_eq!(page.header("X-Total"), Some(whole.len().to_string().as_str()));
            let first = forge.get(&format!("{list}?page=1")).send().expect(200);
            assert_eq!(first, json!(whole[..whole.len().min(20)]), "{list}");
        }
    }
}

/// 3.2: "unless it is `thumbsup`/`thumbsdown` (or `+1`/`-1`) on the caller's own thing: then it is stored as a note".
/// POST /projects/:id/snippets/:noteable_id/notes, POST /projects/:id/merge_requests/:noteable_id/notes
fn votes_on_own_objects_are_stored_as_notes(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let on = [("name", "Ship"), ("snippets_enabled", "true")];
    forge.put(&fixture.cast.path).token(ROOT).form(&on).send().expect(200);
    let snippets = format!("{}/snippets", fixture.cast.path);
    let snippet = forge.post(&snippets).token(fixture.token("developer")).form(&of_level("0"));
    let snippet = snippet.send().expect(201);
    let request = new_request(forge, &fixture, "feature/x", "t");
    for (target, kind) in [
        (format!("{snippets}/{}", id_of(&snippet)), "Snippet"),
        (path_of_request(&request), "MergeRequest"),
    ] {
        let notes = format!("{target}/notes");
        let write = |who: &str, body: &str| {
            let form = [("body", body)];
            forge.post(&notes).token(fixture.token(who)).form(&form).send().expect(201)
        };
        for (body, name) in [
            (":thumbsup:", "thumbsup"),
            (":thumbsdown:", "thumbsdown"),
            (":+1:", "thumbsup"),
            (":-1:", "thumbsdown"),
        ] {
            let note = write("developer", body);
            assert_eq!((&note["body"], &note["noteable_type"]), (&json!(body), &json!(kind)));
            let award = write("reporter", body);
            assert_eq!((&award["name"], &award["awardable_type"]), (&json!(name), &json!(kind)));
        }
    }
}

/// 7.1: "default_snippet_visibility … kept; no call uses it". POST /snippets, POST /projects/:id/snippets
fn the_default_level_of_snippets_is_only_stored(forge: &Forge) {
    set(forge, &json!({"default_snippet_visibility": 20}));
    let made = forge.post("/snippets").token(ROOT).form(&SNIPPET).send().expect(201);
    let stored = read_store(forge, |tx| tx.snippets().find(SnippetId(id_of(&made))));
    assert_eq!(stored.expect("it is stored").visibility, Visibility::Internal);
    let project = new_project(forge, ROOT, "Ship", &[("snippets_enabled", "true")]);
    let list = format!("{}/snippets", path_of_project(&project));
    let refused = forge.post(&list).token(ROOT).form(&SNIPPET).send().expect(400);
    assert_eq!(refused, message("400 (Bad request) \"visibility_level\" not given"));
}
