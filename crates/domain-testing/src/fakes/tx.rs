//! A transaction of the in-memory store.

use super::browser_sessions::SessionRow;
use super::deliveries::{DeliveryRow, LaneRow};
use super::packs::PackRow;
use super::repository_tasks::TaskRow;
use super::tokens::TokenRow;
use super::users::UserRow;
use hexforge_domain::Timestamp;
use hexforge_domain::application_settings::StoredSettings;
use hexforge_domain::application_settings::port::SettingsStore;
use hexforge_domain::award::Award;
use hexforge_domain::award::port::Awards;
use hexforge_domain::board::port::Boards;
use hexforge_domain::board::{Board, BoardList};
use hexforge_domain::branch::Protection;
use hexforge_domain::branch::port::Protections;
use hexforge_domain::broadcast::Broadcast;
use hexforge_domain::broadcast::port::Broadcasts;
use hexforge_domain::browser_session::port::BrowserSessions;
use hexforge_domain::build::port::Builds;
use hexforge_domain::build::{Build, BuildDefinition};
use hexforge_domain::delivery::port::{Deliveries, DeliveryLog};
use hexforge_domain::deploy_key::DeployKey;
use hexforge_domain::deploy_key::port::DeployKeys;
use hexforge_domain::deployment::Deployment;
use hexforge_domain::deployment::port::Deployments;
use hexforge_domain::environment::Environment;
use hexforge_domain::environment::port::Environments;
use hexforge_domain::event::Event;
use hexforge_domain::event::port::Events;
use hexforge_domain::group::port::Groups;
use hexforge_domain::id::{
    DefinitionId, ForkNetworkId, IssueId, KeyId, LabelId, MergeRequestId, NamespaceId, PayloadId,
    PipelineId, ProjectId, RunnerId, ShareId, UserId,
};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issuable::port::Issuables;
use hexforge_domain::issue::Issue;
use hexforge_domain::issue::port::Issues;
use hexforge_domain::label::port::{GroupLabels, Labels};
use hexforge_domain::label::{GroupLabel, Label};
use hexforge_domain::lfs::LfsOid;
use hexforge_domain::lfs::port::LfsObjects;
use hexforge_domain::member::Membership;
use hexforge_domain::member::port::{AccessRequests, GroupMembers, ProjectMembers};
use hexforge_domain::member::request::RequestSource;
use hexforge_domain::merge_request::port::MergeRequests;
use hexforge_domain::merge_request::{MergeRequest, Version};
use hexforge_domain::milestone::Milestone;
use hexforge_domain::milestone::port::Milestones;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::namespace::port::Namespaces;
use hexforge_domain::note::Note;
use hexforge_domain::note::port::Notes;
use hexforge_domain::notification::port::NotificationSettings;
use hexforge_domain::notification::{NotificationScope, NotificationSetting};
use hexforge_domain::outbox::OutboxEntry;
use hexforge_domain::outbox::port::Outbox;
use hexforge_domain::pack::PackName;
use hexforge_domain::pack::port::Packs;
use hexforge_domain::pipeline::port::Pipelines;
use hexforge_domain::pipeline::{CommitFacts, Pipeline};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::hook::ProjectHook;
use hexforge_domain::project::port::{ProjectHooks, Projects, Shares, Stars};
use hexforge_domain::project::share::NewShare;
use hexforge_domain::project::{BuildSettings, CoverageExpression, Project};
use hexforge_domain::refs::port::Refs;
use hexforge_domain::refs::{Ref, RepositoryState};
use hexforge_domain::removal::port::Removals;
use hexforge_domain::repository::port::RepositoryTasks;
use hexforge_domain::runner::Runner;
use hexforge_domain::runner::port::Runners;
use hexforge_domain::search::Searches;
use hexforge_domain::service::ProjectService;
use hexforge_domain::service::port::Services;
use hexforge_domain::sign_in::Failures;
use hexforge_domain::sign_in::port::{SignInAddresses, SignInFailures};
use hexforge_domain::snippet::Snippet;
use hexforge_domain::snippet::port::Snippets;
use hexforge_domain::subscription::Subscribed;
use hexforge_domain::system_hook::SystemHook;
use hexforge_domain::system_hook::port::SystemHooks;
use hexforge_domain::tag::Release;
use hexforge_domain::tag::port::Releases;
use hexforge_domain::text::{LongText, Secret};
use hexforge_domain::todo::Todo;
use hexforge_domain::todo::port::Todos;
use hexforge_domain::token::port::Tokens;
use hexforge_domain::trigger::port::Triggers;
use hexforge_domain::trigger::{Trigger, TriggerRequest};
use hexforge_domain::user::port::{Emails, Identities, Keys, Users};
use hexforge_domain::user::{Email, Identity, SshKey};
use hexforge_domain::variable::Variable;
use hexforge_domain::variable::port::Variables;
use std::collections::{BTreeMap, BTreeSet};

/// All tables. Rows are in insertion order.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Tables {
    /// One id sequence for all tables, so that no test can rely on the values of ids.
    last_id: i64,
    pub users: BTreeMap<UserId, UserRow>,
    pub identities: Vec<(UserId, Identity)>,
    pub keys: Vec<SshKey>,
    pub deploy_keys: Vec<DeployKey>,
    pub project_deploy_keys: BTreeSet<(ProjectId, KeyId)>,
    pub emails: Vec<Email>,
    pub tokens: Vec<TokenRow>,
    pub browser_sessions: Vec<SessionRow>,
    pub namespaces: Vec<Namespace>,
    pub group_members: Vec<(NamespaceId, Membership)>,
    /// The counters are not stored but computed; see [`Tables::project_with_counters`].
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
    pub fork_networks: BTreeMap<ProjectId, ForkNetworkId>,
    /// The sizes of the LFS objects.
    pub lfs_objects: BTreeMap<(ForkNetworkId, LfsOid), u64>,
    /// The networks without projects whose files are not removed yet.
    pub freed_networks: BTreeSet<ForkNetworkId>,
    pub system_hooks: Vec<SystemHook>,
    /// The last numbers of each project.
    pub iids: BTreeMap<ProjectId, LastNumbers>,
    /// The counters of labels and issues are computed on each read.
    pub labels: Vec<Label>,
    pub group_labels: Vec<GroupLabel>,
    pub label_subscriptions: BTreeSet<(LabelId, UserId)>,
    pub milestones: Vec<Milestone>,
    pub issues: Vec<Issue>,
    pub issue_labels: BTreeSet<(IssueId, LabelId)>,
    pub merge_requests: Vec<MergeRequest>,
    pub merge_request_labels: BTreeSet<(MergeRequestId, LabelId)>,
    pub versions: Vec<Version>,
    pub subscriptions: BTreeMap<(Issuable, UserId), Subscribed>,
    pub participants: BTreeSet<(Issuable, UserId)>,
    pub awards: Vec<Award>,
    pub todos: Vec<Todo>,
    pub snippets: Vec<(Snippet, LongText)>,
    pub notes: Vec<Note>,
    pub application_settings: Option<StoredSettings>,
    pub broadcasts: Vec<Broadcast>,
    pub notification_settings: BTreeMap<(UserId, NotificationScope), NotificationSetting>,
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
    /// Deleted branches and tags that had pipelines.
    pub refs_gone: BTreeSet<(ProjectId, bool, String)>,
    pub coverage_expressions: BTreeMap<ProjectId, CoverageExpression>,
    pub build_settings: BTreeMap<ProjectId, BuildSettings>,
    pub runners_tokens: BTreeMap<ProjectId, Secret>,
    /// The projects that were created as forks.
    pub copies: BTreeSet<ProjectId>,
    pub definitions: BTreeMap<DefinitionId, (PipelineId, BuildDefinition)>,
    pub builds: Vec<Build>,
    pub runners: Vec<Runner>,
    pub runner_rotations: i64,
    pub runner_projects: BTreeSet<(RunnerId, ProjectId)>,
    pub triggers: Vec<Trigger>,
    pub trigger_requests: Vec<TriggerRequest>,
    pub services: Vec<ProjectService>,
    pub variables: Vec<Variable>,
    pub environments: Vec<Environment>,
    pub deployments: Vec<Deployment>,
}

/// The last numbers that were given to issues, milestones, merge requests and deployments of a project.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct LastNumbers {
    pub issues: i64,
    pub milestones: i64,
    pub merge_requests: i64,
    pub deployments: i64,
}

/// A transaction on a copy of the tables. The ports are implemented in one file each.
pub(super) struct FakeTx {
    pub tables: Tables,
    /// Whether a port returned an error.
    pub failed: bool,
}

impl FakeTx {
    pub fn new(tables: Tables) -> Self {
        Self { tables, failed: false }
    }

    /// Records the failure of the transaction and returns the error. All ports return errors
    /// through this function.
    pub fn refuse<T>(&mut self, error: StoreError) -> Result<T, StoreError> {
        self.failed = true;
        Err(error)
    }

    /// Returns [`StoreError::Gone`] if the user does not exist, like a foreign key.
    pub fn require_user(&mut self, user: UserId) -> Result<(), StoreError> {
        if self.tables.users.contains_key(&user) { Ok(()) } else { self.refuse(StoreError::Gone) }
    }

    /// Returns [`StoreError::Gone`] if the namespace does not exist, like a foreign key.
    pub fn require_namespace(&mut self, id: NamespaceId) -> Result<(), StoreError> {
        let known = self.tables.namespaces.iter().any(|namespace| namespace.id == id);
        if known { Ok(()) } else { self.refuse(StoreError::Gone) }
    }

    /// Returns [`StoreError::Gone`] if the project does not exist, like a foreign key.
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

    fn deploy_keys(&mut self) -> &mut dyn DeployKeys {
        self
    }

    fn emails(&mut self) -> &mut dyn Emails {
        self
    }

    fn tokens(&mut self) -> &mut dyn Tokens {
        self
    }

    fn browser_sessions(&mut self) -> &mut dyn BrowserSessions {
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

    fn lfs_objects(&mut self) -> &mut dyn LfsObjects {
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

    fn merge_requests(&mut self) -> &mut dyn MergeRequests {
        self
    }

    fn issuables(&mut self) -> &mut dyn Issuables {
        self
    }

    fn snippets(&mut self) -> &mut dyn Snippets {
        self
    }

    fn awards(&mut self) -> &mut dyn Awards {
        self
    }

    fn todos(&mut self) -> &mut dyn Todos {
        self
    }

    fn application_settings(&mut self) -> &mut dyn SettingsStore {
        self
    }

    fn searches(&mut self) -> &mut dyn Searches {
        self
    }

    fn broadcasts(&mut self) -> &mut dyn Broadcasts {
        self
    }

    fn notification_settings(&mut self) -> &mut dyn NotificationSettings {
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

    fn services(&mut self) -> &mut dyn Services {
        self
    }

    fn environments(&mut self) -> &mut dyn Environments {
        self
    }

    fn deployments(&mut self) -> &mut dyn Deployments {
        self
    }

    fn removals(&mut self) -> &mut dyn Removals {
        self
    }
}
