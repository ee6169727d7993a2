//! What is recorded of changes, also of those that a crash left unrecorded.

mod support;

use hexforge_application::push;
use hexforge_application::tag::{self, NewTag};
use hexforge_application::{branch, event};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::event::EventAction;
use hexforge_domain::id::ProjectId;
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::git::RefChange;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::push::Push;
use hexforge_domain::testing::builders::{a_branch, a_project, a_release, a_user, home_of};
use hexforge_domain::user::User;

use support::{FIRST_PAGE, World, actor};

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
    world.news().into_iter().filter_map(pushed).collect()
}

fn actions(world: &World, who: Actor, project: ProjectId) -> Vec<EventAction> {
    let named = ProjectRef::Id(project);
    let feed = event::of_project(&world.app, who, &named, FIRST_PAGE).expect("its owner reads it");
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
    let told = pushes(&world);
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].reference.as_str(), told[0].before), ("refs/heads/new", ObjectId::ZERO));
    assert_eq!((told[0].after, told[0].checkout), (first, Some(first)));
    assert_eq!(told[0].project.default_branch.as_deref(), Some("master"));
    let feed = event::of_project(&world.app, actor(&ada), &named, FIRST_PAGE).expect("a feed");
    assert_eq!(feed.items[0].event.push.as_deref(), Some(&told[0]));
    assert_eq!(default_of(&world, poem), Some(a_branch("master")));
}

#[test]
fn what_was_left_unrecorded_is_recorded_once() {
    let (world, ada, poem) = a_poem();
    let tip = world.git.commit(poem, "master", &[("a", "one")]);
    let made = RefChange { name: "refs/heads/master".into(), old: None, new: Some(tip) };
    world.git.leave_unsettled(poem, &ada.id.to_string(), vec![made]);
    for _ in 0..2 {
        push::settle_all(&world.app).expect("it can be recorded");
        assert_eq!(actions(&world, actor(&ada), poem), [EventAction::PushedNew]);
        let told = pushes(&world);
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].user.id, told[0].after, told[0].total_commits), (ada.id, tip, 1));
        assert_eq!(world.git.unsettled_count(), 0);
    }
    // What follows from a first push follows from a late one, too.
    assert_eq!(default_of(&world, poem), Some(a_branch("master")));
    let protections = world.read(|tx| tx.protections().list(poem));
    assert_eq!(protections.len(), 1);
    assert_eq!(protections[0].pattern, "master");
}

#[test]
fn the_next_change_records_what_was_left_before_it() {
    let (world, ada, poem) = a_poem();
    let tip = world.git.commit(poem, "master", &[("a", "one")]);
    let made = RefChange { name: "refs/heads/master".into(), old: None, new: Some(tip) };
    world.git.leave_unsettled(poem, &ada.id.to_string(), vec![made]);
    let named = ProjectRef::Id(poem);
    branch::create(&world.app, actor(&ada), &named, "new", "master").expect("owners may");
    let told: Vec<String> = pushes(&world).into_iter().map(|push| push.reference).collect();
    assert_eq!(told, ["refs/heads/master", "refs/heads/new"]);
}

#[test]
fn a_change_that_did_not_happen_and_one_of_nobody_are_forgotten() {
    let (world, ada, poem) = a_poem();
    let tip = world.git.commit(poem, "master", &[("a", "one")]);
    let made = RefChange { name: "refs/heads/master".into(), old: None, new: Some(tip) };
    world.git.leave_unsettled(poem, &ada.id.to_string(), vec![]);
    world.git.leave_unsettled(poem, "987654", vec![made.clone()]);
    world.git.leave_unsettled(poem, "nonsense", vec![made.clone()]);
    world.git.leave_unsettled(ProjectId(987_654), &ada.id.to_string(), vec![]);
    push::settle_all(&world.app).expect("there is nothing to record");
    assert_eq!(pushes(&world), []);
    assert_eq!(world.git.unsettled_count(), 0);
}

#[test]
fn a_removed_tag_tells_its_commit_whenever_it_is_recorded() {
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
    let told = pushes(&world);
    assert_eq!((told[0].checkout, told[0].message.as_deref()), (Some(commit), Some("m")));
    assert_ne!(told[0].after, commit, "the tag's own name");
    tag::delete(&world.app, actor(&ada), &named, "v1").expect("owners may");
    assert_eq!(pushes(&world).pop().map(|push| push.before), Some(commit));
    // The same after a crash in between, and as a push would tell it.
    let gone = || RefChange { name: "refs/tags/v2".into(), old: Some(told[1].after), new: None };
    let releases = || world.read(|tx| tx.releases().find(poem, &a_release("v2", "").tag));
    assert!(releases().is_some());
    for (note, before) in
        [(format!("{} removes a tag", ada.id), commit), (ada.id.to_string(), told[1].after)]
    {
        world.git.leave_unsettled(poem, &note, vec![gone()]);
        push::settle_all(&world.app).expect("it can be recorded");
        assert_eq!(pushes(&world).pop().map(|push| push.before), Some(before), "{note}");
        assert!(releases().is_none());
    }
}
