//! The signatures of commits: which of them were made with the key of a user.

use hexforge_domain::commit::Commit;
use hexforge_domain::commit::signing::{GIT_NAMESPACE, SignatureFormat};
use hexforge_domain::ports::public_keys::SignatureCheck;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::user::email::EmailAddress;
use hexforge_domain::user::key::SshKey;
use hexforge_domain::user::state::UserState;

use crate::app::App;
use crate::error::Error;
use crate::repository::Revision;

/// What is known about the signature of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitSignature {
    /// The signature is valid, and the key is registered by an active user.
    OfUser {
        /// The username of the owner of the key.
        username: String,
        /// Whether the address of the committer belongs to this user.
        is_committer: bool,
    },
    /// It is valid, but no active user registered the SSH key.
    UnknownKey,
    /// It was made with an SSH key, but not for this commit.
    Invalid,
    /// It was not checked: the format, or the algorithm, is not supported.
    Unchecked(SignatureFormat),
}

/// Checks the signature of a commit, which has to be that of the revision. Returns `None` for a commit without one.
pub fn check(app: &App, at: &Revision, commit: &Commit) -> Result<Option<CommitSignature>, Error> {
    match commit.signed {
        None => Ok(None),
        Some(SignatureFormat::Ssh) => check_ssh(app, at, commit).map(Some),
        Some(
            format @ (SignatureFormat::OpenPgp | SignatureFormat::X509 | SignatureFormat::Unknown),
        ) => Ok(Some(CommitSignature::Unchecked(format))),
    }
}

fn check_ssh(app: &App, at: &Revision, commit: &Commit) -> Result<CommitSignature, Error> {
    let unchecked = CommitSignature::Unchecked(SignatureFormat::Ssh);
    let Some(signed) = at.repository().signed_bytes(commit.id)? else { return Ok(unchecked) };
    let Ok(signature) = String::from_utf8(signed.signature) else { return Ok(unchecked) };
    let Some(key) = app.public_keys.signing_key(&signature) else { return Ok(unchecked) };
    // Only a valid signature is looked up: others would tell whose keys are registered.
    match app.public_keys.check_signature(&key, &signature, GIT_NAMESPACE, &signed.payload) {
        SignatureCheck::Valid => {}
        SignatureCheck::Invalid => return Ok(CommitSignature::Invalid),
        SignatureCheck::Unsupported => return Ok(unchecked),
    }
    let email = &commit.committer.email;
    let signer = app.store.read_autocommit(|tx| find_signer(app, tx, &key, email))?;
    Ok(signer.unwrap_or(CommitSignature::UnknownKey))
}

/// Returns the active user who registered a key. The title of the key is not shown: others may not see it, and its
/// owner can choose it to look like a part of the sentence.
fn find_signer(
    app: &App,
    tx: &mut dyn Tx,
    key: &str,
    email: &str,
) -> Result<Option<CommitSignature>, StoreError> {
    let Some(fingerprint) = app.public_keys.fingerprint(key) else { return Ok(None) };
    let found = tx.keys().find_by_fingerprint(&fingerprint)?;
    // The fingerprint is of MD5, so the keys themselves are compared.
    let Some(SshKey { user, .. }) = found.filter(|found| blob(&found.key) == blob(key)) else {
        return Ok(None);
    };
    let owner = tx.users().find(user)?.filter(|owner| owner.state == UserState::Active);
    let Some(owner) = owner else { return Ok(None) };
    let holder = match EmailAddress::parse(email) {
        Ok(address) => tx.emails().holder(&address)?,
        Err(_) => None,
    };
    Ok(Some(CommitSignature::OfUser {
        username: owner.username.as_str().to_owned(),
        is_committer: holder.is_some_and(|holder| holder.user == user),
    }))
}

/// The Base64 text of a key in a line of a `.pub` file.
fn blob(key: &str) -> Option<&str> {
    key.split_whitespace().nth(1)
}
