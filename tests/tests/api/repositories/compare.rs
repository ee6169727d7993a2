//! GET /projects/:id/repository/compare: reference section 4.5.

use hexforge_tests::{Forge, WorkTree, on_every_store};
use serde_json::{Value, json};

use crate::api::projects::project_support::not_given;
use crate::api::repositories::repository_support::{
    NO_REVISIONS, Repo, assert_for_readers_of_code, column, compare,
};

on_every_store!(
    commits_and_files_of_one_side_are_shown,
    git_says_the_same,
    titles_dates_and_messages,
    common_commits_are_not_shown,
    equal_and_older_revisions_have_no_commits_between,
    revisions_that_do_not_exist_are_no_error,
    both_have_to_be_given,
    readers_of_code_may_compare,
);

/// The response when there are no differences.
fn nothing(same: bool) -> Value {
    json!({
        "commit": null, "commits": [], "diffs": [],
        "compare_timeout": false, "compare_same_ref": same,
    })
}

fn commits_and_files_of_one_side_are_shown(forge: &Forge) {
    let repo = Repo::new(forge);
    let first = repo.tree.write("a.txt", "one\ntwo\n").commit("Begin");
    let second = repo.tree.write("a.txt", "one\nTwo\n").commit("Change\n\nFor a reason.");
    let third = repo.tree.write("b.txt", "new").commit("Add");
    repo.fill();
    let answer = repo.get("compare", &[("from", &first), ("to", "master")]);
    // Compared as text, so that the order of fields counts.
    let commit = |id: &str, title: &str, minute: &str, message: &str| {
        format!(
            r#"{{"id":"{id}","short_id":"{}","title":"{title}","author_name":"Ada","author_email":"ada@example.com","created_at":"2016-09-22T12:{minute}:00.000+02:00","message":"{message}"}}"#,
            &id[..8]
        )
    };
    let changed = commit(&second, "Change", "31", r"Change\n\nFor a reason.\n");
    let added = commit(&third, "Add", "32", r"Add\n");
    let diffs = [
        r#"{"old_path":"a.txt","new_path":"a.txt","a_mode":"100644","b_mode":"100644","diff":"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+Two\n","new_file":false,"renamed_file":false,"deleted_file":false}"#,
        r#"{"old_path":"b.txt","new_path":"b.txt","a_mode":"0","b_mode":"100644","diff":"--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n","new_file":true,"renamed_file":false,"deleted_file":false}"#,
    ];
    let expected = format!(
        r#"{{"commit":{added},"commits":[{changed},{added}],"diffs":[{}],"compare_timeout":false,"compare_same_ref":false}}"#,
        diffs.join(",")
    );
    assert_eq!((answer.status, answer.text()), (200, expected.as_str()));
    assert_eq!(answer.header("Content-Type"), Some("application/json"));
}

/// The diffs of the files in a patch, in the format of the API.
fn texts(patch: &str) -> Vec<String> {
    let patch = format!("\n{patch}\n");
    let files = patch.split("\ndiff --git ").skip(1);
    let text = |file: &str| {
        let start = [file.find("\n--- "), file.find("\nBinary ")];
        let start = start.into_iter().flatten().min();
        start.map(|at| format!("{}\n", file[at..].trim_matches('\n'))).unwrap_or_default()
    };
    files.map(text).collect()
}

fn random_work(tree: &WorkTree, seed: usize) {
    for step in 0..6 {
        let number = seed * 31 + step * 7;
        let file = format!("folder-{}/file-{}", number % 3, number % 5);
        let content: String =
            (0..40).map(|line| format!("{} {line}\n", (line * number) % 9)).collect();
        tree.write(&file, content).commit(&format!("Step {seed}.{step}"));
    }
}

/// `git diff from...to`, `git rev-list from..to`.
fn git_says_the_same(forge: &Forge) {
    let repo = Repo::new(forge);
    let tree = &repo.tree;
    random_work(tree, 1);
    tree.git(&["checkout", "-q", "-b", "side"]);
    random_work(tree, 2);
    tree.git(&["checkout", "-q", "master"]);
    random_work(tree, 3);
    tree.git(&["merge", "-q", "-m", "Join", "-X", "ours", "side~3"]);
    random_work(tree, 4);
    repo.fill();
    for (from, to) in [
        ("side", "master"),
        ("master", "side"),
        ("master~9", "master"),
        ("side~6", "side"),
        ("master~2", "side~1"),
        ("side~3", "master"),
    ] {
        let shown = compare(&repo, from, to);
        let patch = tree.git(&["diff", "-M", &format!("{from}...{to}")]);
        assert_eq!(column(&shown["diffs"], "diff"), texts(&patch), "{from}...{to}");
        let names = tree.git(&["diff", "-M", "--name-only", &format!("{from}...{to}")]);
        assert_eq!(column(&shown["diffs"], "new_path"), names.lines().collect::<Vec<_>>());
        let range = format!("{from}..{to}");
        let expected = tree.git(&["rev-list", "--reverse", &range]);
        assert_eq!(
            column(&shown["commits"], "id"),
            expected.lines().collect::<Vec<_>>(),
            "{range}"
        );
        assert_eq!(shown["commit"]["id"].as_str(), expected.lines().last(), "{range}");
    }
}

fn titles_dates_and_messages(forge: &Forge) {
    let repo = Repo::new(forge);
    let tree = &repo.tree;
    tree.commit("Begin");
    let commit = |message: &[u8], date: &str, more: &[&str]| {
        let file = tree.path().join(".git/message");
        std::fs::write(&file, message).expect("the message can be written");
        let file = file.to_string_lossy().into_owned();
        let arguments =
            [more, &["commit", "-q", "--allow-empty", "--allow-empty-message"]].concat();
        let arguments = [&arguments[..], &["--cleanup=verbatim", "-F", &file]].concat();
        let mut git = tree.command(&arguments);
        git.env("GIT_AUTHOR_DATE", "1000000000 +0000").env("GIT_COMMITTER_DATE", date);
        assert!(git.status().expect("git can be started").success());
    };
    let long = "x".repeat(101);
    commit(b"", "1500000001 -0700", &[]);
    commit(long.as_bytes(), "1500000002 +0530", &[]);
    commit("é".repeat(100).as_bytes(), "1500000003 +0000", &[]);
    commit(b"sch\xf6n\n", "1500000004 -0330", &["-c", "i18n.commitEncoding=ISO-8859-1"]);
    commit(b"two\r\nlines\n\n\n", "1500000005 +1400", &[]);
    repo.fill();
    let shown = compare(&repo, "master~5", "master");
    let short = format!("{}…", "x".repeat(80));
    let full = "é".repeat(100);
    assert_eq!(
        column(&shown["commits"], "title"),
        ["--no commit message", &short, &full, "schön", "two"]
    );
    assert_eq!(
        column(&shown["commits"], "message"),
        ["", &long, &full, "schön\n", "two\r\nlines\n\n\n"]
    );
    assert_eq!(
        column(&shown["commits"], "created_at"),
        [
            "2017-07-13T19:40:01.000-07:00",
            "2017-07-14T08:10:02.000+05:30",
            "2017-07-14T02:40:03.000+00:00",
            "2017-07-13T23:10:04.000-03:30",
            "2017-07-14T16:40:05.000+14:00",
        ]
    );
}

fn common_commits_are_not_shown(forge: &Forge) {
    let repo = Repo::new(forge);
    let tree = &repo.tree;
    tree.write("common", "1\n").commit("Begin");
    tree.git(&["checkout", "-q", "-b", "side"]);
    tree.write("side", "s\n").commit("Aside");
    tree.git(&["checkout", "-q", "master"]);
    tree.write("common", "2\n").commit("Ahead");
    // Without a common ancestor.
    tree.git(&["checkout", "-q", "--orphan", "alien"]);
    tree.git(&["rm", "-rfq", "."]);
    tree.write("alien", "x\n").commit("From elsewhere");
    repo.fill();
    let shown = compare(&repo, "master", "side");
    assert_eq!(column(&shown["diffs"], "new_path"), ["side"]);
    assert_eq!(column(&shown["commits"], "title"), ["Aside"]);
    let shown = compare(&repo, "master", "alien");
    assert_eq!(column(&shown["diffs"], "new_path"), ["alien"]);
    assert_eq!(column(&shown["commits"], "title"), ["From elsewhere"]);
    let shown = compare(&repo, "alien", "master");
    assert_eq!(column(&shown["diffs"], "new_path"), ["common"]);
    assert_eq!(shown["diffs"][0]["new_file"], true);
    assert_eq!(column(&shown["commits"], "title"), ["Begin", "Ahead"]);
}

fn equal_and_older_revisions_have_no_commits_between(forge: &Forge) {
    let repo = Repo::new(forge);
    let first = repo.tree.write("a", "1").commit("Begin");
    repo.tree.git(&["tag", "-a", "-m", "Noted", "noted"]);
    let second = repo.tree.write("a", "2").commit("Go on");
    repo.fill();
    for (from, to) in [
        ("master", "master"),
        ("master", second.as_str()),
        ("noted", "master~1"),
        (&first[..9], &first),
        (" master ", "\tHEAD\n"),
    ] {
        assert_eq!(compare(&repo, from, to), nothing(true), "{from} {to}");
    }
    assert_eq!(compare(&repo, "master", "noted"), nothing(false));
    assert_eq!(column(&compare(&repo, " noted ", " master ")["commits"], "title"), ["Go on"]);
}

fn revisions_that_do_not_exist_are_no_error(forge: &Forge) {
    let repo = Repo::new(forge);
    assert_eq!(compare(&repo, "master", "master"), nothing(false));
    repo.tree.write("a", "1").commit("Begin");
    repo.fill();
    for revision in NO_REVISIONS {
        assert_eq!(compare(&repo, revision, "master"), nothing(false), "{revision}");
        assert_eq!(compare(&repo, "master", revision), nothing(false), "{revision}");
    }
    assert_eq!(compare(&repo, "missing", "missing"), nothing(false));
    let blob = repo.tree.git(&["rev-parse", "HEAD:a"]);
    assert_eq!(compare(&repo, &blob, "master"), nothing(false));
}

fn both_have_to_be_given(forge: &Forge) {
    let repo = Repo::new(forge);
    for (query, field) in [
        (&[][..], "from"),
        (&[("to", "master")], "from"),
        (&[("from", ""), ("to", "")], "from"),
        (&[("from", " "), ("to", "master")], "from"),
        (&[("from", "master")], "to"),
        (&[("from", "master"), ("to", "")], "to"),
    ] {
        assert_eq!(repo.get("compare", query).expect(400), not_given(field), "{query:?}");
    }
    let nul = repo.get("compare", &[("from", "a\0"), ("to", "master")]).expect(400);
    assert_eq!(nul, json!({"error": "from is invalid"}));
}

fn readers_of_code_may_compare(forge: &Forge) {
    assert_for_readers_of_code(forge, "compare?from=master&to=master", "compare");
}
