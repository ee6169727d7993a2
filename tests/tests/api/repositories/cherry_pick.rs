//! POST /projects/:id/repository/commits/:sha/cherry_pick: commits_files.md section 8.

use hexforge_tests::{Forge, Response, on_every_store};
use serde_json::{Value, json};

use crate::api::repositories::commits_support::{content, state, tip};
use crate::api::repositories::refs_support::{ProjectFixture, filled_fixture, protect};
use crate::api::support::{message, queued_events};

on_every_store!(
    a_pick_keeps_message_author_and_author_date,
    a_merge_is_picked_against_its_first_parent,
    any_revision_is_picked,
    a_root_commit_is_picked,
    picks_are_refused_in_the_order_of_the_reference,
);

fn pick(forge: &Forge, fixture: &ProjectFixture, revision: &str, branch: &str) -> Response {
    let path = format!("{}/repository/commits/{revision}/cherry_pick", fixture.cast.path);
    let body = json!({ "branch": branch });
    forge.post(&path).token(fixture.token("developer")).json(&body).send()
}

/// POST /projects/:id/repository/commits/:sha/cherry_pick
fn a_pick_keeps_message_author_and_author_date(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (old, picked, told) =
        (fixture.id("master"), fixture.id("feature/x"), queued_events(forge).len());
    let answer = pick(forge, &fixture, "feature%2Fx", "master");
    let made = answer.expect(201);
    let id = tip(forge, &fixture, "master");
    let expected = format!(
        concat!(
            r#"{{"id":"{id}","short_id":"{short}","title":"Beside","author_name":"Ada","#,
            r#""author_email":"ada@example.com","created_at":"{at}","message":"Beside\n"}}"#,
        ),
        id = id,
        short = &id[..8],
        at = made["created_at"].as_str().expect("a time"),
    );
    assert_eq!(answer.text(), expected);
    assert_eq!(fixture.id("master~1"), old);
    let author =
        |commit: &str| fixture.tree.git_bare(&["log", "-1", "--format=%an %ae %ad %B", commit]);
    assert_eq!(author(&id), author(&picked));
    let committer = fixture.tree.git_bare(&["log", "-1", "--format=%cn", &id]);
    assert_ne!(committer, "Bob");
    assert_eq!(content(forge, &fixture, "master", "x"), "x\n");
    assert_eq!(content(forge, &fixture, "master", "README"), "three\n");
    assert_eq!(queued_events(forge).len(), told + 1);
    // The branch has the change now.
    let before = state(forge, &fixture);
    assert_eq!(pick(forge, &fixture, &picked, "master").expect(400), conflict());
    assert_eq!(state(forge, &fixture), before);
}

/// POST /projects/:id/repository/commits/:sha/cherry_pick
fn a_merge_is_picked_against_its_first_parent(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let git = &fixture.tree;
    git.git(&["checkout", "-q", "-b", "other", "master~2"]);
    git.git(&["checkout", "-q", "master"]);
    git.git(&["merge", "-q", "--no-ff", "-m", "Merge", "feature/x"]);
    forge.fill(fixture.project(), git);
    pick(forge, &fixture, "master", "other").expect(201);
    assert_eq!(content(forge, &fixture, "other", "x"), "x\n");
    assert_eq!(content(forge, &fixture, "other", "README"), "one\n");
    assert_eq!(fixture.id("other~1"), fixture.id("master~3"));
}

/// POST /projects/:id/repository/commits/:sha/cherry_pick: "any revision is taken".
fn any_revision_is_picked(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let git = &fixture.tree;
    git.git(&["checkout", "-q", "-b", "many", "master"]);
    let ids: Vec<String> =
        ["a", "b", "c", "d", "e"].map(|name| git.write(name, "x\n").commit(name)).into();
    git.git(&["tag", "light", "many~2"]);
    git.git(&["tag", "-a", "heavy", "-m", "tag", "many~1"]);
    forge.fill(fixture.project(), git);
    let before = tip(forge, &fixture, "master");
    for (revision, title) in
        [(&*ids[0], "a"), (&ids[1][..7], "b"), ("light", "c"), ("heavy", "d"), ("many~0", "e")]
    {
        let made = pick(forge, &fixture, revision, "master").expect(201);
        assert_eq!(made["title"], title, "{revision}");
        assert_eq!(made["id"], *tip(forge, &fixture, "master"));
        assert_eq!(content(forge, &fixture, "master", title), "x\n");
    }
    assert_eq!(fixture.id("master~5"), before);
}

/// POST /projects/:id/repository/commits/:sha/cherry_pick: a root commit adds all of its files.
fn a_root_commit_is_picked(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let git = &fixture.tree;
    git.git(&["checkout", "-q", "--orphan", "alien"]);
    git.git(&["rm", "-q", "-r", "-f", "."]);
    git.write("alien", "x\n").commit("Alien");
    forge.fill(fixture.project(), git);
    let made = pick(forge, &fixture, "alien", "master").expect(201);
    assert_eq!(made["title"], "Alien");
    assert_eq!(content(forge, &fixture, "master", "alien"), "x\n");
    assert_eq!(content(forge, &fixture, "master", "README"), "three\n");
    // The root of the same history is in the branch already.
    assert_eq!(pick(forge, &fixture, "v1.0.0", "master").expect(400), conflict());
}

fn conflict() -> Value {
    message(
        "Sorry, we cannot cherry-pick this commit automatically.\n                     A \
         cherry-pick may have already been performed with this commit, or a more recent commit \
         may have updated some of its content.",
    )
}

/// POST /projects/:id/repository/commits/:sha/cherry_pick
fn picks_are_refused_in_the_order_of_the_reference(forge: &Forge) {
    let fixture = filled_fixture(forge);
    protect(forge, &fixture, "feature/x", false, false);
    let before = state(forge, &fixture);
    for (revision, branch, status, expected) in [
        ("missing", "missing", 404, message("404 Commit Not Found")),
        ("master", "missing", 404, message("404 Branch Not Found")),
        ("master", "v1.0.0", 404, message("404 Branch Not Found")),
        ("master", "a..b", 404, message("404 Branch Not Found")),
        ("master", "", 404, message("404 Branch Not Found")),
        ("master", "feature/x", 400, message("You are not allowed to push into this branch")),
        // The commit is in the branch already.
        ("master~1", "master", 400, conflict()),
    ] {
        let answer = pick(forge, &fixture, revision, branch);
        assert_eq!(answer.expect(status), expected, "{revision} {branch}");
    }
    protect(forge, &fixture, "feature/x", true, false);
    assert_eq!(pick(forge, &fixture, "master", "feature/x").expect(400), conflict());
    assert_eq!(state(forge, &fixture), before);
}
