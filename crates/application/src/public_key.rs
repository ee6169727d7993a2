//! Signing in by a registered SSH key.

use hexforge_domain::policy::Actor;
use hexforge_domain::user::User;

use crate::app::App;
use crate::error::Error;

/// Whose key something is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHolder {
    /// What the holder may do.
    pub actor: Actor,
    /// What people call the holder.
    pub name: String,
}

/// Who registered this key, given in the one-line form of `.pub` files; `None` when nobody did, or whoever did is
/// blocked. That the caller holds its private half is shown before.
pub fn holder(app: &App, key: &str) -> Result<Option<KeyHolder>, Error> {
    let Some(fingerprint) = app.public_keys.fingerprint(key) else { return Ok(None) };
    app.store.read(|tx| {
        let found = tx.keys().find_by_fingerprint(&fingerprint)?;
        // The fingerprint finds the key; it is not strong enough to be the key.
        let Some(found) = found.filter(|found| material(&found.key) == material(key)) else {
            return Ok(None);
        };
        let user = tx.users().find(found.user)?.filter(|user| user.state.may_act());
        Ok(user.map(|User { id, name, privileges, .. }| KeyHolder {
            actor: Actor::of(id, &privileges),
            name: name.as_str().to_owned(),
        }))
    })
}

/// What a line has beside its comment: the kind of key and the key itself.
fn material(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    words.next().zip(words.next())
}
