//! Access to repositories: reference section 6.4 of projects and groups.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hexforge_application::repository::task;
use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, Response, on_every_store};

use super::support::Scene;

on_every_store!(
    strangers_are_asked_who_they_are,
    members_are_served_by_their_level,
    names_passwords_and_tokens_are_accepted,
    the_operation_decides_and_not_the_query,
    archived_projects_blocked_users_and_renamed_projects,
    git_over_http_can_be_switched_off,
    a_fork_sees_nothing_of_a_source_that_went_private,
    a_project_that_is_removed_during_a_fetch_is_not_found,
);

fn discover(scene: &Scene<'_>, service: &str, who: Option<(&str, &str)>) -> Response {
    let target = format!("/ada/ship.git/info/refs?service={service}");
    let request = scene.forge.page("GET", &target);
    match who {
        Some((name, password)) => request.header("Authorization", &basic(name, password)).send(),
        None => request.send(),
    }
}

/// The header of basic authentication.
pub fn basic(name: &str, password: &str) -> String {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut child = Command::new("base64")
        .args(["-w", "0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("base64 can be started");
    let both = format!("{name}:{password}");
    child.stdin.take().expect("a pipe").write_all(both.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    format!("Basic {}", String::from_utf8_lossy(&output.stdout).trim())
}

#[track_caller]
fn assert_challenge(response: &Response) {
    assert_eq!(response.status, 401);
    assert_eq!(response.header("www-authenticate"), Some("Basic realm=\"GitLab\""));
    assert_eq!(response.text(), "HTTP Basic: Access denied\n");
}

fn strangers_are_asked_who_they_are(forge: &Forge) {
    let scene = Scene::new(forge);
    for service in ["git-upload-pack", "git-receive-pack"] {
        assert_challenge(&discover(&scene, service, None));
        assert_challenge(&discover(&scene, service, Some(("ada", "wrong"))));
        assert_challenge(&discover(&scene, service, Some(("nobody", PASSWORD))));
        // The answer for a missing project is the same.
        let target = format!("/ada/missing.git/info/refs?service={service}");
        assert_challenge(&forge.page("GET", &target).send());
        // Signed-in users who do not see the project get the same answer for both.
        forge.new_user(&format!("stranger-{}", service.len()), &[]);
        let stranger = format!("stranger-{}", service.len());
        let hidden = discover(&scene, service, Some((&stranger, PASSWORD)));
        assert_eq!((hidden.status, hidden.text()), (404, "Not Found"));
        let header = basic(&stranger, PASSWORD);
        let missing = forge.page("GET", &target).header("Authorization", &header).send();
        assert_eq!((missing.status, missing.text()), (404, "Not Found"));
    }
    scene.tree.commit("Begin\n");
    let address = format!("http://{}/ada/ship.git", forge.address);
    scene.push_to(&address, &["master"]).refused(&["could not read Username"]);
    scene.push_to(&scene.address("ada", "wrong"), &["master"]).refused(&["Authentication failed"]);
    scene.push("stranger-15", &["master"]).refused(&["not found"]);
}

fn members_are_served_by_their_level(forge: &Forge) {
    let scene = Scene::new(forge);
    for (name, level, push) in [
        ("guest", "10", 403),
        ("reporter", "20", 403),
        ("developer", "30", 200),
        ("master", "40", 200),
    ] {
        scene.member(name, level);
        let pushes = discover(&scene, "git-receive-pack", Some((name, PASSWORD)));
        assert_eq!(pushes.status, push, "{name}");
        if push == 403 {
            assert_eq!(pushes.text(), "Access denied");
        }
    }
    // A guest of a private project sees the project, but not its code.
    let fetches = discover(&scene, "git-upload-pack", Some(("guest", PASSWORD)));
    assert_eq!((fetches.status, fetches.text()), (403, "Access denied"));
    scene.tree.commit("Begin\n");
    scene.push("reporter", &["master"]).refused(&["403"]);
}

fn names_passwords_and_tokens_are_accepted(forge: &Forge) {
    let scene = Scene::new(forge);
    let ada = scene.ada.clone();
    for (name, password) in [
        ("ada", PASSWORD),
        ("ADA", PASSWORD),
        ("ada@example.com", PASSWORD),
        ("ada", ada.as_str()),
        ("root", ROOT),
    ] {
        let answer = discover(&scene, "git-receive-pack", Some((name, password)));
        assert_eq!(answer.status, 200, "{name}");
        let media_type = Some("application/x-git-receive-pack-advertisement");
        assert_eq!(answer.header("content-type"), media_type);
        assert!(answer.header("cache-control").is_some_and(|value| value.contains("no-cache")));
        assert_eq!(answer.header("pragma"), Some("no-cache"));
        assert_eq!(answer.header("expires"), Some("Fri, 01 Jan 1980 00:00:00 GMT"));
    }
    assert_challenge(&discover(&scene, "git-receive-pack", Some(("root", ada.as_str()))));
    let target = "/ada/ship/info/refs?service=git-receive-pack";
    assert_eq!(forge.page("GET", target).token(&ada).send().status, 200, "without `.git`");
    // With the user name `oauth2`, a token only allows reading.
    let pushes = discover(&scene, "git-receive-pack", Some(("oauth2", ada.as_str())));
    assert_eq!((pushes.status, pushes.text()), (403, "Access denied"));
    assert_challenge(&discover(&scene, "git-receive-pack", Some(("oauth2", "wrong"))));
    // Parameters do not authenticate.
    let target = format!("{target}&private_token={ada}");
    assert_challenge(&forge.page("GET", &target).send());
    scene.tree.commit("Begin\n");
    scene.push_to(&scene.address("ada", &ada), &["master"]).ok();
}

/// Security lessons, read/write confusion: the requested operation counts, not the query.
fn the_operation_decides_and_not_the_query(forge: &Forge) {
    let scene = Scene::of_visibility(forge, "20");
    forge.new_user("reader", &[]);
    let pushes = forge.page("POST", "/ada/ship.git/git-receive-pack?service=git-upload-pack");
    let pushes = pushes.header("Content-Type", "application/x-git-receive-pack-request");
    let pushes = pushes.body("0000");
    assert_challenge(&pushes.send());
    let pushes = forge.page("POST", "/ada/ship.git/git-receive-pack?service=git-upload-pack");
    let pushes = pushes.header("Content-Type", "application/x-git-receive-pack-request");
    let pushes = pushes.header("Authorization", &basic("reader", PASSWORD)).body("0000");
    assert_eq!(pushes.send().status, 403);
    assert_challenge(&discover(&scene, "git-receive-pack", None));
    for (target, text) in [
        ("/ada/ship.git/info/refs", "Please upgrade your git client."),
        ("/ada/ship.git/info/refs?service=git-upload-archive", "There is no such service."),
    ] {
        let answer = forge.page("GET", target).send();
        assert_eq!((answer.status, answer.text()), (403, text));
    }
}

fn archived_projects_blocked_users_and_renamed_projects(forge: &Forge) {
    let scene = Scene::filled(forge);
    scene.member("master", "40");
    let path = format!("/projects/{}", scene.project);
    forge.post(&format!("{path}/archive")).token(&scene.ada).send().expect(201);
    for who in ["ada", "master", "root"] {
        let pushes = discover(&scene, "git-receive-pack", Some((who, PASSWORD)));
        assert_eq!((pushes.status, pushes.text()), (403, "Access denied"), "{who}");
    }
    forge.post(&format!("{path}/unarchive")).token(&scene.ada).send().expect(201);
    let user = forge.get("/users?username=master").token(ROOT).send().expect(200);
    forge.put(&format!("/users/{}/block", user[0]["id"])).token(ROOT).send().expect(200);
    assert_challenge(&discover(&scene, "git-receive-pack", Some(("master", PASSWORD))));
    let fields = [("name", "boat"), ("path", "boat")];
    forge.put(&path).token(&scene.ada).form(&fields).send().expect(200);
    scene.tree.commit("More\n");
    scene.push("ada", &["master"]).refused(&["not found"]);
    let address = scene.address("ada", PASSWORD).replace("ship", "boat");
    scene.push_to(&address, &["master"]).ok();
}

/// Forks only have the commits that existed when they were created; later ones can be read neither by name nor by id.
fn a_fork_sees_nothing_of_a_source_that_went_private(forge: &Forge) {
    let scene = Scene::of_visibility(forge, "20");
    let public = scene.tree.write("README", "hello\n").commit("Begin\n");
    scene.push("ada", &["master"]).ok();
    let (_, bob) = forge.user("bob");
    let source = format!("/projects/{}", scene.project);
    let fork = forge.post(&format!("/projects/fork/{}", scene.project)).token(&bob);
    let fork = fork.form(&[("namespace", "bob")]).send().expect(201)["id"].to_string();
    while task::run_next(&forge.app).expect("tasks can be done") {}
    let hidden = [("name", "ship"), ("visibility_level", "0")];
    forge.put(&source).token(&scene.ada).form(&hidden).send().expect(200);
    let secret = scene.tree.write("README", "a secret\n").commit("Go on\n");
    scene.push("ada", &["master"]).ok();

    forge.get(&source).token(&bob).send().expect(404);
    for (commit, status) in [(&public, 200), (&secret, 404)] {
        for path in ["blobs", "raw_blobs"] {
            let blob = format!("/projects/{fork}/repository/{path}/{commit}?filepath=README");
            let expected = if path == "blobs" { status } else { 404 };
            assert_eq!(forge.get(&blob).token(&bob).send().status, expected, "{path} {commit}");
        }
        let archive = format!("/projects/{fork}/repository/archive?sha={commit}");
        assert_eq!(forge.get(&archive).token(&bob).send().status, status, "{commit}");
    }
    let address = scene.address("bob", PASSWORD).replace("/ada/", "/bob/");
    scene.git(&["fetch", &address, &public]).ok();
    scene.git(&["fetch", "--refetch", &address, &secret]).refused(&["not our ref"]);
    let shown = forge.get(&format!("/projects/{fork}")).token(&bob).send().expect(200);
    assert!(!shown.to_string().contains("a secret"), "{shown}");
}

/// rest_of_v3.md 7.1: "the other way is refused with `Git access over HTTP is not allowed`".
fn git_over_http_can_be_switched_off(forge: &Forge) {
    let scene = Scene::filled(forge);
    let callers = [None, Some(("ada", PASSWORD)), Some(("root", PASSWORD)), Some(("eve", "x"))];
    let allow = |protocol: &str| {
        let form = [("enabled_git_access_protocol", protocol)];
        forge.put("/application/settings").token(ROOT).form(&form).send().expect(200);
    };
    allow("ssh");
    for service in ["git-upload-pack", "git-receive-pack"] {
        for who in callers {
            let answer = discover(&scene, service, who);
            let expected = match who {
                // Wrong credentials are refused first.
                Some(("eve", _)) => (401, "HTTP Basic: Access denied\n"),
                _ => (403, "Git access over HTTP is not allowed"),
            };
            assert_eq!((answer.status, answer.text()), expected, "{service} {who:?}");
        }
    }
    scene.tree.commit("More\n");
    scene.push("ada", &["master"]).refused(&["403"]);
    allow("http");
    scene.push("ada", &["master"]).ok();
}

/// The server has opened the repository and waits for the rest of the request when the project is removed.
fn a_project_that_is_removed_during_a_fetch_is_not_found(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tip = scene.tree.git(&["rev-parse", "HEAD"]);
    let fork = forge.user("eve").1;
    for (name, protocol) in [("old", "version=0"), ("new", "version=2")] {
        let fields = [("name", name), ("visibility_level", "20")];
        let made = forge.post("/projects").token(&fork).form(&fields).send().expect(201);
        let url =
            format!("http://eve:{}@{}/eve/{name}.git", PASSWORD.replace(' ', "%20"), forge.address);
        scene.push_to(&url, &["master"]).ok();
        let line = |text: &str| format!("{:04x}{text}\n", text.len() + 5);
        let want = line(&format!("want {tip}"));
        let (begin, end) = match protocol {
            "version=2" => (line("command=fetch") + "0001" + &want, line("done") + "0000"),
            _ => (want, "0000".to_owned() + &line("done")),
        };
        let head = format!(
            "POST /eve/{name}.git/git-upload-pack HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
             Git-Protocol: {protocol}\r\nContent-Type: application/x-git-upload-pack-request\r\n\
             Content-Length: {}\r\n\r\n",
            begin.len() + end.len()
        );
        let mut client = TcpStream::connect(forge.address).expect("the server listens");
        client.write_all((head + &begin).as_bytes()).expect("it reads");
        // If the repository is opened only after the removal, the answer is the same.
        std::thread::sleep(Duration::from_millis(500));
        let path = format!("/projects/{}", made["id"]);
        forge.delete(&path).token(&fork).send().expect(200);
        client.write_all(end.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).expect("it answers");
        let answer = String::from_utf8_lossy(&answer);
        let is_not_found = answer.starts_with("HTTP/1.1 404");
        // Version 2 announces the pack before it is computed. Open packs may still be readable.
        let is_told = answer.contains("the repository was removed") || answer.contains("PACK");
        assert!(is_not_found || protocol == "version=2" && is_told, "{protocol}: {answer}");
    }
}
