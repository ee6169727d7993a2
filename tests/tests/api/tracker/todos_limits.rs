//! Todos of hostile texts, of many targets and of concurrent calls: rest_of_v3.md section 6.

use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::note::Noteable;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::todo::NewTodo;
use hexforge_domain_testing::builders::a_todo;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::todo_support::{actions, finish_all, todos};
use crate::api::everywhere::concurrent_calls::{at_once, statuses};
use crate::api::projects::project_support::a_cast;
use crate::api::support::id_of;
use crate::api::tracker::tracker_support::{new_issue, path_of_issue, update_issue};

on_every_store!(
    a_text_of_a_thousand_mentions_makes_one_todo_per_user,
    a_mention_shows_hidden_targets_to_nobody,
    two_marks_at_once_make_one_todo,
    two_deletions_at_once_count_each_todo_once,
    more_todos_than_one_transaction_marks_are_all_marked,
    mentions_and_removals_at_once_leave_nothing_behind,
);

/// POST /projects/:id/issues/:noteable_id/notes: a text mentions at most 50 names.
fn a_text_of_a_thousand_mentions_makes_one_todo_per_user(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (owner, guest) = (cast.token("owner"), cast.token("guest"));
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    let notes = format!("{}/notes", path_of_issue(&issue));
    let write = |body: &str| {
        let form = [("body", body)];
        forge.post(&notes).token(owner).form(&form).send().expect(201);
    };
    write(&"@guest @all ".repeat(1000));
    assert_eq!(actions(forge, guest), ["mentioned"]);
    assert_eq!(actions(forge, cast.token("reporter")), ["mentioned"]);
    finish_all(forge, guest);
    let nobodies: Vec<String> = (0..1000).map(|number| format!("@nobody{number}")).collect();
    write(&format!("{} @guest", nobodies.join(" ")));
    assert_eq!(todos(forge, guest), json!([]), "names after the first 50 are ignored");
    write(&format!("@guest {}", nobodies.join(" ")));
    assert_eq!(actions(forge, guest), ["mentioned"]);
}

/// PUT /projects/:id/issues/:issue_id, GET /todos: rights count when the text is written and when todos are read.
fn a_mention_shows_hidden_targets_to_nobody(forge: &Forge) {
    let cast = a_cast(forge, "10");
    let owner = cast.token("owner");
    let text = [("description", "@guest @stranger @external @reporter")];
    let issue = new_issue(forge, owner, &cast.path, "an issue", &text);
    assert_eq!(actions(forge, cast.token("external")), Vec::<String>::new());
    for who in ["guest", "stranger", "reporter"] {
        assert_eq!(actions(forge, cast.token(who)), ["mentioned"], "{who}");
    }
    update_issue(forge, owner, &issue, &[("confidential", "true")]);
    for (who, expected) in [("guest", 0), ("stranger", 0), ("reporter", 1)] {
        assert_eq!(actions(forge, cast.token(who)).len(), expected, "{who}");
        let marked = forge.delete("/todos").token(cast.token(who)).send().expect(200);
        assert_eq!(marked, json!(expected), "{who}");
    }
    update_issue(forge, owner, &issue, &[("title", "a new title")]);
    for (who, expected) in [("guest", 0), ("stranger", 0), ("reporter", 1)] {
        assert_eq!(actions(forge, cast.token(who)).len(), expected, "{who}");
    }
    update_issue(forge, owner, &issue, &[("confidential", "false")]);
    assert_eq!(actions(forge, cast.token("guest")), ["mentioned"], "it is seen again");
}

/// POST /projects/:id/issues/:issue_id/todo
fn two_marks_at_once_make_one_todo(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let guest = cast.token("guest");
    for _ in 0..5 {
        let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
        let path = format!("{}/todo", path_of_issue(&issue));
        let mark = || forge.post(&path).token(guest).send();
        assert_eq!(statuses(&at_once([&mark, &mark, &mark])), [201, 304, 304]);
    }
    assert_eq!(actions(forge, guest).len(), 5);
}

/// DELETE /todos
fn two_deletions_at_once_count_each_todo_once(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let guest = cast.token("guest");
    for number in 0..10 {
        let title = format!("issue {number}");
        let text = [("description", "@guest")];
        new_issue(forge, cast.token("owner"), &cast.path, &title, &text);
    }
    let delete = || forge.delete("/todos").token(guest).send();
    let answers = at_once([&delete, &delete]);
    let count = |answer: &Value| answer.as_u64().expect("a number");
    let counts = answers.map(|answer| count(&answer.expect(200)));
    assert_eq!(counts.iter().sum::<u64>(), 10, "{counts:?}");
}

/// DELETE /todos
fn more_todos_than_one_transaction_marks_are_all_marked(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (project, user) = (ProjectId(id_of(&cast.project)), UserId(cast.ada));
    let todo = |number: u16| {
        let mut id = [7; 20];
        id[..2].copy_from_slice(&number.to_be_bytes());
        a_todo(project, Noteable::Commit { project, id: ObjectId::from_bytes(id) }, user)
    };
    let new: Vec<NewTodo> = (0..2001).map(todo).collect();
    let stored: Result<(), StoreError> = forge.app.store.write(|tx| tx.todos().insert(&new));
    stored.expect("the store can be written");
    let delete = || forge.delete("/todos").token(cast.token("owner")).send().expect(200);
    assert_eq!([delete(), delete()], [json!(2001), json!(0)]);
}

/// POST /projects/:id/issues/:noteable_id/notes, DELETE /projects/:id/issues/:issue_id, DELETE /users/:id
fn mentions_and_removals_at_once_leave_nothing_behind(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    for round in 0..5 {
        let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
        let (user, _) = forge.user(&format!("leaver{round}"));
        let form = [("user_id", user.to_string()), ("access_level", "30".to_owned())];
        let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
        forge.post(&format!("{}/members", cast.path)).token(owner).form(&form).send().expect(201);
        let (notes, target) = (format!("{}/notes", path_of_issue(&issue)), path_of_issue(&issue));
        let body = format!("@leaver{round} @guest");
        let write = || forge.post(&notes).token(owner).form(&[("body", &body)]).send();
        let remove_user = || forge.delete(&format!("/users/{user}")).token(ROOT).send();
        let remove_issue = || forge.delete(&target).token(owner).send();
        let [written, user_gone, issue_gone] = at_once([&write, &remove_user, &remove_issue]);
        assert!([201, 404].contains(&written.status), "{}", written.text());
        assert_eq!((user_gone.status, issue_gone.status), (200, 200));
    }
    assert_eq!(todos(forge, cast.token("guest")), json!([]));
}
