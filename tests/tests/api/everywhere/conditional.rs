//! Conditional requests and gzip. A response that the client already has is not sent again; a changed one always is.
//! The clock of these servers does not move, so all changes have the same time.

use std::io::Read;

use hexforge_tests::damage::Damage;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Request, Response, on_every_store};
use serde_json::Value;

use crate::api::groups::group_support::new_project;
use crate::api::repositories::repository_support::Repo;
use crate::api::support::{id_of, message};

on_every_store!(
    unchanged_responses_are_304,
    changes_at_the_same_time_change_the_etag,
    a_changed_total_changes_the_etag_of_a_page,
    an_etag_of_one_user_is_not_valid_for_another,
    etags_of_content_depend_on_the_commit,
    a_304_reads_no_objects,
    a_branch_that_moves_back_has_its_old_etag,
    long_json_is_compressed_for_clients_that_accept_gzip,
);

const REVALIDATE: &str = "max-age=0, private, must-revalidate";

#[track_caller]
fn etag_of(answer: &Response) -> String {
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    answer.header("ETag").expect("what can be read has a name").to_owned()
}

fn send_if_none_match(request: Request, tag: &str) -> Response {
    request.header("If-None-Match", tag).send()
}

#[track_caller]
fn assert_not_modified(answer: &Response, tag: &str) {
    assert_eq!(answer.status, 304);
    assert_eq!(answer.body, b"");
    assert_eq!(answer.header("ETag"), Some(tag));
    assert_eq!(answer.header("Content-Type"), None);
}

fn unchanged_responses_are_304(forge: &Forge) {
    let ship = format!("/projects/{}", id_of(&new_project(forge, ROOT, "ship", &[])));
    for path in ["/user", "/users/1", "/users", &ship, "/projects", "/version"] {
        let first = forge.get(path).token(ROOT).send();
        let tag = etag_of(&first);
        assert!(tag.starts_with("W/\"") && tag.len() == 36, "{tag}");
        assert_eq!(first.header("Cache-Control"), Some(REVALIDATE));
        let again = send_if_none_match(forge.get(path).token(ROOT), &tag);
        assert_not_modified(&again, &tag);
        assert_eq!(again.header("Cache-Control"), Some(REVALIDATE));
        assert_eq!(again.header("X-Total"), first.header("X-Total"));
        assert_not_modified(
            &send_if_none_match(forge.request("HEAD", path).token(ROOT), &tag),
            &tag,
        );
        assert_not_modified(&send_if_none_match(forge.get(path).token(ROOT), "*"), &tag);
        let several = format!("\"other\", {}", tag.trim_start_matches("W/"));
        assert_not_modified(&send_if_none_match(forge.get(path).token(ROOT), &several), &tag);
        assert_eq!(send_if_none_match(forge.get(path).token(ROOT), "W/\"other\"").body, first.body);
    }
    // Only successful reads have an ETag.
    let wanted = forge.post("/projects").token(ROOT).form(&[("name", "boat")]);
    let made = wanted.header("If-None-Match", "*").send();
    assert_eq!((made.status, made.header("ETag")), (201, None));
    let missing = send_if_none_match(forge.get("/projects/987654").token(ROOT), "*");
    assert_eq!((missing.status, missing.header("ETag")), (404, None));
}

/// Parameters of a change.
type Form = &'static [(&'static str, &'static str)];

fn changes_at_the_same_time_change_the_etag(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let project = id_of(&new_project(forge, &token, "ship", &[]));
    let ship = format!("/projects/{project}");
    let changes: [(&str, String, Form); 5] = [
        ("PUT", format!("/users/{ada}"), &[("bio", "countess")]),
        ("PUT", format!("/users/{ada}"), &[("bio", "analyst")]),
        ("POST", format!("{ship}/star"), &[]),
        ("PUT", ship.clone(), &[("name", "Ship"), ("description", "afloat")]),
        ("POST", format!("{ship}/issues"), &[("title", "It leaks")]),
    ];
    let paths = [format!("/users/{ada}"), ship.clone(), "/projects/owned".to_owned()];
    for (method, path, form) in changes {
        let read = |path: &String| forge.get(path).token(&token).send();
        let before: Vec<Response> = paths.iter().map(read).collect();
        forge.request(method, &path).token(ROOT).form(form).send();
        let mut told = 0;
        for (path, before) in paths.iter().zip(before) {
            let now = read(path);
            let answer = send_if_none_match(forge.get(path).token(&token), &etag_of(&before));
            match now.body == before.body {
                true => assert_not_modified(&answer, &etag_of(&before)),
                false => {
                    told += 1;
                    assert_eq!((answer.status, &answer.body), (200, &now.body), "{path}");
                }
            }
        }
        assert!(told > 0, "{method} {path} changes something");
    }
}

fn a_changed_total_changes_the_etag_of_a_page(forge: &Forge) {
    let first_page = || forge.get("/users?per_page=1&page=2").token(ROOT);
    forge.new_user("ada", &[]);
    let before = first_page().send();
    forge.new_user("bob", &[]);
    let after = first_page().send();
    let shown = |answer: &Response| answer.header("X-Total").map(str::to_owned);
    assert_ne!(shown(&before), shown(&after));
    assert_eq!(send_if_none_match(first_page(), &etag_of(&before)).status, 200);
}

fn an_etag_of_one_user_is_not_valid_for_another(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (bob_id, bob) = forge.user("bob");
    let project = id_of(&new_project(forge, &ada, "ship", &[]));
    let path = format!("/projects/{project}");
    let tag = etag_of(&forge.get(&path).token(&ada).send());
    let hidden = send_if_none_match(forge.get(&path).token(&bob), &tag);
    assert_eq!(hidden.expect(404), message("404 Project Not Found"));
    assert_eq!(send_if_none_match(forge.get(&path), &tag).expect(401), message("401 Unauthorized"));
    // Another user sees different fields, which is a different response.
    assert_eq!(send_if_none_match(forge.get(&path).token(ROOT), &tag).status, 200);
    let tag = etag_of(&forge.get("/user").token(&bob).send());
    forge.put(&format!("/users/{bob_id}/block")).token(ROOT).send().expect(200);
    assert_eq!(send_if_none_match(forge.get("/user").token(&bob), &tag).status, 401);
}

const CONTENT: [(&str, &[(&str, &str)]); 7] = [
    ("tree", &[]),
    ("tree", &[("ref_name", "master"), ("recursive", "true"), ("per_page", "1")]),
    ("blobs/master", &[("filepath", "a.txt")]),
    ("archive.tar", &[]),
    ("archive.zip", &[("sha", "master")]),
    ("compare", &[("from", "first"), ("to", "master")]),
    ("contributors", &[]),
];

fn filled_repository(forge: &Forge) -> Repo<'_> {
    let repo = Repo::new(forge);
    repo.tree.write("a.txt", "a\n").write("b.txt", "b\n").commit("Begin");
    repo.tree.git(&["tag", "first"]);
    repo.tree.write("a.txt", "aa\n").commit("Go on");
    repo.fill();
    repo
}

fn etags_of_content_depend_on_the_commit(forge: &Forge) {
    let repo = filled_repository(forge);
    let mut tags = Vec::new();
    for (call, query) in CONTENT {
        let tag = etag_of(&repo.get(call, query));
        assert_not_modified(&send_if_none_match(repo.ask(call).query(query), &tag), &tag);
        let unknown = send_if_none_match(repo.ask(call).query(query), "*, \"other\"");
        assert_eq!(unknown.status, if call.starts_with("archive") { 200 } else { unknown.status });
        tags.push(tag);
    }
    repo.tree.write("a.txt", "aaa\n").write("c.txt", "c\n").commit("End");
    repo.fill();
    for ((call, query), tag) in CONTENT.into_iter().zip(tags) {
        let news = send_if_none_match(repo.ask(call).query(query), &tag);
        assert_eq!(news.status, 200, "{call}");
        assert_ne!(etag_of(&news), tag, "{call}");
    }
    // The content depends on a name: the folder in an archive.
    let tag = etag_of(&repo.get("archive.tar", &[]));
    let path = format!("/projects/{}", repo.project);
    let form = [("name", "shop"), ("path", "store")];
    forge.put(&path).token(ROOT).form(&form).send().expect(200);
    assert_eq!(send_if_none_match(repo.ask("archive.tar"), &tag).status, 200);
    // The caller has lost the permission.
    let (_, eve) = forge.user("eve");
    let tree = forge.get(&format!("{path}/repository/tree")).token(&eve);
    let tag = etag_of(&repo.get("tree", &[]));
    assert_eq!(send_if_none_match(tree, &tag).status, 404);
}

/// GET /projects/:id/repository/tree: the ref is enough for a 304, so the objects may be missing.
fn a_304_reads_no_objects(forge: &Forge) {
    forge.pin_to_first_server();
    let repo = filled_repository(forge);
    let tag = etag_of(&repo.get("tree", &[]));
    repo.tree.damage("HEAD^{tree}", Damage::Garbage);
    assert_not_modified(&send_if_none_match(repo.ask("tree"), &tag), &tag);
    assert_ne!(repo.get("tree", &[]).status, 200);
}

fn a_branch_that_moves_back_has_its_old_etag(forge: &Forge) {
    let repo = filled_repository(forge);
    let second = repo.get("tree", &[]);
    repo.tree.git(&["update-ref", "refs/heads/other", "first"]);
    repo.fill();
    repo.tree.git_bare(&["update-ref", "refs/heads/master", "first"]);
    let first = send_if_none_match(repo.ask("tree"), &etag_of(&second));
    assert_eq!(first.status, 200);
    repo.tree.git_bare(&[
        "update-ref",
        "refs/heads/master",
        repo.tree.git(&["rev-parse", "master"]).trim(),
    ]);
    assert_not_modified(
        &send_if_none_match(repo.ask("tree"), &etag_of(&second)),
        &etag_of(&second),
    );
    assert_eq!(send_if_none_match(repo.ask("tree"), &etag_of(&first)).body, second.body);
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).expect("gzip");
    plain
}

fn long_json_is_compressed_for_clients_that_accept_gzip(forge: &Forge) {
    let repo = filled_repository(forge);
    let long = "/projects";
    let plain = forge.get(long).token(ROOT).send();
    assert!(plain.body.len() > 1024);
    assert_eq!(plain.header("Content-Encoding"), None);
    assert!(plain.header("Vary").is_some_and(|vary| vary.contains("accept-encoding")));
    let ask = |path: &str| forge.get(path).token(ROOT).header("Accept-Encoding", "br, gzip");
    let packed = ask(long).send();
    assert_eq!(packed.header("Content-Encoding"), Some("gzip"));
    assert!(packed.body.len() < plain.body.len());
    assert_eq!(gunzip(&packed.body), plain.body);
    // Both encodings have the same ETag.
    assert_eq!(etag_of(&packed), etag_of(&plain));
    assert_not_modified(&send_if_none_match(ask(long), &etag_of(&packed)), &etag_of(&plain));
    let refused = forge.get(long).token(ROOT).header("Accept-Encoding", "gzip;q=0").send();
    assert_eq!(refused.body, plain.body);
    // Short bodies, files and archives are not compressed.
    assert_eq!(ask("/version").send().header("Content-Encoding"), None);
    repo.tree.write("long.txt", "text ".repeat(1000)).commit("Write much");
    repo.fill();
    let path = format!("/projects/{}/repository", repo.project);
    for file in ["blobs/master?filepath=long.txt", "archive.tar"] {
        assert_eq!(
            ask(&format!("{path}/{file}")).send().header("Content-Encoding"),
            None,
            "{file}"
        );
    }
    // A list that is too long to be compressed in one step.
    for n in 0..900 {
        repo.tree.write(&format!("folder/a-file-with-a-long-name-{n}.txt"), "");
    }
    repo.tree.commit("Write many");
    repo.fill();
    let tree = format!("{path}/tree?path=folder");
    let packed = ask(&tree).send();
    assert_eq!(packed.header("Content-Encoding"), Some("gzip"));
    let entries: Value = serde_json::from_slice(&gunzip(&packed.body)).expect("JSON");
    assert_eq!(entries.as_array().map(Vec::len), Some(900));
}
