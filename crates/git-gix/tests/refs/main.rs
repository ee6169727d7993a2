//! Branches, tags, the journal and copies, each compared with what the real git says.

mod files;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::{ObjectId, Signature};
use hexforge_domain::id::ProjectId;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::git::{
    ChangeKey, GitError, GitStore, RefChange, Repository, Unsettled,
};
use hexforge_domain::ports::git_transport::HangUp;
use hexforge_domain::tag::TagName;
use hexforge_git_gix::GixStore;
use support::{Scratch, git_command};
use tempfile::TempDir;

const PROJECT: ProjectId = ProjectId(7);
const OTHER: ProjectId = ProjectId(8);

/// A data folder with one repository of three commits on `master`.
struct World {
    data: TempDir,
    store: GixStore,
    commits: [ObjectId; 3],
}

impl World {
    fn new() -> Self {
        let data = tempfile::tempdir().expect("a temporary folder can be made");
        let store = store(data.path());
        let scratch = Scratch::new();
        let commits = ["one", "two", "three"].map(|text| {
            scratch.write("file", text);
            id(&scratch.commit(text))
        });
        let bare = store.layout().repository(PROJECT);
        std::fs::create_dir_all(bare.parent().expect("it has a folder")).expect("it can be made");
        scratch.git(&["clone", "-q", "--bare", ".", &bare.to_string_lossy()]);
        Self { data, store, commits }
    }

    fn bare(&self) -> PathBuf {
        self.store.layout().repository(PROJECT)
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.bare(), arguments)
    }

    /// What git prints, byte for byte, without any input.
    fn git_bytes(&self, arguments: &[&str]) -> Vec<u8> {
        let mut command = git_command();
        command.current_dir(self.bare()).args(arguments).stdin(std::process::Stdio::null());
        let output = command.output().expect("git starts");
        assert!(output.status.success(), "{arguments:?}");
        output.stdout
    }

    fn open(&self) -> Box<dyn Repository> {
        self.store.open(PROJECT).expect("the repository can be opened")
    }

    /// Makes changes and forgets their note.
    fn update(&self, changes: &[RefChange]) -> Result<(), GitError> {
        let key = self.open().update(changes, "note")?;
        self.store.settle(&key)
    }

    /// All refs by git, with what they hold.
    fn refs(&self) -> BTreeSet<String> {
        let refs = self.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        refs.lines().map(str::to_owned).collect()
    }

    fn assert_sound(&self) {
        self.git(&["fsck", "--strict", "--full"]);
    }
}

fn store(data: &Path) -> GixStore {
    GixStore::new(data, |folder| std::fs::remove_dir_all(folder))
}

fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let output = git_command().current_dir(folder).args(arguments).output().expect("git starts");
    assert!(output.status.success(), "{arguments:?} {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

fn id(hex: &str) -> ObjectId {
    ObjectId::parse(hex).expect("git prints ids")
}

fn change(name: &str, old: Option<ObjectId>, new: Option<ObjectId>) -> RefChange {
    RefChange { name: name.to_owned(), old, new }
}

fn is_conflict(outcome: Result<(), GitError>, name: &str) -> bool {
    matches!(outcome, Err(GitError::Conflict(conflict)) if conflict == name)
}

#[test]
fn a_ref_is_changed_only_from_what_it_was_expected_to_be() {
    let world = World::new();
    let [one, two, three] = world.commits;
    for packed in [false, true] {
        let name = format!("refs/heads/x{packed}");
        world.update(&[change(&name, None, Some(one))]).expect("it is free");
        if packed {
            world.git(&["pack-refs", "--all", "--prune"]);
        }
        for (old, new) in
            [(None, Some(two)), (Some(two), Some(three)), (Some(two), None), (None, None)]
        {
            assert!(
                is_conflict(world.update(&[change(&name, old, new)]), &name),
                "{old:?} {new:?}"
            );
        }
        assert_eq!(world.git(&["rev-parse", &name]), one.to_string());
        world.update(&[change(&name, Some(one), Some(two))]).expect("it was one");
        assert_eq!(world.git(&["rev-parse", &name]), two.to_string());
        world.update(&[change(&name, Some(two), Some(two))]).expect("nothing to do is done");
        world.update(&[change(&name, Some(two), None)]).expect("it was two");
        assert!(is_conflict(world.update(&[change(&name, Some(two), None)]), &name));
        world.assert_sound();
    }
    assert_eq!(world.refs(), BTreeSet::from([format!("refs/heads/master {three}")]));
}

#[test]
fn all_changes_are_made_or_none() {
    let world = World::new();
    let [one, two, three] = world.commits;
    let before = world.refs();
    let outcome = world.update(&[
        change("refs/heads/a", None, Some(one)),
        change("refs/tags/t", None, Some(one)),
        change("refs/heads/master", Some(two), None),
    ]);
    assert!(is_conflict(outcome, "refs/heads/master"));
    assert_eq!(world.refs(), before);
    world
        .update(&[
            change("refs/heads/a", None, Some(one)),
            change("refs/tags/t", None, Some(two)),
            change("refs/heads/master", Some(three), Some(one)),
        ])
        .expect("all are as expected");
    let expected = [
        format!("refs/heads/a {one}"),
        format!("refs/heads/master {one}"),
        format!("refs/tags/t {two}"),
    ];
    assert_eq!(world.refs(), BTreeSet::from(expected));
    assert_eq!(world.store.unsettled(None).expect("the notes can be read"), []);
}

#[test]
fn a_ref_holds_what_there_is_and_a_branch_a_commit() {
    let world = World::new();
    let tree = id(&world.git(&["rev-parse", "master^{tree}"]));
    let missing = id(&"1".repeat(40));
    for (name, new) in [("refs/heads/x", tree), ("refs/heads/x", missing), ("refs/tags/x", missing)]
    {
        let outcome = world.update(&[change(name, None, Some(new))]);
        assert!(matches!(outcome, Err(GitError::Missing)), "{name} {outcome:?}");
    }
    for name in ["refs/heads/a b", "refs/heads/..", "refs/heads/a.lock", "refs/heads/../../x"] {
        let outcome = world.update(&[change(name, None, Some(world.commits[0]))]);
        assert!(is_conflict(outcome, name), "{name}");
    }
    world.update(&[change("refs/tags/tree", None, Some(tree))]).expect("a tag may name a tree");
    world.assert_sound();
}

/// Every name that git takes, on whatever system it may be checked out.
#[test]
fn names_that_mean_something_else_elsewhere_are_names() {
    let world = World::new();
    let one = Some(world.commits[0]);
    for name in ["aux", "con.txt", "nul/x", "a./b", "lt<gt>", "pipe|\"quoted\"", "COM1.x"] {
        for name in [format!("refs/heads/{name}"), format!("refs/tags/{name}")] {
            world.update(&[change(&name, None, one)]).expect("it is free");
            assert_eq!(Some(id(&world.git(&["rev-parse", &name]))), one, "{name}");
            let below = format!("{name}/below");
            assert!(is_conflict(world.update(&[change(&below, None, one)]), &below), "{name}");
        }
    }
    assert_eq!(world.refs().len(), 15);
    world.assert_sound();
}

#[test]
fn names_are_no_folders_of_others() {
    for packed in [false, true] {
        let world = World::new();
        let one = Some(world.commits[0]);
        world.update(&[change("refs/heads/a/b", None, one)]).expect("it is free");
        if packed {
            world.git(&["pack-refs", "--all", "--prune"]);
        }
        for name in
            ["refs/heads/a", "refs/heads/a/b/c", "refs/heads/a/b/c/d", "refs/heads/master/x"]
        {
            assert!(is_conflict(world.update(&[change(name, None, one)]), name), "{name} {packed}");
        }
        // Of each other neither.
        let both = [change("refs/heads/n", None, one), change("refs/heads/n/m", None, one)];
        assert!(matches!(world.update(&both), Err(GitError::Conflict(_))));
        // What only begins alike is no folder.
        world.update(&[change("refs/heads/a/bc", None, one)]).expect("another name");
        world.update(&[change("refs/heads/ab", None, one)]).expect("another name");
        // Once all in it are gone, the name is free.
        for name in ["refs/heads/a/b", "refs/heads/a/bc"] {
            world.update(&[change(name, one, None)]).expect("it is there");
        }
        world.update(&[change("refs/heads/a", None, one)]).expect("the folder is gone");
        world.update(&[change("refs/heads/a", one, None)]).expect("it is there");
        world.update(&[change("refs/heads/a/b", None, one)]).expect("it can be a folder again");
        world.assert_sound();
    }
}

#[test]
fn packed_refs_are_removed_and_made_again() {
    let world = World::new();
    let [one, two, _] = world.commits;
    for name in ["refs/heads/a", "refs/heads/b", "refs/tags/t"] {
        world.update(&[change(name, None, Some(one))]).expect("it is free");
    }
    world.git(&["pack-refs", "--all", "--prune"]);
    // Loose over packed: what is loose counts, and both go together.
    world.update(&[change("refs/heads/a", Some(one), Some(two))]).expect("it is there");
    world.update(&[change("refs/heads/a", Some(two), None)]).expect("it is there");
    world.update(&[change("refs/tags/t", Some(one), None)]).expect("it is there");
    assert_eq!(
        world.git(&["for-each-ref", "--format=%(refname)"]),
        "refs/heads/b\nrefs/heads/master"
    );
    assert_eq!(world.open().ref_target("refs/heads/a").expect("it can be looked for"), None);
    world.update(&[change("refs/heads/a", None, Some(two))]).expect("it is free again");
    assert_eq!(world.git(&["rev-parse", "refs/heads/a"]), two.to_string());
    world.assert_sound();
}

#[test]
fn a_thousand_refs_are_changed_together() {
    let world = World::new();
    let one = Some(world.commits[0]);
    let names: Vec<String> = (0..1000).map(|n| format!("refs/heads/many/{n:04}")).collect();
    let made: Vec<RefChange> = names.iter().map(|name| change(name, None, one)).collect();
    world.update(&made).expect("all are free");
    let page = world.open().branches(Page::Numbered { number: 2, size: 100 }).expect("a page");
    assert_eq!((page.total, page.items.len()), (1001, 100));
    assert_eq!(page.items[1].name.as_str(), "many/0101");
    world.git(&["pack-refs", "--all", "--prune"]);
    let gone: Vec<RefChange> = names.iter().map(|name| change(name, one, None)).collect();
    world.update(&gone).expect("all are there");
    assert_eq!(world.refs().len(), 1);
    world.assert_sound();
}

#[test]
fn of_changes_at_the_same_time_exactly_one_is_made() {
    let world = World::new();
    let [one, two, three] = world.commits;
    // Two stores on one folder are as two processes.
    let stores = [
        world.store.clone(),
        world.store.clone(),
        store(world.data.path()),
        store(world.data.path()),
    ];
    for round in 0..20 {
        let name = format!("refs/heads/race/{round}");
        let race = |old: Option<ObjectId>, news: [Option<ObjectId>; 4]| {
            let start = Barrier::new(4);
            let made: usize = thread::scope(|scope| {
                let racers: Vec<_> = stores
                    .iter()
                    .zip(news)
                    .map(|(store, new)| {
                        let (start, change) = (&start, change(&name, old, new));
                        scope.spawn(move || {
                            let repository = store.open(PROJECT).expect("it can be opened");
                            start.wait();
                            match repository.update(&[change], "note") {
                                Ok(key) => {
                                    store.settle(&key).expect("it can be settled");
                                    1
                                }
                                Err(GitError::Conflict(_)) => 0,
                                Err(other) => panic!("{other}"),
                            }
                        })
                    })
                    .collect();
                racers.into_iter().map(|racer| racer.join().expect("no panic")).sum()
            });
            assert_eq!(made, 1, "round {round}");
        };
        race(None, [Some(one), Some(two), Some(three), Some(one)]);
        if round % 2 == 0 {
            world.git(&["pack-refs", "--all", "--prune"]);
        }
        let now = id(&world.git(&["rev-parse", &name]));
        race(Some(now), [None; 4]);
    }
    assert_eq!(world.refs().len(), 1);
    world.assert_sound();
}

/// Counts down when a thread ends, also by a panic.
struct AtEnd<'a>(&'a AtomicUsize);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

#[test]
fn changes_of_different_refs_at_the_same_time_are_all_made() {
    let world = World::new();
    let one = Some(world.commits[0]);
    let stores = [world.store.clone(), store(world.data.path()), store(world.data.path())];
    let at_work = AtomicUsize::new(stores.len());
    thread::scope(|scope| {
        for (number, store) in stores.iter().enumerate() {
            let at_work = &at_work;
            scope.spawn(move || {
                let _end = AtEnd(at_work);
                for n in 0..30 {
                    let name = format!("refs/heads/of{number}/{n}");
                    let repository = store.open(PROJECT).expect("it can be opened");
                    let update = |from, to| {
                        let key = repository.update(&[change(&name, from, to)], "").expect("free");
                        store.settle(&key).expect("it can be settled");
                        let now = store.open(PROJECT).expect("it can be opened");
                        assert_eq!(now.ref_target(&name).expect("it can be read"), to);
                    };
                    update(None, one);
                    if n % 3 == 0 {
                        update(one, None);
                    }
                }
            });
        }
        // git itself is at work as well: it removes each file of a ref, and each folder that is empty then.
        scope.spawn(|| {
            while at_work.load(Ordering::Acquire) > 0 {
                world.git(&["pack-refs", "--all", "--prune"]);
                let listed = world.open().branches(Page::Whole).expect("they can be listed");
                assert!(listed.items.iter().any(|branch| branch.name.as_str() == "master"));
            }
        });
    });
    assert_eq!(world.refs().len(), 61);
    assert_eq!(world.open().branches(Page::Whole).expect("they can be listed").total, 61);
    world.assert_sound();
}

/// Where the notes of changes are.
fn notes(world: &World) -> Vec<String> {
    let folder = world.data.path().join("journal");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    // What is empty is kept for the next changes.
    names.filter(|name| !name.starts_with("new-")).collect()
}

#[test]
fn what_a_process_left_behind_is_handed_out_once() {
    let world = World::new();
    let [one, two, _] = world.commits;
    let done = change("refs/heads/a", None, Some(one));
    let tag = change("refs/tags/t", None, Some(two));
    let crashed = store(world.data.path());
    let open = crashed.open(PROJECT).expect("it can be opened");
    open.update(&[done.clone(), tag.clone()], "5").expect("both are free");
    // As long as the process lives, nobody else gets it, nor does it itself.
    assert_eq!(world.store.unsettled(None).expect("the notes can be read"), []);
    assert_eq!(crashed.unsettled(None).expect("the notes can be read"), []);
    drop((open, crashed));
    assert_eq!(world.store.unsettled(Some(OTHER)).expect("the notes can be read"), []);
    let left = world.store.unsettled(Some(PROJECT)).expect("the notes can be read");
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].project, left[0].note.as_str()), (PROJECT, "5"));
    assert_eq!(left[0].changes, [done, tag]);
    // Handed out, to nobody else.
    let second = store(world.data.path());
    assert_eq!(world.store.unsettled(None).expect("the notes can be read"), []);
    assert_eq!(second.unsettled(None).expect("the notes can be read"), []);
    // Put back, anybody gets it.
    world.store.leave(&left[0].key);
    let again = second.unsettled(None).expect("the notes can be read");
    assert_eq!(again, [Unsettled { tries: 1, ..left[0].clone() }]);
    second.settle(&again[0].key).expect("it can be settled");
    second.settle(&again[0].key).expect("settling twice does no harm");
    assert_eq!(notes(&world), Vec::<String>::new());
}

#[test]
fn only_what_took_place_is_handed_out_and_the_oldest_first() {
    let world = World::new();
    let [one, two, three] = world.commits;
    let crashed = store(world.data.path());
    for (name, new) in [("refs/heads/a", one), ("refs/heads/b", two)] {
        let open = crashed.open(PROJECT).expect("it can be opened");
        open.update(&[change(name, None, Some(new))], "1").expect("it is free");
    }
    drop(crashed);
    // One that was noted and not made, and one that was not even noted whole.
    let journal = world.data.path().join("journal");
    let whole = format!("{one} {two} refs/heads/master\n\n9\nwhole\n");
    std::fs::write(journal.join("7-99999999999999999999999999999999-x"), whole).expect("written");
    let partly = format!("{} {three} refs/heads/mas", ObjectId::ZERO);
    std::fs::write(journal.join("7-99999999999999999999999999999998-x"), partly).expect("written");
    std::fs::write(journal.join("new-x"), "").expect("written");
    let left = world.store.unsettled(None).expect("the notes can be read");
    let changes: Vec<Vec<RefChange>> = left.iter().map(|left| left.changes.clone()).collect();
    let expected = [
        vec![change("refs/heads/a", None, Some(one))],
        vec![change("refs/heads/b", None, Some(two))],
        vec![],
    ];
    assert_eq!(changes, expected);
    for left in &left {
        world.store.settle(&left.key).expect("it can be settled");
    }
    assert_eq!(notes(&world), Vec::<String>::new());
    // No key leads out of the folder.
    for strange in ["../x", "7-../../x", "", "x"] {
        assert!(world.store.settle(&ChangeKey(strange.to_owned())).is_err(), "{strange}");
    }
}

#[test]
fn locks_of_a_process_that_is_gone_are_removed() {
    let world = World::new();
    let [one, two, _] = world.commits;
    let made = change("refs/heads/a/b", None, Some(one));
    let crashed = store(world.data.path());
    crashed
        .open(PROJECT)
        .expect("it opens")
        .update(std::slice::from_ref(&made), "1")
        .expect("free");
    drop(crashed);
    world.git(&["pack-refs", "--all", "--prune"]);
    let lock = |name: &str| world.bare().join(format!("{name}.lock"));
    std::fs::create_dir_all(world.bare().join("refs/heads/a")).expect("it can be made");
    for name in ["refs/heads/a/b", "refs/heads/master", "packed-refs"] {
        std::fs::write(lock(name), "").expect("it can be written");
    }
    let removal = change("refs/heads/a/b", Some(one), None);
    assert!(world.update(std::slice::from_ref(&removal)).is_err(), "it is locked");
    let left = world.store.unsettled(None).expect("the notes can be read");
    assert_eq!(left[0].changes, [made]);
    world.store.settle(&left[0].key).expect("it can be settled");
    let unlocked = |name: &str| !lock(name).exists();
    assert!(unlocked("refs/heads/a/b") && unlocked("packed-refs"));
    assert!(!unlocked("refs/heads/master"), "it is none of those that were changed");
    world.update(&[removal]).expect("nothing is in the way");
    std::fs::remove_file(lock("refs/heads/master")).expect("it is there");
    world.update(&[change("refs/heads/master", Some(world.commits[2]), Some(two))]).expect("free");
    world.assert_sound();
}

#[test]
fn a_change_is_noted_before_it_is_made_and_not_when_it_is_refused() {
    let world = World::new();
    let [one, two, _] = world.commits;
    let refused = world.open().update(&[change("refs/heads/master", Some(one), Some(two))], "1");
    assert!(matches!(refused, Err(GitError::Conflict(_))));
    assert_eq!(notes(&world), Vec::<String>::new());
    // Where nothing can be noted nothing is changed.
    let journal = world.data.path().join("journal");
    let _ = std::fs::remove_dir_all(&journal);
    std::fs::write(&journal, "in the way").expect("it can be written");
    let before = world.refs();
    let failed = world.open().update(&[change("refs/heads/a", None, Some(one))], "1");
    assert!(matches!(failed, Err(GitError::Failed(_))), "{failed:?}");
    assert_eq!(world.refs(), before);
    std::fs::remove_file(&journal).expect("it is there");
    // A lock that somebody holds keeps the change from being made, and the note from staying.
    std::fs::write(world.bare().join("refs/heads/a.lock"), "").expect("it can be written");
    let failed = world.open().update(&[change("refs/heads/a", None, Some(one))], "1");
    assert!(failed.is_err());
    assert_eq!(notes(&world), Vec::<String>::new());
    assert_eq!(world.refs(), before);
}

#[test]
fn head_and_annotated_tags_are_as_git_writes_them() {
    let world = World::new();
    let [one, ..] = world.commits;
    let name = TagName::parse("v/1").expect("a name");
    let tagger = Signature {
        name: "A <b> C".to_owned(),
        email: "a@b".to_owned(),
        at: Signature::time(1_474_540_200, 3600),
    };
    let tag = world.open().write_tag(&name, one, &tagger, "Text").expect("it can be written");
    world.update(&[change("refs/tags/v/1", None, Some(tag))]).expect("it is free");
    let expected =
        format!("object {one}\ntype commit\ntag v/1\ntagger A b C <a@b> 1474540200 +0100\n\nText");
    assert_eq!(world.git(&["cat-file", "-p", "refs/tags/v/1"]), expected);
    let found = world.open().tag(&name).expect("it can be read").expect("it is there");
    assert_eq!((found.message.as_deref(), found.commit.id), (Some("Text"), one));
    world.update(&[change("refs/heads/a/b", None, Some(one))]).expect("it is free");
    let branch = BranchName::parse("a/b").expect("a name");
    world.open().set_head(&branch).expect("it can be set");
    assert_eq!(world.git(&["symbolic-ref", "HEAD"]), "refs/heads/a/b");
    assert_eq!(world.open().default_branch().expect("it can be read"), Some(branch));
    world.assert_sound();
}

/// A push may be opened before the copy of a fork is there, and send its commands afterwards.
#[test]
fn a_push_that_began_before_a_copy_leads_to_nothing_unreachable() {
    let world = World::new();
    let [one, _, three] = world.commits;
    world.git(&["update-ref", "refs/heads/master", &one.to_string()]);
    let early = || world.store.open(OTHER).expect("it can be opened");
    let handles = [early(), early()];
    world.store.copy(PROJECT, OTHER).expect("it can be copied");
    let empty = world.git_bytes(&["pack-objects", "--stdout", "-q"]);
    for (handle, new, expected) in [
        (&handles[0], three, "ng refs/heads/x missing necessary objects"),
        (&handles[1], one, "ok refs/heads/x"),
    ] {
        let line = format!("{} {new} refs/heads/x\0report-status", "0".repeat(40));
        let mut bytes = format!("{:04x}{line}0000", line.len() + 4).into_bytes();
        bytes.extend_from_slice(&empty);
        let push = handle.receive(&mut &bytes[..], &HangUp::default()).expect("it can be read");
        let mut push = push.expect("it has a command");
        if let Some((key, _)) = push.take("").expect("refs can be changed") {
            world.store.settle(&key).expect("it can be settled");
        }
        let mut answer = Vec::new();
        push.answer(&mut answer).expect("memory takes everything");
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.contains(expected), "{answer}");
    }
}

#[test]
fn a_copy_has_everything_and_a_life_of_its_own() {
    let world = World::new();
    let [one, two, three] = world.commits;
    world.git(&["repack", "-adq"]);
    world.git(&["tag", "-a", "packed", "-m", "m", "master"]);
    world.git(&["pack-refs", "--all", "--prune"]);
    world.git(&["tag", "-a", "loose", "-m", "m", "master~1"]);
    world.git(&["branch", "moved", "master~1"]);
    world.git(&["symbolic-ref", "HEAD", "refs/heads/moved"]);
    world.store.copy(PROJECT, OTHER).expect("it can be copied");
    let copy = world.store.layout().repository(OTHER);
    let refs =
        |folder: &Path| git_in(folder, &["for-each-ref", "--format=%(refname) %(objectname)"]);
    assert_eq!(refs(&copy), refs(&world.bare()));
    assert_eq!(git_in(&copy, &["symbolic-ref", "HEAD"]), "refs/heads/moved");
    git_in(&copy, &["fsck", "--strict", "--full"]);
    // The files of objects are the same ones, those of refs are not.
    let pack = |folder: &Path| {
        let mut entries = std::fs::read_dir(folder.join("objects/pack")).expect("packs");
        entries.find_map(|entry| {
            let path = entry.expect("an entry").path();
            (path.extension()? == "pack").then_some(path)
        })
    };
    let inode = |path: &Path| {
        std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).expect("it is there"))
    };
    let (ours, theirs) = (pack(&world.bare()).expect("a pack"), pack(&copy).expect("a pack"));
    assert_eq!(inode(&ours), inode(&theirs));
    let before = refs(&world.bare());
    let fork = world.store.open(OTHER).expect("it can be opened");
    for change in [
        change("refs/heads/master", Some(three), Some(one)),
        change("refs/heads/moved", Some(two), None),
        change("refs/heads/new", None, Some(two)),
    ] {
        let key = fork.update(&[change], "1").expect("it is as expected");
        world.store.settle(&key).expect("it can be settled");
    }
    git_in(&copy, &["repack", "-adq"]);
    git_in(&copy, &["gc", "-q", "--prune=now"]);
    assert_eq!(refs(&world.bare()), before);
    world.assert_sound();
    world.update(&[change("refs/heads/master", Some(three), None)]).expect("it is there");
    world.git(&["gc", "-q", "--prune=now"]);
    git_in(&copy, &["fsck", "--strict", "--full"]);
    // Again: what is there stays. Of nothing there is no copy.
    world.store.copy(PROJECT, OTHER).expect("it can be asked for again");
    assert!(git_in(&copy, &["rev-parse", "refs/heads/new"]) == two.to_string());
    world.store.copy(ProjectId(99), ProjectId(100)).expect("nothing is copied");
    assert!(!world.store.layout().repository(ProjectId(100)).exists());
}
