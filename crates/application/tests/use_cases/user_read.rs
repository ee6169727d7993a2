//! Listing and reading accounts.

use crate::support::{FIRST_PAGE, World, actor};
use hexforge_application::error::{Entity, Error};
use hexforge_application::user::{self, UserQuery};
use hexforge_application::view::user::{FullUser, UserPage, UserView};
use hexforge_domain::id::UserId;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::user::{Identity, User, UserFilter, UserState};
use hexforge_domain_testing::builders::{a_text, a_user};

/// Returns the usernames of a page, for both forms of users.
fn names(page: &UserPage) -> Vec<&str> {
    fn name(user: &User) -> &str {
        user.username.as_str()
    }
    match page {
        UserPage::Summaries(page) => page.items.iter().map(name).collect(),
        UserPage::Full(page) => page.items.iter().map(|full| name(&full.user)).collect(),
    }
}

fn total(page: &UserPage) -> u64 {
    match page {
        UserPage::Summaries(page) => page.total,
        UserPage::Full(page) => page.total,
    }
}

fn list(world: &World, actor: Actor, query: UserQuery) -> UserPage {
    user::list(&world.app, actor, query, FIRST_PAGE).expect("every user may list users")
}

fn matching(world: &World, actor: Actor, filter: UserFilter) -> Vec<String> {
    let page = list(world, actor, UserQuery::Matching(filter));
    names(&page).into_iter().map(str::to_owned).collect()
}

fn all() -> UserQuery {
    UserQuery::Matching(UserFilter::default())
}

/// A world of an administrator `boss`, the normal users `ada` and `bob`, of whom `bob` is blocked,
/// and the external user `eve`.
fn populated() -> (World, Actor, User) {
    let world = World::new();
    let admin = world.admin();
    let ada = world.user(a_user("ada").named("Ada Lovelace"));
    let bob = world.user(a_user("bob"));
    world.in_state(&bob, UserState::Blocked);
    world.user(a_user("eve").external());
    (world, admin, ada)
}

fn directory(extern_uid: &str) -> Identity {
    Identity { provider: a_text("directory"), extern_uid: Some(a_text(extern_uid)) }
}

#[test]
fn a_normal_user_sees_summaries_of_everybody_newest_first() {
    let (world, _, ada) = populated();
    let page = list(&world, actor(&ada), all());
    assert!(matches!(page, UserPage::Summaries(_)), "{page:?}");
    assert_eq!(names(&page), ["eve", "bob", "ada", "boss"]);
    assert_eq!(total(&page), 4);
}

#[test]
fn an_administrator_sees_full_accounts_with_their_own_identities() {
    let (world, admin, ada) = populated();
    world.write(|tx| {
        tx.identities().put(ada.id, &directory("7"))?;
        tx.identities().put(admin.user().expect("a user"), &directory("1"))
    });
    let UserPage::Full(page) = list(&world, admin, all()) else { panic!("full accounts") };
    let identities: Vec<_> = page.items.into_iter().map(|full| full.identities).collect();
    assert_eq!(identities, [vec![], vec![], vec![directory("7")], vec![directory("1")]]);
}

#[test]
fn a_page_holds_its_part_and_knows_the_total() {
    let (world, admin, ada) = populated();
    let second = Page::Numbered { number: 2, size: 3 };
    for actor in [admin, actor(&ada)] {
        let page = user::list(&world.app, actor, all(), second).expect("every user may");
        assert_eq!((names(&page), total(&page)), (vec!["boss"], 4));
    }
}

#[test]
fn filters_choose_by_state_and_text() {
    let (world, admin, ada) = populated();
    let cid = world.user(a_user("cid"));
    world.in_state(&cid, UserState::DirectoryBlocked);
    let none = UserFilter::default;
    for actor in [admin, actor(&ada)] {
        let active = UserFilter { active: true, ..none() };
        assert_eq!(matching(&world, actor, active), ["eve", "ada", "boss"]);
        let blocked = UserFilter { blocked: true, ..none() };
        assert_eq!(matching(&world, actor, blocked), ["cid", "bob"]);
        for (text, expected) in
            [("LOVELACE", vec!["ada"]), ("bob@EX", vec!["bob"]), ("zzz", vec![])]
        {
            let search = UserFilter { search: Some(text.into()), ..none() };
            assert_eq!(matching(&world, actor, search), expected, "{text}");
        }
        let together = UserFilter { blocked: true, search: Some("example".into()), ..none() };
        assert_eq!(matching(&world, actor, together), ["cid", "bob"]);
        let contradiction = UserFilter { active: true, blocked: true, ..none() };
        assert!(matching(&world, actor, contradiction).is_empty());
    }
}

#[test]
fn only_administrators_can_ask_who_is_external() {
    let (world, admin, ada) = populated();
    let external = || UserFilter { external: true, ..UserFilter::default() };
    assert_eq!(matching(&world, admin, external()), ["eve"]);
    assert_eq!(matching(&world, actor(&ada), external()), ["eve", "bob", "ada", "boss"]);
    let with_another = UserFilter { active: true, ..external() };
    assert_eq!(matching(&world, actor(&ada), with_another), ["eve", "ada", "boss"]);
}

#[test]
fn a_user_is_found_by_exactly_its_name() {
    let (world, admin, ada) = populated();
    for actor in [admin, actor(&ada)] {
        for (name, expected) in [("bob", vec!["bob"]), ("Bob", vec![]), ("bo", vec![])] {
            let page = list(&world, actor, UserQuery::Named(name.into()));
            assert_eq!(names(&page), expected, "{name}");
            assert_eq!(total(&page), expected.len() as u64, "{name}");
        }
    }
}

#[test]
fn a_user_found_by_name_is_shown_as_in_every_list() {
    let (world, admin, ada) = populated();
    world.write(|tx| tx.identities().put(ada.id, &directory("7")));
    let by_name = || UserQuery::Named("ada".into());
    let UserPage::Full(page) = list(&world, admin, by_name()) else { panic!("full accounts") };
    assert_eq!(page.items[0].identities, [directory("7")]);
    let page = list(&world, actor(&ada), by_name());
    assert!(matches!(page, UserPage::Summaries(_)), "{page:?}");
}

#[test]
fn a_normal_user_reads_the_single_form_even_of_itself() {
    let (world, _, ada) = populated();
    let read = |id| user::get(&world.app, actor(&ada), id).expect("every user may read users");
    assert_eq!(read(ada.id), UserView::Single(ada.clone()));
    let eve = world.read(|tx| tx.users().find_by_username("eve")).expect("eve");
    assert_eq!(read(eve.id), UserView::Single(eve));
}

#[test]
fn an_administrator_reads_the_full_form() {
    let (world, admin, ada) = populated();
    world.write(|tx| tx.identities().put(ada.id, &directory("7")));
    let read = user::get(&world.app, admin, ada.id).expect("an administrator may");
    assert_eq!(
        read,
        UserView::Full(FullUser {
            user: ada,
            identities: vec![directory("7")],
            personal_projects: 0
        })
    );
}

#[test]
fn a_blocked_user_can_be_read() {
    let (world, _, ada) = populated();
    let bob = world.read(|tx| tx.users().find_by_username("bob")).expect("bob");
    let read = user::get(&world.app, actor(&ada), bob.id).expect("every user may read users");
    assert_eq!(read, UserView::Single(bob));
}

#[test]
fn nobody_is_found_under_an_unknown_id() {
    let (world, admin, ada) = populated();
    for actor in [admin, actor(&ada)] {
        for id in [0, -1, 9999, i64::MAX] {
            let error = world.refusal(|app| user::get(app, actor, UserId(id)));
            assert_error!(error, Error::NotFound(Entity::Record));
        }
    }
}

#[test]
fn users_see_all_of_their_own_account() {
    let (world, admin, ada) = populated();
    world.write(|tx| tx.identities().put(ada.id, &directory("7")));
    let own = user::current(&world.app, actor(&ada)).expect("her own account");
    assert_eq!(own, FullUser { user: ada, identities: vec![directory("7")], personal_projects: 0 });
    let own = user::current(&world.app, admin).expect("the administrator's own account");
    assert_eq!(own.user.username.as_str(), "boss");
}

#[test]
fn a_caller_whose_account_was_just_removed_is_nobody() {
    let (world, _, ada) = populated();
    world.write(|tx| tx.users().delete(ada.id));
    let error = world.refusal(|app| user::current(app, actor(&ada)));
    assert_error!(error, Error::Unauthenticated);
}

#[test]
fn an_anonymous_caller_reads_nothing() {
    let (world, _, ada) = populated();
    let nobody = Actor::Anonymous;
    for query in [all(), UserQuery::Named("ada".into())] {
        let error = world.refusal(|app| user::list(app, nobody, query, FIRST_PAGE));
        assert_error!(error, Error::Unauthenticated);
    }
    for id in [ada.id, UserId(9999)] {
        assert_error!(world.refusal(|app| user::get(app, nobody, id)), Error::Unauthenticated);
    }
    assert_error!(world.refusal(|app| user::current(app, nobody)), Error::Unauthenticated);
}

#[test]
fn what_a_user_can_create_depends_on_state_and_limit() {
    let world = World::new();
    let ada = world.user(a_user("ada").projects_limit(1));
    let own = |user: &User| user::current(&world.app, actor(user)).expect("an account");
    assert!(own(&ada).can_create_group() && own(&ada).can_create_project());
    let bob = world.user(a_user("bob").projects_limit(0));
    assert!(!own(&bob).can_create_project());
    let cid = world.user(a_user("cid"));
    for state in [UserState::Blocked, UserState::DirectoryBlocked] {
        let cid = world.in_state(&cid, state);
        assert!(!own(&cid).can_create_group(), "{state:?}");
    }
}
