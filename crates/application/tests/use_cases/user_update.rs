//! Changing accounts.

use crate::support::{FIRST_PAGE, World, actor, field_errors, invalid};
use chrono::TimeDelta;
use hexforge_application::error::{Conflict, Entity, Error};
use hexforge_application::user;
use hexforge_application::user::fields::UserFields;
use hexforge_domain::id::UserId;
use hexforge_domain::policy::Actor;
use hexforge_domain::text::Secret;
use hexforge_domain::user::{PasswordHash, Privileges, Profile, ProjectsLimit, User, Username};
use hexforge_domain_testing::builders::{a_moment, a_text, a_token, a_user, an_address};

/// A world with an administrator and `ada`.
fn world_with_ada() -> (World, Actor, User) {
    let world = World::new();
    let admin = world.admin();
    let profile = Profile { bio: Some(a_text("First programmer")), ..Profile::default() };
    let ada = world.user(a_user("ada").profile(profile));
    (world, admin, ada)
}

fn given(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn nothing_given_changes_nothing() {
    let (world, admin, ada) = world_with_ada();
    let before = world.stored();
    world.clock.advance(TimeDelta::hours(1));
    let answer = user::update(&world.app, admin, ada.id, &UserFields::default());
    assert_eq!(answer.expect("nothing is a valid change").user, ada);
    assert_eq!(world.stored(), before);
}

#[test]
fn what_is_given_is_changed_and_answered() {
    let (world, admin, ada) = world_with_ada();
    world.clock.advance(TimeDelta::hours(1));
    let fields = UserFields {
        name: given("Ada King"),
        location: given("London"),
        organization: given("Analytical Engines"),
        skype: given("ada.skype"),
        linkedin: given("ada.linkedin"),
        twitter: given("ada.twitter"),
        website_url: given("https://ada.example.com"),
        projects_limit: given("7"),
        admin: Some(true),
        can_create_group: Some(false),
        ..UserFields::default()
    };
    let changed = user::update(&world.app, admin, ada.id, &fields).expect("all of it is valid");
    let user = &changed.user;
    assert_eq!(world.reload(&ada), *user, "what is answered is what is stored");
    assert_eq!(user.name.as_str(), "Ada King");
    assert_eq!(
        user.profile,
        Profile {
            bio: Some(a_text("First programmer")),
            location: Some(a_text("London")),
            organization: Some(a_text("Analytical Engines")),
            skype: Some(a_text("ada.skype")),
            linkedin: Some(a_text("ada.linkedin")),
            twitter: Some(a_text("ada.twitter")),
            website_url: Some(a_text("https://ada.example.com")),
        }
    );
    assert_eq!(
        user.privileges,
        Privileges {
            admin: true,
            external: false,
            can_create_group: false,
            projects_limit: ProjectsLimit(7),
        }
    );
    assert_eq!((&user.username, &user.email), (&ada.username, &ada.email));
    assert_eq!(user.created_at, a_moment());
    assert_eq!(user.updated_at, a_moment() + TimeDelta::hours(1));
}

#[test]
fn a_change_is_no_news() {
    let (world, admin, ada) = world_with_ada();
    let fields = UserFields {
        username: given("countess"),
        email: given("countess@example.com"),
        password: Some(Secret::new("engine42")),
        ..UserFields::default()
    };
    user::update(&world.app, admin, ada.id, &fields).expect("all of it is valid");
    assert_eq!(world.outbox_events(), []);
}

#[test]
fn flags_that_are_not_given_stay() {
    let world = World::new();
    let admin = world.admin();
    let eve = world.user(a_user("eve").admin().external());
    let fields = UserFields { can_create_group: Some(false), ..UserFields::default() };
    let changed = user::update(&world.app, admin, eve.id, &fields).expect("a valid change");
    assert!(changed.user.privileges.admin && changed.user.privileges.external);
}

#[test]
fn the_last_administrator_may_be_made_a_normal_user() {
    let world = World::new();
    let admin = world.admin();
    let boss = admin.user().expect("a user");
    let fields = UserFields { admin: Some(false), ..UserFields::default() };
    let changed = user::update(&world.app, admin, boss, &fields).expect("nothing forbids it");
    assert!(!changed.user.privileges.admin);
}

#[test]
fn every_save_of_an_external_user_takes_groups_and_projects_away() {
    let (world, admin, ada) = world_with_ada();
    let none = |user: &User| {
        !user.privileges.can_create_group && user.privileges.projects_limit == ProjectsLimit(0)
    };
    let external = UserFields { external: Some(true), ..UserFields::default() };
    let changed = user::update(&world.app, admin, ada.id, &external).expect("a valid change");
    assert!(none(&changed.user), "{changed:?}");
    let more = UserFields {
        can_create_group: Some(true),
        projects_limit: given("9"),
        ..UserFields::default()
    };
    let changed = user::update(&world.app, admin, ada.id, &more).expect("a valid change");
    assert!(none(&changed.user), "{changed:?}");
    let internal = UserFields { external: Some(false), ..more };
    let changed = user::update(&world.app, admin, ada.id, &internal).expect("a valid change");
    assert!(changed.user.privileges.can_create_group);
    assert_eq!(changed.user.privileges.projects_limit, ProjectsLimit(9));
}

#[test]
fn another_password_takes_the_place_of_the_old_one_and_leaves_the_tokens() {
    let (world, admin, ada) = world_with_ada();
    let token = world.token(a_token(ada.id, "ada's token"));
    let fields = UserFields { password: Some(Secret::new("engine42")), ..UserFields::default() };
    user::update(&world.app, admin, ada.id, &fields).expect("a valid password");
    let (_, hash) = world.read(|tx| tx.users().find_by_login("ada")).expect("ada");
    assert_eq!(hash, PasswordHash::new("fake$engine42"));
    assert_eq!(world.read(|tx| tx.tokens().list(ada.id, FIRST_PAGE)).items, [token]);
}

#[test]
fn another_name_renames_the_namespace_and_frees_the_old_name() {
    let (world, admin, ada) = world_with_ada();
    let fields = UserFields { username: given("countess"), ..UserFields::default() };
    let changed = user::update(&world.app, admin, ada.id, &fields).expect("a free name");
    let path = |name: &Username| world.read(|tx| tx.namespaces().find_by_path(name.path()));
    let renamed = path(&changed.user.username).expect("the renamed namespace");
    assert_eq!((renamed.owner, renamed.path.as_str()), (Some(ada.id), "countess"));
    assert_eq!(path(&ada.username), None);
    world.user(a_user("ada").email("other@example.com"));
}

#[test]
fn the_own_name_in_another_case_is_free() {
    let (world, admin, ada) = world_with_ada();
    let fields = UserFields { username: given("Ada"), ..UserFields::default() };
    let changed = user::update(&world.app, admin, ada.id, &fields).expect("it is her own");
    assert_eq!(changed.user.username.as_str(), "Ada");
    let found = world.read(|tx| tx.namespaces().find_by_path(ada.username.path()));
    assert_eq!(found.expect("the namespace").path.as_str(), "Ada");
}

#[test]
fn ones_own_values_are_no_conflict() {
    let (world, admin, ada) = world_with_ada();
    let fields = UserFields {
        username: given("ada"),
        email: given("Ada@example.com"),
        ..UserFields::default()
    };
    let answer = user::update(&world.app, admin, ada.id, &fields).expect("nothing changes");
    assert_eq!(answer.user, ada);
}

#[test]
fn another_address_gives_the_old_one_up() {
    let (world, admin, ada) = world_with_ada();
    let fields = UserFields { email: given(" Countess@Example.com"), ..UserFields::default() };
    let changed = user::update(&world.app, admin, ada.id, &fields).expect("a free address");
    assert_eq!(changed.user.email, an_address("countess@example.com"));
    assert_eq!(world.reload(&ada).email, an_address("countess@example.com"));
    assert_eq!(world.read(|tx| tx.emails().holder(&ada.email)), None);
    assert_eq!(world.read(|tx| tx.emails().list(ada.id, FIRST_PAGE)).items, []);
}

#[test]
fn a_secondary_address_of_ones_own_changes_places_with_the_primary_one() {
    let (world, admin, ada) = world_with_ada();
    let work = an_address("ada@work.example.com");
    world.write(|tx| tx.emails().insert(ada.id, &work));
    let fields = UserFields { email: given(work.as_str()), ..UserFields::default() };
    let changed = user::update(&world.app, admin, ada.id, &fields).expect("her own address");
    assert_eq!(changed.user.email, work);
    let secondary = world.read(|tx| tx.emails().list(ada.id, FIRST_PAGE)).items;
    assert_eq!(secondary.len(), 1);
    assert_eq!(secondary[0].address, ada.email);
}

#[test]
fn what_another_user_has_is_a_conflict_that_hides_wrong_fields() {
    let (world, admin, ada) = world_with_ada();
    world.user(a_user("Bob").email("bob@example.com"));
    let username = UserFields {
        username: given("Bob"),
        password: Some(Secret::new("short")),
        ..UserFields::default()
    };
    let error = world.refusal(|app| user::update(app, admin, ada.id, &username));
    assert_error!(error, Error::Conflict(Conflict::UsernameTaken));
    let both = UserFields { email: given("BOB@example.com"), ..username };
    let error = world.refusal(|app| user::update(app, admin, ada.id, &both));
    assert_error!(error, Error::Conflict(Conflict::EmailTaken));
}

#[test]
fn what_another_user_has_in_another_way_is_a_problem_of_its_field() {
    let (world, admin, ada) = world_with_ada();
    let bob = world.user(a_user("Bob").email("bob@example.com"));
    world.write(|tx| tx.emails().insert(bob.id, &an_address("bobby@example.com")));
    let fields = UserFields {
        username: given("bob"),
        email: given("bobby@example.com"),
        ..UserFields::default()
    };
    let error = world.refusal(|app| user::update(app, admin, ada.id, &fields));
    let taken = "has already been taken";
    assert_eq!(invalid(error), field_errors([("email", taken), ("username", taken)]));
}

#[test]
fn one_wrong_field_leaves_all_others_as_they_were() {
    let (world, admin, ada) = world_with_ada();
    let fields = UserFields {
        name: given("Ada King"),
        username: given("countess"),
        email: given("countess@example.com"),
        password: Some(Secret::new("short")),
        provider: given("directory"),
        extern_uid: given("7"),
        ..UserFields::default()
    };
    let error = world.refusal(|app| user::update(app, admin, ada.id, &fields));
    let expected = field_errors([("password", "is too short (minimum is 8 characters)")]);
    assert_eq!(invalid(error), expected);
}

#[test]
fn a_missing_account_is_told_before_conflicts_and_wrong_fields() {
    let (world, admin, _) = world_with_ada();
    let fields = UserFields {
        email: given("ada@example.com"),
        password: Some(Secret::new("short")),
        ..UserFields::default()
    };
    let error = world.refusal(|app| user::update(app, admin, UserId(9999), &fields));
    assert_error!(error, Error::NotFound(Entity::Record));
}

#[test]
fn only_administrators_change_accounts_even_their_own() {
    let (world, _, ada) = world_with_ada();
    let fields = UserFields { name: given("Ada King"), ..UserFields::default() };
    let error = world.refusal(|app| user::update(app, actor(&ada), ada.id, &fields));
    assert_error!(error, Error::Forbidden(None));
    let error = world.refusal(|app| user::update(app, Actor::Anonymous, ada.id, &fields));
    assert_error!(error, Error::Unauthenticated);
}
