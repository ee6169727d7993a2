//! Blocking and unblocking accounts.

use hexforge_domain::change::Change;
use hexforge_domain::id::UserId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::user::AccountAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::user::state::DirectoryCommand;
use hexforge_domain::user::{User, UserCommand, UserState};

use crate::access;
use crate::app::App;
use crate::error::{Entity, Error, ForbiddenReason};
use crate::session;

/// Applies an administrator's command to the state of an account.
pub fn apply(
    app: &App,
    actor: Actor,
    id: UserId,
    command: UserCommand,
) -> Result<Change<UserState>, Error> {
    access::require_account_ability(actor, AccountAbility::Manage)?;
    app.store.write(|tx| {
        let user = tx.users().lock(id)?.ok_or(Error::NotFound(Entity::User))?;
        let change =
            user.state.apply(command).map_err(|_| Error::Forbidden(Some(refusal(command))))?;
        store(app, tx, user, change)
    })
}

/// Applies a command of the directory synchronisation to the state of an account.
pub fn follow_directory(
    app: &App,
    actor: Actor,
    username: &str,
    command: DirectoryCommand,
) -> Result<Change<UserState>, Error> {
    access::require_account_ability(actor, AccountAbility::Manage)?;
    app.store.write(|tx| {
        let found = tx.users().find_by_username(username)?.ok_or(Error::NotFound(Entity::User))?;
        let user = tx.users().lock(found.id)?.ok_or(Error::NotFound(Entity::User))?;
        let change = user.state.apply_directory(command);
        store(app, tx, user, change)
    })
}

fn store(
    app: &App,
    tx: &mut dyn Tx,
    user: User,
    change: Change<UserState>,
) -> Result<Change<UserState>, Error> {
    if let Change::Applied(state) = change {
        let (id, now) = (user.id, app.clock.now());
        tx.users().update(&User { state, updated_at: now, ..user })?;
        if !state.may_act() {
            // Ended for good: unblocking does not restore sessions.
            session::end_all(tx, id, None, now)?;
        }
    }
    Ok(change)
}

fn refusal(command: UserCommand) -> ForbiddenReason {
    match command {
        UserCommand::Block => ForbiddenReason::BlockOfDirectory,
        UserCommand::Unblock => ForbiddenReason::UnblockOfDirectory,
    }
}
