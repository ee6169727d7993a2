//! Environments of projects: reference section 10 of rest_of_v3.md.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{error, fields_of, forbidden};
use crate::api::repositories::refs_support::{ProjectFixture, empty_fixture};
use crate::api::support::{MISSING, assert_only_for_users, field_error, id_of, ids, message};

on_every_store!(
    environments_are_made_listed_changed_and_removed,
    names_of_environments_follow_rules,
    urls_of_environments_follow_rules,
    fields_that_are_not_given_stay,
    environments_are_for_the_team,
    environments_are_hidden_while_builds_are_disabled,
    checks_have_an_order,
    hostile_environments_are_refused,
);

fn all(fixture: &ProjectFixture) -> String {
    format!("{}/environments", fixture.cast.path)
}

fn one(fixture: &ProjectFixture, environment: &Value) -> String {
    format!("{}/{}", all(fixture), id_of(environment))
}

#[track_caller]
fn create(forge: &Forge, fixture: &ProjectFixture, form: &[(&str, &str)], status: u16) -> Value {
    let developer = fixture.token("developer");
    forge.post(&all(fixture)).token(developer).form(form).send().expect(status)
}

/// "Object", "the Project form, without `permissions` and `runners_token`", "by id ascending".
/// GET /projects/:id/environments, POST /projects/:id/environments, PUT /projects/:id/environments/:environment_id,
/// DELETE /projects/:id/environments/:environment_id
fn environments_are_made_listed_changed_and_removed(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let (list, master) = (all(&fixture), fixture.token("master"));
    let form = [("name", "production"), ("external_url", "https://example.com")];
    let made = create(forge, &fixture, &form, 201);
    let mut project = forge.get(&fixture.cast.path).token(master).send().expect(200);
    let fields = project.as_object_mut().expect("a project");
    fields.remove("permissions").expect("shown to members");
    fields.remove("runners_token").expect("shown to masters");
    let expected = json!({
        "id": id_of(&made), "name": "production", "external_url": "https://example.com",
        "project": project,
    });
    assert_eq!(made, expected);
    assert_eq!(fields_of(&made), ["id", "name", "external_url", "project"]);
    let shown = forge.get(&fixture.cast.path).token(master).send().expect(200);
    let hidden = ["permissions", "runners_token"];
    let order: Vec<&str> =
        fields_of(&shown).into_iter().filter(|field| !hidden.contains(field)).collect();
    assert_eq!(fields_of(&made["project"]), order);
    let second = create(forge, &fixture, &[("name", "a review")], 201);
    assert_eq!(second["external_url"], Value::Null);
    let listed = forge.get(&list).token(fixture.token("reporter")).send();
    assert_eq!(listed.header("X-Total"), Some("2"));
    assert_eq!(listed.expect(200), json!([made, second]));
    let page = forge.get(&format!("{list}?per_page=1&page=2")).token(master).send().expect(200);
    assert_eq!(ids(&page), [id_of(&second)]);

    let form = [("name", "Production"), ("external_url", "http://example.com/new")];
    let changed = forge.put(&one(&fixture, &made)).token(master).form(&form).send().expect(200);
    let mut expected = made.clone();
    expected["name"] = json!("Production");
    expected["external_url"] = json!("http://example.com/new");
    assert_eq!(changed, expected);
    let gone = forge.delete(&one(&fixture, &made)).token(master).send().expect(200);
    assert_eq!(gone, changed);
    for method in ["PUT", "DELETE"] {
        for id in [id_of(&made).to_string(), MISSING.to_string()] {
            let path = format!("{list}/{id}");
            let missing = forge.request(method, &path).token(master).send().expect(404);
            assert_eq!(missing, message("404 Not found"), "{method}");
        }
    }
    assert_eq!(ids(&forge.get(&list).token(master).send().expect(200)), [id_of(&second)]);
}

/// "name not blank", "name up to 255, only …", "name unique in the project, case counts"
fn names_of_environments_follow_rules(forge: &Forge) {
    const FORMAT: &str =
        "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.' and spaces";
    let fixture = empty_fixture(forge);
    assert_eq!(create(forge, &fixture, &[], 400), error("name is missing"));
    let blank = json!({"message": {"name": ["can't be blank", FORMAT]}});
    assert_eq!(create(forge, &fixture, &[("name", "")], 400), blank);
    let refused = create(forge, &fixture, &[("name", "  ")], 400);
    assert_eq!(refused, field_error("name", "can't be blank"));
    for name in ["ä", "a,b", "a\nb", "a:b", &"x".repeat(256)] {
        let refused = create(forge, &fixture, &[("name", name)], 400);
        assert_eq!(refused, field_error("name", FORMAT), "{name}");
    }
    for name in ["aZ0_-/${}.\\ x", &"x".repeat(255), "a", "A"] {
        assert_eq!(create(forge, &fixture, &[("name", name)], 201)["name"], *name);
    }
    let taken = field_error("name", "has already been taken");
    assert_eq!(create(forge, &fixture, &[("name", "a")], 400), taken);
    let other = create(forge, &fixture, &[("name", "other")], 201);
    let path = one(&fixture, &other);
    let master = fixture.token("master");
    let put = |name: &str| forge.put(&path).token(master).form(&[("name", name)]).send();
    assert_eq!(put("a").expect(400), taken);
    assert_eq!(put("").expect(400), blank);
    assert_eq!(put("other").expect(200), other);
}

/// "external_url: http, https, ssh or git, up to 255", "external_url unique in the project", "An empty `external_url`
/// means null."
fn urls_of_environments_follow_rules(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let longest = format!("http://example.com/{}", "x".repeat(236));
    let urls = ["http://a", "https://a.b/c?d", "ssh://git@host:22/a", "git://host/a", &longest];
    for (name, url) in ["a", "b", "c", "d", "e"].into_iter().zip(urls) {
        let made = create(forge, &fixture, &[("name", name), ("external_url", url)], 201);
        assert_eq!(made["external_url"], *url);
    }
    let invalid = field_error("external_url", "must be a valid URL");
    let too_long = format!("{longest}x");
    for url in ["a", "ftp://host", "http://", "javascript:alert(1)", "http://a b", &too_long] {
        let refused = create(forge, &fixture, &[("name", "f"), ("external_url", url)], 400);
        assert_eq!(refused, invalid, "{url}");
    }
    let taken = field_error("external_url", "has already been taken");
    let refused = create(forge, &fixture, &[("name", "f"), ("external_url", "http://a")], 400);
    assert_eq!(refused, taken);
    let both = create(forge, &fixture, &[("name", "ü"), ("external_url", "x")], 400);
    let fields: Vec<&String> = both["message"].as_object().expect("fields").keys().collect();
    assert_eq!(fields, ["name", "external_url"]);
    let empty = create(forge, &fixture, &[("name", "f"), ("external_url", "")], 201);
    assert_eq!(empty["external_url"], Value::Null);
    create(forge, &fixture, &[("name", "g"), ("external_url", " ")], 201);
    let (path, master) = (one(&fixture, &empty), fixture.token("master"));
    let put = |url: &str| forge.put(&path).token(master).form(&[("external_url", url)]).send();
    assert_eq!(put("http://a").expect(400), taken);
    assert_eq!(put("x").expect(400), invalid);
    assert_eq!(put("http://own").expect(200)["external_url"], "http://own");
    assert_eq!(put("http://own").expect(200)["external_url"], "http://own");
    assert_eq!(put("").expect(200), empty);
}

/// "both optional; none given: 200, unchanged"
fn fields_that_are_not_given_stay(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let form = [("name", "a"), ("external_url", "http://a")];
    let made = create(forge, &fixture, &form, 201);
    let (path, master) = (one(&fixture, &made), fixture.token("master"));
    assert_eq!(forge.put(&path).token(master).send().expect(200), made);
    let renamed = forge.put(&path).token(master).form(&[("name", "b")]).send().expect(200);
    assert_eq!((&renamed["name"], &renamed["external_url"]), (&json!("b"), &json!("http://a")));
    let body = json!({"external_url": null});
    let cleared = forge.put(&path).token(master).json(&body).send().expect(200);
    assert_eq!((&cleared["name"], &cleared["external_url"]), (&json!("b"), &Value::Null));
}

/// "reporter+ (a stranger on a public project gets 403)", "developer+", "master+"
fn environments_are_for_the_team(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let list = all(&fixture);
    for (level, outside) in [("0", 404), ("10", 403), ("20", 403)] {
        let visible = [("name", "Ship"), ("visibility_level", level)];
        forge.put(&fixture.cast.path).token(ROOT).form(&visible).send().expect(200);
        let made = create(forge, &fixture, &[("name", level)], 201);
        let path = one(&fixture, &made);
        let calls = [
            ("GET", list.clone()),
            ("POST", format!("{list}?name=new{level}")),
            ("PUT", format!("{path}?name=old{level}")),
            ("DELETE", path.clone()),
        ];
        assert_only_for_users(forge, &calls);
        for (who, expected) in [
            ("stranger", [outside; 4]),
            ("guest", [403; 4]),
            ("reporter", [200, 403, 403, 403]),
            ("developer", [200, 201, 403, 403]),
            ("master", [200, 400, 200, 200]),
        ] {
            for ((method, path), status) in calls.iter().zip(expected) {
                let answer = forge.request(method, path).token(fixture.token(who)).send();
                assert_eq!(answer.status, status, "{who} {method} {path}");
                if status == 403 {
                    assert_eq!(answer.json(), forbidden());
                }
            }
        }
    }
}

/// "With `builds_enabled` false all four are 403."
fn environments_are_hidden_while_builds_are_disabled(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let made = create(forge, &fixture, &[("name", "a")], 201);
    let off = [("name", "Ship"), ("builds_enabled", "false")];
    forge.put(&fixture.cast.path).token(ROOT).form(&off).send().expect(200);
    let (list, path) = (all(&fixture), one(&fixture, &made));
    for (method, path) in
        [("GET", &list), ("POST", &format!("{list}?name=b")), ("PUT", &path), ("DELETE", &path)]
    {
        for who in ["owner", "root"] {
            let refused = forge.request(method, path).token(fixture.token(who)).send().expect(403);
            assert_eq!(refused, forbidden(), "{method} {path}");
        }
    }
}

/// 1.2: "401; declared parameters 400; project 404; right or row as described; validation 400"
fn checks_have_an_order(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let list = all(&fixture);
    let stranger = fixture.token("stranger");
    let missing = forge.post(&list).token(stranger).send().expect(400);
    assert_eq!(missing, error("name is missing"));
    for method in ["PUT", "DELETE"] {
        for id in ["x", "1.5"] {
            let path = format!("{list}/{id}");
            let answer = forge.request(method, &path).token(stranger).send().expect(400);
            assert_eq!(answer, error("environment_id is invalid"), "{method} {id}");
        }
        let path = format!("{list}/{MISSING}?name=");
        let hidden = forge.request(method, &path).token(stranger).send().expect(404);
        assert_eq!(hidden, message("404 Project Not Found"), "{method}");
        let refused = forge.request(method, &path).token(fixture.token("developer")).send();
        assert_eq!(refused.expect(403), forbidden(), "{method}");
        let gone = forge.request(method, &path).token(fixture.token("master")).send();
        assert_eq!(gone.expect(404), message("404 Not found"), "{method}");
    }
}

/// Wrong types, NUL and 9 MB.
fn hostile_environments_are_refused(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let (list, developer) = (all(&fixture), fixture.token("developer"));
    for (body, parameter) in [
        (json!({"name": ["a"]}), "name"),
        (json!({"name": {"a": "b"}}), "name"),
        (json!({"name": "a", "external_url": ["http://a"]}), "external_url"),
        (json!({"name": "a\0"}), "name"),
    ] {
        let refused = forge.post(&list).token(developer).json(&body).send().expect(400);
        assert_eq!(refused, error(&format!("{parameter} is invalid")), "{body}");
    }
    for (length, status) in [(1_000_000, 400), (9_000_000, 413)] {
        let long = "x".repeat(length);
        for body in [json!({"name": long}), json!({"name": "a", "external_url": long})] {
            forge.post(&list).token(developer).json(&body).send().expect(status);
        }
    }
    assert_eq!(forge.get(&list).token(developer).send().expect(200), json!([]));
}
