//! The differences between the two dialects that concern labels and boards: rows 2, 3, 6, 7, 8 and 9 of the table.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::json;

use crate::api::groups::group_support::{error, forbidden, in_the_original};
use crate::api::projects::project_support::a_cast;
use crate::api::support::{field_error, id_of};

on_every_store!(
    rows_2_and_3_in_the_specification,
    row_6_in_the_specification,
    row_7_in_the_specification,
    row_8_in_the_specification,
    row_9_in_the_specification,
);

#[test]
fn rows_of_labels_and_boards_in_the_original() {
    in_the_original(|forge| {
        rows_2_and_3(forge, 201);
    });
    in_the_original(|forge| row_6(forge, 200));
    in_the_original(|forge| row_7(forge, 200));
    in_the_original(|forge| row_8(forge, 201));
    in_the_original(|forge| row_9(forge, 25));
}

fn rows_2_and_3_in_the_specification(forge: &Forge) {
    rows_2_and_3(forge, 200);
}

fn row_6_in_the_specification(forge: &Forge) {
    row_6(forge, 400);
}

fn row_7_in_the_specification(forge: &Forge) {
    row_7(forge, 403);
}

fn row_8_in_the_specification(forge: &Forge) {
    row_8(forge, 400);
}

fn row_9_in_the_specification(forge: &Forge) {
    row_9(forge, 20);
}

/// Creates a label, with the success status of either dialect. Returns its id.
fn new_label(forge: &Forge, path: &str, name: &str) -> String {
    let form = [("name", name), ("color", "#111111")];
    let made = forge.post(&format!("{path}/labels")).token(ROOT).form(&form).send();
    assert!(made.status < 300);
    id_of(&made.json()).to_string()
}

fn lists(forge: &Forge, path: &str) -> String {
    let boards = forge.get(&format!("{path}/boards")).token(ROOT).send().expect(200);
    format!("{path}/boards/{}/lists", id_of(&boards[0]))
}

/// Rows 2 and 3: POST /projects/:id/labels, POST /projects/:id/boards/:board_id/lists
fn rows_2_and_3(forge: &Forge, status: u16) {
    let cast = a_cast(forge, "0");
    let form = [("name", "bug"), ("color", "#111111")];
    let made = forge.post(&format!("{}/labels", cast.path)).token(ROOT).form(&form).send();
    let id = id_of(&made.expect(status)).to_string();
    let lists = lists(forge, &cast.path);
    forge.post(&lists).token(ROOT).form(&[("label_id", &id)]).send().expect(status);
}

/// Row 6: PUT /projects/:id/labels
fn row_6(forge: &Forge, status: u16) {
    let cast = a_cast(forge, "0");
    new_label(forge, &cast.path, "bug");
    for fields in
        [json!({"name": "bug", "description": "d"}), json!({"name": "bug", "priority": 1})]
    {
        let answer = forge.put(&format!("{}/labels", cast.path)).token(ROOT).json(&fields).send();
        let body = answer.expect(status);
        if status == 400 {
            let text = "new_name, color are missing, at least one parameter must be provided";
            assert_eq!(body, error(text));
        }
    }
    let none = forge.put(&format!("{}/labels?name=bug", cast.path)).token(ROOT).send().expect(400);
    let text = "new_name, color, description, priority are missing, at least one parameter must be provided";
    assert_eq!(none, error(text));
}

/// Row 7: DELETE /projects/:id/boards/:board_id/lists/:list_id
fn row_7(forge: &Forge, status: u16) {
    let cast = a_cast(forge, "0");
    let lists = lists(forge, &cast.path);
    for who in ["reporter", "developer", "master"] {
        let id = new_label(forge, &cast.path, who);
        let made = forge.post(&lists).token(ROOT).form(&[("label_id", &id)]).send().json();
        let one = format!("{lists}/{}", id_of(&made));
        let guest = forge.delete(&one).token(cast.token("guest")).send().expect(403);
        assert_eq!(guest, forbidden());
        forge.delete(&one).token(cast.token(who)).send().expect(status);
        if status == 403 {
            forge.delete(&one).token(cast.token("owner")).send().expect(200);
        }
    }
}

/// Row 8: POST /projects/:id/labels
fn row_8(forge: &Forge, status: u16) {
    let cast = a_cast(forge, "0");
    let path = format!("{}/labels", cast.path);
    let form = [("name", "short"), ("color", "#FAB")];
    let body = forge.post(&path).token(ROOT).form(&form).send().expect(status);
    if status == 400 {
        assert_eq!(body, field_error("color", "must be a valid color code"));
    } else {
        assert_eq!(body["color"], "#FAB");
    }
    new_label(forge, &cast.path, "bug");
    let form = [("name", "bug"), ("color", "#fab")];
    let changed = forge.put(&path).token(ROOT).form(&form).send();
    changed.expect(if status == 400 { 400 } else { 200 });
}

/// Row 9: GET /projects/:id/labels, GET /projects/:id/boards/:board_id/lists
fn row_9(forge: &Forge, shown: usize) {
    let cast = a_cast(forge, "0");
    let lists = lists(forge, &cast.path);
    for number in 0..25 {
        let id = new_label(forge, &cast.path, &format!("label {number:02}"));
        let made = forge.post(&lists).token(ROOT).form(&[("label_id", &id)]).send();
        assert!(made.status < 300);
    }
    for path in [format!("{}/labels", cast.path), lists] {
        let answer = forge.get(&path).token(ROOT).send();
        assert_eq!(answer.expect(200).as_array().map(Vec::len), Some(shown), "{path}");
        assert_eq!(answer.header("X-Total").is_some(), shown == 20, "{path}");
        let page = forge.get(&format!("{path}?per_page=3")).token(ROOT).send();
        assert_eq!(page.expect(200).as_array().map(Vec::len), Some(3), "{path}");
        assert_eq!(page.header("X-Total"), Some("25"), "{path}");
    }
}
