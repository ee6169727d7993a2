//! GET /projects/:id/repository/tree: reference section 4.1.

use std::os::unix::ffi::OsStrExt;

use hexforge_tests::damage::Damage;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::repositories::repository_support::{
    NO_REVISIONS, Repo, assert_for_readers_of_code, column,
};
use crate::api::support::message;

on_every_store!(
    a_folder_shows_folders_then_files_then_submodules,
    recursive_shows_every_folder_before_every_file,
    paths_name_folders,
    revisions_name_commits,
    an_empty_repository_has_no_tree,
    readers_of_code_may_list,
    pages_come_when_they_are_asked_for,
    names_of_all_kinds_are_listed,
    a_damaged_object_is_a_server_error,
);

fn not_found() -> Value {
    message("404 Tree Not Found")
}

/// Fills a repository with folders, files of all modes and a submodule, with names that git does not sort
/// alphabetically.
fn filled(forge: &Forge) -> Repo<'_> {
    let repo = Repo::new(forge);
    let tree = &repo.tree;
    tree.write("README", "read me\n").write("run.sh", "#!/bin/sh\n").write("empty", "");
    tree.write("lib/a.rs", "a\n").write("lib/deep/b.rs", "b\n").write("lib.txt", "lib\n");
    tree.write("lib-x/c.rs", "c\n").write("z/y/x", "x\n");
    std::os::unix::fs::symlink("lib/a.rs", tree.path().join("link")).expect("links can be made");
    tree.git(&["add", "-A"]);
    tree.git(&["update-index", "--chmod=+x", "run.sh"]);
    let other = "1234567890123456789012345678901234567890";
    tree.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{other},a-module")]);
    tree.git(&["commit", "-q", "-m", "Begin"]);
    repo.fill();
    repo
}

/// The entries that git lists, in the three groups of the API.
fn by_git(repo: &Repo<'_>, arguments: &[&str]) -> Value {
    let listed = repo.tree.git(&[&["ls-tree", "-z"], arguments].concat());
    let mut groups: [Vec<Value>; 3] = Default::default();
    for line in listed.split('\0').filter(|line| !line.is_empty()) {
        let (head, path) = line.split_once('\t').expect("git lists with tabs");
        let head: Vec<&str> = head.split(' ').collect();
        let [mode, kind, id] = head[..] else { panic!("{line}") };
        let group = ["tree", "blob", "commit"].iter().position(|known| *known == kind);
        let name = path.rsplit('/').next();
        let entry = json!({"id": id, "name": name, "type": kind, "path": path, "mode": mode});
        groups[group.expect("one of three")].push(entry);
    }
    Value::Array(groups.concat())
}

fn a_folder_shows_folders_then_files_then_submodules(forge: &Forge) {
    let repo = filled(forge);
    let answer = repo.get("tree", &[]);
    let shown = answer.expect(200);
    assert_eq!(
        column(&shown, "path"),
        ["lib-x", "lib", "z", "README", "empty", "lib.txt", "link", "run.sh", "a-module"]
    );
    assert_eq!(
        column(&shown, "mode"),
        ["040000", "040000", "040000", "100644", "100644", "100644", "120000", "100755", "160000"]
    );
    assert_eq!(shown, by_git(&repo, &["HEAD"]));
    // Compared as text, because the fields have this order.
    let empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
    let text = format!(
        r#"{{"id":"{empty}","name":"empty","type":"blob","path":"empty","mode":"100644"}}"#
    );
    assert!(answer.text().contains(&text), "{}", answer.text());
    assert_eq!(answer.header("X-Total"), None);

    let inside = repo.get("tree", &[("path", "lib")]).expect(200);
    let folder = repo.tree.git(&["rev-parse", "HEAD:lib/deep"]);
    let file = repo.tree.git(&["rev-parse", "HEAD:lib/a.rs"]);
    assert_eq!(
        inside,
        json!([
            {"id": folder, "name": "deep", "type": "tree", "path": "lib/deep", "mode": "040000"},
            {"id": file, "name": "a.rs", "type": "blob", "path": "lib/a.rs", "mode": "100644"},
        ])
    );
}

fn recursive_shows_every_folder_before_every_file(forge: &Forge) {
    let repo = filled(forge);
    let expected = by_git(&repo, &["-r", "-t", "HEAD"]);
    assert_eq!(column(&expected, "path")[..6], ["lib-x", "lib", "lib/deep", "z", "z/y", "README"]);
    for yes in ["true", "t", "yes", "y", "1", "on", "TRUE", "Yes", "ON"] {
        assert_eq!(repo.get("tree", &[("recursive", yes)]).expect(200), expected, "{yes}");
    }
    let flat = repo.get("tree", &[]).expect(200);
    for no in ["false", "no", "0", "off", "", "maybe", "2"] {
        assert_eq!(repo.get("tree", &[("recursive", no)]).expect(200), flat, "{no}");
    }
    let below = repo.get("tree", &[("recursive", "1"), ("path", "lib")]).expect(200);
    assert_eq!(column(&below, "path"), ["lib/deep", "lib/a.rs", "lib/deep/b.rs"]);
}

fn paths_name_folders(forge: &Forge) {
    let repo = filled(forge);
    let root = repo.get("tree", &[]).expect(200);
    for path in ["", "/"] {
        assert_eq!(repo.get("tree", &[("path", path)]).expect(200), root, "{path}");
    }
    let lib = repo.get("tree", &[("path", "lib")]).expect(200);
    assert_eq!(repo.get("tree", &[("path", "lib/")]).expect(200), lib);
    for path in [
        "missing",
        "README",
        "README/",
        "README/x",
        "link",
        "a-module",
        "a-module/x",
        "/lib",
        "//",
        "lib//",
        "lib//deep",
        "..",
        "../",
        "lib/..",
        "lib/../lib",
        ".",
        "./lib",
        "LIB",
        "lib\\deep",
        "*",
        "/etc",
        "../../../../etc",
    ] {
        for recursive in ["0", "1"] {
            let query = [("path", path), ("recursive", recursive)];
            let answer = repo.get("tree", &query);
            assert_eq!((answer.status, answer.text()), (200, "[]"), "{path}");
        }
    }
    for field in ["path", "ref_name", "recursive"] {
        let nul = repo.get("tree", &[(field, "a\0b")]).expect(400);
        assert_eq!(nul, json!({"error": format!("{field} is invalid")}));
    }
}

fn revisions_name_commits(forge: &Forge) {
    let repo = filled(forge);
    let tree = &repo.tree;
    let first = tree.git(&["rev-parse", "HEAD"]);
    tree.write("second", "2\n").commit("Go on");
    tree.git(&["tag", "light", &first]);
    tree.git(&["tag", "-a", "-m", "Noted", "noted", &first]);
    tree.git(&["tag", "-a", "-m", "Twice", "twice", "noted"]);
    tree.git(&["branch", "feature/x", &first]);
    tree.git(&["branch", "both", "master"]);
    tree.git(&["tag", "both", &first]);
    tree.git(&["update-ref", "refs/heads/@x", &first]);
    repo.fill();
    let old = repo.get("tree", &[("ref_name", &first)]).expect(200);
    let new = repo.get("tree", &[]).expect(200);
    assert_ne!(old, new);
    for revision in [
        &first[..7],
        &first[..12],
        &first.to_uppercase(),
        "master~1",
        "master^",
        "master~",
        "HEAD~1",
        "light",
        "noted",
        "twice",
        "noted^{}",
        "noted^{commit}",
        "noted~0",
        "tags/light",
        "refs/tags/noted",
        "feature/x",
        "refs/heads/feature/x",
        "heads/feature/x",
        "@x",
        " light ",
        // As in git, a tag takes precedence over a branch with the same name.
        "both",
    ] {
        let answer = repo.get("tree", &[("ref_name", revision)]);
        assert_eq!(answer.status, 200, "{revision}");
        assert_eq!(answer.json(), old, "{revision}");
    }
    for revision in ["master", "HEAD", "heads/both", "master~0", "", " "] {
        assert_eq!(repo.get("tree", &[("ref_name", revision)]).expect(200), new, "{revision}");
    }
    for revision in NO_REVISIONS {
        let answer = repo.get("tree", &[("ref_name", revision)]);
        assert_eq!(answer.expect(404), not_found(), "{revision}");
    }
    // Names of objects that are not commits.
    for object in ["HEAD^{tree}", "HEAD:README", "HEAD:lib"] {
        let id = tree.git(&["rev-parse", object]);
        for name in [&id[..], &id[..10]] {
            let answer = repo.get("tree", &[("ref_name", name)]);
            assert_eq!(answer.expect(404), not_found(), "{object}");
        }
    }
    // The default is the branch of HEAD, not a tag with its name.
    tree.git_bare(&["symbolic-ref", "HEAD", "refs/heads/feature/x"]);
    assert_eq!(repo.get("tree", &[]).expect(200), old);
}

fn an_empty_repository_has_no_tree(forge: &Forge) {
    let repo = Repo::new(forge);
    // One repository was created but is empty, the other has no folder yet.
    let bare = crate::api::groups::group_support::new_project(
        forge,
        hexforge_tests::forge::ROOT,
        "bare",
        &[],
    );
    let bare = format!("/projects/{}/repository/tree", bare["id"]);
    for query in [&[][..], &[("ref_name", "master")], &[("path", "x"), ("recursive", "1")]] {
        assert_eq!(repo.get("tree", query).expect(404), not_found());
        let answer = forge.get(&bare).token(hexforge_tests::forge::ROOT).query(query).send();
        assert_eq!(answer.expect(404), not_found());
    }
}

fn readers_of_code_may_list(forge: &Forge) {
    assert_for_readers_of_code(forge, "tree", "tree?ref_name=a%00b&path[]=1");
}

fn pages_come_when_they_are_asked_for(forge: &Forge) {
    let repo = Repo::new(forge);
    for number in 0..45 {
        repo.tree.write(&format!("file-{number:02}"), "x");
    }
    repo.tree.commit("Many");
    repo.fill();
    let all = repo.get("tree", &[]);
    assert_eq!(column(&all.expect(200), "path").len(), 45);
    assert_eq!((all.header("X-Total"), all.header("Link")), (None, None));
    let page = repo.get("tree", &[("page", "3")]);
    let rest = ["file-40", "file-41", "file-42", "file-43", "file-44"];
    assert_eq!(column(&page.expect(200), "path"), rest);
    let header = |name: &str| page.header(name).map(str::to_owned);
    assert_eq!(header("X-Total").as_deref(), Some("45"));
    assert_eq!(header("X-Total-Pages").as_deref(), Some("3"));
    assert_eq!(header("X-Per-Page").as_deref(), Some("20"));
    assert_eq!(header("X-Next-Page").as_deref(), Some(""));
    let two = repo.get("tree", &[("per_page", "2")]).expect(200);
    assert_eq!(column(&two, "path"), ["file-00", "file-01"]);
    assert_eq!(repo.get("tree", &[("page", "9")]).expect(200), json!([]));
}

fn names_of_all_kinds_are_listed(forge: &Forge) {
    let repo = Repo::new(forge);
    let tree = &repo.tree;
    for name in ["größe", "a b", "quo\"te", "new\nline", "tab\t", "-x", "日本", "back\\slash"] {
        tree.write(name, "x");
    }
    let raw = std::ffi::OsStr::from_bytes(b"raw-\xff\xfe");
    std::fs::write(tree.path().join(raw), "raw").expect("the disk takes any name");
    tree.commit("Names");
    repo.fill();
    let shown = repo.get("tree", &[]).expect(200);
    assert_eq!(
        column(&shown, "name"),
        [
            "-x",
            "a b",
            "back\\slash",
            "größe",
            "new\nline",
            "quo\"te",
            "raw-\u{fffd}\u{fffd}",
            "tab\t",
            "日本"
        ]
    );
    // An entry whose name cannot be requested can be read by its id.
    let id = shown[6]["id"].as_str().expect("entries have ids");
    assert_eq!(repo.get(&format!("raw_blobs/{id}"), &[]).text(), "raw");
    for name in ["größe", "a b", "quo\"te", "new\nline", "tab\t", "-x", "日本", "back\\slash"] {
        assert_eq!(repo.get("blobs/master", &[("filepath", name)]).text(), "x", "{name}");
    }
    let raw = repo.ask("blobs/master?filepath=raw-%FF%FE").send();
    assert_eq!(raw.status, 400);
}

/// A missing or damaged object gives 500; all other requests work.
fn a_damaged_object_is_a_server_error(forge: &Forge) {
    forge.pin_to_first_server();
    let repo = filled(forge);
    let broken = json!({"message": "500 Internal Server Error"});
    // The first use of a pack verifies its checksum.
    repo.get("tree", &[]).expect(200);
    repo.tree.damage("HEAD:lib/deep", Damage::Missing);
    repo.tree.damage("HEAD:README", Damage::Garbage);
    assert_eq!(repo.get("tree", &[]).status, 200);
    assert_eq!(column(&repo.get("tree", &[("path", "lib")]).expect(200), "name"), ["deep", "a.rs"]);
    assert_eq!(repo.get("tree", &[("path", "lib/deep")]).expect(500), broken);
    assert_eq!(repo.get("tree", &[("recursive", "1")]).expect(500), broken);
    let file = |path: &str| repo.get("blobs/master", &[("filepath", path)]);
    assert_eq!(file("lib/deep/b.rs").expect(500), broken);
    assert_eq!(file("README").expect(500), broken);
    assert_eq!(file("lib/a.rs").text(), "a\n");
    let readme = repo.tree.git(&["rev-parse", "HEAD:README"]);
    assert_eq!(repo.get(&format!("raw_blobs/{readme}"), &[]).expect(500), broken);
    let other = crate::api::groups::group_support::new_project(
        forge,
        hexforge_tests::forge::ROOT,
        "other",
        &[],
    );
    let other = other["id"].as_i64().expect("a project has an id");
    let tree = forge.work_tree(other);
    let first = tree.write("a", "a").commit("Well");
    tree.write("a", "b").commit("Better");
    forge.fill(other, &tree);
    let ask = |path: &str| {
        let path = format!("/projects/{other}/repository/{path}");
        forge.get(&path).token(hexforge_tests::forge::ROOT).send()
    };
    ask("tree").expect(200);
    // No request has read this commit yet; those that were read are cached.
    tree.damage(&first, Damage::Garbage);
    assert_eq!(ask(&format!("tree?ref_name={first}")).expect(500), broken);
    assert_eq!(ask(&format!("compare?from={first}&to=x")).expect(500), broken);
    assert_eq!(ask("tree").status, 200);
    assert_eq!(repo.get("tree", &[]).status, 200);
}
