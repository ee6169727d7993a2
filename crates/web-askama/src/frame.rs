//! What all pages have in common: title, navigation, messages, and the token for forms.

use hexforge_domain::paging::Page;
use hexforge_domain::policy::Protected;
use hexforge_domain::policy::system::{Service, ServiceAbility};
use hexforge_domain::policy::user::may_create_groups;
use hexforge_domain::text::Secret;
use hexforge_domain::user::User;

use crate::address;
use crate::assets;
use crate::cookies::{Notice, Scheme};
use crate::forms;
use crate::moment::Moment;
use crate::visit::{Viewer, Visit};

/// The frame around the content of a page.
pub(crate) struct Frame {
    /// The title of the document.
    pub(crate) title: String,
    /// Who is signed in.
    pub(crate) account: Option<Account>,
    /// The color scheme that the visitor chose.
    pub(crate) scheme: Scheme,
    /// Whether the visitor uses keyboard shortcuts.
    has_shortcuts: bool,
    /// The message of the page before.
    pub(crate) notice: Option<Notice>,
    /// The token for forms of a signed-in user.
    pub(crate) token: String,
    /// The address of this page, encoded for a query.
    pub(crate) here: String,
    /// The address of this page.
    pub(crate) path: String,
    /// The project, on its pages.
    pub(crate) project: Option<ProjectFrame>,
    /// The messages of administrators to everybody.
    pub(crate) broadcasts: Vec<String>,
    /// The address of a feed of this page.
    pub(crate) feed: Option<String>,
    now: hexforge_domain::Timestamp,
}

/// Who is signed in, as the frame shows it.
pub(crate) struct Account {
    pub(crate) username: String,
    pub(crate) name: String,
    pub(crate) avatar: String,
    pub(crate) is_admin: bool,
    may_create_group: bool,
}

/// The project of a page.
#[derive(Clone, Debug)]
pub(crate) struct ProjectFrame {
    /// `namespace/project`.
    pub(crate) path: String,
    /// The current item of the navigation.
    pub(crate) section: &'static str,
    /// The items of the navigation that the visitor may use.
    pub(crate) items: Vec<(&'static str, String)>,
}

impl ProjectFrame {
    /// The path of the namespace.
    pub(crate) fn namespace(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// The path of the project in its namespace.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name)
    }
}

/// The address of the picture of a user: the uploaded one, otherwise one that is made from the username.
pub(crate) fn avatar_of(user: &User) -> String {
    match &user.avatar {
        Some(file) => format!("/uploads/user/avatar/{}/{}", user.id, address::path(file)),
        None => format!("/-/identicon/{}.svg", user.username.as_str()),
    }
}

impl Frame {
    /// The frame of a page that belongs to no project.
    pub(crate) fn new(visit: &Visit, viewer: &Viewer, what: &str) -> Self {
        let account = viewer.signed_in().map(|signed_in| Account {
            username: signed_in.user.username.as_str().to_owned(),
            name: signed_in.user.name.as_str().to_owned(),
            avatar: avatar_of(&signed_in.user),
            is_admin: Service.allows(signed_in.actor, ServiceAbility::Administer),
            may_create_group: may_create_groups(&signed_in.user),
        });
        let masked = |token: &Secret| forms::masked_token(visit.app(), token);
        let token = account.as_ref().and(visit.session_token()).map(masked);
        Self {
            title: format!("{what} · hexforge"),
            account,
            scheme: visit.scheme(),
            has_shortcuts: visit.has_shortcuts(),
            notice: visit.notice(),
            token: token.unwrap_or_default(),
            here: address::value(&visit.here()),
            path: visit.here(),
            project: None,
            feed: None,
            broadcasts: visit.app().broadcasts.texts(visit.app().clock.now()),
            now: visit.app().clock.now(),
        }
    }

    /// The frame of a page of a project.
    pub(crate) fn of_project(
        visit: &Visit,
        viewer: &Viewer,
        what: &str,
        project: ProjectFrame,
    ) -> Self {
        let frame = Self::new(visit, viewer, what);
        let title = if what == project.path {
            format!("{what} · hexforge")
        } else {
            format!("{what} · {} · hexforge", project.path)
        };
        Self { title, project: Some(project), ..frame }
    }

    /// Whether the visitor is an administrator.
    pub(crate) fn is_admin(&self) -> bool {
        self.account.as_ref().is_some_and(|account| account.is_admin)
    }

    /// Whether the visitor may create groups.
    pub(crate) fn may_create_group(&self) -> bool {
        self.account.as_ref().is_some_and(|account| account.may_create_group)
    }

    /// All color schemes.
    pub(crate) fn schemes(&self) -> [Scheme; 3] {
        Scheme::ALL
    }

    /// The address of the stylesheet.
    pub(crate) fn style(&self) -> &str {
        assets::style().address()
    }

    /// The address of the icons.
    pub(crate) fn icon(&self) -> &str {
        assets::icon().address()
    }

    /// The address of the script of the keyboard shortcuts, unless they are switched off.
    pub(crate) fn shortcuts(&self) -> Option<&str> {
        self.has_shortcuts.then(|| assets::keys_script().address())
    }

    /// Describes a moment as seen now.
    pub(crate) fn moment<Z: chrono::TimeZone<Offset: std::fmt::Display>>(
        &self,
        at: chrono::DateTime<Z>,
    ) -> Moment {
        Moment::new(at, self.now)
    }
}

/// The navigation between the pages of a list.
pub(crate) struct Pager {
    pub(crate) previous: Option<String>,
    pub(crate) next: Option<String>,
}

impl Pager {
    /// The pager of a list with this total.
    pub(crate) fn new(visit: &Visit, total: u64) -> Self {
        Self::of_page(visit, visit.page(), total)
    }

    /// The pager of a list with this total and this page.
    pub(crate) fn of_page(visit: &Visit, page: Page, total: u64) -> Self {
        let (offset, size) = (page.offset(), page.limit().unwrap_or(1));
        let number = offset / size + 1;
        let next = offset.saturating_add(size) < total;
        Self {
            previous: (number > 1).then(|| visit.page_address(number - 1)),
            next: next.then(|| visit.page_address(number + 1)),
        }
    }

    /// The pager of a list whose total is not counted.
    pub(crate) fn uncounted(visit: &Visit, has_more: bool) -> Self {
        let page = visit.page();
        let number = page.offset() / page.limit().unwrap_or(1) + 1;
        Self {
            previous: (number > 1).then(|| visit.page_address(number - 1)),
            next: has_more.then(|| visit.page_address(number + 1)),
        }
    }
}
