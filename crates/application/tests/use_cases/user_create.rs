//! Creating accounts.

use crate::support::{World, actor, field_errors, invalid};
use hexforge_application::error::Error;
use hexforge_application::user;
use hexforge_application::user::fields::UserFields;
use hexforge_domain::outbox::{SystemEvent, UserFacts};
use hexforge_domain::policy::Actor;
use hexforge_domain::text::Secret;
use hexforge_domain::user::{
    Appearance, Identity, PasswordHash, Privileges, Profile, ProjectsLimit, UserState,
};
use hexforge_domain_testing::builders::{a_moment, a_text, a_user, an_address};

/// The required fields of the account `ada`.
fn ada() -> UserFields {
    UserFields {
        email: Some("ada@example.com".into()),
        password: Some(Secret::new("engine42")),
        name: Some("Ada Lovelace".into()),
        username: Some("ada".into()),
        ..UserFields::default()
    }
}

#[test]
fn a_new_account_has_the_defaults() {
    let world = World::new();
    let made = user::create(&world.app, world.admin(), &ada()).expect("an administrator may");
    assert!(made.can_create_group() && made.can_create_project());
    assert_eq!(made.identities, []);
    let user = made.user;
    assert_eq!(world.reload(&user), user, "what is answered is what is stored");
    assert_eq!(user.username.as_str(), "ada");
    assert_eq!(user.name.as_str(), "Ada Lovelace");
    assert_eq!(user.email, an_address("ada@example.com"));
    assert_eq!(user.state, UserState::Active);
    assert_eq!(
        user.privileges,
        Privileges {
            admin: false,
            external: false,
            can_create_group: true,
            projects_limit: ProjectsLimit(100),
        }
    );
    assert_eq!(user.profile, Profile::default());
    assert_eq!(user.appearance, Appearance { theme_id: 2, color_scheme_id: 1 });
    assert!(!user.two_factor_enabled);
    assert_eq!(user.avatar, None);
    assert_eq!(user.confirmed_at, Some(a_moment()));
    assert_eq!((user.last_sign_in_at, user.current_sign_in_at), (None, None));
    assert_eq!((user.created_at, user.updated_at), (a_moment(), a_moment()));
}

#[test]
fn everything_that_is_given_is_kept() {
    let world = World::new();
    let given = |text: &str| Some(text.to_owned());
    let fields = UserFields {
        bio: given("First programmer"),
        location: given("London"),
        organization: given("Analytical Engines"),
        skype: given("ada.skype"),
        linkedin: given("ada.linkedin"),
        twitter: given("<i>ada.twitter</i>"),
        website_url: given("https://ada.example.com"),
        projects_limit: given("7"),
        provider: given("directory"),
        extern_uid: given("uid=ada"),
        admin: Some(true),
        can_create_group: Some(false),
        external: Some(false),
        ..ada()
    };
    let made = user::create(&world.app, world.admin(), &fields).expect("all of it is valid");
    assert_eq!(
        made.user.profile,
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
        made.user.privileges,
        Privileges {
            admin: true,
            external: false,
            can_create_group: false,
            projects_limit: ProjectsLimit(7),
        }
    );
    assert_eq!(made.identities, [identity("directory", Some("uid=ada"))]);
    assert_eq!(world.reload(&made.user), made.user);
    let stored = world.read(|tx| tx.identities().of_users(&[made.user.id]));
    assert_eq!(stored, [(made.user.id, identity("directory", Some("uid=ada")))]);
}

fn identity(provider: &str, extern_uid: Option<&str>) -> Identity {
    Identity { provider: a_text(provider), extern_uid: extern_uid.map(a_text) }
}

#[test]
fn the_password_is_stored_as_its_hash() {
    let world = World::new();
    user::create(&world.app, world.admin(), &ada()).expect("an administrator may");
    let (_, hash) = world.read(|tx| tx.users().find_by_login("ada")).expect("the new account");
    assert_eq!(hash, PasswordHash::new("fake$engine42"));
}

#[test]
fn the_address_is_stored_trimmed_and_in_lower_case() {
    let world = World::new();
    let fields = UserFields { email: Some("  Ada@Example.COM ".into()), ..ada() };
    let made = user::create(&world.app, world.admin(), &fields).expect("a valid address");
    assert_eq!(made.user.email, an_address("ada@example.com"));
}

#[test]
fn a_new_account_has_a_personal_namespace() {
    let world = World::new();
    let made = user::create(&world.app, world.admin(), &ada()).expect("an administrator may");
    let found = world.read(|tx| tx.namespaces().find_by_path(made.user.username.path()));
    let namespace = found.expect("the personal namespace");
    assert_eq!(namespace.owner, Some(made.user.id));
    assert_eq!(namespace.path, *made.user.username.path());
}

#[test]
fn the_news_of_a_new_account_is_recorded_once() {
    let world = World::new();
    let made = user::create(&world.app, world.admin(), &ada()).expect("an administrator may");
    assert_eq!(world.outbox_events(), [SystemEvent::UserCreated(UserFacts::from(&made.user))]);
    assert_eq!(world.stored().outbox[0].at, a_moment());
}

#[test]
fn an_external_account_gets_neither_groups_nor_projects_whatever_is_given() {
    let world = World::new();
    let fields = UserFields {
        external: Some(true),
        can_create_group: Some(true),
        projects_limit: Some("7".into()),
        ..ada()
    };
    let made = user::create(&world.app, world.admin(), &fields).expect("all of it is valid");
    assert!(made.user.privileges.external);
    assert!(!made.can_create_group() && !made.can_create_project());
    assert_eq!(made.user.privileges.projects_limit, ProjectsLimit(0));
}

#[test]
fn only_administrators_make_accounts() {
    let world = World::new();
    let normal = actor(&world.user(a_user("norma")));
    let error = world.refusal(|app| user::create(app, normal, &ada()));
    assert_error!(error, Error::Forbidden(None));
    let error = world.refusal(|app| user::create(app, Actor::Anonymous, &ada()));
    assert_error!(error, Error::Unauthenticated);
}

#[test]
fn permission_is_asked_before_fields() {
    let world = World::new();
    let normal = actor(&world.user(a_user("norma")));
    let error = world.refusal(|app| user::create(app, normal, &UserFields::default()));
    assert_error!(error, Error::Forbidden(None));
}

#[test]
fn the_first_missing_field_is_named() {
    let world = World::new();
    let admin = world.admin();
    let mut fields = UserFields { bio: Some("b".repeat(256)), ..UserFields::default() };
    assert_error!(world.refusal(|app| user::create(app, admin, &fields)), Error::NotGiven("email"));
    // Invalid and taken values are not reported while a field is missing.
    fields.email = Some("boss@example.com".into());
    assert_error!(
        world.refusal(|app| user::create(app, admin, &fields)),
        Error::NotGiven("password")
    );
    fields.password = Some(Secret::new("short"));
    assert_error!(world.refusal(|app| user::create(app, admin, &fields)), Error::NotGiven("name"));
    fields.name = Some("Ada".into());
    assert_error!(
        world.refusal(|app| user::create(app, admin, &fields)),
        Error::NotGiven("username")
    );
}

#[test]
fn all_wrong_fields_are_named_at_once() {
    let world = World::new();
    let admin = world.admin();
    let fields = UserFields {
        email: Some("no address".into()),
        password: Some(Secret::new("short")),
        name: Some("<b></b>".into()),
        username: Some("-ada".into()),
        bio: Some("b".repeat(256)),
        projects_limit: Some("many".into()),
        extern_uid: Some("uid=ada".into()),
        ..UserFields::default()
    };
    let error = world.refusal(|app| user::create(app, admin, &fields));
    let expected = field_errors([
        ("email", "is invalid"),
        ("password", "is too short (minimum is 8 characters)"),
        ("name", "can't be blank"),
        (
            "username",
            "can contain only letters, digits, '_', '-' and '.'. \
             Cannot start with '-' or end in '.', '.git' or '.atom'.",
        ),
        ("bio", "is too long (maximum is 255 characters)"),
        ("projects_limit", "is not a number"),
        ("identities.provider", "can't be blank"),
    ]);
    assert_eq!(invalid(error), expected);
}

#[test]
fn a_reserved_name_is_refused() {
    let world = World::new();
    let admin = world.admin();
    let fields = UserFields { username: Some("groups".into()), ..ada() };
    let error = world.refusal(|app| user::create(app, admin, &fields));
    assert_eq!(invalid(error), field_errors([("username", "groups is a reserved name")]));
}

#[test]
fn a_negative_limit_is_refused() {
    let world = World::new();
    let admin = world.admin();
    let fields = UserFields { projects_limit: Some("-1".into()), ..ada() };
    let error = world.refusal(|app| user::create(app, admin, &fields));
    let expected = field_errors([("projects_limit", "must be greater than or equal to 0")]);
    assert_eq!(invalid(error), expected);
}

#[test]
fn an_identity_may_lack_its_name_at_the_provider() {
    let world = World::new();
    let fields = UserFields { provider: Some("directory".into()), ..ada() };
    let made = user::create(&world.app, world.admin(), &fields).expect("a provider is enough");
    assert_eq!(made.identities, [identity("directory", None)]);
}

#[test]
fn a_name_at_a_provider_belongs_to_one_user() {
    let world = World::new();
    let bob = world.user(a_user("bob"));
    world.write(|tx| tx.identities().put(bob.id, &identity("directory", Some("7"))));
    let admin = world.admin();
    let at = |provider: &str| UserFields {
        provider: Some(provider.into()),
        extern_uid: Some("7".into()),
        ..ada()
    };
    let error = world.refusal(|app| user::create(app, admin, &at("directory")));
    assert_eq!(invalid(error), field_errors([("identities.extern_uid", "has already been taken")]));
    user::create(&world.app, admin, &at("elsewhere")).expect("another provider, another name");
}
