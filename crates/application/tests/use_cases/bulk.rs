//! The same change of several issues.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hexforge_application::error::Error;
use hexforge_application::issue::bulk::{self, BulkChange, BulkOutcome};
use hexforge_domain::id::{IssueId, ProjectId};
use hexforge_domain::issue::IssueCommand;
use hexforge_domain::label::LabelTitle;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::{Mode, Store, StoreError, Tx, Verdict};
use hexforge_domain::project::ProjectRef;
use hexforge_domain_testing::builders::{a_project, a_user, an_issue, home_of, label_in};

use crate::support::{World, actor};

/// A project with two issues.
fn poem() -> (World, Actor, ProjectId, [IssueId; 2]) {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    let store = &*world.app.store;
    let project = a_project("poem", home_of(store, ada.id), ada.id).stored_in(store).id;
    let issue = |title| world.write(|tx| tx.issues().insert(an_issue(project, ada.id, title))).id;
    let issues = [issue("One"), issue("Two")];
    (world, actor(&ada), project, issues)
}

fn change(
    world: &World,
    actor: Actor,
    project: ProjectId,
    iids: &[i64],
) -> Result<BulkOutcome, Error> {
    let change = BulkChange {
        command: Some(IssueCommand::Close),
        added: Some(LabelTitle::parse("new").expect("a title")),
        removed: Some(LabelTitle::parse("old").expect("a title")),
    };
    bulk::change(&world.app, actor, &ProjectRef::Id(project), iids, &change)
}

fn labels(world: &World, issue: IssueId) -> Vec<String> {
    let labels = world.read(|tx| tx.issues().labels_of(&[issue]));
    labels.into_iter().map(|(_, _, title)| title.as_str().to_owned()).collect()
}

/// Adds a label to an issue before the second write transaction.
struct Meanwhile {
    store: Arc<dyn Store>,
    writes: AtomicUsize,
    project: ProjectId,
    issue: IssueId,
}

impl Store for Meanwhile {
    fn transact(
        &self,
        mode: Mode,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError> {
        if mode == Mode::Write && self.writes.fetch_add(1, Ordering::Relaxed) == 1 {
            let label = label_in(&*self.store, self.project, "meanwhile").id;
            self.store.write::<_, StoreError>(|tx| tx.issues().set_labels(self.issue, &[label]))?;
        }
        self.store.transact(mode, work)
    }

    fn check_ready(&self) -> Result<(), StoreError> {
        self.store.check_ready()
    }
}

#[test]
fn labels_that_others_add_meanwhile_stay() {
    let (mut world, ada, project, [one, two]) = poem();
    let old = label_in(&*world.app.store, project, "old").id;
    for issue in [one, two] {
        world.write(|tx| tx.issues().set_labels(issue, &[old]));
    }
    let store = Arc::clone(&world.app.store);
    world.app.store =
        Arc::new(Meanwhile { store, writes: AtomicUsize::new(0), project, issue: two });
    let outcome = change(&world, ada, project, &[1, 2, 99]).expect("owners may");
    assert_eq!((outcome.changed, outcome.error.is_none()), (2, true));
    assert_eq!(labels(&world, one), ["new"]);
    assert_eq!(labels(&world, two), ["meanwhile", "new"]);
}

#[test]
fn an_error_in_between_says_what_was_changed() {
    let (mut world, ada, project, [one, two]) = poem();
    let store = world.failing_store();
    // A store that is busy for a while is no error.
    store.busy(0, 3);
    assert_eq!(change(&world, ada, project, &[1]).expect("the fourth attempt").changed, 1);
    store.broken(1, 1);
    let outcome = change(&world, ada, project, &[1, 2]).expect("the first one was changed");
    assert_eq!(outcome.changed, 1);
    assert_error!(outcome.error, Some(Error::Store(StoreError::Failed(_))));
    assert_eq!((labels(&world, one).len(), labels(&world, two).len()), (1, 0));
    store.broken(0, 1);
    assert_error!(change(&world, ada, project, &[2]), Err(Error::Store(StoreError::Failed(_))));
}

#[test]
fn others_may_not_change_issues() {
    let (world, _, project, [one, _]) = poem();
    let eve = actor(&world.user(a_user("eve")));
    for iids in [&[1][..], &[]] {
        assert_error!(change(&world, eve, project, iids), Err(Error::NotFound(_)));
    }
    assert!(labels(&world, one).is_empty());
}
