//! Releases: reference section 3.5.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::everywhere::concurrent_calls::{at_once, statuses};
use crate::api::groups::group_support::{activity_in, error};
use crate::api::projects::project_support::not_given;
use crate::api::repositories::refs_support::{filled_fixture, new_tag};
use crate::api::support::{message, queued_events};

on_every_store!(
    a_release_is_made_once_and_changed,
    a_release_belongs_to_a_tag_that_exists,
    a_release_says_something,
    tags_may_have_slashes_dots_and_suffixes,
    of_two_releases_made_at_once_one_is_made,
);

/// POST /projects/:id/repository/tags/:tag_name/release, PUT /projects/:id/repository/tags/:tag_name/release
fn a_release_is_made_once_and_changed(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (told, activity) =
        (queued_events(forge).len(), activity_in(forge, &fixture.cast.project).len());
    let path = format!("{}/v1.0.0/release", fixture.tags);
    let token = fixture.token("developer");
    let send = |method: &str, text: &str| {
        forge.request(method, &path).token(token).form(&[("description", text)]).send()
    };
    assert_eq!(send("PUT", "early").expect(404), message("Release does not exist"));
    let made = send("POST", " Amazing\nünï ");
    made.expect(201);
    let shown = json!({"tag_name": "v1.0.0", "description": " Amazing\nünï "});
    assert_eq!(made.text(), shown.to_string());
    assert_eq!(send("POST", "again").expect(409), message("Release already exists"));
    let tag = || forge.get(&format!("{}/v1.0.0", fixture.tags)).token(token).send().expect(200);
    assert_eq!(tag()["release"], shown);
    let changed = send("PUT", "Better");
    changed.expect(200);
    let shown = json!({"tag_name": "v1.0.0", "description": "Better"});
    assert_eq!(changed.text(), shown.to_string());
    assert_eq!(tag()["release"], shown);
    assert_eq!(send("PUT", "Better").expect(200), shown);
    let list = forge.get(&fixture.tags).token(ROOT).send().expect(200);
    assert_eq!((&list[0]["release"], &list[1]["release"]), (&Value::Null, &shown));
    // Releases create neither feed events nor outbox events.
    assert_eq!(queued_events(forge).len(), told);
    assert_eq!(activity_in(forge, &fixture.cast.project).len(), activity);
}

/// POST /projects/:id/repository/tags/:tag_name/release, PUT /projects/:id/repository/tags/:tag_name/release
fn a_release_belongs_to_a_tag_that_exists(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for name in ["missing", "master", "..", "HEAD", "-x", "v1", &fixture.id("v1.0.0")] {
        for method in ["POST", "PUT"] {
            let path = format!("{}/{name}/release", fixture.tags);
            for text in ["d", " "] {
                let form = [("description", text)];
                let answer = forge.request(method, &path).token(ROOT).form(&form).send();
                assert_eq!(answer.expect(404), message("Tag does not exist"), "{name}");
            }
        }
    }
}

/// POST /projects/:id/repository/tags/:tag_name/release, PUT /projects/:id/repository/tags/:tag_name/release
fn a_release_says_something(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let path = format!("{}/v1.0.0/release", fixture.tags);
    for method in ["POST", "PUT"] {
        let answer = forge.request(method, &path).token(ROOT).send().expect(400);
        assert_eq!(answer, error("description is missing"));
        for blank in ["", " \n"] {
            let form = [("description", blank)];
            let answer = forge.request(method, &path).token(ROOT).form(&form).send();
            assert_eq!(answer.expect(400), not_given("description"));
        }
    }
    let tag = forge.get(&format!("{}/v1.0.0", fixture.tags)).token(ROOT).send().expect(200);
    assert_eq!(tag["release"], Value::Null);
}

/// POST /projects/:id/repository/tags/:tag_name/release
fn tags_may_have_slashes_dots_and_suffixes(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for name in ["a/b.c", "a/d", "x/release", "release"] {
        new_tag(forge, &fixture, &[("tag_name", name), ("ref", "master")]);
    }
    for (path, name) in
        [("a/b.c", "a/b.c"), ("a%2Fd", "a/d"), ("x/release", "x/release"), ("release", "release")]
    {
        let path = format!("{}/{path}/release", fixture.tags);
        let made = forge.post(&path).token(ROOT).form(&[("description", name)]).send();
        assert_eq!(made.expect(201), json!({"tag_name": name, "description": name}));
    }
}

/// POST /projects/:id/repository/tags/:tag_name/release
fn of_two_releases_made_at_once_one_is_made(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for round in 0..5 {
        let name = format!("r{round}");
        new_tag(forge, &fixture, &[("tag_name", &name), ("ref", "master")]);
        let path = format!("{}/{name}/release", fixture.tags);
        let create =
            |text: &str| forge.post(&path).token(ROOT).form(&[("description", text)]).send();
        let answers = at_once([&|| create("one"), &|| create("two")]);
        assert_eq!(statuses(&answers), [201, 409]);
    }
}
