//! Commits with file changes.

use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::{
    ChangeError, CommitOutcome, FileChange, FileMode, MAX_FOLDERS, PathEntry, WrittenCommit,
};

use super::*;
use crate::support::Random;

fn write(path: &str, content: &str) -> FileChange {
    FileChange::Write { path: path.into(), content: content.into(), mode: None }
}

fn remove(path: &str) -> FileChange {
    FileChange::Remove { path: path.into() }
}

fn rename(from: &str, to: &str) -> FileChange {
    FileChange::Move { from: from.into(), to: to.into(), content: None }
}

fn written(outcome: Result<CommitOutcome, GitError>) -> WrittenCommit {
    match outcome.expect("it can be written") {
        CommitOutcome::Written(written) => written,
        CommitOutcome::Impossible { change, why } => panic!("change {change}: {why}"),
    }
}

/// A repository with a file of each kind.
fn world() -> (World, ObjectId) {
    let scratch = Scratch::new();
    scratch.write("README", "read me\n");
    scratch.write("src/run.sh", "#!/bin/sh\n");
    scratch.set_executable("src/run.sh", true);
    scratch.write("src/deep/only", "only\n");
    scratch.link("link", "README");
    scratch.git(&["add", "--all"]);
    scratch.submodule("module", &"1".repeat(40));
    let tip = id(&scratch.commit_index("first"));
    (World::with(&scratch), tip)
}

#[test]
fn a_commit_is_stored_byte_for_byte() {
    let (world, tip) = world();
    let text = CommitText { message: "no line end\r\n\n trailing ".into(), ..text("") };
    let outcome = world.open().write_commit(Some(tip), &[write("new/file", "a\r\nb")], &text);
    let commit = world.keep(written(outcome));
    let stored = world.git_bytes(&["cat-file", "commit", &commit], b"");
    let tree = world.git(&["rev-parse", &format!("{commit}^{{tree}}")]);
    let expected = format!(
        "tree {tree}\nparent {tip}\nauthor Ada <ada@example.com> 1479400000 +0200\n\
         committer Grace <grace@example.com> 1479400001 -0530\n\nno line end\r\n\n trailing "
    );
    assert_eq!(String::from_utf8_lossy(&stored), expected);
    assert_eq!(
        world.git_bytes(&["cat-file", "blob", &format!("{commit}:new/file")], b""),
        b"a\r\nb"
    );
    world.git(&["fsck", "--strict", "--full"]);
}

#[test]
fn the_first_commit_creates_the_repository() {
    let world = World::empty();
    let outcome =
        world.open().write_commit(None, &[write("a/b", "b"), write("c", "")], &text("first"));
    let commit = world.keep(written(outcome));
    assert_eq!(world.git(&["ls-tree", "-r", "--name-only", &commit]), "a/b\nc");
    assert_eq!(world.git(&["log", "--format=%P|%s", &commit]), "|first");
    let nothing = written(world.open().write_commit(None, &[], &text("nothing")));
    let commit = world.keep(nothing);
    assert_eq!(world.git(&["ls-tree", &commit]), "");
}

#[test]
fn modes_are_kept_and_empty_folders_removed() {
    let (world, tip) = world();
    let changes = [
        write("src/run.sh", "#!/bin/bash\n"),
        write("link", "src"),
        rename("src/deep/only", "bin/only"),
        remove("module"),
        FileChange::Write {
            path: "tool".into(),
            content: b"x".to_vec(),
            mode: Some(FileMode::Executable),
        },
        FileChange::Move {
            from: "README".into(),
            to: "README.md".into(),
            content: Some(b"new".to_vec()),
        },
    ];
    let commit = world.keep(written(world.open().write_commit(Some(tip), &changes, &text("x"))));
    let listed = world.git(&["ls-tree", "-r", "--format=%(objectmode) %(path)", &commit]);
    let expected =
        ["100644 README.md", "100644 bin/only", "120000 link", "100755 src/run.sh", "100755 tool"];
    assert_eq!(listed.lines().collect::<Vec<_>>(), expected);
    assert_eq!(world.git(&["cat-file", "blob", &format!("{commit}:README.md")]), "new");
    let all = ["README.md", "bin/only", "link", "src/run.sh", "tool"].map(remove);
    let bare = world.keep(written(world.open().write_commit(Some(id(&commit)), &all, &text("x"))));
    assert_eq!(world.git(&["ls-tree", &bare]), "");
    world.git(&["fsck", "--strict", "--full"]);
}

#[test]
fn impossible_changes_are_refused_by_number() {
    let (world, tip) = world();
    use ChangeError::{InvalidPath, NotFound, Taken};
    let cases = [
        (vec![write("src", "")], 0, Taken),
        (vec![write("README/x", "")], 0, Taken),
        (vec![write("link/x", "")], 0, Taken),
        (vec![write("module/x", "")], 0, Taken),
        (vec![write("module", "")], 0, Taken),
        (vec![remove("README"), remove("README")], 1, NotFound),
        (vec![remove("src")], 0, NotFound),
        (vec![remove("README/x")], 0, NotFound),
        (vec![rename("README", "src/run.sh")], 0, Taken),
        (vec![rename("README", "README")], 0, Taken),
        (vec![rename("module", "x")], 0, NotFound),
        (vec![write("x", ""), write("x/y", "")], 1, Taken),
    ];
    for (changes, change, why) in cases {
        let outcome = world.open().write_commit(Some(tip), &changes, &text("x"));
        assert_eq!(outcome.ok(), Some(CommitOutcome::Impossible { change, why }), "{changes:?}");
    }
    let (long, deep) = ("a/".repeat(5000), format!("{}b", "a/".repeat(MAX_FOLDERS + 1)));
    for path in [
        "",
        "/a",
        "a/",
        "a//b",
        ".",
        "a/..",
        "../x",
        ".git/config",
        "a/.GIT",
        "git~1",
        "a\0b",
        &long,
        &deep,
    ] {
        let impossible = CommitOutcome::Impossible { change: 0, why: InvalidPath };
        for change in [write(path, ""), rename("README", path)] {
            let outcome = world.open().write_commit(Some(tip), &[change], &text("x"));
            assert_eq!(outcome.ok(), Some(impossible), "{path:?}");
        }
    }
}

#[test]
fn files_that_git_interprets_are_checked_as_in_pushes() {
    let (world, tip) = world();
    let evil = "[submodule \"x\"]\n\tpath = x\n\turl = --upload-pack=evil\n";
    let good = "[submodule \"x\"]\n\tpath = x\n\turl = https://example.com/x\n";
    let link = |path: &str| FileChange::Write {
        path: path.into(),
        content: b"x".to_vec(),
        mode: Some(FileMode::Link),
    };
    for (changes, refused) in [
        (vec![write(".gitmodules", evil)], Some(0)),
        (vec![write(".gitmodules", good)], None),
        (vec![link(".gitmodules")], Some(0)),
        (vec![write("x", evil)], None),
        (vec![write("x", evil), rename("x", ".gitmodules")], Some(1)),
        (vec![write(".gitattributes", &"a".repeat(3000))], Some(0)),
    ] {
        let outcome = world.open().write_commit(Some(tip), &changes, &text("x")).expect("a parent");
        let found = match outcome {
            CommitOutcome::Written(_) => None,
            CommitOutcome::Impossible { change, why } => {
                assert_eq!(why, ChangeError::InvalidContent);
                Some(change)
            }
        };
        assert_eq!(found, refused, "{changes:?}");
    }
}

#[test]
fn forged_headers_and_missing_parents_are_refused() {
    let (world, tip) = world();
    for name in ["a\nauthor b", "a\0b", "a <b", "a>"] {
        for field in 0..4 {
            let mut text = text("x");
            let person = if field < 2 { &mut text.author } else { &mut text.committer };
            *if field % 2 == 0 { &mut person.name } else { &mut person.email } = name.into();
            let outcome = world.open().write_commit(Some(tip), &[], &text);
            assert!(matches!(outcome, Err(GitError::Invalid(_))), "{name:?}");
            let outcome = world.open().merge(tip, tip, &text);
            assert!(matches!(outcome, Err(GitError::Invalid(_))), "{name:?}");
        }
    }
    let tree = id(&world.git(&["rev-parse", &format!("{tip}^{{tree}}")]));
    for parent in [ObjectId::ZERO, tree] {
        let outcome = world.open().write_commit(Some(parent), &[], &text("x"));
        assert!(matches!(outcome, Err(GitError::Missing)));
    }
}

#[test]
fn paths_are_told_apart() {
    let (world, tip) = world();
    let repository = world.open();
    let entry = |path: &str| repository.path_entry(tip, path).expect("the commit exists");
    let blob = |path: &str| id(&world.git(&["rev-parse", &format!("{tip}:{path}")]));
    let file = |path: &str, mode| PathEntry::File { id: blob(path), mode };
    assert_eq!(entry("README"), file("README", FileMode::Plain));
    assert_eq!(entry("src/run.sh"), file("src/run.sh", FileMode::Executable));
    assert_eq!(entry("link"), file("link", FileMode::Link));
    assert_eq!(entry("module"), PathEntry::Submodule(id(&"1".repeat(40))));
    assert_eq!(entry("src/deep"), PathEntry::Folder);
    for missing in ["x", "src/x", "x/y/z", "", "src/", "src/../README", "./README", "src//run.sh"] {
        assert_eq!(entry(missing), PathEntry::Missing, "{missing:?}");
    }
    for behind in ["README/x", "src/run.sh/x/y", "link/x", "module/x"] {
        assert_eq!(entry(behind), PathEntry::BehindFile, "{behind:?}");
    }
}

#[test]
fn random_changes_give_the_tree_that_git_writes() {
    for seed in 1..=5 {
        let (world, mut tip) = world();
        let random = &mut Random::new(seed);
        for _ in 0..12 {
            let changes: Vec<FileChange> =
                (0..1 + random.below(4)).map(|_| change(random)).collect();
            let outcome = world.open().write_commit(Some(tip), &changes, &text("x"));
            let CommitOutcome::Written(commit) = outcome.expect("the parent exists") else {
                continue;
            };
            let commit = world.keep(commit);
            let tree = world.git(&["rev-parse", &format!("{commit}^{{tree}}")]);
            assert_eq!(tree, tree_by_git(&world, tip, &changes), "seed {seed}: {changes:?}");
            tip = id(&commit);
        }
        world.git(&["fsck", "--strict", "--full"]);
    }
}

fn change(random: &mut Random) -> FileChange {
    let paths = [
        "README",
        "src/a",
        "src/b/c",
        "src/b/d",
        "x/y/z",
        "link",
        "src/run.sh",
        "a-b",
        "a/b",
        "a.b",
    ];
    let path = *random.pick(&paths);
    match random.below(5) {
        0 => remove(path),
        1 => rename(path, paths[random.below(paths.len())]),
        _ => write(path, &format!("content {}\n", random.below(9))),
    }
}

/// Applies changes with git's index, and returns the tree.
fn tree_by_git(world: &World, parent: ObjectId, changes: &[FileChange]) -> String {
    world.git(&["read-tree", &parent.to_string()]);
    let staged = |path: &str| {
        let line = world.git(&["ls-files", "--stage", "--", path]);
        let mut words = line.split_whitespace();
        (words.next().unwrap_or("100644").to_owned(), words.next().unwrap_or_default().to_owned())
    };
    let forget = |path: &str| {
        let line = format!("0 {}\t{path}\n", "0".repeat(40));
        world.git_bytes(&["update-index", "--index-info"], line.as_bytes());
    };
    for change in changes {
        match change {
            FileChange::Write { path, content, .. } => {
                let blob = world.git_bytes(&["hash-object", "-w", "--stdin"], content);
                let blob = String::from_utf8_lossy(&blob).trim().to_owned();
                let entry = format!("{},{blob},{path}", staged(path).0);
                world.git(&["update-index", "--add", "--cacheinfo", &entry]);
            }
            FileChange::Remove { path } => forget(path),
            FileChange::Move { from, to, .. } => {
                let (mode, blob) = staged(from);
                forget(from);
                world.git(&[
                    "update-index",
                    "--add",
                    "--cacheinfo",
                    &format!("{mode},{blob},{to}"),
                ]);
            }
        }
    }
    world.git(&["write-tree"])
}
