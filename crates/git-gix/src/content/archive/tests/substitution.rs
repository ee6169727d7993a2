//! Tests of placeholders in files.

use super::*;

const FORMATS: &str = "\
    names: $Format:%H %T %P|%h %t %p$\n\
    author: $Format:%an <%ae> %at|%ad|%aD|%ai|%aI$\n\
    committer: $Format:%cn <%ce> %ct|%cd|%cD|%ci|%cI$\n\
    message: $Format:%s|%b|%B$\n\
    refs: $Format:%d|%D$\n\
    others: $Format:%n%%H %zz 100%, %a %(x)$ $Format:$ $Format:%$ $Id$\n\
    lines: $Format:%H\n%h$ open: $Format:%H";

fn repository() -> (Sandbox, ObjectId) {
    let sandbox = Sandbox::new();
    sandbox.file(".gitattributes", "version export-subst\n");
    sandbox.commit("First");
    sandbox.file("version", FORMATS);
    sandbox.file("untouched", FORMATS);
    let commit = sandbox.commit("\nA subject \nin two lines\n\n\nThe body\n\nhas more.\n\n");
    (sandbox, commit)
}

#[test]
fn placeholders_are_replaced_as_in_git() {
    let (sandbox, commit) = repository();
    same_as_git(&sandbox, commit);
    sandbox.git(&["branch", "other"]);
    sandbox.git(&["branch", "feature/x"]);
    sandbox.git(&["tag", "v1"]);
    sandbox.git(&["tag", "-a", "-m", "x", "v2"]);
    same_as_git(&sandbox, commit);
    sandbox.git(&["checkout", "--quiet", "-b", "elsewhere"]);
    sandbox.commit("Go on");
    same_as_git(&sandbox, commit);
}

#[test]
fn merges_name_all_parents() {
    let (sandbox, _) = repository();
    sandbox.git(&["checkout", "--quiet", "-b", "side", "HEAD~1"]);
    sandbox.commit("Aside");
    sandbox.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "master"]);
    let commit = ObjectId::parse(&sandbox.line(&["rev-parse", "HEAD"])).expect("a name");
    same_as_git(&sandbox, commit);
}

#[test]
fn only_what_the_commit_says_lasts() {
    let sandbox = Sandbox::new();
    sandbox.file(".gitattributes", "version export-subst\n");
    for (format, cacheable) in [
        ("nothing", Cacheable::Yes),
        ("$Format:%H %ci$", Cacheable::Yes),
        ("$Format:%h$", Cacheable::No),
        ("$Format:%D$", Cacheable::No),
    ] {
        sandbox.file("version", format);
        let commit = sandbox.commit("Say it otherwise");
        let found = try_archive(&sandbox, commit, &mut Vec::new()).expect("an archive");
        assert_eq!(found, cacheable, "{format}");
    }
}

#[test]
fn a_file_does_not_grow_without_end() {
    let sandbox = Sandbox::new();
    sandbox.file(".gitattributes", "version export-subst\n");
    sandbox.file("version", "$Format:%B$".repeat(10_000));
    let commit = sandbox.commit(&"long ".repeat(20_000));
    let archive = sandbox.archive(commit, ArchiveFormat::Tar);
    assert!(archive.len() < 10 << 20, "{} bytes", archive.len());
}
