//! Of several errors in one request, the first of this order is reported: route, caller, sudo, permission, parameters,
//! look-up, rules.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Request, Response, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use crate::api::forms::on_the_fake;

on_every_store!(
    the_caller_comes_before_sudo,
    sudo_comes_before_the_right,
    the_right_comes_before_parameters_and_look_ups,
    parameters_come_before_look_ups,
    look_ups_come_before_rules,
);

on_the_fake!(the_route_comes_first);

fn message(text: &str) -> Value {
    json!({"message": text})
}

#[track_caller]
fn assert_answer(response: &Response, status: u16, body: &Value) {
    assert_eq!((response.status, &response.json()), (status, body));
}

/// The calls for administrators. Each request also has all later errors: an unknown id and missing parameters.
const FOR_ADMINISTRATORS: [(&str, &str); 11] = [
    ("POST", "/users"),
    ("PUT", "/users/999"),
    ("DELETE", "/users/999"),
    ("GET", "/users/999/keys"),
    ("POST", "/users/999/keys"),
    ("DELETE", "/users/999/keys/999"),
    ("GET", "/users/999/emails"),
    ("POST", "/users/999/emails"),
    ("DELETE", "/users/999/emails/999"),
    ("PUT", "/users/999/block"),
    ("PUT", "/users/999/unblock"),
];

/// The same for calls for all users.
const FOR_USERS: [(&str, &str); 12] = [
    ("GET", "/users"),
    ("GET", "/users/999"),
    ("GET", "/users/999/events"),
    ("GET", "/user"),
    ("GET", "/user/keys"),
    ("GET", "/user/keys/999"),
    ("POST", "/user/keys"),
    ("DELETE", "/user/keys/999"),
    ("GET", "/user/emails"),
    ("GET", "/user/emails/999"),
    ("POST", "/user/emails"),
    ("DELETE", "/user/emails/999"),
];

fn all_calls(forge: &Forge) -> impl Iterator<Item = (String, Request)> {
    FOR_ADMINISTRATORS
        .iter()
        .chain(&FOR_USERS)
        .map(|(method, path)| (format!("{method} {path}"), forge.request(method, path)))
}

fn the_route_comes_first(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let no_route = json!({"error": "404 Not Found"});
    for (method, path) in [
        ("PATCH", "/users/1"),
        ("GET", "/nothing"),
        ("PUT", "/users/root/block"),
        ("POST", "/user"),
    ] {
        let request = || forge.request(method, path);
        assert_answer(&request().send(), 404, &no_route);
        assert_answer(&request().token("wrong").send(), 404, &no_route);
        assert_answer(&request().token(&token).header("SUDO", "root").send(), 404, &no_route);
        assert_answer(&request().token(ROOT).query(&[("sudo", "nobody")]).send(), 404, &no_route);
        assert_answer(&request().token(ROOT).json(&json!([])).send(), 404, &no_route);
    }
}

fn the_caller_comes_before_sudo(forge: &Forge) {
    for (call, request) in all_calls(forge) {
        let answer = request.token("wrong").header("SUDO", "nobody").send();
        assert_eq!(answer.expect(401), message("401 Unauthorized"), "{call}");
    }
    for (call, request) in all_calls(forge) {
        let answer = request.query(&[("sudo", "1")]).send();
        assert_eq!(answer.expect(401), message("401 Unauthorized"), "{call}");
    }
}

fn sudo_comes_before_the_right(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let must_be_admin = message("403 Forbidden  - Must be admin to use sudo");
    let nobody = message("404 No user id or username for: nobody Not Found");
    for (call, request) in all_calls(forge) {
        let answer = request.token(&token).header("SUDO", "nobody").send();
        assert_eq!(answer.expect(403), must_be_admin, "{call}");
    }
    for (call, request) in all_calls(forge) {
        let answer = request.token(ROOT).header("SUDO", "nobody").send();
        assert_eq!(answer.expect(404), nobody, "{call}");
    }
}

fn the_right_comes_before_parameters_and_look_ups(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let forbidden = message("403 Forbidden");
    // Sudo of an administrator or parameters of a wrong type do not give a normal user a different error.
    let wrong = json!({"email": ["x"], "title": {"x": 1}, "key": [], "name": "\0", "admin": []});
    for (method, path) in FOR_ADMINISTRATORS {
        let call = format!("{method} {path}");
        let request = || forge.request(method, path);
        assert_eq!(request().token(&token).send().expect(403), forbidden, "{call}");
        let under_sudo = request().token(ROOT).header("SUDO", "ada").send();
        assert_eq!(under_sudo.expect(403), forbidden, "{call}");
        let with_wrong = request().token(&token).json(&wrong).send();
        assert_eq!(with_wrong.expect(403), forbidden, "{call}");
        let of_oneself = forge.request(method, &path.replace("999", "2")).token(&token).send();
        assert_eq!(of_oneself.expect(403), forbidden, "{call}");
    }
}

fn parameters_come_before_look_ups(forge: &Forge) {
    let not_given = |field: &str| message(&format!("400 (Bad request) \"{field}\" not given"));
    let post = |path: &str| forge.post(path).token(ROOT);
    let key = an_ssh_key(1);
    for path in
        ["/user/keys", "/users/1/keys", "/users/999/keys", "/users/99999999999999999999/keys"]
    {
        assert_answer(&post(path).send(), 400, &not_given("title"));
        assert_answer(&post(path).form(&[("key", &key)]).send(), 400, &not_given("title"));
        assert_answer(&post(path).form(&[("title", "x")]).send(), 400, &not_given("key"));
        let blank = post(path).form(&[("title", " "), ("key", &key)]).send();
        assert_answer(&blank, 400, &not_given("title"));
    }
    for path in ["/user/emails", "/users/1/emails", "/users/999/emails"] {
        assert_answer(&post(path).send(), 400, &not_given("email"));
        assert_answer(&post(path).form(&[("email", "")]).send(), 400, &not_given("email"));
    }
    // The first missing parameter is reported, before errors in other parameters.
    let mut fields: Vec<(&str, &str)> = vec![("projects_limit", "many")];
    for (field, value) in
        [("email", "no address"), ("password", "short"), ("name", "<b></b>"), ("username", "-")]
    {
        assert_answer(&post("/users").form(&fields).send(), 400, &not_given(field));
        fields.push((field, value));
    }
    let told = post("/users").form(&fields).send().expect(400);
    let told = told["message"].as_object().expect("a map of fields");
    assert_eq!(told.len(), 5, "all errors are reported at once: {told:?}");
}

fn look_ups_come_before_rules(forge: &Forge) {
    forge.user("ada");
    let missing = message("404 Not found");
    let no_user = message("404 User Not Found");
    let say = |method: &str, path: &str| forge.request(method, path).token(ROOT);
    let bad_key = [("title", "x"), ("key", "garbage")];
    assert_answer(&say("POST", "/users/999/keys").form(&bad_key).send(), 404, &missing);
    let bad_email = [("email", "garbage")];
    assert_answer(&say("POST", "/users/999/emails").form(&bad_email).send(), 404, &missing);
    for wrong in [
        ("email", "garbage"),
        ("email", "ada@example.com"),
        ("username", "ada"),
        ("username", "-"),
        ("password", "short"),
        ("projects_limit", "-1"),
    ] {
        assert_answer(&say("PUT", "/users/999").form(&[wrong]).send(), 404, &missing);
    }
    assert_answer(&say("GET", "/users/999").send(), 404, &missing);
    assert_answer(&say("GET", "/users/999/keys").send(), 404, &no_user);
    assert_answer(&say("GET", "/users/999/emails").send(), 404, &no_user);
    assert_answer(&say("DELETE", "/users/999/keys/1").send(), 404, &no_user);
    assert_answer(&say("DELETE", "/users/999/emails/1").send(), 404, &no_user);
    assert_answer(&say("DELETE", "/users/1/keys/1").send(), 404, &message("404 Key Not Found"));
    assert_answer(&say("DELETE", "/users/1/emails/1").send(), 404, &message("404 Email Not Found"));
    assert_answer(&say("PUT", "/users/999/block").send(), 404, &no_user);
    assert_answer(&say("PUT", "/users/999/unblock").send(), 404, &no_user);
}
