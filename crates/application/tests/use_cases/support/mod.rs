//! The application on fakes, with handles to the fakes that tests control and inspect.

mod failing;
mod stored;

pub use failing::FailingStore;
pub use stored::Stored;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use hexforge_application::app::{App, Settings, SignUp};
use hexforge_application::error::Error;
use hexforge_application::repository::turns::BranchTurns;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::strict::StrictRules;
use hexforge_domain::ports::maintenance::NoMaintenance;
use hexforge_domain::ports::pack_store::PackStore;
use hexforge_domain::ports::passwords::Passwords;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::token::{NewToken, Token};
use hexforge_domain::user::{User, UserState};
use hexforge_domain_testing::builders::{UserBuilder, a_user};
use hexforge_domain_testing::fakes::{
    FakeBuildFiles, FakeClock, FakeGit, FakeImports, FakeLfsFiles, FakeOutgoing, FakePasswords,
    FakePublicKeys, FakeRefCache, FakeSecrets, FakeStore, FakeUploads, FakeVault, FakeYaml,
};

/// A first page that is large enough for all rows of a test.
pub const FIRST_PAGE: Page = Page::Numbered { number: 1, size: 20 };

/// An empty hexforge on fakes.
pub struct World {
    /// The ports and settings for use cases.
    pub app: App,
    /// The clock of the application.
    pub clock: FakeClock,
    /// The repositories of the application.
    pub git: FakeGit,
    /// The fake HTTP client for requests to other servers.
    pub outgoing: FakeOutgoing,
}

impl World {
    pub fn new() -> Self {
        let (clock, outgoing) = (FakeClock::default(), FakeOutgoing::default());
        let store = Arc::new(FakeStore::default());
        let git = FakeGit::new(store.clone());
        let app = App {
            store,
            git: Arc::new(git.clone()),
            refs: Arc::new(FakeRefCache::default()),
            packs: Arc::clone(git.packs()) as Arc<dyn PackStore>,
            maintenance: Arc::new(NoMaintenance),
            imports: Arc::new(FakeImports),
            outgoing: Arc::new(outgoing.clone()),
            clock: Arc::new(clock.clone()),
            secrets: Arc::new(FakeSecrets::default()),
            passwords: Arc::new(FakePasswords),
            public_keys: Arc::new(FakePublicKeys),
            uploads: Arc::new(FakeUploads::default()),
            build_files: Arc::new(FakeBuildFiles::default()),
            lfs_files: Arc::new(FakeLfsFiles::default()),
            vault: Arc::new(FakeVault),
            yaml: Arc::new(FakeYaml),
            turns: BranchTurns::default(),
            application_settings: Arc::default(),
            broadcasts: Arc::default(),
            settings: Settings {
                external_url: "http://forge.test".to_owned(),
                build_silence: TimeDelta::hours(24),
                runner_silence: TimeDelta::minutes(5),
                hook_timeout: Duration::from_secs(10),
                strict: StrictRules::default(),
                runners_token: None,
                repository_bytes: 10 << 30,
                lfs: true,
                lfs_bytes: 10 << 30,
                sweep_after: TimeDelta::hours(24),
                signup: SignUp::Off,
                remote_images: false,
                session: TimeDelta::days(14),
            },
        };
        Self { app, clock, git, outgoing }
    }

    /// Returns the same application with other password hashing.
    pub fn app_with_passwords(&self, passwords: impl Passwords + 'static) -> App {
        App { passwords: Arc::new(passwords), ..self.app.clone() }
    }

    /// Replaces the store of the application by one that fails on demand.
    pub fn failing_store(&mut self) -> FailingStore {
        let failing = FailingStore::new(Arc::clone(&self.app.store));
        self.app.store = Arc::new(failing.clone());
        failing
    }

    /// Stores an account with its namespace, without a hook event.
    pub fn user(&self, builder: UserBuilder) -> User {
        builder.stored_in(&*self.app.store)
    }

    /// Stores the administrator `boss`.
    pub fn admin(&self) -> Actor {
        actor(&self.user(a_user("boss").admin()))
    }

    /// Changes an account directly in the store, without a use case.
    pub fn edit(&self, user: &User, change: impl FnOnce(&mut User)) -> User {
        let mut user = user.clone();
        change(&mut user);
        self.write(|tx| tx.users().update(&user));
        user
    }

    /// Sets the state of an account.
    pub fn in_state(&self, user: &User, state: UserState) -> User {
        self.edit(user, |user| user.state = state)
    }

    /// Stores a token.
    pub fn token(&self, new: NewToken) -> Token {
        self.write(|tx| tx.tokens().insert(new))
    }

    /// Loads the current row of the account.
    pub fn reload(&self, user: &User) -> User {
        self.read(|tx| tx.users().find(user.id)).expect("the account is still there")
    }

    /// Loads all rows, for comparisons.
    pub fn stored(&self) -> Stored {
        self.read(Stored::load)
    }

    /// Returns the hook events in the outbox, oldest first.
    pub fn outbox_events(&self) -> Vec<SystemEvent> {
        let entries = self.read(|tx| tx.outbox().oldest(u32::MAX));
        entries.into_iter().map(|entry| entry.event).collect()
    }

    /// Runs a use case that must fail. Checks that the stored rows did not change.
    pub fn refusal<T: Debug>(&self, run: impl FnOnce(&App) -> Result<T, Error>) -> Error {
        let before = self.stored();
        let error = run(&self.app).expect_err("the use case has to fail");
        assert_eq!(self.stored(), before, "changed although it failed: {error}");
        error
    }

    pub fn read<T: Send>(
        &self,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send,
    ) -> T {
        self.app.store.read(work).expect("the fake reads what exists")
    }

    pub fn write<T: Send>(
        &self,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send,
    ) -> T {
        self.app.store.write(work).expect("tests store what can be stored")
    }
}

/// Returns the user as an actor.
pub fn actor(user: &User) -> Actor {
    Actor::of(user.id, &user.privileges)
}

/// Returns the field errors of a use case.
pub fn invalid(error: Error) -> FieldErrors {
    match error {
        Error::Invalid(fields) => fields,
        other => panic!("not about fields: {other:?}"),
    }
}

/// Returns field errors with one message per field, in this order.
pub fn field_errors<const N: usize>(fields: [(&str, &str); N]) -> FieldErrors {
    let mut errors = FieldErrors::default();
    for (field, message) in fields {
        errors.add(field, message);
    }
    errors
}

/// Checks that a use case failed with this error.
macro_rules! assert_error {
    ($error:expr, $expected:pat) => {{
        let error = $error;
        assert!(matches!(error, $expected), "{error:?}");
    }};
}
