//! The effects of application settings: rest_of_v3.md 7.1. Those on Git clients are in `git_http` and `git_ssh`.
//!
//! On PostgreSQL several servers answer by turns, so that the cases also show that a change takes effect in all
//! processes at the next request.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::runner_support::{CiProject, TWO_STAGES, shared_runner};
use crate::api::groups::group_support::{
    new_group, new_project, path_of_group, path_of_project, project_now,
};
use crate::api::support::{field_error, id_of, message, user_now};

on_every_store!(
    new_users_have_the_defaults_of_the_settings,
    new_projects_and_groups_have_the_defaults_of_the_settings,
    restricted_levels_are_for_administrators_in_projects,
    restricted_levels_are_for_administrators_in_groups,
    restricted_levels_are_for_administrators_in_snippets,
    gravatars_can_be_switched_off,
    uploads_have_the_size_limit_of_the_settings,
    artifacts_have_the_size_limit_of_the_settings,
    sessions_ignore_the_switches_for_registration_and_sign_in,
);

#[track_caller]
fn set(forge: &Forge, body: &Value) {
    forge.put("/application/settings").token(ROOT).json(body).send().expect(200);
}

const RESTRICTED: &str = "public has been restricted by your GitLab administrator";

/// POST /users
fn new_users_have_the_defaults_of_the_settings(forge: &Forge) {
    set(forge, &json!({"default_projects_limit": 7}));
    let ada = forge.new_user("ada", &[]);
    assert_eq!((&ada["projects_limit"], &ada["external"]), (&json!(7), &json!(false)));
    assert_eq!(forge.new_user("bob", &[("projects_limit", "3")])["projects_limit"], 3);
    set(forge, &json!({"user_default_external": true}));
    let eve = forge.new_user("eve", &[]);
    assert_eq!((&eve["projects_limit"], &eve["external"]), (&json!(0), &json!(true)));
    let dan = forge.new_user("dan", &[("external", "false")]);
    assert_eq!((&dan["projects_limit"], &dan["external"]), (&json!(7), &json!(false)));
    assert_eq!(user_now(forge, id_of(&ada))["projects_limit"], 7);
}

/// POST /projects, POST /groups, POST /projects/user/:user_id
fn new_projects_and_groups_have_the_defaults_of_the_settings(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let plain = new_project(forge, &token, "plain", &[]);
    let shown = |project: &Value| {
        let project = project_now(forge, id_of(project));
        (project["visibility_level"].clone(), project["shared_runners_enabled"].clone())
    };
    assert_eq!(shown(&plain), (json!(0), json!(true)));
    assert_eq!(new_group(forge, &token, "first", &[])["visibility_level"], 20);
    set(
        forge,
        &json!({
            "default_project_visibility": 20, "default_group_visibility": 10,
            "shared_runners_enabled": false,
        }),
    );
    assert_eq!(shown(&new_project(forge, &token, "later", &[])), (json!(20), json!(false)));
    let chosen = [("visibility_level", "10"), ("shared_runners_enabled", "true")];
    assert_eq!(shown(&new_project(forge, &token, "chosen", &chosen)), (json!(10), json!(true)));
    let path = format!("/projects/user/{ada}");
    let made = forge.post(&path).token(ROOT).form(&[("name", "given")]).send().expect(201);
    assert_eq!(shown(&made), (json!(20), json!(false)));
    assert_eq!(new_group(forge, &token, "second", &[])["visibility_level"], 10);
    assert_eq!(shown(&plain), (json!(0), json!(true)), "existing projects keep their values");
}

/// POST /projects, POST /projects/user/:user_id, PUT /projects/:id, POST /projects/fork/:id
fn restricted_levels_are_for_administrators_in_projects(forge: &Forge) {
    let (id, ada) = forge.user("ada");
    let (_, bob) = forge.user("bob");
    let open = new_project(forge, &ada, "open", &[("visibility_level", "20")]);
    let closed = new_project(forge, &ada, "closed", &[]);
    set(forge, &json!({"restricted_visibility_levels": [20]}));
    let refused = field_error("visibility_level", RESTRICTED);
    for public in [("visibility_level", "20"), ("public", "true")] {
        let form = [("name", "new"), public];
        let answer = forge.post("/projects").token(&ada).form(&form).send();
        assert_eq!(answer.expect(400), refused, "{public:?}");
        let form = [("name", "closed"), public];
        let answer = forge.put(&path_of_project(&closed)).token(&ada).form(&form).send();
        assert_eq!(answer.expect(400), refused, "{public:?}");
    }
    let fork = forge.post(&format!("/projects/fork/{}", open["id"])).token(&bob);
    let fork = fork.form(&[("namespace", "bob")]).send();
    assert_eq!(fork.expect(409), refused);
    // A level that a project has already is not a change.
    let same = [("name", "open"), ("visibility_level", "20"), ("description", "changed")];
    let kept = forge.put(&path_of_project(&open)).token(&ada).form(&same).send().expect(200);
    assert_eq!((&kept["visibility_level"], &kept["description"]), (&json!(20), &json!("changed")));
    new_project(forge, &ada, "internal", &[("visibility_level", "10")]);
    new_project(forge, ROOT, "of-root", &[("visibility_level", "20")]);
    // The caller counts, who is an administrator, and not the owner of the project.
    let path = format!("/projects/user/{id}");
    let given = [("name", "given"), ("visibility_level", "20")];
    let made = forge.post(&path).token(ROOT).form(&given).send().expect(201);
    assert_eq!((&made["owner"]["id"], &made["visibility_level"]), (&json!(id), &json!(20)));
    let raised = [("name", "closed"), ("visibility_level", "20")];
    forge.put(&path_of_project(&closed)).token(ROOT).form(&raised).send().expect(200);
    // A restricted default is refused too.
    set(forge, &json!({"restricted_visibility_levels": [0]}));
    let form = [("name", "by-default")];
    let private = "private has been restricted by your GitLab administrator";
    let answer = forge.post("/projects").token(&ada).form(&form).send();
    assert_eq!(answer.expect(400), field_error("visibility_level", private));
    set(forge, &json!({"restricted_visibility_levels": []}));
    forge.post("/projects").token(&ada).form(&form).send().expect(201);
}

/// POST /groups, PUT /groups/:id
fn restricted_levels_are_for_administrators_in_groups(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let team = new_group(forge, &ada, "team", &[("visibility_level", "10")]);
    set(forge, &json!({"restricted_visibility_levels": [20]}));
    let text = format!("Failed to save group {{:visibility_level=>[\"{RESTRICTED}\"]}}");
    for level in [&[][..], &[("visibility_level", "20")]] {
        let form = [&[("name", "crew"), ("path", "crew")], level].concat();
        let answer = forge.post("/groups").token(&ada).form(&form).send();
        assert_eq!(answer.expect(400), message(&text), "{level:?}");
    }
    // "changes nothing at all and answers 200 with the unchanged group"
    let form = [("visibility_level", "20"), ("description", "changed")];
    let path = path_of_group(&team);
    let answer = forge.put(&path).token(&ada).form(&form).send().expect(200);
    assert_eq!((&answer["visibility_level"], &answer["description"]), (&json!(10), &json!("")));
    let answer = forge.put(&path).token(ROOT).form(&form).send().expect(200);
    assert_eq!(answer["visibility_level"], 20);
    let form = [("visibility_level", "20"), ("description", "kept")];
    let answer = forge.put(&path).token(&ada).form(&form).send().expect(200);
    assert_eq!((&answer["visibility_level"], &answer["description"]), (&json!(20), &json!("kept")));
    new_group(forge, ROOT, "of-root", &[]);
}

/// POST /projects/:id/snippets, PUT /projects/:id/snippets/:snippet_id, POST /snippets, PUT /snippets/:id
fn restricted_levels_are_for_administrators_in_snippets(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let enabled = [("snippets_enabled", "true"), ("visibility_level", "20")];
    let ship = new_project(forge, &ada, "ship", &enabled);
    let in_project = format!("{}/snippets", path_of_project(&ship));
    set(forge, &json!({"restricted_visibility_levels": [20]}));
    let refused = field_error("visibility_level", RESTRICTED);
    for path in [in_project.as_str(), "/snippets"] {
        let texts = [("title", "t"), ("file_name", "f"), ("code", "c"), ("content", "c")];
        let of_level = |level| [&texts[..], &[("visibility_level", level)]].concat();
        let answer = forge.post(path).token(&ada).form(&of_level("20")).send();
        assert_eq!(answer.expect(400), refused, "{path}");
        let made = forge.post(path).token(&ada).form(&of_level("10")).send().expect(201);
        let one = format!("{path}/{}", id_of(&made));
        let answer = forge.put(&one).token(&ada).form(&[("visibility_level", "20")]).send();
        assert_eq!(answer.expect(400), refused, "{path}");
        forge.put(&one).token(&ada).form(&[("visibility_level", "10")]).send().expect(200);
        forge.post(path).token(ROOT).form(&of_level("20")).send().expect(201);
    }
}

/// GET /user, GET /users, POST /session and payloads of hooks: "false: `avatar_url` null unless uploaded".
fn gravatars_can_be_switched_off(forge: &Forge) {
    let (id, ada) = forge.user("ada");
    let avatar = |answer: &Value| answer["avatar_url"].clone();
    let login = [("login", "ada"), ("password", hexforge_tests::forge::PASSWORD)];
    for enabled in [false, true] {
        set(forge, &json!({"gravatar_enabled": enabled}));
        let session = forge.post("/session").form(&login).send().expect(201);
        let own = forge.get("/user").token(&ada).send().expect(200);
        let listed = forge.get("/users?username=ada").token(&ada).send().expect(200);
        for shown in [avatar(&session), avatar(&own), avatar(&listed[0])] {
            assert_eq!(shown.is_string(), enabled, "{shown}");
        }
        // Several servers answer by turns.
        for _ in 0..4 {
            assert_eq!(avatar(&user_now(forge, id)).is_string(), enabled);
        }
    }
}

/// POST /projects/:id/uploads
fn uploads_have_the_size_limit_of_the_settings(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let path = format!("{}/uploads", path_of_project(&new_project(forge, &ada, "ship", &[])));
    let upload = |size: usize| {
        let content = vec![b'x'; size];
        forge.post(&path).token(&ada).file("a.bin", &content).send()
    };
    for megabytes in [1, 6, 2] {
        set(forge, &json!({"max_attachment_size": megabytes}));
        upload(megabytes << 20).expect(201);
        let refused = upload((megabytes << 20) + 1).expect(413);
        assert_eq!(refused, message("413 Request Entity Too Large"), "{megabytes}");
    }
}

/// POST /ci/api/v1/builds/:id/artifacts
fn artifacts_have_the_size_limit_of_the_settings(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    ci_project.pipeline();
    let runner = shared_runner(forge, &[]);
    let build = runner.take().expect("a build waits");
    for megabytes in [1, 7, 2] {
        set(forge, &json!({"max_artifacts_size": megabytes}));
        let send = |size: usize| {
            let content = vec![b'x'; size];
            runner.artifacts("POST", &build).file("a.zip", &content).send()
        };
        send(megabytes << 20).expect(201);
        let refused = send((megabytes << 20) + 1).expect(413);
        assert_eq!(refused, message("413 Request Entity Too Large"), "{megabytes}");
    }
}

/// POST /session: "`signup_enabled`, `signin_enabled` … kept; … POST /session works regardless".
fn sessions_ignore_the_switches_for_registration_and_sign_in(forge: &Forge) {
    forge.new_user("ada", &[]);
    set(forge, &json!({"signup_enabled": false, "signin_enabled": false}));
    let token = forge.sign_in("ada");
    assert_eq!(forge.get("/user").token(&token).send().expect(200)["username"], "ada");
}
