//! Pages of lists: their size, headers and links.

use hexforge_domain::id::UserId;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain_testing::builders::an_address;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Request, Response, on_every_store};
use serde_json::{Value, json};

use crate::api::forms::on_the_fake;

on_every_store!(
    a_page_has_twenty_rows_unless_asked_otherwise,
    sizes_are_bounded_and_nonsense_is_ignored,
    the_headers_and_links_of_each_page,
    an_empty_list_still_has_all_headers,
    a_page_past_the_end_is_empty,
    links_lead_from_page_to_page,
    every_list_has_pages,
    a_username_makes_pages_meaningless,
);

on_the_fake!(
    page_zero_and_nonsense_are_page_one,
    links_keep_the_other_parameters_sorted_and_encoded,
);

const EMAILS: &str = "/user/emails";
const URL: &str = "http://forge.test/api/v3/user/emails";

/// Adds email addresses to root. Their ids ascend, and lists are sorted by descending id.
fn with_emails(forge: &Forge, count: usize) {
    forge
        .app
        .store
        .write::<_, StoreError>(|tx| {
            for n in 1..=count {
                tx.emails().insert(UserId(1), &an_address(&format!("e{n}@example.com")))?;
            }
            Ok(())
        })
        .expect("the store works");
}

fn get(forge: &Forge, path: &str) -> Request {
    forge.get(path).token(ROOT)
}

/// The numbers of the addresses in a list, in its order.
fn numbers(list: &Response) -> Vec<usize> {
    let list = list.expect(200);
    let address = |row: &Value| row["email"].as_str().map(str::to_owned);
    let number = |text: String| text.strip_prefix('e')?.split('@').next()?.parse().ok();
    let rows = list.as_array().expect("a list").iter();
    rows.map(|row| address(row).and_then(number).expect("an address of ours")).collect()
}

fn descending(from: usize, to: usize) -> Vec<usize> {
    (to..=from).rev().collect()
}

/// Asserts the headers for total, total pages, page size, page, next page and previous page.
#[track_caller]
fn assert_headers(list: &Response, expected: [&str; 6]) {
    let names = ["x-total", "x-total-pages", "x-per-page", "x-page", "x-next-page", "x-prev-page"];
    assert_eq!(names.map(|name| list.header(name)), expected.map(Some));
}

#[track_caller]
fn assert_links(list: &Response, expected: &[(&str, String)]) {
    let expected: Vec<_> =
        expected.iter().map(|(rel, url)| format!("<{url}>; rel=\"{rel}\"")).collect();
    assert_eq!(list.header("link"), Some(expected.join(", ").as_str()));
}

fn a_page_has_twenty_rows_unless_asked_otherwise(forge: &Forge) {
    with_emails(forge, 21);
    let first = get(forge, EMAILS).send();
    assert_eq!(numbers(&first), descending(21, 2));
    assert_headers(&first, ["21", "2", "20", "1", "2", ""]);
    let second = get(forge, EMAILS).query(&[("page", "2")]).send();
    assert_eq!(numbers(&second), [1]);
    assert_headers(&second, ["21", "2", "20", "2", "", "1"]);
}

fn sizes_are_bounded_and_nonsense_is_ignored(forge: &Forge) {
    with_emails(forge, 101);
    for (given, effective) in [
        ("1", 1),
        ("20", 20),
        ("99", 99),
        ("100", 100),
        ("101", 100),
        ("1000000", 100),
        ("99999999999999999999999", 100),
        ("0", 20),
        ("-1", 20),
        ("-100", 20),
        ("", 20),
        ("abc", 20),
        ("1.5", 20),
        ("1e2", 20),
        ("0x10", 20),
        ("NaN", 20),
        ("٣", 20),
    ] {
        let list = get(forge, EMAILS).query(&[("per_page", given)]).send();
        assert_eq!(numbers(&list), descending(101, 102 - effective), "{given:?}");
        assert_eq!(list.header("x-per-page"), Some(effective.to_string().as_str()), "{given:?}");
        let last =
            format!("page={}&per_page={effective}>; rel=\"last\"", 101_usize.div_ceil(effective));
        let links = list.header("link").unwrap_or_default();
        assert!(links.ends_with(&last), "{given:?}: {links}");
    }
    let list = get(forge, EMAILS).query(&[("per_page[]", "5"), ("page[]", "2")]).send();
    assert_eq!((list.header("x-per-page"), list.header("x-page")), (Some("20"), Some("1")));
}

fn page_zero_and_nonsense_are_page_one(forge: &Forge) {
    with_emails(forge, 5);
    let with = |page: &str| get(forge, EMAILS).query(&[("page", page), ("per_page", "2")]).send();
    let first = get(forge, EMAILS).query(&[("per_page", "2")]).send();
    let interesting = |list: &Response| {
        let names = ["x-page", "x-next-page", "x-prev-page", "x-total", "link"];
        (list.status, list.body.clone(), names.map(|name| list.header(name).map(str::to_owned)))
    };
    for page in ["1", "0", "-1", "-99999999999999999999", "", " ", "abc", "1.5", "2abc", "\0"] {
        assert_eq!(interesting(&with(page)), interesting(&first), "{page:?}");
    }
    assert_eq!(numbers(&with("2")), [3, 2]);
}

fn the_headers_and_links_of_each_page(forge: &Forge) {
    with_emails(forge, 5);
    let url = |page: u64| format!("{URL}?page={page}&per_page=2");
    let page = |page: &str| get(forge, EMAILS).query(&[("page", page), ("per_page", "2")]).send();

    let first = page("1");
    assert_eq!(numbers(&first), [5, 4]);
    assert_headers(&first, ["5", "3", "2", "1", "2", ""]);
    assert_links(&first, &[("next", url(2)), ("first", url(1)), ("last", url(3))]);

    let middle = page("2");
    assert_eq!(numbers(&middle), [3, 2]);
    assert_headers(&middle, ["5", "3", "2", "2", "3", "1"]);
    assert_links(
        &middle,
        &[("prev", url(1)), ("next", url(3)), ("first", url(1)), ("last", url(3))],
    );

    let last = page("3");
    assert_eq!(numbers(&last), [1]);
    assert_headers(&last, ["5", "3", "2", "3", "", "2"]);
    assert_links(&last, &[("prev", url(2)), ("first", url(1)), ("last", url(3))]);

    // A list that fits exactly on one page.
    let whole = get(forge, EMAILS).query(&[("per_page", "5")]).send();
    assert_headers(&whole, ["5", "1", "5", "1", "", ""]);
    let url = format!("{URL}?page=1&per_page=5");
    assert_links(&whole, &[("first", url.clone()), ("last", url)]);
}

fn an_empty_list_still_has_all_headers(forge: &Forge) {
    for path in ["/user/emails", "/user/keys", "/users/1/keys", "/users/1/events"] {
        let list = get(forge, path).send();
        assert_eq!(list.expect(200), json!([]), "{path}");
        assert_headers(&list, ["0", "0", "20", "1", "", ""]);
        let url = |page: u64| format!("http://forge.test/api/v3{path}?page={page}&per_page=20");
        assert_links(&list, &[("first", url(1)), ("last", url(0))]);
    }
}

fn a_page_past_the_end_is_empty(forge: &Forge) {
    with_emails(forge, 5);
    let list = get(forge, EMAILS).query(&[("page", "9"), ("per_page", "2")]).send();
    assert_eq!(list.expect(200), json!([]));
    assert_headers(&list, ["5", "3", "2", "9", "", "8"]);
    let url = |page: u64| format!("{URL}?page={page}&per_page=2");
    assert_links(&list, &[("prev", url(8)), ("first", url(1)), ("last", url(3))]);
    for page in
        ["9223372036854775807", "9223372036854775808", "18446744073709551615", &"9".repeat(500)]
    {
        for path in [EMAILS, "/users", "/users/1/events", "/users?search=o", "/users/1/keys"] {
            let list = get(forge, path).query(&[("page", page), ("per_page", "100")]).send();
            assert_eq!(list.expect(200), json!([]), "{path} {page}");
            assert_eq!(list.header("x-next-page"), Some(""), "{path} {page}");
        }
    }
}

fn links_keep_the_other_parameters_sorted_and_encoded(forge: &Forge) {
    let query = [
        ("search", "o&=#/?%ü"),
        ("per_page", "1"),
        ("zebra", ""),
        ("active", "true"),
        ("page", "1"),
        ("list[]", "2"),
        ("list[]", "1"),
        ("private_token", ROOT),
        ("access_token", "secret"),
        ("bearer_token", "secret"),
    ];
    let list = get(forge, "/users").query(&query).send();
    assert_eq!(list.expect(200), json!([]));
    let url = |page: u64| {
        format!(
            "http://forge.test/api/v3/users?active=true&list%5B%5D=2&list%5B%5D=1&page={page}\
             &per_page=1&search=o%26%3D%23%2F%3F%25%C3%BC&zebra="
        )
    };
    assert_links(&list, &[("first", url(1)), ("last", url(0))]);
    let secret = list.headers.iter().find(|(_, value)| value.contains(ROOT));
    assert_eq!(secret, None, "a token does not come back");

    // Links do not repeat an invalid size or page.
    let list = get(forge, "/users/").query(&[("per_page", "500"), ("page", "zero")]).send();
    let url = "http://forge.test/api/v3/users?page=1&per_page=100".to_owned();
    assert_links(&list, &[("first", url.clone()), ("last", url)]);
    // Links use the configured base URL, whatever the request claims.
    let list = get(forge, "/users").header("Host", "evil.example").send();
    let url = "http://forge.test/api/v3/users?page=1&per_page=20".to_owned();
    assert_links(&list, &[("first", url.clone()), ("last", url)]);
}

/// Follows the links from the first to the last page.
fn links_lead_from_page_to_page(forge: &Forge) {
    for name in ["a1", "a2", "a3", "a4", "b1"] {
        forge.new_user(name, &[("name", &format!("{name} + co"))]);
    }
    let mut usernames = Vec::new();
    let mut target = "/users?search=a%2B&per_page=1&search=+%2B+c&active=1".to_owned();
    loop {
        let list = get(forge, &target).send();
        for user in list.expect(200).as_array().expect("a list") {
            usernames.push(user["username"].as_str().expect("a name").to_owned());
        }
        let links = list.header("link").expect("links");
        let next = links.split(", ").find_map(|link| link.strip_suffix(">; rel=\"next\""));
        let Some(next) = next else { break };
        let base = "<http://forge.test/api/v3";
        target = next.strip_prefix(base).expect("an absolute address").to_owned();
    }
    assert_eq!(usernames, ["b1", "a4", "a3", "a2", "a1"]);
}

fn every_list_has_pages(forge: &Forge) {
    let (id, token) = forge.user("ada");
    forge.user("bob");
    for path in [
        "/users",
        "/user/keys",
        "/user/emails",
        &format!("/users/{id}/keys"),
        &format!("/users/{id}/emails"),
        &format!("/users/{id}/events"),
    ] {
        let list = get(forge, path).query(&[("page", "2"), ("per_page", "1")]).send();
        assert!(list.expect(200).is_array(), "{path}");
        assert_eq!((list.header("x-page"), list.header("x-per-page")), (Some("2"), Some("1")));
        assert!(list.header("link").is_some(), "{path}");
    }
    // Lists for normal users have pages, too.
    let list = forge.get("/users?per_page=2").token(&token).send();
    assert_headers(&list, ["3", "2", "2", "1", "2", ""]);
    assert_eq!(list.expect(200)[0]["username"], "bob");
    // Other responses have no paging headers.
    let user = get(forge, "/user?page=2").send();
    assert_eq!((user.header("link"), user.header("x-total")), (None, None));
}

fn a_username_makes_pages_meaningless(forge: &Forge) {
    let list = get(forge, "/users").query(&[("username", "root"), ("page", "7")]).send();
    assert_eq!(list.expect(200)[0]["username"], "root");
    let none = get(forge, "/users").query(&[("username", "nobody"), ("page", "7")]).send();
    assert_eq!(none.expect(200), json!([]));
}
