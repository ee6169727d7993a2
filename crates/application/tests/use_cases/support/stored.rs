//! All stored rows, for comparisons.

use hexforge_domain::browser_session::BrowserSession;
use hexforge_domain::event::Event;
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::outbox::OutboxEntry;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::Project;
use hexforge_domain::project::query::{ProjectFilter, ProjectScope, Viewer};
use hexforge_domain::token::Token;
use hexforge_domain::user::{Email, Identity, PasswordHash, SshKey, User, UserFilter};
use hexforge_domain_testing::builders::a_day;

/// All accounts with their rows, all projects, and all hook events of the outbox.
#[derive(Debug, PartialEq, Eq)]
pub struct Stored {
    pub accounts: Vec<Account>,
    pub projects: Vec<Project>,
    pub outbox: Vec<OutboxEntry>,
}

/// An account with its rows in other tables.
#[derive(Debug, PartialEq, Eq)]
pub struct Account {
    pub user: User,
    pub password: Option<PasswordHash>,
    pub namespace: Option<Namespace>,
    pub identities: Vec<Identity>,
    pub keys: Vec<SshKey>,
    pub emails: Vec<Email>,
    pub tokens: Vec<Token>,
    pub browser_sessions: Vec<BrowserSession>,
    pub events: Vec<Event>,
}

impl Stored {
    pub fn load(tx: &mut dyn Tx) -> Result<Self, StoreError> {
        let users = tx.users().list(&UserFilter::default(), Page::Whole)?.items;
        let all = ProjectFilter::newest_first(ProjectScope::All, a_day());
        let accounts = users.into_iter().map(|user| Account::load(tx, user));
        Ok(Self {
            accounts: accounts.collect::<Result<_, _>>()?,
            projects: tx.projects().list(&all, Page::Whole)?.items,
            outbox: tx.outbox().oldest(u32::MAX)?,
        })
    }
}

impl Account {
    fn load(tx: &mut dyn Tx, user: User) -> Result<Self, StoreError> {
        let id = user.id;
        let viewer = Viewer { user: id, external: false };
        let identities = tx.identities().of_users(&[id])?;
        Ok(Self {
            password: tx.users().find_by_login(user.email.as_str())?.map(|(_, hash)| hash),
            namespace: tx.namespaces().find_by_path(user.username.path())?,
            identities: identities.into_iter().map(|(_, identity)| identity).collect(),
            keys: tx.keys().list(id, Page::Whole)?.items,
            emails: tx.emails().list(id, Page::Whole)?.items,
            tokens: tx.tokens().list(id, Page::Whole)?.items,
            browser_sessions: tx.browser_sessions().list(id)?,
            events: tx
                .events()
                .authored_by(id, viewer, Clearance::All, a_day(), Page::Whole)?
                .items,
            user,
        })
    }
}
