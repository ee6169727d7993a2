//! The port to the database and its unit of work, the transaction.

use crate::application_settings::port::SettingsStore;
use crate::award::port::Awards;
use crate::board::port::Boards;
use crate::branch::port::Protections;
use crate::broadcast::port::Broadcasts;
use crate::browser_session::port::BrowserSessions;
use crate::build::port::Builds;
use crate::delivery::port::{Deliveries, DeliveryLog};
use crate::deploy_key::port::DeployKeys;
use crate::deployment::port::Deployments;
use crate::environment::port::Environments;
use crate::event::port::Events;
use crate::group::port::Groups;
use crate::issuable::port::Issuables;
use crate::issue::port::Issues;
use crate::label::port::{GroupLabels, Labels};
use crate::lfs::port::LfsObjects;
use crate::member::port::{AccessRequests, GroupMembers, ProjectMembers};
use crate::merge_request::port::MergeRequests;
use crate::milestone::port::Milestones;
use crate::namespace::port::Namespaces;
use crate::note::port::Notes;
use crate::notification::port::NotificationSettings;
use crate::outbox::port::Outbox;
use crate::pack::port::Packs;
use crate::pipeline::port::Pipelines;
use crate::project::port::{ProjectHooks, Projects, Shares, Stars};
use crate::refs::port::Refs;
use crate::removal::port::Removals;
use crate::repository::port::RepositoryTasks;
use crate::runner::port::Runners;
use crate::search::Searches;
use crate::service::port::Services;
use crate::sign_in::port::{SignInAddresses, SignInFailures};
use crate::snippet::port::Snippets;
use crate::system_hook::port::SystemHooks;
use crate::tag::port::Releases;
use crate::todo::port::Todos;
use crate::token::port::Tokens;
use crate::trigger::port::Triggers;
use crate::user::port::{Emails, Identities, Keys, Users};
use crate::variable::port::Variables;

pub use super::store_error::StoreError;

/// A transaction: gives access to the ports of all entities.
pub trait Tx {
    /// All accounts.
    fn users(&mut self) -> &mut dyn Users;
    /// The identities of users at external providers.
    fn identities(&mut self) -> &mut dyn Identities;
    /// The SSH keys of all users.
    fn keys(&mut self) -> &mut dyn Keys;
    /// The deploy keys of all projects.
    fn deploy_keys(&mut self) -> &mut dyn DeployKeys;
    /// The e-mail addresses of all users.
    fn emails(&mut self) -> &mut dyn Emails;
    /// The tokens of all users.
    fn tokens(&mut self) -> &mut dyn Tokens;
    /// The browser sessions of all users.
    fn browser_sessions(&mut self) -> &mut dyn BrowserSessions;
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
    /// Requests for membership.
    fn access_requests(&mut self) -> &mut dyn AccessRequests;
    /// The stars that users gave to projects.
    fn stars(&mut self) -> &mut dyn Stars;
    /// The shares of projects with groups.
    fn shares(&mut self) -> &mut dyn Shares;
    /// The hooks of all projects.
    fn project_hooks(&mut self) -> &mut dyn ProjectHooks;
    /// The services of all projects.
    fn services(&mut self) -> &mut dyn Services;
    /// The protected branches of all projects.
    fn protections(&mut self) -> &mut dyn Protections;
    /// The releases of all projects.
    fn releases(&mut self) -> &mut dyn Releases;
    /// Queued work on repositories.
    fn repository_tasks(&mut self) -> &mut dyn RepositoryTasks;
    /// Refs and HEAD of all repositories.
    fn refs(&mut self) -> &mut dyn Refs;
    /// The packs of all repositories.
    fn packs(&mut self) -> &mut dyn Packs;
    /// The LFS objects of all fork networks.
    fn lfs_objects(&mut self) -> &mut dyn LfsObjects;
    /// The system hooks.
    fn system_hooks(&mut self) -> &mut dyn SystemHooks;
    /// The settings of the service that administrators changed.
    fn application_settings(&mut self) -> &mut dyn SettingsStore;
    /// Searches by title.
    fn searches(&mut self) -> &mut dyn Searches;
    /// The broadcast messages.
    fn broadcasts(&mut self) -> &mut dyn Broadcasts;
    /// The labels of all projects.
    fn labels(&mut self) -> &mut dyn Labels;
    /// The labels of all groups.
    fn group_labels(&mut self) -> &mut dyn GroupLabels;
    /// The milestones of all projects.
    fn milestones(&mut self) -> &mut dyn Milestones;
    /// The issues of all projects.
    fn issues(&mut self) -> &mut dyn Issues;
    /// The merge requests of all projects.
    fn merge_requests(&mut self) -> &mut dyn MergeRequests;
    /// The subscriptions and participants of all issues and merge requests.
    fn issuables(&mut self) -> &mut dyn Issuables;
    /// The awards of all issues, merge requests, snippets and notes.
    fn awards(&mut self) -> &mut dyn Awards;
    /// The todos of all users.
    fn todos(&mut self) -> &mut dyn Todos;
    /// The notification settings of all users.
    fn notification_settings(&mut self) -> &mut dyn NotificationSettings;
    /// The snippets of all projects and users.
    fn snippets(&mut self) -> &mut dyn Snippets;
    /// The notes on all issues, merge requests, snippets and commits.
    fn notes(&mut self) -> &mut dyn Notes;
    /// The boards of all projects.
    fn boards(&mut self) -> &mut dyn Boards;
    /// The activity events of all users.
    fn events(&mut self) -> &mut dyn Events;
    /// The outbox: events that wait to be sent.
    fn outbox(&mut self) -> &mut dyn Outbox;
    /// The queued deliveries to hooks.
    fn deliveries(&mut self) -> &mut dyn Deliveries;
    /// The log of deliveries to hooks.
    fn delivery_log(&mut self) -> &mut dyn DeliveryLog;
    /// Failed sign-ins.
    fn sign_in_failures(&mut self) -> &mut dyn SignInFailures;
    /// The networks from which users signed in.
    fn sign_in_addresses(&mut self) -> &mut dyn SignInAddresses;
    /// The pipelines of all projects.
    fn pipelines(&mut self) -> &mut dyn Pipelines;
    /// The builds of all projects, and the external statuses of commits.
    fn builds(&mut self) -> &mut dyn Builds;
    /// All runners.
    fn runners(&mut self) -> &mut dyn Runners;
    /// The triggers of all projects.
    fn triggers(&mut self) -> &mut dyn Triggers;
    /// The variables of all projects.
    fn variables(&mut self) -> &mut dyn Variables;
    /// The environments of all projects.
    fn environments(&mut self) -> &mut dyn Environments;
    /// The deployments of all projects.
    fn deployments(&mut self) -> &mut dyn Deployments;
    /// The remaining rows of removed projects, groups and users.
    fn removals(&mut self) -> &mut dyn Removals;
}

/// The kind of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Reads one consistent snapshot and changes nothing; never waits for a writer.
    Read,
    /// Reads without a transaction: each query may see commits that happened after the previous query. For a single
    /// query, or for queries that need no common snapshot. Saves the round trips of BEGIN and COMMIT.
    Autocommit,
    /// Reads and writes. A successful commit is durable.
    Write,
}

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Commit all changes.
    Commit,
    /// Discard all changes.
    RollBack,
}

/// Stores all data except git objects and files.
pub trait Store: Send + Sync {
    /// Calls `work` exactly once inside a transaction, then commits or rolls back by the verdict that `work` returns.
    /// With [`Mode::Autocommit`], `work` is called a second time if its first call found that the connection was lost.
    /// `work` may run on another thread while the current one waits.
    /// # Errors
    /// [`StoreError::Aborted`] when the verdict is to commit although a port of the transaction returned an error. The
    /// transaction is rolled back in that case.
    fn transact(
        &self,
        mode: Mode,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError>;

    /// Opens a snapshot for the reads of one request; `None` if the store has none, so that each read sees its own
    /// state.
    fn snapshot(&self) -> Option<Box<dyn ReadSnapshot>> {
        None
    }

    /// Releases the snapshot that the reads of a request share, before slow work that needs no database. Does nothing
    /// if they share none.
    fn release_snapshot(&self) {}

    /// Succeeds when the database is reachable and its schema is the one this program expects.
    fn check_ready(&self) -> Result<(), StoreError>;
}

/// A state of the store that several reads see, for one request. What a read has loaded is not loaded again. It has a
/// connection to the database until it is released or dropped.
pub trait ReadSnapshot: Send {
    /// Like [`Store::transact`] with [`Mode::Read`]. All calls see the state of the first one. Only after an error of
    /// the store the next call sees a newer state.
    fn read(
        &mut self,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError>;

    /// Returns the connection. From then on each read sees the newest state, but rows that were loaded before are still
    /// not loaded again.
    fn release(&mut self);
}

impl dyn Store + '_ {
    /// Runs a read-write transaction: `Ok` commits, `Err` rolls back.
    pub fn write<T: Send, E: From<StoreError> + Send>(
        &self,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        self.run(Mode::Write, work)
    }

    /// Runs a read-only transaction.
    pub fn read<T: Send, E: From<StoreError> + Send>(
        &self,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        self.run(Mode::Read, work)
    }

    /// Runs queries without a common snapshot. `work` may be called twice, see [`Store::transact`].
    pub fn read_autocommit<T: Send, E: From<StoreError> + Send>(
        &self,
        mut work: impl FnMut(&mut dyn Tx) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        let mut outcome = None;
        self.transact(Mode::Autocommit, &mut |tx| match outcome.insert(work(tx)) {
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
