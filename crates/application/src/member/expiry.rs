//! Removes expired memberships. They give no access from their expiry date on, whether removed or not; the removal
//! takes them out of lists and records the events.

use chrono::NaiveDate;
use hexforge_domain::event::EventAction;
use hexforge_domain::id::UserId;
use hexforge_domain::member::is_in_force;
use hexforge_domain::outbox::MemberFacts;
use hexforge_domain::ports::store::{StoreError, Tx};

use super::membership::leave;
use super::source::Found;
use crate::app::App;
use crate::error::Error;

/// The maximum number of memberships that one transaction removes.
const BATCH: u32 = 100;

/// The number of conflicts with other transactions after which a run ends with the error.
const MAX_CONFLICTS: u32 = 3;

/// Removes all expired memberships while `go_on` returns true. Returns their number. Concurrent and repeated runs are
/// safe.
pub fn run(app: &App, go_on: &dyn Fn() -> bool) -> Result<u64, Error> {
    let (mut ended, mut conflicts) = (0, 0);
    while go_on() {
        match remove_batch(app) {
            Ok(Some(count)) => ended += count,
            Ok(None) => break,
            // Another transaction removed the user, the group or the project, or the store was busy.
            Err(Error::Store(StoreError::Busy | StoreError::Gone)) if conflicts < MAX_CONFLICTS => {
                conflicts += 1;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(ended)
}

/// Removes expired memberships of one project or group. Returns `None` when none has expired.
fn remove_batch(app: &App) -> Result<Option<u64>, Error> {
    app.store.write(|tx| {
        let today = app.today();
        let expired = tx.project_members().expired(today, BATCH)?;
        if let Some((project, _)) = expired.first().copied() {
            let of_it = expired.into_iter().filter(|(of, _)| *of == project);
            let users = of_it.map(|(_, member)| member.user).collect();
            let found = tx.projects().lock(project)?.map(Found::Project);
            return remove_expired(app, tx, found, users, today).map(Some);
        }
        let expired = tx.group_members().expired(today, BATCH)?;
        if let Some((group, _)) = expired.first().copied() {
            let of_it = expired.into_iter().filter(|(of, _)| *of == group);
            let users = of_it.map(|(_, member)| member.user).collect();
            let found = tx.groups().lock(group)?.map(Found::Group);
            return remove_expired(app, tx, found, users, today).map(Some);
        }
        Ok(None)
    })
}

/// Removes the memberships of these users in a locked project or group. Memberships that were removed or extended since
/// are skipped.
fn remove_expired(
    app: &App,
    tx: &mut dyn Tx,
    found: Option<Found>,
    users: Vec<UserId>,
    today: NaiveDate,
) -> Result<u64, Error> {
    let Some(found) = found else { return Ok(0) };
    let now = app.clock.now();
    let mut ended = 0;
    for user in tx.users().find_all(&users)? {
        if let Some(membership) = found.member(tx, user.id)?
            && !is_in_force(membership.expires_at, today)
        {
            let member = MemberFacts::new(&user, membership.level, now);
            leave(tx, &found, member, EventAction::Expired)?;
            ended += 1;
        }
    }
    Ok(ended)
}
