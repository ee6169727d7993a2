//! Blocking and unblocking accounts, by administrators and by the directory.

use crate::support::{World, actor};
use chrono::TimeDelta;
use hexforge_application::error::{Entity, Error, ForbiddenReason};
use hexforge_application::sign_in::{self, Credentials};
use hexforge_application::user::block;
use hexforge_domain::change::Change;
use hexforge_domain::id::UserId;
use hexforge_domain::policy::Actor;
use hexforge_domain::user::state::DirectoryCommand;
use hexforge_domain::user::{User, UserCommand, UserState};
use hexforge_domain_testing::builders::{a_moment, a_token, a_user};

/// A world in which `ada` is in a state.
fn world_with_ada(state: UserState) -> (World, Actor, User) {
    let world = World::new();
    let admin = world.admin();
    let ada = world.user(a_user("ada"));
    let ada = world.in_state(&ada, state);
    (world, admin, ada)
}

#[test]
fn a_command_changes_the_state_and_nothing_else() {
    for (before, command, after) in [
        (UserState::Active, UserCommand::Block, UserState::Blocked),
        (UserState::Blocked, UserCommand::Unblock, UserState::Active),
    ] {
        let (world, admin, ada) = world_with_ada(before);
        world.clock.advance(TimeDelta::hours(1));
        let change = block::apply(&world.app, admin, ada.id, command).expect("by hand");
        assert_eq!(change, Change::Applied(after));
        let updated_at = a_moment() + TimeDelta::hours(1);
        assert_eq!(world.reload(&ada), User { state: after, updated_at, ..ada });
        assert_eq!(world.outbox_events(), []);
    }
}

#[test]
fn a_command_that_already_holds_changes_nothing() {
    for (state, command) in
        [(UserState::Active, UserCommand::Unblock), (UserState::Blocked, UserCommand::Block)]
    {
        let (world, admin, ada) = world_with_ada(state);
        world.clock.advance(TimeDelta::hours(1));
        let before = world.stored();
        let change = block::apply(&world.app, admin, ada.id, command).expect("by hand");
        assert_eq!(change, Change::Unchanged);
        assert_eq!(world.stored(), before);
    }
}

#[test]
fn a_block_of_the_directory_is_not_touched_by_hand() {
    let (world, admin, ada) = world_with_ada(UserState::DirectoryBlocked);
    let error = world.refusal(|app| block::apply(app, admin, ada.id, UserCommand::Block));
    assert_error!(error, Error::Forbidden(Some(ForbiddenReason::BlockOfDirectory)));
    let error = world.refusal(|app| block::apply(app, admin, ada.id, UserCommand::Unblock));
    assert_error!(error, Error::Forbidden(Some(ForbiddenReason::UnblockOfDirectory)));
}

#[test]
fn nobody_can_be_blocked_under_an_unknown_id() {
    let (world, admin, _) = world_with_ada(UserState::Active);
    for command in [UserCommand::Block, UserCommand::Unblock] {
        let error = world.refusal(|app| block::apply(app, admin, UserId(9999), command));
        assert_error!(error, Error::NotFound(Entity::User));
    }
}

#[test]
fn only_administrators_block() {
    let (world, _, ada) = world_with_ada(UserState::Active);
    for command in [UserCommand::Block, UserCommand::Unblock] {
        for id in [ada.id, UserId(9999)] {
            let error = world.refusal(|app| block::apply(app, actor(&ada), id, command));
            assert_error!(error, Error::Forbidden(None));
            let error = world.refusal(|app| block::apply(app, Actor::Anonymous, id, command));
            assert_error!(error, Error::Unauthenticated);
        }
    }
}

#[test]
fn an_administrator_may_block_itself() {
    let (world, admin, _) = world_with_ada(UserState::Active);
    let own = admin.user().expect("a user");
    let change = block::apply(&world.app, admin, own, UserCommand::Block);
    assert_eq!(change.expect("nothing forbids it"), Change::Applied(UserState::Blocked));
}

#[test]
fn unblocking_brings_the_same_tokens_back() {
    let (world, admin, ada) = world_with_ada(UserState::Active);
    world.token(a_token(ada.id, "ada's token"));
    let credentials =
        Credentials { private_token: Some("ada's token".into()), ..Credentials::default() };
    let caller = || sign_in::identify(&world.app, &credentials).expect("no sudo, no bearer");
    let give = |command| block::apply(&world.app, admin, ada.id, command).expect("by hand");
    assert_eq!(caller(), actor(&ada));
    give(UserCommand::Block);
    assert_eq!(caller(), Actor::Anonymous);
    give(UserCommand::Unblock);
    assert_eq!(caller(), actor(&ada));
}

#[test]
fn the_directory_blocks_and_unblocks_by_name() {
    use DirectoryCommand::{Block, Unblock};
    for (before, command, expected) in [
        (UserState::Active, Block, Change::Applied(UserState::DirectoryBlocked)),
        (UserState::DirectoryBlocked, Unblock, Change::Applied(UserState::Active)),
        (UserState::Active, Unblock, Change::Unchanged),
        (UserState::DirectoryBlocked, Block, Change::Unchanged),
        (UserState::Blocked, Block, Change::Unchanged),
        (UserState::Blocked, Unblock, Change::Unchanged),
    ] {
        let (world, _, ada) = world_with_ada(before);
        let change = block::follow_directory(&world.app, Actor::OPERATOR, "ada", command);
        assert_eq!(change.expect("the operator may"), expected, "{before:?} {command:?}");
        let after = match expected {
            Change::Applied(state) => state,
            Change::Unchanged => before,
        };
        assert_eq!(world.reload(&ada), User { state: after, ..ada });
        assert_eq!(world.outbox_events(), []);
    }
}

#[test]
fn the_directory_knows_users_by_exactly_their_name() {
    let (world, admin, _) = world_with_ada(UserState::Active);
    for name in ["Ada", "ghost", ""] {
        let block = DirectoryCommand::Block;
        let error = world.refusal(|app| block::follow_directory(app, admin, name, block));
        assert_error!(error, Error::NotFound(Entity::User));
    }
}

#[test]
fn only_administrators_speak_for_the_directory() {
    let (world, _, ada) = world_with_ada(UserState::Active);
    let block = DirectoryCommand::Block;
    let error = world.refusal(|app| block::follow_directory(app, actor(&ada), "ada", block));
    assert_error!(error, Error::Forbidden(None));
    let error = world.refusal(|app| block::follow_directory(app, Actor::Anonymous, "ada", block));
    assert_error!(error, Error::Unauthenticated);
}
