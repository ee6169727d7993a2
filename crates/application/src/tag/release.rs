//! Releases, the published descriptions of tags.

use hexforge_domain::Timestamp;
use hexforge_domain::id::ProjectId;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::tag::{Release, TagName};
use hexforge_domain::text::{limit, within_field};

use crate::app::App;
use crate::branch::project_to_push;
use crate::error::{Conflict, Entity, Error, Missing};
use crate::repository;

/// Publishes a release of a tag.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    tag: &str,
    description: &str,
) -> Result<Release, Error> {
    let (project, release) = validate(app, actor, named, tag, description)?;
    let exists = || Error::Conflict(Conflict::ReleaseExists);
    app.store.write(|tx| {
        lock_existing_tag(tx, project, &release.tag)?;
        if tx.releases().find(project, &release.tag)?.is_some() {
            return Err(exists());
        }
        match tx.releases().insert(project, &release, app.clock.now()) {
            Err(StoreError::Duplicate(_)) => Err(exists()),
            outcome => Ok(outcome?),
        }
    })?;
    Ok(release)
}

/// Changes the description of a release.
pub fn update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    tag: &str,
    description: &str,
) -> Result<Release, Error> {
    let (project, release) = validate(app, actor, named, tag, description)?;
    let changed = app.store.write(|tx| {
        lock_existing_tag(tx, project, &release.tag)?;
        Ok::<_, Error>(tx.releases().update(project, &release, app.clock.now())?)
    })?;
    if changed { Ok(release) } else { Err(Error::Missing(Missing::Release)) }
}

/// Publishes a release of a tag, or changes its description if there is one.
pub fn save(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    tag: &str,
    description: &str,
) -> Result<Release, Error> {
    let (project, release) = validate(app, actor, named, tag, description)?;
    app.store.write(|tx| {
        lock_existing_tag(tx, project, &release.tag)?;
        put(tx, project, &release, app.clock.now())
    })?;
    Ok(release)
}

/// Inserts or replaces a release.
pub(crate) fn put(
    tx: &mut dyn Tx,
    project: ProjectId,
    release: &Release,
    at: Timestamp,
) -> Result<(), Error> {
    if !tx.releases().update(project, release, at)? {
        tx.releases().insert(project, release, at)?;
    }
    Ok(())
}

fn missing() -> Error {
    Error::Missing(Missing::TagOfRelease)
}

/// Locks the project and checks that the tag exists. A deletion of the tag, which also deletes the release, waits for
/// the lock.
fn lock_existing_tag(tx: &mut dyn Tx, project: ProjectId, tag: &TagName) -> Result<(), Error> {
    tx.projects().lock(project)?.ok_or(Error::NotFound(Entity::Project))?;
    match tx.refs().find(project, &[&tag.full()])?.is_empty() {
        true => Err(missing()),
        false => Ok(()),
    }
}

/// Validates the fields of a release, and checks that the tag exists.
fn validate(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    tag: &str,
    description: &str,
) -> Result<(ProjectId, Release), Error> {
    let project = project_to_push(app, actor, named)?;
    let tag = TagName::parse(tag).map_err(|_| missing())?;
    repository::refs(app, project.id)?.target(&tag.full()).ok_or_else(missing)?;
    if description.trim().is_empty() {
        return Err(Error::NotGiven("description"));
    }
    within_field("description", description, limit::LONG)?;
    Ok((project.id, Release { tag, description: description.to_owned() }))
}
