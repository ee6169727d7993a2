//! How many queries a call sends to its database, the look-up of the token included: a number that does
//! not depend on how much there is.

use std::sync::atomic::Ordering;

use hexforge_http_actix::Dialect;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Backend, Forge, ForgeOptions};

#[test]
fn calls_send_a_bounded_number_of_queries_on_sqlite() {
    calls_send_a_bounded_number_of_queries(Backend::Sqlite);
}

#[test]
fn calls_send_a_bounded_number_of_queries_on_postgres() {
    calls_send_a_bounded_number_of_queries(Backend::Postgres);
}

/// GET /user, GET /users, GET /projects/:id/repository/compare, GET /projects, GET /projects/visible, GET /groups
fn calls_send_a_bounded_number_of_queries(backend: Backend) {
    let options = ForgeOptions { backend, dialect: Dialect::Specification };
    let Some(forge) = Forge::start(options) else { return };
    let few = counts(&forge);
    for number in 0..30 {
        forge.new_user(&format!("user-{number}"), &[]);
        let name = format!("project-{number}");
        let path = format!("group-{number}");
        forge.post("/projects").token(ROOT).form(&[("name", &name)]).send().expect(201);
        forge
            .post("/groups")
            .token(ROOT)
            .form(&[("name", &path), ("path", &path)])
            .send()
            .expect(201);
    }
    let many = counts(&forge);
    for ((call, few), (_, many)) in few.iter().zip(&many) {
        // An empty list sends fewer; none sends more than a handful.
        assert!(few <= many && *many <= 10, "{call}: {few} queries, then {many}");
    }
    let of = |call: &str| many.iter().find(|(name, _)| *name == call).map(|(_, count)| *count);
    // The token, the account, its identities, its number of projects.
    assert_eq!(of("/user"), Some(4));
    // The token, the total, the ids, the rows, identities, numbers of projects.
    assert_eq!(of("/users?per_page=20"), Some(6));
    // The token and the project: what is in repositories is asked for there, once.
    let before = forge.queries.load(Ordering::Relaxed);
    let compared = forge.get("/projects/1/repository/compare?from=x&to=y").token(ROOT).send();
    assert_eq!((compared.status, forge.queries.load(Ordering::Relaxed) - before), (200, 2));
    let again = counts(&forge);
    assert_eq!(many, again);
}

fn counts(forge: &Forge) -> Vec<(&'static str, u64)> {
    [
        "/user",
        "/users?per_page=20",
        "/projects?per_page=20",
        "/projects/visible",
        "/groups?per_page=20",
    ]
    .map(|call| {
        let before = forge.queries.load(Ordering::Relaxed);
        forge.get(call).token(ROOT).send().expect(200);
        (call, forge.queries.load(Ordering::Relaxed) - before)
    })
    .to_vec()
}
