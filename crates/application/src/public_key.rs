//! Sign-in with a registered SSH key.

use hexforge_domain::id::KeyId;
use hexforge_domain::policy::Actor;
use hexforge_domain::user::User;

use crate::app::App;
use crate::error::Error;

/// The user or the deploy key behind a registered key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyHolder {
    /// The user who registered the key.
    User {
        /// The actor for permission checks.
        actor: Actor,
        /// The display name of the user.
        name: String,
    },
    /// The key is a deploy key.
    DeployKey {
        /// The id of the key.
        id: KeyId,
        /// The title of the key.
        title: String,
    },
}

impl KeyHolder {
    /// The name by which the server greets the holder.
    pub fn name(&self) -> &str {
        match self {
            KeyHolder::User { name, .. } => name,
            KeyHolder::DeployKey { title, .. } => title,
        }
    }

    /// The actor whose quotas apply. Deploy keys are limited by their network, like anonymous callers.
    pub fn actor(&self) -> Actor {
        match self {
            KeyHolder::User { actor, .. } => *actor,
            KeyHolder::DeployKey { .. } => Actor::Anonymous,
        }
    }
}

/// Returns the user who registered this key or the deploy key itself, given in the one-line form of `.pub` files. Returns `None` when the key is
/// not registered or the user is blocked. The SSH server verifies that the caller holds the private key.
pub fn holder(app: &App, key: &str) -> Result<Option<KeyHolder>, Error> {
    let Some(fingerprint) = app.public_keys.fingerprint(key) else { return Ok(None) };
    app.store.read(|tx| {
        let found = tx.keys().find_by_fingerprint(&fingerprint)?;
        // The fingerprint is only an index. It is too weak to identify the key, so the key itself is compared.
        let Some(found) = found.filter(|found| is_same_key(&found.key, key)) else {
            let deploy_key = tx.deploy_keys().find_by_fingerprint(&fingerprint)?;
            let deploy_key = deploy_key.filter(|found| is_same_key(&found.key, key));
            return Ok(deploy_key.map(|found| KeyHolder::DeployKey {
                id: found.id,
                title: found.title.into_string(),
            }));
        };
        let user = tx.users().find(found.user)?.filter(|user| user.state.may_act());
        Ok(user.map(|User { id, name, privileges, .. }| KeyHolder::User {
            actor: Actor::of(id, &privileges),
            name: name.as_str().to_owned(),
        }))
    })
}

/// Returns whether two lines are the same key. The comment does not count.
pub(crate) fn is_same_key(one: &str, other: &str) -> bool {
    material(one) == material(other)
}

/// Returns the type and the key of a line, without the comment.
fn material(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    words.next().zip(words.next())
}
