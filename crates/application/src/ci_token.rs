//! Tokens of builds, runners and triggers. A token is the id of its owner and a proof, which the vault derives. Tokens
//! are not stored.

use hexforge_domain::Timestamp;
use hexforge_domain::build::Build;
use hexforge_domain::runner::Runner;
use hexforge_domain::text::Secret;
use hexforge_domain::trigger::Trigger;

use crate::app::App;

/// A row that has a token. Its id and creation time identify it.
trait TokenOwner {
    const KIND: &'static str;
    fn id(&self) -> i64;
    fn created_at(&self) -> Timestamp;

    /// The subject from which the vault derives the token. It contains the creation time, so that ids which are reused
    /// after the restore of a backup get new tokens.
    fn subject(&self) -> String {
        format!("{} {} {}", Self::KIND, self.id(), self.created_at().timestamp_micros())
    }
}

impl TokenOwner for Build {
    const KIND: &'static str = "build";
    fn id(&self) -> i64 {
        self.id.0
    }
    fn created_at(&self) -> Timestamp {
        self.created_at
    }
}

impl TokenOwner for Runner {
    const KIND: &'static str = "runner";
    fn id(&self) -> i64 {
        self.id.0
    }
    fn created_at(&self) -> Timestamp {
        self.created_at
    }
}

impl TokenOwner for Trigger {
    const KIND: &'static str = "trigger";
    fn id(&self) -> i64 {
        self.id.0
    }
    fn created_at(&self) -> Timestamp {
        self.created_at
    }
}

/// The token of a build, with which its runner authenticates for it.
pub fn build_token(app: &App, build: &Build) -> Secret {
    derive_token(app, build)
}

/// The token of a runner.
pub fn runner_token(app: &App, runner: &Runner) -> Secret {
    derive_token(app, runner)
}

/// The token of a trigger.
pub fn trigger_token(app: &App, trigger: &Trigger) -> Secret {
    derive_token(app, trigger)
}

/// The vault derives the token with which runners register for all projects from this subject.
const SERVICE: &str = "registration of runners";

/// The subject of the service token after it was replaced `rotations` times.
fn service_subject(rotations: i64) -> String {
    match rotations {
        0 => SERVICE.to_owned(),
        rotations => format!("{SERVICE} {rotations}"),
    }
}

/// The token with which runners register for all projects, unless the settings contain another one.
pub fn service_token(app: &App, rotations: i64) -> Secret {
    app.vault.token(&service_subject(rotations))
}

/// Returns whether a text is the token with which runners register for all projects.
pub fn is_service_token(app: &App, token: &str, rotations: i64) -> bool {
    match app.settings.runners_token {
        Some(chosen) => app.secrets.digest(token) == chosen,
        None => app.vault.is_token(&service_subject(rotations), token),
    }
}

/// Returns whether a text is the token of a build.
pub fn is_build_token(app: &App, build: &Build, token: &str) -> bool {
    verify_token(app, build, token)
}

/// Returns whether a text is the token of a runner.
pub fn is_runner_token(app: &App, runner: &Runner, token: &str) -> bool {
    verify_token(app, runner, token)
}

/// Returns whether a text is the token of a trigger.
pub fn is_trigger_token(app: &App, trigger: &Trigger, token: &str) -> bool {
    verify_token(app, trigger, token)
}

/// Returns the id that a token claims. The caller has to verify the token.
pub fn claimed_id(token: &str) -> Option<i64> {
    let (id, _) = token.split_once('-')?;
    id.bytes().all(|b| b.is_ascii_digit()).then(|| id.parse().ok())?
}

fn derive_token(app: &App, owner: &impl TokenOwner) -> Secret {
    let proof = app.vault.token(&owner.subject());
    Secret::new(format!("{}-{}", owner.id(), proof.reveal()))
}

fn verify_token<B: TokenOwner>(app: &App, owner: &B, token: &str) -> bool {
    let proof = token.split_once('-').map(|(_, proof)| proof);
    claimed_id(token) == Some(owner.id())
        && proof.is_some_and(|proof| app.vault.is_token(&owner.subject(), proof))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_begins_with_an_id() {
        for (token, id) in [
            ("12-abc", Some(12)),
            ("12-a-b", Some(12)),
            ("-abc", None),
            ("12", None),
            ("+1-a", None),
            ("99999999999999999999-a", None),
            ("", None),
        ] {
            assert_eq!(claimed_id(token), id, "{token}");
        }
    }
}
