//! What merge requests mention: merge_requests.md section 14, last paragraph.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_fixtures::{
    commit_notes, fixture_with_visibility, fork_with_topic, post_from_fork, set_switch, write_note,
};
use super::requests_support::{
    new_request, path_of_request, post_request, put_request, request_notes,
};
use crate::api::groups::group_support::{new_project, path_of_project};
use crate::api::repositories::refs_support::{ProjectFixture, filled_fixture};
use crate::api::support::id_of;
use crate::api::tracker::tracker_support::{
    new_issue, note_bodies, path_of_issue, update_issue, user_summary,
};

on_every_store!(
    issues_and_requests_get_a_note,
    what_the_author_does_not_see_is_not_mentioned,
    named_commits_get_a_note,
    names_that_are_no_commits_leave_nothing,
    own_commits_are_not_told,
    commits_of_other_projects_get_a_note,
    issues_and_comments_name_commits_too,
    a_title_set_by_a_command_mentions,
);

const FIRST: &str = "mentioned in merge request !1";

/// Creates a request from a branch with this description.
#[track_caller]
fn describe(forge: &Forge, fixture: &ProjectFixture, source: &str, text: &str) -> Value {
    let fields = json!({"title": "t", "source_branch": source, "target_branch": "master",
        "description": text});
    post_request(forge, fixture, "developer", &fields).expect(201)
}

/// POST /projects/:id/merge_requests, POST /projects/:id/merge_requests/:noteable_id/notes
fn issues_and_requests_get_a_note(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let first = new_request(forge, &fixture, "a", "first");
    let second = describe(forge, &fixture, "b", "see !1, !1 and !2");
    assert_eq!(request_notes(forge, &first), ["mentioned in merge request !2"]);
    assert_eq!(request_notes(forge, &second), Vec::<String>::new(), "its own number");
    let third = new_request(forge, &fixture, "c", "third");
    let developer = fixture.token("developer");
    for _ in 0..2 {
        write_note(forge, developer, &third, "as !2 and !3").expect(201);
    }
    assert_eq!(request_notes(forge, &second), ["mentioned in merge request !3"]);
    // A changed text mentions, an unchanged one does not.
    put_request(forge, developer, &third, &json!({"title": "third, see !1"})).expect(200);
    let both = ["mentioned in merge request !2", "mentioned in merge request !3"];
    assert_eq!(request_notes(forge, &first), both);
    let note = request_notes_of(forge, &first);
    assert_eq!(
        (&note[1]["author"]["username"], &note[1]["system"]),
        (&json!("developer"), &json!(true))
    );
}

fn request_notes_of(forge: &Forge, request: &Value) -> Value {
    forge.get(&format!("{}/notes", path_of_request(request))).token(ROOT).send().expect(200)
}

/// POST /projects/:id/merge_requests: section 15, `issues_enabled`, and hidden projects.
fn what_the_author_does_not_see_is_not_mentioned(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let owner = fixture.token("owner");
    let open = new_project(forge, owner, "open", &[("visibility_level", "20")]);
    let secret = new_project(forge, owner, "secret", &[("visibility_level", "0")]);
    let issue_in = |project: &Value| new_issue(forge, owner, &path_of_project(project), "i", &[]);
    let (seen, hidden) = (issue_in(&open), issue_in(&secret));
    describe(forge, &fixture, "a", "see ada/open#1, ada/secret#1");
    assert_eq!(note_bodies(forge, ROOT, &seen), ["mentioned in merge request ada/ship!1"]);
    assert_eq!(note_bodies(forge, ROOT, &hidden), Vec::<String>::new());
    let own = new_issue(forge, owner, &fixture.cast.path, "own", &[]);
    set_switch(forge, &fixture, "issues_enabled", "false");
    describe(forge, &fixture, "b", "see #1");
    set_switch(forge, &fixture, "issues_enabled", "true");
    assert_eq!(note_bodies(forge, ROOT, &own), Vec::<String>::new());
}

/// GET /projects/:id/repository/commits/:sha/comments
fn named_commits_get_a_note(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (path, one, two) = (&fixture.cast.path, fixture.id("v1.0.0"), fixture.id("master~1"));
    let three = fixture.id("master");
    let url = format!("http://forge.test/ada/ship/commit/{three}");
    let text = format!("after {one}, {} and {}; see {url}", &two[..7], two.to_uppercase());
    let made = describe(forge, &fixture, "feature/x", &text);
    for sha in [&one, &two, &three] {
        assert_eq!(commit_notes(forge, ROOT, path, sha), [FIRST], "{sha}");
    }
    let comments = format!("{path}/repository/commits/{one}/comments");
    let comments = forge.get(&comments).token(ROOT).send().expect(200);
    let expected = json!({
        "note": FIRST, "path": null, "line": null, "line_type": null,
        "author": user_summary(forge, id_of(&made["author"])),
        "created_at": "2016-09-22T10:30:00.000Z",
    });
    assert_eq!(comments, json!([expected]));
    // Once per pair, also by a note, a changed text and a changed note.
    let developer = fixture.token("developer");
    let note = write_note(forge, developer, &made, &format!("and {one}")).expect(201);
    let note = format!("{}/notes/{}", path_of_request(&made), id_of(&note));
    forge.put(&note).token(developer).form(&[("body", one.as_str())]).send().expect(200);
    put_request(forge, developer, &made, &json!({"title": format!("t {one}")})).expect(200);
    assert_eq!(commit_notes(forge, ROOT, path, &one), [FIRST]);
    // No event and no delivery tells of it.
    let events = forge.get(&format!("{path}/events")).token(ROOT).send().expect(200);
    let notes = events.as_array().expect("a list").iter();
    assert_eq!(notes.filter(|event| event["action_name"] == "commented on").count(), 1);
}

/// POST /projects/:id/merge_requests
fn names_that_are_no_commits_leave_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (path, one) = (&fixture.cast.path, fixture.id("v1.0.0"));
    let tree = fixture.id("v1.0.0^{tree}");
    let branch = [("branch_name", "abcdef1"), ("ref", "v1.0.0")];
    forge.post(&fixture.branches).token(ROOT).form(&branch).send().expect(200);
    let text = format!(
        "{} {tree} 1234567 0000000000000000000000000000000000000000 abcdef1 x{one} {one}x \
         nobody/nothing@{one} http://other.test/ada/ship/commit/{one} #{one}",
        &one[..6]
    );
    describe(forge, &fixture, "feature/x", &text);
    assert_eq!(commit_notes(forge, ROOT, path, &one), Vec::<String>::new());
}

/// POST /projects/:id/merge_requests: "own commits are not told".
fn own_commits_are_not_told(forge: &Forge) {
    let fixture = fixture_with_visibility(forge, "20");
    let (path, own, one) = (&fixture.cast.path, fixture.id("feature/x"), fixture.id("v1.0.0"));
    let text = format!("{own} after {one}");
    let made = describe(forge, &fixture, "feature/x", &text);
    let developer = fixture.token("developer");
    let note = write_note(forge, developer, &made, &text).expect(201);
    let note = format!("{}/notes/{}", path_of_request(&made), id_of(&note));
    forge.put(&note).token(developer).form(&[("body", own.as_str())]).send().expect(200);
    put_request(forge, developer, &made, &json!({"title": own})).expect(200);
    assert_eq!(commit_notes(forge, ROOT, path, &own), Vec::<String>::new());
    assert_eq!(commit_notes(forge, ROOT, path, &one), [FIRST]);
    let (fork, topic) = fork_with_topic(forge, &fixture);
    let more = json!({"description": topic});
    post_from_fork(forge, &fixture, &fork, &more).expect(201);
    // A second request of the same commits, which the project has now.
    let more = json!({"description": topic, "target_branch": "feature/x"});
    post_from_fork(forge, &fixture, &fork, &more).expect(201);
    assert_eq!(commit_notes(forge, ROOT, path, &topic), Vec::<String>::new());
    // Another request may name them.
    let other = new_request(forge, &fixture, "a", "other");
    write_note(forge, developer, &other, &format!("{own} {topic}")).expect(201);
    for sha in [&own, &topic] {
        assert_eq!(commit_notes(forge, ROOT, path, sha), ["mentioned in merge request !4"]);
    }
}

/// POST /projects/:id/merge_requests: `namespace/project@sha` and addresses.
fn commits_of_other_projects_get_a_note(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let owner = fixture.token("owner");
    let commit_in = |name: &str, level: &str| {
        let project = new_project(forge, owner, name, &[("visibility_level", level)]);
        let path = format!("{}/repository/commits", path_of_project(&project));
        let body = json!({"branch_name": "master", "commit_message": name,
            "actions": [{"action": "create", "file_path": "a", "content": name}]});
        let made = forge.post(&path).token(owner).json(&body).send().expect(201);
        (path_of_project(&project), made["id"].as_str().expect("an id").to_owned())
    };
    let (open, seen) = commit_in("open", "20");
    let (secret, hidden) = commit_in("secret", "0");
    let text = format!(
        "ada/open@{} and http://forge.test/ada/open/commit/{seen} and ada/secret@{hidden}, {seen}",
        &seen[..8]
    );
    describe(forge, &fixture, "feature/x", &text);
    let note = "mentioned in merge request ada/ship!1";
    assert_eq!(commit_notes(forge, ROOT, &open, &seen), [note]);
    assert_eq!(commit_notes(forge, ROOT, &secret, &hidden), Vec::<String>::new());
    // Who does not see the request does not see the note.
    let stranger = fixture.token("stranger");
    assert_eq!(commit_notes(forge, stranger, &open, &seen), Vec::<String>::new());
}

/// POST /projects/:id/issues, POST /projects/:id/repository/commits/:sha/comments: section 11.3, row "mentioned".
fn issues_and_comments_name_commits_too(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (path, one, two) = (&fixture.cast.path, fixture.id("v1.0.0"), fixture.id("master~1"));
    let owner = fixture.token("owner");
    // A guest may write issues, but not read the code.
    let more = [("description", one.as_str())];
    new_issue(forge, fixture.token("guest"), path, "by a guest", &more);
    assert_eq!(commit_notes(forge, ROOT, path, &one), Vec::<String>::new());
    let issue = new_issue(forge, owner, path, "an issue", &more);
    update_issue(forge, owner, &issue, &[("title", &format!("about {two}"))]);
    let notes = format!("{}/notes", path_of_issue(&issue));
    forge.post(&notes).token(owner).form(&[("body", one.as_str())]).send().expect(201);
    assert_eq!(commit_notes(forge, ROOT, path, &one), ["mentioned in issue #2"]);
    assert_eq!(commit_notes(forge, ROOT, path, &two), ["mentioned in issue #2"]);
    let comment = |on: &str, text: &str| {
        let path = format!("{path}/repository/commits/{on}/comments");
        forge.post(&path).token(owner).json(&json!({"note": text})).send().expect(201);
    };
    let text = format!("like {one} and {two}");
    comment(&two, &text);
    comment(&two, &text);
    let expected = ["mentioned in issue #2", &format!("mentioned in commit {two}")];
    assert_eq!(commit_notes(forge, ROOT, path, &one), expected);
    let own = ["mentioned in issue #2", &text, &text];
    assert_eq!(commit_notes(forge, ROOT, path, &two), own, "not itself");
}

/// POST /projects/:id/merge_requests/:noteable_id/notes: section 12, "what is carried out has the effects of section 5".
fn a_title_set_by_a_command_mentions(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let one = fixture.id("v1.0.0");
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let command = format!("/title See #1 and {one}");
    let only = write_note(forge, fixture.token("developer"), &made, &command).expect(201);
    assert_eq!(only["id"], Value::Null);
    assert_eq!(note_bodies(forge, ROOT, &issue), [FIRST]);
    assert_eq!(commit_notes(forge, ROOT, &fixture.cast.path, &one), [FIRST]);
    let other = new_issue(forge, ROOT, &fixture.cast.path, "other", &[]);
    let notes = format!("{}/notes", path_of_issue(&other));
    let form = [("body", "/title See #1")];
    forge.post(&notes).token(fixture.token("reporter")).form(&form).send().expect(201);
    assert_eq!(note_bodies(forge, ROOT, &issue), [FIRST, "mentioned in issue #2"]);
    // A title that is not set mentions nothing.
    let third = new_issue(forge, ROOT, &fixture.cast.path, "third", &[]);
    let notes = format!("{}/notes", path_of_issue(&third));
    forge.post(&notes).token(fixture.token("guest")).form(&form).send().expect(201);
    assert_eq!(note_bodies(forge, ROOT, &issue).len(), 2);
}
