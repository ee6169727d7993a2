//! Paths and methods: which are routes, and which spellings are equivalent.

use hexforge_tests::client::exchange;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Request, Response, on_every_store};
use serde_json::{Value, json};

use crate::api::forms::on_the_fake;

on_every_store!(head_is_get_without_the_body, the_health_routes_answer);

on_the_fake!(
    unknown_routes_are_404_for_everybody,
    repeated_slashes_count_once,
    percent_encoded_digits_are_digits,
    options_is_no_route,
    cors_preflights_are_allowed_for_any_origin,
    answers_to_other_origins_expose_the_links,
    a_request_id_is_returned,
    metrics_are_plain_text,
    answers_are_json,
);

/// The media type of pages.
const HTML: &str = "text/html; charset=utf-8";

fn request_to(forge: &Forge, method: &str, target: &str) -> Request {
    Request::new(forge.address, method, target)
}

#[track_caller]
fn assert_no_route(response: &Response, what: &str) {
    assert_eq!(response.status, 404, "{what}");
    assert_eq!(response.json(), json!({"error": "404 Not Found"}), "{what}");
}

fn unknown_routes_are_404_for_everybody(forge: &Forge) {
    for target in [
        "/api",
        "/api/v3",
        "/api/v3/",
        "/api/v3/nothing",
        "/api/v4/users",
        "/api/v2/users",
        "/api/v3/Users",
        "/api/v3/users.json",
        "/api/v3/users/root",
        "/api/v3/users/-1",
        "/api/v3/users/+1",
        "/api/v3/users/1.0",
        "/api/v3/users/1x",
        "/api/v3/users/%20",
        "/api/v3/users/1%2Fkeys",
        "/api/v3/users/1;x=y",
        "/api/v3/users/root/keys",
        "/api/v3/users/root/emails",
        "/api/v3/users/root/events",
        "/api/v3/users/1/nothing",
        "/api/v3/users/1/keys/1/x",
        "/api/v3/user/nothing",
        "/api/v3/user/keys/1/x",
        "/api/v3/session",
        "/api/v3/users/1/block",
        "/api/v3/..",
        "/api/v3/../v3/users",
        "/api/v3/%2e%2e/v3/users",
        "/api/v3/users%00",
        "/api/v3/%ff",
        "/api/v3/%zz",
        "/api/v3/%",
    ] {
        assert_no_route(&request_to(forge, "GET", target).send(), target);
        assert_no_route(&request_to(forge, "GET", target).token(ROOT).send(), target);
        assert_no_route(&request_to(forge, "GET", target).token("wrong").send(), target);
    }
    // Every other address is a page, or none.
    for target in ["/API/v3/users", "/users", "/user", "/session", "/-", "/-/nothing", "/%00"] {
        let page = request_to(forge, "GET", target).send();
        assert_eq!((page.status, page.header("Content-Type")), (404, Some(HTML)), "{target}");
    }
    let long = format!("/api/v3/{}", "x".repeat(20_000));
    assert_no_route(&request_to(forge, "GET", &long).send(), "a long path");
    let deep = format!("/api/v3{}", "/x".repeat(10_000));
    assert_no_route(&request_to(forge, "GET", &deep).send(), "a deep path");

    // A known path with an unsupported method is not a route.
    for (method, path) in [
        ("PUT", "/users"),
        ("DELETE", "/users"),
        ("PATCH", "/users"),
        ("PATCH", "/users/1"),
        ("POST", "/users/1"),
        ("POST", "/user"),
        ("PUT", "/user"),
        ("DELETE", "/user"),
        ("PUT", "/user/keys"),
        ("DELETE", "/user/keys"),
        ("PUT", "/user/keys/1"),
        ("POST", "/user/emails/1"),
        ("GET", "/users/1/keys/1"),
        ("GET", "/users/1/emails/1"),
        ("POST", "/users/1/block"),
        ("DELETE", "/users/1/unblock"),
        ("POST", "/users/1/events"),
        ("GET", "/session"),
        ("DELETE", "/session"),
        ("POST", "/version"),
        ("TRACE", "/users"),
        ("PROPFIND", "/users"),
        ("get", "/users"),
    ] {
        assert_no_route(&forge.request(method, path).send(), path);
        assert_no_route(&forge.request(method, path).token(ROOT).send(), path);
        assert_no_route(&forge.request(method, path).body("{broken").send(), path);
    }
    assert_eq!(request_to(forge, "POST", "/-/liveness").send().status, 404);
}

fn head_is_get_without_the_body(forge: &Forge) {
    let comparable = |response: &Response| {
        let own = ["date", "x-request-id"];
        let mut headers = response.headers.clone();
        headers.retain(|(name, _)| !own.contains(&name.as_str()));
        headers.sort();
        (response.status, headers)
    };
    for (target, status) in [
        ("/api/v3/user", 200),
        ("/api/v3/users", 200),
        ("/api/v3/users/", 200),
        ("/api/v3/users?per_page=1&page=2", 200),
        ("/api/v3/users/1", 200),
        ("/api/v3/users/999", 404),
        ("/api/v3/user/keys", 200),
        ("/api/v3/version", 200),
        ("/api/v3/session", 404),
        ("/api/v3/nothing", 404),
        ("/-/liveness", 200),
        ("/-/readiness", 200),
        ("/-/metrics", 200),
    ] {
        let get = request_to(forge, "GET", target).token(ROOT).send();
        let head = request_to(forge, "HEAD", target).token(ROOT).send();
        assert_eq!(get.status, status, "{target}");
        assert_eq!(comparable(&head), comparable(&get), "{target}");
        assert_eq!(head.body, b"", "{target}");
        let length = get.header("content-length").and_then(|length| length.parse().ok());
        assert_eq!(length, Some(get.body.len()), "{target}");
    }
    let anonymous = request_to(forge, "HEAD", "/api/v3/user").send();
    assert_eq!((anonymous.status, anonymous.body), (401, vec![]));
}

fn repeated_slashes_count_once(forge: &Forge) {
    let expected = forge.get("/users").token(ROOT).send();
    for target in [
        "/api/v3/users/",
        "/api/v3/users//",
        "/api/v3//users",
        "//api/v3/users",
        "/api//v3///users/",
        "/api/v3/users/?page=1",
        "/api/v3/users?search=//&search=",
    ] {
        let list = request_to(forge, "GET", target).token(ROOT).send();
        assert_eq!((list.status, &list.body), (200, &expected.body), "{target}");
        if !target.contains("search") {
            assert_eq!(list.header("link"), expected.header("link"), "{target}");
        }
    }
    assert_eq!(request_to(forge, "GET", "/api/v3/users/1/").token(ROOT).send().status, 200);
    assert_eq!(request_to(forge, "GET", "/api/v3/users//1//keys").token(ROOT).send().status, 200);
    let form = [("email", "new@example.com")];
    let post = forge.post("/user/emails/").token(ROOT).form(&form).send();
    assert_eq!(post.status, 201, "a change is not redirected");
    assert_eq!(request_to(forge, "GET", "/-/liveness/").send().status, 200);
    assert_eq!(request_to(forge, "GET", "//-//liveness").send().status, 200);
    assert_eq!(request_to(forge, "GET", "//").send().header("Location"), Some("/"));
    // An encoded slash does not separate segments.
    assert_no_route(&request_to(forge, "GET", "/api/v3/users%2F").token(ROOT).send(), "%2F");
}

fn percent_encoded_digits_are_digits(forge: &Forge) {
    let root = forge.get("/users/1").token(ROOT).send().expect(200);
    for path in ["/users/%31", "/%75sers/1", "/users/01"] {
        assert_eq!(forge.get(path).token(ROOT).send().expect(200), root, "{path}");
    }
    assert_eq!(forge.get("/users/%31/keys").token(ROOT).send().expect(200), json!([]));
    for path in ["/users/99999999999999999999", "/users/0", "/users/9223372036854775807"] {
        let missing = forge.get(path).token(ROOT).send().expect(404);
        assert_eq!(missing, json!({"message": "404 Not found"}), "{path}");
    }
    // Digits of other scripts are not digits.
    assert_no_route(&forge.get("/users/%D9%A1").token(ROOT).send(), "an Arabic one");
}

fn options_is_no_route(forge: &Forge) {
    for target in ["/api/v3/users", "/api/v3/user", "/api/v3/nothing"] {
        let options = || request_to(forge, "OPTIONS", target);
        assert_no_route(&options().send(), target);
        assert_no_route(&options().token(ROOT).send(), target);
        assert_no_route(&options().header("Origin", "http://page.example").send(), target);
        let no_origin = options().header("Access-Control-Request-Method", "PUT").send();
        assert_no_route(&no_origin, target);
    }
    for target in ["/", "/-/liveness"] {
        assert_eq!(request_to(forge, "OPTIONS", target).send().status, 404, "{target}");
    }
}

fn cors_preflights_are_allowed_for_any_origin(forge: &Forge) {
    for origin in ["http://page.example", "https://page.example:8443", "null"] {
        for (method, target) in [
            ("GET", "/api/v3/users"),
            ("PUT", "/api/v3/users/1"),
            ("DELETE", "/api/v3/users/1"),
            ("PATCH", "/api/v3/nothing"),
        ] {
            let preflight = request_to(forge, "OPTIONS", target)
                .header("Origin", origin)
                .header("Access-Control-Request-Method", method)
                .header("Access-Control-Request-Headers", "private-token, sudo, x-anything")
                .send();
            assert!(matches!(preflight.status, 200 | 204), "{origin} {method} {target}");
            assert_eq!(preflight.header("access-control-allow-origin"), Some("*"));
            assert_eq!(preflight.header("access-control-allow-credentials"), None);
            let list = |name: &str| {
                preflight.header(name).unwrap_or_default().to_ascii_lowercase().replace(' ', "")
            };
            let methods = list("access-control-allow-methods");
            let method = method.to_ascii_lowercase();
            assert!(methods.split(',').any(|m| m == method || m == "*"), "{methods}");
            let headers = list("access-control-allow-headers");
            for name in ["private-token", "sudo", "x-anything"] {
                assert!(headers.split(',').any(|h| h == name || h == "*"), "{headers}");
            }
        }
    }
}

fn answers_to_other_origins_expose_the_links(forge: &Forge) {
    for (target, status) in
        [("/api/v3/users", 200), ("/api/v3/users/999", 404), ("/api/v3/nothing", 404)]
    {
        let request = request_to(forge, "GET", target).token(ROOT);
        let answer = request.header("Origin", "http://page.example").send();
        assert_eq!(answer.status, status, "{target}");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{target}");
        assert_eq!(answer.header("access-control-allow-credentials"), None, "{target}");
        let exposed = answer.header("access-control-expose-headers").unwrap_or_default();
        assert!(exposed.split(',').any(|h| h.trim().eq_ignore_ascii_case("link")), "{exposed:?}");
    }
    let refused = forge.get("/user").header("Origin", "http://page.example").send();
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("access-control-allow-origin"), Some("*"));
}

fn a_request_id_is_returned(forge: &Forge) {
    let ask = |id: Option<&str>, target: &str| {
        let request = request_to(forge, "GET", target);
        let request = match id {
            Some(id) => request.header("X-Request-Id", id),
            None => request,
        };
        request.send().header("x-request-id").expect("every answer has one").to_owned()
    };
    let longest = "x".repeat(128);
    for target in ["/api/v3/user", "/api/v3/nothing", "/-/liveness", "/"] {
        for id in ["abc", "0b62e2a4-8f5c-4b7e-9a1d-1f0d3c9d5e77", "A_1.b:2", &longest] {
            assert_eq!(ask(Some(id), target), id);
        }
        let made: Vec<String> = (0..3).map(|_| ask(None, target)).collect();
        assert!(made.iter().all(|id| id.len() >= 16), "{made:?}");
        assert!(made[0] != made[1] && made[1] != made[2], "{made:?}");
        // Values that could harm a log or a page are replaced.
        let too_long = "x".repeat(129);
        for id in ["a b", "<b>", "a\"b", "a\\nb", "a%0Ab", "ü", "a;b", "{}", "", " ", &too_long] {
            let answer = ask(Some(id), target);
            assert_ne!(answer, id);
            let harmless = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
            assert!(answer.len() >= 16 && answer.bytes().all(harmless), "{answer}");
        }
    }
}

fn the_health_routes_answer(forge: &Forge) {
    for target in ["/-/liveness", "/-/readiness"] {
        let answer = request_to(forge, "GET", target).send();
        let body = answer.expect(200);
        let states: Vec<&Value> = body.as_object().expect("an object").values().collect();
        assert!(!states.is_empty() && states.iter().all(|state| **state == "ok"), "{body}");
    }
    let ready = request_to(forge, "GET", "/-/readiness").send().expect(200);
    assert_eq!(ready, json!({"database": "ok", "storage": "ok"}));
}

fn metrics_are_plain_text(forge: &Forge) {
    let metrics = request_to(forge, "GET", "/-/metrics").send();
    assert_eq!(metrics.status, 200);
    let content_type = metrics.header("content-type").unwrap_or_default();
    assert!(content_type.starts_with("text/plain"), "{content_type}");
}

fn answers_are_json(forge: &Forge) {
    for (target, status) in [
        ("/api/v3/user", 401),
        ("/api/v3/nothing", 404),
        ("/api/v3/users?x=%zz", 400),
        ("/api/v3/users?private_token=root-token-for-tests", 200),
    ] {
        let answer = request_to(forge, "GET", target).send();
        answer.expect(status);
    }
    // Old clients use HTTP/1.0.
    let old = format!("GET /api/v3/user HTTP/1.0\r\nPRIVATE-TOKEN: {ROOT}\r\n\r\n");
    let answer = Response::parse(&exchange(forge.address, old.as_bytes()));
    assert_eq!(answer.expect(200)["username"], "root");
    let absolute = format!(
        "GET http://x/api/v3/user HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: {ROOT}\r\nConnection: close\r\n\r\n"
    );
    let answer = Response::parse(&exchange(forge.address, absolute.as_bytes()));
    assert_eq!(answer.expect(200)["username"], "root");
}
