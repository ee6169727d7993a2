//! Branches, tags, pushes and copies, each compared with the output of the real git.

mod files;
mod pushes;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::{ObjectId, Signature};
use hexforge_domain::id::ProjectId;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::git::{RefChange, Repository};
use hexforge_domain::ports::git_transport::DisconnectSignal;
use hexforge_domain::refs::Ref;
use hexforge_domain::tag::TagName;
use hexforge_git_gix::GixStore;
use support::{Scratch, git_command, refs};
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
        let store = refs::store(data.path());
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

    /// Runs git without input and returns its output.
    fn git_bytes(&self, arguments: &[&str]) -> Vec<u8> {
        let mut command = git_command();
        command.current_dir(self.bare()).args(arguments).stdin(std::process::Stdio::null());
        let output = command.output().expect("git starts");
        assert!(output.status.success(), "{arguments:?}");
        output.stdout
    }

    fn open(&self) -> Box<dyn Repository> {
        refs::open(&self.store, PROJECT)
    }

    /// Changes refs with git.
    #[track_caller]
    fn update(&self, changes: &[RefChange]) {
        assert!(refs::update(&self.bare(), changes), "{changes:?}");
    }

    /// Lists all refs with their targets, with git.
    fn refs(&self) -> BTreeSet<String> {
        let refs = self.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        refs.lines().map(str::to_owned).collect()
    }

    fn assert_sound(&self) {
        self.git(&["fsck", "--strict", "--full"]);
    }
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

#[test]
fn pages_are_parts_of_all_branches() {
    let world = World::new();
    let one = Some(world.commits[0]);
    let names: Vec<String> = (0..1000).map(|n| format!("refs/heads/many/{n:04}")).collect();
    let made: Vec<RefChange> = names.iter().map(|name| change(name, None, one)).collect();
    world.update(&made);
    for is_packed in [false, true] {
        if is_packed {
            world.git(&["pack-refs", "--all", "--prune"]);
        }
        let page = world.open().branches(Page::Numbered { number: 2, size: 100 }).expect("a page");
        assert_eq!((page.total, page.items.len()), (1001, 100));
        assert_eq!(page.items[1].name.as_str(), "many/0101");
        let last = world.open().branches(Page::Numbered { number: 11, size: 100 }).expect("a page");
        assert_eq!((last.total, last.items.len()), (1001, 1));
        assert_eq!(last.items[0].name.as_str(), "master");
        let whole = world.open().branches(Page::Whole).expect("all");
        let listed = whole.items.iter().map(|one| format!("{} {}", one.name.full(), one.commit.id));
        assert_eq!(listed.collect::<BTreeSet<_>>(), world.refs());
    }
    let gone: Vec<RefChange> = names.iter().map(|name| change(name, one, None)).collect();
    world.update(&gone);
    assert_eq!(world.open().branches(Page::Whole).expect("all").total, 1);
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
    let written = world.open().write_tag(&name, one, &tagger, "Text");
    let (tag, pack) = written.expect("it can be written");
    refs::add_packs(&world.store, PROJECT, &[pack]);
    world.update(&[change("refs/tags/v/1", None, Some(tag))]);
    let expected =
        format!("object {one}\ntype commit\ntag v/1\ntagger A b C <a@b> 1474540200 +0100\n\nText");
    assert_eq!(world.git(&["cat-file", "-p", "refs/tags/v/1"]), expected);
    let found = world.open().tag(&name).expect("it can be read").expect("it is there");
    assert_eq!((found.message.as_deref(), found.commit.id), (Some("Text"), one));
    let peeled = world.open().refs().find("refs/tags/v/1").expect("it is there").peeled;
    assert_eq!(peeled, Some(one));
    let default = |world: &World| world.open().refs().default_branch().expect("there are branches");
    assert_eq!(default(&world).as_str(), "master");
    world.update(&[change("refs/heads/a/b", None, Some(one))]);
    world.git(&["symbolic-ref", "HEAD", "refs/heads/a/b"]);
    assert_eq!(default(&world), BranchName::parse("a/b").expect("a name"));
    world.assert_sound();
}

/// A client may connect before the copy of a fork is complete, and send its commands afterwards.
#[test]
fn a_push_that_began_before_a_copy_leads_to_nothing_unreachable() {
    let world = World::new();
    let [one, _, three] = world.commits;
    world.git(&["update-ref", "refs/heads/master", &one.to_string()]);
    let early = refs::open(&world.store, OTHER);
    refs::fork(&world.store, PROJECT, OTHER);
    let all: Vec<Ref> = world.open().refs().iter().cloned().collect();
    let copy = world.store.layout().repository(OTHER);
    refs::write_refs(&copy, None, &all);
    let late = refs::open(&world.store, OTHER);
    let empty = world.git_bytes(&["pack-objects", "--stdout", "-q"]);
    const MISSING: &str = "ng refs/heads/x missing necessary objects";
    // The advertisement of the early push had no refs, so its client has to send all objects.
    for (handle, new, expected) in [
        (&early, three, MISSING),
        (&early, one, MISSING),
        (&late, three, MISSING),
        (&late, one, "ok refs/heads/x"),
    ] {
        let line = format!("{} {new} refs/heads/x\0report-status", "0".repeat(40));
        let mut bytes = format!("{:04x}{line}0000", line.len() + 4).into_bytes();
        bytes.extend_from_slice(&empty);
        let push =
            handle.receive(&mut &bytes[..], &DisconnectSignal::default()).expect("it can be read");
        let answer =
            refs::apply_push(&world.store, OTHER, push.expect("it has a command").as_mut());
        let answer = answer.expect("it is answered");
        assert!(answer.contains(expected), "{answer}");
    }
}

const BATCH: &str = "--batch-check=%(objectname) %(objecttype) %(objectsize)";

#[test]
fn a_copy_has_all_objects_and_a_life_of_its_own() {
    let world = World::new();
    let [one, two, three] = world.commits;
    world.git(&["repack", "-adq"]);
    world.git(&["tag", "-a", "packed", "-m", "m", "master"]);
    world.git(&["pack-refs", "--all", "--prune"]);
    world.git(&["tag", "-a", "loose", "-m", "m", "master~1"]);
    world.git(&["branch", "moved", "master~1"]);
    world.git(&["symbolic-ref", "HEAD", "refs/heads/moved"]);
    refs::fork(&world.store, PROJECT, OTHER);
    let copy = world.store.layout().repository(OTHER);
    let list =
        |folder: &Path| git_in(folder, &["for-each-ref", "--format=%(refname) %(objectname)"]);
    assert_eq!(list(&copy), "", "refs are not copied");
    let objects = |folder: &Path| git_in(folder, &["cat-file", "--batch-all-objects", BATCH]);
    assert_eq!(objects(&copy), objects(&world.bare()));
    let all: Vec<Ref> = world.open().refs().iter().cloned().collect();
    refs::write_refs(&copy, Some("refs/heads/moved"), &all);
    assert_eq!(list(&copy), list(&world.bare()));
    git_in(&copy, &["fsck", "--strict", "--full"]);
    let before = list(&world.bare());
    let changes = [
        change("refs/heads/master", Some(three), Some(one)),
        change("refs/heads/moved", Some(two), None),
        change("refs/heads/new", None, Some(two)),
    ];
    assert!(refs::update(&copy, &changes), "the refs are as expected");
    git_in(&copy, &["repack", "-adq"]);
    git_in(&copy, &["gc", "-q", "--prune=now"]);
    assert_eq!(list(&world.bare()), before);
    world.assert_sound();
    world.update(&[change("refs/heads/master", Some(three), None)]);
    world.git(&["gc", "-q", "--prune=now"]);
    git_in(&copy, &["fsck", "--strict", "--full"]);
    // A second copy changes nothing.
    refs::fork(&world.store, PROJECT, OTHER);
    assert!(git_in(&copy, &["rev-parse", "refs/heads/new"]) == two.to_string());
}
