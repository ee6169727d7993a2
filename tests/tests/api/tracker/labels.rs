//! Labels: repository_ci_labels_boards.md section 5.

use hexforge_tests::random::RandomNumbers;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    error, fields_of, forbidden, new_project, no_project, path_of_project,
};
use crate::api::projects::project_support::{a_cast, assert_unchanged, names};
use crate::api::support::{MISSING, field_error, id_of, message, queued_events};
use crate::api::tracker::tracker_support::{
    issue_now, label_counts, new_issue, new_label, note_bodies, update_issue,
};

on_every_store!(
    a_label_is_made_with_every_field,
    labels_are_listed_by_title_in_pages,
    titles_that_differ_late_are_told_apart,
    what_is_wrong_with_a_new_label_is_told,
    several_wrong_fields_are_told_together,
    a_label_is_changed_in_place,
    what_is_wrong_with_a_change_is_told,
    a_label_is_removed_with_all_that_hangs_on_it,
    users_subscribe_to_labels,
    labels_are_changed_by_reporters_and_above,
    a_project_with_nothing_to_label_has_no_labels,
    issues_are_counted_as_far_as_the_reader_sees_them,
    a_label_stays_itself_when_it_is_renamed_in_use,
);

/// 5.1, 5.3: POST /projects/:id/labels, GET /projects/:id/labels
fn a_label_is_made_with_every_field(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let path = format!("{}/labels", cast.path);
    let reporter = cast.token("reporter");
    let fields = json!({"name": "to do", "color": "#FfAaBb", "description": "d 🦀", "priority": 0});
    let made = forge.post(&path).token(reporter).json(&fields).send().expect(200);
    assert_eq!(
        fields_of(&made),
        [
            "id",
            "name",
            "color",
            "description",
            "open_issues_count",
            "closed_issues_count",
            "open_merge_requests_count",
            "priority",
            "subscribed"
        ]
    );
    let expected = json!({
        "id": id_of(&made), "name": "to do", "color": "#FfAaBb", "description": "d 🦀",
        "open_issues_count": 0, "closed_issues_count": 0, "open_merge_requests_count": 0,
        "priority": 0, "subscribed": false
    });
    assert_eq!(made, expected);
    let bare = json!({"name": "bare", "color": "#000000", "priority": null, "description": null});
    let bare = forge.post(&path).token(reporter).json(&bare).send().expect(200);
    assert_eq!((&bare["description"], &bare["priority"]), (&Value::Null, &Value::Null));
    let form = [("name", "Foo &amp; <b>Bar</b>"), ("color", "#111111"), ("priority", "")];
    let plain = forge.post(&path).token(reporter).form(&form).send().expect(200);
    assert_eq!((&plain["name"], &plain["priority"]), (&json!("Foo & Bar"), &Value::Null));
    let list = forge.get(&path).token(cast.token("guest")).send().expect(200);
    assert_eq!(list, json!([plain, bare, made]));
}

/// 5.2, 1.6: GET /projects/:id/labels
fn labels_are_listed_by_title_in_pages(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let (path, owner) = (format!("{}/labels", cast.path), cast.token("owner"));
    for number in 0..25 {
        new_label(forge, owner, &cast.path, &format!("label {number:02}"));
    }
    new_label(forge, owner, &cast.path, "Zeta");
    let first = forge.get(&path).token(cast.token("stranger")).send();
    let shown = first.expect(200);
    assert_eq!(names(&shown).len(), 20);
    assert_eq!(names(&shown)[..2], ["Zeta", "label 00"]);
    assert_eq!(first.header("X-Total"), Some("26"));
    let last = forge.get(&format!("{path}?page=2")).token(owner).send().expect(200);
    assert_eq!(names(&last).last(), Some(&"label 24"));
    let small = forge.get(&format!("{path}?page=2&per_page=3")).token(owner).send().expect(200);
    assert_eq!(names(&small), ["label 02", "label 03", "label 04"]);
}

/// 5.3: "No length rule. Titles are unique per project"
fn titles_that_differ_late_are_told_apart(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let token = cast.token("reporter");
    // Random text, which an index cannot compress.
    let mut numbers = RandomNumbers(5);
    let mut letters = || char::from(b'a' + u8::try_from(numbers.below(26)).expect("a letter"));
    let long: String = (0..253).map(|_| letters()).collect();
    let titles = ["aa", "b", "c"].map(|end| format!("{long}{end}"));
    for title in titles.iter().rev() {
        new_label(forge, token, &cast.path, title);
    }
    let path = format!("{}/labels", cast.path);
    let again = json!({"name": titles[1], "color": "#111111"});
    let refused = forge.post(&path).token(token).json(&again).send().expect(409);
    assert_eq!(refused, message("Label already exists"));
    assert_eq!(names(&forge.get(&path).token(token).send().expect(200)), titles);
    let issue = new_issue(forge, token, &cast.path, "one", &[("labels", &titles[2])]);
    assert_eq!(issue["labels"], json!([titles[2]]));
    let renamed = json!({"name": titles[2], "new_name": titles[0]});
    assert_eq!(
        forge.put(&path).token(token).json(&renamed).send().expect(400),
        field_error("title", "has already been taken")
    );
    let removed = json!({"name": titles[0]});
    forge.delete(&path).token(token).json(&removed).send().expect(200);
    assert_eq!(names(&forge.get(&path).token(token).send().expect(200)), titles[1..]);
}

/// 5.3, 1.3: POST /projects/:id/labels
fn what_is_wrong_with_a_new_label_is_told(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (path, token) = (format!("{}/labels", cast.path), cast.token("reporter"));
    new_label(forge, token, &cast.path, "bug");
    new_label(forge, token, &cast.path, "Bug");
    let color = field_error("color", "must be a valid color code");
    for (fields, status, body) in [
        (json!({}), 400, error("name is missing, color is missing")),
        (json!({"name": "a"}), 400, error("color is missing")),
        (json!({"color": "#111111"}), 400, error("name is missing")),
        (
            json!({"name": "a", "color": "#111111", "priority": "x"}),
            400,
            error("priority is invalid"),
        ),
        (
            json!({"name": "a", "color": "#111111", "priority": 1.5}),
            400,
            error("priority is invalid"),
        ),
        (json!({"name": ["a"], "color": "#111111"}), 400, error("name is invalid")),
        (json!({"name": "bug", "color": "nonsense"}), 409, message("Label already exists")),
        (json!({"name": "a", "color": "#FAB"}), 400, color.clone()),
        (json!({"name": "a", "color": "#FF"}), 400, color.clone()),
        (json!({"name": "a", "color": "#FFAAFFFF"}), 400, color.clone()),
        (json!({"name": "a", "color": "FFAABB"}), 400, color.clone()),
        (json!({"name": "a", "color": "#GGAABB"}), 400, color.clone()),
        (json!({"name": "a", "color": ""}), 400, color),
        (json!({"name": "a,b", "color": "#111111"}), 400, field_error("title", "is invalid")),
        (
            json!({"name": " ", "color": "#111111"}),
            400,
            json!({"message": {"title": ["can't be blank", "is invalid"]}}),
        ),
        (
            json!({"name": "a", "color": "#111111", "priority": -1}),
            400,
            field_error("priority", "must be greater than or equal to 0"),
        ),
        (
            json!({"name": "a", "color": "#111111", "description": "x".repeat(10_001)}),
            400,
            field_error("description", "is too long (maximum is 10000 characters)"),
        ),
    ] {
        let answer = forge.post(&path).token(token).json(&fields).send();
        assert_eq!(answer.expect(status), body, "{fields}");
    }
    let list = forge.get(&path).token(token).send().expect(200);
    assert_eq!(names(&list), ["Bug", "bug"], "nothing was stored");
}

/// 5.3: POST /projects/:id/labels
fn several_wrong_fields_are_told_together(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let fields = [("name", "a,b"), ("color", "red"), ("priority", "-5")];
    let answer = forge.post(&format!("{}/labels", cast.path)).token(cast.token("owner"));
    let expected = json!({"message": {
        "color": ["must be a valid color code"], "title": ["is invalid"],
        "priority": ["must be greater than or equal to 0"]
    }});
    assert_eq!(answer.form(&fields).send().expect(400), expected);
}

/// 5.4: PUT /projects/:id/labels
fn a_label_is_changed_in_place(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (path, token) = (format!("{}/labels", cast.path), cast.token("reporter"));
    let feed = || forge.get(&format!("{}/events", cast.path)).token(token).send().expect(200);
    // 5.7: neither a feed event nor an outbox event.
    let (heard, done) = (queued_events(forge).len(), feed());
    let made = new_label(forge, token, &cast.path, "bug");
    let put = |fields: Value| forge.put(&path).token(token).json(&fields).send().expect(200);
    let all = put(json!({
        "name": "bug", "new_name": "defect", "color": "#000000", "description": "d", "priority": 3
    }));
    let mut expected = made.clone();
    for (field, value) in [
        ("name", json!("defect")),
        ("color", json!("#000000")),
        ("description", json!("d")),
        ("priority", json!(3)),
    ] {
        expected[field] = value;
    }
    assert_eq!(all, expected);
    // A blank title is ignored, missing fields do not change, and an empty priority removes it.
    assert_eq!(put(json!({"name": "defect", "new_name": " ", "color": "#000000"})), expected);
    assert_eq!(put(json!({"name": "defect", "new_name": "defect"})), expected);
    let form = [("name", "defect"), ("color", "#000000"), ("priority", "")];
    let bare = forge.put(&path).token(token).form(&form).send().expect(200);
    assert_eq!(bare["priority"], Value::Null);
    put(json!({"name": "defect", "color": "#000000", "priority": 1}));
    let bare = put(json!({"name": "defect", "color": "#000000", "priority": null}));
    assert_eq!(bare["priority"], Value::Null);
    assert_eq!(bare["description"], "d");
    forge.delete(&path).token(token).form(&[("name", "defect")]).send().expect(200);
    assert_eq!((queued_events(forge).len(), feed()), (heard, done));
}

/// 5.4: PUT /projects/:id/labels
fn what_is_wrong_with_a_change_is_told(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (path, token) = (format!("{}/labels", cast.path), cast.token("reporter"));
    let [bug, _] = ["bug", "wish"].map(|name| new_label(forge, token, &cast.path, name));
    let missing = |names: &str| {
        error(&format!("{names} are missing, at least one parameter must be provided"))
    };
    for (fields, status, body) in [
        (json!({"new_name": "x"}), 400, error("name is missing")),
        (json!({"name": "bug"}), 400, missing("new_name, color, description, priority")),
        (json!({"name": "bug", "description": "d"}), 400, missing("new_name, color")),
        (json!({"name": "bug", "priority": 1}), 400, missing("new_name, color")),
        (json!({"name": "none", "new_name": "x"}), 404, message("404 Label not found Not Found")),
        (json!({"name": "Bug", "new_name": "x"}), 404, message("404 Label not found Not Found")),
        (json!({"name": "bug", "new_name": "a,b"}), 400, field_error("title", "is invalid")),
        (
            json!({"name": "bug", "color": "#FF"}),
            400,
            field_error("color", "must be a valid color code"),
        ),
        (
            json!({"name": "bug", "new_name": "wish"}),
            400,
            field_error("title", "has already been taken"),
        ),
        (
            json!({"name": "bug", "new_name": "x", "priority": -1}),
            400,
            field_error("priority", "must be greater than or equal to 0"),
        ),
    ] {
        let answer = forge.put(&path).token(token).json(&fields).send();
        assert_eq!(answer.expect(status), body, "{fields}");
    }
    let list = forge.get(&path).token(token).send().expect(200);
    assert_eq!(list[0], bug, "nothing was changed");
}

/// 5.5: DELETE /projects/:id/labels
fn a_label_is_removed_with_all_that_hangs_on_it(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (path, token) = (format!("{}/labels", cast.path), cast.token("reporter"));
    let labels = ["one", "two", "three"].map(|name| new_label(forge, token, &cast.path, name));
    let issue = new_issue(forge, token, &cast.path, "it breaks", &[("labels", "one,two")]);
    let boards = forge.get(&format!("{}/boards", cast.path)).token(token).send().expect(200);
    let lists = format!("{}/boards/{}/lists", cast.path, id_of(&boards[0]));
    for label in &labels {
        let label = id_of(label).to_string();
        forge.post(&lists).token(token).form(&[("label_id", &label)]).send().expect(200);
    }
    let gone = forge.delete(&path).token(token).query(&[("name", "one")]).send().expect(200);
    assert_eq!((&gone["id"], &gone["open_issues_count"]), (&labels[0]["id"], &json!(1)));
    assert_eq!(issue_now(forge, token, &issue)["labels"], json!(["two"]));
    let left = forge.get(&lists).token(token).send().expect(200);
    let places: Vec<_> = left.as_array().expect("a list").iter().collect();
    let place = |list: &Value| (list["label"]["name"].clone(), list["position"].clone());
    let expected = [(json!("two"), json!(0)), (json!("three"), json!(1))];
    assert_eq!(places.into_iter().map(place).collect::<Vec<_>>(), expected);
    let no_label = message("404 Label Not Found");
    assert_eq!(
        forge.delete(&path).token(token).form(&[("name", "one")]).send().expect(404),
        no_label
    );
    assert_eq!(forge.delete(&path).token(token).send().expect(400), error("name is missing"));
    forge.delete(&path).token(token).form(&[("name", "two")]).send().expect(200);
}

/// 5.6: POST /projects/:id/labels/:label_id/subscription,
/// DELETE /projects/:id/labels/:label_id/subscription
fn users_subscribe_to_labels(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    let label = new_label(forge, owner, &cast.path, "to do");
    let by = |name: &str| format!("{}/labels/{name}/subscription", cast.path);
    let (id, title) = (by(&id_of(&label).to_string()), by("to%20do"));
    let guest = cast.token("guest");
    assert_unchanged(&forge.delete(&id).token(guest).send());
    let heard = forge.post(&title).token(guest).send().expect(201);
    assert_eq!((&heard["id"], &heard["subscribed"]), (&label["id"], &json!(true)));
    assert_unchanged(&forge.post(&id).token(guest).send());
    let list = |token| forge.get(&format!("{}/labels", cast.path)).token(token).send().expect(200);
    assert_eq!(list(guest)[0]["subscribed"], true);
    assert_eq!(list(owner)[0]["subscribed"], false);
    let unheard = forge.delete(&id).token(guest).send().expect(200);
    assert_eq!(unheard["subscribed"], false);
    assert_unchanged(&forge.delete(&title).token(guest).send());
    for name in ["none", "0", &MISSING.to_string(), crate::api::support::HUGE] {
        for method in ["POST", "DELETE"] {
            let answer = forge.request(method, &by(name)).token(guest).send();
            assert_eq!(answer.expect(404), message("404 Label Not Found"), "{name}");
        }
    }
    // A title of digits is found if no label has that id.
    let digits = new_label(forge, owner, &cast.path, "987654");
    let heard = forge.post(&by("987654")).token(guest).send().expect(201);
    assert_eq!(heard["id"], digits["id"]);
    let other = path_of_project(&new_project(forge, owner, "Other", &[]));
    let elsewhere = format!("{other}/labels/{}/subscription", id_of(&label));
    forge.post(&elsewhere).token(owner).send().expect(404);
}

/// 1.1: POST /projects/:id/labels, PUT /projects/:id/labels, DELETE /projects/:id/labels
fn labels_are_changed_by_reporters_and_above(forge: &Forge) {
    for (level, strangers) in [("0", 404), ("20", 403)] {
        let forge_path = if level == "0" { "ada" } else { "bob" };
        let (_, owner) = forge.user(forge_path);
        let project = new_project(forge, &owner, "Ship", &[("visibility_level", level)]);
        let path = format!("{}/labels", path_of_project(&project));
        let (_, stranger) = forge.user(&format!("stranger-{forge_path}"));
        let calls = [
            ("POST", json!({"name": "x", "color": "#111111"})),
            ("PUT", json!({"name": "x", "color": "#111111"})),
            ("DELETE", json!({"name": "x"})),
        ];
        for (method, fields) in &calls {
            let answer = forge.request(method, &path).token(&stranger).json(fields).send();
            let expected = if strangers == 404 { no_project() } else { forbidden() };
            assert_eq!(answer.expect(strangers), expected, "{method}");
        }
        let (guest, token) = forge.user(&format!("guest-{forge_path}"));
        crate::api::groups::group_support::add_member(
            forge,
            &path_of_project(&project),
            guest,
            10,
            &[],
        );
        for (method, fields) in calls {
            let answer = forge.request(method, &path).token(&token).json(&fields).send();
            assert_eq!(answer.expect(403), forbidden(), "{method}");
        }
    }
    // Parameters are checked first.
    let (_, eve) = forge.user("eve");
    let missing = format!("/projects/{MISSING}/labels");
    forge.post(&missing).token(&eve).send().expect(400);
    forge.get(&missing).token(&eve).send().expect(404);
}

/// 1.1, 5.2: GET /projects/:id/labels
fn a_project_with_nothing_to_label_has_no_labels(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let off = [("issues_enabled", "false"), ("merge_requests_enabled", "false")];
    let project = new_project(forge, &ada, "Quiet", &off);
    let path = format!("{}/labels", path_of_project(&project));
    assert_eq!(forge.get(&path).token(&ada).send().expect(200), json!([]));
    let form = [("name", "x"), ("color", "#111111")];
    assert_eq!(forge.post(&path).token(&ada).form(&form).send().expect(403), forbidden());
    forge.post(&format!("{path}/x/subscription")).token(&ada).send().expect(404);
}

/// 5.1: GET /projects/:id/labels
fn issues_are_counted_as_far_as_the_reader_sees_them(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    let stranger = cast.token("stranger");
    let labelled = |more: &[(&str, &str)]| {
        let mut fields = vec![("labels", "bug")];
        fields.extend(more);
        new_issue(forge, owner, &cast.path, "an issue", &fields)
    };
    labelled(&[]);
    let closed = labelled(&[]);
    let secret = labelled(&[("confidential", "true")]);
    update_issue(forge, owner, &closed, &[("state_event", "close")]);
    let seen = |token: &str| label_counts(forge, token, &cast.path, "bug");
    for who in ["reporter", "developer", "master", "owner", "root"] {
        assert_eq!(seen(cast.token(who)), (2, 1), "{who}");
    }
    for who in ["guest", "stranger", "external"] {
        assert_eq!(seen(cast.token(who)), (1, 1), "{who}");
    }
    // Users who may see a confidential issue count it.
    let me = forge.get("/user").token(stranger).send().expect(200);
    let id = id_of(&me).to_string();
    update_issue(forge, owner, &secret, &[("assignee_id", &id)]);
    assert_eq!(seen(stranger), (2, 1));
    update_issue(forge, owner, &secret, &[("state_event", "close")]);
    assert_eq!((seen(stranger), seen(cast.token("guest"))), ((1, 2), (1, 1)));
    update_issue(forge, owner, &secret, &[("confidential", "false")]);
    assert_eq!(seen(cast.token("guest")), (1, 2));
    update_issue(forge, owner, &secret, &[("labels", "")]);
    assert_eq!(seen(owner), (1, 1));
    let path = crate::api::tracker::tracker_support::path_of_issue(&closed);
    forge.delete(&path).token(owner).send().expect(200);
    assert_eq!(seen(owner), (1, 0));
    let form = [("name", "Ship"), ("issues_enabled", "false")];
    forge.put(&cast.path).token(owner).form(&form).send().expect(200);
    assert_eq!(seen(owner), (0, 0));
}

/// 5.7: PUT /projects/:id/labels
fn a_label_stays_itself_when_it_is_renamed_in_use(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[("labels", "bug")]);
    let before = issue_now(forge, owner, &issue);
    let form = [("name", "bug"), ("new_name", "defect")];
    forge.put(&format!("{}/labels", cast.path)).token(owner).form(&form).send().expect(200);
    let after = issue_now(forge, owner, &issue);
    assert_eq!(after["labels"], json!(["defect"]));
    assert_eq!(after["updated_at"], before["updated_at"]);
    assert_eq!(note_bodies(forge, owner, &issue), Vec::<String>::new());
    assert_eq!(label_counts(forge, owner, &cast.path, "defect"), (1, 0));
}
