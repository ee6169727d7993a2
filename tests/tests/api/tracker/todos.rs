//! The calls on todos, and the todos about issues and commits: rest_of_v3.md section 6.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::todo_support::{actions, finish_all, todos, todos_with};
use crate::api::groups::group_support::{error, new_group, new_project, no_project};
use crate::api::projects::project_support::{Cast, a_cast, assert_unchanged};
use crate::api::repositories::refs_support::filled_fixture;
use crate::api::support::{MISSING, assert_only_for_users, id_of, ids, message};
use crate::api::tracker::tracker_support::{
    issue_now, new_issue, path_of_issue, update_issue, user_summary,
};

on_every_store!(
    a_todo_is_made_for_an_issue_and_marked_as_done,
    todos_of_others_and_unknown_ones_are_missing,
    todos_are_listed_newest_first,
    each_filter_restricts_the_list,
    filtered_todos_are_marked_as_done_and_counted,
    assignees_get_a_todo,
    mentioned_readers_get_a_todo,
    groups_and_the_team_are_mentioned,
    edits_mention_again_and_ticked_tasks_do_not,
    notes_mention_and_finish,
    what_a_user_does_with_an_issue_finishes_the_todo,
    commands_make_and_finish_todos,
    todos_go_with_their_target_note_and_membership,
    hidden_issues_are_no_targets,
    comments_on_commits_mention,
    only_users_have_todos,
);

fn mark(forge: &Forge, token: &str, issue: &Value) -> Value {
    forge.post(&format!("{}/todo", path_of_issue(issue))).token(token).send().expect(201)
}

#[track_caller]
fn write_note(forge: &Forge, token: &str, issue: &Value, body: &str) -> Value {
    let path = format!("{}/notes", path_of_issue(issue));
    forge.post(&path).token(token).form(&[("body", body)]).send().expect(201)
}

fn user_id(forge: &Forge, token: &str) -> i64 {
    id_of(&forge.get("/user").token(token).send().expect(200))
}

/// POST /projects/:id/issues/:issue_id/todo, GET /todos, DELETE /todos/:id
fn a_todo_is_made_for_an_issue_and_marked_as_done(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    let guest = cast.token("guest");
    forge.clock.advance(TimeDelta::seconds(5));
    let made = mark(forge, guest, &issue);
    let project = &cast.project;
    let expected = json!({
        "id": id_of(&made),
        "project": {
            "id": project["id"], "http_url_to_repo": project["http_url_to_repo"],
            "web_url": project["web_url"], "name": project["name"],
            "name_with_namespace": project["name_with_namespace"], "path": project["path"],
            "path_with_namespace": project["path_with_namespace"]
        },
        "author": user_summary(forge, user_id(forge, guest)),
        "action_name": "marked",
        "target_type": "Issue",
        "target": issue_now(forge, guest, &issue),
        "target_url": issue["web_url"],
        "body": "an issue",
        "state": "pending",
        "created_at": "2016-09-22T10:30:05.000Z"
    });
    assert_eq!(made.to_string(), expected.to_string());
    assert_eq!(todos(forge, guest), json!([expected]));
    let path = format!("{}/todo", path_of_issue(&issue));
    assert_unchanged(&forge.post(&path).token(guest).send());
    let one = format!("/todos/{}", id_of(&made));
    for _ in 0..2 {
        let mut done = expected.clone();
        done["state"] = json!("done");
        assert_eq!(forge.delete(&one).token(guest).send().expect(200), done);
        assert_eq!(todos(forge, guest), json!([]));
        assert_eq!(todos_with(forge, guest, "&state=done"), json!([done]));
    }
    assert_ne!(id_of(&mark(forge, guest, &issue)), id_of(&made));
}

/// POST /projects/:id/issues/:issue_id/todo, DELETE /todos/:id
fn todos_of_others_and_unknown_ones_are_missing(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    let made = mark(forge, owner, &issue);
    let missing = message("404 Not found");
    for (token, id) in [(ROOT, id_of(&made)), (owner, MISSING)] {
        let answer = forge.delete(&format!("/todos/{id}")).token(token).send();
        assert_eq!(answer.expect(404), missing);
    }
    let answer = forge.delete("/todos/x").token(owner).send();
    assert_eq!(answer.expect(400), error("id is invalid"));
    assert_eq!(ids(&todos(forge, owner)), [id_of(&made)]);
    let todo = |token: &str, path: &str| forge.post(path).token(token).send();
    let unknown = format!("{}/issues/{MISSING}/todo", cast.path);
    assert_eq!(todo(owner, &unknown).expect(404), missing);
    let text = format!("{}/issues/x/todo", cast.path);
    assert_eq!(todo(owner, &text).expect(400), error("issue_id is invalid"));
    let path = format!("{}/todo", path_of_issue(&issue));
    assert_eq!(todo(cast.token("stranger"), &path).expect(404), no_project());
    update_issue(forge, owner, &issue, &[("confidential", "true")]);
    assert_eq!(todo(cast.token("guest"), &path).expect(404), missing);
    todo(cast.token("reporter"), &path).expect(201);
    forge.post(&format!("{}/archive", cast.path)).token(owner).send().expect(201);
    todo(cast.token("developer"), &path).expect(201);
}

/// Issues of the owner that are marked by the guest.
fn marked_issues(forge: &Forge, cast: &Cast, count: usize) -> Vec<i64> {
    let made = (0..count).map(|number| {
        let title = format!("issue {number}");
        let issue = new_issue(forge, cast.token("owner"), &cast.path, &title, &[]);
        id_of(&mark(forge, cast.token("guest"), &issue))
    });
    let mut made: Vec<i64> = made.collect();
    made.reverse();
    made
}

/// GET /todos
fn todos_are_listed_newest_first(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let made = marked_issues(forge, &cast, 5);
    let guest = cast.token("guest");
    let page = forge.get("/todos?per_page=2&page=2").token(guest).send();
    assert_eq!(ids(&page.expect(200)), made[2..4]);
    assert_eq!(page.header("X-Total"), Some("5"));
    assert_eq!(ids(&todos(forge, guest)), made);
    assert_eq!(todos(forge, ROOT), json!([]));
}

/// GET /todos
fn each_filter_restricts_the_list(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (owner, guest) = (cast.token("owner"), cast.token("guest"));
    let me = user_id(forge, guest).to_string();
    let first = new_issue(forge, owner, &cast.path, "first", &[("assignee_id", &me)]);
    let second = new_issue(forge, owner, &cast.path, "second", &[("description", "@guest")]);
    let other = new_project(forge, guest, "Other", &[]);
    let other_path = format!("/projects/{}", id_of(&other));
    let third = new_issue(forge, guest, &other_path, "third", &[]);
    let third = mark(forge, guest, &third);
    let all = todos(forge, guest);
    let [marked, mentioned, assigned] = [0, 1, 2].map(|at| id_of(&all[at]));
    assert_eq!((marked, &all[1]["target"]["id"]), (id_of(&third), &second["id"]));
    assert_eq!(all[2]["target"]["id"], first["id"]);
    forge.delete(&format!("/todos/{assigned}")).token(guest).send().expect(200);
    let (here, there) = (id_of(&cast.project), id_of(&other));
    for (query, expected) in [
        ("&state=".to_owned(), vec![marked, mentioned]),
        ("&state=pending".to_owned(), vec![marked, mentioned]),
        ("&state=unknown".to_owned(), vec![marked, mentioned]),
        ("&state=done".to_owned(), vec![assigned]),
        ("&action=marked".to_owned(), vec![marked]),
        ("&action=assigned".to_owned(), vec![]),
        ("&action=assigned&state=done".to_owned(), vec![assigned]),
        ("&action=approval_required".to_owned(), vec![]),
        ("&action=unknown".to_owned(), vec![marked, mentioned]),
        ("&action_id=2".to_owned(), vec![mentioned]),
        ("&action_id=4".to_owned(), vec![marked]),
        ("&action_id=9".to_owned(), vec![marked, mentioned]),
        ("&action_id=x".to_owned(), vec![marked, mentioned]),
        ("&action=marked&action_id=2".to_owned(), vec![]),
        (format!("&author_id={}", cast.ada), vec![mentioned]),
        (format!("&author_id={me}"), vec![marked]),
        ("&author_id=0".to_owned(), vec![]),
        ("&author_id=".to_owned(), vec![marked, mentioned]),
        (format!("&project_id={here}"), vec![mentioned]),
        (format!("&project_id={there}"), vec![marked]),
        ("&type=Issue".to_owned(), vec![marked, mentioned]),
        ("&type=MergeRequest".to_owned(), vec![]),
        ("&type=Commit".to_owned(), vec![marked, mentioned]),
        (format!("&type=Issue&project_id={here}&action=mentioned"), vec![mentioned]),
    ] {
        assert_eq!(ids(&todos_with(forge, guest, &query)), expected, "{query}");
    }
    let missing = message("404 Not found");
    for query in ["author_id=987654", "author_id=x", "project_id=987654", "project_id=x"] {
        for method in ["GET", "DELETE"] {
            let answer = forge.request(method, &format!("/todos?{query}")).token(guest).send();
            assert_eq!(answer.expect(404), missing, "{method} {query}");
        }
    }
    let hidden = format!("/todos?project_id={there}");
    let stranger = cast.token("stranger");
    assert_eq!(forge.get(&hidden).token(stranger).send().expect(200), json!([]));
    assert_eq!(forge.delete(&hidden).token(stranger).send().expect(200), json!(0));
}

/// DELETE /todos: the bare number of changed todos.
fn filtered_todos_are_marked_as_done_and_counted(forge: &Forge) {
    let cast = a_cast(forge, "0");
    marked_issues(forge, &cast, 3);
    let (owner, guest) = (cast.token("owner"), cast.token("guest"));
    new_issue(forge, owner, &cast.path, "an issue", &[("description", "@guest @ada")]);
    let delete = |query: &str| forge.delete(&format!("/todos{query}")).token(guest).send();
    assert_eq!(delete("?type[a]=MergeRequest").expect(400), json!({"error": "type is invalid"}));
    assert_eq!(delete("?action=assigned").expect(200), json!(0));
    assert_eq!(delete("?action=mentioned").expect(200), json!(1));
    assert_eq!(actions(forge, guest), ["marked", "marked", "marked"]);
    assert_eq!(delete("?state=done").expect(200), json!(0));
    assert_eq!(delete("").text(), "3");
    assert_eq!(delete("").text(), "0");
    assert_eq!(actions(forge, owner), ["mentioned"], "todos of others stay");
}

/// GET /todos: section 6.2, the first row.
fn assignees_get_a_todo(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (owner, guest) = (cast.token("owner"), cast.token("guest"));
    let (ada, me) = (cast.ada.to_string(), user_id(forge, guest).to_string());
    let mine = [("assignee_id", me.as_str()), ("description", "@guest")];
    let issue = new_issue(forge, owner, &cast.path, "an issue", &mine);
    assert_eq!(actions(forge, guest), ["assigned"], "assigned and mentioned at once");
    let todo = &todos(forge, guest)[0];
    assert_eq!(todo["author"]["id"].as_i64(), Some(cast.ada));
    assert_eq!((&todo["body"], &todo["target_url"]), (&json!("an issue"), &issue["web_url"]));
    assert_eq!(actions(forge, owner), Vec::<String>::new());
    update_issue(forge, owner, &issue, &[("assignee_id", &ada)]);
    assert_eq!(actions(forge, owner), ["assigned"], "also when that is the actor");
    update_issue(forge, owner, &issue, &[("assignee_id", &me)]);
    assert_eq!(actions(forge, guest), ["assigned"], "no second pending one");
    assert_eq!(actions(forge, owner), Vec::<String>::new(), "the edit finished it");
    finish_all(forge, guest);
    update_issue(forge, owner, &issue, &[("assignee_id", &me)]);
    assert_eq!(actions(forge, guest), Vec::<String>::new(), "nobody was reassigned");
}

/// GET /todos: section 6.2, the second row.
fn mentioned_readers_get_a_todo(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let everyone = "@ada @guest @reporter, @stranger @nobody and guest@example.com, `@developer`";
    let issue =
        new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[("description", everyone)]);
    for (who, expected) in [("owner", 1), ("guest", 1), ("reporter", 1), ("developer", 0)] {
        let found = todos(forge, cast.token(who));
        assert_eq!(found.as_array().map(Vec::len), Some(expected), "{who}");
    }
    assert_eq!(todos(forge, cast.token("stranger")), json!([]));
    assert_eq!(todos(forge, cast.token("guest"))[0]["target_url"], issue["web_url"]);
    let more = [("confidential", "true"), ("description", "@guest @reporter")];
    for who in ["guest", "reporter"] {
        finish_all(forge, cast.token(who));
    }
    new_issue(forge, cast.token("owner"), &cast.path, "secret", &more);
    assert_eq!(actions(forge, cast.token("guest")), Vec::<String>::new());
    assert_eq!(actions(forge, cast.token("reporter")), ["mentioned"]);
}

/// GET /todos: names of groups, and `@all`.
fn groups_and_the_team_are_mentioned(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let (_, fan) = forge.user("fan");
    new_group(forge, &fan, "fans", &[]);
    let owner = cast.token("owner");
    new_issue(forge, owner, &cast.path, "an issue", &[("description", "@fans!")]);
    assert_eq!(actions(forge, &fan), ["mentioned"]);
    assert_eq!(actions(forge, cast.token("guest")), Vec::<String>::new());
    let issue = new_issue(forge, owner, &cast.path, "another", &[]);
    write_note(forge, owner, &issue, "@all: look");
    for who in ["guest", "reporter", "developer", "master"] {
        assert_eq!(actions(forge, cast.token(who)), ["mentioned"], "{who}");
    }
    assert_eq!(actions(forge, cast.token("stranger")), Vec::<String>::new());
    assert_eq!(actions(forge, &fan), ["mentioned"]);
}

/// PUT /projects/:id/issues/:issue_id: section 6.2.
fn edits_mention_again_and_ticked_tasks_do_not(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (owner, guest) = (cast.token("owner"), cast.token("guest"));
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[("description", "old")]);
    let edit = |field: &str, value: &str| update_issue(forge, owner, &issue, &[(field, value)]);
    edit("description", "@guest\n\n- [ ] one");
    assert_eq!(actions(forge, guest), ["mentioned"]);
    edit("description", "@guest and others\n\n- [ ] one");
    assert_eq!(actions(forge, guest), ["mentioned"], "one is enough");
    finish_all(forge, guest);
    edit("description", "@guest and others\n\n- [x] one");
    assert_eq!(actions(forge, guest), Vec::<String>::new());
    edit("labels", "bug");
    assert_eq!(actions(forge, guest), Vec::<String>::new());
    edit("title", "a new title");
    assert_eq!(actions(forge, guest), ["mentioned"]);
    assert_eq!(todos(forge, guest)[0]["body"], "a new title");
}

/// POST /projects/:id/issues/:noteable_id/notes, PUT /projects/:id/issues/:noteable_id/notes/:note_id
fn notes_mention_and_finish(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (owner, guest) = (cast.token("owner"), cast.token("guest"));
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    let note = write_note(forge, owner, &issue, "dear @guest and @ada");
    let todo = &todos(forge, guest)[0];
    assert_eq!((&todo["action_name"], &todo["body"]), (&json!("mentioned"), &note["body"]));
    let url = format!("{}#note_{}", issue["web_url"].as_str().expect("a URL"), id_of(&note));
    assert_eq!(todo["target_url"], url);
    assert_eq!(actions(forge, owner), ["mentioned"], "the author included");
    write_note(forge, guest, &issue, "well");
    assert_eq!(actions(forge, guest), Vec::<String>::new());
    assert_eq!(actions(forge, owner), ["mentioned"]);
    let path = format!("{}/notes/{}", path_of_issue(&issue), id_of(&note));
    let form = [("body", "really, @guest")];
    forge.put(&path).token(owner).form(&form).send().expect(200);
    assert_eq!(todos(forge, guest)[0]["body"], "really, @guest");
    write_note(forge, guest, &issue, ":tada:");
    assert_eq!(actions(forge, guest), Vec::<String>::new(), "awarded by a note");
    mark(forge, guest, &issue);
    let award = format!("{}/award_emoji", path_of_issue(&issue));
    forge.post(&award).token(guest).form(&[("name", "heart")]).send().expect(201);
    assert_eq!(actions(forge, guest), ["marked"], "awards leave todos alone");
}

/// PUT /projects/:id/issues/:issue_id: section 6.2, the last paragraph.
fn what_a_user_does_with_an_issue_finishes_the_todo(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (owner, master) = (cast.token("owner"), cast.token("master"));
    let milestones = format!("{}/milestones", cast.path);
    let milestone = forge.post(&milestones).token(owner).form(&[("title", "1.0")]).send();
    let milestone = id_of(&milestone.expect(201)).to_string();
    let me = user_id(forge, owner).to_string();
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    for (field, value, finishes) in [
        ("title", "new", true),
        ("title", "new", false),
        ("description", "new", true),
        ("assignee_id", me.as_str(), true),
        ("milestone_id", milestone.as_str(), true),
        ("labels", "bug", true),
        ("due_date", "2017-01-01", false),
        ("confidential", "true", false),
        ("state_event", "close", true),
        ("state_event", "reopen", false),
    ] {
        for token in [owner, master] {
            forge.post(&format!("{}/todo", path_of_issue(&issue))).token(token).send();
        }
        update_issue(forge, master, &issue, &[(field, value)]);
        assert_eq!(actions(forge, master).is_empty(), finishes, "{field}={value}");
        assert_eq!(actions(forge, owner).len(), 1, "{field}={value}: not that of others");
    }
}

/// POST /projects/:id/issues/:noteable_id/notes: `/todo` and `/done`.
fn commands_make_and_finish_todos(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let guest = cast.token("guest");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    assert_eq!(write_note(forge, guest, &issue, "/todo")["id"], Value::Null);
    assert_eq!(actions(forge, guest), ["marked"]);
    write_note(forge, guest, &issue, "/todo");
    assert_eq!(actions(forge, guest), ["marked"]);
    write_note(forge, guest, &issue, "/done");
    assert_eq!(actions(forge, guest), Vec::<String>::new());
    assert_eq!(write_note(forge, guest, &issue, "later\n/todo")["body"], "later");
    assert_eq!(actions(forge, guest), ["marked"], "the command comes after the note");
    write_note(forge, guest, &issue, "/done\n/todo");
    assert_eq!(actions(forge, guest), ["marked"]);
    let text = [("description", "text\n/todo")];
    let new = new_issue(forge, guest, &cast.path, "another", &text);
    assert_eq!((&new["description"], actions(forge, guest).len()), (&json!("text"), 1));
}

/// DELETE /projects/:id/issues/:issue_id and other removals.
fn todos_go_with_their_target_note_and_membership(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let (owner, guest) = (cast.token("owner"), cast.token("guest"));
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    let note = write_note(forge, owner, &issue, "@guest");
    let note = format!("{}/notes/{}", path_of_issue(&issue), id_of(&note));
    forge.delete(&note).token(owner).send().expect(200);
    assert_eq!(todos(forge, guest), json!([]));
    mark(forge, guest, &issue);
    forge.delete(&path_of_issue(&issue)).token(owner).send().expect(200);
    assert_eq!(todos(forge, guest), json!([]));
    let issue = new_issue(forge, owner, &cast.path, "another", &[]);
    for token in [guest, cast.token("stranger")] {
        mark(forge, token, &issue);
    }
    let member = format!("{}/members/{}", cast.path, user_id(forge, guest));
    forge.delete(&member).token(owner).send().expect(200);
    assert_eq!(todos(forge, guest), json!([]));
    assert_eq!(actions(forge, cast.token("stranger")), ["marked"]);
    forge.delete(&cast.path).token(owner).send().expect(200);
    assert_eq!(todos(forge, cast.token("stranger")), json!([]));
}

/// GET /todos, DELETE /todos/:id: only of what the caller still sees.
fn hidden_issues_are_no_targets(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    let other = new_issue(forge, owner, &cast.path, "other", &[]);
    let stranger = cast.token("stranger");
    let made = mark(forge, stranger, &issue);
    mark(forge, stranger, &other);
    update_issue(forge, owner, &issue, &[("confidential", "true")]);
    assert_eq!(actions(forge, stranger).len(), 1);
    let path = format!("/todos/{}", id_of(&made));
    let answer = forge.delete(&path).token(stranger).send();
    assert_eq!(answer.expect(404), message("404 Not found"));
    let private = [("name", "Ship"), ("visibility_level", "0")];
    forge.put(&cast.path).token(owner).form(&private).send().expect(200);
    assert_eq!(todos(forge, stranger), json!([]));
    assert_eq!(forge.delete("/todos").token(stranger).send().expect(200), json!(0));
}

/// GET /todos: `target` is the commit as in the list of commits.
fn comments_on_commits_mention(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let id = fixture.id("master");
    let path = format!("{}/repository/commits/{id}/comments", fixture.cast.path);
    let comment = |who: &str, text: &str| {
        forge.post(&path).token(fixture.token(who)).json(&json!({"note": text})).send().expect(201)
    };
    comment("master", "@reporter @guest: see line 3");
    assert_eq!(todos(forge, fixture.token("guest")), json!([]), "guests do not see code");
    let reporter = fixture.token("reporter");
    let todo = &todos(forge, reporter)[0];
    let commits = format!("{}/repository/commits", fixture.cast.path);
    let commits = forge.get(&commits).token(reporter).send().expect(200);
    assert_eq!((&todo["target_type"], &todo["target"]), (&json!("Commit"), &commits[0]));
    assert_eq!(todo["body"], "@reporter @guest: see line 3");
    let url = todo["target_url"].as_str().expect("a URL");
    let web_url = fixture.cast.project["web_url"].as_str().expect("a URL");
    assert!(url.starts_with(&format!("{web_url}/commit/{id}#note_")), "{url}");
    assert_eq!(todos_with(forge, reporter, "&type=Issue"), json!([]));
    comment("reporter", "thanks");
    assert_eq!(todos(forge, reporter), json!([]));
    let done = forge.get("/todos?state=done").token(reporter).send().expect(200);
    assert_eq!(done[0]["target"], commits[0]);
}

/// GET /todos, DELETE /todos, DELETE /todos/:id, POST /projects/:id/issues/:issue_id/todo,
/// POST /projects/:id/merge_requests/:merge_request_id/todo
fn only_users_have_todos(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let of_project = |kind: &str| format!("{}/{kind}/1/todo", cast.path);
    let calls = [
        ("GET", "/todos".to_owned()),
        ("DELETE", "/todos".to_owned()),
        ("DELETE", "/todos/1".to_owned()),
        ("POST", of_project("issues")),
        ("POST", of_project("merge_requests")),
    ];
    assert_only_for_users(forge, &calls);
}
