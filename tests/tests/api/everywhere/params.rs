//! Parameters: their sources, their precedence, and the meaning of their values.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Request, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use crate::api::forms::on_the_fake;

on_every_store!(
    blank_and_null_values_change_nothing,
    unknown_parameters_are_ignored,
    the_path_wins_over_parameters,
    numbers_and_texts_mean_the_same,
);

on_the_fake!(
    every_source_of_parameters_is_read,
    sources_are_merged_and_the_body_wins,
    booleans_have_many_spellings,
    bodies_of_reads_are_harmless,
    bodies_of_deletes_are_read,
    an_empty_body_may_claim_any_content_type,
);

fn put_user(forge: &Forge, id: i64) -> Request {
    forge.put(&format!("/users/{id}")).token(ROOT)
}

fn every_source_of_parameters_is_read(forge: &Forge) {
    let (id, _) = forge.user("ada");
    let odd = "a&b=c+d %41 ü \"\r\n\t€ 😀";
    let pairs = [("bio", odd), ("location", "London")];
    let as_json = json!({"bio": odd, "location": "London"});
    let clear = json!({"bio": "-", "location": "-"});
    let with_charset = "application/json; charset=utf-8";
    let form_with_charset = "Application/X-WWW-Form-Urlencoded; charset=UTF-8";
    for request in [
        put_user(forge, id).query(&pairs),
        put_user(forge, id).form(&pairs),
        put_user(forge, id).multipart(&pairs),
        put_user(forge, id).json(&as_json),
        put_user(forge, id).header("Content-Type", with_charset).body(as_json.to_string()),
        put_user(forge, id).header("Content-Type", "APPLICATION/JSON").body(as_json.to_string()),
        put_user(forge, id).header("Content-Type", form_with_charset).body(
            "bio=a%26b%3dc%2Bd+%2541%20%c3%bc+%22%0D%0A%09%E2%82%AC+%F0%9F%98%80&location=London",
        ),
        // A body without a content type is a form.
        put_user(forge, id).query(&pairs[..1]).body("location=London"),
        put_user(forge, id).query(&pairs[..1]).multipart(&pairs[1..]),
        put_user(forge, id).query(&pairs[1..]).json(&json!({"bio": odd})),
    ] {
        assert_eq!(put_user(forge, id).json(&clear).send().expect(200)["bio"], "-");
        let user = request.send().expect(200);
        assert_eq!((&user["bio"], &user["location"]), (&json!(odd), &json!("London")));
    }
}

fn sources_are_merged_and_the_body_wins(forge: &Forge) {
    let (id, _) = forge.user("ada");
    let query = [("bio", "query"), ("location", "query")];
    let body = [("bio", "body")];
    for request in [
        put_user(forge, id).query(&query).form(&body),
        put_user(forge, id).query(&query).multipart(&body),
        put_user(forge, id).query(&query).json(&json!({"bio": "body"})),
    ] {
        let user = request.send().expect(200);
        assert_eq!((&user["bio"], &user["location"]), (&json!("body"), &json!("query")));
    }
    // Of a repeated parameter the last value counts.
    let twice = [("bio", "first"), ("bio", "second")];
    for request in [
        put_user(forge, id).query(&twice),
        put_user(forge, id).form(&twice),
        put_user(forge, id).multipart(&twice),
        put_user(forge, id)
            .header("Content-Type", "application/json")
            .body(r#"{"bio": "first", "bio": "second"}"#),
    ] {
        assert_eq!(request.send().expect(200)["bio"], "second");
        assert_eq!(put_user(forge, id).form(&[("bio", "-")]).send().expect(200)["bio"], "-");
    }
}

fn booleans_have_many_spellings(forge: &Forge) {
    let (id, _) = forge.user("ada");
    let truths = ["true", "t", "yes", "y", "1", "on", "True", "TRUE", "T", "Yes", "ON", "oN"];
    let lies = ["false", "f", "no", "n", "0", "off", "False", "FALSE", "F", "No", "OFF"];
    for (truth, lie) in truths.iter().zip(lies.iter().cycle()) {
        let on = put_user(forge, id).form(&[("can_create_group", truth)]).send().expect(200);
        assert_eq!(on["can_create_group"], true, "{truth}");
        let off = put_user(forge, id).query(&[("can_create_group", lie)]).send().expect(200);
        assert_eq!(off["can_create_group"], false, "{lie}");
    }
    for (given, expected) in [
        (json!(true), true),
        (json!(false), false),
        (json!(1), true),
        (json!(0), false),
        (json!("yes"), true),
        (json!("off"), false),
    ] {
        let user = put_user(forge, id).json(&json!({"can_create_group": given})).send().expect(200);
        assert_eq!(user["can_create_group"], expected, "{given}");
    }
    // Other words count as missing here.
    assert_eq!(put_user(forge, id).form(&[("can_create_group", "on")]).send().status, 200);
    for word in ["", "maybe", "2", "-1", "truee", "null", "nil"] {
        let user = put_user(forge, id).form(&[("can_create_group", word)]).send().expect(200);
        assert_eq!(user["can_create_group"], true, "{word}");
        let list = forge.get("/users").token(ROOT).query(&[("blocked", word)]).send().expect(200);
        assert_eq!(list.as_array().map(Vec::len), Some(2), "{word}");
    }
    for word in truths {
        let list = forge.get("/users").token(ROOT).query(&[("blocked", word)]).send().expect(200);
        assert_eq!(list, json!([]), "{word}");
    }
    for word in lies {
        let list = forge.get("/users").token(ROOT).query(&[("blocked", word)]).send().expect(200);
        assert_eq!(list.as_array().map(Vec::len), Some(2), "{word}");
    }
}

fn blank_and_null_values_change_nothing(forge: &Forge) {
    let made =
        forge.new_user("ada", &[("bio", "counts"), ("skype", "ada"), ("location", "London")]);
    let id = made["id"].as_i64().expect("users have ids");
    let nulls = json!({
        "email": null, "username": null, "name": null, "password": null, "bio": null,
        "skype": null, "linkedin": null, "twitter": null, "website_url": null,
        "organization": null, "projects_limit": null, "location": null, "admin": null,
        "can_create_group": null, "external": null, "provider": null, "extern_uid": null,
    });
    let blanks: Vec<(&str, &str)> =
        ["email", "username", "name", "password", "bio", "skype", "location", "projects_limit"]
            .into_iter()
            .zip(["", " ", "\t", "\r\n"].into_iter().cycle())
            .collect();
    for request in [
        put_user(forge, id).json(&nulls),
        put_user(forge, id).form(&blanks),
        put_user(forge, id).multipart(&blanks),
        put_user(forge, id).query(&blanks),
        put_user(forge, id),
        put_user(forge, id).json(&json!({})),
        put_user(forge, id).json(&Value::Null),
        put_user(forge, id).form(&[]),
        put_user(forge, id)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body("bio&name"),
    ] {
        assert_eq!(request.send().expect(200), made);
    }
    // A null in the body overrides a value in the query.
    let request = put_user(forge, id).query(&[("bio", "query")]).json(&json!({"bio": null}));
    assert_eq!(request.send().expect(200), made);
}

fn unknown_parameters_are_ignored(forge: &Forge) {
    let made = forge.new_user("ada", &[]);
    let id = made["id"].as_i64().expect("users have ids");
    let odd = [
        ("id", "1"),
        ("state", "blocked"),
        ("created_at", "2016-01-01 00:00:00"),
        ("identities", "id"),
        ("identities", "name"),
        ("a[b][c]", "x"),
        ("a[]", "x"),
        ("[]", "x"),
        ("", "x"),
        ("ü", "x"),
        ("x", "\0"),
        ("constructor", "x"),
        ("two_factor_enabled", "true"),
    ];
    for request in [
        put_user(forge, id).query(&odd),
        put_user(forge, id).form(&odd),
        put_user(forge, id).json(&json!({
            "id": 1, "projectId": 3, "x": [1, {"y": null}], "state": "blocked", "": {"a": []},
            "nul": "\0", "created_at": "2016-01-01T00:00:00.000Z", "identities": [],
        })),
    ] {
        assert_eq!(request.send().expect(200), made);
    }
    // A client may send back a whole object that it has read.
    assert_eq!(put_user(forge, id).json(&made).send().expect(200), made);
    let list = forge.get("/users").token(ROOT).query(&odd).send().expect(200);
    assert_eq!(list.as_array().map(Vec::len), Some(2));
}

fn the_path_wins_over_parameters(forge: &Forge) {
    let (ada, _) = forge.user("ada");
    let root_says = |request: Request| request.token(ROOT).send().expect(200);
    let key = [("title", "laptop"), ("key", &an_ssh_key(1))];
    let added = forge.post(&format!("/users/{ada}/keys")).token(ROOT).query(&[("id", "1")]);
    let added = added.form(&key).send().expect(201);
    let pairs = [("user_id", "1"), ("id", "1"), ("uid", "1")];
    assert_eq!(root_says(forge.get(&format!("/users/{ada}")).query(&pairs))["id"], ada);
    let keys = root_says(forge.get(&format!("/users/{ada}/keys")).query(&pairs));
    assert_eq!(keys, json!([added]));
    let edit = json!({"id": 1, "user_id": 1, "bio": "edited"});
    assert_eq!(put_user(forge, ada).json(&edit).send().expect(200)["id"], ada);
    let block = forge.put(&format!("/users/{ada}/block"));
    assert_eq!(root_says(block.form(&[("id", "1")])), true);
    let delete = forge.delete(&format!("/users/{ada}"));
    assert_eq!(root_says(delete.form(&pairs))["id"], ada);
    let root = root_says(forge.get("/user"));
    assert_eq!((&root["bio"], &root["state"]), (&Value::Null, &json!("active")));
}

fn bodies_of_reads_are_harmless(forge: &Forge) {
    let expected = forge.get("/user").token(ROOT).send();
    let get = || forge.get("/user").token(ROOT);
    let of_type = |content_type: &str, body: &str| {
        get().header("Content-Type", content_type).body(body.to_owned())
    };
    for request in [
        get().json(&json!({})),
        get().json(&json!({"sudo": "nobody", "private_token": "wrong"})),
        get().form(&[("id", "1")]),
        get().multipart(&[("id", "1")]),
        get().body("x".repeat(100_000)),
        of_type("application/json", "{broken"),
        of_type("text/plain", "hello"),
        of_type("multipart/form-data", "no boundary"),
        of_type("application/x-www-form-urlencoded", "%zz&\0"),
    ] {
        let answer = request.send();
        assert_eq!((answer.status, &answer.body), (200, &expected.body));
    }
    // Reads only use the parameters of the query.
    let list = forge.get("/users").token(ROOT).query(&[("per_page", "7")]);
    let list = list.form(&[("per_page", "3"), ("page", "9")]).send();
    assert_eq!((list.header("x-per-page"), list.header("x-page")), (Some("7"), Some("1")));

    // An unread body would be parsed as the next request on the connection.
    let two = "GET /api/v3/user HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: root-token-for-tests\r\n\
               Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}\
               GET /api/v3/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let both = hexforge_tests::client::exchange(forge.address, two.as_bytes());
    let both = String::from_utf8_lossy(&both);
    let statuses: Vec<_> = both.matches("HTTP/1.1 ").collect();
    assert_eq!(statuses.len(), 2, "{both}");
    assert!(both.starts_with("HTTP/1.1 200") && both.contains("HTTP/1.1 401"), "{both}");
}

fn bodies_of_deletes_are_read(forge: &Forge) {
    let (_, token) = forge.user("ada");
    for (n, form) in ["form", "json", "query", "multipart"].into_iter().enumerate() {
        let n = u32::try_from(n).expect("few");
        let key = [("title", form), ("key", &an_ssh_key(n))];
        let key = forge.post("/user/keys").token(&token).form(&key).send().expect(201);
        let delete = || forge.delete(&format!("/user/keys/{}", key["id"]));
        let pairs = [("private_token", ROOT), ("sudo", "ada"), ("unknown", "x")];
        let request = match form {
            "form" => delete().form(&pairs),
            "multipart" => delete().multipart(&pairs),
            "query" => delete().query(&pairs),
            _ => delete().json(&json!({"private_token": ROOT, "sudo": "ada", "x": {}})),
        };
        assert_eq!(request.send().expect(200), key, "{form}");
    }
    let (id, _) = forge.user("bob");
    let delete = forge.delete(&format!("/users/{id}")).token(ROOT).json(&json!({}));
    assert_eq!(delete.send().expect(200)["id"], id);
}

fn an_empty_body_may_claim_any_content_type(forge: &Forge) {
    let (id, _) = forge.user("ada");
    for content_type in [
        "application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "multipart/form-data; boundary=frontier",
        "text/plain",
        "application/octet-stream",
        "application/xml; charset=utf-8",
        "nonsense",
        "",
    ] {
        for (method, path) in [
            ("PUT", format!("/users/{id}/block")),
            ("PUT", format!("/users/{id}/unblock")),
            ("DELETE", "/users/999".to_owned()),
            ("GET", "/user".to_owned()),
        ] {
            let request = || {
                let request = forge.request(method, &path).token(ROOT);
                request.header("Content-Type", content_type)
            };
            let with_length = request().body("").send();
            assert_eq!(with_length.status, 200, "{method} {path} {content_type:?}");
            assert_eq!(request().send().status, 200, "{method} {path} {content_type:?}");
        }
        // The block has ended the session.
        let token = forge.sign_in("ada");
        let bare = forge.get("/user?").token(&token).header("Content-Type", content_type).send();
        assert_eq!(bare.expect(200)["username"], "ada");
    }
    assert_eq!(forge.put(&format!("/users/{id}/block?")).token(ROOT).send().status, 200);
    assert_eq!(forge.get("/users?&&").token(ROOT).send().status, 200);
}

fn numbers_and_texts_mean_the_same(forge: &Forge) {
    let (id, _) = forge.user("ada");
    for given in [json!(7), json!("7"), json!(" 7 ")] {
        let user = put_user(forge, id).json(&json!({"projects_limit": given})).send().expect(200);
        assert_eq!(user["projects_limit"], 7, "{given}");
        assert_eq!(put_user(forge, id).form(&[("projects_limit", "3")]).send().status, 200);
    }
    let user = put_user(forge, id).json(&json!({"bio": 42, "location": false})).send().expect(200);
    assert_eq!((&user["bio"], &user["location"]), (&json!("42"), &json!("false")));
}
