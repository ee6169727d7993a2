//! The discussion of an issue or merge request: comments, system notes and awards.

pub(super) mod handlers;

use actix_web::HttpResponse;
use hexforge_application::app::App;
use hexforge_application::award::{self, AwardTarget, AwardedThing};
use hexforge_application::discussion::{Discussion, DiscussionNote};
use hexforge_application::error::Error;
use hexforge_application::note::{self, NoteFields, NoteOutcome};
use hexforge_application::view::award::AwardView;
use hexforge_domain::award::EmojiName;
use hexforge_domain::award::emoji::{THUMBS_DOWN, THUMBS_UP};
use hexforge_domain::id::{NoteId, UserId};
use hexforge_domain::issue::IssueCommand;
use hexforge_domain::note::Noteable;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;

use super::tracker::{Person, number};
use crate::cookies::Notice;
use crate::diff::LinePlace;
use crate::error::PageResult;
use crate::forms::{Choice, Form};
use crate::frame::{Frame, Pager};
use crate::markdown;
use crate::moment::Moment;
use crate::prose::{Prose, ProseRenderer};
use crate::render;
use crate::visit::Visit;

/// The comments on a page.
pub(super) const NOTES_PER_PAGE: u64 = 100;

/// The discussion as a page shows it.
pub(super) struct Thread {
    pub(super) notes: Vec<ThreadNote>,
    pub(super) pager: Pager,
    pub(super) awards: Vec<AwardCount>,
    pub(super) emoji: Vec<Choice>,
    /// The pending todo of the visitor.
    pub(super) todo: Option<i64>,
    /// The emoji that the forms of comments suggest.
    pub(super) suggested: [&'static str; OFFERED.len()],
}

/// A comment or a system note.
pub(super) struct ThreadNote {
    pub(super) id: i64,
    pub(super) author: Person,
    pub(super) at: Moment,
    pub(super) is_edited: bool,
    pub(super) is_system: bool,
    pub(super) body: Prose,
    /// The line of the changes that the comment is on.
    pub(super) place: Option<LinePlace>,
    pub(super) awards: Vec<AwardCount>,
    pub(super) may_update: bool,
    pub(super) may_delete: bool,
}

/// An emoji and how many people gave it.
pub(super) struct AwardCount {
    pub(super) name: String,
    pub(super) count: usize,
    pub(super) people: String,
    pub(super) is_own: bool,
}

impl AwardCount {
    /// The character of the emoji, if its name has one.
    pub(super) fn glyph(&self) -> Option<String> {
        markdown::emoji(&self.name)
    }

    /// The awards, each emoji once.
    fn all(given: &[AwardView], viewer: Option<UserId>) -> Vec<Self> {
        let mut awards: Vec<Self> = Vec::new();
        for award in given {
            let (name, who) = (award.award.name.as_str(), award.user.name.as_str());
            let is_own = Some(award.user.id) == viewer;
            match awards.iter_mut().find(|known| known.name == name) {
                Some(known) => {
                    known.count += 1;
                    known.is_own |= is_own;
                    known.people.push_str(", ");
                    known.people.push_str(who);
                }
                None => awards.push(Self {
                    name: name.to_owned(),
                    count: 1,
                    people: who.to_owned(),
                    is_own,
                }),
            }
        }
        awards
    }
}

/// The emoji that the form offers; further ones are given by a comment such as `:rocket:`.
const OFFERED: [&str; 10] = [
    THUMBS_UP,
    THUMBS_DOWN,
    "tada",
    "heart",
    "smile",
    "laughing",
    "confused",
    "rocket",
    "eyes",
    "white_check_mark",
];

/// The texts of a discussion.
pub(super) fn texts(discussion: &Discussion) -> impl Iterator<Item = &str> {
    discussion.notes.items.iter().map(|note| note.view.note.body.as_str())
}

/// Renders the comments. It takes time, and is called by a use case.
pub(super) fn render(discussion: &Discussion, renderer: &mut ProseRenderer) -> Vec<Prose> {
    texts(discussion).map(|text| renderer.render(text)).collect()
}

impl Thread {
    /// The discussion with its rendered comments. Authors do not vote on their own things.
    pub(super) fn new(
        frame: &Frame,
        discussion: &Discussion,
        bodies: Vec<Prose>,
        pager: Pager,
        (viewer, author): (Option<UserId>, UserId),
    ) -> Self {
        let notes = discussion.notes.items.iter().zip(bodies);
        let notes = notes.map(|(note, body)| ThreadNote::new(frame, note, body, viewer)).collect();
        let awards = AwardCount::all(&discussion.awards, viewer);
        let is_offered = |name: &&str| {
            let is_vote = [THUMBS_UP, THUMBS_DOWN].contains(name);
            let is_given = awards.iter().any(|award| award.name == **name);
            EmojiName::parse(name).is_ok() && !is_given && !(is_vote && viewer == Some(author))
        };
        let emoji = OFFERED.into_iter().filter(is_offered);
        let emoji = emoji.map(|name| Choice::new(name, name, false)).collect();
        let todo = discussion.todo.map(|todo| todo.0);
        Self { notes, pager, awards, emoji, todo, suggested: OFFERED }
    }
}

impl ThreadNote {
    fn new(frame: &Frame, note: &DiscussionNote, body: Prose, viewer: Option<UserId>) -> Self {
        let DiscussionNote { view, awards, may_update, may_delete } = note;
        Self {
            id: view.note.id.0,
            author: Person::from(&view.author),
            at: frame.moment(view.note.created_at),
            is_edited: view.note.updated_by.is_some(),
            is_system: view.note.system,
            body,
            place: view.note.position.as_ref().map(LinePlace::from),
            awards: AwardCount::all(awards, viewer),
            may_update: *may_update,
            may_delete: *may_delete,
        }
    }
}

/// The texts of a thing and its discussion, rendered.
pub(super) struct RenderedTexts {
    pub(super) description: Prose,
    pub(super) notes: Vec<Prose>,
    /// A text that is not stored yet.
    pub(super) preview: Option<Prose>,
}

impl RenderedTexts {
    /// Renders the description, the comments, and a text that somebody writes.
    pub(super) fn new(
        app: &App,
        actor: hexforge_domain::policy::Actor,
        (named, path): (&hexforge_domain::project::ProjectRef, &str),
        description: &str,
        discussion: &Discussion,
        preview: Option<&str>,
    ) -> Result<Self, Error> {
        let all: Vec<&str> =
            [description].into_iter().chain(preview).chain(texts(discussion)).collect();
        let mut renderer = ProseRenderer::new(app, actor, named, path, &all)?;
        let description = renderer.render(description);
        let preview = preview.map(|text| renderer.render(text));
        let notes = render(discussion, &mut renderer);
        Ok(Self { description, notes, preview })
    }
}

/// The change of the state that a form asks for.
pub(super) fn state_event(form: &Form) -> Option<IssueCommand> {
    match form.text("state_event") {
        "close" => Some(IssueCommand::Close),
        "reopen" => Some(IssueCommand::Reopen),
        _ => None,
    }
}

/// Stores a comment, and closes or reopens its subject with it. Returns the part of the address that leads to the
/// comment.
pub(super) fn comment(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: Noteable,
    text: &str,
    command: Option<IssueCommand>,
) -> Result<String, Error> {
    let fields = NoteFields { body: text.to_owned(), created_at: None };
    let written = match command {
        Some(command) => note::create_with_state(app, actor, named, on, &fields, command),
        None => note::create(app, actor, named, on, &fields),
    }?;
    Ok(anchor_of(app, actor, named, on, &written))
}

/// The page of the discussion that has a new comment, and the comment on it. An error is ignored: the comment is
/// stored, and another attempt would store it again.
pub(super) fn anchor_of(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: Noteable,
    written: &NoteOutcome,
) -> String {
    let NoteOutcome::Note(view) = written else { return String::new() };
    let one = Page::Numbered { number: 1, size: 1 };
    let total = note::list(app, actor, named, on, one).map_or(0, |notes| notes.total);
    let last = total.div_ceil(NOTES_PER_PAGE);
    let page = if last > 1 { format!("?page={last}") } else { String::new() };
    format!("{page}#note_{}", view.note.id)
}

/// Gives an emoji to a comment, or takes it back, and returns to the discussion at `address`.
pub(super) async fn award_note(
    visit: Visit,
    address: &str,
    find: impl Fn(&App, Actor, &ProjectRef) -> Result<AwardedThing, Error> + Send + 'static,
) -> PageResult<HttpResponse> {
    let (named, note) = (visit.project(), NoteId(number(&visit, "note")?));
    let name = visit.form().text("name").trim_matches(':').to_owned();
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let thing = find(app, signed_in.actor, &named)?;
            let on = AwardTarget { thing, note: Some(note) };
            award::toggle(app, signed_in.actor, &named, on, &name)
        })
        .await?;
    let notice = if done.is_ok() { Notice::Saved } else { Notice::Refused };
    Ok(render::see_other_with(&visit, &format!("{address}#note_{note}"), notice))
}
