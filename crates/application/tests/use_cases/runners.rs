//! Managing runners and their registration tokens.

use crate::support::{World, actor};
use hexforge_application::ci_token;
use hexforge_application::error::Error;
use hexforge_application::runner::{self, Registered, Registration, manage};
use hexforge_domain::build::Tags;
use hexforge_domain::change::Change;
use hexforge_domain::id::RunnerId;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::runner::RunnerInfo;
use hexforge_domain_testing::builders::{a_project, a_user, home_of};

fn register(world: &World, token: &str) -> Result<Registered, Error> {
    let new = Registration {
        description: "mine".to_owned(),
        tags: Tags::default(),
        run_untagged: true,
        locked: false,
        info: RunnerInfo::default(),
    };
    runner::register(&world.app, token, new)
}

#[test]
fn a_replaced_token_registers_nobody_and_the_new_one_does() {
    let world = World::new();
    let first = ci_token::service_token(&world.app, 0);
    let runner = register(&world, first.reveal()).expect("the token of a new installation").id;
    let second = manage::rotate_service_token(&world.app, Actor::OPERATOR).expect("it may");
    assert_ne!(first, second);
    assert!(matches!(register(&world, first.reveal()), Err(Error::Forbidden(_))));
    register(&world, second.reveal()).expect("the new token");
    let third = manage::rotate_service_token(&world.app, Actor::OPERATOR).expect("it may");
    assert!(matches!(register(&world, second.reveal()), Err(Error::Forbidden(_))));
    register(&world, third.reveal()).expect("the newest token");
    assert!(world.read(|tx| tx.runners().find(runner)).is_some(), "it stays registered");
}

#[test]
fn the_token_of_a_project_is_replaced_by_those_who_administer_it() {
    let world = World::new();
    let (ada, eve) = (world.user(a_user("ada")), world.user(a_user("eve")));
    let home = home_of(&*world.app.store, ada.id);
    let site = a_project("site", home, ada.id).public().stored_in(&*world.app.store).id;
    let old = world.read(|tx| tx.projects().runners_token(site)).expect("it has one");
    let named = ProjectRef::Id(site);
    let refused = manage::rotate_project_token(&world.app, actor(&eve), &named);
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let new = manage::rotate_project_token(&world.app, actor(&ada), &named).expect("she may");
    assert!(matches!(register(&world, old.reveal()), Err(Error::Forbidden(_))));
    let made = register(&world, new.reveal()).expect("the new token");
    assert_eq!(world.read(|tx| tx.runners().newest_projects(made.id, None, 9)), [site]);
}

#[test]
fn administrators_list_pause_and_remove_runners() {
    let world = World::new();
    let eve = actor(&world.user(a_user("eve")));
    let token = ci_token::service_token(&world.app, 0);
    let id = register(&world, token.reveal()).expect("it is the token").id;
    let states = || -> Vec<(RunnerId, bool)> {
        let all = manage::list(&world.app, Actor::OPERATOR, Page::Whole).expect("it may").items;
        all.into_iter().map(|view| (view.runner.id, view.runner.active)).collect()
    };
    assert_eq!(states(), [(id, true)]);
    for (active, changes) in [(false, true), (false, false), (true, true)] {
        let change = manage::set_active(&world.app, Actor::OPERATOR, id, active).expect("it may");
        assert_eq!(matches!(change, Change::Applied(_)), changes);
        assert_eq!(states(), [(id, active)]);
    }
    assert!(matches!(manage::list(&world.app, eve, Page::Whole), Err(Error::Forbidden(_))));
    assert!(matches!(manage::set_active(&world.app, eve, id, false), Err(Error::Forbidden(_))));
    assert!(matches!(manage::remove(&world.app, eve, id), Err(Error::Forbidden(_))));
    manage::remove(&world.app, Actor::OPERATOR, id).expect("it may");
    assert_eq!(states(), []);
    let gone = manage::remove(&world.app, Actor::OPERATOR, id);
    assert!(matches!(gone, Err(Error::NotFound(_))), "{gone:?}");
}
