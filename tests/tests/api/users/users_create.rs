//! `POST /users`: reference section 2.4, valid requests and permissions.

use hexforge_domain::id::UserId;
use hexforge_domain::namespace::NamespacePath;
use hexforge_domain::outbox::{SystemEvent, UserFacts};
use hexforge_domain_testing::builders::a_moment;
use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::support::{
    activity_count, assert_only_for_administrators, id_of, message, queued_events, read_store,
    user_now,
};

on_every_store!(
    a_new_user_has_the_defaults_of_the_reference,
    everything_optional_is_honoured,
    a_new_user_has_a_namespace_and_is_news_and_no_activity,
    administrators_alone_make_users,
    what_is_required_is_asked_for_in_order_and_blank_is_not_given,
    parameters_come_as_query_form_multipart_or_json,
    switches_understand_many_words,
    external_users_make_neither_groups_nor_projects,
    everybody_is_confirmed_at_once,
    addresses_and_names_are_cleaned,
    an_identity_is_made_of_provider_and_name,
);

/// The required fields of a user with this name.
fn required_fields(username: &str) -> Value {
    json!({
        "username": username, "name": username, "email": format!("{username}@example.com"),
        "password": PASSWORD
    })
}

/// The same with additional or replaced fields.
fn fields_with(username: &str, more: Value) -> Value {
    let mut fields = required_fields(username);
    let more = more.as_object().expect("an object").clone();
    fields.as_object_mut().expect("an object").extend(more);
    fields
}

#[track_caller]
fn create(forge: &Forge, fields: &Value) -> Value {
    forge.post("/users").token(ROOT).json(fields).send().expect(201)
}

/// POST /users
fn a_new_user_has_the_defaults_of_the_reference(forge: &Forge) {
    let created = forge.post("/users").token(ROOT).json(&required_fields("ada")).send();
    let id = id_of(&created.expect(201));
    let now = "2016-09-22T10:30:00.000Z";
    let expected = json!({
        "name": "ada", "username": "ada", "id": id, "state": "active",
        "avatar_url":
            "http://www.gravatar.com/avatar/3e3417d7ef77d5932a6734b916515ed5?s=80&d=identicon",
        "web_url": "http://forge.test/ada",
        "created_at": now, "is_admin": false, "bio": null, "location": null,
        "skype": "", "linkedin": "", "twitter": "", "website_url": "", "organization": null,
        "last_sign_in_at": null, "confirmed_at": now, "email": "ada@example.com",
        "theme_id": 2, "color_scheme_id": 1, "projects_limit": 100,
        "current_sign_in_at": null, "identities": [], "can_create_group": true,
        "can_create_project": true, "two_factor_enabled": false, "external": false
    });
    assert_eq!(created.text(), expected.to_string());
    assert_eq!(user_now(forge, id), expected);
    forge.sign_in("ada");
}

/// POST /users
fn everything_optional_is_honoured(forge: &Forge) {
    let given = json!({
        "name": "Ada A.", "skype": "s", "linkedin": "l", "twitter": "t",
        "website_url": "http://ada.example", "organization": "o", "bio": "b", "location": "here",
        "projects_limit": 7, "can_create_group": false
    });
    let created = create(forge, &fields_with("ada", given.clone()));
    for (field, value) in given.as_object().expect("an object") {
        assert_eq!(&created[field], value, "{field}");
    }
    assert_eq!(user_now(forge, id_of(&created)), created);
    let admin = create(forge, &fields_with("bob", json!({"admin": true, "projects_limit": "0"})));
    assert_eq!(admin["is_admin"], true);
    assert_eq!(
        (&admin["projects_limit"], &admin["can_create_project"]),
        (&json!(0), &json!(false))
    );
    let token = forge.sign_in("bob");
    forge.post("/users").token(&token).json(&required_fields("cleo")).send().expect(201);
}

/// POST /users
fn a_new_user_has_a_namespace_and_is_news_and_no_activity(forge: &Forge) {
    let before = queued_events(forge).len();
    let id = id_of(&create(forge, &fields_with("Ada", json!({"name": "Ada A."}))));
    let path = NamespacePath::parse("ada").expect("a good path");
    let namespace =
        read_store(forge, |tx| tx.namespaces().find_by_path(&path)).expect("it is there");
    assert_eq!((namespace.path.as_str(), namespace.owner), ("Ada", Some(UserId(id))));
    let facts = UserFacts {
        id: UserId(id),
        username: "Ada".to_owned(),
        name: "Ada A.".to_owned(),
        email: "ada@example.com".to_owned(),
        created_at: a_moment(),
        updated_at: a_moment(),
    };
    assert_eq!(queued_events(forge)[before..], [SystemEvent::UserCreated(facts)]);
    assert_eq!((activity_count(forge, id), activity_count(forge, 1)), (0, 0));
    // A refused request creates no event.
    forge.post("/users").token(ROOT).json(&required_fields("Ada")).send().expect(409);
    assert_eq!(queued_events(forge).len(), before + 1);
}

/// POST /users
fn administrators_alone_make_users(forge: &Forge) {
    assert_only_for_administrators(forge, &[("POST", "/users".into())]);
    let token = forge.sign_in("normal");
    // The permission is checked before the parameters.
    for fields in [required_fields("ada"), json!({"email": ["a", "list"]}), json!({"name": {}})] {
        let refused = forge.post("/users").token(&token).json(&fields).send().expect(403);
        assert_eq!(refused, message("403 Forbidden"), "{fields}");
    }
    let nobody = forge.get("/users?username=ada").token(ROOT).send().expect(200);
    assert_eq!(nobody, json!([]));
}

/// POST /users
fn what_is_required_is_asked_for_in_order_and_blank_is_not_given(forge: &Forge) {
    let fields = [
        ("email", "ada@example.com"),
        ("password", PASSWORD),
        ("name", "ada"),
        ("username", "ada"),
    ];
    for (count, (missing, _)) in fields.iter().enumerate() {
        let expected = message(&format!("400 (Bad request) \"{missing}\" not given"));
        let absent = forge.post("/users").token(ROOT).form(&fields[..count]).send().expect(400);
        assert_eq!(absent, expected);
        for blank in ["", "  "] {
            let mut form = fields.to_vec();
            form[count].1 = blank;
            let refused = forge.post("/users").token(ROOT).form(&form).send().expect(400);
            assert_eq!(refused, expected, "{blank:?}");
        }
        let null =
            forge.post("/users").token(ROOT).json(&fields_with("ada", json!({*missing: null})));
        assert_eq!(null.send().expect(400), expected);
    }
    // Even if the request has other errors.
    let hopeless = [("username", "-"), ("password", "x"), ("email", "root"), ("bio", "b")];
    let refused = forge.post("/users").token(ROOT).form(&hopeless).send().expect(400);
    assert_eq!(refused, message("400 (Bad request) \"name\" not given"));
}

/// POST /users
fn parameters_come_as_query_form_multipart_or_json(forge: &Forge) {
    let fields = |name: &'static str, email: &'static str| {
        [("username", name), ("name", "Ünï cödé & co"), ("email", email), ("password", PASSWORD)]
    };
    let post = || forge.post("/users").token(ROOT);
    let (a, b, c) = ("a@example.com", "b@example.com", "c@example.com");
    for created in [
        post().query(&fields("aa", a)).send(),
        post().form(&fields("bb", b)).send(),
        post().multipart(&fields("cc", c)).send(),
        post().json(&fields_with("dd", json!({"name": "Ünï cödé & co"}))).send(),
        // Parameters in both: the body wins.
        post()
            .query(&[("username", "xx"), ("name", "Ünï cödé & co")])
            .json(&json!({
                "username": "ee", "email": "e@example.com", "password": PASSWORD
            }))
            .send(),
    ] {
        assert_eq!(created.expect(201)["name"], "Ünï cödé & co");
    }
    let list = forge.get("/users").token(ROOT).send().expect(200);
    let names: Vec<_> = list.as_array().expect("a list").iter().map(|u| &u["username"]).collect();
    assert_eq!(names, ["ee", "dd", "cc", "bb", "aa", "root"]);
    // Some clients send the token in the body.
    let signed = fields_with("ff", json!({"private_token": ROOT}));
    forge.post("/users").json(&signed).send().expect(201);
}

/// POST /users
fn switches_understand_many_words(forge: &Forge) {
    let (yes, no) = (Some(true), Some(false));
    for (number, (word, meaning)) in [
        (json!("true"), yes),
        (json!("True"), yes),
        (json!("t"), yes),
        (json!("YES"), yes),
        (json!("y"), yes),
        (json!("1"), yes),
        (json!("on"), yes),
        (json!(1), yes),
        (json!(true), yes),
        (json!("false"), no),
        (json!("F"), no),
        (json!("No"), no),
        (json!("n"), no),
        (json!("0"), no),
        (json!("OFF"), no),
        (json!(0), no),
        (json!(false), no),
        (json!("maybe"), None),
        (json!(""), None),
        (json!(2), None),
        (json!(null), None),
    ]
    .into_iter()
    .enumerate()
    {
        let fields = json!({"admin": word, "can_create_group": word, "external": "no"});
        let created = create(forge, &fields_with(&format!("user{number}"), fields));
        assert_eq!(created["is_admin"], meaning.unwrap_or(false), "{word}");
        assert_eq!(created["can_create_group"], meaning.unwrap_or(true), "{word}");
    }
}

/// POST /users
fn external_users_make_neither_groups_nor_projects(forge: &Forge) {
    let asked = json!({"external": true, "projects_limit": 50, "can_create_group": true});
    let created = create(forge, &fields_with("guest", asked));
    assert_eq!(created["external"], true);
    assert_eq!(created["projects_limit"], 0);
    assert_eq!(created["can_create_group"], false);
    assert_eq!(created["can_create_project"], false);
    assert_eq!(user_now(forge, id_of(&created)), created);
}

/// POST /users
fn everybody_is_confirmed_at_once(forge: &Forge) {
    for (number, confirm) in
        [json!(true), json!(false), json!("true"), json!("false"), json!("no"), json!("x")]
            .into_iter()
            .enumerate()
    {
        let fields = fields_with(&format!("user{number}"), json!({ "confirm": confirm }));
        assert_eq!(create(forge, &fields)["confirmed_at"], "2016-09-22T10:30:00.000Z", "{confirm}");
    }
}

/// POST /users
fn addresses_and_names_are_cleaned(forge: &Forge) {
    let created = create(
        forge,
        &json!({
            "email": "  ADA@Example.COM ", "password": PASSWORD, "username": "<b>ada</b>",
            "name": "<i>Ada</i> A.", "skype": "<u>s</u>", "linkedin": "<u>l</u>",
            "twitter": "<u>t</u>"
        }),
    );
    for (field, clean) in [
        ("email", "ada@example.com"),
        ("username", "ada"),
        ("name", "Ada A."),
        ("skype", "s"),
        ("linkedin", "l"),
        ("twitter", "t"),
    ] {
        assert_eq!(created[field], clean, "{field}");
    }
    let fields = fields_with("bob", json!({"name": "<b></b>"}));
    let blank = forge.post("/users").token(ROOT).json(&fields).send().expect(400);
    assert_eq!(blank, json!({"message": {"name": ["can't be blank"]}}));
}

/// POST /users
fn an_identity_is_made_of_provider_and_name(forge: &Forge) {
    let both = json!({"provider": "directory", "extern_uid": "cn=ada"});
    let created = create(forge, &fields_with("ada", both.clone()));
    assert_eq!(created["identities"], json!([both]));
    // The same uid of another provider is another identity.
    let elsewhere = json!({"provider": "forge2", "extern_uid": "cn=ada"});
    let created = create(forge, &fields_with("bob", elsewhere.clone()));
    assert_eq!(created["identities"], json!([elsewhere]));
    let nameless = create(forge, &fields_with("cleo", json!({"provider": "directory"})));
    assert_eq!(nameless["identities"], json!([{"provider": "directory", "extern_uid": null}]));
}
