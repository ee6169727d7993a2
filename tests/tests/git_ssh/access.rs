//! Access and commands over SSH: reference section 6.4 of projects and groups, and "git" of clients.

use std::io::{Read, Write};
use std::process::Stdio;

use hexforge_domain::commit::ObjectId;
use hexforge_domain::refs::Ref;
use hexforge_tests::forge::ROOT;
use hexforge_tests::ssh_client::{Identity, output_of};
use hexforge_tests::{Forge, on_every_store};

use super::support::{Scene, address, git, register, run};

on_every_store!(
    a_shell_request_gets_a_greeting,
    both_forms_of_addresses_work,
    only_registered_keys_of_git_are_taken,
    blocked_users_and_deleted_keys_are_refused_at_once,
    permissions_are_checked_again_on_open_connections,
    what_was_advertised_can_be_fetched_after_a_force_push,
    hidden_projects_are_as_missing_ones,
    members_do_what_their_level_allows,
    unknown_commands_are_refused,
    nothing_but_sessions_is_opened,
    archived_and_renamed_projects,
    archives_are_what_git_makes_of_the_same_commit,
    reserved_refs_are_written_by_the_server_alone,
    git_over_ssh_can_be_switched_off,
);

const NOT_FOUND: &str = "The project you were looking for could not be found.\n";

fn a_shell_request_gets_a_greeting(forge: &Forge) {
    let scene = Scene::new(forge);
    let (status, out, err) = output_of(scene.key.ssh(scene.ssh, &["-T"], &[]));
    assert_eq!(
        (status, out.as_str(), err.as_str()),
        (Some(0), "Welcome to hexforge, ada!\r\n", "")
    );
    // A request for a terminal is refused.
    let (_, _, err) = output_of(scene.key.ssh(scene.ssh, &["-tt"], &[]));
    assert!(err.contains("PTY allocation request failed"), "{err}");
    // Other types of keys: RSA and ECDSA.
    for kind in [&["-t", "rsa", "-b", "2048"][..], &["-t", "ecdsa", "-b", "384"]] {
        let key = Identity::generate(kind);
        register(forge, &scene.ada, &key);
        let (status, out, err) = output_of(key.ssh(scene.ssh, &["-T"], &[]));
        assert_eq!((status, out.as_str()), (Some(0), "Welcome to hexforge, ada!\r\n"), "{err}");
    }
}

fn both_forms_of_addresses_work(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tip = scene.tree.git(&["rev-parse", "HEAD"]);
    let ip = scene.ssh.ip();
    for address in [
        address(scene.ssh, "ada/ship.git"),
        address(scene.ssh, "ada/ship"),
        address(scene.ssh, "ada/ship.git/"),
        format!("git@{ip}:ada/ship.git"),
        format!("git@{ip}:/ada/ship.git"),
        format!("git@{ip}:ada/ship"),
    ] {
        let listed = scene.git(&["ls-remote", &address, "refs/heads/master"]).ok();
        assert_eq!(listed, format!("{tip}\trefs/heads/master"), "{address}");
    }
}

fn only_registered_keys_of_git_are_taken(forge: &Forge) {
    let scene = Scene::filled(forge);
    let stranger = Identity::new();
    let (status, out, err) = output_of(stranger.ssh(scene.ssh, &["-T"], &[]));
    assert_eq!((status, out.as_str()), (Some(255), ""));
    assert!(err.contains("Permission denied (publickey)"), "{err}");
    run(&mut git(&scene.tree, &stranger, scene.ssh, &["ls-remote", &scene.address()]))
        .refused(&["Permission denied (publickey)"]);
    // The only user name is `git`; the key identifies the user.
    let as_ada = scene.address().replace("git@", "ada@");
    scene.git(&["ls-remote", &as_ada]).refused(&["Permission denied (publickey)"]);
    // Password authentication is not offered.
    let (status, _, err) =
        output_of(stranger.ssh(scene.ssh, &["-T", "-o", "PreferredAuthentications=password"], &[]));
    assert_eq!(status, Some(255));
    assert!(err.contains("Permission denied (publickey)"), "{err}");
    // Signatures with SHA-1 are refused.
    let rsa = Identity::generate(&["-t", "rsa", "-b", "2048"]);
    register(forge, &scene.ada, &rsa);
    let sha1 = ["-T", "-o", "PubkeyAcceptedAlgorithms=ssh-rsa"];
    assert_eq!(output_of(rsa.ssh(scene.ssh, &sha1, &[])).0, Some(255));
    assert_eq!(output_of(rsa.ssh(scene.ssh, &["-T"], &[])).0, Some(0));
}

fn blocked_users_and_deleted_keys_are_refused_at_once(forge: &Forge) {
    let scene = Scene::filled(forge);
    let user = forge.get("/users?username=ada").token(ROOT).send().expect(200);
    let user = format!("/users/{}", user[0]["id"]);
    scene.git(&["ls-remote", &scene.address()]).ok();
    forge.put(&format!("{user}/block")).token(ROOT).send().expect(200);
    scene.git(&["ls-remote", &scene.address()]).refused(&["Permission denied (publickey)"]);
    forge.put(&format!("{user}/unblock")).token(ROOT).send().expect(200);
    scene.git(&["ls-remote", &scene.address()]).ok();
    let key = format!("/user/keys/{}", scene.key_id);
    // The block has ended the session.
    forge.delete(&key).token(&forge.sign_in("ada")).send().expect(200);
    scene.git(&["ls-remote", &scene.address()]).refused(&["Permission denied (publickey)"]);
}

/// The permission is checked again on an open connection.
fn permissions_are_checked_again_on_open_connections(forge: &Forge) {
    let scene = Scene::filled(forge);
    let socket = scene.key.path().join("socket");
    let control = format!("ControlPath={}", socket.display());
    let mut master = scene
        .key
        .ssh(scene.ssh, &["-N", "-M", "-o", &control], &[])
        .stdin(Stdio::null())
        .spawn()
        .expect("ssh can be started");
    for _ in 0..200 {
        if socket.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let fetch =
        || output_of(scene.key.ssh(scene.ssh, &["-o", &control], &["git-upload-pack 'ada/ship'"]));
    let (status, out, err) = fetch();
    assert_eq!(status, Some(0), "{err}");
    assert!(out.contains("refs/heads/master"), "{out}");
    let user = forge.get("/users?username=ada").token(ROOT).send().expect(200);
    let user = format!("/users/{}", user[0]["id"]);
    forge.put(&format!("{user}/block")).token(ROOT).send().expect(200);
    let (status, out, err) = fetch();
    assert_eq!((status, out.as_str()), (Some(1), ""));
    assert_eq!(err, "This key is not accepted any more.\n");
    let (status, out, _) = output_of(scene.key.ssh(scene.ssh, &["-T", "-o", &control], &[]));
    assert_eq!((status, out.as_str()), (Some(1), ""));
    forge.put(&format!("{user}/unblock")).token(ROOT).send().expect(200);
    assert_eq!(fetch().0, Some(0));
    let key = format!("/user/keys/{}", scene.key_id);
    forge.delete(&key).token(&forge.sign_in("ada")).send().expect(200);
    assert_eq!(fetch().0, Some(1));
    master.kill().expect("a running process can be killed");
    master.wait().expect("a killed process ends");
}

/// Protocol versions 0 and 1: the client asks for what it saw, though the branch points elsewhere by then.
fn what_was_advertised_can_be_fetched_after_a_force_push(forge: &Forge) {
    let scene = Scene::filled(forge);
    scene.tree.git(&["checkout", "-q", "-b", "topic"]);
    scene.tree.write("README", "first\n").commit("First\n");
    let first = scene.tree.git(&["rev-parse", "HEAD"]);
    scene.git(&["push", "-q", &scene.address(), "topic"]).ok();
    let mut client = scene
        .key
        .ssh(scene.ssh, &[], &["git-upload-pack 'ada/ship'"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ssh can be started");
    let mut output = client.stdout.take().expect("a pipe");
    let mut advertised = String::new();
    loop {
        let mut length = [0; 4];
        output.read_exact(&mut length).expect("the advertisement ends");
        let length = std::str::from_utf8(&length).expect("hexadecimal digits");
        let length = usize::from_str_radix(length, 16).expect("a number");
        if length == 0 {
            break;
        }
        let mut line = vec![0; length - 4];
        output.read_exact(&mut line).expect("the line is complete");
        advertised += &String::from_utf8_lossy(&line);
    }
    assert!(advertised.contains(&format!("{first} refs/heads/topic")), "{advertised}");
    scene.tree.git(&["reset", "-q", "--hard", "master"]);
    scene.tree.write("README", "second\n").commit("Second\n");
    scene.git(&["push", "-q", "--force", &scene.address(), "topic"]).ok();
    let request = format!("0032want {first}\n00000009done\n");
    let mut input = client.stdin.take().expect("a pipe");
    input.write_all(request.as_bytes()).expect("the server reads");
    drop(input);
    let mut answer = Vec::new();
    output.read_to_end(&mut answer).expect("the server answers");
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("0008NAK\nPACK"), "{answer}");
    let status = client.wait().expect("ssh ends");
    assert!(status.success());
}

fn hidden_projects_are_as_missing_ones(forge: &Forge) {
    let scene = Scene::filled(forge);
    let (_, bob) = forge.user("bob");
    let key = Identity::new();
    register(forge, &bob, &key);
    for service in ["git-upload-pack", "git-receive-pack"] {
        for path in ["ada/ship.git", "ada/missing.git", "nobody/ship.git", "x", "~/ship.git"] {
            let (status, out, err) = key.run(scene.ssh, &format!("{service} '{path}'"));
            assert_eq!((status, out.as_str(), err.as_str()), (Some(1), "", NOT_FOUND), "{path}");
        }
    }
    run(&mut git(&scene.tree, &key, scene.ssh, &["ls-remote", &scene.address()]))
        .refused(&[NOT_FOUND.trim()]);
}

fn members_do_what_their_level_allows(forge: &Forge) {
    let scene = Scene::filled(forge);
    let (no_download, no_push) = (
        "You are not allowed to download code from this project.\n",
        "You are not allowed to push code to this project.\n",
    );
    for (name, level, fetch, push) in [
        ("guest", "10", Some(no_download), Some(no_push)),
        ("reporter", "20", None, Some(no_push)),
        ("developer", "30", None, None),
    ] {
        let (id, token) = forge.user(name);
        let id = id.to_string();
        let fields = [("user_id", id.as_str()), ("access_level", level)];
        let path = format!("/projects/{}/members", scene.project);
        forge.post(&path).token(ROOT).form(&fields).send().expect(201);
        let key = Identity::new();
        register(forge, &token, &key);
        for (service, refusal) in [("git-upload-pack", fetch), ("git-receive-pack", push)] {
            let (status, _, err) = key.run(scene.ssh, &format!("{service} 'ada/ship.git'"));
            let expected = (if refusal.is_some() { 1 } else { 0 }, refusal.unwrap_or_default());
            assert_eq!((status, err.as_str()), (Some(expected.0), expected.1), "{name} {service}");
        }
    }
}

/// Security lessons: argument injection and sub-commands.
fn unknown_commands_are_refused(forge: &Forge) {
    let scene = Scene::filled(forge);
    for command in [
        "sh",
        "id",
        "git-upload-pack",
        "git-upload-pack 'ada/ship' ; id",
        "git-upload-pack $(id)",
        "git-upload-pack --strict 'ada/ship'",
        "env --split-string=id",
        "GIT_DIR=/ git-upload-pack 'ada/ship'",
        "git -c core.gitProxy=id upload-pack 'ada/ship'",
        "git-shell",
        "scp -f /etc/passwd",
        "rsync --server --sender . /etc/passwd",
        "git-lfs-authenticate ada/ship verify",
        "git-lfs-transfer ada/ship download",
    ] {
        let (status, out, err) = scene.key.run(scene.ssh, command);
        assert_eq!((status, out.as_str()), (Some(1), ""), "{command}");
        assert!(err.starts_with("Only git-upload-pack, git-receive-pack"), "{command}: {err}");
    }
    let (status, out, _) = scene.key.run(scene.ssh, "git upload-pack '/ada/ship.git'");
    assert_eq!(status, Some(0));
    assert!(out.contains("refs/heads/master"), "{out}");
}

fn nothing_but_sessions_is_opened(forge: &Forge) {
    let scene = Scene::filled(forge);
    let (status, _, err) = output_of(scene.key.ssh(scene.ssh, &["-s"], &["sftp"]));
    assert_eq!(status, Some(255), "{err}");
    assert!(err.contains("subsystem request failed"), "{err}");
    let forward = format!("127.0.0.1:{}", forge.address.port());
    let (status, out, err) = output_of(scene.key.ssh(scene.ssh, &["-W", &forward], &[]));
    assert_ne!(status, Some(0));
    assert_eq!(out, "");
    assert!(err.contains("prohibited") || err.contains("forwarding failed"), "{err}");
    let back = format!("0:{forward}");
    let options = ["-T", "-o", "ExitOnForwardFailure=yes", "-R", &back];
    let (status, _, err) = output_of(scene.key.ssh(scene.ssh, &options, &[]));
    assert_eq!(status, Some(255));
    assert!(err.contains("remote port forwarding failed"), "{err}");
    // Agent forwarding is refused, but the connection goes on.
    let (status, out, _) = output_of(scene.key.ssh(scene.ssh, &["-T", "-A"], &[]));
    assert_eq!((status, out.as_str()), (Some(0), "Welcome to hexforge, ada!\r\n"));
    // Environment variables of the client have no effect.
    let mut ssh = scene.key.ssh(scene.ssh, &["-T", "-o", "SendEnv=LD_PRELOAD GIT_DIR"], &[]);
    ssh.env("GIT_DIR", "/");
    assert_eq!(output_of(ssh).0, Some(0));
}

fn archived_and_renamed_projects(forge: &Forge) {
    let scene = Scene::filled(forge);
    let path = format!("/projects/{}", scene.project);
    forge.post(&format!("{path}/archive")).token(&scene.ada).send().expect(201);
    scene.tree.commit("More\n");
    let push = || scene.git(&["push", &scene.address(), "master"]);
    push().refused(&["You are not allowed to push code to this project."]);
    scene.git(&["ls-remote", &scene.address()]).ok();
    forge.post(&format!("{path}/unarchive")).token(&scene.ada).send().expect(201);
    push().ok();
    let fields = [("name", "boat"), ("path", "boat")];
    forge.put(&path).token(&scene.ada).form(&fields).send().expect(200);
    push().refused(&[NOT_FOUND.trim()]);
    scene.git(&["ls-remote", &address(scene.ssh, "ada/boat.git")]).ok();
}

fn archives_are_what_git_makes_of_the_same_commit(forge: &Forge) {
    let scene = Scene::filled(forge);
    let remote = format!("--remote={}", scene.address());
    for more in [&["master"][..], &["--prefix=ship/1.0/", "master"], &["--format=tar", "HEAD"]] {
        let file = scene.tree.path().join("served.tar");
        let output = format!("--output={}", file.display());
        scene.git(&[&["archive", &remote, &output], more].concat()).ok();
        let served = std::fs::read(&file).expect("git wrote it");
        scene.tree.git(&[&["archive", &output], more].concat());
        let own = std::fs::read(&file).expect("git wrote it");
        assert!(served == own, "{more:?}: {} and {} bytes", served.len(), own.len());
    }
    let formats = scene.git(&["archive", &remote, "--list"]).ok();
    assert_eq!(formats, "tar\ntar.gz\ntar.bz2\nzip");
    scene.git(&["archive", &remote, "nowhere"]).refused(&["no such ref"]);
    // A commit can be requested by its id as long as a ref leads to it.
    scene.tree.git(&["commit", "-q", "--allow-empty", "-m", "gone"]);
    let gone = scene.tree.git(&["rev-parse", "HEAD"]);
    let address = scene.address();
    scene.git(&["push", "-q", &address, &format!("{gone}:refs/heads/gone")]).ok();
    scene.git(&["archive", &remote, &gone, "--output=gone.tar"]).ok();
    scene.git(&["push", "-q", &address, ":refs/heads/gone"]).ok();
    scene.git(&["archive", &remote, &gone]).refused(&["no such ref"]);
    scene.git(&["archive", &remote, "master", "src"]).refused(&["an archive of some paths only"]);
    let other = Identity::new();
    let (_, eve) = forge.user("eve");
    register(forge, &eve, &other);
    let mut archive = git(&scene.tree, &other, scene.ssh, &["archive", &remote, "master"]);
    run(&mut archive).refused(&[NOT_FOUND.trim_end()]);
}

fn reserved_refs_are_written_by_the_server_alone(forge: &Forge) {
    let scene = Scene::filled(forge);
    let address = scene.address();
    let tip = scene.tree.git(&["rev-parse", "master"]);
    for name in ["refs/merge-requests/1/head", &format!("refs/keep-around/{tip}")] {
        let refused = &[
            "[remote rejected]",
            "GitLab: You are not allowed to change the references of merge requests.",
        ];
        scene.git(&["push", "-q", &address, &format!("master:{name}")]).refused(refused);
    }
    // A hidden ref leads to a commit for which there is no branch.
    scene.tree.git(&["commit", "-q", "--allow-empty", "-m", "kept"]);
    let kept = scene.tree.git(&["rev-parse", "HEAD"]);
    scene.git(&["push", "-q", &address, &format!("{kept}:refs/heads/kept")]).ok();
    let target = ObjectId::parse(&kept).expect("git prints ids");
    let hidden = format!("refs/keep-around/{kept}");
    forge.ref_rows(scene.project).put(&[Ref { name: hidden.clone(), target, peeled: None }]);
    scene.git(&["push", "-q", &address, ":refs/heads/kept"]).ok();
    let listed = scene.git(&["ls-remote", &address]).ok();
    assert!(!listed.contains(&kept), "{listed}");
    let other = scene.tree.path().join("other.git").to_string_lossy().into_owned();
    scene.tree.git(&["init", "-q", "--bare", &other]);
    scene.git(&["--git-dir", &other, "fetch", "-q", &address, &kept]).refused(&["not our ref"]);
    let remote = format!("--remote={address}");
    for what in [&kept, &hidden] {
        scene.git(&["archive", &remote, what]).refused(&["no such ref or commit"]);
    }
}

/// rest_of_v3.md 7.1: "the other way is refused with `Git access over SSH is not allowed`".
fn git_over_ssh_can_be_switched_off(forge: &Forge) {
    let scene = Scene::filled(forge);
    let (address, remote) = (scene.address(), format!("--remote={}", scene.address()));
    let allow = |protocol: &str| {
        let form = [("enabled_git_access_protocol", protocol)];
        forge.put("/application/settings").token(ROOT).form(&form).send().expect(200);
    };
    scene.tree.commit("More\n");
    let commands: [&[&str]; 3] = [
        &["ls-remote", &address],
        &["archive", &remote, "master", "--output=a.tar"],
        &["push", "-q", &address, "master"],
    ];
    allow("http");
    for command in commands {
        scene.git(command).refused(&["Git access over SSH is not allowed"]);
    }
    let missing = scene.key.run(scene.ssh, "git-upload-pack 'ada/missing.git'");
    assert_eq!(missing.2.trim_end(), "Git access over SSH is not allowed");
    allow("ssh");
    for command in commands {
        scene.git(command).ok();
    }
}
