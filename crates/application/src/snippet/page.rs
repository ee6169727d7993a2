//! What the web pages of snippets show.

use hexforge_domain::id::SnippetId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::snippet::{PersonalSnippetFacts, SnippetAbility};
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::snippet::Snippet;
use hexforge_domain::text::LongText;

use super::find;
use crate::app::App;
use crate::discussion::Discussion;
use crate::error::{Entity, Error};
use crate::note::subject::Subject;
use crate::view::snippet::{self as view, SnippetView};

/// A page of the snippets of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetList {
    pub snippets: Paged<SnippetView>,
    pub may_create: bool,
}

/// Lists the snippets of a project that the actor sees. Without any, because they are disabled or the actor sees none,
/// the list does not exist.
pub fn list(app: &App, actor: Actor, named: &ProjectRef, page: Page) -> Result<SnippetList, Error> {
    let may_create = app.store.read(|tx| {
        let snippets = app.requester(actor).snippets(tx, named)?;
        snippets.lowest_visible().ok_or(Error::NotFound(Entity::Snippet))?;
        Ok::<_, Error>(snippets.require_create().is_ok())
    })?;
    Ok(SnippetList { snippets: super::list(app, actor, named, page)?, may_create })
}

/// One snippet of a project with its discussion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetPage {
    pub view: SnippetView,
    pub content: LongText,
    pub discussion: Discussion,
    /// Whether the actor may change and delete it.
    pub may_update: bool,
}

/// Returns a snippet of a project with a page of its discussion.
pub fn show(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: SnippetId,
    page: Page,
) -> Result<SnippetPage, Error> {
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let snippets = requester.snippets(tx, named)?;
        let found = find(tx, &snippets, SnippetAbility::Read, id, Entity::Record)?;
        let may_update = snippets.allows(SnippetAbility::Update, &found);
        let content = tx.snippets().content(id)?.ok_or(Error::NotFound(Entity::Record))?;
        let tracker = requester.tracker(tx, named)?;
        let subject = Subject::Snippet(found.clone(), snippets);
        let discussion = Discussion::load(tx, &tracker, &subject, page)?;
        let path = super::full_path(tx, &tracker.project)?;
        let view = view::load(tx, found, Some(path))?;
        Ok(SnippetPage { view, content, discussion, may_update })
    })
}

/// A personal snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonalPage {
    pub view: SnippetView,
    pub content: LongText,
    /// Whether the actor wrote it, and may change and delete it.
    pub is_own: bool,
}

/// Returns a personal snippet that the actor may see. Unlike the API, which has only own ones, pages show those of others
/// by their visibility, as lists of them do.
pub fn show_personal(app: &App, actor: Actor, id: SnippetId) -> Result<PersonalPage, Error> {
    app.store.read(|tx| {
        let (found, is_own) = find_personal(tx, actor, id)?;
        let content = tx.snippets().content(id)?.ok_or(Error::NotFound(Entity::Record))?;
        Ok(PersonalPage { view: view::load(tx, found, None)?, content, is_own })
    })
}

fn find_personal(tx: &mut dyn Tx, actor: Actor, id: SnippetId) -> Result<(Snippet, bool), Error> {
    let missing = || Error::NotFound(Entity::Record);
    let found = tx.snippets().find(id)?.filter(|snippet| snippet.project.is_none());
    let found = found.ok_or_else(missing)?;
    let is_own = actor.user() == Some(found.author);
    let facts = PersonalSnippetFacts { visibility: found.visibility, written_by_actor: is_own };
    if facts.is_read_by(actor) { Ok((found, is_own)) } else { Err(missing()) }
}
