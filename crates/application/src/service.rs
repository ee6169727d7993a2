//! Services of projects: their settings. Those of a chat receive the events of the project, like hooks.

use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::policy::system::{Service, ServiceAbility};
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::policy::{Actor, Protected};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::service::{ProjectService, Properties, ServiceKind};

use crate::app::App;
use crate::error::Error;
use crate::project::page::ProjectPage;

/// A service as a caller sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceView {
    /// The kind of service.
    pub kind: ServiceKind,
    /// The stored settings, if they were ever changed.
    pub service: Option<ProjectService>,
    /// Whether the caller sees hidden properties.
    pub shows_hidden: bool,
}

/// Returns the settings of a service, also of one that was never set.
pub fn get(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    kind: ServiceKind,
) -> Result<ServiceView, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        let service = tx.services().find(project.id, kind)?;
        let shows_hidden = Service.allows(actor, ServiceAbility::Administer);
        Ok(ServiceView { kind, service, shows_hidden })
    })
}

/// A link to a system that takes the place of a page of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceLink {
    /// The title of the service.
    pub title: String,
    /// The address.
    pub url: String,
}

/// Returns the links to the external issue tracker and the external wiki of a project that the caller has found.
pub fn links(app: &App, page: &ProjectPage) -> Result<Vec<ServiceLink>, Error> {
    let found = app.store.read(|tx| tx.services().links_of(page.placed.project.id))?;
    let reads_issues = page.may_track(TrackerAbility::ReadIssues);
    let seen = found.iter().filter(|service| reads_issues || !service.kind.is_tracker());
    let links = seen.filter_map(|service| {
        Some(ServiceLink { title: service.title().to_owned(), url: service.link()?.to_owned() })
    });
    Ok(links.collect())
}

/// Sets the given properties of a service and activates it.
pub fn set(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    kind: ServiceKind,
    given: Properties,
) -> Result<(), Error> {
    app.store.write(|tx| {
        let project = app.requester(actor).locked_project(tx, ProjectAbility::Administer, named)?;
        if let Some(missing) = given.first_missing(kind) {
            return Err(Error::NotGiven(missing));
        }
        given.check(kind)?;
        Ok(store(app, tx, &project, kind, Change::Set(given))?)
    })
}

/// Removes all properties of a service and deactivates it.
pub fn clear(app: &App, actor: Actor, named: &ProjectRef, kind: ServiceKind) -> Result<(), Error> {
    app.store.write(|tx| {
        let project = app.requester(actor).locked_project(tx, ProjectAbility::Administer, named)?;
        Ok(store(app, tx, &project, kind, Change::Clear)?)
    })
}

/// A change of a service.
enum Change {
    Set(Properties),
    Clear,
}

/// Stores a change of a service.
fn store(
    app: &App,
    tx: &mut dyn Tx,
    project: &Project,
    kind: ServiceKind,
    change: Change,
) -> Result<(), StoreError> {
    let now = app.clock.now();
    let before = tx.services().find(project.id, kind)?;
    let active = matches!(change, Change::Set(_));
    let mut properties = before.as_ref().map(|one| one.properties.clone()).unwrap_or_default();
    match change {
        Change::Set(given) => properties.set(given),
        Change::Clear => properties = Properties::removed(kind),
    }
    match before {
        Some(before) => {
            tx.services().update(&ProjectService {
                active,
                properties,
                updated_at: now,
                ..before
            })?;
        }
        None => {
            tx.services().insert(project.id, kind, (active, properties), now)?;
        }
    }
    Ok(())
}
