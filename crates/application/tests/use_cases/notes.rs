//! Comments that close or reopen what they are on.

use hexforge_application::error::Error;
use hexforge_application::note::{self, NoteFields};
use hexforge_domain::award::Awardable;
use hexforge_domain::id::ProjectId;
use hexforge_domain::issue::{Issue, IssueCommand};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::note::{Note, Noteable};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::ProjectRef;
use hexforge_domain_testing::builders::{
    a_member, a_merge_request, a_project, a_user, an_issue, home_of, join_project,
};

use crate::support::{World, actor};

/// A public project with an issue and a merge request of its owner, and a guest.
struct Tracker {
    world: World,
    project: ProjectId,
    owner: Actor,
    guest: Actor,
    issue: Issue,
    request: MergeRequest,
}

impl Tracker {
    fn new() -> Self {
        let world = World::new();
        let (ada, bob) = (world.user(a_user("ada")), world.user(a_user("bob")));
        let store = &*world.app.store;
        let project =
            a_project("poem", home_of(store, ada.id), ada.id).public().stored_in(store).id;
        join_project(store, project, a_member(bob.id, AccessLevel::Guest));
        world.git.commit(project, "master", &[("a", "one")]);
        world.git.commit(project, "topic", &[("a", "two")]);
        let issue = world.write(|tx| tx.issues().insert(an_issue(project, ada.id, "An issue")));
        let request = a_merge_request(project, ada.id, "A request");
        let request = world.write(|tx| tx.merge_requests().insert(request));
        Self { world, project, owner: actor(&ada), guest: actor(&bob), issue, request }
    }

    fn subjects(&self) -> [Noteable; 2] {
        [self.issue.id.into(), self.request.id.into()]
    }

    fn write(
        &self,
        actor: Actor,
        on: Noteable,
        text: &str,
        command: IssueCommand,
    ) -> Result<(), Error> {
        let fields = NoteFields { body: text.to_owned(), created_at: None };
        let named = ProjectRef::Id(self.project);
        note::create_with_state(&self.world.app, actor, &named, on, &fields, command).map(drop)
    }

    /// The comments, without system notes.
    fn comments(&self, on: Noteable) -> Vec<String> {
        let notes = self.world.read(|tx| tx.notes().list(on, None, Page::Whole)).items;
        let written = notes.into_iter().filter(|note: &Note| !note.system);
        written.map(|note| note.body.as_str().to_owned()).collect()
    }

    fn is_open(&self, on: Noteable) -> bool {
        let project = self.project;
        match on {
            Noteable::Issue(id) => {
                let found = self.world.read(|tx| tx.issues().find(project, id));
                found.expect("it exists").state.is_open()
            }
            _ => {
                let id = self.request.id;
                let found = self.world.read(|tx| tx.merge_requests().find(project, id));
                found.expect("it exists").state.is_open()
            }
        }
    }
}

#[test]
fn a_comment_closes_and_reopens() {
    let tracker = Tracker::new();
    for on in tracker.subjects() {
        let write = |text, command| tracker.write(tracker.owner, on, text, command);
        write("done", IssueCommand::Close).expect("owners may");
        assert!(!tracker.is_open(on), "{on:?}");
        // The button counts, not the command in the text.
        write("not yet\n/close", IssueCommand::Reopen).expect("owners may");
        assert!(tracker.is_open(on), "{on:?}");
        write(":tada:", IssueCommand::Close).expect("an award closes too");
        assert!(!tracker.is_open(on), "{on:?}");
        write("/todo", IssueCommand::Reopen).expect("commands reopen too");
        assert!(tracker.is_open(on), "{on:?}");
        assert_eq!(tracker.comments(on), ["done", "not yet"], "{on:?}");
    }
}

#[test]
fn without_the_right_to_close_nothing_is_stored() {
    let tracker = Tracker::new();
    for on in tracker.subjects() {
        for text in ["his", ":tada:", "/close", "his\n/todo"] {
            let error = tracker
                .world
                .refusal(|_| tracker.write(tracker.guest, on, text, IssueCommand::Close));
            assert_error!(error, Error::Forbidden(_));
        }
        assert!(tracker.comments(on).is_empty() && tracker.is_open(on), "{on:?}");
        let awardable = match on {
            Noteable::Issue(id) => Awardable::Issue(id),
            _ => Awardable::MergeRequest(tracker.request.id),
        };
        let awards = tracker.world.read(|tx| tx.awards().list(awardable, Page::Whole));
        assert!(awards.items.is_empty(), "{on:?}");
        let fields = NoteFields { body: "his".to_owned(), created_at: None };
        let named = ProjectRef::Id(tracker.project);
        note::create(&tracker.world.app, tracker.guest, &named, on, &fields).expect("guests may");
    }
}

#[test]
fn a_busy_store_repeats_neither_the_comment_nor_the_change() {
    let mut tracker = Tracker::new();
    let store = tracker.world.failing_store();
    for on in tracker.subjects() {
        store.busy(0, 2);
        tracker.write(tracker.owner, on, "done", IssueCommand::Close).expect("the third attempt");
        assert_eq!(tracker.comments(on), ["done"], "{on:?}");
        assert!(!tracker.is_open(on), "{on:?}");
        store.busy(0, 9);
        let error = tracker.write(tracker.owner, on, "again", IssueCommand::Reopen);
        assert_error!(error, Err(Error::Store(StoreError::Busy)));
        store.busy(0, 0);
        assert_eq!(tracker.comments(on), ["done"], "{on:?}");
        assert!(!tracker.is_open(on), "{on:?}");
    }
}
