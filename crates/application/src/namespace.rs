//! The namespaces that an actor may use.

use hexforge_domain::namespace::Namespace;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;

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
