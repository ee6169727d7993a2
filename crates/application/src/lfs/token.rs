//! Tokens for the transfer of LFS objects. A token is derived from the key of the installation and not stored. It is
//! valid for half an hour, for one holder, one project and one direction, and ends with the password of its user.

use hexforge_domain::Timestamp;
use hexforge_domain::id::{self, KeyId, ProjectId, UserId};
use hexforge_domain::lfs::LfsOperation;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::text::Secret;
use hexforge_domain::user::PasswordHash;

use super::{LfsIdentity, LfsRequester};
use crate::app::App;
use crate::error::Error;
use crate::session::Attempt;

/// The number of seconds for which a token is valid.
pub const LIFETIME: i64 = 1_800;

/// The beginning of all tokens.
const PREFIX: &str = "lfs";

/// The beginning of the login of a deploy key. Its id follows.
const DEPLOY_KEY_LOGIN: &str = "lfs+deploy-key-";

/// The holder of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    User(UserId),
    DeployKey(KeyId),
}

/// What a token allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    holder: Holder,
    project: ProjectId,
    operation: LfsOperation,
    /// The time in seconds at which the token expires.
    until: i64,
}

/// The facts about a holder that a token depends on.
struct HolderFacts {
    identity: LfsIdentity,
    login: String,
    /// An id may be reused after the restore of a backup, so the creation time is part of the subject.
    created_at: Timestamp,
    /// The hash of the password of a user is part of the subject, so that a token ends with a new password.
    password: Option<PasswordHash>,
}

impl Holder {
    /// Loads the facts; `None` when the user may not act or the deploy key does not exist any more.
    fn load(self, tx: &mut dyn Tx) -> Result<Option<HolderFacts>, StoreError> {
        Ok(match self {
            Holder::User(id) => {
                let Some(user) = tx.users().find(id)? else { return Ok(None) };
                let found = tx.users().find_by_login(user.username.as_str())?;
                let found = found.filter(|(user, _)| user.id == id && user.state.may_act());
                found.map(|(user, password)| HolderFacts {
                    identity: LfsIdentity::Actor(Actor::of(user.id, &user.privileges)),
                    login: user.username.as_str().to_owned(),
                    created_at: user.created_at,
                    password: Some(password),
                })
            }
            Holder::DeployKey(id) => tx.deploy_keys().find_by_id(id)?.map(|key| HolderFacts {
                identity: LfsIdentity::DeployKey(id),
                login: format!("{DEPLOY_KEY_LOGIN}{id}"),
                created_at: key.created_at,
                password: None,
            }),
        })
    }

    fn to_text(self) -> String {
        match self {
            Holder::User(id) => format!("u{id}"),
            Holder::DeployKey(id) => format!("k{id}"),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match (text.strip_prefix('u'), text.strip_prefix('k')) {
            (Some(user), _) => id::parse(user).map(|id| Holder::User(UserId(id))),
            (None, Some(key)) => id::parse(key).map(|id| Holder::DeployKey(KeyId(id))),
            (None, None) => None,
        }
    }
}

impl Grant {
    /// Returns whether the token is for this project and direction. A token for uploads also allows downloads, because
    /// permission to push includes permission to fetch.
    pub(super) fn allows(&self, project: ProjectId, operation: LfsOperation) -> bool {
        let is_wide_enough = self.operation == operation || self.operation == LfsOperation::Upload;
        self.project == project && is_wide_enough
    }

    /// The part of the token that states what it allows.
    fn claim(&self) -> String {
        let Self { holder, project, operation, until } = self;
        format!("{PREFIX}-{}-{project}-{}-{until}", holder.to_text(), operation.as_str())
    }

    /// Parses the claim and the proof of a token.
    fn parse(token: &str) -> Option<(Self, &str)> {
        let mut parts = token.splitn(6, '-');
        let mut next = || parts.next();
        let (PREFIX, holder, project) = (next()?, next()?, next()?) else { return None };
        let (operation, until, proof) = (next()?, next()?, next()?);
        let grant = Self {
            holder: Holder::parse(holder)?,
            project: ProjectId(id::parse(project)?),
            operation: LfsOperation::parse(operation)?,
            until: id::parse(until)?,
        };
        Some((grant, proof))
    }

    /// The subject from which the vault derives the proof. The proof does not reveal it.
    fn subject(&self, holder: &HolderFacts) -> String {
        let password = holder.password.as_ref().map_or("", PasswordHash::reveal);
        format!("{} {} {password}", self.claim(), holder.created_at.timestamp_micros())
    }
}

/// A token with the login that it is sent with.
#[derive(Debug)]
pub struct Transfer {
    /// The login.
    pub login: String,
    /// The token.
    pub token: Secret,
    /// The number of seconds for which the token is valid.
    pub expires_in: i64,
}

/// Creates a token for the holder behind a request. `None` for callers without an account and for builds: they have no
/// credentials, or credentials that end with the build. A caller with a transfer token gets no later expiry than that
/// of its token.
pub fn issue(
    app: &App,
    requester: LfsRequester,
    project: ProjectId,
    operation: LfsOperation,
) -> Result<Option<Transfer>, Error> {
    let holder = match requester.identity {
        LfsIdentity::Actor(actor) | LfsIdentity::Reader(actor) => actor.user().map(Holder::User),
        LfsIdentity::DeployKey(key) => Some(Holder::DeployKey(key)),
        LfsIdentity::BuildOfUser(_) | LfsIdentity::BuildOfProject(_) => None,
    };
    let Some(holder) = holder else { return Ok(None) };
    let now = app.clock.now().timestamp();
    let until = requester.token.map_or(now + LIFETIME, |token| token.until);
    let grant = Grant { holder, project, operation, until };
    let facts = app.store.read_autocommit::<_, Error>(|tx| Ok(holder.load(tx)?))?;
    Ok(facts.map(|facts| {
        let proof = app.vault.token(&grant.subject(&facts));
        let token = Secret::new(format!("{}-{}", grant.claim(), proof.reveal()));
        Transfer { login: facts.login, token, expires_in: until - now }
    }))
}

/// Returns whether a password has the form of a transfer token. Such a password is not compared with other secrets, so
/// that expired tokens do not count as guesses of a password.
pub fn has_form(password: &Secret) -> bool {
    Grant::parse(password.reveal()).is_some()
}

/// Returns the caller of a request whose password is a transfer token. `None` if the token is expired or forged, or if
/// its holder may not act any more.
pub fn verify(app: &App, attempt: &Attempt) -> Result<Option<LfsRequester>, Error> {
    let Some((grant, proof)) = Grant::parse(attempt.password.reveal()) else { return Ok(None) };
    let facts = app.store.read_autocommit::<_, Error>(|tx| Ok(grant.holder.load(tx)?))?;
    let is_valid = |facts: &HolderFacts| {
        grant.until > app.clock.now().timestamp()
            && facts.login.eq_ignore_ascii_case(attempt.login.trim())
            && app.vault.is_token(&grant.subject(facts), proof)
    };
    Ok(facts
        .filter(is_valid)
        .map(|HolderFacts { identity, .. }| LfsRequester { identity, token: Some(grant) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_read_as_it_is_written() {
        for (holder, operation) in [
            (Holder::User(UserId(7)), LfsOperation::Upload),
            (Holder::DeployKey(KeyId(8)), LfsOperation::Download),
        ] {
            let grant = Grant { holder, project: ProjectId(9), operation, until: 1_800 };
            let token = format!("{}-a-proof_with-dashes", grant.claim());
            assert_eq!(Grant::parse(&token), Some((grant, "a-proof_with-dashes")));
        }
        for other in [
            "",
            "a password",
            "lfs-u7-9-upload-1800",
            "lfs-7-9-upload-1800-proof",
            "lfs-u7-9-verify-1800-proof",
            "lfs-u7-x-upload-1800-proof",
            "lfs-u7-9-upload--1800-proof",
            "LFS-u7-9-upload-1800-proof",
        ] {
            assert_eq!(Grant::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_token_is_for_one_project_and_direction() {
        use LfsOperation::{Download, Upload};
        let grant = |operation| Grant {
            holder: Holder::User(UserId(7)),
            project: ProjectId(9),
            operation,
            until: 0,
        };
        for (granted, project, operation, expected) in [
            (Download, 9, Download, true),
            (Download, 9, Upload, false),
            (Download, 8, Download, false),
            (Upload, 9, Upload, true),
            (Upload, 9, Download, true),
            (Upload, 8, Upload, false),
        ] {
            let found = grant(granted).allows(ProjectId(project), operation);
            assert_eq!(found, expected, "{granted:?} {project} {operation:?}");
        }
    }
}
