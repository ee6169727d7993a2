//! Receives pushes from git clients (receive-pack).
//!
//! The objects of a push are indexed and checked in a quarantine directory, and stored as a pack when the rules allow
//! the push. The pack becomes part of the repository in the transaction that changes the refs. A push that is refused
//! or interrupted leaves at most a stored pack that no row names.

mod advertise;
pub(crate) mod check;
mod commands;
pub(crate) mod fsck;
pub(crate) mod outside;
mod quarantine;
mod report;

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::sync::Arc;

use hexforge_domain::branch::BranchName;
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::policy::push::RefAction;
use hexforge_domain::ports::git::{GitError, RefChange};
use hexforge_domain::ports::git_transport::{DisconnectSignal, Proposal, ReceivedPush};
use hexforge_domain::refs::reserved::is_hidden;
use hexforge_domain::refs::{Atomicity, ChangedRefs, Peeled, Snapshot};

pub(crate) use advertise::advertise;

use crate::content::commit::{from_gix, to_gix};
use crate::content::peel::Peeler;
use crate::error::reader_gone;
use crate::history::compare;
use crate::protocol::limits::{StopReason, StopSignal};
use crate::storage::repository::GixRepository;
use crate::storage::store::Shared;
use check::{CheckError, TipCheck};
use commands::{Command, Outcome, PushRequest};
use outside::ReachableObjects;
use quarantine::{Quarantine, QuarantineError};

/// Git's own messages for refused refs.
const NOT_UPDATED: &str = "failed to update ref";
const NOT_UNPACKED: &str = "unpacker error";
const MISSING: &str = "missing necessary objects";
const SHALLOW: &str = "shallow update not allowed";
const DECLINED: &str = "pre-receive hook declined";
const NOT_ATOMIC: &str = "atomic transaction failed";
const CURRENT_BRANCH: &str = "deletion of the current branch prohibited";

/// Reads a push and makes all checks that do not depend on the user who pushes.
pub(crate) fn receive(
    repository: &GixRepository,
    from: &mut dyn Read,
    disconnected: &DisconnectSignal,
) -> Result<Option<Box<dyn ReceivedPush>>, GitError> {
    let Some(request) = commands::read(from)? else { return Ok(None) };
    let shared = Arc::clone(repository.shared());
    let mut push = IncomingPush {
        stop: StopSignal::after(shared.limits.time, disconnected.clone()),
        shared,
        project: repository.project(),
        refs: Arc::clone(repository.refs()),
        caller: repository.caller(),
        request,
        unpacked: Ok(()),
        quarantine: None,
        message: None,
    };
    push.receive_objects(repository, from)?;
    push.refuse_outdated(repository.refs());
    Ok(Some(Box::new(push)))
}

/// A push that was read completely.
struct IncomingPush {
    /// The deadline and the disconnect signal of every stage.
    stop: StopSignal,
    shared: Arc<Shared>,
    project: ProjectId,
    /// The refs at the time the push began.
    refs: Arc<Snapshot>,
    caller: Caller,
    request: PushRequest,
    /// The result of unpacking: the error text if the objects are invalid.
    unpacked: Result<(), String>,
    quarantine: Option<Quarantine>,
    /// A message for the user who pushes.
    message: Option<String>,
}

impl IncomingPush {
    /// Reads the pack. A push that only deletes refs has none.
    fn receive_objects(
        &mut self,
        repository: &GixRepository,
        from: &mut dyn Read,
    ) -> Result<(), GitError> {
        if self.request.commands.iter().all(|command| command.change.new.is_none()) {
            return Ok(());
        }
        let mut quarantine = match Quarantine::fill(repository, from, &self.stop) {
            Ok(quarantine) => quarantine,
            Err(QuarantineError::Invalid(reason)) => {
                self.fail_unpack(reason);
                return Ok(());
            }
            Err(QuarantineError::Stopped(stopped)) => return self.refuse_stopped(stopped),
            Err(QuarantineError::Failed(error)) => return Err(error),
        };
        let (shared, stop) = (Arc::clone(&self.shared), self.stop.clone());
        let (project, caller) = (self.project, self.caller);
        let refs = Arc::clone(&self.refs);
        let reachable =
            ReachableObjects { shared: &shared, project, refs: &refs, caller, stop: &stop };
        let (view, objects) = (&quarantine.view, quarantine.objects());
        let checked = match objects {
            Some(objects) => {
                let accepted = self.shared.accepted_faults();
                check::pack(view, objects, &quarantine.bounds, accepted, Some(&reachable))
            }
            None => Ok(None),
        };
        let checked = checked.and_then(|summary| {
            let tips = TipCheck { view, objects, reachable: &reachable };
            let pending = self.pending_changes();
            let refused = tips.refused_names(pending.iter())?;
            self.refuse_pending(MISSING, |change| refused.contains(change.name.as_str()));
            Ok(summary)
        });
        let checked = checked.map(|summary| quarantine.summary = summary);
        self.quarantine = Some(quarantine);
        match checked {
            Ok(()) => Ok(()),
            Err(CheckError::Missing) => {
                let reason = if self.request.shallow { SHALLOW } else { MISSING };
                self.refuse_pending(reason, |change| change.new.is_some());
                Ok(())
            }
            Err(CheckError::Forbidden(reason)) => {
                self.fail_unpack(reason);
                Ok(())
            }
            Err(CheckError::Stopped(stopped)) => self.refuse_stopped(stopped),
            Err(CheckError::Failed(error)) => Err(error),
        }
    }

    /// Refuses changes of refs whose current value differs from the old value in the command, and deletions of refs
    /// that do not exist. Hidden refs are left to the push rules, so that the answer does not say which of them exist.
    fn refuse_outdated(&mut self, refs: &Snapshot) {
        self.refuse_pending(NOT_UPDATED, |change| {
            if is_hidden(&change.name) {
                return false;
            }
            let now = refs.target(&change.name);
            now != change.old || (now.is_none() && change.new.is_none())
        });
    }

    /// Refuses a push that took too long. Returns an error if the client disconnected, because no report can be sent.
    fn refuse_stopped(&mut self, stopped: StopReason) -> Result<(), GitError> {
        match stopped {
            StopReason::TimedOut => {
                self.fail_unpack("the push took too long".to_owned());
                Ok(())
            }
            StopReason::HungUp => Err(hung_up()),
        }
    }

    fn fail_unpack(&mut self, reason: String) {
        self.unpacked = Err(reason);
        self.refuse_pending(NOT_UNPACKED, |_| true);
    }

    fn refuse_pending(&mut self, reason: &str, which: impl Fn(&RefChange) -> bool) {
        for command in self.request.commands.iter_mut().filter(|command| command.is_pending()) {
            if which(&command.change) {
                command.refuse(reason);
            }
        }
    }

    /// Refuses all remaining commands if the push is atomic and one command was refused.
    fn enforce_atomicity(&mut self) {
        let refused = |command: &Command| matches!(command.outcome, Outcome::Refused(_));
        if self.request.atomic && self.request.commands.iter().any(refused) {
            self.refuse_pending(NOT_ATOMIC, |_| true);
        }
    }

    fn pending_changes(&self) -> Vec<RefChange> {
        let pending = self.request.commands.iter().filter(|command| command.is_pending());
        pending.map(|command| command.change.clone()).collect()
    }

    /// Peels the tag objects that refs are to point to. Also returns the names of branches whose
    /// object is not a commit.
    fn peel(&self, changes: &[RefChange]) -> Result<(Peeled, Vec<String>), GitError> {
        let (mut peeled, mut refused) = (Peeled::new(), Vec::new());
        let Some(quarantine) = &self.quarantine else { return Ok((peeled, refused)) };
        let mut peeler = Peeler::new(&quarantine.view);
        for change in changes {
            let Some(new) = change.new else { continue };
            self.stop.check().map_err(stopped_error)?;
            let (kind, last) = peeler.peel(to_gix(new))?;
            let last = from_gix(&last);
            let is_branch = change.name.starts_with(BranchName::FOLDER);
            if is_branch && (last != new || kind != gix::object::Kind::Commit) {
                refused.push(change.name.clone());
            } else if last != new {
                peeled.insert(new, last);
            }
        }
        Ok((peeled, refused))
    }
}

fn stopped_error(stopped: StopReason) -> GitError {
    match stopped {
        StopReason::TimedOut => GitError::Busy,
        StopReason::HungUp => hung_up(),
    }
}

fn hung_up() -> GitError {
    reader_gone(io::Error::new(io::ErrorKind::ConnectionAborted, "the client hung up"))
}

impl ReceivedPush for IncomingPush {
    fn changes(&self) -> Vec<&RefChange> {
        let pending = self.request.commands.iter().filter(|command| command.is_pending());
        pending.map(|command| &command.change).collect()
    }

    fn action(&self, change: &RefChange) -> Result<RefAction, GitError> {
        let (old, new) = match (change.old, change.new) {
            (None, _) => return Ok(RefAction::Create),
            (Some(_), None) => return Ok(RefAction::Delete),
            (Some(old), Some(new)) => (to_gix(old), to_gix(new)),
        };
        let quarantine = self.quarantine.as_ref().ok_or(GitError::Missing)?;
        let is_ancestor = compare::is_ancestor_until(&self.stop, &quarantine.view, old, new);
        self.stop.check().map_err(stopped_error)?;
        match is_ancestor {
            Ok(true) => Ok(RefAction::FastForward),
            // `Missing`: an object that is not a commit has no history to fast-forward.
            Ok(false) | Err(GitError::Missing) => Ok(RefAction::Force),
            Err(error) => Err(error),
        }
    }

    fn store_objects(&mut self, refs: &Snapshot) -> Result<Option<Proposal>, GitError> {
        self.refuse_outdated(refs);
        let is_removed = |change: &RefChange| change.new.is_none() && change.name == refs.head();
        self.refuse_pending(CURRENT_BRANCH, is_removed);
        let (peeled, refused) = self.peel(&self.pending_changes())?;
        self.refuse_pending(NOT_UPDATED, |change| refused.contains(&change.name));
        self.enforce_atomicity();
        let changes = self.pending_changes();
        let has_new = changes.iter().any(|change| change.new.is_some());
        if changes.is_empty() {
            return Ok(None);
        }
        let pack = match &mut self.quarantine {
            Some(quarantine) if has_new => {
                let most = self.shared.limits.repository_bytes;
                if refs.bytes().saturating_add(quarantine.bytes()?) > most {
                    self.refuse_for_size();
                    return Ok(None);
                }
                quarantine.store(&self.shared, self.project)?
            }
            Some(_) | None => None,
        };
        let packs = pack.into_iter().collect();
        let atomicity =
            if self.request.atomic { Atomicity::AllOrNone } else { Atomicity::Independent };
        Ok(Some(Proposal { changes, peeled, atomicity, packs }))
    }

    fn set_outcomes(&mut self, made: &ChangedRefs, refs: &Snapshot) {
        let refused: HashSet<&str> = made.refused.iter().map(String::as_str).collect();
        self.refuse_pending(NOT_UPDATED, |change| refused.contains(change.name.as_str()));
        self.enforce_atomicity();
        let mut tip = None;
        for command in self.request.commands.iter_mut().filter(|command| command.is_pending()) {
            command.outcome = Outcome::Done;
            if command.change.name == self.refs.head() {
                tip = command.change.new;
            }
        }
        if let (Some(tip), Ok(Some(open))) = (tip, self.shared.open(self.project, refs)) {
            self.shared.contributors.count_in_background(&open, to_gix(tip));
        }
    }

    fn refuse_for_size(&mut self) {
        let most = self.shared.limits.repository_bytes;
        self.fail_unpack(quarantine::repository_full(most));
    }

    fn refuse_all(&mut self, reason: &str) {
        self.message = Some(reason.to_owned());
        self.refuse_pending(DECLINED, |_| true);
    }

    fn write_report(&mut self, to: &mut dyn Write) -> Result<(), GitError> {
        let message = self.message.as_deref();
        report::write(&self.request, &self.unpacked, message, to).map_err(reader_gone)
    }
}
