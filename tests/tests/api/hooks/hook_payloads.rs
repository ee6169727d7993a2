//! Payloads of project hooks, field by field: users_hooks_events.md sections 8 and 9.

use hexforge_domain::ci::status::{Status, Transition};
use hexforge_domain::ci::when::When;
use hexforge_domain::commit::{ObjectId, Signature};
use hexforge_domain::id::{BuildId, PipelineId, ProjectId, RunnerId, UserId};
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::outbox::ci::{BuildEvent, BuildRow, PipelineEvent, PipelineRow, RunnerRow};
use hexforge_domain::outbox::project::{Person, ProjectCard, ProjectEvent};
use hexforge_domain::pipeline::CommitFacts;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::visibility::Visibility;
use hexforge_domain_testing::builders::at;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Received, Receiver, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::ci_support::{ci_fixture, push, step};
use crate::api::hooks::hook_support::{clear_outbox, deliver_payloads, hook_of};
use crate::api::projects::project_support::a_cast;
use crate::api::repositories::refs_support::{ProjectFixture, filled_fixture, new_branch, new_tag};
use crate::api::support::id_of;
use crate::api::tracker::tracker_support::{new_issue, path_of_issue, update_issue};

on_every_store!(
    a_push_is_told_as_the_feed_tells_it,
    tags_are_told_with_their_annotation,
    the_request_is_a_post_with_its_headers,
    names_and_passwords_of_an_address_are_sent_as_authorization,
    an_issue_is_told_with_its_row,
    closing_and_editing_at_once_is_told_twice,
    a_comment_is_told_with_its_issue,
    confidential_issues_are_told_to_nobody,
    each_switch_lets_one_kind_through,
    a_build_is_told_with_its_pipeline,
    a_pipeline_is_told_with_its_builds,
    builds_and_pipelines_are_told_as_they_go_on,
    a_hook_hears_of_several_refs_one_by_one,
);

const ZEROS: &str = "0000000000000000000000000000000000000000";

/// The project of the cast in the long form.
fn project_block() -> Value {
    json!({
        "name": "Ship", "description": null, "web_url": "http://forge.test/ada/ship",
        "avatar_url": null, "git_ssh_url": "ssh://git@forge.test:2222/ada/ship.git",
        "git_http_url": "http://forge.test/ada/ship.git", "namespace": "ada",
        "visibility_level": 0, "path_with_namespace": "ada/ship", "default_branch": null,
        "homepage": "http://forge.test/ada/ship",
        "url": "ssh://git@forge.test:2222/ada/ship.git",
        "ssh_url": "ssh://git@forge.test:2222/ada/ship.git",
        "http_url": "http://forge.test/ada/ship.git"
    })
}

/// Its repository in the short form.
fn repository_block() -> Value {
    json!({
        "name": "Ship", "url": "ssh://git@forge.test:2222/ada/ship.git", "description": null,
        "homepage": "http://forge.test/ada/ship"
    })
}

/// A user as payloads show it.
fn person_block(forge: &Forge, id: i64) -> Value {
    let user = forge.get(&format!("/users/{id}")).token(ROOT).send().expect(200);
    json!({
        "name": user["name"], "username": user["username"], "avatar_url": user["avatar_url"]
    })
}

fn newest_event(forge: &Forge, fixture: &ProjectFixture) -> Value {
    let path = format!("{}/events?per_page=1", fixture.cast.path);
    forge.get(&path).token(ROOT).send().expect(200)[0]["data"].clone()
}

/// 9.1: the payload is the text that the feed shows, which `push_events.rs` compares field by field.
fn a_push_is_told_as_the_feed_tells_it(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    hook_of(forge, &fixture.cast.path, &receiver.url("/"), &[("push_events", "true")]);
    clear_outbox(forge);
    new_branch(forge, &fixture, "new/two", "feature/x");
    let data = newest_event(forge, &fixture);
    forge.deliver();
    let received = receiver.take_only();
    assert_eq!(received.header("x-gitlab-event"), Some("Push Hook"));
    assert_eq!(received.body, data.to_string());
    let told = received.json();
    assert_eq!((&told["object_kind"], &told["before"]), (&json!("push"), &json!(ZEROS)));
    assert_eq!(told["total_commits_count"], 1);
    assert_eq!(told["commits"][0]["added"], json!(["x"]));
    let path = format!("{}/new%2Ftwo", fixture.branches);
    forge.delete(&path).token(fixture.token("developer")).send().expect(200);
    forge.deliver();
    let gone = receiver.take_only().json();
    assert_eq!(gone.to_string(), newest_event(forge, &fixture).to_string());
    assert_eq!((&gone["after"], &gone["checkout_sha"]), (&json!(ZEROS), &Value::Null));
    assert_eq!((&gone["commits"], &gone["total_commits_count"]), (&json!([]), &json!(0)));
}

/// 9.2
fn tags_are_told_with_their_annotation(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    hook_of(forge, &fixture.cast.path, &receiver.url("/"), &[("tag_push_events", "true")]);
    clear_outbox(forge);
    let form = [("tag_name", "v2"), ("ref", "master"), ("message", "The second")];
    new_tag(forge, &fixture, &form);
    forge.deliver();
    let received = receiver.take_only();
    assert_eq!(received.header("x-gitlab-event"), Some("Tag Push Hook"));
    assert_eq!(received.body, newest_event(forge, &fixture).to_string());
    let told = received.json();
    assert_eq!(
        (&told["object_kind"], &told["event_name"]),
        (&json!("tag_push"), &json!("tag_push"))
    );
    assert_eq!((&told["ref"], &told["message"]), (&json!("refs/tags/v2"), &json!("The second")));
    assert_eq!(told["checkout_sha"], fixture.id("master"));
    assert_eq!(told["after"], fixture.id("refs/tags/v2"));
    assert_ne!(told["after"], told["checkout_sha"]);
    forge.delete(&format!("{}/v2", fixture.tags)).token(ROOT).send().expect(200);
    forge.deliver();
    let gone = receiver.take_only().json();
    assert_eq!(gone["before"], fixture.id("master"), "the commit, not the tag");
    assert_eq!((&gone["after"], &gone["checkout_sha"]), (&json!(ZEROS), &Value::Null));
}

/// Section 8
fn the_request_is_a_post_with_its_headers(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (open, closed) = (Receiver::new(), Receiver::new());
    let push = ("push_events", "true");
    hook_of(forge, &fixture.cast.path, &open.url("/a/b?c=d&e"), &[push]);
    hook_of(forge, &fixture.cast.path, &closed.url("/"), &[push, ("token", "s3cret ü&")]);
    clear_outbox(forge);
    new_branch(forge, &fixture, "one", "master");
    forge.deliver();
    let (open, closed) = (open.take_only(), closed.take_only());
    assert_eq!(open.line, "POST /a/b?c=d&e HTTP/1.1");
    assert_eq!(open.header("content-type"), Some("application/json"));
    assert_eq!(open.header("x-gitlab-event"), Some("Push Hook"));
    assert_eq!(open.header("x-gitlab-token"), None);
    assert_eq!(open.header("authorization"), None);
    assert_eq!(closed.header("x-gitlab-token"), Some("s3cret ü&"));
    assert_eq!(open.body, closed.body);
    assert_ne!(open.key(), closed.key());
    assert_eq!(open.key().len(), 36);
}

/// Section 8: credentials in the url
fn names_and_passwords_of_an_address_are_sent_as_authorization(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    let url = format!("http://me:p%40ss@{}/x", receiver.address);
    hook_of(forge, &fixture.cast.path, &url, &[("push_events", "true")]);
    clear_outbox(forge);
    new_branch(forge, &fixture, "one", "master");
    forge.deliver();
    let received = receiver.take_only();
    assert_eq!(received.line, "POST /x HTTP/1.1");
    // `me:p@ss`
    assert_eq!(received.header("authorization"), Some("Basic bWU6cEBzcw=="));
}

/// 9.3
fn an_issue_is_told_with_its_row(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let receiver = Receiver::new();
    hook_of(forge, &cast.path, &receiver.url("/"), &[("issues_events", "true")]);
    clear_outbox(forge);
    let master = forge.get("/users?username=master").token(ROOT).send().expect(200);
    let master_id = id_of(&master[0]);
    let assignee = master_id.to_string();
    let more = [
        ("description", "About \"it\""),
        ("assignee_id", assignee.as_str()),
        ("due_date", "2016-10-01"),
    ];
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "An issue", &more);
    forge.deliver();
    let received = receiver.take_only();
    assert_eq!(received.header("x-gitlab-event"), Some("Issue Hook"));
    let row = json!({
        "id": id_of(&issue), "title": "An issue", "assignee_id": master_id,
        "author_id": cast.ada, "project_id": id_of(&cast.project),
        "created_at": "2016-09-22 10:30:00 UTC", "updated_at": "2016-09-22 10:30:00 UTC",
        "position": 0, "branch_name": null, "description": "About \"it\"", "milestone_id": null,
        "state": "opened", "iid": 1, "updated_by_id": null, "confidential": false,
        "deleted_at": null, "due_date": "2016-10-01", "moved_to_id": null, "lock_version": null,
        "url": "http://forge.test/ada/ship/issues/1", "action": "open"
    });
    let expected = json!({
        "object_kind": "issue", "user": person_block(forge, cast.ada),
        "project": project_block(), "object_attributes": row,
        "repository": repository_block(), "assignee": person_block(forge, master_id)
    });
    assert_eq!(received.body, expected.to_string());
    update_issue(forge, cast.token("owner"), &issue, &[("assignee_id", "0")]);
    let changed = deliver_payloads(forge, &receiver).swap_remove(0);
    assert_eq!(changed["object_attributes"]["action"], "update");
    assert_eq!(changed.get("assignee"), None, "the key is absent");
}

/// 9.3
fn closing_and_editing_at_once_is_told_twice(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let receiver = Receiver::new();
    hook_of(forge, &cast.path, &receiver.url("/"), &[("issues_events", "true")]);
    let issue = new_issue(forge, ROOT, &cast.path, "An issue", &[]);
    clear_outbox(forge);
    let actions = |form: &[(&str, &str)]| {
        update_issue(forge, ROOT, &issue, form);
        let told = deliver_payloads(forge, &receiver);
        let mut said: Vec<String> = told
            .iter()
            .map(|told| {
                let row = &told["object_attributes"];
                format!("{} {}", row["action"], row["state"]).replace('"', "")
            })
            .collect();
        said.sort();
        said
    };
    let both = [("state_event", "close"), ("title", "Another")];
    assert_eq!(actions(&both), ["close closed", "update closed"]);
    assert_eq!(actions(&[("state_event", "reopen")]), ["reopen reopened"]);
    assert_eq!(actions(&[("labels", "bug")]), ["update reopened"]);
}

/// 9.4
fn a_comment_is_told_with_its_issue(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let receiver = Receiver::new();
    hook_of(forge, &cast.path, &receiver.url("/"), &[("note_events", "true")]);
    let issue = new_issue(forge, ROOT, &cast.path, "An issue", &[]);
    clear_outbox(forge);
    let path = format!("{}/notes", path_of_issue(&issue));
    let form = [("body", "A comment")];
    let note = forge.post(&path).token(cast.token("owner")).form(&form).send().expect(201);
    forge.deliver();
    let received = receiver.take_only();
    assert_eq!(received.header("x-gitlab-event"), Some("Note Hook"));
    let project = id_of(&cast.project);
    let moment = "2016-09-22 10:30:00 UTC";
    let attributes = json!({
        "id": id_of(&note), "note": "A comment", "noteable_type": "Issue", "author_id": cast.ada,
        "created_at": moment, "updated_at": moment, "project_id": project, "attachment": null,
        "line_code": null, "commit_id": null, "noteable_id": id_of(&issue), "system": false,
        "st_diff": null, "updated_by_id": null, "type": null, "position": null,
        "original_position": null, "resolved_at": null, "resolved_by_id": null,
        "discussion_id": null, "original_discussion_id": null,
        "url": format!("http://forge.test/ada/ship/issues/1#note_{}", id_of(&note))
    });
    let row = json!({
        "id": id_of(&issue), "title": "An issue", "assignee_id": null, "author_id": 1,
        "project_id": project, "created_at": moment, "updated_at": moment, "position": 0,
        "branch_name": null, "description": null, "milestone_id": null, "state": "opened",
        "iid": 1, "updated_by_id": null, "confidential": false, "deleted_at": null,
        "due_date": null, "moved_to_id": null, "lock_version": null
    });
    let expected = json!({
        "object_kind": "note", "user": person_block(forge, cast.ada), "project_id": project,
        "project": project_block(), "object_attributes": attributes,
        "repository": repository_block(), "issue": row
    });
    assert_eq!(received.body, expected.to_string());
    // Neither edits nor system notes.
    let path = format!("{path}/{}", id_of(&note));
    forge.put(&path).token(ROOT).form(&[("body", "Changed")]).send().expect(200);
    update_issue(forge, ROOT, &issue, &[("title", "Another")]);
    assert_eq!(deliver_payloads(forge, &receiver), [json!(null); 0]);
}

/// Section 8: v3 has no switch for them.
fn confidential_issues_are_told_to_nobody(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let receiver = Receiver::new();
    let all = [("issues_events", "true"), ("note_events", "true")];
    hook_of(forge, &cast.path, &receiver.url("/"), &all);
    clear_outbox(forge);
    let issue = new_issue(forge, ROOT, &cast.path, "Hush", &[("confidential", "true")]);
    let path = format!("{}/notes", path_of_issue(&issue));
    forge.post(&path).token(ROOT).form(&[("body", "Hush")]).send().expect(201);
    update_issue(forge, ROOT, &issue, &[("state_event", "close")]);
    assert_eq!(deliver_payloads(forge, &receiver), [json!(null); 0]);
    update_issue(forge, ROOT, &issue, &[("confidential", "false")]);
    assert_eq!(deliver_payloads(forge, &receiver).len(), 1);
}

/// Section 8: the table of kinds
fn each_switch_lets_one_kind_through(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let switches =
        ["push_events", "tag_push_events", "issues_events", "note_events", "build_events"];
    let receivers = switches.map(|switch| {
        let receiver = Receiver::new();
        hook_of(forge, &fixture.cast.path, &receiver.url("/"), &[(switch, "true")]);
        receiver
    });
    clear_outbox(forge);
    new_branch(forge, &fixture, "one", "master");
    new_tag(forge, &fixture, &[("tag_name", "v3"), ("ref", "master")]);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "An issue", &[]);
    let path = format!("{}/notes", path_of_issue(&issue));
    forge.post(&path).token(ROOT).form(&[("body", "A comment")]).send().expect(201);
    forge.deliver();
    let kinds = receivers.map(|receiver| {
        let all = receiver.take();
        all.iter().map(|one| one.json()["object_kind"].clone()).collect::<Vec<_>>()
    });
    let expected = ["push", "tag_push", "issue", "note"].map(|kind| vec![json!(kind)]);
    assert_eq!(kinds[..4], expected);
    assert_eq!(kinds[4], [json!(null); 0]);
}

fn a_card() -> ProjectCard {
    ProjectCard {
        id: ProjectId(7),
        name: "Ship".into(),
        description: Some("About it".into()),
        namespace: "ada".into(),
        path_with_namespace: "ada/ship".into(),
        visibility: Visibility::Internal,
        avatar: None,
        default_branch: Some("master".into()),
    }
}

fn a_person() -> Person {
    Person {
        id: UserId(3),
        name: "Ada".into(),
        username: "ada".into(),
        email: "ada@example.com".into(),
        avatar: Some("me.png".into()),
    }
}

fn a_commit() -> CommitFacts {
    CommitFacts {
        message: "Fix it\n\nNow.\n".into(),
        author_name: "Ada".into(),
        author_email: "ada@example.com".into(),
        authored_at: Signature::time(1_474_540_200, 7200),
        committed_at: Signature::time(1_474_540_260, 7200),
    }
}

fn sha(digit: &str) -> ObjectId {
    ObjectId::parse(&digit.repeat(40)).expect("40 digits")
}

fn a_pipeline(status: Status) -> PipelineRow {
    PipelineRow {
        id: PipelineId(31),
        reference: "master".into(),
        tag: false,
        sha: sha("1"),
        before_sha: sha("2"),
        status,
        created_at: at(0),
        started_at: Some(at(1)),
        finished_at: None,
        duration: None,
    }
}

fn a_build(whole: bool) -> BuildRow {
    BuildRow {
        id: BuildId(41),
        stage: "test".into(),
        name: "rspec".into(),
        status: if whole { Status::Success } else { Status::Created },
        created_at: at(0),
        started_at: whole.then(|| at(2)),
        finished_at: whole.then(|| at(19)),
        when: if whole { When::OnSuccess } else { When::Manual },
        user: whole.then(a_person),
        runner: whole.then(|| RunnerRow {
            id: RunnerId(5),
            description: "shared".into(),
            active: true,
            shared: true,
        }),
        artifacts: whole.then(|| ("artifacts.zip".to_owned(), 1234)),
    }
}

/// Records an event of a project with this hook as the CI code would, delivers it, and returns its kind, payload and
/// project.
fn deliver_event(
    forge: &Forge,
    switch: &str,
    event: impl Fn(ProjectCard) -> ProjectEvent,
) -> (String, Value, i64) {
    let cast = a_cast(forge, "0");
    let receiver = Receiver::new();
    hook_of(forge, &cast.path, &receiver.url("/"), &[(switch, "true")]);
    clear_outbox(forge);
    let project = id_of(&cast.project);
    let event = event(ProjectCard { id: ProjectId(project), ..a_card() });
    let recorded: Result<(), StoreError> = forge.app.store.write(|tx| {
        tx.outbox().record(&SystemEvent::InProject(Box::new(event)), forge.app.clock.now())
    });
    recorded.expect("the store of the server can be written");
    forge.deliver();
    let received = receiver.take_only();
    let name = received.header("x-gitlab-event").unwrap_or_default().to_owned();
    (name, received.json(), project)
}

/// 9.6
fn a_build_is_told_with_its_pipeline(forge: &Forge) {
    let (name, told, project) = deliver_event(forge, "build_events", |project| {
        ProjectEvent::Build(BuildEvent {
            project,
            project_name: "ada / Ship".into(),
            pipeline: a_pipeline(Status::Running),
            commit: a_commit(),
            build: a_build(true),
            allow_failure: false,
        })
    });
    assert_eq!(name, "Build Hook");
    let expected = json!({
        "object_kind": "build", "ref": "master", "tag": false,
        "before_sha": "2".repeat(40), "sha": "1".repeat(40), "build_id": 41,
        "build_name": "rspec", "build_stage": "test", "build_status": "success",
        "build_started_at": "2016-09-22 10:30:02 UTC",
        "build_finished_at": "2016-09-22 10:30:19 UTC", "build_duration": 17.0,
        "build_allow_failure": false, "project_id": project, "project_name": "ada / Ship",
        "user": {"id": 3, "name": "Ada", "email": "ada@example.com"},
        "commit": {
            "id": 31, "sha": "1".repeat(40), "message": "Fix it\n\nNow.\n",
            "author_name": "Ada", "author_email": "ada@example.com", "status": "running",
            "duration": null, "started_at": "2016-09-22 10:30:01 UTC", "finished_at": null
        },
        "repository": {
            "name": "Ship", "url": "ssh://git@forge.test:2222/ada/ship.git",
            "description": "About it", "homepage": "http://forge.test/ada/ship",
            "git_http_url": "http://forge.test/ada/ship.git",
            "git_ssh_url": "ssh://git@forge.test:2222/ada/ship.git", "visibility_level": 10
        }
    });
    assert_eq!(told.to_string(), expected.to_string());
}

/// 9.7
fn a_pipeline_is_told_with_its_builds(forge: &Forge) {
    let (name, told, _) = deliver_event(forge, "pipeline_events", |project| {
        ProjectEvent::Pipeline(PipelineEvent {
            project,
            default_branch: Some("master".into()),
            pipeline: PipelineRow {
                finished_at: Some(at(60)),
                duration: Some(17),
                ..a_pipeline(Status::Success)
            },
            user: Some(a_person()),
            commit: a_commit(),
            stages: vec!["build".into(), "test".into()],
            builds: vec![a_build(true), a_build(false)],
        })
    });
    assert_eq!(name, "Pipeline Hook");
    let user = json!({
        "name": "Ada", "username": "ada",
        "avatar_url": "http://forge.test/uploads/user/avatar/3/me.png"
    });
    let expected = json!({
        "object_kind": "pipeline",
        "object_attributes": {
            "id": 31, "ref": "master", "tag": false, "sha": "1".repeat(40),
            "before_sha": "2".repeat(40), "status": "success", "stages": ["build", "test"],
            "created_at": "2016-09-22 10:30:00 UTC", "finished_at": "2016-09-22 10:31:00 UTC",
            "duration": 17
        },
        "user": user,
        "project": {
            "name": "Ship", "description": "About it", "web_url": "http://forge.test/ada/ship",
            "avatar_url": null, "git_ssh_url": "ssh://git@forge.test:2222/ada/ship.git",
            "git_http_url": "http://forge.test/ada/ship.git", "namespace": "ada",
            "visibility_level": 10, "path_with_namespace": "ada/ship", "default_branch": "master"
        },
        "commit": {
            "id": "1".repeat(40), "message": "Fix it\n\nNow.\n",
            "timestamp": "2016-09-22T12:31:00+02:00",
            "url": format!("http://forge.test/ada/ship/commit/{}", "1".repeat(40)),
            "author": {"name": "Ada", "email": "ada@example.com"}
        },
        "builds": [
            {
                "id": 41, "stage": "test", "name": "rspec", "status": "success",
                "created_at": "2016-09-22 10:30:00 UTC", "started_at": "2016-09-22 10:30:02 UTC",
                "finished_at": "2016-09-22 10:30:19 UTC", "when": "on_success", "manual": false,
                "user": user,
                "runner": {"id": 5, "description": "shared", "active": true, "is_shared": true},
                "artifacts_file": {"filename": "artifacts.zip", "size": 1234}
            },
            {
                "id": 41, "stage": "test", "name": "rspec", "status": "created",
                "created_at": "2016-09-22 10:30:00 UTC", "started_at": null,
                "finished_at": null, "when": "manual", "manual": true, "user": null,
                "runner": null, "artifacts_file": {"filename": null, "size": null}
            }
        ]
    });
    assert_eq!(told.to_string(), expected.to_string());
}

/// 9.6 and 9.7: when they are fired
fn builds_and_pipelines_are_told_as_they_go_on(forge: &Forge) {
    let fixture = ci_fixture(forge, "one:\n  script: make\n");
    let (builds, pipelines) = (Receiver::new(), Receiver::new());
    hook_of(forge, &fixture.cast.path, &builds.url("/"), &[("build_events", "true")]);
    hook_of(forge, &fixture.cast.path, &pipelines.url("/"), &[("pipeline_events", "true")]);
    clear_outbox(forge);
    let statuses = || {
        let builds: Vec<Value> = deliver_payloads(forge, &builds);
        let builds: Vec<&Value> = builds.iter().map(|one| &one["build_status"]).collect();
        let pipelines: Vec<Value> = pipelines.take().iter().map(Received::json).collect();
        let pipelines: Vec<&Value> =
            pipelines.iter().map(|one| &one["object_attributes"]["status"]).collect();
        json!([builds, pipelines])
    };
    push(forge, &fixture, "topic");
    // The builds of the first stage are pending from the start.
    assert_eq!(statuses(), json!([["pending"], ["pending"]]));
    step(forge, &fixture, "one", Transition::Run);
    assert_eq!(statuses(), json!([["running"], ["running"]]));
    step(forge, &fixture, "one", Transition::Succeed);
    assert_eq!(statuses(), json!([["success"], ["success"]]));
}

/// 9.1: one event per ref. 8: each hook gets the events in their order.
fn a_hook_hears_of_several_refs_one_by_one(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    let both = [("push_events", "true"), ("tag_push_events", "true")];
    hook_of(forge, &fixture.cast.path, &receiver.url("/"), &both);
    clear_outbox(forge);
    for number in 0..20 {
        new_branch(forge, &fixture, &format!("b{number}"), "master");
        new_tag(forge, &fixture, &[("tag_name", &format!("t{number}")), ("ref", "master")]);
    }
    let told = deliver_payloads(forge, &receiver);
    let refs: Vec<&str> = told.iter().filter_map(|one| one["ref"].as_str()).collect();
    let expected = (0..20)
        .flat_map(|number| [format!("refs/heads/b{number}"), format!("refs/tags/t{number}")]);
    assert_eq!(refs, expected.collect::<Vec<_>>());
}
