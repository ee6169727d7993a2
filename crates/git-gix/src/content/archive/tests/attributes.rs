//! Tests of `.gitattributes` in archives.

use super::*;

#[test]
fn rules_leave_out_what_they_say() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".gitattributes",
        "[attr]hidden export-ignore\n\
         # A comment.\n\
         *.key export-ignore\n\
         secret export-ignore\n\
         build/ export-ignore\n\
         /top-only export-ignore\n\
         docs/** export-ignore\n\
         nest/deep export-ignore\n\
         \"with space\" export-ignore\n\
         value export-ignore=yes\n\
         unset -export-ignore\n\
         again.key -export-ignore\n\
         unspecified.key !export-ignore\n\
         *.macro hidden\n\
         modules/hidden export-ignore\n\
         mo*/folder/ export-ignore\n\
         a/**/z export-ignore\n",
    );
    for path in [
        "a.key",
        "sub/b.key",
        "again.key",
        "unspecified.key",
        "secret",
        "only/secret",
        "build/out/file",
        "sub/build/file",
        "file/build",
        "top-only",
        "sub/top-only",
        "docs/a",
        "docs/b/c",
        "nest/deep/file",
        "with space",
        "value",
        "unset",
        "x.macro",
        "a/b/c/z/file",
        "a/z",
        "nested/kept.key",
        "nested/more/file.txt",
        "nested/more/other.txt",
        "nested/x.other",
    ] {
        sandbox.file(path, path);
    }
    sandbox.file(
        "nested/.gitattributes",
        "[attr]other export-ignore\n*.other other\n*.key -export-ignore\nmore/file.txt export-ignore\n/other.txt export-ignore\n",
    );
    sandbox.file("nested/more/.gitattributes", "/other.txt export-ignore\n");
    sandbox.git(&["add", "--all"]);
    for module in ["hidden", "folder", "shown"] {
        let submodule = format!("160000,{},modules/{module}", "1".repeat(40));
        sandbox.git(&["update-index", "--add", "--cacheinfo", &submodule]);
    }
    sandbox.git(&["commit", "--quiet", "-m", "Rules"]);
    let commit = ObjectId::parse(&sandbox.line(&["rev-parse", "HEAD"])).expect("a name");
    same_as_git(&sandbox, commit);
    let listing = listing(&sandbox.archive(commit, ArchiveFormat::Tar)).join("\n");
    assert!(listing.contains("/nested/kept.key"), "{listing}");
    assert!(!listing.contains("/x.macro"), "{listing}");
}

#[test]
fn everything_can_be_left_out() {
    let sandbox = Sandbox::new();
    sandbox.file(".gitattributes", "* export-ignore\n");
    sandbox.file("a/b", "c");
    let commit = sandbox.commit("Hide");
    same_as_git(&sandbox, commit);
}

#[test]
fn files_are_as_in_a_working_tree() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "core.autocrlf", "false"]);
    sandbox.file("crlf.txt", "one\ntwo\n");
    sandbox.file("auto.txt", "one\ntwo\n");
    sandbox.file("auto.bin", b"one\n\0two\n");
    sandbox.file("text.c", "one\ntwo\n");
    sandbox.file("ident.h", "$Id$\n");
    sandbox.file("latin", "gr\u{fc}n\n");
    sandbox.file(
        ".gitattributes",
        "crlf.txt text eol=crlf\n\
         auto.* text=auto eol=crlf\n\
         text.c text\n\
         ident.h ident\n\
         latin working-tree-encoding=ISO-8859-1\n",
    );
    // The attributes must not apply to the files that are added here.
    sandbox.git(&["-c", "core.attributesFile=/dev/null", "add", "--all", "--", ":!latin"]);
    let latin = sandbox.blob("gr\u{fc}n\n".as_bytes());
    let latin = format!("100644,{latin},latin");
    sandbox.git(&["update-index", "--add", "--cacheinfo", &latin]);
    sandbox.git(&["commit", "--quiet", "-m", "Rules"]);
    let commit = ObjectId::parse(&sandbox.line(&["rev-parse", "HEAD"])).expect("a name");
    same_as_git(&sandbox, commit);
}
