//! Branches: the main outcomes of each use case.

use hexforge_application::branch::protect::DeveloperFields;
use hexforge_application::branch::{self, DeletionRefusal, merged, protect};
use hexforge_application::error::{Entity, Error, Missing, Refusal};
use hexforge_application::project::edit::{self, NameRule};
use hexforge_application::project::fields::ProjectFields;
use hexforge_application::project::fork::{self, ForkTarget};
use hexforge_application::repository::{self, task};
use hexforge_domain::branch::protection::DeveloperRights;
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::push::PushRefusal;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::user::UserState;
use hexforge_domain_testing::builders::{
    a_branch, a_member, a_project, a_protection, a_user, home_of, join_project,
};

use crate::support::{World, actor, field_errors, invalid};

/// A project of ada with two commits on `master`, a developer of it, and its reference.
struct Poem {
    world: World,
    id: ProjectId,
    ada: Actor,
    developer: Actor,
    named: ProjectRef,
}

fn a_poem() -> Poem {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    let bob = world.user(a_user("bob"));
    let home = home_of(&*world.app.store, ada.id);
    let id = a_project("poem", home, ada.id).stored_in(&*world.app.store).id;
    join_project(&*world.app.store, id, a_member(bob.id, AccessLevel::Developer));
    world.git.commit(id, "master", &[("a", "one")]);
    world.git.commit(id, "master", &[("a", "two")]);
    let (ada, developer) = (actor(&ada), actor(&bob));
    Poem { world, id, ada, developer, named: ProjectRef::Id(id) }
}

impl Poem {
    fn names(&self) -> Vec<String> {
        let list = branch::list(&self.world.app, self.ada, &self.named, Page::Whole);
        let list = list.expect("its owner reads it").items;
        list.into_iter().map(|view| view.branch.name.as_str().to_owned()).collect()
    }

    fn create(&self, who: Actor, name: &str, from: &str) -> Result<branch::BranchView, Error> {
        branch::create(&self.world.app, who, &self.named, name, from)
    }
}

fn refused(error: Error) -> Refusal {
    match error {
        Error::Refused(refusal) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_branch_is_made_where_another_one_is() {
    let poem = a_poem();
    let made = poem.create(poem.developer, "new", "master").expect("developers may");
    let master = branch::get(&poem.world.app, poem.ada, &poem.named, "master").expect("there");
    assert_eq!(made.branch.commit, master.branch.commit);
    assert!(!made.protection.protected);
    assert_eq!(poem.names(), ["master", "new"]);
}

#[test]
fn a_branch_is_not_made_for_several_reasons() {
    let poem = a_poem();
    poem.world.write(|tx| tx.protections().put(poem.id, &a_protection("closed/*")));
    for (name, from, refusal) in [
        ("a b", "master", Refusal::BranchName),
        ("master", "master", Refusal::BranchExists),
        ("new", "missing", Refusal::BranchStart),
        ("master/x", "master", Refusal::BranchMoved("master/x".into())),
        ("closed/1", "master", Refusal::Push(PushRefusal::Protected)),
    ] {
        let error = poem.world.refusal(|_| poem.create(poem.developer, name, from));
        assert_eq!(refused(error), refusal);
    }
    let stranger = actor(&poem.world.user(a_user("eve")));
    assert_error!(
        poem.create(stranger, "new", "master").expect_err("hidden"),
        Error::NotFound(Entity::Project)
    );
    assert_eq!(poem.names(), ["master"]);
}

#[test]
fn the_default_and_protected_branches_are_kept() {
    let poem = a_poem();
    for name in ["gone", "kept"] {
        poem.create(poem.ada, name, "master").expect("owners may");
    }
    poem.world.write(|tx| tx.protections().put(poem.id, &a_protection("k*")));
    let delete = |name: &str| branch::delete(&poem.world.app, poem.developer, &poem.named, name);
    assert_eq!(delete("master").expect("an answer"), Err(DeletionRefusal::Default));
    assert_eq!(delete("kept").expect("an answer"), Err(DeletionRefusal::Protected));
    assert_eq!(delete("gone").expect("an answer"), Ok(()));
    assert_error!(delete("gone").expect_err("it is gone"), Error::Missing(Missing::Branch));
    assert_eq!(poem.names(), ["kept", "master"]);
}

#[test]
fn protections_are_put_and_taken_away() {
    let poem = a_poem();
    let (app, named) = (&poem.world.app, &poem.named);
    let put = |push| {
        let developers = DeveloperFields { push, merge: None };
        protect::protect(app, poem.ada, named, "master", developers)
    };
    assert_eq!(
        put(Some(true)).expect("owners may").protection.developers,
        DeveloperRights { push: true, merge: false }
    );
    assert!(put(None).expect("owners may").protection.developers.push, "what is not given stays");
    assert!(
        !protect::unprotect(app, poem.ada, named, "master")
            .expect("owners may")
            .protection
            .protected
    );
    let denied = protect::protect(app, poem.developer, named, "master", DeveloperFields::default());
    assert_error!(denied.expect_err("only masters may"), Error::Forbidden(None));
    let missing = protect::protect(app, poem.ada, named, "missing", DeveloperFields::default());
    assert_error!(missing.expect_err("it is not there"), Error::NotFound(Entity::Branch));
}

#[test]
fn merged_branches_are_removed_by_a_task() {
    let poem = a_poem();
    let old = poem.create(poem.ada, "old", "master").expect("owners may");
    poem.world.git.commit(poem.id, "master", &[("a", "three")]);
    poem.create(poem.ada, "same", "master").expect("owners may");
    poem.world.git.commit(poem.id, "ahead", &[("b", "b")]);
    assert_eq!(old.branch.name, a_branch("old"));
    merged::request(&poem.world.app, poem.developer, &poem.named).expect("developers may");
    assert_eq!(poem.names(), ["ahead", "master", "old", "same"]);
    while task::run_next(&poem.world.app).expect("tasks can be done") {}
    assert_eq!(poem.names(), ["ahead", "master", "same"]);
}

#[test]
fn the_default_branch_is_changed_with_the_project() {
    let poem = a_poem();
    poem.create(poem.ada, "next", "master").expect("owners may");
    let edit = |name: &str| {
        let fields = ProjectFields { default_branch: Some(name.to_owned()), ..Default::default() };
        edit::edit(&poem.world.app, poem.ada, &poem.named, NameRule::Optional, &fields)
    };
    edit("next").expect("it is a branch");
    let found = poem.world.read(|tx| tx.projects().find(&poem.named)).expect("it is there");
    assert_eq!(found.default_branch, Some(a_branch("next")));
    let shown = repository::refs(&poem.world.app, poem.id).expect("it can be read");
    assert_eq!(shown.default_branch(), Some(a_branch("next")));
    let error = poem.world.refusal(|_| edit("missing"));
    assert_eq!(invalid(error), field_errors([("default_branch", "does not exist")]));
}

#[test]
fn a_blocked_user_s_merged_branches_stay() {
    let poem = a_poem();
    poem.create(poem.ada, "old", "master").expect("owners may");
    poem.world.git.commit(poem.id, "master", &[("a", "three")]);
    merged::request(&poem.world.app, poem.developer, &poem.named).expect("developers may");
    let developer = poem.developer.user().expect("a user");
    let user = poem.world.read(|tx| tx.users().find(developer)).expect("it is there");
    poem.world.in_state(&user, UserState::Blocked);
    while task::run_next(&poem.world.app).expect("tasks can be done") {}
    assert_eq!(poem.names(), ["master", "old"]);
}

/// A fork is created in one transaction: it is complete or does not exist.
#[test]
fn a_fork_has_the_branches_of_its_source_at_once() {
    let mut poem = a_poem();
    let store = poem.world.failing_store();
    store.busy(0, 1);
    let make = || fork::create(&poem.world.app, poem.developer, &poem.named, &ForkTarget::Own);
    let error = make().expect_err("others are in the way");
    assert!(matches!(error, Error::Store(StoreError::Busy)), "{error:?}");
    let fork = make().expect("nothing was left").project;
    assert_eq!(fork.default_branch, Some(a_branch("master")));
    let refs = |id| repository::refs(&poem.world.app, id).expect("they can be read");
    assert!(refs(fork.id).has_branches());
    assert!(refs(fork.id).iter().eq(refs(poem.id).iter()));
    assert!(!task::run_next(&poem.world.app).expect("there is nothing left"));
}

/// Long work is charged to the address of the request too, whichever user sends it.
#[test]
fn reading_counts_for_the_user_and_for_its_address() {
    let poem = a_poem();
    let address = Some("198.51.100.7".parse().expect("an address"));
    let readable = repository::readable(&poem.world.app, poem.ada, address, &poem.named);
    let readable = readable.expect("its owner reads it");
    let opened_by = Some(Caller::new(poem.ada, address));
    let revision = repository::revision_or_default(&poem.world.app, &readable, None);
    assert!(revision.expect("it is read").is_some());
    assert_eq!(poem.world.git.last_caller(), opened_by);
}
