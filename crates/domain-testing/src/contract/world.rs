//! Test data in which one user has every kind of access to a project.

use super::check::write;
use crate::builders::{a_day, a_group, a_member, a_project, a_share, a_user};
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::project::Project;
use hexforge_domain::project::share::NewShare;
use hexforge_domain::visibility::Visibility;

/// The users, groups and projects that [`a_world`] creates.
pub(super) struct World {
    /// The user with every kind of access.
    pub ada: UserId,
    /// The owner of all groups, and of the personal projects that are not ada's.
    pub bob: UserId,
    /// A user without any membership or project.
    pub eve: UserId,
    /// A group in which ada is a developer. Some projects of bob are shared with it.
    pub team: NamespaceId,
    /// A group in which ada's membership expires today.
    pub past: NamespaceId,
    /// A group that forbids sharing its projects, although one is shared.
    pub vault: NamespaceId,
    /// The projects in creation order. The name of each describes ada's access.
    pub projects: Vec<Project>,
}

impl World {
    /// Returns the project with this name.
    #[track_caller]
    pub fn project(&self, name: &str) -> &Project {
        self.projects.iter().find(|project| project.name.as_str() == name).expect("it was made")
    }
}

/// Creates the test data. Private projects that ada may access, with the reason as the name:
/// `home`, `member`, `in-team`, `in-guild`, `shared`. Private projects that she may not access:
/// `hidden`; `was-member`, `in-past`, `was-shared` and `shared-past`, where her access expires
/// today; `locked`, whose group forbids sharing. Open projects: `internal`, `public`; in the team
/// `team-internal`, `team-public`; shared with the team `shared-internal`, `shared-public`.
pub(super) fn a_world(store: &dyn Store) -> World {
    write(store, |tx| {
        let world = insert_users_and_groups(tx)?;
        let id = |name: &str| world.project(name).id;
        let today = Some(a_day());
        for (name, member) in [
            ("member", a_member(world.ada, AccessLevel::Guest)),
            ("was-member", Membership::new(world.ada, AccessLevel::Master, today)),
        ] {
            tx.project_members().insert(id(name), member)?;
        }
        for (name, group, expires_at) in [
            ("shared", world.team, None),
            ("shared-internal", world.team, None),
            ("shared-public", world.team, None),
            ("was-shared", world.team, today),
            ("shared-past", world.past, None),
            ("locked", world.team, None),
        ] {
            let new = a_share(id(name), group, AccessLevel::Reporter);
            tx.shares().insert(NewShare { expires_at, ..new })?;
        }
        Ok(world)
    })
}

fn insert_users_and_groups(tx: &mut dyn Tx) -> Result<World, StoreError> {
    use Visibility::{Internal, Private, Public};
    let mut person = |name: &str| -> Result<(UserId, NamespaceId), StoreError> {
        let user = a_user(name).insert(tx)?;
        tx.namespaces().insert_personal(user.id, user.username.path(), user.created_at)?;
        let home = tx.namespaces().personal(user.id)?;
        Ok((user.id, home.expect("it was just made").id))
    };
    let ((ada, home), (bob, his), (eve, _)) = (person("ada")?, person("bob")?, person("eve")?);
    let mut group = |path: &str, ada: Option<Membership>| -> Result<Namespace, StoreError> {
        let group = a_group(path).private().owner(bob).insert(tx)?;
        if let Some(ada) = ada {
            tx.group_members().insert(group.id, ada)?;
        }
        Ok(group)
    };
    let team = group("team", Some(a_member(ada, AccessLevel::Developer)))?.id;
    let ending = Membership::new(ada, AccessLevel::Owner, Some(a_day()));
    let past = group("past", Some(ending))?.id;
    let guild = group("guild", Some(a_member(ada, AccessLevel::Owner)))?.id;
    let vault = Namespace { share_with_group_lock: true, ..group("vault", None)? };
    tx.groups().update(&vault)?;
    let mut projects = Vec::new();
    for (name, namespace, visibility) in [
        ("home", home, Private),
        ("member", his, Private),
        ("was-member", his, Private),
        ("in-team", team, Private),
        ("team-internal", team, Internal),
        ("team-public", team, Public),
        ("in-past", past, Private),
        ("in-guild", guild, Private),
        ("shared", his, Private),
        ("shared-internal", his, Internal),
        ("shared-public", his, Public),
        ("was-shared", his, Private),
        ("shared-past", his, Private),
        ("locked", vault.id, Private),
        ("hidden", his, Private),
        ("internal", his, Internal),
        ("public", his, Public),
    ] {
        projects.push(a_project(name, namespace, bob).visibility(visibility).insert(tx)?);
    }
    Ok(World { ada, bob, eve, team, past, vault: vault.id, projects })
}
