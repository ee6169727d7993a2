//! Concurrent calls that conflict: reference sections 1.12, 2.4, 2.6, 4.4.

use std::sync::Barrier;
use std::thread;

use hexforge_domain::outbox::SystemEvent;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Response, on_every_store};
use serde_json::json;

use crate::api::groups::group_support::new_group;
use crate::api::support::{field_error, id_of, queued_events, read_store};

on_every_store!(
    of_two_projects_of_one_path_made_at_once_one_is_made,
    of_two_groups_of_one_path_made_at_once_one_is_made,
    a_project_made_while_its_group_goes_is_not_left_behind_over_http,
);

const ROUNDS: usize = 5;

/// Sends calls concurrently, and returns their responses.
pub fn at_once<const N: usize>(calls: [&(dyn Fn() -> Response + Sync); N]) -> [Response; N] {
    let start = Barrier::new(N);
    thread::scope(|scope| {
        let sent = calls.map(|call| {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                call()
            })
        });
        sent.map(|sent| sent.join().expect("sending does not panic"))
    })
}

/// The statuses of responses, sorted.
pub fn statuses<const N: usize>(answers: &[Response; N]) -> [u16; N] {
    let mut statuses = answers.each_ref().map(|answer| answer.status);
    statuses.sort_unstable();
    statuses
}

/// POST /projects
fn of_two_projects_of_one_path_made_at_once_one_is_made(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    for round in 0..ROUNDS {
        let create = |name: String| {
            let path = format!("ship{round}");
            forge.post("/projects").token(&token).form(&[("name", &name), ("path", &path)]).send()
        };
        let before = queued_events(forge).len();
        let answers =
            at_once([&|| create(format!("One {round}")), &|| create(format!("Two {round}"))]);
        assert_eq!(statuses(&answers), [201, 400]);
        let refused = answers.iter().find(|answer| answer.status == 400).expect("one of them");
        assert_eq!(refused.json(), field_error("path", "has already been taken"));
        // The refused call left neither a row nor an event.
        assert_eq!(
            queued_events(forge).len() - before,
            2,
            "the creation, and the membership of the owner"
        );
        let own = forge.get("/projects/owned").token(&token).send();
        assert_eq!(own.header("X-Total"), Some((round + 1).to_string().as_str()));
        let events = forge.get(&format!("/users/{ada}/events")).token(&token).send();
        assert_eq!(events.header("X-Total"), Some((round + 1).to_string().as_str()));
    }
}

/// POST /groups
fn of_two_groups_of_one_path_made_at_once_one_is_made(forge: &Forge) {
    let (_, token) = forge.user("ada");
    for round in 0..ROUNDS {
        let create = |name: String| {
            let path = format!("crew{round}");
            forge.post("/groups").token(&token).form(&[("name", &name), ("path", &path)]).send()
        };
        let before = queued_events(forge).len();
        let answers =
            at_once([&|| create(format!("One {round}")), &|| create(format!("Two {round}"))]);
        assert_eq!(statuses(&answers), [201, 400]);
        let refused = answers.iter().find(|answer| answer.status == 400).expect("one of them");
        let text = "Failed to save group {:path=>[\"has already been taken\"]}";
        assert_eq!(refused.json(), json!({ "message": text }));
        assert_eq!(
            queued_events(forge).len() - before,
            2,
            "the creation, and the membership of the owner"
        );
        let owned = forge.get("/groups/owned").token(&token).send();
        assert_eq!(owned.header("X-Total"), Some((round + 1).to_string().as_str()));
    }
}

/// DELETE /groups/:id, POST /projects
fn a_project_made_while_its_group_goes_is_not_left_behind_over_http(forge: &Forge) {
    for round in 0..ROUNDS {
        let crew = new_group(forge, ROOT, "crew", &[]);
        let id = id_of(&crew).to_string();
        let before = queued_events(forge).len();
        let [made, gone] = at_once([
            &|| {
                let form = [("name", "Ship"), ("namespace_id", id.as_str())];
                forge.post("/projects").token(ROOT).form(&form).send()
            },
            &|| forge.delete("/groups/crew").token(ROOT).send(),
        ]);
        assert_eq!(gone.status, 200, "round {round}");
        let told = queued_events(forge).split_off(before);
        let count = |wanted: fn(&SystemEvent) -> bool| told.iter().filter(|n| wanted(n)).count();
        let created = count(|event| matches!(event, SystemEvent::ProjectCreated(_)));
        let destroyed = count(|event| matches!(event, SystemEvent::ProjectDestroyed(_)));
        match made.status {
            // The project existed when the group was removed, and was removed with it.
            201 => assert_eq!((created, destroyed), (1, 1), "round {round}"),
            // The group was removed first.
            400 => {
                assert_eq!(made.json(), field_error("namespace", "is not valid"), "round {round}");
                assert_eq!((created, destroyed), (0, 0), "round {round}");
            }
            other => panic!("round {round}: {other} {}", made.text()),
        }
        let all = forge.get("/projects/all").token(ROOT).send();
        assert_eq!(all.header("X-Total"), Some("0"), "round {round}");
        forge.get("/groups/crew").token(ROOT).send().expect(404);
        let left = read_store(forge, |tx| {
            tx.projects().count_in(hexforge_domain::id::NamespaceId(id_of(&crew)))
        });
        assert_eq!(left, 0, "round {round}");
    }
}
