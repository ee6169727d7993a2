//! Awards: emoji that users give to issues, merge requests, snippets and the notes on them.

use hexforge_domain::award::{Awardable, EmojiName, NewAward};
use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::id::{AwardId, NoteId, SnippetId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::note::{Note, Noteable};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::award::AwardFacts;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::ProjectRef;

use crate::access;
use crate::access::tracker::Tracker;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::note::subject::Subject;
use crate::view::award::{self as view, AwardView};

/// An object that has awards and notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwardedThing {
    /// An issue or merge request.
    Issuable(Issuable),
    /// A snippet of a project.
    Snippet(SnippetId),
}

impl From<AwardedThing> for Awardable {
    fn from(thing: AwardedThing) -> Self {
        match thing {
            AwardedThing::Issuable(issuable) => issuable.into(),
            AwardedThing::Snippet(snippet) => snippet.into(),
        }
    }
}

impl From<AwardedThing> for Noteable {
    fn from(thing: AwardedThing) -> Self {
        match thing {
            AwardedThing::Issuable(issuable) => issuable.into(),
            AwardedThing::Snippet(snippet) => snippet.into(),
        }
    }
}

/// The target of a call on awards: an issue, merge request or snippet, or a note on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AwardTarget {
    /// The issue, merge request or snippet.
    pub thing: AwardedThing,
    /// The note, if the awards of a note are meant.
    pub note: Option<NoteId>,
}

impl AwardTarget {
    fn awardable(self) -> Awardable {
        self.note.map_or(self.thing.into(), Awardable::Note)
    }
}

/// Lists the awards of a target, oldest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: AwardTarget,
    page: Page,
) -> Result<Paged<AwardView>, Error> {
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        Target::find(tx, &tracker, on)?;
        let awards = tx.awards().list(on.awardable(), page)?;
        Ok(view::page(tx, awards)?)
    })
}

/// Returns one award.
pub fn get(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: AwardTarget,
    id: AwardId,
) -> Result<AwardView, Error> {
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        find(tx, &tracker, on, id)
    })
}

/// Gives an emoji to a target.
/// # Errors
/// [`Error::Invalid`] when the emoji is unknown, or when the actor has given it already.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: AwardTarget,
    name: &str,
) -> Result<AwardView, Error> {
    let user = access::own_account(actor)?;
    let name = EmojiName::parse(name);
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        let target = Target::find(tx, &tracker, on)?;
        let is_vote = name.as_ref().is_ok_and(EmojiName::is_vote);
        if target.is_system_note() || is_vote && target.author() == user {
            return Err(Error::NotFound(Entity::AwardEmoji));
        }
        let (name, on) = (name?, on.awardable());
        if tx.awards().find_given(on, user, &name)?.is_some() {
            return Err(FieldErrors::single("name", FieldProblem::Taken).into());
        }
        let award = tx.awards().insert(NewAward { on, user, name, at: app.clock.now() })?;
        Ok(view::load(tx, award)?)
    })
}

/// Takes an award back, and returns it.
/// # Errors
/// [`Error::Unauthenticated`] when another user gave it and the actor is not an administrator: so the reference has it.
pub fn delete(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: AwardTarget,
    id: AwardId,
) -> Result<AwardView, Error> {
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        let shown = find(tx, &tracker, on, id)?;
        let facts = AwardFacts { given_by_actor: actor.user() == Some(shown.award.user) };
        if !facts.may_be_deleted_by(actor) {
            return Err(Error::Unauthenticated);
        }
        tx.awards().delete(id)?;
        Ok(shown)
    })
}

/// Gives an emoji to a target, or takes it back if the actor has given it.
pub fn toggle(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: AwardTarget,
    name: &str,
) -> Result<(), Error> {
    let user = access::own_account(actor)?;
    let given = app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        Target::find(tx, &tracker, on)?;
        // After the look-up: a hidden target answers as a missing one, whatever the name.
        let parsed = EmojiName::parse(name)?;
        Ok::<_, Error>(tx.awards().find_given(on.awardable(), user, &parsed)?)
    })?;
    match given {
        Some(award) => delete(app, actor, named, on, award.id).map(drop),
        None => create(app, actor, named, on, name).map(drop),
    }
}

fn find(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    on: AwardTarget,
    id: AwardId,
) -> Result<AwardView, Error> {
    Target::find(tx, tracker, on)?;
    let award = tx.awards().find(on.awardable(), id)?;
    Ok(view::load(tx, award.ok_or(Error::NotFound(Entity::Record))?)?)
}

/// The loaded target of a call.
struct Target {
    thing_author: UserId,
    note: Option<Note>,
}

impl Target {
    /// Returns the target of an award, if it exists and the actor may see it. A note has the visibility of its subject.
    fn find(tx: &mut dyn Tx, tracker: &Tracker, on: AwardTarget) -> Result<Self, Error> {
        let subject = Subject::load(tx, tracker, on.thing.into())?;
        let (thing_author, is_seen) = (subject.author(), subject.is_seen(tracker));
        let note = match on.note {
            Some(id) => {
                let reader = tracker.requester.note_reader()?;
                let note = tx.notes().find(on.thing.into(), id, reader)?;
                Some(note.ok_or(Error::NotFound(Entity::Record))?)
            }
            None => None,
        };
        if is_seen {
            Ok(Self { thing_author, note })
        } else {
            Err(Error::NotFound(Entity::AwardEmoji))
        }
    }

    fn author(&self) -> UserId {
        self.note.as_ref().map_or(self.thing_author, |note| note.author)
    }

    fn is_system_note(&self) -> bool {
        self.note.as_ref().is_some_and(|note| note.system)
    }
}
