//! The port to everything that is stored, and its unit of work.

use crate::board::port::Boards;
use crate::branch::port::Protections;
use crate::build::port::Builds;
use crate::delivery::port::{Deliveries, DeliveryLog};
use crate::event::port::Events;
use crate::group::port::Groups;
use crate::issue::port::Issues;
use crate::label::port::{GroupLabels, Labels};
use crate::member::port::{AccessRequests, GroupMembers, ProjectMembers};
use crate::milestone::port::Milestones;
use crate::namespace::port::Namespaces;
use crate::note::port::Notes;
use crate::outbox::port::Outbox;
use crate::pack::port::Packs;
use crate::pipeline::port::Pipelines;
use crate::project::port::{ProjectHooks, Projects, Shares, Stars};
use crate::refs::port::Refs;
use crate::removal::port::Removals;
use crate::repository::port::RepositoryTasks;
use crate::runner::port::Runners;
use crate::sign_in::port::{SignInAddresses, SignInFailures};
use crate::system_hook::port::SystemHooks;
use crate::tag::port::Releases;
use crate::token::port::Tokens;
use crate::trigger::port::Triggers;
use crate::user::port::{Emails, Identities, Keys, Users};
use crate::variable::port::Variables;

/// One transaction: the index of all ports to stored things.
pub trait Tx {
    /// All accounts.
    fn users(&mut self) -> &mut dyn Users;
    /// Who users are at other providers.
    fn identities(&mut self) -> &mut dyn Identities;
    /// The SSH keys of all users.
    fn keys(&mut self) -> &mut dyn Keys;
    /// The addresses of all users.
    fn emails(&mut self) -> &mut dyn Emails;
    /// The tokens of all users.
    fn tokens(&mut self) -> &mut dyn Tokens;
    /// The namespaces of all users and groups.
    fn namespaces(&mut self) -> &mut dyn Namespaces;
    /// All groups.
    fn groups(&mut self) -> &mut dyn Groups;
    /// The members of all groups.
    fn group_members(&mut self) -> &mut dyn GroupMembers;
    /// All projects.
    fn projects(&mut self) -> &mut dyn Projects;
    /// The members of all projects.
    fn project_members(&mut self) -> &mut dyn ProjectMembers;
    /// Who asks to become a member.
    fn access_requests(&mut self) -> &mut dyn AccessRequests;
    /// Who starred what.
    fn stars(&mut self) -> &mut dyn Stars;
    /// With which groups projects are shared.
    fn shares(&mut self) -> &mut dyn Shares;
    /// The hooks of all projects.
    fn project_hooks(&mut self) -> &mut dyn ProjectHooks;
    /// The protected branches of all projects.
    fn protections(&mut self) -> &mut dyn Protections;
    /// The releases of all projects.
    fn releases(&mut self) -> &mut dyn Releases;
    /// Work on repositories that waits to be done.
    fn repository_tasks(&mut self) -> &mut dyn RepositoryTasks;
    /// Refs and HEAD of all repositories.
    fn refs(&mut self) -> &mut dyn Refs;
    /// The packs of all repositories.
    fn packs(&mut self) -> &mut dyn Packs;
    /// The hooks of the service.
    fn system_hooks(&mut self) -> &mut dyn SystemHooks;
    /// The labels of all projects.
    fn labels(&mut self) -> &mut dyn Labels;
    /// The labels of all groups.
    fn group_labels(&mut self) -> &mut dyn GroupLabels;
    /// The milestones of all projects.
    fn milestones(&mut self) -> &mut dyn Milestones;
    /// The issues of all projects.
    fn issues(&mut self) -> &mut dyn Issues;
    /// The notes on all issues.
    fn notes(&mut self) -> &mut dyn Notes;
    /// The boards of all projects.
    fn boards(&mut self) -> &mut dyn Boards;
    /// The activity of everybody.
    fn events(&mut self) -> &mut dyn Events;
    /// What waits to be sent.
    fn outbox(&mut self) -> &mut dyn Outbox;
    /// What hooks are sent.
    fn deliveries(&mut self) -> &mut dyn Deliveries;
    /// What hooks were sent.
    fn delivery_log(&mut self) -> &mut dyn DeliveryLog;
    /// Failed sign-ins.
    fn sign_in_failures(&mut self) -> &mut dyn SignInFailures;
    /// Networks from which users signed in.
    fn sign_in_addresses(&mut self) -> &mut dyn SignInAddresses;
    /// The pipelines of all projects.
    fn pipelines(&mut self) -> &mut dyn Pipelines;
    /// The builds of all projects, and what others say of commits.
    fn builds(&mut self) -> &mut dyn Builds;
    /// All runners.
    fn runners(&mut self) -> &mut dyn Runners;
    /// The triggers of all projects.
    fn triggers(&mut self) -> &mut dyn Triggers;
    /// The variables of all projects.
    fn variables(&mut self) -> &mut dyn Variables;
    /// Rows of removed projects, groups and users.
    fn removals(&mut self) -> &mut dyn Removals;
}

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Sees one consistent state and changes nothing; never waits for a writer.
    Read,
    /// Like [`Read`](Self::Read), but each question of several may see what others committed since the last
    /// one. For what asks one thing, or things that need not be of one moment: nothing is begun and ended.
    Glance,
    /// May change things. Acknowledged means durable.
    Write,
}

/// How a transaction is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Keep everything.
    Commit,
    /// Keep nothing.
    RollBack,
}

/// Stores everything but git data.
pub trait Store: Send + Sync {
    /// Calls `work` exactly once inside a transaction, then ends it by the verdict. A [`Mode::Glance`] is called
    /// a second time when it was the first to notice that the store had gone away meanwhile. It may be called on another
    /// thread, while the current one waits.
    /// # Errors
    /// [`StoreError::Aborted`] when the verdict is to commit although a port of the transaction
    /// returned an error: nothing is kept then.
    fn transact(
        &self,
        mode: Mode,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError>;

    /// Answers when the store is reachable and its schema is the one this program knows.
    fn ready(&self) -> Result<(), StoreError>;
}

impl dyn Store + '_ {
    /// One transaction that may change things: `Ok` commits, `Err` rolls back.
    pub fn write<T: Send, E: From<StoreError> + Send>(
        &self,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        self.run(Mode::Write, work)
    }

    /// One transaction that only reads.
    pub fn read<T: Send, E: From<StoreError> + Send>(
        &self,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        self.run(Mode::Read, work)
    }

    /// Questions that need not be answered of one moment; may be asked twice, see [`Store::transact`].
    pub fn glance<T: Send, E: From<StoreError> + Send>(
        &self,
        mut work: impl FnMut(&mut dyn Tx) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        let mut outcome = None;
        self.transact(Mode::Glance, &mut |tx| match outcome.insert(work(tx)) {
            Ok(_) => Verdict::Commit,
            Err(_) => Verdict::RollBack,
        })?;
        outcome.expect("`transact` calls its work")
    }

    fn run<T: Send, E: From<StoreError> + Send>(
        &self,
        mode: Mode,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        let (mut work, mut outcome) = (Some(work), None);
        self.transact(mode, &mut |tx| {
            let work = work.take().expect("`transact` calls its work once");
            match outcome.insert(work(tx)) {
                Ok(_) => Verdict::Commit,
                Err(_) => Verdict::RollBack,
            }
        })?;
        outcome.expect("`transact` calls its work once")
    }
}

/// Why the store did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Something that has to be unique exists already; this field is the one.
    #[error("`{0}` is already taken")]
    Duplicate(&'static str),
    /// What a new row was to hang on was removed at the same time.
    #[error("the owner of the row is gone")]
    Gone,
    /// Others were in the way: two transactions waited for each other, or one waited too long. Nothing
    /// was kept, and the same again may well succeed.
    #[error("others were in the way")]
    Busy,
    /// The transaction had failed before it was to be committed.
    #[error("the transaction was aborted by an earlier error")]
    Aborted,
    /// There is no room to write to. Nothing was kept; it works again as soon as there is room.
    #[error("the disk of the store is full")]
    Full(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No connection could be had in time, or it was lost. If that was while a transaction was committed, nobody
    /// knows whether it was kept: so the same is not tried again.
    #[error("the store is not reachable")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store holds something that this program does not understand.
    #[error("the store holds an unknown {0}")]
    Corrupt(&'static str),
    /// Anything else.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}
