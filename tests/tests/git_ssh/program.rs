//! All git operations in each version of the protocol, against the program without git in its `PATH`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::WorkTree;
use hexforge_tests::program::{self, Program, ROOT};
use hexforge_tests::ssh_client::Identity;

use super::support::{CommandOutput, address, git, run};

#[test]
fn every_operation_in_every_version_on_sqlite() {
    every_operation(&TestDatabase::sqlite(), Transport::Ssh);
}

#[test]
fn every_operation_in_every_version_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        every_operation(&database, Transport::Ssh);
    }
}

/// The same over HTTP, where each request is independent.
#[test]
fn every_operation_in_every_version_over_http() {
    every_operation(&TestDatabase::sqlite(), Transport::Http);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Ssh,
    Http,
}

fn every_operation(database: &TestDatabase, transport: Transport) {
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let data = folder.path().join("data");
    let mut server = Program::start_with_ssh(&program::executable(), &data, &database.url)
        .expect("the program serves");
    let key = Identity::new();
    let fields = [("title", "laptop"), ("key", &key.public())];
    server.request("POST", "/user/keys").token(ROOT).form(&fields).send().expect(201);
    for version in ["0", "1", "2"] {
        let test = ProtocolTest::new(&server, transport, &key, folder.path(), version);
        test.clones_of_all_kinds();
        test.fetches_of_new_commits();
        test.shallow_clones();
        test.partial_clones();
        test.pushes_of_all_kinds();
        test.many_refs();
        test.concurrent_pushes();
        test.mirrors();
    }
    assert!(server.stop().expect("it can be told").success());
}

/// A project for the tests of one protocol version.
struct ProtocolTest<'a> {
    server: &'a Program,
    transport: Transport,
    ssh: SocketAddr,
    key: &'a Identity,
    folder: PathBuf,
    version: &'static str,
    /// The work tree from which the history is pushed.
    tree: WorkTree,
}

impl<'a> ProtocolTest<'a> {
    /// Creates a history with merges, tags, large and small files, and pushes it.
    fn new(
        server: &'a Program,
        transport: Transport,
        key: &'a Identity,
        folder: &Path,
        version: &'static str,
    ) -> Self {
        let name = format!("p{version}");
        let fields = [("name", name.as_str())];
        let made = server.request("POST", "/projects").token(ROOT).form(&fields).send().expect(201);
        let shown = made["ssh_url_to_repo"].as_str().expect("an address").to_owned();
        let folder = folder.join(&name);
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let tree = WorkTree::new(&folder.join("unused.git"));
        let ssh = server.ssh.expect("it serves SSH");
        assert_eq!(shown, address(ssh, &format!("root/{name}.git")));
        let test = Self { server, transport, ssh, key, folder, version, tree };
        for number in 0..12 {
            test.tree.write("count", number.to_string());
            test.tree.write(&format!("dir/{number}"), noise(20_000, number));
            test.tree.commit(&format!("Commit {number}\n"));
        }
        test.tree.git(&["checkout", "-q", "-b", "side", "HEAD~4"]);
        test.tree.write("aside", "side\n").commit("Aside\n");
        test.tree.git(&["checkout", "-q", "master"]);
        test.tree.git(&["merge", "-q", "-m", "Merge", "side"]);
        test.tree.git(&["tag", "light"]);
        test.tree.git(&["tag", "-m", "Full", "v1"]);
        test.git(&["push", "-q", &test.address(), "master", "side", "--tags"]).ok();
        test
    }

    fn address(&self) -> String {
        self.address_of(&format!("root/p{}.git", self.version))
    }

    fn address_of(&self, path: &str) -> String {
        match self.transport {
            Transport::Ssh => address(self.ssh, path),
            Transport::Http => format!("http://root:{ROOT}@{}/{path}", self.server.address),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let version = format!("protocol.version={}", self.version);
        git(&self.tree, self.key, self.ssh, &[&["-c", &version], arguments].concat())
    }

    /// Runs git in the work tree.
    fn git(&self, arguments: &[&str]) -> CommandOutput {
        run(&mut self.command(arguments))
    }

    /// Runs git in another folder.
    fn git_in(&self, folder: &Path, arguments: &[&str]) -> CommandOutput {
        let folder = folder.display().to_string();
        self.git(&[&["-C", folder.as_str()], arguments].concat())
    }

    /// Clones into a folder with this name, which is returned.
    fn clone_into(&self, name: &str, options: &[&str]) -> PathBuf {
        let folder = self.folder.join(name);
        let target = folder.display().to_string();
        self.git(&[&["clone", "-q"], options, &[&self.address(), &target]].concat()).ok();
        folder
    }

    fn fsck(&self, folder: &Path) {
        self.git_in(folder, &["fsck", "--strict", "--full"]).ok();
    }

    fn objects(&self, folder: &Path, of: &[&str]) -> Vec<String> {
        let listed = self.git_in(folder, &[&["rev-list", "--objects"], of].concat()).ok();
        let mut ids: Vec<String> =
            listed.lines().filter_map(|line| line.get(..40)).map(str::to_owned).collect();
        ids.sort();
        ids
    }

    /// Runs git in a mirror of the server's repository, after a `git fsck`.
    fn on_server(&self, arguments: &[&str]) -> String {
        let copy = self.mirror_of(&self.address());
        self.git_in(copy.path(), arguments).ok()
    }

    /// A mirror of the repository at an address.
    fn mirror_of(&self, address: &str) -> tempfile::TempDir {
        let copy = tempfile::tempdir().expect("a folder for temporary files exists");
        let folder = copy.path().display().to_string();
        self.git(&["clone", "-q", "--mirror", address, &folder]).ok();
        self.fsck(copy.path());
        copy
    }

    fn clones_of_all_kinds(&self) {
        let source = self.objects(self.tree.path(), &["master", "side", "v1", "light"]);
        for (name, options) in
            [("plain", &[][..]), ("bare", &["--bare"]), ("mirror", &["--mirror"])]
        {
            let folder = self.clone_into(name, options);
            self.fsck(&folder);
            assert_eq!(self.objects(&folder, &["--all"]), source, "{name}");
        }
        let head = self.git_in(&self.folder.join("plain"), &["symbolic-ref", "HEAD"]).ok();
        assert_eq!(head, "refs/heads/master");
        let single =
            self.clone_into("single", &["--single-branch", "--branch", "side", "--no-tags"]);
        self.fsck(&single);
        let refs = self.git_in(&single, &["for-each-ref", "--format=%(refname)"]).ok();
        assert_eq!(refs, "refs/heads/side\nrefs/remotes/origin/side");
    }

    fn fetches_of_new_commits(&self) {
        let plain = self.folder.join("plain");
        let tip = self.tree.write("more", "more\n").commit("More\n");
        self.git(&["push", "-q", &self.address(), "master"]).ok();
        self.git_in(&plain, &["fetch", "-q"]).ok();
        assert_eq!(self.git_in(&plain, &["rev-parse", "origin/master"]).ok(), tip);
        let tip = self.tree.write("more", "and more\n").commit("And more\n");
        self.git(&["push", "-q", &self.address(), "master"]).ok();
        self.git_in(&plain, &["pull", "-q", "--ff-only"]).ok();
        assert_eq!(self.git_in(&plain, &["rev-parse", "HEAD"]).ok(), tip);
        // There is nothing to fetch.
        self.git_in(&plain, &["fetch", "-q"]).ok();
        self.fsck(&plain);
        // Client and server both have new commits.
        self.git_in(&plain, &["commit", "-q", "--allow-empty", "-m", "Mine"]).ok();
        let theirs = self.tree.write("theirs", "x\n").commit("Theirs\n");
        self.git(&["push", "-q", &self.address(), "master"]).ok();
        self.git_in(&plain, &["pull", "-q", "--rebase"]).ok();
        assert_eq!(self.git_in(&plain, &["rev-parse", "HEAD~1"]).ok(), theirs);
        self.fsck(&plain);
    }

    fn shallow_clones(&self) {
        let shallow = self.clone_into("shallow", &["--depth", "2"]);
        let count = |expected: &str| {
            assert_eq!(self.git_in(&shallow, &["rev-list", "--count", "HEAD"]).ok(), expected);
            self.fsck(&shallow);
        };
        count("2");
        self.git_in(&shallow, &["fetch", "-q", "--deepen", "1"]).ok();
        count("3");
        self.git_in(&shallow, &["fetch", "-q", "--unshallow"]).ok();
        let all = self.tree.git(&["rev-list", "--count", "master"]);
        count(&all);
        let since = self.tree.git(&["log", "-1", "--format=%ct", "HEAD~1"]);
        let recent = self.clone_into("recent", &[&format!("--shallow-since={since}")]);
        self.fsck(&recent);
        assert_eq!(self.git_in(&recent, &["rev-list", "--count", "HEAD"]).ok(), "2");
        let without = self.clone_into("without", &["--shallow-exclude=light"]);
        self.fsck(&without);
        assert_eq!(self.git_in(&without, &["rev-list", "--count", "HEAD"]).ok(), "3");
    }

    /// Objects that a partial clone left out are fetched on demand, also in old protocol versions.
    fn partial_clones(&self) {
        let partial = self.clone_into("partial", &["--filter=blob:none", "--no-checkout"]);
        let missing = || {
            let list = ["rev-list", "--objects", "--all", "--missing=print"];
            let listed = self.git_in(&partial, &list).ok();
            listed.lines().filter(|line| line.starts_with('?')).count()
        };
        let before = missing();
        assert!(before > 12, "{before}");
        self.git_in(&partial, &["checkout", "-q", "master"]).ok();
        let after = missing();
        assert!(after < before, "{after}");
        let content = std::fs::read(partial.join("dir/3")).expect("it is checked out");
        assert_eq!(content, noise(20_000, 3));
        self.git_in(&partial, &["log", "-p", "--all"]).ok();
        assert_eq!(missing(), 0);
        self.fsck(&partial);
    }

    fn pushes_of_all_kinds(&self) {
        let at = self.address();
        let tree = &self.tree;
        tree.git(&["checkout", "-q", "-B", "topic", "master"]);
        let first = tree.write("t", "1\n").commit("Topic\n");
        self.git(&["push", "-q", &at, "topic"]).ok();
        tree.git(&["reset", "-q", "--hard", "HEAD~1"]);
        let second = tree.write("t", "2\n").commit("Other topic\n");
        self.git(&["push", "-q", &at, "topic"]).refused(&["[rejected]"]);
        assert_eq!(self.on_server(&["rev-parse", "topic"]), first);
        self.git(&["push", "-q", "--force", &at, "topic"]).ok();
        assert_eq!(self.on_server(&["rev-parse", "topic"]), second);
        tree.git(&["tag", "-f", "-m", "Second", "v2"]);
        self.git(&["push", "-q", &at, "v2"]).ok();
        assert_eq!(self.on_server(&["rev-parse", "v2"]), tree.git(&["rev-parse", "v2"]));
        self.git(&["push", "-q", &at, ":v2", ":topic"]).ok();
        assert!(!self.on_server(&["for-each-ref"]).contains("topic"));
        // One branch name is a folder of the other.
        let clashing = ["HEAD:refs/heads/a", "HEAD:refs/heads/a/b", "HEAD:refs/heads/c"];
        self.git(&[&["push", "--atomic", &at], &clashing[..]].concat())
            .refused(&["[remote rejected]"]);
        assert!(!self.on_server(&["for-each-ref"]).contains("refs/heads/c"));
        self.git(&["push", "-q", "--atomic", &at, "HEAD:refs/heads/c", "HEAD:refs/tags/c"]).ok();
        assert!(self.on_server(&["for-each-ref"]).contains("refs/tags/c"));
        // The branch is protected, so it does not change.
        self.git(&["push", "--force", &at, "HEAD~3:refs/heads/master"])
            .refused(&["remote: GitLab: You are not allowed to force push code", "declined"]);
        tree.git(&["checkout", "-q", "master"]);
        // A push without changes, and a dry run.
        self.git(&["push", "-q", &at, "master"]).ok();
        self.git(&["push", "-q", "--dry-run", &at, "HEAD:refs/heads/dry"]).ok();
        assert!(!self.on_server(&["for-each-ref"]).contains("dry"));
    }

    fn many_refs(&self) {
        let tip = self.tree.git(&["rev-parse", "HEAD"]);
        let updates: String =
            (0..1000).map(|number| format!("create refs/heads/many/{number} {tip}\n")).collect();
        self.tree.write(".git/updates", updates);
        let file = std::fs::File::open(self.tree.path().join(".git/updates")).expect("written");
        let status = self.tree.command(&["update-ref", "--stdin"]).stdin(file).status();
        assert!(status.expect("git can be started").success());
        let all = "refs/heads/many/*:refs/heads/many/*";
        self.git(&["push", "-q", &self.address(), all]).ok();
        let listed = self.git(&["ls-remote", &self.address(), "refs/heads/many/*"]).ok();
        assert_eq!(listed.lines().count(), 1000);
        assert_eq!(self.on_server(&["for-each-ref", "refs/heads/many/"]).lines().count(), 1000);
        let clone = self.clone_into("many", &["--bare"]);
        self.fsck(&clone);
        let gone: Vec<String> =
            (0..1000).map(|number| format!(":refs/heads/many/{number}")).collect();
        let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
        self.git(&[&["push", "-q", &self.address()], &gone[..]].concat()).ok();
        assert_eq!(self.on_server(&["for-each-ref", "refs/heads/many/"]), "");
        let locals =
            self.tree.git(&["for-each-ref", "--format=delete %(refname)", "refs/heads/many"]);
        self.tree.write(".git/updates", locals + "\n");
        let file = std::fs::File::open(self.tree.path().join(".git/updates")).expect("written");
        let status = self.tree.command(&["update-ref", "--stdin"]).stdin(file).status();
        assert!(status.expect("git can be started").success());
    }

    /// Concurrent pushes to different branches all succeed. Of those to one branch, one succeeds.
    fn concurrent_pushes(&self) {
        for number in 0..6 {
            self.tree.git(&["checkout", "-q", "-B", &format!("b{number}"), "master"]);
            self.tree.write("n", number.to_string()).commit("One of many\n");
        }
        let push = |target: fn(usize) -> String| -> usize {
            let pushes = (0..6).map(|number| {
                let refs = format!("b{number}:refs/heads/{}", target(number));
                let mut push = self.command(&["push", "-q", &self.address(), &refs]);
                push.stderr(std::process::Stdio::null());
                push.spawn().expect("git can be started")
            });
            let pushes: Vec<_> = pushes.collect();
            let ended = pushes.into_iter().map(|mut push| push.wait().expect("it ends").success());
            ended.filter(|success| *success).count()
        };
        assert_eq!(push(|number| format!("own/{number}")), 6);
        for number in 0..6 {
            let own = self.on_server(&["rev-parse", &format!("own/{number}")]);
            assert_eq!(own, self.tree.git(&["rev-parse", &format!("b{number}")]));
        }
        assert_eq!(push(|_| "shared".to_owned()), 1);
        self.tree.git(&["checkout", "-q", "master"]);
    }

    fn mirrors(&self) {
        let name = format!("m{}", self.version);
        let fields = [("name", name.as_str())];
        let made = self.server.request("POST", "/projects").token(ROOT).form(&fields).send();
        made.expect(201);
        let at = self.address_of(&format!("root/{name}.git"));
        let mirror = self.folder.join("mirror");
        self.git_in(&mirror, &["push", "-q", "--mirror", &at]).ok();
        let refs = |folder: &Path| self.git_in(folder, &["for-each-ref"]).ok();
        assert_eq!(refs(self.mirror_of(&at).path()), refs(&mirror));
        // Pushes of a mirror remove refs that the client does not have.
        self.git_in(&mirror, &["branch", "-D", "side"]).ok();
        self.git_in(&mirror, &["push", "-q", "--mirror", &at]).ok();
        assert_eq!(refs(self.mirror_of(&at).path()), refs(&mirror));
    }
}

/// Incompressible bytes.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed + 1;
    let byte = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(byte).collect()
}
