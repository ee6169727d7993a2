//! Builders of projects, shares and hooks.

use super::a_moment;
use hexforge_domain::Timestamp;
use hexforge_domain::broadcast::{BroadcastContent, BroadcastFields};
use hexforge_domain::hook::HookUrl;
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::project::hook::{HookSwitches, ProjectHookSettings};
use hexforge_domain::project::share::{NewShare, Share};
use hexforge_domain::project::{
    Description, Features, NewProject, Project, ProjectName, ProjectPath,
};
use hexforge_domain::service::{Properties, PropertyValue};
use hexforge_domain::system_hook::SystemHookSettings;
use hexforge_domain::text::Secret;
use hexforge_domain::visibility::Visibility;

/// A private project with this name. Its path is the name in lower case.
pub fn a_project(name: &str, namespace: NamespaceId, creator: UserId) -> ProjectBuilder {
    ProjectBuilder(NewProject {
        namespace,
        creator,
        name: ProjectName::parse(name).expect("tests use valid names"),
        path: ProjectPath::from_name(name).expect("tests use names that make a path"),
        description: None,
        visibility: Visibility::Private,
        features: Features::default(),
        forked_from: None,
        runners_token: Secret::new(format!("runners of {name} in {namespace}")),
        import_url: None,
        avatar: None,
        at: a_moment(),
    })
}

/// Builds a [`NewProject`]; see [`a_project`].
#[derive(Clone, Debug)]
pub struct ProjectBuilder(NewProject);

impl ProjectBuilder {
    /// Sets the path.
    pub fn path(mut self, path: &str) -> Self {
        self.0.path = ProjectPath::parse(path).expect("tests use valid paths");
        self
    }

    /// Sets the description.
    pub fn described(mut self, description: &str) -> Self {
        let description = Description::parse(description);
        self.0.description =
            Some(description.expect("tests use descriptions that are not too long"));
        self
    }

    /// Sets the visibility level.
    pub fn visibility(mut self, visibility: Visibility) -> Self {
        self.0.visibility = visibility;
        self
    }

    /// Makes the project public.
    pub fn public(self) -> Self {
        self.visibility(Visibility::Public)
    }

    /// Makes the project internal.
    pub fn internal(self) -> Self {
        self.visibility(Visibility::Internal)
    }

    /// Sets the enabled features.
    pub fn features(mut self, features: Features) -> Self {
        self.0.features = features;
        self
    }

    /// Makes the project a fork of another.
    pub fn forked_from(mut self, source: ProjectId) -> Self {
        self.0.forked_from = Some(source);
        self
    }

    /// Sets the creation time.
    pub fn at(mut self, moment: Timestamp) -> Self {
        self.0.at = moment;
        self
    }

    /// Returns the input for the project.
    pub fn build(self) -> NewProject {
        self.0
    }

    /// Stores the project.
    /// # Errors
    /// See [`Projects::insert`](hexforge_domain::project::port::Projects::insert).
    pub fn insert(self, tx: &mut dyn Tx) -> Result<Project, StoreError> {
        tx.projects().insert(self.build())
    }

    /// Stores the project in a transaction of its own.
    pub fn stored_in(self, store: &dyn Store) -> Project {
        let stored: Result<Project, StoreError> = store.write(|tx| self.insert(tx));
        stored.expect("names and paths of a namespace's projects differ in a test")
    }
}

/// Returns the personal namespace of a user. Panics if there is none.
pub fn home_of(store: &dyn Store, user: UserId) -> NamespaceId {
    let found = store.read(|tx| tx.namespaces().personal(user));
    let found: Option<_> = found.expect("reading succeeds");
    found.expect("the user has a namespace").id
}

/// A share that does not expire.
pub fn a_share(project: ProjectId, group: NamespaceId, access: AccessLevel) -> NewShare {
    NewShare { project, group, access, expires_at: None }
}

/// Stores a share in a transaction of its own.
pub fn share(store: &dyn Store, new: NewShare) -> Share {
    let shared: Result<Share, StoreError> = store.write(|tx| tx.shares().insert(new));
    shared.expect("nothing is shared with the same group twice in a test")
}

/// Parses the URL of a hook. Panics if it is invalid.
pub fn a_hook_url(url: &str) -> HookUrl {
    HookUrl::parse(url).expect("tests use well-formed addresses")
}

/// A project hook with default settings: it receives pushes and has no token.
pub fn a_hook(url: &str) -> ProjectHookSettings {
    ProjectHookSettings {
        url: a_hook_url(url),
        token: None,
        switches: HookSwitches::default(),
        enable_ssl_verification: true,
    }
}

/// A broadcast message with this text.
pub fn a_broadcast(text: &str) -> BroadcastContent {
    let fields = BroadcastFields { message: Some(text.to_owned()), ..BroadcastFields::default() };
    fields.create(a_moment()).expect("tests use good texts")
}

/// A system hook with default settings: it receives no pushes and has no token.
pub fn a_system_hook(url: &str) -> SystemHookSettings {
    SystemHookSettings {
        url: a_hook_url(url),
        token: None,
        push_events: false,
        tag_push_events: false,
        enable_ssl_verification: true,
    }
}

/// The settings of an active service with the properties that most kinds have.
pub fn a_service() -> (bool, Properties) {
    let text = |text: &str| Some(PropertyValue::Text(text.into()));
    let properties = [
        ("webhook".to_owned(), text("http://example.com/webhook")),
        ("project_url".to_owned(), text("http://example.com/project")),
    ];
    (true, properties.into_iter().collect())
}
