//! Objects that no ref leads to are hidden from all but masters: docs/security.md.

use hexforge_tests::{Forge, on_every_store};

use crate::api::repositories::refs_support::{ProjectFixture, filled_fixture};

on_every_store!(
    deleted_commits_are_visible_to_masters_only,
    a_fork_hides_what_its_source_deleted,
    a_branch_or_tag_brings_nothing_back,
    a_pipeline_keeps_what_it_is_about,
    what_is_reachable_is_found_by_its_id,
    a_ref_whose_name_looks_like_an_id_is_meant,
    names_that_no_ref_can_have_name_nothing,
);

/// All calls that take an object id, with a commit, a file in it and the id of its blob.
fn calls(fixture: &ProjectFixture, [commit, path, blob]: [&str; 3]) -> Vec<String> {
    let base = format!("{}/repository", fixture.cast.path);
    let short = &commit[..10];
    vec![
        format!("{base}/blobs/{commit}?filepath={path}"),
        format!("{base}/blobs/{short}?filepath={path}"),
        format!("{base}/blobs/v1-3-g{short}?filepath={path}"),
        format!("{base}/blobs/{commit}~0?filepath={path}"),
        format!("{base}/commits/{commit}/blob?filepath={path}"),
        format!("{base}/raw_blobs/{blob}"),
        format!("{base}/raw_blobs/{}", &blob[..8]),
        format!("{base}/tree?ref_name={commit}"),
        format!("{base}/archive.tar.gz?sha={commit}"),
        format!("{base}/commits/{commit}/statuses"),
        format!("{base}/commits/{commit}/builds"),
        format!("{base}/commits/{commit}"),
        format!("{base}/commits/{short}/diff"),
        format!("{base}/files?ref={commit}&file_path={path}"),
    ]
}

fn statuses(forge: &Forge, fixture: &ProjectFixture, who: &str, calls: &[String]) -> Vec<u16> {
    let ask = |path: &String| forge.get(path).token(fixture.token(who)).send().status;
    calls.iter().map(ask).collect()
}

fn delete_branch(forge: &Forge, fixture: &ProjectFixture) {
    let path = format!("{}/feature%2Fx", fixture.branches);
    forge.delete(&path).token(fixture.token("developer")).send().expect(200);
}

/// The commit of the branch `feature/x`, a file that only it has, and the id of its blob.
fn gone(fixture: &ProjectFixture) -> [String; 3] {
    [fixture.id("feature/x"), "x".to_owned(), fixture.id("feature/x:x")]
}

fn deleted_commits_are_visible_to_masters_only(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let gone = gone(&fixture);
    let calls = calls(&fixture, gone.each_ref().map(String::as_str));
    let everybody = ["reporter", "developer", "master", "owner", "root"];
    let found = vec![200; calls.len()];
    for who in everybody {
        assert_eq!(statuses(forge, &fixture, who, &calls), found, "{who} {calls:?}");
    }
    delete_branch(forge, &fixture);
    for who in ["master", "owner", "root"] {
        assert_eq!(statuses(forge, &fixture, who, &calls), found, "{who} {calls:?}");
    }
    for who in ["reporter", "developer"] {
        assert_eq!(
            statuses(forge, &fixture, who, &calls),
            vec![404; calls.len()],
            "{who} {calls:?}"
        );
        // The answer is the same as for an object that never existed.
        let compare = format!("{}/repository/compare?from=master&to=", fixture.cast.path);
        let compare = |to: &str| {
            forge.get(&format!("{compare}{to}")).token(fixture.token(who)).send().expect(200)
        };
        assert_eq!(compare(&gone[0]), compare(&"f".repeat(40)));
    }
}

/// The owner of a fork is not a master of its source.
fn a_fork_hides_what_its_source_deleted(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let gone = gone(&fixture);
    let calls = calls(&fixture, gone.each_ref().map(String::as_str));
    delete_branch(forge, &fixture);
    let owner = forge.get("/user").token(fixture.token("reporter")).send().expect(200);
    let path = format!("/projects/fork/{}", fixture.project());
    let form = [("namespace", owner["username"].as_str().expect("a name"))];
    let fork = forge.post(&path).token(fixture.token("reporter")).form(&form).send().expect(201);
    let fork = format!("/projects/{}", fork["id"]);
    let of_fork: Vec<String> =
        calls.iter().map(|call| call.replacen(&fixture.cast.path, &fork, 1)).collect();
    let expect = |status: u16| {
        assert_eq!(statuses(forge, &fixture, "reporter", &of_fork), vec![status; calls.len()]);
    };
    expect(404);
    assert_eq!(statuses(forge, &fixture, "root", &of_fork), vec![200; calls.len()]);
    // It stays hidden when the project is no longer marked as a fork.
    forge.delete(&format!("{fork}/fork")).token(fixture.token("root")).send().expect(200);
    expect(404);
}

fn a_branch_or_tag_brings_nothing_back(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let [commit, ..] = gone(&fixture);
    delete_branch(forge, &fixture);
    let branch = |who: &str| {
        let form = [("branch_name", "again"), ("ref", &commit)];
        forge.post(&fixture.branches).token(fixture.token(who)).form(&form).send().status
    };
    let tag = |who: &str| {
        let form = [("tag_name", "again"), ("ref", &commit)];
        forge.post(&fixture.tags).token(fixture.token(who)).form(&form).send().status
    };
    let say = |who: &str| {
        let path = format!("{}/statuses/{commit}", fixture.cast.path);
        let form = [("state", "success"), ("ref", "again")];
        forge.post(&path).token(fixture.token(who)).form(&form).send().status
    };
    assert_eq!((branch("developer"), tag("developer"), say("developer")), (400, 405, 404));
    assert_eq!((branch("master"), tag("master"), say("master")), (200, 201, 201));
}

fn a_pipeline_keeps_what_it_is_about(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let gone = gone(&fixture);
    let calls = calls(&fixture, gone.each_ref().map(String::as_str));
    let path = format!("{}/statuses/{}", fixture.cast.path, gone[0]);
    let form = [("state", "success")];
    forge.post(&path).token(fixture.token("developer")).form(&form).send().expect(201);
    delete_branch(forge, &fixture);
    assert_eq!(statuses(forge, &fixture, "reporter", &calls), vec![200; calls.len()], "{calls:?}");
}

/// Reachable objects are found whatever their age, and after any change of refs.
fn what_is_reachable_is_found_by_its_id(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let first = [fixture.id("v1.0.0"), "README".to_owned(), fixture.id("v1.0.0:README")];
    let calls = calls(&fixture, first.each_ref().map(String::as_str));
    let found = vec![200; calls.len()];
    assert_eq!(statuses(forge, &fixture, "reporter", &calls), found, "{calls:?}");
    delete_branch(forge, &fixture);
    assert_eq!(statuses(forge, &fixture, "reporter", &calls), found, "{calls:?}");
    for tag in ["v1.0.0", "v1.1.0"] {
        let path = format!("{}/{tag}", fixture.tags);
        forge.delete(&path).token(fixture.token("developer")).send().expect(200);
        assert_eq!(statuses(forge, &fixture, "reporter", &calls), found, "{calls:?}");
    }
}

/// Git takes such names for ids, or for the output of `git describe`.
fn a_ref_whose_name_looks_like_an_id_is_meant(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let [commit, ..] = gone(&fixture);
    let names = [
        format!("x-1-g{commit}"),
        format!("{}-x", &commit[..4]),
        commit[..6].to_uppercase(),
        commit[..7].to_owned(),
    ];
    for name in &names {
        let form = [("branch_name", name.as_str()), ("ref", "master")];
        forge
            .post(&fixture.branches)
            .token(fixture.token("developer"))
            .form(&form)
            .send()
            .expect(200);
    }
    delete_branch(forge, &fixture);
    for name in &names {
        for steps in ["", "~0", "^{}"] {
            let path =
                format!("{}/repository/blobs/{name}{steps}?filepath=README", fixture.cast.path);
            let path = path.replace('^', "%5E").replace('{', "%7B").replace('}', "%7D");
            let file = forge.get(&path).token(fixture.token("reporter")).send();
            assert_eq!((file.status, file.text()), (200, "three\n"), "{name}{steps}");
        }
    }
}

fn names_that_no_ref_can_have_name_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for length in [255, 256, 300, 1000] {
        for name in ["x".repeat(length), format!("a/{}", "x".repeat(length - 2))] {
            let path = format!("{}/repository/tree?ref_name={name}", fixture.cast.path);
            forge.get(&path).token(fixture.token("reporter")).send().expect(404);
        }
    }
}
