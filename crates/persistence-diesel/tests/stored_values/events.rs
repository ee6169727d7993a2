//! Events of every kind: once with every field filled, once with every optional field empty.

use chrono::{DateTime, FixedOffset, TimeDelta};
use hexforge_domain::Timestamp;
use hexforge_domain::ci::status::Status;
use hexforge_domain::ci::when::When;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{
    BuildId, IssueId, KeyId, MergeRequestId, MilestoneId, NamespaceId, NoteId, PipelineId,
    ProjectId, RunnerId, SnippetId, UserId,
};
use hexforge_domain::issue::IssueState;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::merge_request::{MergeRequestState, MergeStatus};
use hexforge_domain::outbox::ci::{BuildEvent, BuildRow, PipelineEvent, PipelineRow, RunnerRow};
use hexforge_domain::outbox::commit_note::CommitNoteEvent;
use hexforge_domain::outbox::merge_request::{
    AutomaticMergeRow, HookedRequest, LastCommit, MergeRequestAction, MergeRequestEvent,
    MergeRequestRow, RequestNoteEvent,
};
use hexforge_domain::outbox::project::{
    IssueAction, IssueEvent, IssueRow, NoteEvent, NoteRow, Person, ProjectCard, ProjectEvent,
};
use hexforge_domain::outbox::snippet_note::{SnippetNoteEvent, SnippetRow};
use hexforge_domain::outbox::{
    DeployKeyFacts, GroupFacts, GroupMemberFacts, KeyFacts, MemberFacts, ProjectFacts, SystemEvent,
    TeamFacts, UserFacts,
};
use hexforge_domain::pipeline::CommitFacts;
use hexforge_domain::push::{ChangedPaths, HookScope, Push, PushedCommit, PushedProject, Pusher};
use hexforge_domain::repository::{ChangedLine, FileDiff};
use hexforge_domain::visibility::Visibility;
use hexforge_domain_testing::builders::{a_commit_id, at, day};

/// How many optional fields of an event have a value.
#[derive(Clone, Copy)]
pub enum Fill {
    Full,
    Minimal,
}

impl Fill {
    fn some<T>(self, value: T) -> Option<T> {
        match self {
            Fill::Full => Some(value),
            Fill::Minimal => None,
        }
    }

    fn text(self, text: &str) -> Option<String> {
        self.some(text.to_owned())
    }

    fn list<T, const N: usize>(self, items: [T; N]) -> Vec<T> {
        self.some(items).into_iter().flatten().collect()
    }
}

/// The `kind` column of an event. A new event needs an arm here and a line in [`events`].
pub fn kind(event: &SystemEvent) -> &'static str {
    match event {
        SystemEvent::UserCreated(_) => "user_create",
        SystemEvent::UserDestroyed(_) => "user_destroy",
        SystemEvent::KeyCreated(_) => "key_create",
        SystemEvent::KeyDestroyed(_) => "key_destroy",
        SystemEvent::DeployKeyCreated(_) => "deploykey_create",
        SystemEvent::DeployKeyDestroyed(_) => "deploykey_destroy",
        SystemEvent::ProjectCreated(_) => "project_create",
        SystemEvent::ProjectDestroyed(_) => "project_destroy",
        SystemEvent::ProjectRenamed(..) => "project_rename",
        SystemEvent::ProjectTransferred(..) => "project_transfer",
        SystemEvent::TeamMemberAdded(_) => "user_add_to_team",
        SystemEvent::TeamMemberRemoved(_) => "user_remove_from_team",
        SystemEvent::GroupCreated(_) => "group_create",
        SystemEvent::GroupDestroyed(_) => "group_destroy",
        SystemEvent::GroupMemberAdded(_) => "user_add_to_group",
        SystemEvent::GroupMemberRemoved(_) => "user_remove_from_group",
        SystemEvent::Pushed(_) => "push",
        SystemEvent::InProject(event) => match **event {
            ProjectEvent::Issue(_) => "issue",
            ProjectEvent::NoteOnIssue(_) => "note_on_issue",
            ProjectEvent::MergeRequest(_) => "merge_request",
            ProjectEvent::NoteOnMergeRequest(_) => "note_on_merge_request",
            ProjectEvent::NoteOnCommit(_) => "note_on_commit",
            ProjectEvent::NoteOnSnippet(_) => "note_on_snippet",
            ProjectEvent::Build(_) => "build",
            ProjectEvent::Pipeline(_) => "pipeline",
        },
    }
}

/// One event of each kind.
pub fn events(fill: Fill) -> Vec<SystemEvent> {
    let in_project = |event| SystemEvent::InProject(Box::new(event));
    vec![
        SystemEvent::UserCreated(user()),
        SystemEvent::UserDestroyed(user()),
        SystemEvent::KeyCreated(key()),
        SystemEvent::KeyDestroyed(key()),
        SystemEvent::DeployKeyCreated(deploy_key()),
        SystemEvent::DeployKeyDestroyed(deploy_key()),
        SystemEvent::ProjectCreated(project(Visibility::Public)),
        SystemEvent::ProjectDestroyed(project(Visibility::Internal)),
        SystemEvent::ProjectRenamed(project(Visibility::Private), "team/old".into()),
        SystemEvent::ProjectTransferred(project(Visibility::Private), "old/site".into()),
        SystemEvent::TeamMemberAdded(TeamFacts {
            project: project(Visibility::Private),
            member: member(AccessLevel::Guest),
        }),
        SystemEvent::TeamMemberRemoved(TeamFacts {
            project: project(Visibility::Private),
            member: member(AccessLevel::Master),
        }),
        SystemEvent::GroupCreated(group()),
        SystemEvent::GroupDestroyed(group()),
        SystemEvent::GroupMemberAdded(GroupMemberFacts {
            group: group(),
            member: member(AccessLevel::Owner),
        }),
        SystemEvent::GroupMemberRemoved(GroupMemberFacts {
            group: group(),
            member: member(AccessLevel::Developer),
        }),
        SystemEvent::Pushed(Box::new(push(fill))),
        in_project(ProjectEvent::Issue(IssueEvent {
            action: IssueAction::Reopen,
            user: person(fill),
            project: card(fill),
            issue: issue(fill),
            assignee: fill.some(person(fill)),
        })),
        in_project(ProjectEvent::NoteOnIssue(NoteEvent {
            user: person(fill),
            project: card(fill),
            note: note(fill),
            issue: issue(fill),
        })),
        in_project(ProjectEvent::MergeRequest(MergeRequestEvent {
            action: MergeRequestAction::Merge,
            user: person(fill),
            request: merge_request(fill),
            assignee: fill.some(person(fill)),
            old_head: fill.some(a_commit_id(9)),
        })),
        in_project(ProjectEvent::NoteOnMergeRequest(RequestNoteEvent {
            user: person(fill),
            note: note(fill),
            request: merge_request(fill),
        })),
        in_project(ProjectEvent::NoteOnCommit(CommitNoteEvent {
            user: person(fill),
            project: card(fill),
            note: note(fill),
            commit: a_commit_id(4),
            facts: commit(),
            line: fill.some(changed_line(fill)),
        })),
        in_project(ProjectEvent::NoteOnSnippet(SnippetNoteEvent {
            user: person(fill),
            project: card(fill),
            note: note(fill),
            snippet: SnippetRow {
                id: SnippetId(7),
                title: "Code".into(),
                content: "puts 1\n".into(),
                author: UserId(1),
                project: fill.some(ProjectId(4)),
                created_at: moment(3),
                updated_at: moment(4),
                file_name: "a.rb".into(),
                visibility: Visibility::Internal,
            },
        })),
        in_project(ProjectEvent::Build(BuildEvent {
            project: card(fill),
            project_name: "Team / Site".into(),
            pipeline: pipeline(fill),
            commit: commit(),
            build: build(fill),
            allow_failure: true,
        })),
        in_project(ProjectEvent::Pipeline(PipelineEvent {
            project: card(fill),
            default_branch: fill.text("master"),
            pipeline: pipeline(fill),
            user: fill.some(person(fill)),
            commit: commit(),
            stages: fill.list(["build".into(), "deploy".into()]),
            builds: fill.list([build(Fill::Full), build(Fill::Minimal)]),
        })),
    ]
}

fn changed_line(fill: Fill) -> ChangedLine {
    let diff = FileDiff {
        old_path: "old/ü".into(),
        new_path: "new/ü".into(),
        old_mode: fill.some(0o100_644),
        new_mode: fill.some(0o100_755),
        renamed: true,
        text: "@@ -1 +1 @@\n-a\n+b\n".into(),
        too_large: false,
    };
    ChangedLine { old: 2, new: 1, diff }
}

pub fn push(fill: Fill) -> Push {
    Push {
        reference: "refs/heads/feature/ü".into(),
        before: ObjectId::ZERO,
        after: a_commit_id(2),
        checkout: fill.some(a_commit_id(3)),
        message: fill.text("First\nrelease"),
        user: Pusher {
            id: UserId(1),
            name: "Ada \"🦀\" \\".into(),
            email: "ada@example.com".into(),
            avatar: fill.text("me.png"),
        },
        project: PushedProject {
            id: ProjectId(2),
            name: "Site".into(),
            description: fill.text("A site"),
            avatar: fill.text("logo.png"),
            namespace: "Team".into(),
            visibility: Visibility::Internal,
            path_with_namespace: "team/site".into(),
            default_branch: fill.text("master"),
        },
        commits: fill.list([
            PushedCommit {
                id: a_commit_id(4),
                message: "Fix\u{0}it\n".into(),
                at: with_offset(3600),
                author_name: "Ada".into(),
                author_email: "ada@example.com".into(),
                paths: ChangedPaths {
                    added: vec!["a.txt".into(), "b/c.txt".into()],
                    modified: vec!["d.txt".into()],
                    removed: vec!["e.txt".into()],
                },
            },
            PushedCommit {
                id: a_commit_id(5),
                message: String::new(),
                at: with_offset(-5400),
                author_name: String::new(),
                author_email: String::new(),
                paths: ChangedPaths::default(),
            },
        ]),
        total_commits: 25,
        reach: match fill {
            Fill::Full => HookScope::Project,
            Fill::Minimal => HookScope::Everywhere,
        },
    }
}

fn moment(seconds: i64) -> Timestamp {
    at(seconds) + TimeDelta::microseconds(123_456)
}

fn with_offset(seconds: i32) -> DateTime<FixedOffset> {
    at(9).with_timezone(&FixedOffset::east_opt(seconds).expect("less than a day"))
}

fn user() -> UserFacts {
    UserFacts {
        id: UserId(i64::MAX),
        username: "ada".into(),
        name: "Ada \"🦀\" \\".into(),
        email: "ada@example.com".into(),
        created_at: moment(1),
        updated_at: at(2),
    }
}

fn key() -> KeyFacts {
    KeyFacts {
        id: KeyId(3),
        key: "ssh-ed25519 AAAA ada@example.com".into(),
        username: "ada".into(),
        created_at: moment(3),
    }
}

fn deploy_key() -> DeployKeyFacts {
    DeployKeyFacts { id: KeyId(4), key: "ssh-ed25519 AAAA server".into(), created_at: moment(3) }
}

fn project(visibility: Visibility) -> ProjectFacts {
    ProjectFacts {
        id: ProjectId(4),
        name: "Site".into(),
        path: "site".into(),
        path_with_namespace: "team/site".into(),
        owner_name: "Team".into(),
        owner_email: String::new(),
        visibility,
        created_at: moment(4),
        updated_at: moment(5),
    }
}

fn member(access: AccessLevel) -> MemberFacts {
    MemberFacts {
        user: UserId(1),
        username: "ada".into(),
        name: "Ada".into(),
        email: "ada@example.com".into(),
        access,
        at: moment(6),
    }
}

fn group() -> GroupFacts {
    GroupFacts {
        id: NamespaceId(5),
        name: "Team".into(),
        path: "team".into(),
        created_at: moment(7),
        updated_at: moment(8),
    }
}

fn person(fill: Fill) -> Person {
    Person {
        id: UserId(1),
        name: "Ada".into(),
        username: "ada".into(),
        email: "ada@example.com".into(),
        avatar: fill.text("me.png"),
    }
}

fn card(fill: Fill) -> ProjectCard {
    ProjectCard {
        id: ProjectId(4),
        name: "Site".into(),
        description: fill.text("A site"),
        namespace: "Team".into(),
        path_with_namespace: "team/site".into(),
        visibility: Visibility::Public,
        avatar: fill.text("logo.png"),
        default_branch: fill.text("master"),
    }
}

fn issue(fill: Fill) -> IssueRow {
    IssueRow {
        id: IssueId(6),
        iid: 1,
        project: ProjectId(4),
        title: "Broken".into(),
        description: fill.text("It is\nbroken"),
        state: IssueState::Reopened,
        author: UserId(1),
        assignee: fill.some(UserId(2)),
        milestone: fill.some(MilestoneId(7)),
        updated_by: fill.some(UserId(3)),
        moved_to: fill.some(IssueId(8)),
        confidential: true,
        due_date: fill.some(day(3)),
        created_at: moment(1),
        updated_at: moment(2),
    }
}

fn merge_request(fill: Fill) -> HookedRequest {
    HookedRequest {
        row: MergeRequestRow {
            id: MergeRequestId(11),
            iid: 2,
            source_project: ProjectId(5),
            source_branch: "topic".into(),
            target_branch: "master".into(),
            author: UserId(1),
            assignee: fill.some(UserId(2)),
            milestone: fill.some(MilestoneId(7)),
            updated_by: fill.some(UserId(3)),
            title: "Repair".into(),
            description: fill.text("Closes #1"),
            state: MergeRequestState::Merged,
            merge_status: MergeStatus::Mergeable,
            merge_commit: fill.some(a_commit_id(8)),
            automatic_merge: fill.some(AutomaticMergeRow {
                user: UserId(2),
                message: "Merge".into(),
                remove_source_branch: Some(true),
            }),
            created_at: moment(1),
            updated_at: moment(2),
        },
        source: fill.some(card(fill)),
        target: card(fill),
        last_commit: fill.some(LastCommit { id: a_commit_id(7), facts: commit() }),
    }
}

fn note(fill: Fill) -> NoteRow {
    NoteRow {
        id: NoteId(9),
        body: "Indeed".into(),
        author: UserId(1),
        updated_by: fill.some(UserId(2)),
        created_at: moment(3),
        updated_at: moment(4),
    }
}

fn pipeline(fill: Fill) -> PipelineRow {
    PipelineRow {
        id: PipelineId(10),
        reference: "master".into(),
        tag: false,
        sha: a_commit_id(1),
        before_sha: ObjectId::ZERO,
        status: Status::Running,
        created_at: moment(1),
        started_at: fill.some(moment(2)),
        finished_at: fill.some(moment(3)),
        duration: fill.some(61),
    }
}

fn commit() -> CommitFacts {
    CommitFacts {
        message: "Fix it\n".into(),
        author_name: "Ada".into(),
        author_email: "ada@example.com".into(),
        authored_at: with_offset(7200),
        committed_at: with_offset(0),
    }
}

fn build(fill: Fill) -> BuildRow {
    BuildRow {
        id: BuildId(11),
        stage: "test".into(),
        name: "rspec".into(),
        status: Status::Canceled,
        created_at: moment(1),
        started_at: fill.some(moment(2)),
        finished_at: fill.some(moment(3)),
        when: When::OnFailure,
        user: fill.some(person(fill)),
        runner: fill.some(RunnerRow {
            id: RunnerId(12),
            description: "one".into(),
            active: true,
            shared: false,
        }),
        artifacts: fill.some(("artifacts.zip".into(), u64::MAX)),
    }
}
