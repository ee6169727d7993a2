//! Archiving projects: reference section 4.9.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use crate::api::groups::group_support::{
    activity_in, add_member, forbidden, new_group, no_project, path_of_group, path_of_project,
    project_in, project_now,
};
use crate::api::projects::project_support::{a_cast, assert_list, read};
use crate::api::support::{MISSING, assert_only_for_users, id_of, queued_events};

on_every_store!(
    a_project_is_archived_and_brought_back,
    archiving_is_for_owners,
    owners_of_the_group_archive_its_projects,
    archiving_is_no_news_and_no_activity,
    an_archived_project_can_still_be_worked_with,
);

/// POST /projects/:id/archive, POST /projects/:id/unarchive
fn a_project_is_archived_and_brought_back(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    for (call, archived) in [
        ("unarchive", false),
        ("archive", true),
        ("archive", true),
        ("unarchive", false),
        ("unarchive", false),
        ("archive", true),
    ] {
        for path in [cast.path.as_str(), "/projects/ada%2Fship"] {
            let answer = forge.post(&format!("{path}/{call}")).token(owner).send().expect(201);
            assert_eq!(answer["archived"], archived, "{call}");
            assert_eq!(answer.to_string(), project_now(forge, id_of(&answer)).to_string());
        }
    }
    assert_list(forge, owner, "/projects?archived=true", &["Ship"]);
    assert_list(forge, owner, "/projects?archived=false", &[]);
}

/// POST /projects/:id/archive, POST /projects/:id/unarchive
fn archiving_is_for_owners(forge: &Forge) {
    let cast = a_cast(forge, "0");
    for (call, archived) in [("archive", false), ("unarchive", true)] {
        let path = format!("{}/{call}", cast.path);
        assert_only_for_users(forge, &[("POST", path.clone())]);
        for who in ["guest", "reporter", "developer", "master"] {
            let refused = forge.post(&path).token(cast.token(who)).send();
            assert_eq!(refused.expect(403), forbidden(), "{call} {who}");
        }
        for who in ["stranger", "external"] {
            let refused = forge.post(&path).token(cast.token(who)).send();
            assert_eq!(refused.expect(404), no_project(), "{call} {who}");
        }
        let missing = forge.post(&format!("/projects/{MISSING}/{call}")).token(ROOT).send();
        assert_eq!(missing.expect(404), no_project());
        assert_eq!(read(forge, ROOT, &cast.project)["archived"], archived);
        let done = forge.post(&path).token(ROOT).send().expect(201);
        assert_eq!(done["archived"], !archived);
    }
    let form = [("name", "Ship"), ("public", "true")];
    forge.put(&cast.path).token(ROOT).form(&form).send().expect(200);
    for call in ["archive", "unarchive"] {
        let path = format!("{}/{call}", cast.path);
        let refused = forge.post(&path).token(cast.token("stranger")).send();
        assert_eq!(refused.expect(403), forbidden(), "{call}");
    }
}

/// POST /projects/:id/archive
fn owners_of_the_group_archive_its_projects(forge: &Forge) {
    let (ada, ada_token) = forge.user("ada");
    let (bob, bob_token) = forge.user("bob");
    let crew = new_group(forge, ROOT, "crew", &[]);
    let ship = project_in(forge, &crew, "Ship", &[]);
    add_member(forge, &path_of_group(&crew), ada, 50, &[]);
    add_member(forge, &path_of_group(&crew), bob, 40, &[]);
    let path = format!("{}/archive", path_of_project(&ship));
    assert_eq!(forge.post(&path).token(&bob_token).send().expect(403), forbidden());
    assert_eq!(forge.post(&path).token(&ada_token).send().expect(201)["archived"], true);
}

/// POST /projects/:id/archive, POST /projects/:id/unarchive
fn archiving_is_no_news_and_no_activity(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let before = (queued_events(forge), activity_in(forge, &cast.project));
    forge.clock.advance(TimeDelta::hours(2));
    for call in ["archive", "unarchive"] {
        let path = format!("{}/{call}", cast.path);
        let answer = forge.post(&path).token(ROOT).send().expect(201);
        assert_eq!(answer["last_activity_at"], "2016-09-22T10:30:00.000Z");
    }
    assert_eq!((queued_events(forge), activity_in(forge, &cast.project)), before);
}

/// POST /projects/:id/archive
fn an_archived_project_can_still_be_worked_with(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    forge.post(&format!("{}/archive", cast.path)).token(owner).send().expect(201);
    let form = [("name", "Boat"), ("description", "d")];
    let edited = forge.put(&cast.path).token(owner).form(&form).send().expect(200);
    assert_eq!((&edited["name"], &edited["archived"]), (&"Boat".into(), &true.into()));
    forge.post(&format!("{}/star", cast.path)).token(owner).send().expect(201);
    let hook = [("url", "http://example.com/")];
    forge.post(&format!("{}/hooks", cast.path)).token(owner).form(&hook).send().expect(201);
    let (bob, _) = forge.user("bob");
    add_member(forge, &cast.path, bob, 30, &[]);
    new_group(forge, ROOT, "crew", &[]);
    let fork = [("namespace", "crew")];
    let fork = forge.post(&format!("/projects/fork/{}", id_of(&cast.project))).form(&fork);
    let fork = fork.token(ROOT).send().expect(201);
    assert_eq!(fork["archived"], false);
    forge.delete(&cast.path).token(owner).send().expect(200);
}
