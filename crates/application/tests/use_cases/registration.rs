//! Registration of strangers.

use hexforge_application::app::SignUp;
use hexforge_application::browser_session::{self, NewSession};
use hexforge_application::error::{Entity, Error};
use hexforge_application::user::fields::UserFields;
use hexforge_application::user::register::register;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::text::Secret;
use hexforge_domain::user::UserState;

use crate::support::World;

fn world(signup: SignUp) -> World {
    let mut world = World::new();
    world.app.settings.signup = signup;
    world
}

fn eve(world: &World) -> Result<Option<NewSession>, Error> {
    let fields = UserFields {
        name: Some("Eve".to_owned()),
        username: Some("eve".to_owned()),
        email: Some("eve@home.test".to_owned()),
        password: Some(Secret::new("secret42")),
        ..UserFields::default()
    };
    let address = Some("203.0.113.5".parse().expect("an address"));
    register(&world.app, &fields, address, "links")
}

#[test]
fn an_account_is_created_with_its_session() {
    let world = world(SignUp::Open);
    let new = eve(&world).expect("it is open").expect("the account is active");
    let found = browser_session::identify(&world.app, &new.token).expect("the store works");
    assert_eq!(found, Some(new.signed_in));
}

#[test]
fn a_busy_store_does_not_take_the_username() {
    let mut world = world(SignUp::Open);
    let store = world.failing_store();
    for passing in 0..3 {
        store.busy(passing, 1);
        match eve(&world) {
            Err(error) => assert_error!(error, Error::Store(StoreError::Busy)),
            Ok(_) => {
                assert_eq!(passing, 1, "everything is written in the first transaction");
                return;
            }
        }
        assert_eq!(world.stored().accounts.len(), 0);
    }
    panic!("nobody could register");
}

#[test]
fn an_account_that_waits_has_no_session() {
    let world = world(SignUp::Approval);
    assert_eq!(eve(&world).expect("it is open"), None);
    let accounts = world.stored().accounts;
    assert_eq!(accounts[0].user.state, UserState::Blocked);
    assert!(accounts[0].browser_sessions.is_empty());
    let world = self::world(SignUp::Off);
    assert_error!(world.refusal(|_| eve(&world)), Error::NotFound(Entity::Record));
}
