//! `PUT /users/:id`: reference section 2.6, changed and unchanged fields.

use hexforge_domain::id::UserId;
use hexforge_domain::namespace::NamespacePath;
use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::support::{activity_count, id_of, message, queued_events, read_store, user_now};

on_every_store!(
    only_given_fields_change,
    an_empty_update_changes_nothing,
    blank_texts_and_nulls_leave_things_as_they_are,
    clients_may_send_the_whole_record_back,
    flags_change_only_when_they_are_given_and_even_the_last_administrator_may_step_down,
    external_users_stay_without_groups_and_projects_at_each_save,
    a_new_address_is_effective_at_once,
    ones_own_secondary_address_and_the_primary_one_swap,
    a_new_username_renames_the_namespace,
    a_new_password_replaces_the_old_one_and_ends_sessions,
    an_identity_is_added_or_updated,
);

#[track_caller]
fn update(forge: &Forge, id: i64, fields: &Value) -> Value {
    forge.put(&format!("/users/{id}")).token(ROOT).json(fields).send().expect(200)
}

/// PUT /users/:id
fn only_given_fields_change(forge: &Forge) {
    let mut expected = forge.new_user("ada", &[]);
    let id = id_of(&expected);
    let before = queued_events(forge);
    forge.clock.advance(chrono::TimeDelta::hours(1));
    for (field, value) in [
        ("name", json!("Ada A.")),
        ("bio", json!("Counts.")),
        ("location", json!("Here")),
        ("organization", json!("Engines")),
        ("skype", json!("s")),
        ("linkedin", json!("l")),
        ("twitter", json!("t")),
        ("website_url", json!("http://ada.example")),
        ("projects_limit", json!(3)),
        ("can_create_group", json!(false)),
    ] {
        let answer = forge.put(&format!("/users/{id}")).token(ROOT).json(&json!({ field: value }));
        let answer = answer.send();
        expected[field] = value;
        assert_eq!(answer.expect(200), expected, "{field}");
        assert_eq!(answer.text(), expected.to_string());
        assert_eq!(user_now(forge, id), expected, "{field}");
    }
    // Neither a feed event nor an outbox event.
    assert_eq!(queued_events(forge), before);
    assert_eq!((activity_count(forge, id), activity_count(forge, 1)), (0, 0));
}

/// PUT /users/:id
fn an_empty_update_changes_nothing(forge: &Forge) {
    let ada = forge.new_user("ada", &[("bio", "b")]);
    let put = || forge.put(&format!("/users/{}", id_of(&ada))).token(ROOT);
    assert_eq!(put().send().expect(200), ada);
    assert_eq!(put().header("Content-Type", "application/json").send().expect(200), ada);
    assert_eq!(put().json(&json!({})).send().expect(200), ada);
    assert_eq!(put().form(&[("unknown", "x"), ("id", "1")]).send().expect(200), ada);
    assert_eq!(user_now(forge, id_of(&ada)), ada);
    assert_eq!(user_now(forge, 1)["username"], "root");
}

/// PUT /users/:id
fn blank_texts_and_nulls_leave_things_as_they_are(forge: &Forge) {
    let fields = [
        "email",
        "username",
        "name",
        "password",
        "skype",
        "linkedin",
        "twitter",
        "website_url",
        "organization",
        "projects_limit",
        "extern_uid",
        "provider",
        "bio",
        "location",
        "admin",
        "can_create_group",
        "external",
    ];
    let more = [
        ("skype", "s"),
        ("linkedin", "l"),
        ("twitter", "t"),
        ("website_url", "w"),
        ("organization", "o"),
        ("projects_limit", "5"),
        ("extern_uid", "x"),
        ("provider", "p"),
        ("bio", "b"),
        ("location", "h"),
        ("admin", "true"),
        ("can_create_group", "false"),
    ];
    let ada = forge.new_user("ada", &more);
    let put = || forge.put(&format!("/users/{}", id_of(&ada))).token(ROOT);
    for blank in ["", "   "] {
        let form: Vec<_> = fields.iter().map(|field| (*field, blank)).collect();
        assert_eq!(put().form(&form).send().expect(200), ada, "{blank:?}");
    }
    let nulls: serde_json::Map<_, _> =
        fields.iter().map(|field| ((*field).to_owned(), Value::Null)).collect();
    assert_eq!(put().json(&Value::Object(nulls)).send().expect(200), ada);
    assert_eq!(user_now(forge, id_of(&ada)), ada);
    forge.sign_in("ada");
}

/// PUT /users/:id
fn clients_may_send_the_whole_record_back(forge: &Forge) {
    let ada = forge.new_user("ada", &[("provider", "directory"), ("extern_uid", "cn=ada")]);
    let id = id_of(&ada);
    assert_eq!(update(forge, id, &ada), ada);
    // Fields that only the server sets are ignored, whatever their values are.
    let mut tampered = ada.clone();
    for (field, value) in [
        ("id", json!(1)),
        ("state", json!("blocked")),
        ("avatar_url", json!("http://elsewhere.example")),
        ("web_url", json!(null)),
        ("created_at", json!("2001-01-01 00:00:00")),
        ("confirmed_at", json!(null)),
        ("last_sign_in_at", json!("2001-01-01 00:00:00")),
        ("current_sign_in_at", json!("2001-01-01 00:00:00")),
        ("is_admin", json!(true)),
        ("theme_id", json!(5)),
        ("color_scheme_id", json!(5)),
        ("identities", json!([])),
        ("can_create_project", json!(false)),
        ("two_factor_enabled", json!(true)),
    ] {
        tampered[field] = value;
    }
    assert_eq!(update(forge, id, &tampered), ada);
    // The format in which another client sends lists of objects.
    let form = [("identities", "provider"), ("identities", "extern_uid"), ("state", "blocked")];
    let put = forge.put(&format!("/users/{id}")).token(ROOT).form(&form).send();
    assert_eq!(put.expect(200), ada);
    assert_eq!(user_now(forge, id), ada);
}

/// PUT /users/:id
fn flags_change_only_when_they_are_given_and_even_the_last_administrator_may_step_down(
    forge: &Forge,
) {
    let id = id_of(&forge.new_user("ada", &[("admin", "true")]));
    let put = |field: &str, word: &str| {
        let put = forge.put(&format!("/users/{id}")).token(ROOT).form(&[(field, word)]);
        put.send().expect(200)
    };
    let changed = put("can_create_group", "false");
    assert_eq!((&changed["is_admin"], &changed["can_create_group"]), (&json!(true), &json!(false)));
    for (word, admin) in [
        ("False", false),
        ("maybe", false),
        ("Yes", true),
        ("2", true),
        ("off", false),
        ("T", true),
        ("n", false),
        ("1", true),
        ("0", false),
        ("On", true),
    ] {
        assert_eq!(put("admin", word)["is_admin"], admin, "{word}");
        assert_eq!(user_now(forge, id)["is_admin"], admin, "{word}");
    }
    assert_eq!(update(forge, id, &json!({"admin": false}))["is_admin"], false);
    let token = forge.sign_in("ada");
    forge.get(&format!("/users/{id}/keys")).token(&token).send().expect(403);
    assert_eq!(update(forge, 1, &json!({"admin": false}))["is_admin"], false);
    let refused = forge.put("/users/1").token(ROOT).form(&[("admin", "true")]).send().expect(403);
    assert_eq!(refused, message("403 Forbidden"));
}

/// PUT /users/:id
fn external_users_stay_without_groups_and_projects_at_each_save(forge: &Forge) {
    let id = id_of(&forge.new_user("ada", &[]));
    let everything = json!({"projects_limit": 9, "can_create_group": true});
    for (fields, external, limit, groups) in [
        (json!({"external": true}), true, 0, false),
        (everything.clone(), true, 0, false),
        (json!({"name": "A guest"}), true, 0, false),
        (json!({"external": false}), false, 0, false),
        (everything, false, 9, true),
        (
            json!({"external": "yes", "projects_limit": 9, "can_create_group": "yes"}),
            true,
            0,
            false,
        ),
    ] {
        let changed = update(forge, id, &fields);
        assert_eq!(changed["external"], external, "{fields}");
        assert_eq!(changed["projects_limit"], limit, "{fields}");
        assert_eq!(changed["can_create_group"], groups, "{fields}");
        assert_eq!(user_now(forge, id), changed);
    }
}

/// PUT /users/:id
fn a_new_address_is_effective_at_once(forge: &Forge) {
    let (id, token) = forge.user("ada");
    let changed = update(forge, id, &json!({"email": "  NEW@Example.com "}));
    assert_eq!(changed["email"], "new@example.com");
    assert_eq!(user_now(forge, id), changed);
    forge.sign_in("new@example.com");
    let old = [("login", "ada@example.com"), ("password", PASSWORD)];
    forge.post("/session").form(&old).send().expect(401);
    assert_eq!(forge.get("/user/emails").token(&token).send().expect(200), json!([]));
    // The old address can be used again.
    forge.new_user("bob", &[("email", "ada@example.com")]);
}

/// PUT /users/:id
fn ones_own_secondary_address_and_the_primary_one_swap(forge: &Forge) {
    let (id, token) = forge.user("ada");
    for address in ["second@example.com", "third@example.com"] {
        let form = [("email", address)];
        forge.post("/user/emails").token(&token).form(&form).send().expect(201);
    }
    let changed = update(forge, id, &json!({"email": "Second@example.com"}));
    assert_eq!(changed["email"], "second@example.com");
    let emails = forge.get("/user/emails").token(&token).send().expect(200);
    let mut addresses: Vec<_> = emails
        .as_array()
        .expect("a list")
        .iter()
        .map(|email| email["email"].as_str().expect("an address"))
        .collect();
    addresses.sort_unstable();
    assert_eq!(addresses, ["ada@example.com", "third@example.com"]);
}

/// PUT /users/:id
fn a_new_username_renames_the_namespace(forge: &Forge) {
    let (id, token) = forge.user("ada");
    let owner = |path: &str| {
        let path = NamespacePath::parse(path).expect("a good path");
        let namespace = read_store(forge, |tx| tx.namespaces().find_by_path(&path))?;
        Some((namespace.path.as_str().to_owned(), namespace.owner))
    };
    // A change of case does not conflict with the user itself.
    for name in ["lace", "LACE"] {
        let changed = update(forge, id, &json!({ "username": name }));
        assert_eq!(changed["username"], name);
        assert_eq!(changed["web_url"], format!("http://forge.test/{name}"));
        assert_eq!(user_now(forge, id), changed);
        assert_eq!(owner("lace"), Some((name.to_owned(), Some(UserId(id)))));
    }
    assert_eq!(owner("ada"), None);
    forge.sign_in("lace");
    let old = [("login", "ada"), ("password", PASSWORD)];
    forge.post("/session").form(&old).send().expect(401);
    forge.get("/user").token(&token).send().expect(200);
    forge.new_user("ada", &[("email", "other@example.com")]);
}

/// PUT /users/:id
fn a_new_password_replaces_the_old_one_and_ends_sessions(forge: &Forge) {
    let (id, token) = forge.user("ada");
    let sign_in = |password: &str| {
        forge.post("/session").form(&[("login", "ada"), ("password", password)]).send().status
    };
    update(forge, id, &json!({"password": "another horse"}));
    assert_eq!((sign_in(PASSWORD), sign_in("another horse")), (401, 201));
    forge.get("/user").token(&token).send().expect(401);
}

/// PUT /users/:id
fn an_identity_is_added_or_updated(forge: &Forge) {
    let id = id_of(&forge.new_user("ada", &[]));
    let identity =
        |provider: &str, extern_uid: &str| json!({"provider": provider, "extern_uid": extern_uid});
    for (given, expected) in [
        (identity("one", "a"), json!([identity("one", "a")])),
        (identity("one", "a"), json!([identity("one", "a")])),
        (identity("one", "b"), json!([identity("one", "b")])),
        (identity("two", "b"), json!([identity("one", "b"), identity("two", "b")])),
        // Fields of an identity that are not sent do not change.
        (json!({"provider": "one"}), json!([identity("one", "b"), identity("two", "b")])),
    ] {
        assert_eq!(update(forge, id, &given)["identities"], expected, "{given}");
        assert_eq!(user_now(forge, id)["identities"], expected, "{given}");
    }
    // A uid that was given up can be used by others.
    forge.new_user("bob", &[("provider", "one"), ("extern_uid", "a")]);
}
