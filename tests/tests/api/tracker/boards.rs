//! Issue boards: repository_ci_labels_boards.md section 6.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    error, forbidden, new_project, no_project, path_of_project,
};
use crate::api::projects::project_support::a_cast;
use crate::api::support::{
    MISSING, activity_count, assert_only_for_users, field_error, id_of, message, queued_events,
};
use crate::api::tracker::tracker_support::new_label;

on_every_store!(
    every_project_has_one_board,
    lists_are_added_behind_the_others,
    what_is_wrong_with_a_new_list_is_told,
    lists_move_and_the_others_make_room,
    what_is_wrong_with_a_move_is_told,
    lists_are_removed_and_the_others_close_up,
    boards_are_for_those_who_see_the_project,
    lists_come_in_pages,
);

/// The path of the lists of a project's board.
#[track_caller]
fn lists_of(forge: &Forge, project: &str) -> String {
    let boards = forge.get(&format!("{project}/boards")).token(ROOT).send().expect(200);
    format!("{project}/boards/{}/lists", id_of(&boards[0]))
}

/// Adds a list for a new label with this name.
#[track_caller]
fn add_list(forge: &Forge, project: &str, lists: &str, name: &str) -> Value {
    let label = id_of(&new_label(forge, ROOT, project, name)).to_string();
    forge.post(lists).token(ROOT).form(&[("label_id", &label)]).send().expect(200)
}

/// The names of the lists in their order. Asserts that their positions are 0, 1, 2 and so on.
#[track_caller]
fn list_order(forge: &Forge, lists: &str) -> String {
    let list = forge.get(lists).token(ROOT).send().expect(200);
    let list = list.as_array().expect("a list");
    for (place, one) in list.iter().enumerate() {
        assert_eq!(one["position"], place);
    }
    let names: Vec<&str> =
        list.iter().map(|one| one["label"]["name"].as_str().expect("a name")).collect();
    names.join("")
}

/// 6.2: GET /projects/:id/boards
fn every_project_has_one_board(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let path = format!("{}/boards", cast.path);
    let boards = forge.get(&path).token(cast.token("stranger")).send().expect(200);
    assert_eq!(boards, json!([{"id": id_of(&boards[0]), "lists": []}]));
    assert_eq!(forge.get(&path).token(cast.token("owner")).send().expect(200), boards);
    let other = new_project(forge, cast.token("owner"), "Other", &[]);
    let other = forge.get(&format!("{}/boards", path_of_project(&other))).token(ROOT).send();
    assert_ne!(other.expect(200)[0]["id"], boards[0]["id"]);
    let lists = lists_of(forge, &cast.path);
    let list = add_list(forge, &cast.path, &lists, "A");
    let boards = forge.get(&path).token(cast.token("guest")).send().expect(200);
    assert_eq!(boards[0]["lists"], json!([list]));
    let empty = forge.get(&format!("{path}?page=2")).token(ROOT).send().expect(200);
    assert_eq!(empty, json!([]));
}

/// 6.1, 6.4: POST /projects/:id/boards/:board_id/lists,
/// GET /projects/:id/boards/:board_id/lists, GET /projects/:id/boards/:board_id/lists/:list_id
fn lists_are_added_behind_the_others(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let lists = lists_of(forge, &cast.path);
    let label = new_label(forge, ROOT, &cast.path, "A");
    let id = id_of(&label).to_string();
    let made = forge.post(&lists).token(cast.token("reporter")).form(&[("label_id", &id)]).send();
    let made = made.expect(200);
    let expected = json!({
        "id": id_of(&made),
        "label": {"id": id_of(&label), "name": "A", "color": "#FFAABB", "description": null},
        "position": 0
    });
    assert_eq!(made, expected);
    for name in ["B", "C"] {
        add_list(forge, &cast.path, &lists, name);
    }
    assert_eq!(list_order(forge, &lists), "ABC");
    let one = format!("{lists}/{}", id_of(&made));
    assert_eq!(forge.get(&one).token(cast.token("guest")).send().expect(200), expected);
    assert_eq!(forge.get(&lists).token(cast.token("guest")).send().expect(200)[0], expected);
    // Boards create neither feed events nor outbox events.
    let before = queued_events(forge).len();
    add_list(forge, &cast.path, &lists, "D");
    assert_eq!((queued_events(forge).len(), activity_count(forge, 1)), (before, 0));
}

/// 6.4: POST /projects/:id/boards/:board_id/lists
fn what_is_wrong_with_a_new_list_is_told(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let lists = lists_of(forge, &cast.path);
    let list = add_list(forge, &cast.path, &lists, "A");
    let taken = id_of(&list["label"]).to_string();
    let free = id_of(&new_label(forge, ROOT, &cast.path, "B")).to_string();
    let other = path_of_project(&new_project(forge, cast.token("owner"), "Other", &[]));
    let foreign = id_of(&new_label(forge, cast.token("owner"), &other, "A")).to_string();
    let no_label = json!({"message": {"error": "Label not found!"}});
    let post = |path: &str, who: &str, label: &str| {
        forge.post(path).token(cast.token(who)).form(&[("label_id", label)]).send()
    };
    let missing = forge.post(&lists).token(cast.token("guest")).send().expect(400);
    assert_eq!(missing, error("label_id is missing"));
    assert_eq!(post(&lists, "guest", "x").expect(400), error("label_id is invalid"));
    for label in [MISSING.to_string().as_str(), foreign.as_str(), "", crate::api::support::HUGE] {
        assert_eq!(post(&lists, "guest", label).expect(400), no_label, "{label}");
    }
    assert_eq!(post(&lists, "guest", &free).expect(403), forbidden());
    let wrong_board = format!("{}/boards/{MISSING}/lists", cast.path);
    assert_eq!(post(&wrong_board, "owner", &free).expect(404), message("404 Board Not Found"));
    assert_eq!(post(&wrong_board, "guest", &free).expect(403), forbidden());
    let twice = field_error("label_id", "has already been taken");
    assert_eq!(post(&lists, "owner", &taken).expect(400), twice);
    let strange = format!("{}/boards/x/lists", cast.path);
    assert_eq!(post(&strange, "owner", &free).expect(400), error("board_id is invalid"));
    assert_eq!(post(&lists, "stranger", &free).expect(404), no_project());
    assert_eq!(list_order(forge, &lists), "A");
}

/// 6.5: PUT /projects/:id/boards/:board_id/lists/:list_id
fn lists_move_and_the_others_make_room(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let lists = lists_of(forge, &cast.path);
    let made = ["A", "B", "C", "D"].map(|name| add_list(forge, &cast.path, &lists, name));
    let go = |place: usize, to: &str| {
        let one = format!("{lists}/{}", id_of(&made[place]));
        let answer = forge.put(&one).token(cast.token("reporter")).form(&[("position", to)]).send();
        let moved = answer.expect(200);
        assert_eq!(
            (&moved["id"], moved["position"].to_string().as_str()),
            (&made[place]["id"], to)
        );
        list_order(forge, &lists)
    };
    assert_eq!(go(0, "2"), "BCAD");
    assert_eq!(go(0, "0"), "ABCD");
    assert_eq!(go(3, "1"), "ADBC");
    assert_eq!(go(3, "0"), "DABC");
    assert_eq!(go(3, "3"), "ABCD");
}

/// 6.5: PUT /projects/:id/boards/:board_id/lists/:list_id
fn what_is_wrong_with_a_move_is_told(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let lists = lists_of(forge, &cast.path);
    let made = ["A", "B"].map(|name| add_list(forge, &cast.path, &lists, name));
    let one = format!("{lists}/{}", id_of(&made[0]));
    let put = |path: &str, who: &str, to: &str| {
        forge.put(path).token(cast.token(who)).form(&[("position", to)]).send()
    };
    let stuck = json!({"message": {"error": "List could not be moved!"}});
    for to in ["0", "2", "-1", "99999999999", crate::api::support::HUGE] {
        assert_eq!(put(&one, "owner", to).expect(400), stuck, "{to}");
    }
    for to in ["x", "1.5", ""] {
        assert_eq!(put(&one, "owner", to).expect(400), error("position is invalid"), "{to}");
    }
    let none = forge.put(&one).token(cast.token("owner")).send().expect(400);
    assert_eq!(none, error("position is missing"));
    let missing = format!("{lists}/{MISSING}");
    for who in ["guest", "owner"] {
        assert_eq!(put(&missing, who, "1").expect(404), message("404 Not found"), "{who}");
    }
    let strange = format!("{lists}/x");
    assert_eq!(put(&strange, "owner", "1").expect(400), error("list_id is invalid"));
    assert_eq!(put(&one, "guest", "1").expect(403), forbidden());
    assert_eq!(put(&one, "stranger", "1").expect(404), no_project());
    assert_eq!(list_order(forge, &lists), "AB");
}

/// 6.6: DELETE /projects/:id/boards/:board_id/lists/:list_id
fn lists_are_removed_and_the_others_close_up(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let lists = lists_of(forge, &cast.path);
    let made = ["A", "B", "C", "D"].map(|name| add_list(forge, &cast.path, &lists, name));
    let one = format!("{lists}/{}", id_of(&made[1]));
    let missing = format!("{lists}/{MISSING}");
    for who in ["stranger", "guest", "reporter", "developer", "master"] {
        for path in [&one, &missing] {
            let refused = forge.delete(path).token(cast.token(who)).send().expect(403);
            assert_eq!(refused, forbidden(), "{who}");
        }
    }
    assert_eq!(forge.delete(&one).token(cast.token("owner")).send().expect(200), made[1]);
    assert_eq!(list_order(forge, &lists), "ACD");
    for path in [&one, &missing] {
        for method in ["GET", "DELETE"] {
            let gone = forge.request(method, path).token(cast.token("owner")).send().expect(404);
            assert_eq!(gone, message("404 Not found"));
        }
    }
    // The label still exists and can get another list.
    let label = id_of(&made[1]["label"]).to_string();
    let again = forge.post(&lists).token(ROOT).form(&[("label_id", &label)]).send().expect(200);
    assert_ne!(again["id"], made[1]["id"]);
    assert_eq!(list_order(forge, &lists), "ACDB");
    forge.delete(&format!("{lists}/{}", id_of(&made[0]))).token(ROOT).send().expect(200);
    assert_eq!(list_order(forge, &lists), "CDB");
}

/// 6.3: GET /projects/:id/boards, GET /projects/:id/boards/:board_id/lists
fn boards_are_for_those_who_see_the_project(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let lists = lists_of(forge, &cast.path);
    let calls = [
        ("GET", format!("{}/boards", cast.path)),
        ("GET", lists.clone()),
        ("GET", format!("{lists}/1")),
        ("POST", lists.clone()),
        ("PUT", format!("{lists}/1")),
        ("DELETE", format!("{lists}/1")),
    ];
    assert_only_for_users(forge, &calls);
    for (method, path) in &calls {
        let path = format!("{path}?label_id=1&position=1");
        let hidden = forge.request(method, &path).token(cast.token("stranger")).send().expect(404);
        assert_eq!(hidden, no_project(), "{method}");
    }
    let other = format!("{}/boards/{MISSING}/lists", cast.path);
    let missing = forge.get(&other).token(cast.token("guest")).send().expect(404);
    assert_eq!(missing, message("404 Board Not Found"));
}

/// 1.6: GET /projects/:id/boards/:board_id/lists
fn lists_come_in_pages(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let path = path_of_project(&new_project(forge, &ada, "Ship", &[]));
    let lists = lists_of(forge, &path);
    for number in 0..22 {
        add_list(forge, &path, &lists, &format!("{number:02}"));
    }
    let first = forge.get(&lists).token(&ada).send();
    assert_eq!(first.expect(200).as_array().map(Vec::len), Some(20));
    assert_eq!(first.header("X-Total"), Some("22"));
    let second = forge.get(&format!("{lists}?page=2")).token(&ada).send().expect(200);
    assert_eq!(second[0]["position"], 20);
    let board = forge.get(&format!("{path}/boards")).token(&ada).send().expect(200);
    assert_eq!(board[0]["lists"].as_array().map(Vec::len), Some(22));
}
