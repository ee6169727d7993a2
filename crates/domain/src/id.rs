//! Identities of entities, one type each, so that a key's id is never taken for a user's.

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
    /// An activity event.
    EventId,
    /// A row of the outbox.
    OutboxId,
    /// A share of a project with a group.
    ShareId,
    /// A hook of a project.
    ProjectHookId,
    /// A hook of the service.
    SystemHookId,
    /// Work on a repository.
    RepositoryTaskId,
    /// A label of a project.
    LabelId,
    /// A milestone of a project.
    MilestoneId,
    /// An issue, in the whole service; people know it by its number in the project.
    IssueId,
    /// A note on something.
    NoteId,
    /// An emoji that somebody gave to something.
    AwardId,
    /// The board of a project.
    BoardId,
    /// A list of a board.
    BoardListId,
    /// What one or several hooks are sent.
    PayloadId,
    /// The queue of a hook.
    LaneId,
    /// Something that a hook is sent.
    DeliveryId,
    /// A pipeline.
    PipelineId,
    /// A build, or what somebody else says of a commit.
    BuildId,
    /// What a build is to do.
    DefinitionId,
    /// A runner.
    RunnerId,
    /// A trigger of a project.
    TriggerId,
    /// A use of a trigger.
    TriggerRequestId,
    /// A variable of a project.
    VariableId,
}
