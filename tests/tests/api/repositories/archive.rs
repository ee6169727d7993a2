//! GET /projects/:id/repository/archive: reference section 4.4. The content of archives is tested elsewhere.

use hexforge_tests::client::exchange;
use hexforge_tests::damage::Damage;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Response, on_every_store};
use serde_json::{Value, json};

use crate::api::repositories::repository_support::{
    NO_REVISIONS, Repo, assert_for_readers_of_code,
};
use crate::api::support::{message, no_route};

on_every_store!(
    the_path_tells_the_format,
    names_tell_project_revision_and_commit,
    unknown_revisions_have_no_archive,
    readers_of_code_may_take_archives,
    damage_breaks_an_archive_and_nothing_else,
);

fn no_file() -> Value {
    message("404 File Not Found")
}

fn filled(forge: &Forge) -> (Repo<'_>, String) {
    let repo = Repo::new(forge);
    let commit = repo.tree.write("a.txt", "a\n").commit("Begin");
    repo.fill();
    (repo, commit)
}

#[track_caller]
fn assert_archive(answer: &Response, content_type: &str, name: &str) {
    assert_eq!(answer.status, 200, "{name}");
    assert_eq!(answer.header("Content-Type"), Some(content_type), "{name}");
    let disposition = format!("attachment; filename=\"{name}\"");
    assert_eq!(answer.header("Content-Disposition"), Some(disposition.as_str()));
    assert_eq!(answer.header("Content-Transfer-Encoding"), Some("binary"), "{name}");
    assert_eq!(answer.header("Cache-Control"), Some("private"), "{name}");
}

fn the_path_tells_the_format(forge: &Forge) {
    let (repo, commit) = filled(forge);
    let octets = "application/octet-stream";
    for (path, extension, content_type) in [
        ("archive", "tar.gz", octets),
        ("archive/", "tar.gz", octets),
        ("archive.tar.gz", "tar.gz", octets),
        ("archive.tgz", "tar.gz", octets),
        ("archive.gz", "tar.gz", octets),
        ("archive.zip", "zip", "application/zip"),
        ("archive.tar", "tar", octets),
        ("archive.tar.bz2", "tar.bz2", octets),
        ("archive.tbz", "tar.bz2", octets),
        ("archive.tbz2", "tar.bz2", octets),
        ("archive.tb2", "tar.bz2", octets),
        ("archive.bz2", "tar.bz2", octets),
    ] {
        let name = format!("shop-master-{commit}.{extension}");
        assert_archive(&repo.get(path, &[]), content_type, &name);
        let target = format!("/projects/{}/repository/{path}", repo.project);
        let head = forge.request("HEAD", &target).token(ROOT).send();
        assert_archive(&head, content_type, &name);
        assert_eq!(head.body, b"");
    }
    for path in [
        "archive.",
        "archive.rar",
        "archive.TAR.GZ",
        "archive.tar.xz",
        "archive.zip.gz",
        "archive.tar/x",
        "archive/x",
        "archives",
        "archive.%2E",
        "archive.zip%00",
    ] {
        assert_eq!(repo.get(path, &[]).expect(404), no_route(), "{path}");
        let anonymous = forge.get(&format!("/projects/{}/repository/{path}", repo.project)).send();
        assert_eq!(anonymous.expect(404), no_route(), "{path}");
    }
}

fn names_tell_project_revision_and_commit(forge: &Forge) {
    let (repo, first) = filled(forge);
    repo.tree.git(&["tag", "v1.0.0"]);
    repo.tree.git(&["tag", "-a", "-m", "Noted", "noted"]);
    repo.tree.git(&["branch", "feature/x/y"]);
    repo.tree.git(&["branch", "größe"]);
    repo.tree.git(&["update-ref", "refs/heads/quo\"te", "HEAD"]);
    let second = repo.tree.write("b", "b").commit("Go on");
    repo.fill();
    let short = &first[..8];
    for (sha, named, commit) in [
        ("", "master", &second),
        (" master ", "master", &second),
        ("HEAD", "HEAD", &second),
        (&second, &second, &second),
        (short, short, &first),
        ("master~1", "master~1", &first),
        ("v1.0.0", "v1.0.0", &first),
        ("noted", "noted", &first),
        ("feature/x/y", "feature-x-y", &first),
        ("refs/heads/master", "refs-heads-master", &second),
        ("quo\"te", "quo-te", &first),
        ("größe", "größe", &first),
    ] {
        let name = format!("shop-{named}-{commit}");
        let answer = repo.get("archive", &[("sha", sha)]);
        assert_archive(&answer, "application/octet-stream", &format!("{name}.tar.gz"));
        let answer = repo.get("archive.zip/", &[("sha", sha)]);
        assert_archive(&answer, "application/zip", &format!("{name}.zip"));
    }
    // The default branch is that of HEAD.
    repo.tree.git_bare(&["symbolic-ref", "HEAD", "refs/heads/feature/x/y"]);
    let name = format!("shop-feature-x-y-{first}.tar");
    assert_archive(&repo.get("archive.tar", &[]), "application/octet-stream", &name);
    // The name does not depend on the spelling of the path in the request.
    let by_path = forge.get("/projects/ROOT%2FSHOP/repository/archive.tar").token(ROOT).send();
    assert_archive(&by_path, "application/octet-stream", &name);
}

fn unknown_revisions_have_no_archive(forge: &Forge) {
    let empty = Repo::new(forge);
    for query in [&[][..], &[("sha", "master")]] {
        for path in ["archive", "archive.zip", "archive.tar", "archive.tar.bz2"] {
            assert_eq!(empty.get(path, query).expect(404), no_file(), "{path}");
        }
    }
    empty.tree.write("a.txt", "a\n").commit("Begin");
    let repo = empty.fill();
    for revision in NO_REVISIONS {
        let answer = repo.get("archive", &[("sha", revision)]);
        assert_eq!(answer.expect(404), no_file(), "{revision}");
    }
    let blob = repo.tree.git(&["rev-parse", "HEAD:a.txt"]);
    assert_eq!(repo.get("archive.zip", &[("sha", &blob)]).expect(404), no_file());
    let nul = repo.get("archive", &[("sha", "a\0b")]).expect(400);
    assert_eq!(nul, json!({"error": "sha is invalid"}));
}

fn readers_of_code_may_take_archives(forge: &Forge) {
    assert_for_readers_of_code(forge, "archive", "archive.zip?sha=a%00b");
}

/// A response that has started cannot become an error, so the connection ends without the last chunk.
fn damage_breaks_an_archive_and_nothing_else(forge: &Forge) {
    let (repo, first) = filled(forge);
    repo.tree.write("z.txt", "z\n").commit("Go on");
    repo.fill();
    repo.tree.damage("HEAD:z.txt", Damage::Missing);
    let ends = |bytes: &[u8]| bytes.ends_with(b"\r\n0\r\n\r\n");
    for format in ["tar", "tar.gz", "tar.bz2", "zip"] {
        // The second request does not find a partial archive in the cache.
        for _ in 0..2 {
            let request = format!(
                "GET /api/v3/projects/{}/repository/archive.{format} HTTP/1.1\r\nHost: x\r\n\
                 PRIVATE-TOKEN: {ROOT}\r\nConnection: close\r\n\r\n",
                repo.project
            );
            assert!(!ends(&exchange(forge.address, request.as_bytes())), "{format}");
        }
        let whole = repo.get(&format!("archive.{format}"), &[("sha", &first)]);
        assert!(whole.status == 200 && ends(&whole.body), "{format}");
    }
    assert_eq!(repo.get("tree", &[]).status, 200);
}
