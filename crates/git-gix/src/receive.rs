//! Taking in what git clients push.
//!
//! The objects of a push are indexed and checked in a folder of their own, from which they move into the
//! repository only when the push is taken; then the refs are changed in one step. A push that is refused, or
//! that breaks off, leaves nothing.

mod advertise;
pub(crate) mod check;
mod commands;
pub(crate) mod fsck;
pub(crate) mod outside;
mod quarantine;
mod report;

use std::io::{self, Read, Write};
use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::policy::push::RefAction;
use hexforge_domain::ports::git::{ChangeKey, GitError, RefChange};
use hexforge_domain::ports::git_transport::{HangUp, ReceivedPush};

pub(crate) use advertise::advertise;

use crate::commit::to_gix;
use crate::compare;
use crate::error::reader_gone;
use crate::limits::{Stop, Stopped};
use crate::refs::update::{self, current};
use crate::repository::GixRepository;
use crate::store::Shared;
use check::{Tips, Wrong};
use commands::{Asked, Command, Outcome};
use outside::Reachable;
use quarantine::{Quarantine, Refused};

/// Git's own words.
const NOT_UPDATED: &str = "failed to update ref";
const NOT_UNPACKED: &str = "unpacker error";
const MISSING: &str = "missing necessary objects";
const SHALLOW: &str = "shallow update not allowed";
const DECLINED: &str = "pre-receive hook declined";
const NOT_ATOMIC: &str = "atomic transaction failed";
const CURRENT_BRANCH: &str = "deletion of the current branch prohibited";

/// Reads a push, and checks whatever can be known without knowing who pushes.
pub(crate) fn receive(
    repository: &GixRepository,
    from: &mut dyn Read,
    hang_up: &HangUp,
) -> Result<Option<Box<dyn ReceivedPush>>, GitError> {
    let Some(asked) = commands::read(from)? else { return Ok(None) };
    let shared = Arc::clone(repository.shared());
    let mut push = Received {
        stop: Stop::after(shared.limits.time, hang_up.clone()),
        shared,
        project: repository.project(),
        caller: repository.caller(),
        asked,
        unpacked: Ok(()),
        quarantine: None,
        message: None,
    };
    push.take_in_objects(from)?;
    push.compare_with(repository)?;
    Ok(Some(Box::new(push)))
}

/// A push that is read.
struct Received {
    /// The deadline and the hang-up signal of every stage.
    stop: Stop,
    shared: Arc<Shared>,
    project: ProjectId,
    caller: Caller,
    asked: Asked,
    /// What was wrong with the objects.
    unpacked: Result<(), String>,
    quarantine: Option<Quarantine>,
    /// What people are to read.
    message: Option<String>,
}

impl Received {
    /// Reads the pack, which comes unless refs are only removed.
    fn take_in_objects(&mut self, from: &mut dyn Read) -> Result<(), GitError> {
        if self.asked.commands.iter().all(|command| command.change.new.is_none()) {
            return Ok(());
        }
        let place = (self.project, self.caller);
        let quarantine = match Quarantine::fill(&self.shared, place, from, &self.stop) {
            Ok(quarantine) => quarantine,
            Err(Refused::Bad(reason)) => {
                self.not_unpacked(reason);
                return Ok(());
            }
            Err(Refused::Stopped(stopped)) => return self.stopped(stopped),
            Err(Refused::Failed(error)) => return Err(error),
        };
        let (shared, stop) = (Arc::clone(&self.shared), self.stop.clone());
        let (project, caller) = (self.project, self.caller);
        let reachable = Reachable { shared: &shared, project, caller, stop: &stop };
        let (view, objects) = (&quarantine.view, quarantine.objects());
        let checked = match objects {
            Some(objects) => {
                let accepted = self.shared.accepted_faults();
                check::pack(view, objects, &quarantine.bounds, accepted, Some(&reachable))
            }
            None => Ok(()),
        };
        let checked = checked.and_then(|()| {
            let tips = Tips { view, objects, reachable: &reachable };
            let waiting = self.waiting();
            let wrong = tips.wrong(waiting.iter())?;
            self.refuse_waiting(MISSING, |change| wrong.contains(change.name.as_str()));
            Ok(())
        });
        self.quarantine = Some(quarantine);
        match checked {
            Ok(()) => Ok(()),
            Err(Wrong::Missing) => {
                let reason = if self.asked.shallow { SHALLOW } else { MISSING };
                self.refuse_waiting(reason, |change| change.new.is_some());
                Ok(())
            }
            Err(Wrong::Forbidden(reason)) => {
                self.not_unpacked(reason);
                Ok(())
            }
            Err(Wrong::Stopped(stopped)) => self.stopped(stopped),
            Err(Wrong::Failed(error)) => Err(error),
        }
    }

    /// Refuses what rests on a state of the refs that is gone.
    fn compare_with(&mut self, repository: &GixRepository) -> Result<(), GitError> {
        for command in self.asked.commands.iter_mut().filter(|command| command.is_waiting()) {
            let now = match repository.bound() {
                Some(bound) => current(bound.repo(), &command.change.name)?,
                None => None,
            };
            if now != command.change.old || (now.is_none() && command.change.new.is_none()) {
                command.refuse(NOT_UPDATED);
            }
        }
        Ok(())
    }

    /// Refuses a push that took too long; nobody is there to be told when the client hung up.
    fn stopped(&mut self, stopped: Stopped) -> Result<(), GitError> {
        match stopped {
            Stopped::Late => {
                self.not_unpacked("the push took too long".to_owned());
                Ok(())
            }
            Stopped::HungUp => Err(hung_up()),
        }
    }

    fn not_unpacked(&mut self, reason: String) {
        self.unpacked = Err(reason);
        self.refuse_waiting(NOT_UNPACKED, |_| true);
    }

    fn refuse_waiting(&mut self, reason: &str, which: impl Fn(&RefChange) -> bool) {
        for command in self.asked.commands.iter_mut().filter(|command| command.is_waiting()) {
            if which(&command.change) {
                command.refuse(reason);
            }
        }
    }

    /// Refuses everything if all or nothing was wanted and something is refused.
    fn keep_together(&mut self) {
        let refused = |command: &Command| matches!(command.outcome, Outcome::Refused(_));
        if self.asked.atomic && self.asked.commands.iter().any(refused) {
            self.refuse_waiting(NOT_ATOMIC, |_| true);
        }
    }

    fn waiting(&self) -> Vec<RefChange> {
        let waiting = self.asked.commands.iter().filter(|command| command.is_waiting());
        waiting.map(|command| command.change.clone()).collect()
    }

    fn change_refs(&mut self, note: &str) -> Result<Option<(ChangeKey, Vec<RefChange>)>, GitError> {
        let changes = self.waiting();
        if self.asked.atomic {
            return match update::update(&self.shared, self.project, &changes, note) {
                Ok(key) => Ok(Some((key, changes))),
                Err(GitError::Conflict(name)) => {
                    self.refuse_waiting(NOT_UPDATED, |change| change.name == name);
                    self.keep_together();
                    Ok(None)
                }
                Err(GitError::Missing) => {
                    self.refuse_waiting(NOT_ATOMIC, |_| true);
                    Ok(None)
                }
                Err(error) => Err(error),
            };
        }
        let possible = update::update_possible(&self.shared, self.project, changes, note)?;
        let refused: std::collections::HashSet<String> = possible.refused.into_iter().collect();
        self.refuse_waiting(NOT_UPDATED, |change| refused.contains(&change.name));
        Ok(possible.made)
    }
}

fn hung_up() -> GitError {
    reader_gone(io::Error::new(io::ErrorKind::ConnectionAborted, "the client hung up"))
}

impl ReceivedPush for Received {
    fn changes(&self) -> Vec<&RefChange> {
        let waiting = self.asked.commands.iter().filter(|command| command.is_waiting());
        waiting.map(|command| &command.change).collect()
    }

    fn action(&self, change: &RefChange) -> Result<RefAction, GitError> {
        let (old, new) = match (change.old, change.new) {
            (None, _) => return Ok(RefAction::Create),
            (Some(_), None) => return Ok(RefAction::Delete),
            (Some(old), Some(new)) => (to_gix(old), to_gix(new)),
        };
        let quarantine = self.quarantine.as_ref().ok_or(GitError::Missing)?;
        let is_ancestor = compare::is_ancestor_until(&self.stop, &quarantine.view, old, new);
        self.stop.check().map_err(|stopped| match stopped {
            Stopped::Late => GitError::Busy,
            Stopped::HungUp => hung_up(),
        })?;
        match is_ancestor {
            Ok(true) => Ok(RefAction::FastForward),
            // What is no commit has no history.
            Ok(false) | Err(GitError::Missing) => Ok(RefAction::Force),
            Err(error) => Err(error),
        }
    }

    fn take(&mut self, note: &str) -> Result<Option<(ChangeKey, Vec<RefChange>)>, GitError> {
        if let Some(open) = self.shared.open(self.project)? {
            let repo = open.handle();
            let head = repo.head_name().ok().flatten();
            open.put_back(repo);
            if let Some(head) = head {
                let is_head = |change: &RefChange| head.as_bstr() == change.name.as_str();
                self.refuse_waiting(CURRENT_BRANCH, |c| c.new.is_none() && is_head(c));
            }
        }
        self.keep_together();
        let waiting = self.waiting();
        if waiting.is_empty() {
            return Ok(None);
        }
        if let Some(quarantine) = &mut self.quarantine
            && waiting.iter().any(|change| change.new.is_some())
        {
            let open = self.shared.open_or_create(self.project)?;
            match quarantine.release(&open) {
                Err(GitError::TooLarge) => {
                    self.not_unpacked(quarantine::repository_full(
                        self.shared.limits.repository_bytes,
                    ));
                    return Ok(None);
                }
                released => released?,
            }
            self.shared.make_room(self.project, &open);
        }
        let made = self.change_refs(note)?;
        if made.is_some() {
            for command in self.asked.commands.iter_mut().filter(|command| command.is_waiting()) {
                command.outcome = Outcome::Done;
            }
        }
        Ok(made)
    }

    fn decline(&mut self, reason: &str) {
        self.message = Some(reason.to_owned());
        self.refuse_waiting(DECLINED, |_| true);
    }

    fn answer(&mut self, to: &mut dyn Write) -> Result<(), GitError> {
        let message = self.message.as_deref();
        report::write(&self.asked, &self.unpacked, message, to).map_err(reader_gone)
    }
}
