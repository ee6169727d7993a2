//! Taking in what git clients push.
//!
//! The objects of a push are indexed and checked in a folder of their own, from which they move into the
//! repository only when the push is taken; then the refs are changed in one step. A push that is refused, or
//! that breaks off, leaves nothing.

mod advertise;
pub(crate) mod check;
mod commands;
mod quarantine;
mod report;

use std::io::{Read, Write};
use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::policy::push::RefAction;
use hexforge_domain::ports::git::{ChangeKey, GitError, RefChange};
use hexforge_domain::ports::git_transport::ReceivedPush;

pub(crate) use advertise::advertise;

use crate::commit::to_gix;
use crate::compare;
use crate::error::reader_gone;
use crate::refs::update::{self, current};
use crate::repository::GixRepository;
use crate::store::Shared;
use check::Wrong;
use commands::{Asked, Command, Outcome};
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
) -> Result<Option<Box<dyn ReceivedPush>>, GitError> {
    let Some(asked) = commands::read(from)? else { return Ok(None) };
    let mut push = Received {
        shared: Arc::clone(repository.shared()),
        project: repository.project(),
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
    shared: Arc<Shared>,
    project: ProjectId,
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
        let quarantine = match Quarantine::fill(&self.shared, self.project, from) {
            Ok(quarantine) => quarantine,
            Err(Refused::Bad(reason)) => {
                self.not_unpacked(reason);
                return Ok(());
            }
            Err(Refused::Failed(error)) => return Err(error),
        };
        let checked = match quarantine.index() {
            Some(index) => check::pack(&quarantine.view, index),
            None => Ok(()),
        };
        match checked {
            Ok(()) => (),
            Err(Wrong::Missing) => {
                let reason = if self.asked.shallow { SHALLOW } else { MISSING };
                self.refuse_waiting(reason, |change| change.new.is_some());
            }
            Err(Wrong::Forbidden(reason)) => self.not_unpacked(reason),
            Err(Wrong::Failed(error)) => return Err(error),
        }
        for command in self.asked.commands.iter_mut().filter(|command| command.is_waiting()) {
            if !check::tip(&quarantine.view, &command.change)? {
                command.refuse(MISSING);
            }
        }
        self.quarantine = Some(quarantine);
        Ok(())
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
        match compare::is_ancestor(&quarantine.view, old, new) {
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
            quarantine.release(&open)?;
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
