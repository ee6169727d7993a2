//! Personal snippets, which belong to no project.

use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::SnippetId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::snippet::{NewSnippet, Snippet};
use hexforge_domain::text::LongText;
use hexforge_domain::visibility::Visibility;

use super::{Levels, SnippetFields};
use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::view::snippet::{self as view, SnippetView};

/// Lists the personal snippets of the actor, newest first.
pub fn list(app: &App, actor: Actor, page: Page) -> Result<Paged<SnippetView>, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| {
        let found = tx.snippets().personal(user, page)?;
        Ok(view::page(tx, found, None)?)
    })
}

/// Lists the public personal snippets of all users, newest first.
pub fn list_public(app: &App, actor: Actor, page: Page) -> Result<Paged<SnippetView>, Error> {
    access::own_account(actor)?;
    app.store.read(|tx| {
        let found = tx.snippets().public(page)?;
        Ok(view::page(tx, found, None)?)
    })
}

/// Returns a personal snippet of the actor.
pub fn get(app: &App, actor: Actor, id: SnippetId) -> Result<SnippetView, Error> {
    app.store.read(|tx| {
        let found = find_own(tx, actor, id, Entity::Record)?;
        Ok(view::load(tx, found, None)?)
    })
}

/// Returns the content of a personal snippet of the actor.
pub fn raw(app: &App, actor: Actor, id: SnippetId) -> Result<LongText, Error> {
    app.store.read(|tx| {
        let found = find_own(tx, actor, id, Entity::Record)?;
        tx.snippets().content(found.id)?.ok_or(Error::NotFound(Entity::Record))
    })
}

/// Creates a personal snippet. Without a level it is internal.
pub fn create(app: &App, actor: Actor, fields: &SnippetFields) -> Result<SnippetView, Error> {
    let author = access::own_account(actor)?;
    let level = fields.visibility_level.unwrap_or(Visibility::Internal.level().into());
    app.store.write(|tx| {
        let mut errors = FieldErrors::default();
        let texts = fields.texts().parse(&mut errors);
        let visibility = Levels::load(app, tx, actor)?.parse(level, None, &mut errors);
        let at = app.clock.now();
        let new = errors.into_result_with(|| {
            let (title, file_name) = (texts.title?, texts.file_name?);
            let (content, visibility) = (texts.content?, visibility?);
            Some(NewSnippet { project: None, author, title, file_name, content, visibility, at })
        })?;
        let made = tx.snippets().insert(new)?;
        Ok(view::load(tx, made, None)?)
    })
}

/// Changes the given fields of a personal snippet of the actor.
pub fn update(
    app: &App,
    actor: Actor,
    id: SnippetId,
    fields: &SnippetFields,
) -> Result<SnippetView, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        tx.users().lock(user)?;
        let mut snippet = find_own(tx, actor, id, Entity::Snippet)?;
        let content = fields.apply(&Levels::load(app, tx, actor)?, &mut snippet)?;
        snippet.updated_at = app.clock.now();
        tx.snippets().update(&snippet, content.as_ref())?;
        Ok(view::load(tx, snippet, None)?)
    })
}

/// Deletes a personal snippet of the actor.
pub fn delete(app: &App, actor: Actor, id: SnippetId) -> Result<(), Error> {
    app.store.write(|tx| {
        let found = find_own(tx, actor, id, Entity::Snippet)?;
        Ok(tx.snippets().delete(found.id)?)
    })
}

fn find_own(
    tx: &mut dyn Tx,
    actor: Actor,
    id: SnippetId,
    missing: Entity,
) -> Result<Snippet, Error> {
    let user = access::own_account(actor)?;
    let found = tx.snippets().find(id)?;
    let own = found.filter(|snippet| snippet.project.is_none() && snippet.author == user);
    own.ok_or(Error::NotFound(missing))
}
