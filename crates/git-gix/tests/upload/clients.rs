//! Clones and fetches in all protocol versions, over HTTP and over git's own protocol.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::server::{Server, run, try_run};
use crate::support::{Random, Scratch};

pub const VERSIONS: [&str; 3] = ["0", "1", "2"];

/// The folder of the clones.
pub struct Clones(pub TempDir);

impl Clones {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// Clones with a version of the protocol.
    pub fn make(&self, name: &str, version: &str, url: &str, options: &[&str]) -> PathBuf {
        let version = format!("protocol.version={version}");
        let args = [&["-c", &version, "clone", "-q"], options, &[url, name]].concat();
        run(self.0.path(), &args);
        let folder = self.0.path().join(name);
        run(&folder, &["config", "protocol.version", &version[17..]]);
        folder
    }
}

/// Returns a name, the version and a URL for each combination of version and transport.
pub fn transports(server: &Server) -> Vec<(String, &'static str, String)> {
    let mut transports = Vec::new();
    for version in VERSIONS {
        transports.push((format!("http{version}"), version, server.http_url()));
        transports.push((format!("git{version}"), version, server.git_url()));
    }
    transports
}

/// Lists all objects that are reachable from refs.
pub fn objects(folder: &Path, refs: &[&str]) -> BTreeSet<String> {
    let args = [&["rev-list", "--objects", "--no-object-names"], refs].concat();
    run(folder, &args).lines().map(str::to_owned).collect()
}

/// Asserts that the clone is complete, and has exactly the objects reachable from the refs of the server.
pub fn check(server: &Server, folder: &Path) {
    run(folder, &["fsck", "--strict", "--connectivity-only"]);
    run(folder, &["fsck", "--strict"]);
    let ours = objects(folder, &["--all"]);
    assert_eq!(ours, objects(&server.repository(), &["--all"]), "{}", folder.display());
}

pub fn grow(scratch: &Scratch, random: &mut Random, commits: usize) {
    for _ in 0..commits {
        let file =
            format!("folder{}/sub{}/file{}", random.below(3), random.below(3), random.below(9));
        let lines: Vec<String> =
            (0..200).map(|line| format!("line {line} {}", random.below(2 + line / 50))).collect();
        scratch.write(&file, lines.join("\n"));
        scratch.write("counter", format!("{}", random.below(1_000_000)));
        scratch.commit("work");
    }
}

pub fn history() -> Scratch {
    let scratch = Scratch::new();
    let mut random = Random::new(1);
    grow(&scratch, &mut random, 20);
    scratch.git(&["tag", "light"]);
    scratch.git(&["tag", "-a", "-m", "note", "v1"]);
    scratch.git(&["tag", "-a", "-m", "nested", "v1.nested", "v1"]);
    scratch.git(&["checkout", "-q", "-b", "topic", "HEAD~5"]);
    grow(&scratch, &mut random, 5);
    scratch.git(&["checkout", "-q", "master"]);
    scratch.write("other", "other");
    scratch.commit("other");
    scratch.git(&["merge", "-q", "-s", "ours", "-m", "merge", "topic"]);
    scratch.git(&["update-ref", "refs/merge-requests/1/head", "topic~1"]);
    scratch
}

#[test]
fn everything_is_cloned() {
    let scratch = history();
    let server = Server::of(&scratch);
    for round in ["loose", "packed", "both"] {
        match round {
            "packed" => drop(server.run(&["gc", "-q", "--prune=now"])),
            "both" => {
                grow(&scratch, &mut Random::new(2), 3);
                server.push(&scratch);
            }
            _ => {}
        }
        let clones = Clones::new();
        for (name, version, url) in transports(&server) {
            let folder = clones.make(&name, version, &url, &["--mirror"]);
            check(&server, &folder);
            assert_eq!(
                run(&folder, &["for-each-ref"]),
                server.run(&["for-each-ref"]),
                "{round} {name}"
            );
            let plain = clones.make(&format!("{name}.plain"), version, &url, &[]);
            assert_eq!(
                run(&plain, &["status", "--porcelain", "--branch"]),
                "## master...origin/master"
            );
            run(&plain, &["fsck", "--strict"]);
        }
    }
}

/// Adds commits, merges and tags to a random branch, or replaces its last commit.
fn grow_somehow(scratch: &Scratch, random: &mut Random) {
    let branches = ["master", "topic", "third"];
    let branch = *random.pick(&branches);
    if !scratch.try_git(&["checkout", "-q", branch], b"").0 {
        scratch.git(&["checkout", "-q", "-b", branch]);
    }
    let commits = 1 + random.below(4);
    grow(scratch, random, commits);
    if random.one_in(3) {
        let other = *random.pick(&branches);
        if scratch.try_git(&["rev-parse", "-q", "--verify", other], b"").0 {
            scratch.try_git(&["merge", "-q", "-s", "ours", "-m", "merge", other], b"");
        }
    }
    if random.one_in(3) {
        let name = format!("tag{}", random.below(1_000_000));
        scratch.git(&["tag", "-a", "-m", "note", &name]);
    }
    if random.one_in(4) {
        // The last commit is replaced.
        scratch.git(&["reset", "-q", "--hard", "HEAD~1"]);
        grow(scratch, random, 1);
    }
}

#[test]
fn fetches_bring_what_is_new() {
    for seed in 0..2 {
        let mut random = Random::new(seed + 10);
        let scratch = history();
        let server = Server::of(&scratch);
        let clones = Clones::new();
        let folders: Vec<PathBuf> = transports(&server)
            .into_iter()
            .map(|(name, version, url)| clones.make(&name, version, &url, &["--mirror"]))
            .collect();
        for round in 0..4 {
            grow_somehow(&scratch, &mut random);
            server.push(&scratch);
            match random.below(3) {
                0 => drop(server.run(&["gc", "-q", "--prune=now"])),
                1 => drop(server.run(&["repack", "-q", "-d"])),
                _ => {}
            }
            for folder in &folders {
                // Not every clone fetches each time.
                if round == 3 || random.one_in(2) {
                    run(folder, &["fetch", "-q", "--prune", "origin"]);
                    run(folder, &["fsck", "--strict"]);
                    let ours = run(folder, &["for-each-ref"]);
                    assert_eq!(ours, server.run(&["for-each-ref"]), "{}", folder.display());
                    check(&server, folder);
                }
            }
        }
    }
}

#[test]
fn a_fetch_sends_little() {
    let scratch = history();
    let server = Server::of(&scratch);
    server.run(&["gc", "-q", "--prune=now"]);
    let clones = Clones::new();
    let made: Vec<_> = transports(&server)
        .into_iter()
        .map(|(name, version, url)| clones.make(&name, version, &url, &[]))
        .collect();
    let before = objects(&server.repository(), &["--all"]);
    scratch.write("folder1/sub1/file1", "new");
    scratch.commit("new");
    server.push(&scratch);
    server.run(&["gc", "-q", "--prune=now"]);
    let new = objects(&server.repository(), &["--all"]).difference(&before).count();
    assert_eq!(new, 5);
    for folder in made {
        run(&folder, &["config", "fetch.unpackLimit", "1"]);
        let packs = packed(&folder);
        run(&folder, &["fetch", "-q"]);
        run(&folder, &["fsck", "--strict"]);
        // Delta bases that complete the pack are counted too.
        let sent = packed(&folder) - packs;
        assert!((5..=10).contains(&sent), "{} {sent}", folder.display());
        run(&folder, &["fetch", "-q"]);
        assert_eq!(packed(&folder) - packs, sent, "nothing is new any more");
    }
}

/// A plan that is computed for one clone serves all of them.
#[test]
fn many_clone_the_same_at_once() {
    let scratch = history();
    let server = Server::of(&scratch);
    server.run(&["gc", "-q", "--prune=now"]);
    for _ in ["packed", "with something new"] {
        let clones = Clones::new();
        std::thread::scope(|scope| {
            for number in 0..3 {
                for (name, version, url) in transports(&server) {
                    let (clones, server) = (&clones, &server);
                    scope.spawn(move || {
                        let name = format!("{name}.{number}");
                        let folder = clones.make(&name, version, &url, &["--mirror"]);
                        check(server, &folder);
                        let shallow = format!("{name}.shallow");
                        let folder = clones.make(&shallow, version, &url, &["--depth", "3"]);
                        run(&folder, &["fsck", "--strict"]);
                    });
                }
            }
        });
        grow(&scratch, &mut Random::new(3), 2);
        server.push(&scratch);
    }
}

/// CI builds that keep their clone fetch like this.
#[test]
fn a_shallow_fetch_sends_little() {
    let scratch = history();
    let server = Server::of(&scratch);
    let clones = Clones::new();
    for (name, version, url) in transports(&server) {
        let folder = clones.make(&name, version, &url, &["--depth", "1"]);
        run(&folder, &["config", "fetch.unpackLimit", "1"]);
        let packs = packed(&folder);
        scratch.write("folder1/sub1/file1", &name);
        scratch.commit("new");
        server.push(&scratch);
        run(&folder, &["fetch", "-q", "--depth", "1"]);
        run(&folder, &["fsck", "--strict"]);
        let sent = packed(&folder) - packs;
        assert!((5..=10).contains(&sent), "{} {sent}", folder.display());
    }
}

/// Counts the objects in packs. An object in several packs counts several times.
fn packed(folder: &Path) -> usize {
    let counts = run(folder, &["count-objects", "-v"]);
    let line = counts.lines().find_map(|line| line.strip_prefix("in-pack: "));
    line.expect("a count").parse().expect("a number")
}

/// Creates a tree of these entries.
fn tree_of(scratch: &Scratch, entries: &str) -> String {
    let id = scratch.git_bytes(&["mktree"], entries.as_bytes());
    String::from_utf8(id).expect("an id").trim().to_owned()
}

/// The search for objects of the client is limited; ordinary folders stay below the limit.
#[test]
fn a_fetch_sends_little_where_folders_are_large() {
    let scratch = Scratch::new();
    let blob = |text: &str| {
        let id = scratch.git_bytes(&["hash-object", "-w", "--stdin"], text.as_bytes());
        String::from_utf8(id).expect("an id").trim().to_owned()
    };
    let (old, new) = (blob("old"), blob("new"));
    let files = |count: usize, last: &str| -> String {
        let lines = (1..count).map(|number| format!("100644 blob {old}\tf{number:06}\n"));
        lines.chain([format!("100644 blob {last}\tlast\n")]).collect()
    };
    let commit = |last: &str, parents: &[&str]| {
        let below = tree_of(&scratch, &files(3000, last));
        let root = files(60_000, &old) + &format!("040000 tree {below}\tz\n");
        let root = tree_of(&scratch, &root);
        scratch.git(&[&["commit-tree", &root, "-m", "large"], parents].concat())
    };
    let first = commit(&old, &[]);
    let second = commit(&new, &["-p", &first]);
    scratch.git(&["update-ref", "refs/heads/master", &first]);
    let server = Server::of(&scratch);
    let clones = Clones::new();
    let folder = clones.make("clone", "2", &server.http_url(), &["--bare"]);
    run(&folder, &["config", "fetch.unpackLimit", "1"]);
    scratch.git(&["update-ref", "refs/heads/master", &second]);
    server.push(&scratch);
    let packs = packed(&folder);
    run(&folder, &["fetch", "-q", "origin", "master"]);
    // The commit, two trees and a file, and delta bases that complete the pack.
    let sent = packed(&folder) - packs;
    assert!((4..=8).contains(&sent), "{sent}");
}

/// A tree at many paths is compared once. More levels would keep the pushing git busy for hours.
#[test]
fn a_fetch_ends_where_the_same_tree_has_many_paths() {
    let scratch = Scratch::new();
    let blob = scratch.git_bytes(&["hash-object", "-w", "--stdin"], b"x");
    let blob = String::from_utf8(blob).expect("an id").trim().to_owned();
    let bomb = |leaf: &str, levels: usize| {
        let mut tree = tree_of(&scratch, &format!("100644 blob {blob}\t{leaf}\n"));
        for _ in 0..levels {
            let names: String =
                (0..10).map(|name| format!("040000 tree {tree}\t{name}\n")).collect();
            tree = tree_of(&scratch, &names);
        }
        tree
    };
    let (old, new) = (bomb("old", 4), bomb("new", 4));
    let first = scratch.git(&["commit-tree", &old, "-m", "old"]);
    let second = scratch.git(&["commit-tree", &new, "-m", "new", "-p", &first]);
    scratch.git(&["update-ref", "refs/heads/master", &first]);
    let server = Server::of(&scratch);
    let clones = Clones::new();
    let folder = clones.make("clone", "2", &server.http_url(), &["--bare"]);
    scratch.git(&["update-ref", "refs/heads/master", &second]);
    server.push(&scratch);
    run(&folder, &["fetch", "-q", "origin", "master"]);
    assert_eq!(run(&folder, &["rev-parse", "FETCH_HEAD"]), second);
}

#[test]
fn unrelated_work_of_the_client_does_not_matter() {
    let scratch = history();
    let server = Server::of(&scratch);
    let clones = Clones::new();
    let made: Vec<_> = transports(&server)
        .into_iter()
        .map(|(name, version, url)| clones.make(&name, version, &url, &[]))
        .collect();
    grow(&scratch, &mut Random::new(3), 3);
    server.push(&scratch);
    server.run(&["gc", "-q", "--prune=now"]);
    for folder in made {
        for number in 0..60 {
            let message = format!("own {number}");
            run(&folder, &["commit", "-q", "--allow-empty", "-m", &message]);
        }
        run(&folder, &["checkout", "-q", "--orphan", "apart"]);
        for number in 0..60 {
            let message = format!("apart {number}");
            run(&folder, &["commit", "-q", "--allow-empty", "-m", &message]);
        }
        run(&folder, &["fetch", "-q"]);
        run(&folder, &["fsck", "--strict"]);
        let tip = run(&folder, &["rev-parse", "origin/master"]);
        assert_eq!(tip, server.run(&["rev-parse", "master"]), "{}", folder.display());
    }
}

#[test]
fn one_branch_is_fetched_with_its_tags() {
    let scratch = history();
    let server = Server::of(&scratch);
    let clones = Clones::new();
    for (name, version, url) in transports(&server) {
        let folder = clones.make(&name, version, &url, &["--single-branch", "--branch", "topic"]);
        assert_eq!(run(&folder, &["branch", "-r"]).trim(), "origin/topic", "{name}");
        run(&folder, &["fsck", "--strict"]);
        let folder = folder.as_path();
        run(folder, &["fetch", "-q", "origin", "master"]);
        let tip = run(folder, &["rev-parse", "FETCH_HEAD"]);
        assert_eq!(tip, server.run(&["rev-parse", "master"]), "{name}");
        run(folder, &["fetch", "-q", "origin", "refs/merge-requests/1/head:refs/heads/request"]);
        assert_eq!(run(folder, &["rev-parse", "v1"]), server.run(&["rev-parse", "v1"]), "{name}");
    }
}

#[test]
fn empty_repositories_can_be_cloned() {
    let made = Server::of(&Scratch::new());
    made.run(&["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    for server in [Server::empty(), made] {
        let clones = Clones::new();
        for (name, version, url) in transports(&server) {
            let folder = clones.make(&name, version, &url, &[]);
            assert_eq!(run(&folder, &["for-each-ref"]), "", "{name}");
            assert_eq!(run(&folder, &["ls-remote", "origin"]), "", "{name}");
            run(&folder, &["fetch", "-q"]);
            if version == "2" && server.repository().exists() {
                assert_eq!(run(&folder, &["symbolic-ref", "HEAD"]), "refs/heads/trunk");
            }
        }
    }
}

#[test]
fn refs_are_listed() {
    let scratch = history();
    let server = Server::of(&scratch);
    for packed in [false, true] {
        if packed {
            server.run(&["pack-refs", "--all"]);
        }
        let clones = Clones::new();
        for (name, version, url) in transports(&server) {
            let version = format!("protocol.version={version}");
            for args in [&["--symref"][..], &["--heads"], &["--tags"], &["--refs"]] {
                let list = |url: &str| {
                    let args = [&["-c", &version, "ls-remote"], args, &[url]].concat();
                    run(clones.0.path(), &args)
                };
                let real = list(server.repository().to_str().expect("a plain path"));
                assert_eq!(list(&url), real, "{name} {args:?}");
            }
            let list = run(clones.0.path(), &["-c", &version, "ls-remote", &url, "top*", "v1"]);
            assert_eq!(list.lines().count(), 2, "{name} {list}");
        }
    }
}

#[test]
fn many_refs_are_cloned() {
    let scratch = history();
    let commits = scratch.git(&["rev-list", "--all"]);
    let commits: Vec<&str> = commits.lines().collect();
    let mut input = String::new();
    for number in 0..3000 {
        let commit = commits[number % commits.len()];
        input += &format!("create refs/heads/many/{number} {commit}\n");
    }
    scratch.git_bytes(&["update-ref", "--stdin"], input.as_bytes());
    let server = Server::of(&scratch);
    server.run(&["pack-refs", "--all"]);
    let clones = Clones::new();
    for (name, version, url) in transports(&server) {
        let folder = clones.make(&name, version, &url, &["--mirror"]);
        assert_eq!(run(&folder, &["for-each-ref"]), server.run(&["for-each-ref"]), "{name}");
    }
}

#[test]
fn big_files_come_through() {
    let scratch = Scratch::new();
    let mut random = Random::new(5);
    let big: Vec<u8> = (0..9 << 20).map(|_| random.below(200) as u8).collect();
    scratch.write("big", &big);
    scratch.write("small", "small");
    scratch.commit("big");
    let server = Server::of(&scratch);
    for packed in [false, true] {
        if packed {
            server.run(&["gc", "-q", "--prune=now"]);
        }
        let clones = Clones::new();
        let folder = clones.make("big", "2", &server.http_url(), &[]);
        run(&folder, &["fsck", "--strict"]);
        assert!(std::fs::read(folder.join("big")).expect("the file") == big);
    }
}

#[test]
fn commits_that_no_ref_leads_to_stay_here() {
    let scratch = history();
    let server = Server::of(&scratch);
    let old = scratch.git(&["rev-parse", "master~3"]);
    scratch.git(&["checkout", "-q", "--detach"]);
    let gone = scratch.commit("secret");
    scratch.git(&["update-ref", "refs/heads/gone", &gone]);
    server.push(&scratch);
    server.run(&["update-ref", "-d", "refs/heads/gone"]);
    let tree = server.run(&["rev-parse", "master~2^{tree}"]);
    server.run(&["cat-file", "-e", &gone]);
    for (name, version, url) in transports(&server) {
        let clones = Clones::new();
        let folder = clones.make(&name, version, &url, &["--bare", "--depth=1", "--no-tags"]);
        let fetch = |what: &str| try_run(&folder, &["fetch", "-q", &url, what]);
        let (ok, _, why) = fetch(&gone);
        assert!(!ok, "{name}");
        // Older protocol versions request only advertised objects.
        if version == "2" {
            assert!(why.contains(&format!("not our ref {gone}")), "{name} {why}");
            assert!(fetch(&old).0, "{name}");
            assert!(fetch(&tree).0, "{name}");
        }
    }
}

#[test]
fn replaced_objects_are_sent_as_they_are() {
    let scratch = history();
    let server = Server::of(&scratch);
    let other = server.run(&["rev-parse", "topic"]);
    server.run(&["replace", "master~4", &other]);
    let blob = server.run(&["rev-parse", "master:other"]);
    server.run(&["replace", "master~6:counter", &blob]);
    for packed in [false, true] {
        if packed {
            server.run(&["gc", "-q", "--prune=now"]);
        }
        let clones = Clones::new();
        for (name, version, url) in transports(&server) {
            let folder = clones.make(&name, version, &url, &["--mirror"]);
            run(&folder, &["--no-replace-objects", "fsck", "--strict"]);
            let all = ["--no-replace-objects", "rev-list", "--objects", "--all"];
            assert_eq!(run(&folder, &all), server.run(&all), "{name}");
        }
    }
}

#[test]
fn clients_may_only_ask_what_both_have() {
    let scratch = history();
    let server = Server::of(&scratch);
    let clones = Clones::new();
    for (name, version, url) in
        transports(&server).into_iter().filter(|transport| transport.1 == "2")
    {
        let folder = clones.make(&name, version, &url, &[]);
        let tip = run(&folder, &["rev-parse", "HEAD"]);
        run(&folder, &["commit", "-q", "--allow-empty", "-m", "own"]);
        let args = ["fetch", "--negotiate-only", "--negotiation-tip=HEAD", "origin"];
        let common = run(&folder, &args);
        assert!(common.contains(&tip), "{name}");
        assert!(!common.contains(&run(&folder, &["rev-parse", "HEAD"])), "{name}");
    }
}
