//! Changes of refs, and the rows that are written with them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hexforge_application::app::App;
use hexforge_application::project::edit::{self, NameRule};
use hexforge_application::project::fields::ProjectFields;
use hexforge_application::push::{self, PushOutcome};
use hexforge_application::repository;
use hexforge_application::tag::{self, NewTag};
use hexforge_application::{branch, event};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::event::EventAction;
use hexforge_domain::id::ProjectId;
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::git::RefChange;
use hexforge_domain::ports::store::{Mode, Store, StoreError, Tx, Verdict};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::push::{EVENT_TEXT_BYTES, Push};
use hexforge_domain::user::User;
use hexforge_domain_testing::builders::{a_branch, a_project, a_release, a_user, home_of};

use crate::support::{FIRST_PAGE, World, actor};

fn a_poem() -> (World, User, ProjectId) {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    let home = home_of(&*world.app.store, ada.id);
    let id = a_project("poem", home, ada.id).stored_in(&*world.app.store).id;
    (world, ada, id)
}

fn pushes(world: &World) -> Vec<Push> {
    let pushed = |event| match event {
        SystemEvent::Pushed(push) => Some(*push),
        _ => None,
    };
    world.outbox_events().into_iter().filter_map(pushed).collect()
}

fn actions(world: &World, who: Actor, project: ProjectId) -> Vec<EventAction> {
    let named = ProjectRef::Id(project);
    let feed =
        event::list_of_project(&world.app, who, &named, FIRST_PAGE).expect("its owner reads it");
    feed.items.into_iter().map(|view| view.event.action).collect()
}

fn default_of(world: &World, project: ProjectId) -> Option<hexforge_domain::branch::BranchName> {
    let found = world.read(|tx| tx.projects().find(&ProjectRef::Id(project)));
    found.expect("it is there").default_branch
}

#[test]
fn a_change_is_an_event_and_news_with_the_same_content() {
    let (world, ada, poem) = a_poem();
    let first = world.git.commit(poem, "master", &[("a", "one")]);
    let named = ProjectRef::Id(poem);
    branch::create(&world.app, actor(&ada), &named, "new", "master").expect("owners may");
    let sent = pushes(&world);
    assert_eq!(sent.len(), 1);
    assert_eq!((sent[0].reference.as_str(), sent[0].before), ("refs/heads/new", ObjectId::ZERO));
    assert_eq!((sent[0].after, sent[0].checkout), (first, Some(first)));
    assert_eq!(sent[0].project.default_branch.as_deref(), Some("master"));
    let feed = event::list_of_project(&world.app, actor(&ada), &named, FIRST_PAGE).expect("a feed");
    assert_eq!(feed.items[0].event.push.as_deref(), Some(&sent[0]));
    assert_eq!(default_of(&world, poem), Some(a_branch("master")));
}

/// Changes refs as a push of this user does.
fn push_all(world: &World, who: &User, project: ProjectId, changes: Vec<RefChange>) {
    let found = world.read(|tx| tx.projects().find(&ProjectRef::Id(project)));
    let found = found.expect("it is there");
    let repository = repository::open(&world.app, project).expect("it can be opened");
    let pushed = push::change_refs(&world.app, actor(who), &found, &*repository, changes);
    assert_eq!(pushed.expect("the owner may"), PushOutcome::Done);
}

fn a_new(name: &str, tip: ObjectId) -> RefChange {
    RefChange { name: format!("refs/heads/{name}"), old: None, new: Some(tip) }
}

#[test]
fn a_first_branch_becomes_the_default_and_is_protected() {
    let (world, ada, poem) = a_poem();
    let home = home_of(&*world.app.store, ada.id);
    let song = a_project("song", home, ada.id).stored_in(&*world.app.store).id;
    // The fake shares objects between projects: the song has no ref yet.
    let tip = world.git.commit(poem, "master", &[("a", "one")]);
    push_all(&world, &ada, song, vec![a_new("begin", tip), a_new("next", tip)]);
    assert_eq!(default_of(&world, song), Some(a_branch("begin")));
    let refs = repository::refs(&world.app, song).expect("they can be read");
    assert_eq!((refs.head(), refs.len()), ("refs/heads/begin", 2));
    let protections = world.read(|tx| tx.protections().list(song));
    assert_eq!(protections.iter().map(|one| one.pattern.as_str()).collect::<Vec<_>>(), ["begin"]);
    assert_eq!(actions(&world, actor(&ada), song), [EventAction::PushedNew; 2]);
}

#[test]
fn a_change_that_cannot_be_recorded_is_not_made() {
    let (mut world, ada, poem) = a_poem();
    world.git.commit(poem, "master", &[("a", "one")]);
    let named = ProjectRef::Id(poem);
    let create = |world: &World, name: &str| {
        branch::create(&world.app, actor(&ada), &named, name, "master").map(drop)
    };
    let store = world.failing_store();
    let refs = |world: &World| repository::refs(&world.app, poem).expect("they can be read").len();
    store.broken(0, 1);
    assert!(create(&world, "new").is_err());
    assert_eq!((refs(&world), pushes(&world).len()), (1, 0));
    // A store that is busy for a while is not a failure.
    store.busy(0, 9);
    create(&world, "new").expect("it is tried again");
    assert_eq!((refs(&world), pushes(&world).len()), (2, 1));
    store.busy(0, 10);
    assert!(create(&world, "other").is_err());
    assert_eq!((refs(&world), pushes(&world).len()), (2, 1));
}

#[test]
fn the_event_of_a_removed_tag_names_its_commit() {
    let (world, ada, poem) = a_poem();
    let commit = world.git.commit(poem, "master", &[("a", "one")]);
    let named = ProjectRef::Id(poem);
    let wanted = |name: &str| NewTag {
        name: name.to_owned(),
        from: "master".to_owned(),
        message: Some("m".to_owned()),
        release: Some("news".to_owned()),
    };
    for name in ["v1", "v2"] {
        tag::create(&world.app, actor(&ada), &named, &wanted(name)).expect("owners may");
    }
    let sent = pushes(&world);
    assert_eq!((sent[0].checkout, sent[0].message.as_deref()), (Some(commit), Some("m")));
    assert_ne!(sent[0].after, commit, "the tag's own name");
    tag::delete(&world.app, actor(&ada), &named, "v1").expect("owners may");
    assert_eq!(pushes(&world).pop().map(|push| push.before), Some(commit));
    // The event of a push names the tag object instead.
    let releases = || world.read(|tx| tx.releases().find(poem, &a_release("v2", "").tag));
    assert!(releases().is_some());
    let gone = RefChange { name: "refs/tags/v2".into(), old: Some(sent[1].after), new: None };
    push_all(&world, &ada, poem, vec![gone]);
    assert_eq!(pushes(&world).pop().map(|push| push.before), Some(sent[1].after));
    assert!(releases().is_none());
}

#[test]
fn the_reported_data_of_a_push_is_limited() {
    let (world, ada, poem) = a_poem();
    let text = "m".repeat(EVENT_TEXT_BYTES + 1);
    let tip = world.git.commit(poem, "master", &[("a", "one")]);
    let long = world.git.commit_with_message(poem, "long", &text);
    let changes = (0..400).map(|number| RefChange {
        name: format!("refs/heads/{number:03}"),
        old: None,
        new: Some(if number == 0 { long } else { tip }),
    });
    push_all(&world, &ada, poem, changes.collect());
    let sent = pushes(&world);
    assert_eq!(sent.len(), 400, "each is sent");
    assert_eq!(sent[0].commits[0].message.len(), EVENT_TEXT_BYTES);
    assert!(sent.iter().all(|push| push.checkout.is_some()));

    // Twenty messages of 64 KiB each for every branch.
    let mut tip = tip;
    for _ in 0..20 {
        tip = world.git.commit_with_message(poem, "texts", &text);
    }
    let changes = (0..100).map(|number| RefChange {
        name: format!("refs/heads/t{number:03}"),
        old: None,
        new: Some(tip),
    });
    push_all(&world, &ada, poem, changes.collect());
    let sent = pushes(&world).split_off(400);
    let bytes: usize =
        sent.iter().flat_map(|push| &push.commits).map(|commit| commit.message.len()).sum();
    assert!(bytes < 20 << 20, "{bytes}");
    assert!(sent.iter().all(|push| push.commits.len() == 20 && push.total_commits == 20));
}

/// A store that knows whether a write transaction is open.
struct WatchedStore {
    store: Arc<dyn Store>,
    writes: Arc<AtomicBool>,
}

impl Store for WatchedStore {
    fn transact(
        &self,
        mode: Mode,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError> {
        self.writes.store(mode == Mode::Write, Ordering::SeqCst);
        let outcome = self.store.transact(mode, work);
        self.writes.store(false, Ordering::SeqCst);
        outcome
    }

    fn check_ready(&self) -> Result<(), StoreError> {
        self.store.check_ready()
    }
}

#[test]
fn no_tree_is_read_while_a_transaction_writes() {
    let (world, ada, poem) = a_poem();
    let (writes, reads) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (writing, counted) = (Arc::clone(&writes), Arc::clone(&reads));
    world.git.on_tree_read(move || {
        assert!(!writing.load(Ordering::SeqCst), "a tree is read inside a writing transaction");
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let app = App {
        store: Arc::new(WatchedStore { store: Arc::clone(&world.app.store), writes }),
        ..world.app.clone()
    };
    let named = ProjectRef::Id(poem);
    let avatar = || world.read(|tx| tx.projects().find(&named)).and_then(|found| found.avatar);
    world.git.commit(poem, "master", &[("logo.png", "picture")]);
    world.git.commit(poem, "plain", &[("README", "text")]);
    let tip = world.git.commit(poem, "other", &[("logo.gif", "picture")]);
    // Each new branch is recorded together with the avatar of the default branch.
    let change = RefChange { name: "refs/heads/new".to_owned(), old: None, new: Some(tip) };
    let found = world.read(|tx| tx.projects().find(&named)).expect("it is there");
    let repository = repository::open(&app, poem).expect("it has commits");
    push::change_refs(&app, actor(&ada), &found, &*repository, vec![change])
        .expect("the owner may");
    let edited = |branch: &str| {
        let fields =
            ProjectFields { default_branch: Some(branch.to_owned()), ..ProjectFields::default() };
        let shown = edit::edit(&app, actor(&ada), &named, NameRule::Optional, &fields);
        shown.expect("the owner may").project.avatar
    };
    for (branch, picture) in
        [("other", Some("logo.gif")), ("plain", None), ("master", Some("logo.png"))]
    {
        assert_eq!(edited(branch).as_deref(), picture, "{branch}");
        assert_eq!(avatar().as_deref(), picture, "{branch}");
    }
    assert!(reads.load(Ordering::SeqCst) > 0, "pictures were looked for");
}
