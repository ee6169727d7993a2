//! `POST /projects/:id/fork/:forked_from_id` and `DELETE /projects/:id/fork`: reference section 6.3.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{forbidden, new_project, no_project, path_of_project};
use crate::api::projects::project_support::{a_cast, read};
use crate::api::support::{
    MISSING, assert_only_for_administrators, field_error, id_of, message, queued_events,
};

on_every_store!(
    a_project_is_made_a_fork_of_another,
    only_administrators_add_fork_links,
    both_projects_have_to_be_there,
    a_fork_has_one_source,
    fork_links_have_no_cycles,
    a_fork_is_no_more_visible_than_its_source,
    owners_remove_the_fork_link,
    removing_a_missing_fork_link_succeeds,
);

fn link(fork: &Value, source: &Value) -> String {
    format!("/projects/{}/fork/{}", id_of(fork), id_of(source))
}

/// POST /projects/:id/fork/:forked_from_id
fn a_project_is_made_a_fork_of_another(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let [source, fork] = ["Source", "Copy"].map(|name| new_project(forge, &ada, name, &[]));
    let before = queued_events(forge);
    forge.clock.advance(chrono::TimeDelta::hours(1));
    let answer = forge.post("/projects/ada%2Fcopy/fork/ADA%2Fsource").token(ROOT).send();
    let now = "2016-09-22T11:30:00.000Z";
    let expected = json!({
        "id": id_of(&fork), "forked_to_project_id": id_of(&fork),
        "forked_from_project_id": id_of(&source), "created_at": now, "updated_at": now
    });
    answer.expect(201);
    assert_eq!(answer.text(), expected.to_string());
    let shown = read(forge, &ada, &fork);
    assert_eq!(shown["forked_from_project"]["path_with_namespace"], "ada/source");
    assert_eq!(read(forge, &ada, &source)["forks_count"], 1);
    assert_eq!(queued_events(forge), before);
}

/// POST /projects/:id/fork/:forked_from_id
fn only_administrators_add_fork_links(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let [source, fork] = ["Source", "Copy"].map(|name| new_project(forge, &ada, name, &[]));
    let calls = [link(&fork, &source), format!("/projects/{MISSING}/fork/{MISSING}")];
    assert_only_for_administrators(forge, &calls.map(|path| ("POST", path)));
    let refused = forge.post(&link(&fork, &source)).token(&ada).send();
    assert_eq!(refused.expect(403), forbidden());
}

/// POST /projects/:id/fork/:forked_from_id
fn both_projects_have_to_be_there(forge: &Forge) {
    let there = id_of(&new_project(forge, ROOT, "There", &[]));
    for (fork, source) in [(there, MISSING), (MISSING, there), (MISSING, MISSING)] {
        let missing = forge.post(&format!("/projects/{fork}/fork/{source}")).token(ROOT).send();
        assert_eq!(missing.expect(404), no_project(), "{fork} {source}");
    }
}

/// POST /projects/:id/fork/:forked_from_id
fn a_fork_has_one_source(forge: &Forge) {
    let [source, other, fork] =
        ["Source", "Other", "Copy"].map(|name| new_project(forge, ROOT, name, &[]));
    forge.post(&link(&fork, &source)).token(ROOT).send().expect(201);
    for source in [&source, &other] {
        let again = forge.post(&link(&fork, source)).token(ROOT).send();
        assert_eq!(again.expect(409), message("Project already forked"));
    }
    let shown = read(forge, ROOT, &fork);
    assert_eq!(shown["forked_from_project"]["id"], source["id"]);
    // A source may be a fork itself, and may have several forks.
    forge.post(&link(&other, &fork)).token(ROOT).send().expect(201);
}

/// POST /projects/:id/fork/:forked_from_id
fn fork_links_have_no_cycles(forge: &Forge) {
    let [one, two, three] = ["One", "Two", "Three"].map(|name| new_project(forge, ROOT, name, &[]));
    forge.post(&link(&two, &one)).token(ROOT).send().expect(201);
    forge.post(&link(&three, &two)).token(ROOT).send().expect(201);
    for source in [&one, &two, &three] {
        let refused = forge.post(&link(&one, source)).token(ROOT).send();
        assert_eq!(refused.expect(400), field_error("forked_from_project_id", "is invalid"));
    }
}

/// POST /projects/:id/fork/:forked_from_id
fn a_fork_is_no_more_visible_than_its_source(forge: &Forge) {
    let source = new_project(forge, ROOT, "Source", &[("visibility_level", "10")]);
    let fork = new_project(forge, ROOT, "Copy", &[("visibility_level", "20")]);
    let refused = forge.post(&link(&fork, &source)).token(ROOT).send();
    let text = "public is not allowed since the fork source project has lower visibility.";
    assert_eq!(refused.expect(400), field_error("visibility_level", text));
    let form = [("name", "Copy"), ("visibility_level", "10")];
    forge.put(&path_of_project(&fork)).token(ROOT).form(&form).send().expect(200);
    forge.post(&link(&fork, &source)).token(ROOT).send().expect(201);
}

/// DELETE /projects/:id/fork
fn owners_remove_the_fork_link(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let source = new_project(forge, ROOT, "Source", &[("visibility_level", "0")]);
    let (fork, path) = (&cast.project, format!("{}/fork", cast.path));
    forge.post(&link(fork, &source)).token(ROOT).send().expect(201);
    forge.delete(&path).send().expect(401);
    for (who, status, body) in [
        ("stranger", 404, no_project()),
        ("external", 404, no_project()),
        ("guest", 403, forbidden()),
        ("developer", 403, forbidden()),
        ("master", 403, forbidden()),
        ("owner", 200, json!(true)),
    ] {
        let answer = forge.delete(&path).token(cast.token(who)).send();
        assert_eq!(answer.expect(status), body, "{who}");
    }
    assert_eq!(read(forge, ROOT, fork).get("forked_from_project"), None);
    assert_eq!(read(forge, ROOT, &source)["forks_count"], 0);
    // The source no longer limits its visibility.
    let form = [("name", "Ship"), ("visibility_level", "20")];
    forge.put(&cast.path).token(cast.token("owner")).form(&form).send().expect(200);
}

/// DELETE /projects/:id/fork
fn removing_a_missing_fork_link_succeeds(forge: &Forge) {
    let project = new_project(forge, ROOT, "Alone", &[]);
    let path = format!("{}/fork", path_of_project(&project));
    for _ in 0..2 {
        assert_eq!(forge.delete(&path).token(ROOT).send().expect(200), json!(false));
    }
    let gone = forge.delete(&format!("/projects/{MISSING}/fork")).token(ROOT).send();
    assert_eq!(gone.expect(404), no_project());
}
