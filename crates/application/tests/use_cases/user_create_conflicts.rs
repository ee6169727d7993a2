//! The errors for a new account whose username or e-mail address is taken, and their precedence.

use crate::support::{World, field_errors, invalid};
use hexforge_application::error::{Conflict, Error};
use hexforge_application::user;
use hexforge_application::user::fields::UserFields;
use hexforge_domain::namespace::NamespacePath;
use hexforge_domain::policy::Actor;
use hexforge_domain::text::Secret;
use hexforge_domain_testing::builders::{a_moment, a_user, an_address};

const TAKEN: &str = "has already been taken";

/// A world in which `Bob` has the addresses `bob@example.com` and, as a secondary one,
/// `bobby@example.com`.
fn world_with_bob() -> (World, Actor) {
    let world = World::new();
    let bob = world.user(a_user("Bob").email("bob@example.com"));
    world.write(|tx| tx.emails().insert(bob.id, &an_address("bobby@example.com")));
    let admin = world.admin();
    (world, admin)
}

fn asking_for(username: &str, email: &str) -> UserFields {
    UserFields {
        email: Some(email.into()),
        password: Some(Secret::new("engine42")),
        name: Some("Somebody".into()),
        username: Some(username.into()),
        ..UserFields::default()
    }
}

/// Makes other fields invalid too.
fn otherwise_wrong(fields: UserFields) -> UserFields {
    UserFields {
        password: Some(Secret::new("short")),
        bio: Some("b".repeat(256)),
        projects_limit: Some("-1".into()),
        extern_uid: Some("without a provider".into()),
        ..fields
    }
}

#[test]
fn a_primary_address_of_somebody_is_a_conflict() {
    let (world, admin) = world_with_bob();
    for address in ["bob@example.com", " BOB@Example.com "] {
        let error = world.refusal(|app| user::create(app, admin, &asking_for("ada", address)));
        assert_error!(error, Error::Conflict(Conflict::EmailTaken));
    }
}

#[test]
fn a_primary_address_of_somebody_hides_every_other_problem() {
    let (world, admin) = world_with_bob();
    for username in ["Bob", "bob", "-not a name", "groups"] {
        let fields = otherwise_wrong(asking_for(username, "bob@example.com"));
        let error = world.refusal(|app| user::create(app, admin, &fields));
        assert_error!(error, Error::Conflict(Conflict::EmailTaken));
    }
}

#[test]
fn a_name_of_somebody_is_a_conflict() {
    let (world, admin) = world_with_bob();
    let fields = asking_for("Bob", "new@example.com");
    let error = world.refusal(|app| user::create(app, admin, &fields));
    assert_error!(error, Error::Conflict(Conflict::UsernameTaken));
}

#[test]
fn a_name_of_somebody_hides_problems_of_fields() {
    let (world, admin) = world_with_bob();
    for address in ["new@example.com", "bobby@example.com", "no address"] {
        let fields = otherwise_wrong(asking_for("Bob", address));
        let error = world.refusal(|app| user::create(app, admin, &fields));
        assert_error!(error, Error::Conflict(Conflict::UsernameTaken));
    }
}

#[test]
fn a_name_in_another_case_is_a_problem_of_its_field() {
    let (world, admin) = world_with_bob();
    for username in ["bob", "BOB"] {
        let fields = asking_for(username, "new@example.com");
        let error = world.refusal(|app| user::create(app, admin, &fields));
        assert_eq!(invalid(error), field_errors([("username", TAKEN)]));
    }
}

#[test]
fn a_path_of_another_namespace_is_a_problem_of_the_name() {
    let (world, admin) = world_with_bob();
    let cid = world.user(a_user("cid"));
    let team = NamespacePath::parse("Team").expect("a path");
    world.write(|tx| tx.namespaces().rename_personal(cid.id, &team, a_moment()));
    for username in ["Team", "team"] {
        let fields = asking_for(username, "new@example.com");
        let error = world.refusal(|app| user::create(app, admin, &fields));
        assert_eq!(invalid(error), field_errors([("username", TAKEN)]));
    }
}

#[test]
fn a_secondary_address_of_somebody_is_a_problem_of_its_field() {
    let (world, admin) = world_with_bob();
    let fields = asking_for("ada", "Bobby@example.com");
    let error = world.refusal(|app| user::create(app, admin, &fields));
    assert_eq!(invalid(error), field_errors([("email", TAKEN)]));
}

#[test]
fn taken_and_invalid_values_are_reported_together() {
    let (world, admin) = world_with_bob();
    let fields =
        UserFields { projects_limit: Some("-1".into()), ..asking_for("bob", "bobby@example.com") };
    let error = world.refusal(|app| user::create(app, admin, &fields));
    let expected = field_errors([
        ("projects_limit", "must be greater than or equal to 0"),
        ("email", TAKEN),
        ("username", TAKEN),
    ]);
    assert_eq!(invalid(error), expected);
}
