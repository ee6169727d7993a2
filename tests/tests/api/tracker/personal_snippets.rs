//! `/snippets`: section 18 of the reference of the rest of v3.

use hexforge_domain_testing::builders::at;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::error;
use crate::api::support::{HUGE, MISSING, assert_only_for_users, field_error, id_of, ids, message};

on_every_store!(
    a_personal_snippet_is_created_listed_and_read,
    public_snippets_of_everybody_are_listed,
    only_the_author_reaches_a_personal_snippet,
    required_fields_are_declared,
    at_least_one_field_is_changed,
    a_deleted_personal_snippet_is_gone,
    personal_snippets_go_with_their_author,
    the_calls_are_for_users,
);

#[track_caller]
fn create(forge: &Forge, token: &str, title: &str, more: &[(&str, &str)]) -> Value {
    let mut form = vec![("title", title), ("file_name", "a.rb"), ("content", "puts 1\n")];
    form.extend(more);
    forge.post("/snippets").token(token).form(&form).send().expect(201)
}

/// POST /snippets, GET /snippets, GET /snippets/:id, GET /snippets/:id/raw
fn a_personal_snippet_is_created_listed_and_read(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    assert_eq!(forge.get("/snippets").token(&token).send().expect(200), json!([]));
    let form = [("title", "One"), ("file_name", "a.rb"), ("content", "puts 1\n")];
    let made = forge.post("/snippets").token(&token).form(&form).send();
    let id = id_of(&made.expect(201));
    let user = forge.get(&format!("/users/{ada}")).token(&token).send().expect(200);
    let web_url = user["web_url"].as_str().expect("a URL").replace("/ada", "/snippets");
    let expected = json!({
        "id": id, "title": "One", "file_name": "a.rb",
        "author": {
            "name": "ada", "username": "ada", "id": ada, "state": "active",
            "avatar_url": user["avatar_url"], "web_url": user["web_url"]
        },
        "updated_at": "2016-09-22T10:30:00.000Z", "created_at": "2016-09-22T10:30:00.000Z",
        "web_url": format!("{web_url}/{id}"), "raw_url": format!("{web_url}/{id}/raw")
    });
    assert_eq!(made.text(), expected.to_string());
    let path = format!("/snippets/{id}");
    assert_eq!(forge.get(&path).token(&token).send().text(), expected.to_string());
    let raw = forge.get(&format!("{path}/raw")).token(&token).send();
    assert_eq!((raw.status, raw.text()), (200, "puts 1\n"));
    assert!(raw.header("Content-Type").is_some_and(|kind| kind.starts_with("text/plain")));
    let second = create(forge, &token, "Two", &[("visibility_level", "0")]);
    create(forge, ROOT, "Other", &[]);
    let list = forge.get("/snippets").token(&token).send();
    assert_eq!(list.text(), json!([second, expected]).to_string());
    assert_eq!(list.header("X-Total"), Some("2"));
    let page = forge.get("/snippets?per_page=1&page=2").token(&token).send();
    assert_eq!(page.expect(200), json!([expected]));
}

/// GET /snippets/public
fn public_snippets_of_everybody_are_listed(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (_, bob) = forge.user("bob");
    for level in ["0", "10"] {
        create(forge, &ada, "hidden", &[("visibility_level", level)]);
    }
    // The default level is 10.
    create(forge, &ada, "hidden", &[]);
    let of_ada = create(forge, &ada, "open", &[("visibility_level", "20")]);
    let of_bob = create(forge, &bob, "open", &[("visibility_level", "20")]);
    for token in [&ada, &bob] {
        let list = forge.get("/snippets/public").token(token).send();
        assert_eq!(list.expect(200), json!([of_bob, of_ada]));
        assert_eq!(list.header("X-Total"), Some("2"));
    }
}

/// GET /snippets/:id, PUT /snippets/:id, DELETE /snippets/:id
fn only_the_author_reaches_a_personal_snippet(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (_, bob) = forge.user("bob");
    let snippet = create(forge, &ada, "open", &[("visibility_level", "20")]);
    let own = id_of(&snippet).to_string();
    for (token, id) in
        [(bob.as_str(), own.as_str()), (ROOT, &own), (&ada, &MISSING.to_string()), (&ada, HUGE)]
    {
        let path = format!("/snippets/{id}");
        for path in [path.clone(), format!("{path}/raw")] {
            let hidden = forge.get(&path).token(token).send().expect(404);
            assert_eq!(hidden, message("404 Not found"), "{path}");
        }
        let put = forge.put(&path).token(token).form(&[("title", "x")]).send();
        assert_eq!(put.expect(404), message("404 Snippet Not Found"), "{path}");
        let gone = forge.delete(&path).token(token).send().expect(404);
        assert_eq!(gone, message("404 Snippet Not Found"), "{path}");
    }
    let text = forge.get("/snippets/x").token(&ada).send().expect(400);
    assert_eq!(text, error("id is invalid"));
    assert_eq!(forge.get("/snippets").token(&ada).send().expect(200), json!([snippet]));
}

/// POST /snippets
fn required_fields_are_declared(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let post = |fields: &Value| forge.post("/snippets").token(&ada).json(fields).send().expect(400);
    assert_eq!(
        post(&json!({})),
        error("title is missing, file_name is missing, content is missing")
    );
    let whole = json!({"title": "t", "file_name": "f", "content": "c"});
    for name in ["title", "file_name", "content"] {
        let mut fields = whole.clone();
        fields.as_object_mut().expect("an object").remove(name);
        assert_eq!(post(&fields), error(&format!("{name} is missing")));
    }
    let long = "t".repeat(256);
    for (name, value, expected) in [
        ("title", json!(" "), field_error("title", "can't be blank")),
        ("content", json!(""), field_error("content", "can't be blank")),
        ("title", json!(long), field_error("title", "is too long (maximum is 255 characters)")),
        (
            "file_name",
            json!("a/b"),
            field_error("file_name", "can contain only letters, digits, '_', '-', '@' and '.'."),
        ),
        ("visibility_level", json!(5), error("visibility_level does not have a valid value")),
        ("title", json!(["t"]), error("title is invalid")),
    ] {
        let mut fields = whole.clone();
        fields[name] = value;
        assert_eq!(post(&fields), expected, "{name}");
    }
    assert_eq!(forge.get("/snippets").token(&ada).send().expect(200), json!([]));
}

/// PUT /snippets/:id
fn at_least_one_field_is_changed(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let mut snippet = create(forge, &ada, "t", &[]);
    let path = format!("/snippets/{}", id_of(&snippet));
    let none = forge.put(&path).token(&ada).send().expect(400);
    let text = "title, file_name, content, visibility_level are missing, at least one parameter \
                must be provided";
    assert_eq!(none, error(text));
    let blank = forge.put(&path).token(&ada).form(&[("title", " ")]).send().expect(400);
    assert_eq!(blank, field_error("title", "can't be blank"));
    forge.clock.set(at(60));
    snippet["updated_at"] = json!("2016-09-22T10:31:00.000Z");
    for (name, value) in [("title", "New"), ("file_name", "b.py"), ("content", "print(1)")] {
        let changed = forge.put(&path).token(&ada).form(&[(name, value)]).send().expect(200);
        if name != "content" {
            snippet[name] = json!(value);
        }
        assert_eq!(changed, snippet);
    }
    let raw = forge.get(&format!("{path}/raw")).token(&ada).send();
    assert_eq!(raw.text(), "print(1)");
    forge.put(&path).token(&ada).json(&json!({"visibility_level": 20})).send().expect(200);
    let public = forge.get("/snippets/public").token(&ada).send().expect(200);
    assert_eq!(public, json!([snippet]));
}

/// DELETE /snippets/:id
fn a_deleted_personal_snippet_is_gone(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let path = format!("/snippets/{}", id_of(&create(forge, &ada, "t", &[])));
    let gone = forge.delete(&path).token(&ada).send();
    assert_eq!((gone.status, gone.text()), (204, ""));
    let again = forge.delete(&path).token(&ada).send().expect(404);
    assert_eq!(again, message("404 Snippet Not Found"));
    assert_eq!(forge.get("/snippets").token(&ada).send().expect(200), json!([]));
}

/// GET /snippets/public
fn personal_snippets_go_with_their_author(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    create(forge, &token, "open", &[("visibility_level", "20")]);
    let kept = create(forge, ROOT, "open", &[("visibility_level", "20")]);
    forge.delete(&format!("/users/{ada}")).token(ROOT).send().expect(200);
    let list = forge.get("/snippets/public").token(ROOT).send();
    assert_eq!(ids(&list.expect(200)), [id_of(&kept)]);
}

/// All seven calls.
fn the_calls_are_for_users(forge: &Forge) {
    let calls = [
        ("GET", "/snippets"),
        ("GET", "/snippets/public"),
        ("GET", "/snippets/x"),
        ("GET", "/snippets/1/raw"),
        ("POST", "/snippets"),
        ("PUT", "/snippets/1"),
        ("DELETE", "/snippets/1"),
    ];
    assert_only_for_users(forge, &calls.map(|(method, path)| (method, path.to_owned())));
}
