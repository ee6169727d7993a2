//! Sign-in with a registered SSH key.

use hexforge_domain::policy::Actor;
use hexforge_domain::user::User;

use crate::app::App;
use crate::error::Error;

/// The user who registered a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHolder {
    /// The actor for permission checks.
    pub actor: Actor,
    /// The display name of the user.
    pub name: String,
}

/// Returns the user who registered this key, given in the one-line form of `.pub` files. Returns `None` when the key is
/// not registered or the user is blocked. The SSH server verifies that the caller holds the private key.
pub fn holder(app: &App, key: &str) -> Result<Option<KeyHolder>, Error> {
    let Some(fingerprint) = app.public_keys.fingerprint(key) else { return Ok(None) };
    app.store.read(|tx| {
        let found = tx.keys().find_by_fingerprint(&fingerprint)?;
        // The fingerprint is only an index. It is too weak to identify the key, so the key itself is compared.
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

/// Returns the type and the key of a line, without the comment.
fn material(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    words.next().zip(words.next())
}
