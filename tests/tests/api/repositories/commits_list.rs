//! Lists of commits, single commits and their diffs: commits_files.md sections 1 to 3.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::repositories::refs_support::filled_fixture;
use crate::api::repositories::repository_support::{
    NO_REVISIONS, Repo, assert_for_readers_of_code, column,
};
use crate::api::support::message;

on_every_store!(
    commits_are_listed_newest_first_without_paging_headers,
    pages_are_counted_from_zero,
    dates_are_inclusive_and_have_the_forms_of_iso_8601,
    a_path_lists_the_commits_that_changed_it,
    any_revision_can_be_listed_and_unknown_ones_are_empty,
    commits_are_for_readers_of_the_code,
    one_commit_has_its_dates_statistics_and_status,
    a_revision_that_is_no_commit_is_not_found,
    statistics_follow_renames_and_skip_binary_files,
    the_status_sums_up_all_pipelines_of_the_commit,
    a_diff_is_against_the_first_parent,
    a_diff_is_cut_at_its_limits,
);

fn not_found() -> Value {
    message("404 Commit Not Found")
}

/// GET /projects/:id/repository/commits
fn commits_are_listed_newest_first_without_paging_headers(forge: &Forge) {
    let repo = Repo::new(forge);
    let one = repo.tree.write("a", "a\n").commit("One\n\nbody");
    let two = repo.tree.write("a", "b\n").commit(&"x".repeat(101));
    let three = repo.tree.commit("");
    repo.fill();
    let answer = repo.get("commits", &[]);
    let by = r#""author_name":"Ada","author_email":"ada@example.com""#;
    let long = "x".repeat(101);
    let expected = format!(
        concat!(
            r#"[{{"id":"{three}","short_id":"{s3}","title":"--no commit message",{by},"#,
            r#""created_at":"2016-09-22T12:32:00.000+02:00","message":""}},"#,
            r#"{{"id":"{two}","short_id":"{s2}","title":"{title}…",{by},"#,
            r#""created_at":"2016-09-22T12:31:00.000+02:00","message":"{long}\n"}},"#,
            r#"{{"id":"{one}","short_id":"{s1}","title":"One",{by},"#,
            r#""created_at":"2016-09-22T12:30:00.000+02:00","message":"One\n\nbody\n"}}]"#,
        ),
        s1 = &one[..8],
        s2 = &two[..8],
        s3 = &three[..8],
        title = &long[..80],
        one = one,
        two = two,
        three = three,
        by = by,
        long = long,
    );
    assert_eq!((answer.status, answer.text()), (200, expected.as_str()));
    for header in ["X-Total", "X-Total-Pages", "X-Page", "X-Per-Page", "X-Next-Page", "Link"] {
        assert_eq!(answer.header(header), None, "{header}");
    }
}

/// GET /projects/:id/repository/commits
fn pages_are_counted_from_zero(forge: &Forge) {
    let repo = Repo::new(forge);
    let mut all: Vec<String> = (0..23).map(|n| repo.tree.commit(&format!("{n}"))).collect();
    repo.fill();
    all.reverse();
    let ids = |query: &[(&str, &str)]| -> Vec<String> {
        let shown = repo.get("commits", query).expect(200);
        column(&shown, "id").into_iter().map(str::to_owned).collect()
    };
    assert_eq!(ids(&[]), all[..20]);
    for first in ["0", "-1", "", "x", "1.5"] {
        assert_eq!(ids(&[("page", first)]), all[..20], "{first}");
    }
    assert_eq!(ids(&[("page", "1")]), all[20..]);
    assert_eq!(ids(&[("page", "2")]), [""; 0]);
    assert_eq!(ids(&[("page", "1"), ("per_page", "5")]), all[5..10]);
    assert_eq!(ids(&[("per_page", "500")]), all);
    assert_eq!(ids(&[("per_page", "x")]), all[..20]);
    assert_eq!(ids(&[("page", "99999999999999999999999")]), [""; 0]);
}

/// GET /projects/:id/repository/commits
fn dates_are_inclusive_and_have_the_forms_of_iso_8601(forge: &Forge) {
    let repo = Repo::new(forge);
    // 10:30, 10:31 and 10:32 of 2016-09-22 in UTC.
    for title in ["One", "Two", "Three"] {
        repo.tree.commit(title);
    }
    repo.fill();
    let titles = |query: &[(&str, &str)]| -> Vec<String> {
        let shown = repo.get("commits", query).expect(200);
        column(&shown, "title").into_iter().map(str::to_owned).collect()
    };
    for since in [
        "2016-09-22T10:31:00Z",
        "2016-09-22T12:31:00+02:00",
        "2016-09-22T12:31:00+0200",
        "2016-09-22T12:31:00+02",
        "2016-09-22T10:31:00.000Z",
        "2016-09-22T10:31:00",
    ] {
        assert_eq!(titles(&[("since", since)]), ["Three", "Two"], "{since}");
        assert_eq!(titles(&[("until", since)]), ["Two", "One"], "{since}");
        assert_eq!(titles(&[("since", since), ("until", since)]), ["Two"], "{since}");
    }
    assert_eq!(titles(&[("since", "2016-09-22")]).len(), 3);
    assert_eq!(titles(&[("until", "2016-09-22")]).len(), 0);
    assert_eq!(titles(&[("since", " "), ("until", "")]).len(), 3);
    let refused = |name: &str| {
        message(&format!("\"{name}\" must be a timestamp in ISO 8601 format: YYYY-MM-DDTHH:MM:SSZ"))
    };
    for wrong in ["soon", "2016-13-01", "22.9.2016", "1474540200"] {
        assert_eq!(repo.get("commits", &[("until", wrong)]).expect(400), refused("until"));
        let both = repo.get("commits", &[("until", wrong), ("since", wrong)]);
        assert_eq!(both.expect(400), refused("since"), "{wrong}");
    }
}

/// GET /projects/:id/repository/commits
fn a_path_lists_the_commits_that_changed_it(forge: &Forge) {
    let repo = Repo::new(forge);
    repo.tree.write("src/a", "a\n").write("b", "b\n").commit("One");
    repo.tree.write("src/a", "aa\n").commit("Two");
    repo.tree.git(&["rm", "-q", "b"]);
    repo.tree.commit("Three");
    repo.tree.git(&["mv", "src/a", "src/c"]);
    repo.tree.commit("Four");
    repo.fill();
    for (path, expected) in [
        ("src/a", &["Four", "Two", "One"][..]),
        ("src", &["Four", "Two", "One"]),
        ("src/c", &["Four"]),
        ("b", &["Three", "One"]),
        ("missing", &[]),
        ("src/*", &[]),
    ] {
        let shown = repo.get("commits", &[("path", path)]).expect(200);
        assert_eq!(column(&shown, "title"), expected, "{path}");
    }
}

/// GET /projects/:id/repository/commits
fn any_revision_can_be_listed_and_unknown_ones_are_empty(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let path = format!("{}/repository/commits", fixture.cast.path);
    let list = |revision: &str| {
        let ask = forge.get(&path).token(fixture.token("reporter"));
        ask.query(&[("ref_name", revision)]).send().expect(200)
    };
    let short = &fixture.id("master~1")[..10];
    for (revision, expected) in [
        ("", &["Three", "Two", "One"][..]),
        ("feature/x", &["Beside", "One"]),
        ("v1.0.0", &["One"]),
        ("v1.1.0", &["Two", "One"]),
        ("master~2", &["One"]),
        (short, &["Two", "One"]),
    ] {
        assert_eq!(column(&list(revision), "title"), expected, "{revision}");
    }
    for revision in NO_REVISIONS.into_iter().chain([&*fixture.id("master^{tree}")]) {
        assert_eq!(list(revision), json!([]), "{revision}");
    }
    let empty = Repo::new(forge);
    assert_eq!(empty.get("commits", &[]).expect(200), json!([]));
    assert_eq!(empty.get("commits", &[("ref_name", "master")]).expect(200), json!([]));
}

/// GET /projects/:id/repository/commits, GET /projects/:id/repository/commits/:sha,
/// GET /projects/:id/repository/commits/:sha/diff
fn commits_are_for_readers_of_the_code(forge: &Forge) {
    assert_for_readers_of_code(forge, "commits", "commits?since=soon");
    let fixture = project_of_root(forge);
    for call in ["commits/master", "commits/master/diff"] {
        let path = format!("{}/repository/{call}", fixture.0);
        for (token, status) in &fixture.1 {
            assert_eq!(forge.get(&path).token(token).send().status, *status, "{call}");
        }
        assert_eq!(forge.get(&path).send().expect(401), message("401 Unauthorized"), "{call}");
    }
}

/// A private project of root, and the statuses that other users get when they read a commit.
fn project_of_root(forge: &Forge) -> (String, Vec<(String, u16)>) {
    let repo = Repo::new(forge);
    repo.tree.commit("One");
    repo.fill();
    let path = format!("/projects/{}", repo.project);
    let mut expected = vec![(ROOT.to_owned(), 200), (forge.user("outside").1, 404)];
    for (name, level, status) in [("low", "10", 403), ("high", "20", 200)] {
        let (user, token) = forge.user(name);
        let form = [("user_id", &*user.to_string()), ("access_level", level)];
        forge.post(&format!("{path}/members")).token(ROOT).form(&form).send().expect(201);
        expected.push((token, status));
    }
    (path, expected)
}

/// GET /projects/:id/repository/commits/:sha
fn one_commit_has_its_dates_statistics_and_status(forge: &Forge) {
    let repo = Repo::new(forge);
    let one = repo.tree.write("a", "1\n2\n3\n").commit("One");
    let two = repo.tree.write("a", "1\nx\ny\n3\n").commit("Two");
    repo.tree.git(&["branch", "with/slash"]);
    repo.tree.git(&["tag", "-a", "v1.0", "-m", "tag"]);
    repo.fill();
    let expected = format!(
        concat!(
            r#"{{"id":"{two}","short_id":"{short}","title":"Two","author_name":"Ada","#,
            r#""author_email":"ada@example.com","created_at":"2016-09-22T12:31:00.000+02:00","#,
            r#""message":"Two\n","parent_ids":["{one}"],"#,
            r#""committed_date":"2016-09-22T12:31:00.000+02:00","#,
            r#""authored_date":"2016-09-22T12:31:00.000+02:00","#,
            r#""stats":{{"additions":2,"deletions":1,"total":3}},"status":null}}"#,
        ),
        one = one,
        two = two,
        short = &two[..8],
    );
    for revision in [&*two, &two[..7], "master", "with%2Fslash", "v1.0", "HEAD", "master~0"] {
        let shown = repo.get(&format!("commits/{revision}"), &[]);
        assert_eq!((shown.status, shown.text()), (200, expected.as_str()), "{revision}");
    }
    let root = repo.get(&format!("commits/{one}"), &[]).expect(200);
    assert_eq!(root["parent_ids"], json!([]));
    assert_eq!(root["stats"], json!({"additions": 3, "deletions": 0, "total": 3}));
}

/// GET /projects/:id/repository/commits/:sha, GET /projects/:id/repository/commits/:sha/diff
fn a_revision_that_is_no_commit_is_not_found(forge: &Forge) {
    let repo = Repo::new(forge);
    for call in ["commits/master", "commits/master/diff"] {
        assert_eq!(repo.get(call, &[]).expect(404), not_found(), "empty: {call}");
    }
    repo.tree.write("a", "a\n").commit("One");
    repo.fill();
    let tree = repo.tree.git(&["rev-parse", "HEAD^{tree}"]);
    let blob = repo.tree.git(&["rev-parse", "HEAD:a"]);
    for revision in
        ["missing", "ffff", "0000000000000000000000000000000000000000", "a..b", &tree, &blob]
    {
        for call in ["", "/diff"] {
            let shown = repo.get(&format!("commits/{revision}{call}"), &[]);
            assert_eq!(shown.expect(404), not_found(), "{revision}{call}");
        }
    }
}

/// GET /projects/:id/repository/commits/:sha
fn statistics_follow_renames_and_skip_binary_files(forge: &Forge) {
    let repo = Repo::new(forge);
    let stats =
        |commit: &str| repo.get(&format!("commits/{commit}"), &[]).expect(200)["stats"].clone();
    repo.tree.write("a", "1\n2\n3\n").write("run", "x\n").commit("One");
    repo.tree.git(&["mv", "a", "b"]);
    let renamed = repo.tree.commit("Rename");
    let binary = repo.tree.write("bin", b"\0\n\n").commit("Binary");
    repo.tree.git(&["update-index", "--chmod=+x", "run"]);
    repo.tree.git(&["commit", "-q", "-m", "Mode"]);
    let mode = repo.tree.git(&["rev-parse", "HEAD"]);
    repo.tree.git(&["checkout", "-q", "-f", "HEAD"]);
    repo.tree.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    repo.tree.write("side", "1\n2\n").commit("Side");
    repo.tree.git(&["checkout", "-q", "master"]);
    repo.tree.git(&["merge", "-q", "--no-ff", "-m", "Merge", "side"]);
    let merge = repo.tree.git(&["rev-parse", "HEAD"]);
    repo.fill();
    let none = json!({"additions": 0, "deletions": 0, "total": 0});
    for commit in [renamed, binary, mode] {
        assert_eq!(stats(&commit), none, "{commit}");
    }
    assert_eq!(stats(&merge), json!({"additions": 2, "deletions": 0, "total": 2}));
}

/// GET /projects/:id/repository/commits/:sha
fn the_status_sums_up_all_pipelines_of_the_commit(forge: &Forge) {
    let repo = Repo::new(forge);
    let commit = repo.tree.commit("One");
    repo.tree.git(&["branch", "other"]);
    repo.fill();
    let status = || repo.get(&format!("commits/{commit}"), &[]).expect(200)["status"].clone();
    assert_eq!(status(), Value::Null);
    for (branch, state, expected) in [
        ("master", "pending", "pending"),
        ("master", "success", "success"),
        ("other", "running", "running"),
        ("other", "failed", "failed"),
    ] {
        let form = [("state", state), ("ref", branch), ("name", branch)];
        let path = format!("/projects/{}/statuses/{commit}", repo.project);
        forge.post(&path).token(ROOT).form(&form).send().expect(201);
        assert_eq!(status(), expected, "{branch} {state}");
    }
}

/// GET /projects/:id/repository/commits/:sha/diff
fn a_diff_is_against_the_first_parent(forge: &Forge) {
    let repo = Repo::new(forge);
    let one = repo.tree.write("a", "1\n").write("gone", "g\n").commit("One");
    repo.tree.git(&["mv", "a", "b"]);
    repo.tree.git(&["rm", "-q", "gone"]);
    let two = repo.tree.write("c", "c\n").commit("Two");
    let empty = repo.tree.commit("Empty");
    repo.fill();
    let diff = |commit: &str| repo.get(&format!("commits/{commit}/diff"), &[]);
    let root = concat!(
        r#"[{"diff":"--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+1\n","new_path":"a","old_path":"a","#,
        r#""a_mode":"0","b_mode":"100644","new_file":true,"renamed_file":false,"#,
        r#""deleted_file":false,"too_large":null},"#,
        r#"{"diff":"--- /dev/null\n+++ b/gone\n@@ -0,0 +1 @@\n+g\n","new_path":"gone","#,
        r#""old_path":"gone","a_mode":"0","b_mode":"100644","new_file":true,"#,
        r#""renamed_file":false,"deleted_file":false,"too_large":null}]"#,
    );
    assert_eq!((diff(&one).status, diff(&one).text()), (200, root));
    assert_eq!(
        diff(&two).expect(200),
        json!([
            {"diff": "", "new_path": "b", "old_path": "a", "a_mode": "100644", "b_mode": "100644",
             "new_file": false, "renamed_file": true, "deleted_file": false, "too_large": null},
            {"diff": "--- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+c\n", "new_path": "c",
             "old_path": "c", "a_mode": "0", "b_mode": "100644", "new_file": true,
             "renamed_file": false, "deleted_file": false, "too_large": null},
            {"diff": "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n", "new_path": "gone",
             "old_path": "gone", "a_mode": "100644", "b_mode": "0", "new_file": false,
             "renamed_file": false, "deleted_file": true, "too_large": null},
        ])
    );
    assert_eq!(diff(&empty).expect(200), json!([]));
    assert_eq!(diff("master~1").expect(200), diff(&two).expect(200));
}

/// GET /projects/:id/repository/commits/:sha/diff
fn a_diff_is_cut_at_its_limits(forge: &Forge) {
    let repo = Repo::new(forge);
    let diff = |commit: &str| repo.get(&format!("commits/{commit}/diff"), &[]).expect(200);
    repo.tree.commit("One");
    for n in 0..101 {
        repo.tree.write(&format!("many/{n:03}"), format!("{n}\n"));
    }
    let many = repo.tree.commit("Many");
    let long = repo.tree.write("long", "x\n".repeat(5000)).write("z", "z\n").commit("Long");
    let large = repo.tree.write("large", "x".repeat(102_400) + "\n").write("y", "y\n");
    let large = large.commit("Large");
    repo.fill();
    assert_eq!(diff(&many).as_array().map(Vec::len), Some(100));
    assert_eq!(diff(&long), json!([]));
    let stats = repo.get(&format!("commits/{long}"), &[]).expect(200)["stats"].clone();
    assert_eq!(stats, json!({"additions": 5001, "deletions": 0, "total": 5001}));
    let large = diff(&large);
    assert_eq!((&large[0]["diff"], &large[0]["too_large"]), (&json!(""), &json!(true)));
    assert_eq!((&large[1]["new_path"], &large[1]["too_large"]), (&json!("y"), &json!(null)));
}
