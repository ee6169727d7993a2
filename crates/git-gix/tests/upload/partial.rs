//! Shallow clones and partial clones.

use std::fs;
use std::path::Path;

use hexforge_domain::ports::git_transport::ProtocolVersion;

use crate::clients::{Clones, check, grow, history, objects, transports};
use crate::hostile::packets;
use crate::server::{Server, run, try_run};
use crate::support::{FIRST_COMMIT, Random, Scratch, git_command, run_command};

/// Counts the commits of the history.
fn commits(folder: &Path, refs: &str) -> usize {
    run(folder, &["rev-list", "--count", refs]).parse().expect("a number")
}

fn is_shallow(folder: &Path) -> bool {
    run(folder, &["rev-parse", "--is-shallow-repository"]) == "true"
}

/// Clones with git itself, for comparison.
fn real(clones: &Clones, server: &Server, name: &str, options: &[&str]) -> std::path::PathBuf {
    let url = format!("file://{}", server.repository().display());
    clones.make(&format!("{name}.real"), "2", &url, options)
}

fn same(ours: &Path, real: &Path, what: &str) {
    run(ours, &["fsck", "--strict"]);
    assert_eq!(objects(ours, &["--all"]), objects(real, &["--all"]), "{what}");
    let boundary = |folder: &Path| {
        let lines = run(folder, &["log", "--all", "--format=%H %P"]);
        let mut lines: Vec<String> = lines.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(boundary(ours), boundary(real), "{what}");
}

#[test]
fn shallow_clones_grow() {
    let scratch = history();
    let server = Server::of(&scratch);
    server.run(&["config", "uploadpack.allowFilter", "true"]);
    server.run(&["gc", "-q", "--prune=now"]);
    for (name, version, url) in transports(&server) {
        let clones = Clones::new();
        let options = ["--bare", "--depth=1", "--no-single-branch"];
        let folder = clones.make(&name, version, &url, &options);
        let real = real(&clones, &server, &name, &options);
        same(&folder, &real, &name);
        assert!(is_shallow(&folder));
        for args in [
            &["--depth=3"][..],
            &["--deepen=2"],
            &["--depth=2"],
            &["--shallow-exclude=v1"],
            &["--deepen=1"],
        ] {
            let both = |folder: &Path| {
                run(folder, &[&["fetch", "-q", "origin", "+refs/*:refs/*"], args].concat());
            };
            both(&folder);
            both(&real);
            same(&folder, &real, &format!("{name} {args:?}"));
        }
        grow(&scratch, &mut Random::new(9), 2);
        server.push(&scratch);
        for folder in [&folder, &real] {
            run(folder, &["fetch", "-q", "origin", "+refs/*:refs/*"]);
        }
        same(&folder, &real, &format!("{name} after a push"));
        run(&folder, &["fetch", "-q", "--unshallow", "origin", "+refs/*:refs/*"]);
        assert!(!is_shallow(&folder), "{name}");
        check(&server, &folder);
    }
}

/// The clone ends at many commits that claim to be older than their parent. The client lacks the parent, so a branch that
/// leads to it has to bring it.
#[test]
fn the_parent_of_shallow_commits_with_wrong_dates_is_sent() {
    let scratch = Scratch::new();
    for content in ["a", "b", "c"] {
        scratch.write("file", content);
        scratch.commit(content);
    }
    let parent = scratch.git(&["rev-parse", "HEAD"]);
    let tree = scratch.git(&["rev-parse", "HEAD~^{tree}"]);
    for date in 1..=40 {
        let who = format!("Ada <ada@example.com> {date} +0000");
        let commit =
            format!("tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n\nwrong\n");
        let id =
            scratch.git_bytes(&["hash-object", "-t", "commit", "-w", "--stdin"], commit.as_bytes());
        let id = String::from_utf8(id).expect("an id");
        scratch.git(&["update-ref", &format!("refs/heads/wrong{date}"), id.trim()]);
    }
    scratch.git(&["checkout", "-q", "-B", "master", "wrong1"]);
    let server = Server::of(&scratch);
    let clones = Clones::new();
    let options = ["--bare", "--depth=1", "--no-single-branch"];
    let mut folders = Vec::new();
    for (name, version, url) in transports(&server) {
        folders.push((clones.make(&name, version, &url, &options), name));
    }
    let real = real(&clones, &server, "wrong", &options);
    scratch.git(&["checkout", "-q", "-b", "new", &parent]);
    scratch.write("file", "d");
    scratch.commit("d");
    server.push(&scratch);
    let fetch = |folder: &Path| run(folder, &["fetch", "-q", "origin", "+refs/*:refs/*"]);
    fetch(&real);
    for (folder, name) in folders {
        fetch(&folder);
        same(&folder, &real, &name);
    }
}

#[test]
fn one_shallow_branch_grows() {
    let scratch = history();
    let server = Server::of(&scratch);
    for (name, version, url) in transports(&server) {
        let clones = Clones::new();
        let folder = clones.make(&name, version, &url, &["--depth=1"]);
        assert_eq!(commits(&folder, "--all"), 1, "{name}");
        run(&folder, &["fetch", "-q", "--depth=4"]);
        run(&folder, &["fsck", "--strict"]);
        run(&folder, &["fetch", "-q", "origin", "topic"]);
        run(&folder, &["fsck", "--strict"]);
        run(&folder, &["fetch", "-q", "--unshallow"]);
        run(&folder, &["fsck", "--strict"]);
        let count = server.run(&["rev-list", "--count", "master"]);
        assert_eq!(commits(&folder, "origin/master").to_string(), count, "{name}");
    }
}

#[test]
fn history_since_a_date_is_cloned() {
    let scratch = Scratch::new();
    grow(&scratch, &mut Random::new(4), 10);
    let server = Server::of(&scratch);
    for (name, version, url) in transports(&server) {
        let clones = Clones::new();
        let since = format!("--shallow-since=@{}", FIRST_COMMIT + 60 * 7);
        let folder = clones.make(&name, version, &url, &[&since]);
        assert_eq!(commits(&folder, "HEAD"), 4, "{name}");
        run(&folder, &["fsck", "--strict"]);
        let since = format!("--shallow-since=@{}", FIRST_COMMIT + 60 * 3);
        run(&folder, &["fetch", "-q", &since]);
        assert_eq!(commits(&folder, "HEAD"), 8, "{name}");
        run(&folder, &["fsck", "--strict"]);
        let args = ["clone", "-q", "--shallow-since=@2000000000", &url, "none"];
        let (ok, _, why) = try_run(clones.0.path(), &args);
        assert!(!ok && why.contains("no commits selected"), "{name} {why}");
    }
}

#[test]
fn files_can_be_left_out_until_they_are_needed() {
    let scratch = history();
    let server = Server::of(&scratch);
    server.run(&["config", "uploadpack.allowFilter", "true"]);
    server.run(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    for packed in [false, true] {
        if packed {
            server.run(&["gc", "-q", "--prune=now"]);
        }
        for filter in ["blob:none", "blob:limit=100", "tree:0", "tree:1", "tree:2"] {
            let option = format!("--filter={filter}");
            // The stored form of objects does not depend on the request.
            let transports = transports(&server)
                .into_iter()
                .filter(|transport| packed || transport.0 == "http2");
            for (name, version, url) in transports {
                let clones = Clones::new();
                let bare = clones.make(&name, version, &url, &["--bare", &option]);
                let real = real(&clones, &server, &name, &["--bare", &option]);
                let have = |folder: &Path| {
                    run(folder, &["rev-list", "--all", "--objects", "--missing=print"])
                        .lines()
                        .filter(|line| !line.starts_with('?'))
                        .map(|line| line[..40].to_owned())
                        .collect::<std::collections::BTreeSet<_>>()
                };
                assert_eq!(have(&bare), have(&real), "{name} {filter}");
                if version != "2" {
                    continue;
                }
                let work = clones.make(&format!("{name}.work"), version, &url, &[&option]);
                assert_eq!(run(&work, &["status", "--porcelain"]), "", "{name} {filter}");
                let file = fs::read(work.join("other")).expect("a file");
                assert_eq!(file, b"other");
                run(&work, &["checkout", "-q", "HEAD~10"]);
                run(&work, &["log", "-p", "--all", "--", "counter"]);
                run(&work, &["fsck", "--strict"]);
            }
        }
    }
}

#[test]
fn partial_clones_fetch() {
    let scratch = history();
    let server = Server::of(&scratch);
    server.run(&["gc", "-q", "--prune=now"]);
    let mut random = Random::new(8);
    for url in [server.http_url(), server.git_url()] {
        let clones = Clones::new();
        let folder = clones.make("partial", "2", &url, &["--filter=blob:none"]);
        for _ in 0..3 {
            scratch.git(&["checkout", "-q", "master"]);
            grow(&scratch, &mut random, 2);
            server.push(&scratch);
            server.run(&["gc", "-q", "--prune=now"]);
            run(&folder, &["pull", "-q"]);
            run(&folder, &["fsck", "--strict"]);
        }
        let tip = run(&folder, &["rev-parse", "HEAD"]);
        assert_eq!(tip, server.run(&["rev-parse", "master"]));
    }
}

/// Returns the objects that `git upload-pack` and the server send for the same request.
fn sent_by_both(server: &Server, lines: &[&str]) -> [std::collections::BTreeSet<String>; 2] {
    let request = packets(lines);
    let mut git = git_command();
    git.env("GIT_PROTOCOL", "version=2").args(["upload-pack", "--stateless-rpc"]);
    let (ok, by_git, why) = {
        git.arg(server.repository());
        run_command(git, &request)
    };
    assert!(ok, "{}", String::from_utf8_lossy(&why));
    let (result, ours) = server.ask(ProtocolVersion::V2, &request);
    result.unwrap_or_else(|error| panic!("{lines:?}: {error}"));
    [by_git, ours].map(|answer| {
        let folder = tempfile::tempdir().expect("a folder");
        run(folder.path(), &["init", "-q", "--bare", "."]);
        let mut index = git_command();
        index.current_dir(folder.path()).args(["index-pack", "--stdin"]);
        let (ok, _, why) = run_command(index, &pack_in(&answer));
        assert!(ok, "{}", String::from_utf8_lossy(&why));
        let all = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"];
        run(folder.path(), &all).lines().map(str::to_owned).collect()
    })
}

/// Returns the pack in the side band of an answer.
fn pack_in(mut answer: &[u8]) -> Vec<u8> {
    let mut pack = Vec::new();
    while let Some((length, _)) = answer.split_first_chunk::<4>() {
        let length = std::str::from_utf8(length).expect("hexadecimal digits");
        let length = usize::from_str_radix(length, 16).expect("a number").max(4);
        if let Some((1, data)) = answer[4..length].split_first() {
            pack.extend_from_slice(data);
        }
        answer = &answer[length..];
    }
    pack
}

#[test]
fn filters_leave_out_what_git_leaves_out_of_tagged_trees() {
    let scratch = Scratch::new();
    for path in ["root", "a/one", "a/b/two", "a/b/c/three"] {
        scratch.write(path, path);
    }
    scratch.commit("one");
    let tree = |entries: String| {
        let id = scratch.git_bytes(&["mktree"], entries.as_bytes());
        String::from_utf8(id).expect("an id").trim().to_owned()
    };
    let id = |revision: &str| scratch.git(&["rev-parse", revision]);
    let (folder, file) = (id("HEAD:a"), id("HEAD:root"));
    let outer = tree(format!("040000 tree {folder}\tinner\n100644 blob {file}\tfile\n"));
    let other = tree(format!("040000 tree {outer}\touter\n"));
    for (name, target) in [
        ("root", "HEAD^{tree}"),
        ("folder", &folder),
        ("outer", &outer),
        ("other", &other),
        ("file", &file),
    ] {
        scratch.git(&["tag", "-a", "-m", "a tag", name, target]);
        scratch.git(&["tag", "-a", "-m", "a tag of a tag", &format!("{name}2"), name]);
    }
    let server = Server::of(&scratch);
    server.run(&["config", "uploadpack.allowFilter", "true"]);
    server.run(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    for tags in [
        &["root"][..],
        &["folder"],
        &["outer"],
        &["file"],
        &["root2", "folder2"],
        &["folder", "root"],
        &["outer", "folder"],
        &["folder", "outer"],
        &["other", "outer", "folder"],
        &["folder", "outer", "other"],
        &["outer", "file"],
        &["file", "outer"],
        &["root", "folder", "outer", "other", "file"],
    ] {
        let mut wants: Vec<String> =
            tags.iter().map(|tag| id(&format!("refs/tags/{tag}"))).collect();
        for with_commits in [false, true] {
            wants.extend(with_commits.then(|| id("HEAD")));
            for filter in ["tree:0", "tree:1", "tree:2", "tree:3", "tree:4", "blob:none"] {
                let filter = format!("filter {filter}");
                let mut lines = vec!["command=fetch".to_owned(), "0001".to_owned()];
                lines.extend(wants.iter().map(|want| format!("want {want}")));
                lines.extend([filter.clone(), "done".to_owned(), "0000".to_owned()]);
                let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
                let [by_git, ours] = sent_by_both(&server, &lines);
                assert_eq!(ours, by_git, "{tags:?}, commits: {with_commits}, {filter}");
            }
        }
    }
    // Git does not send a tree that the client names by its id if a commit has it, so the fetch fails.
    let (root, tip) = (format!("want {}", id("HEAD^{tree}")), format!("want {}", id("HEAD")));
    let lines = ["command=fetch", "0001", &root, &tip, "filter tree:0", "done", "0000"];
    let [by_git, ours] = sent_by_both(&server, &lines);
    let more: Vec<_> = ours.difference(&by_git).map(String::as_str).collect();
    assert_eq!(more, [format!("{} tree", &root[5..])]);
}
