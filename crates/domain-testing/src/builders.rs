//! Builders of valid values. A test sets only the fields that it is about.

mod group;
mod issue;
mod merge_request;
mod pipeline;
mod project;
mod repository;

pub use group::{GroupBuilder, a_group, a_member, join_group, join_project};
pub use issue::{
    a_label, a_milestone, a_note, a_snippet, a_title, a_todo, an_award, an_issue, an_issue_at,
    insert_label, label_in,
};
pub use merge_request::{a_merge_request, a_request_branch};
pub use pipeline::{
    a_build, a_commit_id, a_definition, a_deployment, a_pipeline, a_runner, an_environment,
    an_external,
};
pub use project::{
    ProjectBuilder, a_broadcast, a_hook, a_hook_url, a_project, a_service, a_share, a_system_hook,
    home_of, share,
};
pub use repository::{a_branch, a_protection, a_release, a_tag, an_import};

use super::fakes::{FakePublicKeys, FakeSecrets};
use chrono::{DateTime, NaiveDate, TimeDelta};
use hexforge_domain::Timestamp;
use hexforge_domain::browser_session::NewBrowserSession;
use hexforge_domain::commit::{ObjectId, Signature};
use hexforge_domain::event::{EventAction, NewEvent};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::ports::public_keys::PublicKeys;
use hexforge_domain::ports::secrets::Secrets;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::push::{ChangedPaths, HookScope, Push, PushedCommit, PushedProject, Pusher};
use hexforge_domain::text::ShortText;
use hexforge_domain::token::{NewToken, TokenKind};
use hexforge_domain::user::key::NewSshKey;
use hexforge_domain::user::{
    DisplayName, EmailAddress, NewUser, PasswordHash, Privileges, Profile, ProjectsLimit, User,
    Username,
};
use hexforge_domain::visibility::Visibility;

/// The default time of tests: 22 September 2016, 10:30 UTC.
pub fn a_moment() -> Timestamp {
    DateTime::from_timestamp(1_474_540_200, 0).expect("a moment of the year 2016")
}

/// The moment `seconds` after [`a_moment`].
pub fn at(seconds: i64) -> Timestamp {
    a_moment() + TimeDelta::seconds(seconds)
}

/// The date of [`a_moment`].
pub fn a_day() -> NaiveDate {
    a_moment().date_naive()
}

/// The date `days` after [`a_day`].
pub fn day(days: i64) -> NaiveDate {
    a_day() + TimeDelta::days(days)
}

/// Parses an e-mail address. Panics if it is invalid.
pub fn an_address(address: &str) -> EmailAddress {
    EmailAddress::parse(address).expect("tests use well-formed addresses")
}

/// Parses a short text. Panics if it is too long.
pub fn a_text(text: &str) -> ShortText {
    ShortText::parse(text).expect("tests use short texts")
}

/// A user with the privileges of a new account: not an administrator, at most ten projects, may
/// create groups. The e-mail address is `<name>@example.com`, and the password `secret42`, hashed by
/// [`FakePasswords`](crate::fakes::FakePasswords).
pub fn a_user(username: &str) -> UserBuilder {
    UserBuilder(NewUser {
        username: Username::parse(username).expect("tests use valid usernames"),
        name: DisplayName::parse(username).expect("a valid username is not blank"),
        email: an_address(&format!("{username}@example.com")),
        privileges: Privileges {
            admin: false,
            external: false,
            can_create_group: true,
            projects_limit: ProjectsLimit(10),
        },
        profile: Profile::default(),
        password: PasswordHash::new("fake$secret42"),
        confirmed_at: Some(a_moment()),
        at: a_moment(),
    })
}

/// Builds a [`NewUser`]; see [`a_user`].
#[derive(Clone, Debug)]
pub struct UserBuilder(NewUser);

impl UserBuilder {
    /// Makes the user an administrator.
    pub fn admin(mut self) -> Self {
        self.0.privileges.admin = true;
        self
    }

    /// Makes the user external: the user sees internal projects only as a member, and may create
    /// neither groups nor projects.
    pub fn external(mut self) -> Self {
        self.0.privileges.external = true;
        self
    }

    /// Sets the maximum number of projects.
    pub fn projects_limit(mut self, limit: i32) -> Self {
        self.0.privileges.projects_limit = ProjectsLimit(limit);
        self
    }

    /// Sets the primary e-mail address.
    pub fn email(mut self, address: &str) -> Self {
        self.0.email = an_address(address);
        self
    }

    /// Sets the display name.
    pub fn named(mut self, name: &str) -> Self {
        self.0.name = DisplayName::parse(name).expect("tests use names that are not blank");
        self
    }

    /// Sets the password, as the fake hashes it.
    pub fn password(mut self, password: &str) -> Self {
        self.0.password = PasswordHash::new(format!("fake${password}"));
        self
    }

    /// Sets the profile.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.0.profile = profile;
        self
    }

    /// Leaves the e-mail address unconfirmed.
    pub fn unconfirmed(mut self) -> Self {
        self.0.confirmed_at = None;
        self
    }

    /// Sets the creation time.
    pub fn at(mut self, moment: Timestamp) -> Self {
        self.0.at = moment;
        self
    }

    /// Returns the input for the user.
    pub fn build(self) -> NewUser {
        NewUser { privileges: self.0.privileges.normalized(), ..self.0 }
    }

    /// Stores the user without its personal namespace.
    /// # Errors
    /// See [`Users::insert`](hexforge_domain::user::port::Users::insert).
    pub fn insert(self, tx: &mut dyn Tx) -> Result<User, StoreError> {
        tx.users().insert(self.build())
    }

    /// Stores the user and its personal namespace in a transaction of its own.
    pub fn stored_in(self, store: &dyn Store) -> User {
        let stored: Result<User, StoreError> = store.write(|tx| {
            let user = self.insert(tx)?;
            tx.namespaces().insert_personal(user.id, user.username.path(), user.created_at)?;
            Ok(user)
        });
        stored.expect("names and addresses of a test's users differ")
    }
}

/// An SSH key. Keys with different numbers differ.
pub fn a_key(number: u32) -> NewSshKey {
    let title = format!("key {number}");
    let key = format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{number:08} ada@laptop");
    let fingerprint = FakePublicKeys.fingerprint(&key).expect("it has the form of a key");
    NewSshKey { title: a_text(&title), key, fingerprint }
}

/// A personal token that does not expire. Its hash is the one that [`FakeSecrets`] computes for the
/// secret.
pub fn a_token(user: UserId, secret: &str) -> NewToken {
    NewToken {
        user,
        kind: TokenKind::Personal,
        name: "a program".into(),
        hash: FakeSecrets::default().digest(secret),
        expires_at: None,
        at: a_moment(),
    }
}

/// A browser session. Its hash is the one that [`FakeSecrets`] computes for the token.
pub fn a_browser_session(user: UserId, token: &str) -> NewBrowserSession {
    NewBrowserSession {
        user,
        hash: FakeSecrets::default().digest(token),
        address: None,
        browser: "a browser".into(),
        remembered: false,
        at: a_moment(),
    }
}

/// An event: a project was created.
pub fn an_event(project: ProjectId, author: UserId) -> NewEvent {
    NewEvent {
        project,
        author,
        action: EventAction::Created,
        target: None,
        push: None,
        at: a_moment(),
    }
}

/// A push of one commit to a branch.
pub fn a_push(project: ProjectId, user: UserId) -> Push {
    let id = |digit: &str| ObjectId::parse(&digit.repeat(40)).expect("40 digits");
    Push {
        reference: "refs/heads/master".into(),
        before: id("0"),
        after: id("1"),
        checkout: Some(id("1")),
        message: Some("Don't \"quote\" 🦀".into()),
        user: Pusher {
            id: user,
            name: "Ada".into(),
            email: "ada@example.com".into(),
            avatar: Some("ada.png".into()),
        },
        project: PushedProject {
            id: project,
            name: "Site".into(),
            description: Some("About it".into()),
            avatar: Some("site.png".into()),
            namespace: "ada".into(),
            visibility: Visibility::Internal,
            path_with_namespace: "ada/site".into(),
            default_branch: Some("master".into()),
        },
        commits: vec![PushedCommit {
            id: id("1"),
            message: "Fix it\n\nNow.\n".into(),
            at: Signature::time(1_474_540_200, -7 * 3600),
            author_name: "Ada".into(),
            author_email: "ada@example.com".into(),
            paths: ChangedPaths {
                added: vec!["a".into()],
                modified: vec!["b/c".into()],
                removed: vec!["d".into(), "ü".into()],
            },
        }],
        total_commits: 1,
        reach: HookScope::Everywhere,
    }
}
