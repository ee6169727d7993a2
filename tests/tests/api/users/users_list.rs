//! `GET /users`: reference section 2.2, and the pages of 0.4.

use hexforge_application::user::block::follow_directory;
use hexforge_domain::policy::Actor;
use hexforge_domain::user::state::DirectoryCommand;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Response, on_every_store};
use serde_json::{Value, json};

use crate::api::support::{assert_only_for_users, id_of, ids, user_now};

on_every_store!(
    a_normal_user_lists_summaries_newest_first,
    an_administrator_lists_the_full_form,
    a_username_finds_exactly_that_user_and_makes_all_else_meaningless,
    users_are_filtered_by_state,
    only_administrators_filter_by_external,
    a_search_looks_into_name_address_and_username_ignoring_case,
    characters_with_a_meaning_in_patterns_stand_for_themselves,
    pages_have_their_headers_and_links,
    nonsense_asks_for_the_first_page_of_twenty,
);

/// The usernames in a list, in its order.
#[track_caller]
fn names(response: &Response) -> Vec<String> {
    let list = response.expect(200);
    let name = |user: &Value| user["username"].as_str().expect("a username").to_owned();
    list.as_array().expect("a list").iter().map(name).collect()
}

/// GET /users
fn a_normal_user_lists_summaries_newest_first(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let bob = id_of(&forge.new_user("bob", &[("name", "Bob B.")]));
    let list = forge.get("/users").token(&token).send();
    let expected = json!([
        {
            "name": "Bob B.", "username": "bob", "id": bob, "state": "active",
            "avatar_url":
                "http://www.gravatar.com/avatar/4b9bb80620f03eb3719e0a061c14283d?s=80&d=identicon",
            "web_url": "http://forge.test/bob"
        },
        {
            "name": "ada", "username": "ada", "id": ada, "state": "active",
            "avatar_url":
                "http://www.gravatar.com/avatar/3e3417d7ef77d5932a6734b916515ed5?s=80&d=identicon",
            "web_url": "http://forge.test/ada"
        },
        {
            "name": "Administrator", "username": "root", "id": 1, "state": "active",
            "avatar_url":
                "http://www.gravatar.com/avatar/e64c7d89f26bd1972efa854d13d7dd61?s=80&d=identicon",
            "web_url": "http://forge.test/root"
        }
    ]);
    list.expect(200);
    assert_eq!(list.text(), expected.to_string());
    assert_only_for_users(forge, &[("GET", "/users".to_owned())]);
}

/// GET /users
fn an_administrator_lists_the_full_form(forge: &Forge) {
    let ada = forge.new_user("ada", &[("provider", "directory"), ("extern_uid", "cn=ada")]);
    let bob = forge.new_user("bob", &[]);
    let list = forge.get("/users").token(ROOT).send();
    let expected = json!([bob, ada, user_now(forge, 1)]);
    assert_eq!(list.text(), expected.to_string());
    assert_eq!(expected[1]["identities"][0]["extern_uid"], "cn=ada");
}

/// GET /users
fn a_username_finds_exactly_that_user_and_makes_all_else_meaningless(forge: &Forge) {
    let (_, token) = forge.user("ada");
    forge.new_user("ada2", &[]);
    let found =
        |query: &[(&str, &str)]| names(&forge.get("/users").token(&token).query(query).send());
    assert_eq!(found(&[("username", "ada")]), ["ada"]);
    assert_eq!(found(&[("username", "Ada")]), [""; 0]);
    assert_eq!(found(&[("username", "ad")]), [""; 0]);
    assert_eq!(found(&[("username", "nobody")]), [""; 0]);
    assert_eq!(found(&[("username", "ada"), ("blocked", "true"), ("search", "zzz")]), ["ada"]);
    assert_eq!(found(&[("username", "ada"), ("page", "7"), ("per_page", "1")]), ["ada"]);
    assert_eq!(found(&[("username", " ")]), ["ada2", "ada", "root"]);
}

/// GET /users
fn users_are_filtered_by_state(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let bob = id_of(&forge.new_user("bob", &[]));
    forge.new_user("cleo", &[]);
    assert_eq!(forge.put(&format!("/users/{bob}/block")).token(ROOT).send().expect(200), true);
    follow_directory(&forge.app, Actor::OPERATOR, "cleo", DirectoryCommand::Block)
        .expect("the operator speaks for the directory");
    let all = vec!["cleo", "bob", "ada", "root"];
    let active = vec!["ada", "root"];
    let blocked = vec!["cleo", "bob"];
    for (query, expected) in [
        ("", &all),
        ("active=true", &active),
        ("active=1", &active),
        ("active=Yes", &active),
        ("active=ON", &active),
        ("active=t", &active),
        ("active=false", &all),
        ("active=0", &all),
        ("active=maybe", &all),
        ("active=", &all),
        ("blocked=true", &blocked),
        ("blocked=Y", &blocked),
        ("blocked=False", &all),
        ("blocked=2", &all),
        ("active=true&blocked=true", &vec![]),
        ("active=false&blocked=true", &blocked),
        ("active=true&search=AD", &active),
        ("blocked=true&search=bob", &vec!["bob"]),
    ] {
        for token in [&token, ROOT] {
            let list = forge.get(&format!("/users?{query}")).token(token).send();
            assert_eq!(names(&list), *expected, "{query}");
        }
    }
    let list = forge.get("/users").token(&token).send().expect(200);
    assert_eq!(list[0]["state"], "ldap_blocked");
    assert_eq!(list[1]["state"], "blocked");
}

/// GET /users
fn only_administrators_filter_by_external(forge: &Forge) {
    let (_, token) = forge.user("ada");
    forge.new_user("guest", &[("external", "true")]);
    for (query, expected) in [
        ("external=true", vec!["guest"]),
        ("external=true&search=ada", vec![]),
        ("external=true&active=true", vec!["guest"]),
        ("external=false", vec!["guest", "ada", "root"]),
        ("external=nonsense", vec!["guest", "ada", "root"]),
    ] {
        let list = forge.get(&format!("/users?{query}")).token(ROOT).send();
        assert_eq!(names(&list), expected, "{query}");
    }
    let ignored = forge.get("/users?external=true").token(&token).send();
    assert_eq!(names(&ignored), ["guest", "ada", "root"]);
}

/// GET /users
fn a_search_looks_into_name_address_and_username_ignoring_case(forge: &Forge) {
    let (_, token) = forge.user("ada");
    forge.new_user("bob", &[("name", "Robert Builder"), ("email", "mason@bricks.example")]);
    forge
        .post("/user/emails")
        .token(&token)
        .form(&[("email", "hidden@elsewhere.example")])
        .send()
        .expect(201);
    for (search, expected) in [
        ("BUILD", vec!["bob"]),
        ("ob", vec!["bob"]),
        ("bricks.EXAMPLE", vec!["bob"]),
        ("aDA", vec!["ada"]),
        ("example", vec!["bob", "ada", "root"]),
        ("administrator", vec!["root"]),
        ("elsewhere", vec![]),
        ("nobody at all", vec![]),
        (" ", vec!["bob", "ada", "root"]),
    ] {
        for token in [&token, ROOT] {
            let list = forge.get("/users").token(token).query(&[("search", search)]).send();
            assert_eq!(names(&list), expected, "{search}");
        }
    }
    let seen = forge.get("/users?search=mason").token(&token).send();
    assert!(!seen.text().contains("mason"), "{}", seen.text());
}

/// GET /users
fn characters_with_a_meaning_in_patterns_stand_for_themselves(forge: &Forge) {
    forge.new_user("under_score", &[("name", "100% sure")]);
    forge.new_user("underXscore", &[("name", r"back\slash")]);
    for (search, expected) in [
        ("under_", vec!["under_score"]),
        ("0%", vec!["under_score"]),
        ("%", vec!["under_score"]),
        ("_", vec!["under_score"]),
        (r"\", vec!["underXscore"]),
        ("'", vec![]),
        ("*", vec![]),
    ] {
        let list = forge.get("/users").token(ROOT).query(&[("search", search)]).send();
        assert_eq!(names(&list), expected, "{search}");
    }
}

/// GET /users
fn pages_have_their_headers_and_links(forge: &Forge) {
    for name in ["ada", "bob", "cleo", "dan"] {
        forge.new_user(name, &[]);
    }
    let page = |query: &str| forge.get(&format!("/users?{query}")).token(ROOT).send();
    let url = |number: u64| {
        format!("<http://forge.test/api/v3/users?active=true&page={number}&per_page=2>")
    };
    let none = "";
    for (number, expected, next, prev) in [
        (1, vec!["dan", "cleo"], "2", none),
        (2, vec!["bob", "ada"], "3", "1"),
        (3, vec!["root"], none, "2"),
        (4, vec![], none, "3"),
    ] {
        let answer = page(&format!("per_page=2&page={number}&active=true"));
        assert_eq!(names(&answer), expected, "page {number}");
        for (name, value) in [
            ("X-Total", "5"),
            ("X-Total-Pages", "3"),
            ("X-Per-Page", "2"),
            ("X-Page", number.to_string().as_str()),
            ("X-Next-Page", next),
            ("X-Prev-Page", prev),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name} of page {number}");
        }
        let mut links = vec![];
        if number > 1 {
            links.push(format!("{}; rel=\"prev\"", url(number - 1)));
        }
        if number < 3 {
            links.push(format!("{}; rel=\"next\"", url(number + 1)));
        }
        links.push(format!("{}; rel=\"first\"", url(1)));
        links.push(format!("{}; rel=\"last\"", url(3)));
        assert_eq!(answer.header("Link"), Some(links.join(", ").as_str()), "page {number}");
    }
    let empty = page("search=nobody");
    assert_eq!(empty.header("X-Total"), Some("0"));
    assert_eq!(empty.header("X-Total-Pages"), Some("0"));
    assert_eq!(empty.header("X-Next-Page"), Some(""));
    let links = "<http://forge.test/api/v3/users?page=1&per_page=20&search=nobody>; rel=\"first\", \
                 <http://forge.test/api/v3/users?page=0&per_page=20&search=nobody>; rel=\"last\"";
    assert_eq!(empty.header("Link"), Some(links));
}

/// GET /users
fn nonsense_asks_for_the_first_page_of_twenty(forge: &Forge) {
    let (_, token) = forge.user("ada");
    for number in 0..20 {
        forge.new_user(&format!("user{number}"), &[]);
    }
    for (query, size, page, rows) in [
        ("", "20", "1", 20),
        ("page=0&per_page=0", "20", "1", 20),
        ("page=-1&per_page=-5", "20", "1", 20),
        ("page=x&per_page=many", "20", "1", 20),
        ("page=&per_page=", "20", "1", 20),
        ("per_page=100", "100", "1", 22),
        ("per_page=101", "100", "1", 22),
        ("page=2", "20", "2", 2),
        ("page=99999", "20", "99999", 0),
    ] {
        let answer = forge.get(&format!("/users?{query}")).token(&token).send();
        assert_eq!(ids(&answer.expect(200)).len(), rows, "{query}");
        assert_eq!(answer.header("X-Per-Page"), Some(size), "{query}");
        assert_eq!(answer.header("X-Page"), Some(page), "{query}");
        assert_eq!(answer.header("X-Total"), Some("22"), "{query}");
    }
    let far = forge.get("/users?page=99999999999999999999999").token(&token).send();
    assert_eq!(far.expect(200), json!([]));
    // A token in the query authenticates the call, and is not repeated in links.
    let answer = forge.get(&format!("/users?private_token={token}")).send();
    assert_eq!(ids(&answer.expect(200)).len(), 20);
    assert!(!answer.header("Link").expect("every list has links").contains("token"));
}
