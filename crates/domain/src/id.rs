//! Id newtypes, one per entity, so that the compiler rejects a key id where a user id is expected.

/// Parses an id that consists of digits only.
pub fn parse(text: &str) -> Option<i64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub i64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

ids! {
    /// A user account.
    UserId,
    /// A namespace: the first part of a project's path, owned by a user or a group.
    NamespaceId,
    /// A project.
    ProjectId,
    /// A registered SSH key.
    KeyId,
    /// A secondary e-mail address.
    EmailId,
    /// An access token.
    TokenId,
    /// A session of a browser.
    BrowserSessionId,
    /// An activity event.
    EventId,
    /// A row of the outbox.
    OutboxId,
    /// A share of a project with a group.
    ShareId,
    /// A hook of a project.
    ProjectHookId,
    /// A system hook.
    SystemHookId,
    /// A broadcast message.
    BroadcastId,
    /// A background task of a repository.
    RepositoryTaskId,
    /// A label of a project.
    LabelId,
    /// A milestone of a project.
    MilestoneId,
    /// An issue, unique in the whole service. Users see its number in the project (`iid`) instead.
    IssueId,
    /// A merge request, unique in the whole service. Users see its number in the target project (`iid`) instead.
    MergeRequestId,
    /// A version of a merge request: its commits and changes at one time.
    MergeRequestVersionId,
    /// A snippet.
    SnippetId,
    /// A note on an issue, merge request, snippet or commit.
    NoteId,
    /// An emoji award: the reaction of a user to an issue, a merge request or a note.
    AwardId,
    /// A todo of a user.
    TodoId,
    /// The board of a project.
    BoardId,
    /// A list of a board.
    BoardListId,
    /// The payload of one or several hook deliveries.
    PayloadId,
    /// A lane: the delivery queue of one hook.
    LaneId,
    /// A delivery of a payload to a hook.
    DeliveryId,
    /// A pipeline.
    PipelineId,
    /// A build, or a commit status that an external system reported.
    BuildId,
    /// The definition of a build: what a runner has to execute.
    DefinitionId,
    /// A runner.
    RunnerId,
    /// A trigger of a project.
    TriggerId,
    /// A request that used a trigger.
    TriggerRequestId,
    /// A variable of a project.
    VariableId,
    /// A service of a project: its integration with another system.
    ServiceId,
    /// An environment of a project.
    EnvironmentId,
    /// A deployment of a build to an environment.
    DeploymentId,
    /// A fork network: a project that was not created as a fork, with all projects that were forked from it, directly
    /// or not. It has the id of that first project, and keeps it when that project is removed.
    ForkNetworkId,
}
