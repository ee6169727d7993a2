//! One transaction of the store in memory.

use super::deliveries::{DeliveryRow, LaneRow};
use super::packs::PackRow;
use super::repository_tasks::TaskRow;
use super::tokens::TokenRow;
use super::users::UserRow;
use crate::Timestamp;
use crate::board::port::Boards;
use crate::board::{Board, BoardList};
use crate::branch::Protection;
use crate::branch::port::Protections;
use crate::build::port::Builds;
use crate::build::{Build, BuildDefinition};
use crate::delivery::port::{Deliveries, DeliveryLog};
use crate::event::Event;
use crate::event::port::Events;
use crate::group::port::Groups;
use crate::id::{
    DefinitionId, IssueId, LabelId, NamespaceId, PayloadId, PipelineId, ProjectId, RunnerId,
    ShareId, UserId,
};
use crate::issue::Issue;
use crate::issue::award::Award;
use crate::issue::port::Issues;
use crate::label::port::{GroupLabels, Labels};
use crate::label::{GroupLabel, Label};
use crate::member::Membership;
use crate::member::port::{AccessRequests, GroupMembers, ProjectMembers};
use crate::member::request::RequestSource;
use crate::milestone::Milestone;
use crate::milestone::port::Milestones;
use crate::namespace::Namespace;
use crate::namespace::port::Namespaces;
use crate::note::Note;
use crate::note::port::Notes;
use crate::outbox::OutboxEntry;
use crate::outbox::port::Outbox;
use crate::pack::PackName;
use crate::pack::port::Packs;
use crate::pipeline::port::Pipelines;
use crate::pipeline::{CommitFacts, Pipeline};
use crate::ports::store::{StoreError, Tx};
use crate::project::hook::ProjectHook;
use crate::project::port::{ProjectHooks, Projects, Shares, Stars};
use crate::project::share::NewShare;
use crate::project::{CoverageExpression, Project};
use crate::refs::port::Refs;
use crate::refs::{Ref, RepositoryState};
use crate::removal::port::Removals;
use crate::repository::port::RepositoryTasks;
use crate::runner::Runner;
use crate::runner::port::Runners;
use crate::sign_in::Failures;
use crate::sign_in::port::{SignInAddresses, SignInFailures};
use crate::subscription::Subscribed;
use crate::system_hook::SystemHook;
use crate::system_hook::port::SystemHooks;
use crate::tag::Release;
use crate::tag::port::Releases;
use crate::text::Secret;
use crate::token::port::Tokens;
use crate::trigger::port::Triggers;
use crate::trigger::{Trigger, TriggerRequest};
use crate::user::port::{Emails, Identities, Keys, Users};
use crate::user::{Email, Identity, SshKey};
use crate::variable::Variable;
use crate::variable::port::Variables;
use std::collections::{BTreeMap, BTreeSet};

/// Everything that is stored. Rows are in the order in which they were made.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Tables {
    /// Ids come from one count for all tables, so that no test can rely on their values.
    last_id: i64,
    pub users: BTreeMap<UserId, UserRow>,
    pub identities: Vec<(UserId, Identity)>,
    pub keys: Vec<SshKey>,
    pub emails: Vec<Email>,
    pub tokens: Vec<TokenRow>,
    pub namespaces: Vec<Namespace>,
    pub group_members: Vec<(NamespaceId, Membership)>,
    /// Their counters are not kept here but counted; see [`Tables::counted`].
    pub projects: BTreeMap<ProjectId, Project>,
    pub project_members: Vec<(ProjectId, Membership)>,
    pub access_requests: Vec<(RequestSource, UserId, Timestamp)>,
    pub stars: BTreeSet<(ProjectId, UserId)>,
    pub shares: Vec<(ShareId, NewShare)>,
    pub project_hooks: Vec<ProjectHook>,
    pub protections: Vec<(ProjectId, Protection)>,
    pub releases: Vec<(ProjectId, Release)>,
    pub repository_tasks: Vec<TaskRow>,
    pub repositories: BTreeMap<ProjectId, RepositoryState>,
    pub refs: BTreeMap<(ProjectId, String), Ref>,
    pub packs: Vec<PackRow>,
    pub condemned_packs: BTreeMap<PackName, Timestamp>,
    pub system_hooks: Vec<SystemHook>,
    /// The last numbers of the issues and of the milestones of projects.
    pub iids: BTreeMap<ProjectId, (i64, i64)>,
    /// Their counters are counted when they are shown; those of issues too.
    pub labels: Vec<Label>,
    pub group_labels: Vec<GroupLabel>,
    pub label_subscriptions: BTreeSet<(LabelId, UserId)>,
    pub milestones: Vec<Milestone>,
    pub issues: Vec<Issue>,
    pub issue_labels: BTreeSet<(IssueId, LabelId)>,
    pub issue_subscriptions: BTreeMap<(IssueId, UserId), Subscribed>,
    pub participants: BTreeSet<(IssueId, UserId)>,
    pub awards: Vec<Award>,
    pub notes: Vec<Note>,
    pub boards: Vec<Board>,
    pub board_lists: Vec<BoardList>,
    pub events: Vec<Event>,
    pub outbox: Vec<OutboxEntry>,
    pub payloads: BTreeMap<PayloadId, String>,
    pub lanes: Vec<LaneRow>,
    pub deliveries: Vec<DeliveryRow>,
    pub sign_in_failures: BTreeMap<String, Failures>,
    pub sign_in_addresses: BTreeMap<(UserId, String), Timestamp>,
    pub pipelines: Vec<(Pipeline, CommitFacts)>,
    /// Branches and tags that had pipelines and are gone.
    pub refs_gone: BTreeSet<(ProjectId, bool, String)>,
    pub coverage_expressions: BTreeMap<ProjectId, CoverageExpression>,
    pub runners_tokens: BTreeMap<ProjectId, Secret>,
    /// The projects that were made as forks.
    pub copies: BTreeSet<ProjectId>,
    pub definitions: BTreeMap<DefinitionId, (PipelineId, BuildDefinition)>,
    pub builds: Vec<Build>,
    pub runners: Vec<Runner>,
    pub runner_rotations: i64,
    pub runner_projects: BTreeSet<(RunnerId, ProjectId)>,
    pub triggers: Vec<Trigger>,
    pub trigger_requests: Vec<TriggerRequest>,
    pub variables: Vec<Variable>,
}

/// A transaction on a copy of the tables. Its ports are in one file each.
pub(super) struct FakeTx {
    pub tables: Tables,
    /// Whether a port returned an error.
    pub failed: bool,
}

impl FakeTx {
    pub fn on(tables: Tables) -> Self {
        Self { tables, failed: false }
    }

    /// The only way in which a port returns an error.
    pub fn refuse<T>(&mut self, error: StoreError) -> Result<T, StoreError> {
        self.failed = true;
        Err(error)
    }

    /// Rows that belong to a user need that user to exist.
    pub fn require(&mut self, user: UserId) -> Result<(), StoreError> {
        if self.tables.users.contains_key(&user) { Ok(()) } else { self.refuse(StoreError::Gone) }
    }

    /// The same for a namespace.
    pub fn require_namespace(&mut self, id: NamespaceId) -> Result<(), StoreError> {
        let known = self.tables.namespaces.iter().any(|namespace| namespace.id == id);
        if known { Ok(()) } else { self.refuse(StoreError::Gone) }
    }

    /// The same for a project.
    pub fn require_project(&mut self, id: ProjectId) -> Result<(), StoreError> {
        if self.tables.projects.contains_key(&id) { Ok(()) } else { self.refuse(StoreError::Gone) }
    }

    pub fn next_id(&mut self) -> i64 {
        self.tables.last_id += 1;
        self.tables.last_id
    }
}

impl Tx for FakeTx {
    fn users(&mut self) -> &mut dyn Users {
        self
    }

    fn identities(&mut self) -> &mut dyn Identities {
        self
    }

    fn keys(&mut self) -> &mut dyn Keys {
        self
    }

    fn emails(&mut self) -> &mut dyn Emails {
        self
    }

    fn tokens(&mut self) -> &mut dyn Tokens {
        self
    }

    fn namespaces(&mut self) -> &mut dyn Namespaces {
        self
    }

    fn groups(&mut self) -> &mut dyn Groups {
        self
    }

    fn group_members(&mut self) -> &mut dyn GroupMembers {
        self
    }

    fn projects(&mut self) -> &mut dyn Projects {
        self
    }

    fn project_members(&mut self) -> &mut dyn ProjectMembers {
        self
    }

    fn access_requests(&mut self) -> &mut dyn AccessRequests {
        self
    }

    fn stars(&mut self) -> &mut dyn Stars {
        self
    }

    fn shares(&mut self) -> &mut dyn Shares {
        self
    }

    fn project_hooks(&mut self) -> &mut dyn ProjectHooks {
        self
    }

    fn protections(&mut self) -> &mut dyn Protections {
        self
    }

    fn releases(&mut self) -> &mut dyn Releases {
        self
    }

    fn repository_tasks(&mut self) -> &mut dyn RepositoryTasks {
        self
    }

    fn refs(&mut self) -> &mut dyn Refs {
        self
    }

    fn packs(&mut self) -> &mut dyn Packs {
        self
    }

    fn system_hooks(&mut self) -> &mut dyn SystemHooks {
        self
    }

    fn labels(&mut self) -> &mut dyn Labels {
        self
    }

    fn group_labels(&mut self) -> &mut dyn GroupLabels {
        self
    }
    fn milestones(&mut self) -> &mut dyn Milestones {
        self
    }

    fn issues(&mut self) -> &mut dyn Issues {
        self
    }

    fn notes(&mut self) -> &mut dyn Notes {
        self
    }

    fn boards(&mut self) -> &mut dyn Boards {
        self
    }

    fn events(&mut self) -> &mut dyn Events {
        self
    }

    fn outbox(&mut self) -> &mut dyn Outbox {
        self
    }

    fn deliveries(&mut self) -> &mut dyn Deliveries {
        self
    }

    fn delivery_log(&mut self) -> &mut dyn DeliveryLog {
        self
    }

    fn sign_in_failures(&mut self) -> &mut dyn SignInFailures {
        self
    }

    fn sign_in_addresses(&mut self) -> &mut dyn SignInAddresses {
        self
    }

    fn pipelines(&mut self) -> &mut dyn Pipelines {
        self
    }

    fn builds(&mut self) -> &mut dyn Builds {
        self
    }

    fn runners(&mut self) -> &mut dyn Runners {
        self
    }

    fn triggers(&mut self) -> &mut dyn Triggers {
        self
    }

    fn variables(&mut self) -> &mut dyn Variables {
        self
    }
    fn removals(&mut self) -> &mut dyn Removals {
        self
    }
}
