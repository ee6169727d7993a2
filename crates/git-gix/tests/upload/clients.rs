//! Clones and fetches in all versions, over both ways.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::server::{Server, path, run, try_run};
use crate::support::{Random, Scratch};

const VERSIONS: [&str; 3] = ["0", "1", "2"];

/// Where clones are made.
struct Clones(TempDir);

impl Clones {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// A clone by a version of the protocol.
    fn make(&self, name: &str, version: &str, url: &str, options: &[&str]) -> PathBuf {
        let version = format!("protocol.version={version}");
        let args = [&["-c", &version, "clone", "-q"], options, &[url, name]].concat();
        run(self.0.path(), &args);
        let folder = self.0.path().join(name);
        run(&folder, &["config", "protocol.version", &version[17..]]);
        folder
    }
}

/// For each version and way, a name and an address.
fn ways(server: &Server) -> Vec<(String, &'static str, String)> {
    let mut ways = Vec::new();
    for version in VERSIONS {
        ways.push((format!("http{version}"), version, server.http_url()));
        ways.push((format!("git{version}"), version, server.git_url()));
    }
    ways
}

/// All objects that refs lead to.
fn objects(folder: &Path, refs: &[&str]) -> BTreeSet<String> {
    let args = [&["rev-list", "--objects", "--no-object-names"], refs].concat();
    run(folder, &args).lines().map(str::to_owned).collect()
}

/// The clone is whole, and has exactly what the server's refs lead to.
fn check(server: &Server, folder: &Path) {
    run(folder, &["fsck", "--strict", "--connectivity-only"]);
    run(folder, &["fsck", "--strict"]);
    let ours = objects(folder, &["--all"]);
    assert_eq!(ours, objects(&server.repository(), &["--all"]), "{}", folder.display());
}

fn grow(scratch: &Scratch, random: &mut Random, commits: usize) {
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

fn history() -> Scratch {
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
        for (name, version, url) in ways(&server) {
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
