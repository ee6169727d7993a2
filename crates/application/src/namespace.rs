//! The namespaces that an actor may use.

use hexforge_domain::id::NamespaceId;
use hexforge_domain::member::{Membership, is_in_force};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::group::{GroupAbility, GroupFacts};
use hexforge_domain::policy::{Actor, Protected};
use hexforge_domain::visibility::Visibility;

use crate::access;
use crate::app::App;
use crate::error::Error;

/// Lists namespaces: all for administrators; the personal namespace and those of the user's groups for others.
pub fn list(
    app: &App,
    actor: Actor,
    search: Option<&str>,
    page: Page,
) -> Result<Paged<Namespace>, Error> {
    let of = match actor {
        Actor::Anonymous => return Err(Error::Unauthenticated),
        Actor::Admin { .. } => None,
        Actor::User { id, .. } => Some((id, app.today())),
    };
    app.store.read(|tx| Ok(tx.namespaces().list(of, search, page)?))
}

/// The maximum number of namespaces that a form offers.
const MAX_TARGETS: usize = 200;

/// Lists the namespaces in which the actor's own account may create projects: the personal one first, then groups. An
/// administrator may use all others too, by their path; the list has those of the own memberships.
pub fn list_for_new_projects(app: &App, actor: Actor) -> Result<Vec<Namespace>, Error> {
    let user = access::own_account(actor)?;
    let today = app.today();
    app.store.read(|tx| {
        let personal = tx.namespaces().personal(user)?;
        let memberships = tx.group_members().all_of_user(user)?.into_iter();
        let in_force =
            memberships.filter(|(_, membership)| is_in_force(membership.expires_at, today));
        let may_create = |membership: &Membership| {
            let level = Some(membership.level);
            let facts = GroupFacts { visibility: Visibility::Private, level, sees_a_project: true };
            facts.allows(actor, GroupAbility::CreateProjects)
        };
        let usable = in_force.filter(|(_, membership)| may_create(membership));
        let ids: Vec<NamespaceId> = usable.map(|(group, _)| group).take(MAX_TARGETS).collect();
        let mut groups = tx.namespaces().find_all(&ids)?;
        groups.sort_by(|a, b| a.path.as_str().cmp(b.path.as_str()));
        Ok(personal.into_iter().chain(groups).collect())
    })
}
