//! Broadcast messages: rest_of_v3.md section 13.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{error, forbidden};
use crate::api::support::{
    MISSING, assert_only_for_administrators, field_error, id_of, ids, message,
};

on_every_store!(
    a_message_is_created_shown_changed_and_removed,
    messages_are_listed_newest_first,
    messages_are_active_in_their_period,
    each_refusal_has_its_text,
    rights_come_before_parameters,
    only_administrators_broadcast,
);

const ALL: &str = "/broadcast_messages";

#[track_caller]
fn create(forge: &Forge, form: &[(&str, &str)]) -> Value {
    forge.post(ALL).token(ROOT).form(form).send().expect(201)
}

fn path_of(shown: &Value) -> String {
    format!("{ALL}/{}", id_of(shown))
}

/// POST /broadcast_messages, GET /broadcast_messages/:id, PUT /broadcast_messages/:id, DELETE /broadcast_messages/:id
fn a_message_is_created_shown_changed_and_removed(forge: &Forge) {
    let made = create(forge, &[("message", "Back at noon")]);
    let expected = json!({
        "id": id_of(&made),
        "message": "Back at noon",
        "starts_at": "2016-09-22T10:30:00.000Z",
        "ends_at": "2016-09-22T11:30:00.000Z",
        "color": "#E75E40",
        "font": "#FFFFFF",
        "active": true
    });
    assert_eq!(made.to_string(), expected.to_string());
    let path = path_of(&made);
    assert_eq!(forge.get(&path).token(ROOT).send().expect(200), expected);
    assert_eq!(forge.put(&path).token(ROOT).send().expect(200), expected, "nothing is given");
    let mut changed = expected.clone();
    for (field, value) in [
        ("message", "Soon"),
        ("starts_at", "2016-09-22T10:00:00.000Z"),
        ("ends_at", "2016-09-23T10:00:00.000Z"),
        ("color", "#000"),
        ("font", "#abcdef"),
    ] {
        changed[field] = json!(value);
        let answer = forge.put(&path).token(ROOT).form(&[(field, value)]).send();
        assert_eq!(answer.expect(200), changed, "{field}");
    }
    assert_eq!(forge.delete(&path).token(ROOT).send().expect(200), changed);
    let missing = message("404 Not found");
    for method in ["GET", "PUT", "DELETE"] {
        assert_eq!(forge.request(method, &path).token(ROOT).send().expect(404), missing);
    }
    assert!(
        id_of(&create(forge, &[("message", "again")])) > id_of(&made),
        "ids are not used again"
    );
}

/// GET /broadcast_messages
fn messages_are_listed_newest_first(forge: &Forge) {
    assert_eq!(forge.get(ALL).token(ROOT).send().expect(200), json!([]));
    let mut made: Vec<i64> =
        (0..5).map(|n| id_of(&create(forge, &[("message", &format!("message {n}"))]))).collect();
    made.reverse();
    let whole = forge.get(ALL).token(ROOT).send();
    assert_eq!(ids(&whole.expect(200)), made);
    let page = forge.get(&format!("{ALL}?per_page=2&page=2")).token(ROOT).send();
    assert_eq!(ids(&page.expect(200)), made[2..4]);
    assert_eq!(page.header("X-Total"), Some("5"));
}

/// GET /broadcast_messages/:id: `active`.
fn messages_are_active_in_their_period(forge: &Forge) {
    let period = [
        ("message", "later"),
        ("starts_at", "2016-09-22T10:31:00Z"),
        ("ends_at", "2016-09-22T12:32:00+02:00"),
    ];
    let made = create(forge, &period);
    assert_eq!(made["ends_at"], "2016-09-22T10:32:00.000Z");
    let active = || forge.get(&path_of(&made)).token(ROOT).send().expect(200)["active"].clone();
    let mut seen = Vec::new();
    for seconds in [0, 60, 60, 1] {
        forge.clock.advance(TimeDelta::seconds(seconds));
        seen.push(active());
    }
    assert_eq!(seen, [json!(false), json!(true), json!(true), json!(false)]);
}

/// POST /broadcast_messages, PUT /broadcast_messages/:id
fn each_refusal_has_its_text(forge: &Forge) {
    let path = path_of(&create(forge, &[("message", "text")]));
    let missing = forge.post(ALL).token(ROOT).send();
    assert_eq!(missing.expect(400), error("message is missing"));
    let code = "must be a valid color code";
    for (field, value, answer) in [
        ("message", "", field_error("message", "can't be blank")),
        ("message", " \n", field_error("message", "can't be blank")),
        ("color", "red", field_error("color", code)),
        ("color", "", field_error("color", code)),
        ("color", "#1234", field_error("color", code)),
        ("font", "#12345g", field_error("font", code)),
        ("starts_at", "tomorrow", error("starts_at is invalid")),
        ("ends_at", "2016-13-01", error("ends_at is invalid")),
    ] {
        let form = [("message", "text"), (field, value)];
        assert_eq!(forge.post(ALL).token(ROOT).form(&form).send().expect(400), answer, "{field}");
        let put = forge.put(&path).token(ROOT).form(&[(field, value)]).send();
        assert_eq!(put.expect(400), answer, "{field}");
    }
    for method in ["GET", "PUT", "DELETE"] {
        let text = forge.request(method, &format!("{ALL}/x")).token(ROOT).send();
        assert_eq!(text.expect(400), error("id is invalid"), "{method}");
        let unknown = forge.request(method, &format!("{ALL}/{MISSING}")).token(ROOT).send();
        assert_eq!(unknown.expect(404), message("404 Not found"), "{method}");
    }
    assert_eq!(ids(&forge.get(ALL).token(ROOT).send().expect(200)).len(), 1);
}

/// POST /broadcast_messages, PUT /broadcast_messages/:id: section 1.2.
fn rights_come_before_parameters(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    for (method, path) in [("POST", ALL), ("PUT", "/broadcast_messages/x")] {
        let answer = forge.request(method, path).token(&ada).send();
        assert_eq!(answer.expect(403), forbidden());
    }
}

/// GET /broadcast_messages and the others.
fn only_administrators_broadcast(forge: &Forge) {
    let one = format!("{ALL}/1");
    let calls = [
        ("GET", ALL.to_owned()),
        ("POST", ALL.to_owned()),
        ("GET", one.clone()),
        ("PUT", one.clone()),
        ("DELETE", one),
    ];
    assert_only_for_administrators(forge, &calls);
}
