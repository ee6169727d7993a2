//! The order and the limits of lists and diffs of commits: commits_files.md sections 2 and 3.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::repositories::repository_support::{Repo, column};

on_every_store!(
    merges_that_equal_one_parent_on_the_path_are_left_out,
    a_child_comes_before_its_parents_whatever_its_date,
    diffs_are_cut_before_they_reach_512000_bytes,
    a_text_that_reaches_102400_bytes_is_too_large,
    modes_binaries_and_submodules_have_their_elements,
    skipped_and_canceled_pipelines_count_in_the_status,
);

fn titles(repo: &Repo<'_>, query: &[(&str, &str)]) -> Vec<String> {
    let shown = repo.get("commits", query).expect(200);
    column(&shown, "title").into_iter().map(str::to_owned).collect()
}

/// GET /projects/:id/repository/commits: section 2.2, `path`.
fn merges_that_equal_one_parent_on_the_path_are_left_out(forge: &Forge) {
    let repo = Repo::new(forge);
    let tree = &repo.tree;
    tree.write("src/a", "a\n").write("b", "b\n").commit("One");
    tree.git(&["checkout", "-q", "-b", "side"]);
    tree.write("src/a", "aa\n").commit("Side");
    tree.git(&["checkout", "-q", "master"]);
    tree.write("b", "bb\n").commit("Main");
    tree.git(&["merge", "-q", "--no-ff", "-m", "Merge", "side"]);
    repo.fill();
    assert_eq!(titles(&repo, &[]), ["Merge", "Main", "Side", "One"]);
    for path in ["src/a", "src", "src/"] {
        assert_eq!(titles(&repo, &[("path", path)]), ["Side", "One"], "{path}");
    }
    assert_eq!(titles(&repo, &[("path", "b")]), ["Main", "One"]);
}

/// GET /projects/:id/repository/commits: section 2.2, "even if its date is older".
fn a_child_comes_before_its_parents_whatever_its_date(forge: &Forge) {
    let repo = Repo::new(forge);
    repo.tree.write("a", "1\n").commit("One");
    let mut old = repo.tree.command(&["commit", "-q", "--allow-empty", "-m", "Old child"]);
    old.env("GIT_COMMITTER_DATE", "1000000000 +0000");
    assert!(old.status().expect("git can be started").success());
    repo.tree.commit("Newest");
    repo.fill();
    assert_eq!(titles(&repo, &[]), ["Newest", "Old child", "One"]);
    let shown = repo.get("commits/master~1", &[]).expect(200);
    assert_eq!(shown["created_at"], "2001-09-09T01:46:40.000+00:00", "the committer's date");
    assert_eq!(shown["authored_date"], "2016-09-22T12:31:00.000+02:00");
}

fn diff(repo: &Repo<'_>, commit: &str) -> Value {
    repo.get(&format!("commits/{commit}/diff"), &[]).expect(200)
}

/// GET /projects/:id/repository/commits/:sha/diff: section 3, "as soon as the texts listed so far, with the next one".
fn diffs_are_cut_before_they_reach_512000_bytes(forge: &Forge) {
    let repo = Repo::new(forge);
    repo.tree.commit("One");
    // Lines of 1,000 bytes, and nearly 100,000 bytes in each file.
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        repo.tree.write(name, format!("{}\n", "x".repeat(999)).repeat(100));
    }
    repo.tree.write("z", "z\n");
    let many = repo.tree.commit("Many");
    repo.fill();
    let shown = diff(&repo, &many);
    assert_eq!(column(&shown, "new_path"), ["a", "b", "c", "d", "e"]);
    let stats = repo.get(&format!("commits/{many}"), &[]).expect(200)["stats"].clone();
    assert_eq!(stats["additions"], 701);
}

/// GET /projects/:id/repository/commits/:sha/diff: section 3, `too_large`.
fn a_text_that_reaches_102400_bytes_is_too_large(forge: &Forge) {
    let repo = Repo::new(forge);
    repo.tree.commit("One");
    repo.tree.write("a", "x".repeat(102_398) + "\n").write("b", "x".repeat(102_399) + "\n");
    let both = repo.tree.commit("Both");
    repo.fill();
    let shown = diff(&repo, &both);
    assert_eq!((&shown[0]["new_path"], &shown[0]["too_large"]), (&json!("a"), &json!(null)));
    assert!(shown[0]["diff"].as_str().is_some_and(|text| text.len() > 102_398));
    assert_eq!((&shown[1]["diff"], &shown[1]["too_large"]), (&json!(""), &json!(true)));
}

/// GET /projects/:id/repository/commits/:sha/diff: section 3, values as in repository_ci_labels_boards.md 4.5.
fn modes_binaries_and_submodules_have_their_elements(forge: &Forge) {
    let repo = Repo::new(forge);
    let tree = &repo.tree;
    let module = |id: &str| {
        tree.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{id},module")]);
    };
    let (old, new) = ("1".repeat(40), "2".repeat(40));
    tree.write("run", "x\n").write("bin", b"\0a").write("empty-before", "");
    tree.git(&["add", "-A"]);
    module(&old);
    tree.git(&["commit", "-q", "-m", "One"]);
    tree.write("bin", b"\0b").write("empty", "");
    tree.git(&["add", "bin", "empty"]);
    tree.git(&["update-index", "--chmod=+x", "run"]);
    module(&new);
    tree.git(&["commit", "-q", "-m", "Two"]);
    repo.fill();
    let element = |path: &str, (a, b): (&str, &str), new_file: bool, text: &str| {
        json!({
            "diff": text, "new_path": path, "old_path": path, "a_mode": a, "b_mode": b,
            "new_file": new_file, "renamed_file": false, "deleted_file": false, "too_large": null
        })
    };
    let moved = format!(
        "--- a/module\n+++ b/module\n@@ -1 +1 @@\n-Subproject commit {old}\n\
         +Subproject commit {new}\n"
    );
    let expected = json!([
        element("bin", ("100644", "100644"), false, "Binary files a/bin and b/bin differ\n"),
        element("empty", ("0", "100644"), true, ""),
        element("module", ("160000", "160000"), false, &moved),
        element("run", ("100644", "100755"), false, ""),
    ]);
    assert_eq!(diff(&repo, "master"), expected);
}

/// GET /projects/:id/repository/commits/:sha: section 2.1, `status`.
fn skipped_and_canceled_pipelines_count_in_the_status(forge: &Forge) {
    let repo = Repo::new(forge);
    let path = format!("/projects/{}", repo.project);
    let body = json!({"branch_name": "master", "commit_message": "Quiet [ci skip]", "actions": [
        {"action": "create", "file_path": ".gitlab-ci.yml", "content": "a: {script: b}\n"}]});
    let made = forge.post(&format!("{path}/repository/commits")).token(ROOT).json(&body).send();
    let made = made.expect(201);
    let id = made["id"].as_str().expect("an id");
    let status = || repo.get(&format!("commits/{id}"), &[]).expect(200)["status"].clone();
    assert_eq!(status(), "skipped");
    for (branch, state, expected) in [
        ("a", "success", "skipped"),
        ("b", "canceled", "canceled"),
        ("c", "pending", "running"),
        ("c", "running", "running"),
        ("c", "failed", "failed"),
    ] {
        let form = [("branch_name", branch), ("ref", "master")];
        let branches = format!("{path}/repository/branches");
        forge.post(&branches).token(ROOT).form(&form).send();
        let form = [("state", state), ("ref", branch), ("name", branch)];
        let statuses = format!("{path}/statuses/{id}");
        forge.post(&statuses).token(ROOT).form(&form).send().expect(201);
        assert_eq!(status(), expected, "{branch} {state}");
    }
}
