//! Snippets of projects.

pub mod page;
pub mod personal;

use std::sync::Arc;

use hexforge_domain::application_settings::ApplicationSettings;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::SnippetId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::snippet::SnippetAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::snippet::{NewSnippet, Snippet, SnippetTexts, parse_visibility};
use hexforge_domain::text::LongText;
use hexforge_domain::visibility::Visibility;

use crate::access::snippet::ProjectSnippets;
use crate::access::{self, Requester};
use crate::app::App;
use crate::error::{Entity, Error};
use crate::view::project as project_view;
use crate::view::snippet::{self as view, SnippetView};

/// The snippet fields of a request. `None` means not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnippetFields {
    pub title: Option<String>,
    pub file_name: Option<String>,
    pub content: Option<String>,
    pub visibility_level: Option<i64>,
}

impl SnippetFields {
    fn texts(&self) -> SnippetTexts<'_> {
        SnippetTexts {
            title: self.title.as_deref(),
            file_name: self.file_name.as_deref(),
            content: self.content.as_deref(),
        }
    }

    /// Applies the given fields to a snippet. Returns the new content, if there is one.
    fn apply(
        &self,
        levels: &Levels,
        snippet: &mut Snippet,
    ) -> Result<Option<LongText>, FieldErrors> {
        let mut errors = FieldErrors::default();
        let texts = self.texts().parse(&mut errors);
        let current = Some(snippet.visibility);
        let level = self.visibility_level;
        let visibility = level.and_then(|level| levels.parse(level, current, &mut errors));
        errors.into_result()?;
        snippet.title = texts.title.unwrap_or_else(|| snippet.title.clone());
        snippet.file_name = texts.file_name.unwrap_or_else(|| snippet.file_name.clone());
        snippet.visibility = visibility.unwrap_or(snippet.visibility);
        Ok(texts.content)
    }
}

/// The visibility levels that an actor may give to snippets.
struct Levels {
    requester: Requester,
    settings: Arc<ApplicationSettings>,
}

impl Levels {
    fn load(app: &App, tx: &mut dyn Tx, actor: Actor) -> Result<Self, StoreError> {
        Ok(Self { requester: app.requester(actor), settings: app.current_settings(tx)? })
    }

    /// Parses the level of a snippet. The current level of the snippet is always allowed.
    fn parse(
        &self,
        level: i64,
        current: Option<Visibility>,
        errors: &mut FieldErrors,
    ) -> Option<Visibility> {
        let may_use_all = self.requester.may_use_restricted_levels();
        let level = errors.merge(parse_visibility(level, may_use_all))?;
        if Some(level) != current {
            self.requester.check_level(&self.settings, level, errors);
        }
        Some(level)
    }
}

/// Lists the snippets of a project that the actor sees, newest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    page: Page,
) -> Result<Paged<SnippetView>, Error> {
    app.store.read(|tx| {
        let snippets = app.requester(actor).snippets(tx, named)?;
        let found = match snippets.lowest_visible() {
            Some(lowest) => tx.snippets().of_project(snippets.project.id, lowest, page)?,
            None => Paged { items: vec![], total: 0 },
        };
        let path = full_path(tx, &snippets.project)?;
        Ok(view::page(tx, found, Some(path))?)
    })
}

/// Returns one snippet of a project.
pub fn get(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: SnippetId,
) -> Result<SnippetView, Error> {
    app.store.read(|tx| {
        let snippets = app.requester(actor).snippets(tx, named)?;
        let found = find(tx, &snippets, SnippetAbility::Read, id, Entity::Record)?;
        show(tx, &snippets, found)
    })
}

/// Returns the content of a snippet of a project.
pub fn raw(app: &App, actor: Actor, named: &ProjectRef, id: SnippetId) -> Result<LongText, Error> {
    app.store.read(|tx| {
        let snippets = app.requester(actor).snippets(tx, named)?;
        let found = find(tx, &snippets, SnippetAbility::Read, id, Entity::Record)?;
        tx.snippets().content(found.id)?.ok_or(Error::NotFound(Entity::Record))
    })
}

/// Checks that the actor may create snippets, for calls that check permission before they read the request.
pub fn authorize_creation(app: &App, actor: Actor, named: &ProjectRef) -> Result<(), Error> {
    app.store.read(|tx| app.requester(actor).snippets(tx, named)?.require_create())
}

/// Creates a snippet in a project.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    fields: &SnippetFields,
) -> Result<SnippetView, Error> {
    let author = access::own_account(actor)?;
    app.store.write(|tx| {
        let snippets = app.requester(actor).locked_snippets(tx, named)?;
        snippets.require_create()?;
        let level = fields.visibility_level.ok_or(Error::NotGiven("visibility_level"))?;
        let mut errors = FieldErrors::default();
        let texts = fields.texts().parse(&mut errors);
        let visibility = Levels::load(app, tx, actor)?.parse(level, None, &mut errors);
        let (project, at) = (Some(snippets.project.id), app.clock.now());
        let new = errors.into_result_with(|| {
            let (title, file_name) = (texts.title?, texts.file_name?);
            let (content, visibility) = (texts.content?, visibility?);
            Some(NewSnippet { project, author, title, file_name, content, visibility, at })
        })?;
        let made = tx.snippets().insert(new)?;
        show(tx, &snippets, made)
    })
}

/// Checks that the actor may change a snippet, for calls that check permission before they read the request.
pub fn authorize_update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: SnippetId,
) -> Result<(), Error> {
    app.store.read(|tx| {
        let snippets = app.requester(actor).snippets(tx, named)?;
        find(tx, &snippets, SnippetAbility::Update, id, Entity::Record).map(drop)
    })
}

/// Changes the given fields of a snippet.
pub fn update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: SnippetId,
    fields: &SnippetFields,
) -> Result<SnippetView, Error> {
    app.store.write(|tx| {
        let snippets = app.requester(actor).locked_snippets(tx, named)?;
        let mut snippet = find(tx, &snippets, SnippetAbility::Update, id, Entity::Record)?;
        let content = fields.apply(&Levels::load(app, tx, actor)?, &mut snippet)?;
        if *fields != SnippetFields::default() {
            snippet.updated_at = app.clock.now();
        }
        tx.snippets().update(&snippet, content.as_ref())?;
        show(tx, &snippets, snippet)
    })
}

/// Deletes a snippet with its notes, and returns it.
pub fn delete(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: SnippetId,
) -> Result<SnippetView, Error> {
    app.store.write(|tx| {
        let snippets = app.requester(actor).locked_snippets(tx, named)?;
        let found = find(tx, &snippets, SnippetAbility::Update, id, Entity::Snippet)?;
        let shown = show(tx, &snippets, found)?;
        tx.snippets().delete(id)?;
        Ok(shown)
    })
}

/// Returns a snippet of the project if the actor has this ability on it. A missing or hidden one is reported as a
/// missing `thing`.
fn find(
    tx: &mut dyn Tx,
    snippets: &ProjectSnippets,
    ability: SnippetAbility,
    id: SnippetId,
    thing: Entity,
) -> Result<Snippet, Error> {
    let found = load(tx, snippets, id, thing.clone())?;
    snippets.require(ability, &found, thing)?;
    Ok(found)
}

/// Returns a snippet of the project, whether or not the actor may see it.
pub(crate) fn load(
    tx: &mut dyn Tx,
    snippets: &ProjectSnippets,
    id: SnippetId,
    missing: Entity,
) -> Result<Snippet, Error> {
    let found = tx.snippets().find(id)?;
    let of_project = found.filter(|snippet| snippet.project == Some(snippets.project.id));
    of_project.ok_or(Error::NotFound(missing))
}

fn show(
    tx: &mut dyn Tx,
    snippets: &ProjectSnippets,
    snippet: Snippet,
) -> Result<SnippetView, Error> {
    let path = full_path(tx, &snippets.project)?;
    Ok(view::load(tx, snippet, Some(path))?)
}

fn full_path(tx: &mut dyn Tx, project: &Project) -> Result<String, Error> {
    let placed = project_view::with_namespace(tx, project.clone())?;
    Ok(placed.card().path_with_namespace)
}
