//! Invalid input: it is refused with a clear answer, and nothing is stored.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hexforge_http_actix::Dialect;
use hexforge_tests::client::exchange;
use hexforge_tests::forge::{MAX_BODY, PASSWORD, ROOT};
use hexforge_tests::{
    Backend, Forge, ForgeOptions, Request, Response, Restrictions, an_ssh_key, on_every_store,
};
use serde_json::{Value, json};

use crate::api::forms::on_the_fake;

on_every_store!(
    wrong_types_are_refused,
    over_long_values_are_refused_field_by_field,
    nul_bytes_are_refused_wherever_they_stand,
    searches_for_odd_things_find_nothing,
    odd_texts_are_kept_as_they_are,
);

on_the_fake!(
    malformed_json_is_refused,
    json_that_is_not_an_object_is_refused,
    invalid_utf8_is_refused,
    broken_percent_encodings_are_refused,
    bodies_over_the_limit_are_refused,
    too_many_parameters_are_refused,
    unknown_content_types_are_not_acceptable,
    broken_multipart_is_refused,
    malformed_http_is_refused,
    a_refused_body_is_not_taken_for_the_next_request,
);

/// The totals of stored objects, which a refused request must not change.
fn stored_totals(forge: &Forge) -> String {
    let total = |path: &str| {
        let list = forge.get(path).token(ROOT).send();
        list.expect(200);
        list.header("x-total").expect("a list has a total").to_owned()
    };
    ["/users", "/user/keys", "/user/emails"].map(total).join(" ")
}

/// Asserts the status, and a JSON body with an explanation.
#[track_caller]
fn assert_refused(response: &Response, status: u16, what: &str) -> Value {
    let text = String::from_utf8_lossy(&response.body);
    assert_eq!(response.status, status, "{what}: {text}");
    let body = response.json();
    let told = ["error", "message"].iter().filter(|name| !body[**name].is_null()).count();
    assert_eq!(told, 1, "{what}: {body}");
    body
}

#[track_caller]
fn assert_error(response: &Response, status: u16, error: &str) {
    assert_eq!(assert_refused(response, status, error), json!({"error": error}));
}

/// Calls that would change something if they were accepted.
fn writes(forge: &Forge) -> [Request; 5] {
    [
        forge.post("/users").token(ROOT),
        forge.put("/users/1").token(ROOT),
        forge.post("/user/keys").token(ROOT),
        forge.post("/users/1/emails").token(ROOT),
        forge.delete("/users/1").token(ROOT),
    ]
}

const USER: [(&str, &str); 4] =
    [("username", "ada"), ("name", "Ada"), ("email", "ada@example.com"), ("password", PASSWORD)];

/// The fields of a valid user, with one field replaced.
fn user_with(field: &str, value: Value) -> Value {
    let mut user = json!({});
    for (name, value) in USER {
        user[name] = json!(value);
    }
    user[field] = value;
    user
}

fn as_json(request: Request, body: impl Into<Vec<u8>>) -> Request {
    request.header("Content-Type", "application/json").body(body)
}

fn malformed_json_is_refused(forge: &Forge) {
    let before = stored_totals(forge);
    let valid = user_with("bio", json!("x")).to_string();
    let deep_arrays = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let deep = format!("{{\"username\":\"ada\",\"x\":{deep_arrays}}}");
    let deep_objects = format!("{}1{}", "{\"x\":".repeat(50_000), "}".repeat(50_000));
    let doubled = format!("{valid}{valid}");
    for body in [
        "{",
        "}",
        "{broken",
        "{\"username\": \"ada\"",
        "{\"username\": }",
        "{username: \"ada\"}",
        "{'username': 'ada'}",
        "{\"username\": \"ada\",}",
        "{\"username\": \"\\ud800\"}",
        "{\"username\": \"a\nb\"}",
        "{\"projects_limit\": 01}",
        "{\"projects_limit\": NaN}",
        "username=ada",
        "\u{feff}{}",
        "<xml/>",
        " ",
        &valid[..valid.len() - 1],
        &doubled,
        &deep,
        &deep_arrays,
        &deep_objects,
    ] {
        for request in writes(forge) {
            let what = &body[..body.len().min(40)];
            let answer = assert_refused(&as_json(request, body).send(), 400, what);
            assert!(answer["error"].is_string(), "{what}: {answer}");
        }
    }
    assert_eq!(stored_totals(forge), before);
}

fn json_that_is_not_an_object_is_refused(forge: &Forge) {
    let before = stored_totals(forge);
    for body in ["[]", "[{\"username\": \"ada\"}]", "\"text\"", "42", "true", "false", "1.5e300"] {
        for request in writes(forge) {
            let answer = assert_refused(&as_json(request, body).send(), 400, body);
            assert!(answer["error"].is_string(), "{body}: {answer}");
        }
    }
    assert_eq!(stored_totals(forge), before);
}

fn wrong_types_are_refused(forge: &Forge) {
    let before = stored_totals(forge);
    for field in ["email", "password", "name", "username", "bio", "skype", "projects_limit"] {
        for value in [json!([]), json!(["x"]), json!({}), json!({"x": 1}), json!([[[]]])] {
            let error = format!("{field} is invalid");
            let post = forge.post("/users").token(ROOT).json(&user_with(field, value.clone()));
            assert_error(&post.send(), 400, &error);
            let put = forge.put("/users/1").token(ROOT).json(&json!({field: value}));
            assert_error(&put.send(), 400, &error);
        }
        let name = format!("{field}[]");
        let put = forge.put("/users/1").token(ROOT).form(&[(&name, "x"), (&name, "y")]);
        assert_error(&put.send(), 400, &format!("{field} is invalid"));
        let put = forge.put("/users/1").token(ROOT).form(&[(&format!("{field}[x]"), "y")]);
        assert_error(&put.send(), 400, &format!("{field} is invalid"));
    }
    for field in ["admin", "external", "can_create_group"] {
        let post = forge.post("/users").token(ROOT).json(&user_with(field, json!(["true"])));
        assert_error(&post.send(), 400, &format!("{field} is invalid"));
    }
    for (path, body, error) in [
        ("/user/keys", json!({"title": ["x"], "key": an_ssh_key(1)}), "title is invalid"),
        ("/user/keys", json!({"title": "x", "key": {"x": an_ssh_key(1)}}), "key is invalid"),
        ("/users/1/keys", json!({"title": {}, "key": an_ssh_key(1)}), "title is invalid"),
        ("/user/emails", json!({"email": ["x@example.com"]}), "email is invalid"),
        ("/users/1/emails", json!({"email": {"x": "y"}}), "email is invalid"),
    ] {
        assert_error(&forge.post(path).token(ROOT).json(&body).send(), 400, error);
    }
    for (value, message) in [
        (json!(-1), "must be greater than or equal to 0"),
        (json!(1.5), "is not a number"),
        (json!("many"), "is not a number"),
        (json!(true), "is not a number"),
        (json!(1e300), "is not a number"),
        (json!(u64::MAX), "must be less than or equal to 2147483647"),
        (json!(2_147_483_648_u64), "must be less than or equal to 2147483647"),
        (json!("9".repeat(1000)), "must be less than or equal to 2147483647"),
    ] {
        let post = forge.post("/users").token(ROOT).json(&user_with("projects_limit", value));
        let expected = json!({"message": {"projects_limit": [message]}});
        assert_eq!(post.send().expect(400), expected);
    }
    let number = forge.post("/users").token(ROOT).json(&user_with("email", json!(5))).send();
    assert_eq!(number.expect(400), json!({"message": {"email": ["is invalid"]}}));
    assert_eq!(stored_totals(forge), before);
}

fn over_long_values_are_refused_field_by_field(forge: &Forge) {
    let before = stored_totals(forge);
    let too_long = |max: usize| format!("is too long (maximum is {max} characters)");
    let mut fields = vec![("password", 128, "password", "x")];
    for name in ["username", "name", "bio", "location", "organization"] {
        fields.push((name, 255, name, "x"));
    }
    for name in ["skype", "linkedin", "twitter", "website_url"] {
        fields.push((name, 255, name, "x"));
    }
    fields.push(("name", 255, "name", "ü"));
    fields.push(("bio", 255, "bio", "😀"));
    fields.push(("provider", 255, "identities.provider", "x"));
    for (field, max, named, letter) in fields {
        for length in [max + 1, 10_000, 100_000] {
            let value = json!(letter.repeat(length));
            let post = forge.post("/users").token(ROOT).json(&user_with(field, value.clone()));
            let expected = json!({"message": {named: [too_long(max)]}});
            assert_eq!(post.send().expect(400), expected, "{field} {length}");
            let put = forge.put("/users/1").token(ROOT).json(&json!({field: value}));
            assert_eq!(put.send().expect(400), expected, "{field} {length}");
        }
    }
    let uid = json!({"provider": "ldap", "extern_uid": "x".repeat(256)});
    let put = forge.put("/users/1").token(ROOT).json(&uid).send().expect(400);
    assert_eq!(put, json!({"message": {"identities.extern_uid": [too_long(255)]}}));

    let email = format!("{}@example.com", "x".repeat(100_000));
    for request in [
        forge.post("/users").token(ROOT).json(&user_with("email", json!(email))),
        forge.put("/users/1").token(ROOT).form(&[("email", &email)]),
        forge.post("/user/emails").token(ROOT).form(&[("email", &email)]),
        forge.post("/users/1/emails").token(ROOT).form(&[("email", &email)]),
    ] {
        let expected = json!({"message": {"email": [too_long(255)]}});
        assert_eq!(request.send().expect(400), expected);
    }
    let title = "x".repeat(256);
    let key =
        forge.post("/user/keys").token(ROOT).form(&[("title", &title), ("key", &an_ssh_key(1))]);
    assert_eq!(key.send().expect(400), json!({"message": {"title": [too_long(255)]}}));
    let long_key = format!("{}{}", an_ssh_key(1), "x".repeat(5000));
    let key = forge.post("/user/keys").token(ROOT).form(&[("title", "x"), ("key", &long_key)]);
    assert_eq!(key.send().expect(400)["message"]["key"], json!([too_long(5000)]));
    assert_eq!(stored_totals(forge), before);

    // One character less is accepted.
    let longest = [
        ("username", "u".repeat(255)),
        ("name", "ü".repeat(255)),
        ("email", format!("{}@example.com", "x".repeat(243))),
        ("password", "ü".repeat(128)),
        ("bio", "😀".repeat(255)),
        ("website_url", "w".repeat(255)),
        ("provider", "p".repeat(255)),
        ("extern_uid", "e".repeat(255)),
    ];
    let pairs: Vec<_> = longest.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let made = forge.post("/users").token(ROOT).form(&pairs).send().expect(201);
    assert_eq!(made["bio"], json!("😀".repeat(255)));
    let login = [("login", longest[2].1.as_str()), ("password", longest[3].1.as_str())];
    assert_eq!(forge.post("/session").form(&login).send().status, 201);
}

fn nul_bytes_are_refused_wherever_they_stand(forge: &Forge) {
    let before = stored_totals(forge);
    for field in ["username", "name", "email", "password", "bio", "location", "provider"] {
        for value in ["\0", "a\0", "\0a", "a\0b"] {
            let error = format!("{field} is invalid");
            let pairs = [(field, value)];
            for request in [
                forge.put("/users/1").token(ROOT).query(&pairs),
                forge.put("/users/1").token(ROOT).form(&pairs),
                forge.put("/users/1").token(ROOT).multipart(&pairs),
                forge.put("/users/1").token(ROOT).json(&json!({field: value})),
                forge.post("/users").token(ROOT).json(&user_with(field, json!(value))),
            ] {
                assert_error(&request.send(), 400, &error);
            }
        }
    }
    let key = an_ssh_key(1);
    for (path, pairs) in [
        ("/user/keys", vec![("title", "a\0b"), ("key", key.as_str())]),
        ("/user/keys", vec![("title", "x"), ("key", "ssh-rsa \0")]),
        ("/users/1/keys", vec![("title", "a\0b"), ("key", key.as_str())]),
        ("/user/emails", vec![("email", "a\0@example.com")]),
        ("/users/1/emails", vec![("email", "a@example.com\0")]),
        ("/session", vec![("login", "ro\0ot"), ("password", PASSWORD)]),
        ("/session", vec![("email", "\0"), ("password", PASSWORD)]),
        ("/session", vec![("login", "root"), ("password", "\0")]),
    ] {
        assert_refused(&forge.post(path).token(ROOT).form(&pairs).send(), 400, path);
        assert_refused(&forge.post(path).token(ROOT).query(&pairs).send(), 400, path);
    }
    for name in ["search", "username"] {
        let list = forge.get("/users").token(ROOT).query(&[(name, "ro\0ot")]).send();
        assert_error(&list, 400, &format!("{name} is invalid"));
    }
    assert_eq!(stored_totals(forge), before);
}

fn invalid_utf8_is_refused(forge: &Forge) {
    let before = stored_totals(forge);
    let form = "application/x-www-form-urlencoded";
    let multipart = "multipart/form-data; boundary=f";
    for bytes in
        [&b"\xff"[..], b"\xc3", b"\xc3(", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc0\x80"]
    {
        let percent: String = bytes.iter().map(|b| format!("%{b:02x}")).collect();
        let in_query = |name: &str| forge.put(&format!("/users/1?{name}={percent}")).token(ROOT);
        let part = b"--f\r\nContent-Disposition: form-data; name=\"bio\"\r\n\r\n";
        let put = || forge.put("/users/1").token(ROOT);
        for request in [
            in_query("bio"),
            in_query(&percent),
            in_query("private_token"),
            put().header("Content-Type", form).body(format!("bio={percent}")),
            put().header("Content-Type", form).body(format!("{percent}=x")),
            put().header("Content-Type", form).body([b"bio=", bytes].concat()),
            put().body([b"bio=", bytes].concat()),
            as_json(put(), [b"{\"bio\": \"", bytes, b"\"}"].concat()),
            as_json(put(), [b"{\"", bytes, b"\": 1}"].concat()),
            as_json(put(), bytes),
            put().header("Content-Type", multipart).body([part, bytes, b"\r\n--f--\r\n"].concat()),
        ] {
            assert_refused(&request.send(), 400, &percent);
        }
        let list = forge.get(&format!("/users?search={percent}")).token(ROOT).send();
        assert_refused(&list, 400, &percent);
    }
    assert_eq!(stored_totals(forge), before);
    assert_eq!(forge.get("/user").token(ROOT).send().expect(200)["bio"], Value::Null);
}

fn broken_percent_encodings_are_refused(forge: &Forge) {
    let before = stored_totals(forge);
    for broken in ["bio=%", "bio=%4", "bio=%zz", "bio=%4g", "%=1", "bio=a%", "bio=%%41", "x=%u0041"]
    {
        let in_query = forge.put(&format!("/users/1?{broken}")).token(ROOT);
        let in_form = forge.put("/users/1").token(ROOT);
        let content_type = "application/x-www-form-urlencoded";
        let in_form = in_form.header("Content-Type", content_type).body(broken);
        assert_refused(&in_query.send(), 400, broken);
        assert_refused(&in_form.send(), 400, broken);
        assert_refused(&forge.get(&format!("/users?{broken}")).token(ROOT).send(), 400, broken);
        assert_refused(&forge.post(&format!("/session?{broken}")).send(), 400, broken);
    }
    assert_eq!(stored_totals(forge), before);
}

/// Sends a hand-written request head, which may contradict the body.
fn send_raw(forge: &Forge, line: &str, headers: &[&str], body: &[u8]) -> Response {
    let mut bytes = format!("{line} HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: {ROOT}\r\n");
    for header in headers {
        bytes.push_str(header);
        bytes.push_str("\r\n");
    }
    bytes.push_str("Connection: close\r\n\r\n");
    let mut stream = TcpStream::connect(forge.address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out can be set");
    stream.write_all(bytes.as_bytes()).expect("the head is read");
    // The server may respond before it has read everything.
    let _ = stream.write_all(body);
    // The server keeps the connection open to read the rest of a refused body, so only the response is awaited.
    let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
    while !is_whole(&answer) {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(read) => answer.extend_from_slice(&buffer[..read]),
        }
    }
    Response::parse(&answer)
}

fn is_whole(answer: &[u8]) -> bool {
    if !answer.windows(4).any(|window| window == b"\r\n\r\n") {
        return false;
    }
    let answer = Response::parse(answer);
    answer.header("content-length").and_then(|length| length.parse().ok())
        == Some(answer.body.len())
}

/// A body in chunks of 64 KiB, without an announced length.
fn chunked(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in body.chunks(64 * 1024) {
        bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        bytes.extend(chunk);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"0\r\n\r\n");
    bytes
}

const LIMIT: usize = MAX_BODY;

fn bodies_over_the_limit_are_refused(forge: &Forge) {
    let before = stored_totals(forge);
    let expected = json!({"message": "413 Request Entity Too Large"});
    let types = [
        "Content-Type: application/json",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: multipart/form-data; boundary=f",
        "Content-Type: text/plain",
        "X-No-Content-Type: at all",
    ];
    let part = "--f\r\nContent-Disposition: form-data; name=\"bio\"\r\n\r\n";
    for content_type in types {
        let body = match content_type {
            _ if content_type.contains("json") => format!("{{\"bio\": \"{}\"}}", "x".repeat(LIMIT)),
            _ if content_type.contains("multipart") => {
                format!("{part}{}\r\n--f--\r\n", "x".repeat(LIMIT))
            }
            _ => format!("bio={}", "x".repeat(LIMIT)),
        };
        for line in ["PUT /api/v3/users/1", "POST /api/v3/session", "GET /api/v3/users"] {
            // A body that is announced as too large is refused before it is sent.
            for length in [LIMIT + 1, 10 * LIMIT, usize::MAX] {
                let length = format!("Content-Length: {length}");
                let announced = send_raw(forge, line, &[content_type, &length], b"");
                assert_eq!(announced.expect(413), expected, "{line} {content_type}");
            }
            let chunks = ["Transfer-Encoding: chunked", content_type];
            let in_chunks = send_raw(forge, line, &chunks, &chunked(body.as_bytes()));
            assert_eq!(in_chunks.expect(413), expected, "{line} {content_type}");
        }
    }
    assert_eq!(stored_totals(forge), before);

    // A body of exactly the limit is accepted, in one piece or in chunks.
    let fill = LIMIT - "bio=x&unknown=".len();
    let body = format!("bio=x&unknown={}", "x".repeat(fill));
    assert_eq!(body.len(), LIMIT);
    let form = "Content-Type: application/x-www-form-urlencoded";
    let length = format!("Content-Length: {LIMIT}");
    let whole = send_raw(forge, "PUT /api/v3/users/1", &[form, &length], body.as_bytes());
    assert_eq!(whole.expect(200)["bio"], "x");
    let chunks = ["Transfer-Encoding: chunked", form];
    let in_chunks = send_raw(forge, "PUT /api/v3/users/1", &chunks, &chunked(body.as_bytes()));
    assert_eq!(in_chunks.expect(200)["bio"], "x");
}

fn too_many_parameters_are_refused(forge: &Forge) {
    let before = stored_totals(forge);
    let pairs: Vec<String> = (0..10_000).map(|n| format!("{n:x}=")).collect();
    let many = pairs.join("&");
    assert!(many.len() < 65_000, "fits into an address: {}", many.len());
    let same = vec!["a[]=1"; 10_000].join("&");
    let form = "application/x-www-form-urlencoded";
    for (path, method) in [("/users", "POST"), ("/users/1", "PUT"), ("/users/1", "DELETE")] {
        for encoded in [&many, &same] {
            let in_query = forge.request(method, &format!("{path}?{encoded}")).token(ROOT).send();
            assert_refused(&in_query, 400, "10,000 in the query");
            let in_form = forge.request(method, path).token(ROOT).header("Content-Type", form);
            assert_refused(&in_form.body(encoded.as_str()).send(), 400, "10,000 in a form");
        }
    }
    assert_refused(&forge.get(&format!("/users?{many}")).token(ROOT).send(), 400, "a read");
    assert_refused(&forge.post("/session").body(many).send(), 400, "a session");
    let members: serde_json::Map<String, Value> =
        (0..10_000).map(|n| (n.to_string(), json!(n))).collect();
    let in_json = forge.put("/users/1").token(ROOT).json(&Value::Object(members)).send();
    assert_refused(&in_json, 400, "10,000 in JSON");
    let parts: Vec<(&str, &str)> = vec![("x", "y"); 10_000];
    assert_refused(&forge.put("/users/1").token(ROOT).multipart(&parts).send(), 400, "parts");
    assert_eq!(stored_totals(forge), before);
}

fn unknown_content_types_are_not_acceptable(forge: &Forge) {
    let before = stored_totals(forge);
    for (given, named) in [
        ("text/plain", "text/plain"),
        ("text/plain; charset=utf-8", "text/plain"),
        ("application/xml", "application/xml"),
        ("application/octet-stream", "application/octet-stream"),
        ("application/jsonx", "application/jsonx"),
        ("application/vnd.api+json", "application/vnd.api+json"),
        ("multipart/mixed; boundary=f", "multipart/mixed"),
        ("nonsense", "nonsense"),
    ] {
        for request in writes(forge) {
            let answer = request.header("Content-Type", given).body("bio=x").send();
            let error = format!("The requested content-type '{named}' is not supported.");
            assert_error(&answer, 406, &error);
        }
    }
    assert_eq!(stored_totals(forge), before);
}

fn broken_multipart_is_refused(forge: &Forge) {
    let before = stored_totals(forge);
    let part = |body: &str| format!("--f\r\nContent-Disposition: form-data; {body}");
    let typed = "multipart/form-data; boundary=f";
    for (content_type, body) in [
        (typed, "nothing of the kind".to_owned()),
        (typed, "--f".to_owned()),
        (typed, "--f\r\n".to_owned()),
        (typed, "--other\r\n\r\n--other--\r\n".to_owned()),
        (typed, part("name=\"bio\"")),
        (typed, part("name=\"bio\"\r\n\r\nvalue")),
        (typed, part("name=\"bio\"\r\n\r\nvalue\r\n--f")),
        (typed, part("name=\"bio\"\r\n\r\nvalue\r\n--g--\r\n")),
        ("multipart/form-data", part("name=\"bio\"\r\n\r\nvalue\r\n--f--\r\n")),
        ("multipart/form-data; boundary=", part("name=\"bio\"\r\n\r\nvalue\r\n--f--\r\n")),
        ("multipart/form-data; boundary=g", part("name=\"bio\"\r\n\r\nvalue\r\n--f--\r\n")),
    ] {
        let put = forge.put("/users/1").token(ROOT).header("Content-Type", content_type);
        assert_refused(&put.body(body.as_str()).send(), 400, &body);
    }
    assert_eq!(forge.get("/user").token(ROOT).send().expect(200)["bio"], Value::Null);

    // A file is not a text parameter, so it is ignored.
    let file = part("name=\"bio\"; filename=\"x.png\"\r\nContent-Type: image/png\r\n\r\n");
    let body = [file.as_bytes(), b"\x89PNG\xff\0\r\n--f--\r\n"].concat();
    let put = forge.put("/users/1").token(ROOT).header("Content-Type", typed).body(body).send();
    assert_eq!(put.expect(200)["bio"], Value::Null);
    assert_eq!(stored_totals(forge), before);
}

/// The parser refuses malformed HTTP before there is a request. `tests/tests/program/access_log.rs` compares bodies and
/// log lines.
fn malformed_http_is_refused(forge: &Forge) {
    let before = stored_totals(forge);
    for bytes in [
        &b"nonsense\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET /api/v3/user HTTP/9.9\r\n\r\n",
        b"GET /api/v3/user HTTP/1.1\r\nHost x\r\n\r\n",
        b"GET /api/v3/user HTTP/1.1\r\nPRIVATE-TOKEN: a\0b\r\n\r\n",
        b"GET /api/v3/us\0er HTTP/1.1\r\n\r\n",
        b"POST /api/v3/users HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/v3/users HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"POST /api/v3/users HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /api/v3/users HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let answer = exchange(forge.address, bytes);
        let text = String::from_utf8_lossy(&answer);
        let what = String::from_utf8_lossy(bytes);
        assert!(text.starts_with("HTTP/1.1 400 "), "{what}: {text}");
        assert!(text.ends_with('}'), "{what}: {text}");
    }
    let headers: String = (0..1000).map(|n| format!("X-Header-{n}: x\r\n")).collect();
    let many = format!("GET /api/v3/user HTTP/1.1\r\n{headers}\r\n");
    let answer = exchange(forge.address, many.as_bytes());
    assert!(answer.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&answer));
    assert_eq!(stored_totals(forge), before);
}

#[test]
fn request_heads_that_take_too_long_are_refused() {
    let options = ForgeOptions { backend: Backend::Fake, dialect: Dialect::Specification };
    let head_timeout = Some(Duration::from_millis(100));
    let restrictions = Restrictions { head_timeout, ..Restrictions::default() };
    let forge = Forge::start_restricted(options, restrictions).expect("the fake is always there");
    for begun in ["", "GET", "GET /api/v3/user HTTP/1.1\r\nHost: x\r\n"] {
        let response = Response::parse(&exchange(forge.address, begun.as_bytes()));
        assert_eq!(response.status, 408, "{begun}");
        assert_eq!(response.json(), json!({"message": "408 Request Timeout"}), "{begun}");
        assert!(response.header("x-request-id").is_some_and(|id| !id.is_empty()), "{begun}");
    }
}

fn a_refused_body_is_not_taken_for_the_next_request(forge: &Forge) {
    let smuggled = "DELETE /api/v3/users/1 HTTP/1.1\r\nHost: x\r\n\r\n";
    for (line, header, status) in [
        ("POST /api/v3/nothing", "X-Nothing: x", "404"),
        ("PATCH /api/v3/users", "Content-Type: application/json", "404"),
        ("POST /api/v3/users", "Content-Type: text/plain", "406"),
        ("POST /api/v3/users", "Content-Type: application/json", "400"),
        ("POST /api/v3/users", "Content-Type: multipart/form-data; boundary=f", "400"),
        ("POST /api/v3/users?x=%zz", "X-Nothing: x", "400"),
        ("POST /api/v3/users", "X-Nothing: x", "401"),
        ("POST /api/v3/projects/1/uploads", "X-Nothing: x", "401"),
        ("POST /api/v3/projects/1/uploads", "Content-Type: multipart/form-data; boundary=f", "400"),
    ] {
        let length = smuggled.len();
        let bytes = format!(
            "{line} HTTP/1.1\r\nHost: x\r\n{header}\r\nContent-Length: {length}\r\n\r\n{smuggled}\
             GET /api/v3/version HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: {ROOT}\r\n\
             Connection: close\r\n\r\n"
        );
        let answers = exchange(forge.address, bytes.as_bytes());
        let text = String::from_utf8_lossy(&answers);
        // The server may also close the connection instead of answering the second request.
        let statuses: Vec<&str> =
            text.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
        assert!(statuses == [status, "200"] || statuses == [status], "{line}: {text}");
    }
}

fn searches_for_odd_things_find_nothing(forge: &Forge) {
    let long = "x".repeat(20_000);
    for text in ["'", "\"", "' OR 1=1 --", "%", "_", "\\", "*", "😀", "%00", "\u{202e}", &long] {
        // Search texts that are too long are refused: see text_limits.rs.
        let names = ["username", "search"];
        for name in &names[..if text == long { 1 } else { 2 }] {
            let list = forge.get("/users").token(ROOT).query(&[(name, text)]).send();
            assert_eq!(list.expect(200), json!([]), "{name} {}", &text[..text.len().min(20)]);
        }
        let login = [("login", text), ("password", PASSWORD)];
        assert_eq!(forge.post("/session").form(&login).send().status, 401);
    }
}

fn odd_texts_are_kept_as_they_are(forge: &Forge) {
    for text in
        ["'; DROP TABLE users; --", "\u{202e}abc", "a\u{1}b", "😀", "é e\u{301}", "\\", "%s%n"]
    {
        let put = forge.put("/users/1").token(ROOT).json(&json!({"bio": text, "skype": text}));
        let user = put.send().expect(200);
        assert_eq!((&user["bio"], &user["skype"]), (&json!(text), &json!(text)));
        assert_eq!(forge.get("/user").token(ROOT).send().expect(200)["bio"], json!(text));
    }
}
