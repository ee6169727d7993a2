//! `/runners` and `/projects/:id/runners`: section 9 of the reference of the rest of v3.

use std::thread;
use std::time::Duration;

use chrono::TimeDelta;
use hexforge_application::runner::administer::SHOWN_PROJECTS;
use hexforge_domain::id::{ProjectId, RunnerId, UserId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::runner::Runner;
use hexforge_domain_testing::builders::{a_project, home_of};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::runner_support::{CiProject, TWO_STAGES, shared_runner};
use crate::api::everywhere::concurrent_calls::{at_once, statuses};
use crate::api::groups::group_support::{
    add_member, error, fields_of, forbidden, new_project, no_project, path_of_project,
};
use crate::api::support::{
    HUGE, MISSING, assert_only_for_administrators, assert_only_for_users, id_of, ids, message,
};

on_every_store!(
    runners_are_listed_for_those_who_can_access_them,
    all_runners_are_listed_for_administrators,
    the_runners_of_a_project_include_the_shared_ones,
    scopes_choose_among_runners,
    details_show_the_token_to_those_who_may_have_it,
    details_show_the_newest_projects_up_to_a_limit,
    given_fields_of_a_runner_are_changed,
    invalid_changes_have_their_texts,
    changes_of_a_runner_at_once_are_all_kept,
    a_paused_runner_gets_no_builds,
    refusals_come_in_their_order,
    a_removed_runner_leaves_its_builds,
    a_runner_is_enabled_for_another_project,
    a_runner_keeps_its_last_project,
    a_runner_keeps_one_of_two_projects_that_disable_it_at_once,
    the_calls_are_for_users,
    parameters_are_checked_before_the_runner_and_the_permission,
);

const NOT_FOUND: &str = "404 Not found";

/// The error text of a change without any parameter.
const NOTHING_GIVEN: &str = "description, active, tag_list, run_untagged, locked are missing, at \
                             least one parameter must be provided";

/// The text of a refusal, with two blanks.
fn refused(reason: &str) -> Value {
    message(&format!("403 Forbidden  - {reason}"))
}

#[track_caller]
fn list(forge: &Forge, token: &str, path: &str) -> Vec<i64> {
    ids(&forge.get(path).token(token).send().expect(200))
}

/// 9.1, 9.2. GET /runners
fn runners_are_listed_for_those_who_can_access_them(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let (_, stranger) = forge.user("stranger");
    let (developer, developers) = forge.user("developer");
    let (master, masters) = forge.user("master");
    add_member(forge, &ship.path(""), developer, 30, &[]);
    add_member(forge, &ship.path(""), master, 40, &[]);
    let one = ship.runner(&[("description", "one"), ("info[name]", "agent")]);
    let two = ship.runner(&[]);
    shared_runner(forge, &[]);
    let shown = forge.get("/runners").token(&ship.owner).send();
    let expected = json!([
        {"id": one.id, "description": "one", "active": true, "is_shared": false, "name": "agent"},
        {"id": two.id, "description": "", "active": true, "is_shared": false, "name": null}
    ]);
    assert_eq!(shown.text(), expected.to_string());
    assert_eq!(shown.header("X-Total"), Some("2"));
    assert_eq!(list(forge, &masters, "/runners"), [one.id, two.id]);
    // Administrators too get only their own.
    for token in [developers.as_str(), &stranger, ROOT] {
        assert!(list(forge, token, "/runners").is_empty());
    }
    let page = forge.get("/runners?per_page=1&page=2").token(&ship.owner).send();
    assert_eq!(ids(&page.expect(200)), [two.id]);
}

/// 9.2. GET /runners/all
fn all_runners_are_listed_for_administrators(forge: &Forge) {
    assert_only_for_administrators(forge, &[("GET", "/runners/all".into())]);
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let (one, shared) = (ship.runner(&[]), shared_runner(forge, &[]));
    assert_eq!(list(forge, ROOT, "/runners/all"), [one.id, shared.id]);
    assert_eq!(list(forge, ROOT, "/runners/all?scope=specific"), [one.id]);
    assert_eq!(list(forge, ROOT, "/runners/all?scope=shared"), [shared.id]);
    // The parameters are checked before the right.
    let wrong = forge.get("/runners/all?scope=x").token(&ship.owner).send().expect(400);
    assert_eq!(wrong, error("scope does not have a valid value"));
}

/// 9.2. GET /projects/:id/runners
fn the_runners_of_a_project_include_the_shared_ones(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let boat = CiProject::new(forge, "bob", TWO_STAGES);
    let (shared, one) = (shared_runner(forge, &[]), ship.runner(&[]));
    boat.runner(&[]);
    let path = ship.path("/runners");
    assert_eq!(list(forge, &ship.owner, &path), [shared.id, one.id]);
    // Whether or not the project uses them.
    ship.set("shared_runners_enabled", "false");
    assert_eq!(list(forge, &ship.owner, &path), [shared.id, one.id]);
    assert_eq!(list(forge, &ship.owner, &format!("{path}?scope=specific")), [one.id]);
    assert_eq!(list(forge, ROOT, &format!("{path}?scope=shared")), [shared.id]);
}

/// 9.2. GET /runners, GET /projects/:id/runners
fn scopes_choose_among_runners(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let [idle, paused, online] = [(); 3].map(|()| ship.runner(&[]));
    let pause = format!("/runners/{}", paused.id);
    forge.put(&pause).token(&ship.owner).form(&[("active", "false")]).send().expect(200);
    online.take();
    for path in ["/runners".to_owned(), ship.path("/runners"), "/runners/all".into()] {
        let token = if path == "/runners/all" { ROOT } else { &ship.owner };
        let of = |scope: &str| list(forge, token, &format!("{path}?scope={scope}"));
        assert_eq!(of("active"), [idle.id, online.id], "{path}");
        assert_eq!(of("paused"), [paused.id], "{path}");
        assert_eq!(of("online"), [online.id], "{path}");
    }
    forge.clock.advance(TimeDelta::minutes(61));
    let path = "/runners?scope=online";
    assert!(list(forge, &forge.sign_in("ada"), path).is_empty());
    for scope in ["specific", "shared", "x"] {
        let wrong = forge.get(&format!("/runners?scope={scope}")).token(ROOT).send().expect(400);
        assert_eq!(wrong, error("scope does not have a valid value"), "{scope}");
    }
    let wrong = forge.get(&ship.path("/runners?scope=x")).token(ROOT).send().expect(400);
    assert_eq!(wrong, error("scope does not have a valid value"));
}

/// 9.1, 9.3. GET /runners/:id
fn details_show_the_token_to_those_who_may_have_it(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let (_, stranger) = forge.user("stranger");
    let info = [
        ("description", "one"),
        ("tag_list", "b,a"),
        ("info[name]", "agent"),
        ("info[version]", "1.5"),
        ("info[revision]", "abc"),
        ("info[platform]", "linux"),
        ("info[architecture]", "amd64"),
    ];
    let runner = ship.runner(&info);
    let project = forge.get(&ship.path("")).token(ROOT).send().expect(200);
    let basic = |field: &str| project[field].clone();
    let path = format!("/runners/{}", runner.id);
    let expected = json!({
        "id": runner.id, "description": "one", "active": true, "is_shared": false,
        "name": "agent", "tag_list": ["a", "b"], "run_untagged": true, "locked": false,
        "version": "1.5", "revision": "abc", "platform": "linux", "architecture": "amd64",
        "contacted_at": null, "token": runner.token,
        "projects": [{
            "id": ship.project, "http_url_to_repo": basic("http_url_to_repo"),
            "web_url": basic("web_url"), "name": "Ship",
            "name_with_namespace": basic("name_with_namespace"), "path": "ship",
            "path_with_namespace": "ada/ship"
        }]
    });
    for token in [ship.owner.as_str(), ROOT] {
        assert_eq!(forge.get(&path).token(token).send().text(), expected.to_string());
    }
    let hidden = forge.get(&path).token(&stranger).send().expect(403);
    assert_eq!(hidden, refused("No access granted"));
    // Everybody sees a shared runner, but only administrators its token.
    let shared = shared_runner(forge, &[]);
    let path = format!("/runners/{}", shared.id);
    let seen = forge.get(&path).token(&stranger).send().expect(200);
    assert!(!fields_of(&seen).contains(&"token"), "{seen}");
    assert_eq!(seen["projects"], json!([]));
    assert_eq!(forge.get(&path).token(ROOT).send().expect(200)["token"], shared.token);
    for (id, status, body) in [
        (MISSING.to_string(), 404, message(NOT_FOUND)),
        (HUGE.to_owned(), 404, message(NOT_FOUND)),
        ("x".to_owned(), 400, error("id is invalid")),
    ] {
        let missing = forge.get(&format!("/runners/{id}")).token(ROOT).send();
        assert_eq!(missing.expect(status), body, "{id}");
    }
}

/// 9.3. PUT /runners/:id
fn given_fields_of_a_runner_are_changed(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let runner = ship.runner(&[("description", "one")]);
    let path = format!("/runners/{}", runner.id);
    let mut shown = forge.get(&path).token(&ship.owner).send().expect(200);
    for (fields, field, value) in [
        (json!({"description": "new"}), "description", json!("new")),
        (json!({"tag_list": ["x", "y"]}), "tag_list", json!(["x", "y"])),
        (json!({"tag_list": "b,a"}), "tag_list", json!(["a", "b"])),
        (json!({"run_untagged": false}), "run_untagged", json!(false)),
        (json!({"locked": "true"}), "locked", json!(true)),
        (json!({"active": false}), "active", json!(false)),
    ] {
        let changed = forge.put(&path).token(&ship.owner).json(&fields).send();
        shown[field] = value;
        assert_eq!(changed.expect(200), shown, "{fields}");
        assert_eq!(forge.get(&path).token(ROOT).send().expect(200), shown);
    }
    let form = [("tag_list[]", "c"), ("tag_list[]", "d")];
    let changed = forge.put(&path).token(ROOT).form(&form).send().expect(200);
    assert_eq!(changed["tag_list"], json!(["c", "d"]));
    // Administrators change shared runners.
    let shared = format!("/runners/{}", shared_runner(forge, &[]).id);
    let changed = forge.put(&shared).token(ROOT).form(&[("description", "all")]).send();
    assert_eq!(changed.expect(200)["description"], "all");
}

/// 9.3. PUT /runners/:id
fn invalid_changes_have_their_texts(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let runner = ship.runner(&[("tag_list", "a")]);
    let path = format!("/runners/{}", runner.id);
    let put = |fields: Value| forge.put(&path).token(&ship.owner).json(&fields).send().expect(400);
    assert_eq!(put(json!({})), error(NOTHING_GIVEN));
    let empty = json!({"message": {"tags_list": [
        "can not be empty when runner is not allowed to pick untagged jobs"
    ]}});
    assert_eq!(put(json!({"tag_list": [], "run_untagged": false})), empty);
    assert_eq!(put(json!({"active": "maybe"})), error("active is invalid"));
    assert_eq!(put(json!({"tag_list": [{"a": 1}]})), error("tag_list is invalid"));
    let many: Vec<String> = (0..101).map(|n| n.to_string()).collect();
    let too_many = json!({"message": {"tag_list": ["are too many (maximum is 100)"]}});
    assert_eq!(put(json!({"tag_list": many})), too_many);
    // The parameters are checked before the runner.
    let missing = format!("/runners/{MISSING}");
    assert_eq!(forge.put(&missing).token(ROOT).send().expect(400), error(NOTHING_GIVEN));
    let missing = forge.put(&missing).token(ROOT).form(&[("active", "true")]).send();
    assert_eq!(missing.expect(404), message(NOT_FOUND));
    let shown = forge.get(&path).token(&ship.owner).send().expect(200);
    assert_eq!((&shown["tag_list"], &shown["run_untagged"]), (&json!(["a"]), &json!(true)));
}

/// PUT /runners/:id: a request that waits for another change of the runner does not undo it.
fn changes_of_a_runner_at_once_are_all_kept(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let one = ship.runner(&[]);
    let path = format!("/runners/{}", one.id);
    let changes: [&(dyn Fn() -> u16 + Sync); 2] = [
        &|| forge.put(&path).token(&ship.owner).form(&[("description", "new")]).send().status,
        // The runner calls, which stores the time of the call.
        &|| one.build_request().send().status,
    ];
    for change in changes {
        forge.put(&path).token(&ship.owner).form(&[("active", "true")]).send().expect(200);
        thread::scope(|scope| {
            let paused: Result<_, StoreError> = forge.app.store.write(|tx| {
                let runner = tx.runners().lock(RunnerId(one.id))?.expect("it is there");
                let sent = scope.spawn(change);
                // The request reads the runner meanwhile.
                thread::sleep(Duration::from_millis(300));
                tx.runners().update(&Runner { active: false, ..runner })?;
                Ok(sent)
            });
            let sent = paused.expect("the runner can be paused");
            assert!(sent.join().expect("no panic") < 500);
        });
        let shown = forge.get(&path).token(&ship.owner).send().expect(200);
        assert_eq!((&shown["active"], &shown["description"]), (&json!(false), &json!("new")));
    }
}

/// 9.3. PUT /runners/:id, DELETE /runners/:id
fn a_paused_runner_gets_no_builds(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let runner = ship.runner(&[]);
    ship.pipeline();
    let path = format!("/runners/{}", runner.id);
    forge.put(&path).token(&ship.owner).form(&[("active", "false")]).send().expect(200);
    assert_eq!(runner.build_request().send().status, 404);
    forge.put(&path).token(&ship.owner).form(&[("active", "true")]).send().expect(200);
    assert_eq!(runner.build_request().send().status, 201);
    forge.delete(&path).token(&ship.owner).send().expect(200);
    assert_eq!(runner.build_request().send().status, 403);
}

/// 9.3, 20 (7). PUT /runners/:id, DELETE /runners/:id
fn refusals_come_in_their_order(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let (_, stranger) = forge.user("stranger");
    let other = new_project(forge, &ship.owner, "Other", &[]);
    let (shared, one, two) = (shared_runner(forge, &[]), ship.runner(&[]), ship.runner(&[]));
    let enable = format!("{}/runners", path_of_project(&other));
    let id = two.id.to_string();
    forge.post(&enable).token(&ship.owner).form(&[("runner_id", &id)]).send().expect(201);
    for (token, id, put, delete) in [
        (&ship.owner, shared.id, Some("Runner is shared"), "Runner is shared"),
        (&stranger, shared.id, Some("Runner is shared"), "Runner is shared"),
        (&stranger, one.id, Some("No access granted"), "No access granted"),
        (
            &stranger,
            two.id,
            Some("No access granted"),
            "Runner associated with more than one project",
        ),
        (&ship.owner, two.id, None, "Runner associated with more than one project"),
    ] {
        let path = format!("/runners/{id}");
        let changed = forge.put(&path).token(token).form(&[("description", "x")]).send();
        match put {
            Some(reason) => assert_eq!(changed.expect(403), refused(reason)),
            None => assert_eq!(changed.expect(200)["description"], "x"),
        }
        let gone = forge.delete(&path).token(token).send().expect(403);
        assert_eq!(gone, refused(delete));
    }
    for id in [shared.id, two.id] {
        forge.delete(&format!("/runners/{id}")).token(ROOT).send().expect(200);
    }
}

/// 9.3. DELETE /runners/:id
fn a_removed_runner_leaves_its_builds(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let runner = ship.runner(&[("description", "one")]);
    ship.pipeline();
    let build = runner.take().expect("a build waits");
    assert_eq!(ship.build(&build)["runner"]["id"], runner.id);
    let path = format!("/runners/{}", runner.id);
    let gone = forge.delete(&path).token(&ship.owner).send();
    let expected = json!({
        "id": runner.id, "description": "one", "active": true, "is_shared": false, "name": null
    });
    assert_eq!((gone.expect(200), gone.text()), (expected.clone(), &*expected.to_string()));
    assert_eq!(ship.build(&build)["runner"], Value::Null);
    for method in ["GET", "DELETE"] {
        let missing = forge.request(method, &path).token(&ship.owner).send().expect(404);
        assert_eq!(missing, message(NOT_FOUND));
    }
}

/// GET /runners/:id, PUT /runners/:id
fn details_show_the_newest_projects_up_to_a_limit(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let runner = ship.runner(&[]);
    let (store, ada) = (&*forge.app.store, UserId(owner_of(forge, &ship)));
    let home = home_of(store, ada);
    let count = SHOWN_PROJECTS as usize;
    let boats: Vec<i64> = (0..count)
        .map(|number| a_project(&format!("boat-{number}"), home, ada).stored_in(store).id.0)
        .collect();
    let path = format!("/runners/{}", runner.id);
    let shown = |token: &str| ids(&forge.get(&path).token(token).send().expect(200)["projects"]);
    let assign = |boats: &[i64]| {
        let assigned: Result<(), StoreError> = store.write(|tx| {
            boats
                .iter()
                .try_for_each(|boat| tx.runners().bind(RunnerId(runner.id), ProjectId(*boat)))
        });
        assigned.expect("the projects are stored");
    };
    assign(&boats[1..]);
    let all = [&[ship.project], &boats[1..]].concat();
    assert_eq!((shown(ROOT), shown(&ship.owner)), (all.clone(), all));
    assign(&boats[..1]);
    assert_eq!((shown(ROOT), shown(&ship.owner)), (boats.clone(), boats.clone()));
    let changed = forge.put(&path).token(ROOT).form(&[("active", "false")]).send().expect(200);
    assert_eq!(ids(&changed["projects"]), boats);
}

fn owner_of(forge: &Forge, of: &CiProject<'_>) -> i64 {
    id_of(&forge.get("/user").token(&of.owner).send().expect(200))
}

/// 9.4. POST /projects/:id/runners
fn a_runner_is_enabled_for_another_project(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let boat = CiProject::new(forge, "bob", TWO_STAGES);
    let (shared, one) = (shared_runner(forge, &[]), ship.runner(&[]));
    let (locked, foreign) = (ship.runner(&[("locked", "true")]), boat.runner(&[]));
    let other = new_project(forge, &ship.owner, "Other", &[]);
    let path = format!("{}/runners", path_of_project(&other));
    let post =
        |token: &str, id: &str| forge.post(&path).token(token).form(&[("runner_id", id)]).send();
    for (token, id, status, body) in [
        (ship.owner.as_str(), MISSING.to_string(), 404, message(NOT_FOUND)),
        (&ship.owner, "x".into(), 400, error("runner_id is invalid")),
        (&ship.owner, shared.id.to_string(), 403, refused("Runner is shared")),
        (&ship.owner, locked.id.to_string(), 403, refused("Runner is locked")),
        (&ship.owner, foreign.id.to_string(), 403, refused("No access granted")),
        (ROOT, shared.id.to_string(), 403, refused("Runner is shared")),
        (ROOT, locked.id.to_string(), 403, refused("Runner is locked")),
    ] {
        assert_eq!(post(token, &id).expect(status), body, "{id}");
    }
    let missing = forge.post(&path).token(&ship.owner).send().expect(400);
    assert_eq!(missing, error("runner_id is missing"));
    let enabled = post(&ship.owner, &one.id.to_string()).expect(201);
    let expected = json!({
        "id": one.id, "description": "", "active": true, "is_shared": false, "name": null
    });
    assert_eq!(enabled, expected);
    let again = post(&ship.owner, &one.id.to_string()).expect(409);
    assert_eq!(again, message("Runner was already enabled for this project"));
    // Administrators need no access.
    post(ROOT, &foreign.id.to_string()).expect(201);
    assert_eq!(list(forge, &ship.owner, &format!("{path}?scope=specific")), [one.id, foreign.id]);
    let details = forge.get(&format!("/runners/{}", one.id)).token(&ship.owner).send();
    assert_eq!(ids(&details.expect(200)["projects"]), [ship.project, id_of(&other)]);
    // Only projects that the caller is authorized for.
    let details = forge.get(&format!("/runners/{}", foreign.id)).token(&ship.owner).send();
    assert_eq!(ids(&details.expect(200)["projects"]), [id_of(&other)]);
}

/// 9.4. DELETE /projects/:id/runners/:runner_id
fn a_runner_keeps_its_last_project(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let (shared, one) = (shared_runner(forge, &[]), ship.runner(&[]));
    let other = path_of_project(&new_project(forge, &ship.owner, "Other", &[]));
    let of = |project: &str, id: &str| format!("{project}/runners/{id}");
    let id = one.id.to_string();
    let missing = message("404 Runner Not Found");
    for (project, id) in [
        (other.as_str(), id.as_str()),
        (&other, &shared.id.to_string()),
        (&other, &MISSING.to_string()),
        (&other, HUGE),
    ] {
        let path = of(project, id);
        assert_eq!(forge.delete(&path).token(&ship.owner).send().expect(404), missing, "{path}");
    }
    let text = forge.delete(&of(&other, "x")).token(&ship.owner).send().expect(400);
    assert_eq!(text, error("runner_id is invalid"));
    let only = "Only one project associated with the runner. Please remove the runner instead";
    for token in [ship.owner.as_str(), ROOT] {
        let last = forge.delete(&of(&ship.path(""), &id)).token(token).send().expect(403);
        assert_eq!(last, refused(only));
    }
    let enable = format!("{other}/runners");
    forge.post(&enable).token(&ship.owner).form(&[("runner_id", &id)]).send().expect(201);
    let gone = forge.delete(&of(&ship.path(""), &id)).token(&ship.owner).send().expect(200);
    assert_eq!(id_of(&gone), one.id);
    ship.pipeline();
    assert_eq!(one.take(), None);
    assert_eq!(list(forge, &ship.owner, &enable), [shared.id, one.id]);
}

/// 9.4. DELETE /projects/:id/runners/:runner_id
fn a_runner_keeps_one_of_two_projects_that_disable_it_at_once(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let other = path_of_project(&new_project(forge, &ship.owner, "Other", &[]));
    for _ in 0..5 {
        let one = ship.runner(&[]);
        let form = [("runner_id", one.id.to_string())];
        let form = form.each_ref().map(|(name, id)| (*name, id.as_str()));
        forge.post(&format!("{other}/runners")).token(&ship.owner).form(&form).send().expect(201);
        let disable = |project: &str| {
            forge.delete(&format!("{project}/runners/{}", one.id)).token(&ship.owner).send()
        };
        let answers = at_once([&|| disable(&other), &|| disable(&ship.path(""))]);
        assert_eq!(statuses(&answers), [200, 403]);
        let shown = forge.get(&format!("/runners/{}", one.id)).token(&ship.owner).send();
        assert_eq!(shown.expect(200)["projects"].as_array().map(Vec::len), Some(1));
    }
}

/// 1.1, 1.2. All eight calls.
fn the_calls_are_for_users(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let (_, stranger) = forge.user("stranger");
    let (developer, developers) = forge.user("developer");
    add_member(forge, &ship.path(""), developer, 30, &[]);
    let of_project = [
        ("GET", ship.path("/runners?scope=x")),
        ("POST", ship.path("/runners")),
        ("DELETE", ship.path("/runners/x")),
    ];
    let own = [
        ("GET", "/runners".to_owned()),
        ("GET", "/runners/all".into()),
        ("GET", "/runners/x".into()),
        ("PUT", "/runners/x".into()),
        ("DELETE", "/runners/x".into()),
    ];
    assert_only_for_users(forge, &own);
    assert_only_for_users(forge, &of_project);
    for (method, path) in &of_project {
        let hidden = forge.request(method, path).token(&stranger).send().expect(404);
        assert_eq!(hidden, no_project(), "{method} {path}");
        let refused = forge.request(method, path).token(&developers).send().expect(403);
        assert_eq!(refused, forbidden(), "{method} {path}");
    }
}

/// 1.2: "declared parameters 400; runner 404; refusal 403 with its reason". PUT /runners/:id
fn parameters_are_checked_before_the_runner_and_the_permission(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", TWO_STAGES);
    let (_, stranger) = forge.user("stranger");
    let (own, shared) = (ship.runner(&[]).id, shared_runner(forge, &[]).id);
    let put = |id: i64, form: &[(&str, &str)]| {
        forge.put(&format!("/runners/{id}")).token(&stranger).form(form).send()
    };
    for id in [own, shared, MISSING] {
        assert_eq!(put(id, &[]).expect(400), error(NOTHING_GIVEN), "{id}");
        let wrong = put(id, &[("active", "maybe")]).expect(400);
        assert_eq!(wrong, error("active is invalid"), "{id}");
    }
    let active = [("active", "true")];
    assert_eq!(put(MISSING, &active).expect(404), message(NOT_FOUND));
    assert_eq!(put(own, &active).expect(403), refused("No access granted"));
    assert_eq!(put(shared, &active).expect(403), refused("Runner is shared"));
}
