//! Packs: added with changes of refs, copied by forks, and removed when no repository has them.

use std::sync::Arc;

use chrono::TimeDelta;
use hexforge_application::error::{Error, Refusal};
use hexforge_application::project::fork::{self, ForkTarget};
use hexforge_application::repository::{self, packs};
use hexforge_application::tag::{self, NewTag};
use hexforge_domain::id::ProjectId;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::user::User;
use hexforge_domain_testing::builders::{a_member, a_project, a_user, home_of, join_project};
use hexforge_domain_testing::fakes::FakePackStore;

use crate::support::{World, actor};

/// A project with a commit, and the pack store.
struct Forge {
    world: World,
    stored: Arc<FakePackStore>,
    owner: User,
    project: ProjectId,
}

impl Forge {
    fn new() -> Self {
        let world = World::new();
        let stored = Arc::clone(world.git.packs());
        let owner = world.user(a_user("ada"));
        let home = home_of(&*world.app.store, owner.id);
        let project = a_project("poem", home, owner.id).stored_in(&*world.app.store).id;
        world.git.commit(project, "master", &[("a", "one")]);
        Self { world, stored, owner, project }
    }

    /// Stores a pack now.
    fn store(&self, byte: u8) -> PackName {
        let name = PackName::from_bytes([byte; 32]);
        self.stored.store(name, self.world.app.clock.now());
        name
    }

    fn add(&self, name: PackName) {
        let at = self.world.app.clock.now();
        self.world.write(|tx| {
            tx.refs().lock(self.project)?;
            tx.packs().add(self.project, &[Pack { name, bytes: 10, objects: 1 }], at)
        });
    }

    fn retire(&self, name: PackName) {
        let at = self.world.app.clock.now();
        self.world.write(|tx| {
            tx.refs().lock(self.project)?;
            tx.packs().retire(self.project, &[name], at)
        });
    }

    fn sweep(&self) -> u64 {
        packs::sweep(&self.world.app, &|| true).expect("packs can be removed")
    }
}

#[test]
fn packs_without_a_row_are_removed_after_the_grace_period() {
    let forge = Forge::new();
    let (live, retired, unnamed) = (forge.store(1), forge.store(2), forge.store(3));
    forge.add(live);
    forge.add(retired);
    assert_eq!(forge.sweep(), 0);
    forge.world.clock.advance(TimeDelta::hours(23));
    forge.retire(retired);
    assert_eq!(forge.sweep(), 0, "nothing is old enough");
    forge.world.clock.advance(TimeDelta::hours(2));
    let young = forge.store(4);
    assert_eq!(forge.sweep(), 1);
    assert_eq!(forge.stored.names(), [live, retired, young], "{unnamed} is gone");
    // A retired pack keeps its row for the grace period.
    forge.world.clock.advance(TimeDelta::hours(23));
    assert_eq!(forge.sweep(), 1);
    assert_eq!(forge.stored.names(), [live, young]);
    assert_eq!(forge.sweep(), 0);
}

#[test]
fn packs_that_a_stopped_process_condemned_are_removed_by_another() {
    let forge = Forge::new();
    forge.add(forge.store(9));
    let name = forge.store(1);
    let at = forge.world.app.clock.now();
    forge.world.write(|tx| tx.packs().condemn(&[name], at, at));
    forge.world.clock.advance(TimeDelta::minutes(59));
    assert_eq!(forge.sweep(), 0);
    forge.world.clock.advance(TimeDelta::hours(25));
    assert_eq!(forge.sweep(), 1);
    assert_eq!(forge.stored.names(), [PackName::from_bytes([9; 32])]);
    // The name can be used again.
    forge.store(1);
    forge.add(name);
}

#[test]
fn a_database_that_names_no_pack_loses_none() {
    let forge = Forge::new();
    forge.store(1);
    forge.world.clock.advance(TimeDelta::hours(100));
    assert_eq!(forge.sweep(), 0);
    forge.add(forge.store(2));
    assert_eq!(forge.sweep(), 1);
}

#[test]
fn a_pack_that_is_not_stored_cannot_be_added() {
    let forge = Forge::new();
    let pack = Pack { name: PackName::from_bytes([1; 32]), bytes: 10, objects: 1 };
    let insert = || {
        forge.world.app.store.write::<_, Error>(|tx| {
            tx.refs().lock(forge.project)?;
            packs::insert(&forge.world.app, tx, forge.project, &[pack])
        })
    };
    let error = insert().expect_err("it is missing");
    assert!(matches!(error, Error::Store(StoreError::Busy)), "{error:?}");
    let live = || forge.world.read(|tx| tx.packs().live(forge.project));
    assert_eq!(live(), []);
    forge.store(1);
    insert().expect("it is stored");
    assert_eq!(live(), [pack]);
}

#[test]
fn a_repository_that_would_be_too_large_stays_as_it_is() {
    let mut forge = Forge::new();
    forge.world.app.settings.repository_bytes = 10;
    forge.add(forge.store(1));
    let named = ProjectRef::Id(forge.project);
    let new = NewTag {
        name: "v1".into(),
        from: "master".into(),
        message: Some("whole".into()),
        release: None,
    };
    let create = || tag::create(&forge.world.app, actor(&forge.owner), &named, &new);
    let error = create().expect_err("there is no room");
    assert!(matches!(&error, Error::Refused(Refusal::RepositoryFull)), "{error:?}");
    let refs = || repository::refs(&forge.world.app, forge.project).expect("they can be read");
    assert_eq!(refs().target("refs/tags/v1"), None);
    forge.retire(PackName::from_bytes([1; 32]));
    create().expect("there is room again");
    assert_eq!(refs().packs().len(), 1);
}

#[test]
fn a_fork_has_the_packs_of_its_source() {
    let forge = Forge::new();
    forge.add(forge.store(1));
    forge.add(forge.store(2));
    forge.retire(PackName::from_bytes([1; 32]));
    let bob = forge.world.user(a_user("bob"));
    let member = a_member(bob.id, AccessLevel::Developer);
    join_project(&*forge.world.app.store, forge.project, member);
    let bob: Actor = actor(&bob);
    let named = ProjectRef::Id(forge.project);
    let made = fork::create(&forge.world.app, bob, &named, &ForkTarget::Own);
    let made = made.expect("it can be made").project.id;
    let of = |id| {
        let refs = repository::refs(&forge.world.app, id).expect("they can be read");
        refs.packs().iter().map(|pack| pack.name).collect::<Vec<_>>()
    };
    assert_eq!(of(made), [PackName::from_bytes([2; 32])]);
    assert_eq!(of(made), of(forge.project));
}
