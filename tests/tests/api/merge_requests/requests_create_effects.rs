//! Creating merge requests, the order of the failures and the fields that are dropped: merge_requests.md sections 4
//! and 12.

use hexforge_http_actix::Dialect;
use hexforge_tests::forge::{ROOT, Restrictions};
use hexforge_tests::{Backend, Forge, ForgeOptions, on_every_store};
use serde_json::{Value, json};

use super::requests_fixtures::{
    archive, fixture_with_visibility, fork_with_topic, post_from_fork, user_id,
};
use super::requests_support::{
    merge, new_request, path_of_request, post_request, put_request, request_as, request_notes,
    request_now,
};
use crate::api::groups::group_support::{forbidden, new_project, path_of_project};
use crate::api::repositories::commits_support::state;
use crate::api::repositories::refs_support::{do_tasks, empty_fixture, filled_fixture};
use crate::api::support::{MISSING, id_of, message};
use crate::api::tracker::tracker_support::new_label;

on_every_store!(
    unknown_milestones_and_assignees_count_as_absent,
    failures_come_in_their_order,
    only_open_requests_are_twins,
    commands_are_cut_whether_they_work_or_not,
    commands_of_authors_below_developer_set_nothing,
    a_new_request_is_an_event,
    requests_of_an_empty_repository,
    labels_are_cut_and_made_once,
    mentioned_users_are_subscribed,
);

/// POST /projects/:id/merge_requests: section 4, `milestone_id` and `assignee_id`.
fn unknown_milestones_and_assignees_count_as_absent(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let other = new_project(forge, ROOT, "other", &[]);
    let goal = format!("{}/milestones", path_of_project(&other));
    let goal = forge.post(&goal).token(ROOT).form(&[("title", "1.0")]).send().expect(201);
    let stranger = user_id(forge, &fixture, "stranger");
    for (number, (field, value)) in [
        ("milestone_id", json!(id_of(&goal))),
        ("milestone_id", json!(0)),
        ("milestone_id", json!("")),
        ("assignee_id", json!(0)),
        ("assignee_id", json!("")),
        ("assignee_id", json!(MISSING)),
        ("assignee_id", json!(stranger)),
    ]
    .into_iter()
    .enumerate()
    {
        let source = format!("source-{number}");
        let mut fields = json!({"title": "t", "source_branch": source, "target_branch": "master"});
        fields[field] = value;
        let made = post_request(forge, &fixture, "developer", &fields).expect(201);
        assert_eq!((&made["milestone"], &made["assignee"]), (&json!(null), &json!(null)));
    }
}

/// POST /projects/:id/merge_requests: section 4, "the first matching row answers, whatever else is wrong".
fn failures_come_in_their_order(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let other = new_project(forge, ROOT, "other", &[("visibility_level", "20")]);
    let post = |who: &str, fields: &Value| post_request(forge, &fixture, who, fields);
    let gone = json!({"title": "t", "source_branch": "feature/x", "target_branch": "master",
        "target_project_id": MISSING});
    assert_eq!(post("reporter", &gone).expect(403), forbidden());
    assert_eq!(post("developer", &gone).expect(404), message("404 Not found"));
    let same = json!({"title": "x".repeat(256), "source_branch": "master",
        "target_branch": "master", "target_project_id": fixture.project()});
    let text = "You can not use same project/branch for source and target";
    assert_eq!(post("developer", &same).expect(422), json!({"error": [text]}));
    let no_fork = json!({"title": " ", "source_branch": "", "target_branch": "master",
        "target_project_id": id_of(&other)});
    let text = "Source project is not a fork of the target project";
    assert_eq!(post("developer", &no_fork).expect(422), json!({"error": [text]}));
    archive(forge, &fixture);
    assert_eq!(post("owner", &same).expect(403), forbidden());
}

/// POST /projects/:id/merge_requests: section 4, "an **open** one".
fn only_open_requests_are_twins(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let first = new_request(forge, &fixture, "feature/x", "first");
    put_request(forge, ROOT, &first, &json!({"state_event": "close"})).expect(200);
    let second = new_request(forge, &fixture, "feature/x", "second");
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "stable"});
    post_request(forge, &fixture, "developer", &fields).expect(201);
    merge(forge, ROOT, &second, &json!({})).expect(200);
    assert_eq!(new_request(forge, &fixture, "feature/x", "third")["iid"], 4);
    let twin = json!({"title": " ", "source_branch": "feature/x", "target_branch": "stable"});
    let text = r#"Cannot Create: This merge request already exists: ["t"]"#;
    let answer = post_request(forge, &fixture, "developer", &twin);
    assert_eq!(answer.expect(409), json!({"message": [text]}));
}

/// POST /projects/:id/merge_requests: section 12.
fn commands_are_cut_whether_they_work_or_not(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for (number, (given, kept)) in [
        ("/assign @guest", ""),
        ("/due tomorrow\ntext", "text"),
        ("text\n\n/remove_due_date\n", "text"),
        ("/assign @nobody\n/milestone %nothing\n/label ~nothing\ntext\n", "text"),
        ("```\n/label ~x\n```", "```\n/label ~x\n```"),
        (">>>\n/label ~x\n>>>", ">>>\n/label ~x\n>>>"),
        ("<p>\n/label ~x\n</p>", "<p>\n/label ~x\n</p>"),
        (" /merge", " /merge"),
    ]
    .into_iter()
    .enumerate()
    {
        let source = format!("source-{number}");
        let fields = json!({"title": "t", "source_branch": source, "target_branch": "master",
            "description": given});
        let made = post_request(forge, &fixture, "developer", &fields).expect(201);
        assert_eq!(made["description"], kept, "{given}");
        assert_eq!((&made["labels"], &made["milestone"]), (&json!([]), &json!(null)), "{given}");
        assert_eq!(made["assignee"].is_object(), given == "/assign @guest", "{given}");
    }
}

/// POST /projects/:id/merge_requests: section 12, column "Needs", and section 16.
fn commands_of_authors_below_developer_set_nothing(forge: &Forge) {
    let fixture = fixture_with_visibility(forge, "20");
    new_label(forge, ROOT, &fixture.cast.path, "bug");
    let (fork, _) = fork_with_topic(forge, &fixture);
    let more = json!({"description": "text\n/label ~bug\n/assign @guest", "labels": "bug",
        "assignee_id": user_id(forge, &fixture, "guest")});
    let made = post_from_fork(forge, &fixture, &fork, &more).expect(201);
    assert_eq!(made["description"], "text");
    assert_eq!((&made["labels"], &made["assignee"]), (&json!([]), &json!(null)));
}

/// POST /projects/:id/merge_requests: section 17.
fn a_new_request_is_an_event(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "a request");
    let events = forge.get(&format!("{}/events", fixture.cast.path)).token(ROOT).send().expect(200);
    let event = &events[0];
    assert_eq!(
        (&event["action_name"], &event["target_type"]),
        (&json!("opened"), &json!("MergeRequest"))
    );
    assert_eq!((&event["target_id"], &event["target_title"]), (&made["id"], &made["title"]));
    assert_eq!(event["author_username"], "developer");
    assert_eq!(event["project_id"], fixture.project());
}

/// POST /projects/:id/merge_requests: section 4, "branches need not exist".
fn requests_of_an_empty_repository(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let made = new_request(forge, &fixture, "a", "t");
    assert_eq!(made["sha"], Value::Null);
    for part in ["commits", "changes"] {
        let path = format!("{}/{part}", path_of_request(&made));
        let shown = forge.get(&path).token(ROOT).send().expect(200);
        let list = if part == "changes" { &shown["changes"] } else { &shown };
        assert_eq!(list, &json!([]), "{part}");
    }
    let refused = merge(forge, ROOT, &made, &json!({}));
    assert_eq!(refused.expect(405), message("405 Method Not Allowed"));
}

/// POST /projects/:id/merge_requests: section 4, `labels`.
fn labels_are_cut_and_made_once(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let label = new_label(forge, ROOT, &fixture.cast.path, "b");
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "master",
        "labels": " a ,,b, a", "remove_source_branch": true, "force_remove_source_branch": true,
        "should_remove_source_branch": true});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    assert_eq!(made["labels"], json!(["a", "b"]));
    assert_eq!(
        (&made["should_remove_source_branch"], &made["force_remove_source_branch"]),
        (&json!(null), &json!(null))
    );
    let labels = forge.get(&format!("{}/labels", fixture.cast.path)).token(ROOT).send().expect(200);
    let labels = labels.as_array().expect("a list");
    assert_eq!(labels.len(), 2);
    assert_eq!((&labels[0]["color"], &labels[1]["id"]), (&json!("#428BCA"), &label["id"]));
    assert_eq!(request_notes(forge, &made), Vec::<String>::new());
}

/// GET /projects/:id/merge_requests/:merge_request_id: section 2.1, `subscribed`.
fn mentioned_users_are_subscribed(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let assignee = user_id(forge, &fixture, "guest");
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "master",
        "description": "ask @reporter", "assignee_id": assignee});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    for (who, subscribed) in
        [("developer", true), ("guest", true), ("reporter", true), ("master", false)]
    {
        let shown = request_as(forge, fixture.token(who), &made);
        assert_eq!(shown["subscribed"], subscribed, "{who}");
    }
}

/// POST /projects/:id/merge_requests, PUT /projects/:id/merge_requests/:merge_request_id: the commits of a fork must fit
/// into the target repository.
#[test]
fn a_target_over_its_size_limit_takes_no_request() {
    for backend in [Backend::Fake, Backend::Sqlite, Backend::Postgres] {
        let options = ForgeOptions { backend, dialect: Dialect::Specification };
        let restrictions =
            Restrictions { repository_bytes: Some(20_000), ..Restrictions::default() };
        let Some(forge) = Forge::start_restricted(options, restrictions) else { continue };
        let fixture = fixture_with_visibility(&forge, "20");
        let (fork, topic) = fork_with_topic(&forge, &fixture);
        let made = post_from_fork(&forge, &fixture, &fork, &json!({})).expect(201);
        // Text that does not compress well fills both repositories nearly.
        let text = |seed: u32| -> String {
            let digits = (0..2_500_u32).map(|n| (n ^ seed).wrapping_mul(2_654_435_761));
            digits.map(|n| format!("{n:08x}")).collect()
        };
        let write = |project: &str, who: &str, branch: &str, text: String| {
            let body = json!({"branch_name": branch, "commit_message": "Large",
                "actions": [{"action": "create", "file_path": "large", "content": text}]});
            let path = format!("{project}/repository/commits");
            forge.post(&path).token(fixture.token(who)).json(&body).send().expect(201);
        };
        write(&fixture.cast.path, "developer", "master", text(1 << 20));
        write(&path_of_project(&fork), "stranger", "topic", text(1 << 24));
        do_tasks(&forge);
        // The new commits do not fit: the request keeps its version, and nothing waits.
        assert_eq!(request_now(&forge, &made)["sha"], topic);
        let before = state(&forge, &fixture);
        let full = message("The repository has reached its size limit");
        let more = json!({"target_branch": "feature/x"});
        let answer = post_from_fork(&forge, &fixture, &fork, &more);
        assert_eq!(answer.expect(400), full);
        let answer = put_request(&forge, fixture.token("stranger"), &made, &more);
        assert_eq!(answer.expect(400), full);
        assert_eq!(state(&forge, &fixture), before);
        assert_eq!(request_now(&forge, &made)["target_branch"], "master");
    }
}
