//! Labels of groups: repository_ci_labels_boards.md sections 5 and 6, and projects_groups.md section 1.11 and the
//! transfer of projects.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{forbidden, no_group};
use crate::api::support::{field_error, id_of, message};
use crate::api::tracker::tracker_support::{
    field_values, label_counts, new_issue, new_label, note_bodies, update_issue,
};

on_every_store!(
    a_label_of_a_group_is_made_changed_and_removed,
    who_may_manage_the_labels_of_a_group,
    what_is_wrong_with_a_label_of_a_group_is_told,
    projects_show_the_labels_of_their_group,
    projects_cannot_change_the_labels_of_their_group,
    labels_of_groups_count_in_all_projects_of_the_group,
    subscriptions_to_labels_of_groups_are_those_of_one_project,
    labels_of_groups_have_lists_on_boards,
    a_project_that_is_moved_keeps_the_labels_it_uses,
);

/// The group `team` with the name Crew and a project in it, created by root.
fn a_team(forge: &Forge, level: &str) -> (Value, String) {
    let form = [("name", "Crew"), ("path", "team"), ("visibility_level", "20")];
    let team = forge.post("/groups").token(ROOT).form(&form).send().expect(201);
    let path = project_in_team(forge, &team, "ship", level);
    (team, path)
}

fn project_in_team(forge: &Forge, team: &Value, name: &str, level: &str) -> String {
    let id = id_of(team).to_string();
    let form = [("name", name), ("namespace_id", &id), ("visibility_level", level)];
    let made = forge.post("/projects").token(ROOT).form(&form).send().expect(201);
    format!("/projects/{}", id_of(&made))
}

#[track_caller]
fn new_group_label(forge: &Forge, token: &str, name: &str) -> Value {
    let form = [("name", name), ("color", "#AABBCC"), ("description", "of all")];
    forge.post("/groups/team/labels").token(token).form(&form).send().expect(200)
}

fn new_member(forge: &Forge, name: &str, level: &str) -> String {
    let (id, token) = forge.user(name);
    let form = [("user_id", id.to_string()), ("access_level", level.to_owned())];
    let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
    forge.post("/groups/team/members").token(ROOT).form(&form).send().expect(201);
    token
}

fn label_in_project(forge: &Forge, token: &str, project: &str, name: &str) -> Value {
    let labels = forge.get(&format!("{project}/labels")).token(token).send().expect(200);
    let label = labels.as_array().expect("a list").iter().find(|label| label["name"] == name);
    label.expect("the label is there").clone()
}

/// GET /groups/:id/labels, POST /groups/:id/labels, PUT /groups/:id/labels, DELETE /groups/:id/labels
fn a_label_of_a_group_is_made_changed_and_removed(forge: &Forge) {
    let (_, ship) = a_team(forge, "20");
    let made = new_group_label(forge, ROOT, "bug");
    let expected = json!({
        "id": id_of(&made), "name": "bug", "color": "#AABBCC", "description": "of all",
        "open_issues_count": 0, "closed_issues_count": 0, "open_merge_requests_count": 0,
        "priority": null, "subscribed": false
    });
    assert_eq!(made, expected);
    new_group_label(forge, ROOT, "Alarm");
    let list = || forge.get("/groups/team/labels").token(ROOT).send().expect(200);
    assert_eq!(field_values(&list(), "name"), ["Alarm", "bug"]);
    let form = [("name", "bug"), ("new_name", "defect"), ("color", "#000000")];
    let changed = forge.put("/groups/team/labels").token(ROOT).form(&form).send().expect(200);
    assert_eq!(changed["id"], made["id"]);
    assert_eq!((&changed["name"], &changed["color"]), (&json!("defect"), &json!("#000000")));
    assert_eq!(label_in_project(forge, ROOT, &ship, "defect"), changed);
    let form = [("name", "defect")];
    let gone = forge.delete("/groups/team/labels").token(ROOT).form(&form).send().expect(200);
    assert_eq!(gone, changed);
    assert_eq!(field_values(&list(), "name"), ["Alarm"]);
    let labels = forge.get(&format!("{ship}/labels")).token(ROOT).send().expect(200);
    assert_eq!(field_values(&labels, "name"), ["Alarm"]);
}

/// projects_groups.md 1.11: members with level 40 or 50, and administrators.
fn who_may_manage_the_labels_of_a_group(forge: &Forge) {
    a_team(forge, "20");
    let stranger = forge.user("stranger").1;
    for (level, may) in [("10", false), ("30", false), ("40", true), ("50", true)] {
        let token = new_member(forge, &format!("level-{level}"), level);
        let form = [("name", level), ("color", "#AABBCC"), ("new_name", level)];
        let status = if may { 200 } else { 403 };
        for request in ["POST", "PUT", "DELETE"] {
            forge
                .request(request, "/groups/team/labels")
                .token(&token)
                .form(&form)
                .send()
                .expect(status);
        }
        forge.get("/groups/team/labels").token(&token).send().expect(200);
    }
    forge.get("/groups/team/labels").token(&stranger).send().expect(200);
    forge.get("/groups/team/labels").send().expect(401);
    let form = [("name", "x"), ("color", "#AABBCC")];
    let refused = forge.post("/groups/team/labels").token(&stranger).form(&form).send().expect(403);
    assert_eq!(refused, forbidden());
    let hidden = forge.get("/groups/nobody/labels").token(&stranger).send().expect(404);
    assert_eq!(hidden, no_group());
}

/// POST /groups/:id/labels, PUT /groups/:id/labels, DELETE /groups/:id/labels
fn what_is_wrong_with_a_label_of_a_group_is_told(forge: &Forge) {
    let (_, ship) = a_team(forge, "20");
    new_group_label(forge, ROOT, "bug");
    new_group_label(forge, ROOT, "idea");
    new_label(forge, ROOT, &ship, "own");
    let post = |form: &[(&str, &str)], status| {
        forge.post("/groups/team/labels").token(ROOT).form(form).send().expect(status)
    };
    assert_eq!(post(&[], 400), json!({"error": "name is missing, color is missing"}));
    let taken = post(&[("name", "bug"), ("color", "#AABBCC")], 409);
    assert_eq!(taken, message("Label already exists"));
    let both = post(&[("name", "a,b"), ("color", "red")], 400);
    let expected = json!({"color": ["must be a valid color code"], "title": ["is invalid"]});
    assert_eq!(both["message"], expected);
    let put = |form: &[(&str, &str)], status| {
        forge.put("/groups/team/labels").token(ROOT).form(form).send().expect(status)
    };
    for title in ["idea", "own"] {
        let taken = put(&[("name", "bug"), ("new_name", title)], 400);
        assert_eq!(taken, field_error("title", "has already been taken"));
    }
    let missing = put(&[("name", "none"), ("color", "#AABBCC")], 404);
    assert_eq!(missing, message("404 Label not found Not Found"));
    put(&[("name", "bug")], 400);
    let gone = forge.delete("/groups/team/labels").token(ROOT).form(&[("name", "own")]).send();
    assert_eq!(gone.expect(404), message("404 Label Not Found"));
}

/// 5.2: a project's own label hides the group's label with the same title.
fn projects_show_the_labels_of_their_group(forge: &Forge) {
    let (team, ship) = a_team(forge, "20");
    let own = new_label(forge, ROOT, &ship, "bug");
    new_label(forge, ROOT, &ship, "mine");
    let bug = new_group_label(forge, ROOT, "bug");
    let idea = new_group_label(forge, ROOT, "idea");
    let labels = |path: &str| forge.get(&format!("{path}/labels")).token(ROOT).send().expect(200);
    assert_eq!(field_values(&labels(&ship), "name"), ["bug", "idea", "mine"]);
    assert_eq!(field_values(&labels(&ship), "id")[..2], [&own["id"], &idea["id"]]);
    let boat = project_in_team(forge, &team, "boat", "20");
    assert_eq!(field_values(&labels(&boat), "id"), [&bug["id"], &idea["id"]]);
    // 5.3, 5.4: priorities belong to the project.
    let issue = new_issue(forge, ROOT, &boat, "an issue", &[("labels", "bug,idea")]);
    assert_eq!(issue["labels"], json!(["bug", "idea"]));
    update_issue(forge, ROOT, &issue, &[("labels", "idea")]);
    assert_eq!(note_bodies(forge, ROOT, &issue), [format!("removed ~{} label", id_of(&bug))]);
    let path = format!("{boat}/issues?labels=idea");
    assert_eq!(
        field_values(&forge.get(&path).token(ROOT).send().expect(200), "id"),
        [&issue["id"]]
    );
    // Without its own label the project shows that of the group.
    let gone = forge.delete(&format!("{ship}/labels")).token(ROOT).form(&[("name", "bug")]).send();
    gone.expect(200);
    assert_eq!(label_in_project(forge, ROOT, &ship, "bug")["id"], bug["id"]);
}

/// 5.3 (409), 5.4 (404, and the title of another label), 5.5 (404).
fn projects_cannot_change_the_labels_of_their_group(forge: &Forge) {
    let (_, ship) = a_team(forge, "20");
    new_group_label(forge, ROOT, "bug");
    new_label(forge, ROOT, &ship, "own");
    let path = format!("{ship}/labels");
    let form = [("name", "bug"), ("color", "#AABBCC")];
    let exists = forge.post(&path).token(ROOT).form(&form).send().expect(409);
    assert_eq!(exists, message("Label already exists"));
    let missing = forge.put(&path).token(ROOT).form(&form).send().expect(404);
    assert_eq!(missing, message("404 Label not found Not Found"));
    let missing = forge.delete(&path).token(ROOT).form(&form).send().expect(404);
    assert_eq!(missing, message("404 Label Not Found"));
    let form = [("name", "own"), ("new_name", "bug")];
    let taken = forge.put(&path).token(ROOT).form(&form).send().expect(400);
    let text = "already exists at group level for Crew. Please choose another one.";
    assert_eq!(taken, field_error("title", text));
}

/// 5.1: issues in all projects of the group that the caller sees.
fn labels_of_groups_count_in_all_projects_of_the_group(forge: &Forge) {
    let (team, ship) = a_team(forge, "20");
    new_group_label(forge, ROOT, "bug");
    let boat = project_in_team(forge, &team, "boat", "20");
    let secret = project_in_team(forge, &team, "secret", "0");
    for path in [&ship, &boat, &secret] {
        let open = new_issue(forge, ROOT, path, "open", &[("labels", "bug")]);
        let more = [("labels", "bug"), ("confidential", "true")];
        new_issue(forge, ROOT, path, "confidential", &more);
        let closed = new_issue(forge, ROOT, path, "closed", &[("labels", "bug")]);
        update_issue(forge, ROOT, &closed, &[("state_event", "close")]);
        update_issue(forge, ROOT, &open, &[("title", "still open")]);
    }
    let stranger = forge.user("stranger").1;
    let reporter = new_member(forge, "reporter", "20");
    let guest = new_member(forge, "guest", "10");
    for (token, expected) in
        [(ROOT, (6, 3)), (&reporter, (6, 3)), (&guest, (3, 3)), (&stranger, (2, 2))]
    {
        for path in [&ship, &boat] {
            assert_eq!(label_counts(forge, token, path, "bug"), expected);
        }
        let labels = forge.get("/groups/team/labels").token(token).send().expect(200);
        assert_eq!(labels[0]["open_issues_count"], expected.0);
        assert_eq!(labels[0]["closed_issues_count"], expected.1);
    }
}

/// 5.6: subscriptions are per user and project; labels are given by id or by title.
fn subscriptions_to_labels_of_groups_are_those_of_one_project(forge: &Forge) {
    let (team, ship) = a_team(forge, "20");
    let boat = project_in_team(forge, &team, "boat", "20");
    let bug = new_group_label(forge, ROOT, "bug");
    let stranger = forge.user("stranger").1;
    let path = format!("{ship}/labels/{}/subscription", id_of(&bug));
    let heard = forge.post(&path).token(&stranger).send().expect(201);
    assert_eq!((&heard["id"], &heard["subscribed"]), (&bug["id"], &json!(true)));
    assert_eq!(forge.post(&path).token(&stranger).send().status, 304);
    assert_eq!(label_in_project(forge, &stranger, &ship, "bug")["subscribed"], true);
    assert_eq!(label_in_project(forge, &stranger, &boat, "bug")["subscribed"], false);
    let by_title = format!("{ship}/labels/bug/subscription");
    forge.delete(&by_title).token(&stranger).send().expect(200);
    assert_eq!(label_in_project(forge, &stranger, &ship, "bug")["subscribed"], false);
}

/// 6.4, 6.1.
fn labels_of_groups_have_lists_on_boards(forge: &Forge) {
    let (_, ship) = a_team(forge, "20");
    let bug = new_group_label(forge, ROOT, "bug");
    let own = new_label(forge, ROOT, &ship, "own");
    let board = forge.get(&format!("{ship}/boards")).token(ROOT).send().expect(200);
    let lists = format!("{ship}/boards/{}/lists", id_of(&board[0]));
    let add = |label: &Value, status| {
        let form = [("label_id", id_of(label).to_string())];
        let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
        forge.post(&lists).token(ROOT).form(&form).send().expect(status)
    };
    let list = add(&bug, 200);
    assert_eq!((&list["label"]["id"], &list["label"]["name"]), (&bug["id"], &json!("bug")));
    assert_eq!(add(&bug, 400), field_error("label_id", "has already been taken"));
    add(&own, 200);
    let gone = forge.delete("/groups/team/labels").token(ROOT).form(&[("name", "bug")]).send();
    gone.expect(200);
    let left = forge.get(&lists).token(ROOT).send().expect(200);
    assert_eq!(field_values(&left, "position"), [&json!(0)]);
}

/// projects_groups.md, POST /groups/:id/projects/:project_id: group labels in use become labels of the project.
fn a_project_that_is_moved_keeps_the_labels_it_uses(forge: &Forge) {
    let (_, ship) = a_team(forge, "20");
    new_group_label(forge, ROOT, "bug");
    new_group_label(forge, ROOT, "idea");
    let issue = new_issue(forge, ROOT, &ship, "an issue", &[("labels", "bug")]);
    let form = [("name", "other"), ("path", "other"), ("visibility_level", "20")];
    forge.post("/groups").token(ROOT).form(&form).send().expect(201);
    let form = [("name", "new"), ("color", "#AABBCC")];
    let new = forge.post("/groups/other/labels").token(ROOT).form(&form).send().expect(200);
    let path = format!("/groups/other{ship}");
    forge.post(&path).token(ROOT).send().expect(201);
    let labels = forge.get(&format!("{ship}/labels")).token(ROOT).send().expect(200);
    assert_eq!(field_values(&labels, "name"), ["bug", "new"]);
    assert_eq!(labels[1]["id"], new["id"]);
    assert_eq!(
        (&labels[0]["open_issues_count"], &labels[0]["color"]),
        (&json!(1), &json!("#AABBCC"))
    );
    let shown =
        forge.get(&crate::api::tracker::tracker_support::path_of_issue(&issue)).token(ROOT).send();
    assert_eq!(shown.expect(200)["labels"], json!(["bug"]));
    // The label belongs to the project now.
    let form = [("name", "bug"), ("new_name", "defect")];
    forge.put(&format!("{ship}/labels")).token(ROOT).form(&form).send().expect(200);
    let left = forge.get("/groups/team/labels").token(ROOT).send().expect(200);
    assert_eq!(field_values(&left, "name"), ["bug", "idea"]);
}
