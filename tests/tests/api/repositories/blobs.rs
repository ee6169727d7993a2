//! GET /projects/:id/repository/blobs/:sha, GET /projects/:id/repository/commits/:sha/blob and
//! GET /projects/:id/repository/raw_blobs/:sha: reference sections 4.2 and 4.3.

use std::io::Write;

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::Value;

use crate::api::projects::project_support::not_given;
use crate::api::repositories::repository_support::{
    NO_REVISIONS, Repo, assert_for_readers_of_code,
};
use crate::api::support::{message, no_route};

on_every_store!(
    files_come_byte_by_byte,
    paths_that_name_no_file,
    any_kind_of_revision_is_accepted,
    the_path_is_asked_for_before_the_revision,
    contents_are_found_by_name,
    unknown_blob_ids_are_404,
    an_empty_repository_has_neither,
    readers_of_code_may_read_files,
    readers_of_code_may_read_contents,
);

fn no_file() -> Value {
    message("404 File Not Found")
}

fn no_commit() -> Value {
    message("404 Commit Not Found")
}

fn no_blob() -> Value {
    message("404 Blob Not Found")
}

/// Files of different kinds.
const FILES: [(&str, &[u8]); 7] = [
    ("text", b"one\ntwo\n"),
    ("empty", b""),
    ("crlf", b"one\r\ntwo\r\n"),
    ("latin", b"sch\xf6n\n"),
    ("binary", b"\0\x01\x02\xff\xfe\0"),
    ("page.html", b"<script>alert(1)</script>"),
    ("folder/file", b"inside"),
];

fn filled(forge: &Forge) -> Repo<'_> {
    let repo = Repo::new(forge);
    for (path, content) in FILES {
        repo.tree.write(path, content);
    }
    let link = repo.tree.path().join("link");
    std::os::unix::fs::symlink("folder/file", link).expect("links can be made");
    repo.tree.git(&["add", "-A"]);
    let other = "160000,1234567890123456789012345678901234567890,module";
    repo.tree.git(&["update-index", "--add", "--cacheinfo", other]);
    repo.tree.git(&["commit", "-q", "-m", "Begin"]);
    repo.fill();
    repo
}

fn files_come_byte_by_byte(forge: &Forge) {
    let repo = filled(forge);
    let files = FILES.iter().copied().chain([("link", &b"folder/file"[..])]);
    for (path, content) in files {
        let id = repo.tree.git(&["rev-parse", &format!("HEAD:{path}")]);
        let slashed = format!("/{path}");
        for (call, query) in [
            ("blobs/master", &[("filepath", path)][..]),
            ("blobs/master", &[("filepath", slashed.as_str())]),
            ("commits/master/blob", &[("filepath", path)]),
            (&format!("raw_blobs/{id}"), &[]),
        ] {
            let answer = repo.get(call, query);
            assert_eq!((answer.status, answer.body.as_slice()), (200, content), "{call} {path}");
            assert_eq!(answer.header("Content-Type"), Some("text/plain"), "{call} {path}");
            assert_eq!(answer.header("X-Content-Type-Options"), Some("nosniff"), "{call} {path}");
            let length = content.len().to_string();
            assert_eq!(answer.header("Content-Length"), Some(length.as_str()), "{call} {path}");

            let target = format!("/projects/{}/repository/{call}", repo.project);
            let head = forge.request("HEAD", &target).token(ROOT).query(query).send();
            assert_eq!((head.status, head.body.len()), (200, 0), "{call} {path}");
            assert_eq!(head.header("Content-Type"), Some("text/plain"), "{call} {path}");
            assert_eq!(head.header("Content-Length"), Some(length.as_str()), "{call} {path}");
        }
    }
}

fn paths_that_name_no_file(forge: &Forge) {
    let repo = filled(forge);
    for path in [
        "missing",
        "folder",
        "folder/",
        "module",
        "module/file",
        "text/",
        "text/x",
        "link/x",
        "/",
        "//",
        "..",
        "../text",
        "folder/../text",
        "./text",
        "folder//file",
        "TEXT",
        "text\n",
        "*",
        "../../../../../etc/passwd",
        "/etc/passwd",
    ] {
        for call in ["blobs/master", "commits/master/blob"] {
            let answer = repo.get(call, &[("filepath", path)]);
            assert_eq!((answer.status, path), (404, path));
            assert_eq!(answer.json(), no_file(), "{path}");
        }
    }
    let nul = repo.get("blobs/master", &[("filepath", "te\0xt")]).expect(400);
    assert_eq!(nul, serde_json::json!({"error": "filepath is invalid"}));
}

fn any_kind_of_revision_is_accepted(forge: &Forge) {
    let repo = filled(forge);
    let first = repo.tree.git(&["rev-parse", "HEAD"]);
    repo.tree.git(&["tag", "v1.0.0"]);
    repo.tree.git(&["tag", "-a", "-m", "Noted", "noted"]);
    repo.tree.git(&["branch", "feature/x"]);
    repo.tree.write("text", "changed\n").commit("Go on");
    repo.fill();
    for revision in [
        &first[..],
        &first[..8],
        "v1.0.0",
        "noted",
        "master~1",
        "master%5E",
        "feature%2Fx",
        "HEAD~1",
        "refs%2Ftags%2Fv1.0.0",
    ] {
        let answer = repo.get(&format!("blobs/{revision}"), &[("filepath", "text")]);
        assert_eq!((answer.status, answer.text()), (200, "one\ntwo\n"), "{revision}");
    }
    assert_eq!(repo.get("blobs/master", &[("filepath", "text")]).text(), "changed\n");
    for revision in NO_REVISIONS {
        let encoded: String = revision.bytes().map(|byte| format!("%{byte:02X}")).collect();
        // The name is percent-encoded, because a plain `..` would be resolved as a path segment.
        let answer = repo.get(&format!("blobs/{encoded}"), &[("filepath", "text")]);
        assert_eq!(answer.expect(404), no_commit(), "{revision}");
    }
    // The name is a single path segment.
    let split = repo.get("blobs/feature/x", &[("filepath", "text")]);
    assert_eq!(split.expect(404), no_route());
    // Names of objects that are not commits.
    for object in ["HEAD:text", "HEAD:folder", "HEAD^{tree}"] {
        let id = repo.tree.git(&["rev-parse", object]);
        let answer = repo.get(&format!("blobs/{id}"), &[("filepath", "text")]);
        assert_eq!(answer.expect(404), no_commit(), "{object}");
    }
}

fn the_path_is_asked_for_before_the_revision(forge: &Forge) {
    let repo = filled(forge);
    for call in ["blobs/master", "blobs/missing", "commits/missing/blob"] {
        for query in [&[][..], &[("filepath", "")], &[("filepath", " ")]] {
            assert_eq!(repo.get(call, query).expect(400), not_given("filepath"), "{call}");
        }
    }
    let answer = repo.get("blobs/missing", &[("filepath", "missing")]);
    assert_eq!(answer.expect(404), no_commit());
}

fn contents_are_found_by_name(forge: &Forge) {
    let repo = filled(forge);
    let id = repo.tree.git(&["rev-parse", "HEAD:text"]);
    for name in [&id[..], &id[..7], &id.to_uppercase(), &id[..39]] {
        assert_eq!(repo.get(&format!("raw_blobs/{name}"), &[]).text(), "one\ntwo\n", "{name}");
    }
    // Objects are found whether or not a ref leads to them, and also in packs.
    let file = repo.tree.path().join("loose");
    std::fs::write(&file, "nobody's\n").expect("the file can be written");
    let lost = repo.tree.git_bare(&["hash-object", "-w", &file.to_string_lossy()]);
    assert_eq!(repo.get(&format!("raw_blobs/{lost}"), &[]).text(), "nobody's\n");
    repo.tree.git_bare(&["repack", "-q", "-a", "-d"]);
    assert_eq!(repo.get(&format!("raw_blobs/{id}"), &[]).text(), "one\ntwo\n");
    assert_eq!(repo.get("blobs/master", &[("filepath", "text")]).text(), "one\ntwo\n");
}

fn unknown_blob_ids_are_404(forge: &Forge) {
    forge.pin_to_first_server();
    let repo = filled(forge);
    let named = |object: &str| repo.tree.git(&["rev-parse", object]);
    let id = named("HEAD:text");
    let (shared, twins) = ambiguous(&repo);
    for name in [
        named("HEAD"),
        named("HEAD^{tree}"),
        named("HEAD:folder"),
        named("HEAD:module"),
        "master".to_owned(),
        "text".to_owned(),
        "HEAD".to_owned(),
        "f".repeat(40),
        "0".repeat(40),
        format!("{id}0"),
        id[..3].to_owned(),
        id[..6].to_owned(),
        format!("{}g", &id[..10]),
        "-x".to_owned(),
        "%00".to_owned(),
        "..%2F..%2FHEAD".to_owned(),
        shared.clone(),
    ] {
        let answer = repo.get(&format!("raw_blobs/{name}"), &[]);
        assert_eq!(answer.expect(404), no_blob(), "{name}");
    }
    // Longer prefixes are unique.
    for twin in twins {
        let longer = &twin[..shared.len() + 8];
        assert_eq!(repo.get(&format!("raw_blobs/{longer}"), &[]).status, 200, "{longer}");
    }
}

/// Creates blobs until two ids have the same prefix. Returns the prefix and both ids.
fn ambiguous(repo: &Repo<'_>) -> (String, [String; 2]) {
    let folder = repo.tree.path().join("twins");
    std::fs::create_dir(&folder).expect("the folder can be made");
    let mut paths = String::new();
    for number in 0..2000 {
        let path = folder.join(number.to_string());
        std::fs::write(&path, number.to_string()).expect("the file can be written");
        paths.push_str(&format!("{}\n", path.display()));
    }
    let bare = repo.tree.bare().to_string_lossy().into_owned();
    let mut git = repo
        .tree
        .command(&["--git-dir", &bare, "hash-object", "-w", "--stdin-paths"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("git can be started");
    git.stdin.take().expect("piped").write_all(paths.as_bytes()).expect("git reads");
    let output = git.wait_with_output().expect("git ends");
    let text = String::from_utf8(output.stdout).expect("names are text");
    let mut ids: Vec<String> = text.lines().map(str::to_owned).collect();
    ids.sort();
    let twins = ids.windows(2).find(|pair| pair[0][..4] == pair[1][..4]);
    let twins = twins.expect("of 2000 names two begin with the same four digits");
    (twins[0][..4].to_owned(), [twins[0].clone(), twins[1].clone()])
}

fn an_empty_repository_has_neither(forge: &Forge) {
    let repo = Repo::new(forge);
    let file = repo.get("blobs/master", &[("filepath", "x")]);
    assert_eq!(file.expect(404), no_commit());
    assert_eq!(repo.get("blobs/master", &[]).expect(400), not_given("filepath"));
    let name = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
    assert_eq!(repo.get(&format!("raw_blobs/{name}"), &[]).expect(404), no_blob());
}

fn readers_of_code_may_read_files(forge: &Forge) {
    assert_for_readers_of_code(forge, "blobs/master?filepath=a.txt", "blobs/missing");
}

fn readers_of_code_may_read_contents(forge: &Forge) {
    // The id of the content of a.txt.
    let call = "raw_blobs/78981922613b2afb6025042ff6bd878ac1994e85";
    assert_for_readers_of_code(forge, call, "raw_blobs/missing");
}
