//! Notes of changes that cannot be settled at once.

mod support;

use std::path::{Path, PathBuf};

use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::{GitStore, RefChange, Unsettled};
use hexforge_git_gix::GixStore;
use support::Scratch;

const PROJECTS: [ProjectId; 3] = [ProjectId(1), ProjectId(2), ProjectId(3)];

fn store(data: &Path) -> GixStore {
    GixStore::new(data, |folder| std::fs::remove_dir_all(folder))
}

/// A data folder in which a process made a branch in each of some projects, and is gone.
fn left_behind() -> tempfile::TempDir {
    let data = tempfile::tempdir().expect("a temporary folder can be made");
    let crashed = store(data.path());
    let scratch = Scratch::new();
    let tip = ObjectId::parse(&scratch.commit("one")).expect("git prints ids");
    for project in PROJECTS {
        let bare = crashed.layout().repository(project);
        std::fs::create_dir_all(bare.parent().expect("it has a folder")).expect("it can be made");
        scratch.git(&["clone", "-q", "--bare", ".", &bare.to_string_lossy()]);
        let made = RefChange { name: "refs/heads/x".into(), old: None, new: Some(tip) };
        let open = crashed.open(project).expect("it can be opened");
        open.update(&[made], "5").expect("it is free");
    }
    data
}

fn damaged(store: &GixStore, project: ProjectId) -> PathBuf {
    let file = store.layout().repository(project).join("refs/heads/x");
    std::fs::write(&file, "nonsense").expect("it can be damaged");
    file
}

fn projects(left: &[Unsettled]) -> Vec<ProjectId> {
    left.iter().map(|left| left.project).collect()
}

#[test]
fn one_that_cannot_be_read_holds_up_no_other() {
    let data = left_behind();
    let store = store(data.path());
    let [one, two, three] = PROJECTS;
    let file = damaged(&store, two);
    let good = std::fs::read_to_string(store.layout().repository(one).join("refs/heads/x"));
    let left = store.unsettled(None).expect("the others can be read");
    assert_eq!(projects(&left), [one, three]);
    assert!(store.unsettled(Some(two)).is_err(), "who wants to change it has to know");
    // It was kept from nobody.
    std::fs::write(file, good.expect("it is there")).expect("it can be mended");
    let left = store.unsettled(None).expect("all can be read");
    assert_eq!(projects(&left), [two]);
    assert_eq!(left[0].changes.len(), 1);
}

#[test]
fn tries_are_counted_whoever_made_them_and_damage_is_passed_over_in_the_end() {
    let data = left_behind();
    let [one, two, _] = PROJECTS;
    damaged(&store(data.path()), two);
    for tries in 0..5 {
        let next = store(data.path());
        let left = next.unsettled(Some(one)).expect("it can be read");
        assert_eq!((left[0].tries, left[0].note.as_str()), (tries, "5"));
        assert!(next.unsettled(Some(two)).is_err(), "{tries}");
    }
    let left = store(data.path()).unsettled(Some(two)).expect("it is passed over");
    assert_eq!((left[0].tries, left[0].changes.len()), (5, 0));
}
