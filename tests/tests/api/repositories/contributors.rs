//! GET /projects/:id/repository/contributors: reference section 4.6.

use hexforge_tests::{Forge, WorkTree, on_every_store};
use serde_json::{Value, json};

use crate::api::repositories::repository_support::{Repo, assert_for_readers_of_code, column};
use crate::api::support::message;

on_every_store!(
    authors_are_grouped_by_address,
    git_counts_the_same,
    merges_and_other_branches_do_not_count,
    the_answer_follows_the_default_branch,
    pages_come_when_they_are_asked_for,
    an_empty_repository_has_no_contributors,
    readers_of_code_may_see_contributors,
);

/// Commits all changes with this author.
fn commit_as(tree: &WorkTree, name: &str, email: &str) {
    tree.git(&["add", "-A"]);
    let author = format!("--author={name} <{email}>");
    tree.git(&["commit", "-q", "--allow-empty", "-m", "Work", &author]);
}

fn authors_are_grouped_by_address(forge: &Forge) {
    let repo = Repo::new(forge);
    let tree = &repo.tree;
    tree.write("a", "1\n2\n3\n");
    commit_as(tree, "Old Name", "ada@example.com");
    tree.write("b", "1\n").write("binary", b"\0\0\n\n");
    commit_as(tree, "Bob", "bob@example.com");
    tree.write("a", "1\n2\n");
    commit_as(tree, "Other", "ADA@example.com");
    tree.write("a", "1\nzwei\nnew");
    commit_as(tree, "Ada", "ada@example.com");
    repo.fill();
    let answer = repo.get("contributors", &[]);
    // Newest first, with fields in this order.
    let row = |name: &str, email: &str, numbers: [u32; 3]| {
        let [commits, additions, deletions] = numbers;
        format!(
            r#"{{"name":"{name}","email":"{email}","commits":{commits},"additions":{additions},"deletions":{deletions}}}"#
        )
    };
    let expected = format!(
        "[{},{},{}]",
        row("Ada", "ada@example.com", [2, 5, 1]),
        row("Other", "ADA@example.com", [1, 0, 1]),
        row("Bob", "bob@example.com", [1, 1, 0]),
    );
    assert_eq!((answer.status, answer.text()), (200, expected.as_str()));
    assert_eq!((answer.header("X-Total"), answer.header("X-Hexforge-Partial")), (None, None));
}

/// `git log --no-merges --no-renames --numstat`.
fn git_counts_the_same(forge: &Forge) {
    let repo = Repo::new(forge);
    let tree = &repo.tree;
    for step in 0..25 {
        let content: String =
            (0..30).map(|line| format!("{}\n", (line * step + step) % 7)).collect();
        tree.write(&format!("file-{}", step % 4), content);
        if step == 12 {
            tree.git(&["mv", "file-0", "moved"]);
        }
        commit_as(tree, "Somebody", &format!("user-{}@example.com", (step * step) % 5));
    }
    repo.fill();
    let log = tree.git(&[
        "log",
        "--no-merges",
        "--no-renames",
        "--numstat",
        "--format=author %ae",
        "master",
    ]);
    let mut expected: Vec<Value> = Vec::new();
    let mut at = 0;
    for line in log.lines().filter(|line| !line.is_empty()) {
        if let Some(email) = line.strip_prefix("author ") {
            at = expected.iter().position(|row| row["email"] == email).unwrap_or_else(|| {
                expected.push(json!({
                    "name": "Somebody", "email": email, "commits": 0, "additions": 0,
                    "deletions": 0,
                }));
                expected.len() - 1
            });
            expected[at]["commits"] = json!(expected[at]["commits"].as_u64().unwrap_or(0) + 1);
            continue;
        }
        let numbers: Vec<u64> = line.split('\t').take(2).filter_map(|n| n.parse().ok()).collect();
        for (field, number) in ["additions", "deletions"].into_iter().zip(numbers) {
            expected[at][field] = json!(expected[at][field].as_u64().unwrap_or(0) + number);
        }
    }
    assert_eq!(expected.len(), 3);
    assert_eq!(repo.get("contributors", &[]).expect(200), Value::Array(expected));
}

fn merges_and_other_branches_do_not_count(forge: &Forge) {
    let repo = Repo::new(forge);
    let tree = &repo.tree;
    tree.write("a", "1\n");
    commit_as(tree, "Ada", "ada@example.com");
    tree.git(&["checkout", "-q", "-b", "merged"]);
    tree.write("b", "1\n");
    commit_as(tree, "Bob", "bob@example.com");
    tree.git(&["checkout", "-q", "-b", "apart"]);
    commit_as(tree, "Carol", "carol@example.com");
    tree.git(&["checkout", "-q", "master"]);
    tree.write("a", "1\n2\n");
    commit_as(tree, "Ada", "ada@example.com");
    let merger = ["-c", "user.name=Dan", "merge", "-q", "--no-ff", "-m", "Join", "merged"];
    let mut git = tree.command(&merger);
    git.env("GIT_AUTHOR_NAME", "Dan").env("GIT_AUTHOR_EMAIL", "dan@example.com");
    assert!(git.status().expect("git can be started").success());
    repo.fill();
    let shown = repo.get("contributors", &[]).expect(200);
    let mut emails = column(&shown, "email");
    emails.sort_unstable();
    assert_eq!(emails, ["ada@example.com", "bob@example.com"]);
    let ada = shown.as_array().expect("a list").iter().find(|row| row["name"] == "Ada");
    assert_eq!(ada.map(|row| row["commits"].clone()), Some(json!(2)));
}

fn the_answer_follows_the_default_branch(forge: &Forge) {
    let repo = Repo::new(forge);
    let tree = &repo.tree;
    tree.write("a", "1\n");
    commit_as(tree, "Ada", "ada@example.com");
    repo.fill();
    let commits = || {
        let shown = repo.get("contributors", &[]).expect(200);
        shown
            .as_array()
            .expect("a list")
            .iter()
            .map(|row| row["commits"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(commits(), [json!(1)]);
    tree.write("a", "2\n");
    commit_as(tree, "Ada", "ada@example.com");
    repo.fill();
    assert_eq!(commits(), [json!(2)]);
    // The branch was rewritten.
    tree.git(&["commit", "-q", "--amend", "--author=Eve <eve@example.com>", "-m", "Mine"]);
    repo.fill();
    assert_eq!(commits(), [json!(1), json!(1)]);
    // Another branch became the default.
    tree.git(&["branch", "old", "master~1"]);
    repo.fill();
    tree.git_bare(&["symbolic-ref", "HEAD", "refs/heads/old"]);
    assert_eq!(commits(), [json!(1)]);
}

fn pages_come_when_they_are_asked_for(forge: &Forge) {
    let repo = Repo::new(forge);
    for number in 0..25 {
        commit_as(&repo.tree, &format!("user-{number}"), &format!("{number}@example.com"));
    }
    repo.fill();
    let all = repo.get("contributors", &[]).expect(200);
    assert_eq!(column(&all, "name").len(), 25);
    let page = repo.get("contributors", &[("page", "2"), ("per_page", "10")]);
    assert_eq!(column(&page.expect(200), "name"), column(&all, "name")[10..20]);
    assert_eq!(page.header("X-Total"), Some("25"));
    assert_eq!(page.header("X-Next-Page"), Some("3"));
    let page = repo.get("contributors", &[("page", "2")]);
    assert_eq!(column(&page.expect(200), "name").len(), 5);
}

fn an_empty_repository_has_no_contributors(forge: &Forge) {
    let repo = Repo::new(forge);
    assert_eq!(repo.get("contributors", &[]).expect(404), message("404 Not Found"));
}

fn readers_of_code_may_see_contributors(forge: &Forge) {
    assert_for_readers_of_code(forge, "contributors", "contributors?page=x");
}
