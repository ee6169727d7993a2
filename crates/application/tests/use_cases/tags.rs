//! Tags and releases: the main outcomes of each use case.

use hexforge_application::error::{Conflict, Entity, Error, Missing, Refusal};
use hexforge_application::tag::{self, NewTag, release};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain_testing::builders::{a_project, a_release, a_user, home_of};

use crate::support::{World, actor};

fn a_poem() -> (World, Actor, ProjectRef) {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    let home = home_of(&*world.app.store, ada.id);
    let id = a_project("poem", home, ada.id).stored_in(&*world.app.store).id;
    world.git.commit(id, "master", &[("a", "one")]);
    (world, actor(&ada), ProjectRef::Id(id))
}

fn new(name: &str, from: &str, message: Option<&str>, release: Option<&str>) -> NewTag {
    NewTag {
        name: name.to_owned(),
        from: from.to_owned(),
        message: message.map(str::to_owned),
        release: release.map(str::to_owned),
    }
}

#[test]
fn tags_are_lightweight_or_annotated_with_or_without_a_release() {
    let (world, ada, poem) = a_poem();
    for (name, message, release, text, published) in [
        ("a", None, None, None, None),
        ("b", Some(" "), Some(" "), None, None),
        ("c", Some(" text \n"), Some("news"), Some("text"), Some("news")),
    ] {
        let made = tag::create(&world.app, ada, &poem, &new(name, "master", message, release));
        let made = made.expect("owners may");
        assert_eq!(made.tag.message.as_deref(), text);
        assert_eq!(made.release, published.map(|text| a_release(name, text)));
        assert_eq!(tag::get(&world.app, ada, &poem, name).expect("it is there"), made);
    }
    let list = tag::list(&world.app, ada, &poem, Page::Whole).expect("owners may").items;
    let names: Vec<&str> = list.iter().map(|view| view.tag.name.as_str()).collect();
    assert_eq!(names, ["c", "b", "a"]);
}

#[test]
fn a_tag_is_not_made_for_several_reasons() {
    let (world, ada, poem) = a_poem();
    tag::create(&world.app, ada, &poem, &new("v1", "master", None, None)).expect("owners may");
    for (name, from, refusal) in [
        ("a b", "master", Refusal::TagName),
        ("v1", "master", Refusal::TagExists("v1".into())),
        ("v2", "missing", Refusal::TagTarget("missing".into())),
        ("v1/x", "master", Refusal::TagMoved("v1/x".into())),
    ] {
        let wanted = new(name, from, None, Some("news"));
        let error = world.refusal(|app| tag::create(app, ada, &poem, &wanted));
        assert!(matches!(&error, Error::Refused(found) if *found == refusal), "{error:?}");
    }
}

#[test]
fn a_tag_goes_with_its_release() {
    let (world, ada, poem) = a_poem();
    let wanted = new("v1", "master", Some("m"), Some("news"));
    tag::create(&world.app, ada, &poem, &wanted).expect("owners may");
    tag::delete(&world.app, ada, &poem, "v1").expect("owners may");
    assert_error!(
        tag::get(&world.app, ada, &poem, "v1").expect_err("it is gone"),
        Error::NotFound(Entity::Tag)
    );
    assert_error!(
        world.refusal(|app| tag::delete(app, ada, &poem, "v1")),
        Error::Missing(Missing::Tag)
    );
    let again = tag::create(&world.app, ada, &poem, &new("v1", "master", None, None));
    assert_eq!(again.expect("owners may").release, None);
}

#[test]
fn releases_are_made_once_and_changed() {
    let (world, ada, poem) = a_poem();
    tag::create(&world.app, ada, &poem, &new("v1", "master", None, None)).expect("owners may");
    let (app, told) = (&world.app, world.outbox_events().len());
    assert_error!(
        world.refusal(|app| release::update(app, ada, &poem, "v1", "x")),
        Error::Missing(Missing::Release)
    );
    let made = release::create(app, ada, &poem, "v1", "news").expect("owners may");
    assert_eq!(made, a_release("v1", "news"));
    assert_error!(
        world.refusal(|app| release::create(app, ada, &poem, "v1", "more")),
        Error::Conflict(Conflict::ReleaseExists)
    );
    let changed = release::update(app, ada, &poem, "v1", "more").expect("owners may");
    assert_eq!(changed, a_release("v1", "more"));
    for (tag, text) in [("missing", "x"), ("missing", " ")] {
        assert_error!(
            world.refusal(|app| release::create(app, ada, &poem, tag, text)),
            Error::Missing(Missing::TagOfRelease)
        );
    }
    assert_error!(
        world.refusal(|app| release::create(app, ada, &poem, "v1", " ")),
        Error::NotGiven("description")
    );
    assert_eq!(world.outbox_events().len(), told, "releases are no news");
}
