//! The commands of `hexforge runner`.

use std::os::unix::fs::PermissionsExt;

use hexforge_tests::program::ROOT;

use super::scene::Scene;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_runner_is_registered_shown_and_removed() {
    let scene = Scene::new();
    scene.register(&["--tag-list", "linux, big", "--executor", "shell", "--run-untagged", "false"]);
    let file = scene.config_file();
    let mode = std::fs::metadata(&file).expect("it was written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let shown = scene.server.request("GET", "/runners/1").token(ROOT).send().expect(200);
    assert_eq!((&shown["description"], &shown["name"]), (&"one".into(), &"hexforge-runner".into()));
    assert_eq!(shown["tag_list"], serde_json::json!(["big", "linux"]));
    for field in ["version", "platform", "architecture"] {
        assert!(shown[field].is_string(), "{field} is missing: {shown}");
    }
    let again =
        scene.run(&["register", "--url", "http://127.0.0.1:1", "--token", "x", "--name", "one"]);
    assert!(!again.status.success() && text(&again.stderr).contains("`one` already"));
    assert!(scene.run(&["verify"]).status.success());
    let status = text(&scene.run(&["status"]).stdout);
    assert!(
        status.starts_with("one\t1\tshell\thttp://") && status.ends_with("\tready\n"),
        "{status}"
    );
    assert!(scene.run(&["unregister", "--name", "one"]).status.success());
    let gone = scene.server.request("GET", "/runners/1").token(ROOT).send();
    assert_eq!(gone.status, 404);
    let unknown = scene.run(&["unregister", "--name", "one"]);
    assert!(!unknown.status.success() && text(&unknown.stderr).contains("no runner `one`"));
    let none = scene.run(&["run"]);
    assert!(!none.status.success() && text(&none.stderr).contains("it has no runner"));
}

/// Each reads the file, asks the server and replaces the file.
#[test]
fn runners_that_are_registered_at_once_are_all_kept() {
    let scene = Scene::new();
    let url = format!("http://{}", scene.server.address);
    let token = hexforge_tests::program::RUNNERS;
    let names: Vec<String> = (1..=8).map(|n| format!("runner-{n}")).collect();
    let registering = names.iter().map(|name| {
        let arguments = ["register", "--url", &url, "--token", token, "--name", name];
        scene.runner_command(&arguments).spawn().expect("the program can be started")
    });
    for mut process in registering.collect::<Vec<_>>() {
        assert!(process.wait().expect("it was started here").success());
    }
    let status = text(&scene.run(&["status"]).stdout);
    let mut listed: Vec<&str> = status.lines().filter_map(|line| line.split('\t').next()).collect();
    listed.sort_unstable();
    assert_eq!(listed, names);
    let lock = scene.config_file().with_file_name("runner.toml.lock");
    let mode = std::fs::metadata(lock).expect("it was written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn wrong_tokens_and_servers_are_named() {
    let scene = Scene::new();
    let url = format!("http://{}", scene.server.address);
    let refused = scene.run(&["register", "--url", &url, "--token", "-wrong"]);
    assert!(text(&refused.stderr).contains("refuses the registration token"), "{refused:?}");
    let away = scene.run(&["register", "--url", "http://127.0.0.1:1", "--token", "x"]);
    assert!(text(&away.stderr).contains("could not be reached"), "{away:?}");
    scene.register(&[]);
    scene.server.request("DELETE", "/runners/1").token(ROOT).send().expect(200);
    let output = scene.run(&["verify"]);
    assert!(!output.status.success() && text(&output.stdout).contains("is refused"));
}

/// Only `register` makes the file.
#[test]
fn a_missing_file_is_named() {
    let scene = Scene::new();
    let file = scene.config_file().display().to_string();
    for command in [&["status"][..], &["verify"], &["run"], &["unregister", "--name", "one"]] {
        let output = scene.run(command);
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        let error = text(&output.stderr);
        assert!(error.contains(&format!("the file {file} does not exist")), "{error}");
    }
}

#[test]
fn names_and_users_are_checked_before_a_runner_is_registered() {
    let scene = Scene::new();
    let begin = ["register", "--url", "http://127.0.0.1:1", "--token", "x"];
    for (more, expected) in [
        (["--name", " "], "must not be empty"),
        (["--user", "no-such-user"], "has no user `no-such-user`"),
    ] {
        let output = scene.run(&[&begin[..], &more].concat());
        assert!(!output.status.success() && text(&output.stderr).contains(expected), "{output:?}");
    }
    assert!(!scene.config_file().exists());
}

/// The flag counts also where a variable has the same value. The variable names the file of the server.
#[test]
fn a_file_that_is_given_is_used_whatever_the_environment() {
    let scene = Scene::new();
    let file = scene.config_file().with_file_name("other.toml").display().to_string();
    let url = format!("http://{}", scene.server.address);
    let run = |arguments: &[&str]| {
        let mut command = scene.runner_command(arguments);
        command.env("HEXFORGE_CONFIG", &file).output().expect("the program can be started")
    };
    let token = hexforge_tests::program::RUNNERS;
    let output = run(&["register", "--url", &url, "--token", token, "--config", &file]);
    let start = format!("start it: hexforge runner run --config {file}\n");
    assert!(output.status.success() && text(&output.stdout).ends_with(&start), "{output:?}");
    assert!(run(&["status", "--config", &file]).status.success());
    let error = text(&run(&["status"]).stderr);
    assert!(error.contains("runner.toml does not exist"), "{error}");
}

#[test]
fn a_runner_of_a_server_that_is_gone_is_removed_from_the_file() {
    let scene = Scene::new();
    scene.register(&[]);
    let known = std::fs::read_to_string(scene.config_file()).expect("it was written");
    let gone =
        "[[runners]]\nname = \"gone\"\nurl = \"http://127.0.0.1:1\"\nid = 7\ntoken = \"x\"\n";
    std::fs::write(scene.config_file(), format!("{gone}\n{known}")).expect("written");
    let output = scene.run(&["verify"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stdout);
    assert!(shown.contains("`gone` could not be verified"), "{shown}");
    assert!(shown.contains("`one` is known to"), "{shown}");
    let refused = scene.run(&["unregister", "--name", "gone"]);
    assert!(!refused.status.success() && text(&refused.stderr).contains("--local"), "{refused:?}");
    assert!(scene.run(&["unregister", "--name", "gone", "--local"]).status.success());
    assert!(text(&scene.run(&["status"]).stdout).starts_with("one\t"));
}

/// The exit status is 0 whatever the result, and the second build stays in the queue.
#[test]
fn once_takes_one_build() {
    let scene = Scene::new();
    scene.push("job: {script: ['exit 7']}\n");
    scene.post("/pipeline", &[("ref", "master")]);
    scene.register(&[]);
    let output = scene.run(&["run", "--once"]);
    assert!(output.status.success(), "{output:?}");
    let builds = scene.get("/builds");
    assert_eq!((&builds[0]["status"], &builds[1]["status"]), (&"pending".into(), &"failed".into()));
    let path = format!("/projects/1/builds/{}/trace", builds[1]["id"]);
    let log = scene.server.request("GET", &path).token(ROOT).send();
    assert!(log.text().contains("Build failed: exit status 7"));
}

#[test]
fn metrics_count_builds_and_requests() {
    let scene = Scene::new();
    scene.push("job: {script: [echo]}\n");
    let address = hexforge_tests::address::free_address();
    let _runner = scene.start_runner(&["--metrics", &address.to_string()]);
    scene.wait_for_status("job", "success");
    let metrics =
        || hexforge_tests::Request::new(address, "GET", "/metrics").send().text().to_string();
    let ended = "hexforge_runner_builds_total{runner=\"one\",outcome=\"success\"} 1";
    assert!(super::scene::wait_until(|| metrics().contains(ended)), "{}", metrics());
    let text = metrics();
    for line in [
        "hexforge_runner_builds_running{runner=\"one\"} 0",
        "hexforge_runner_requests_total{runner=\"one\",result=\"build\"} 1",
        "hexforge_runner_build_seconds_count{runner=\"one\"} 1",
        "hexforge_runner_slots 1",
    ] {
        assert!(text.lines().any(|found| found == line), "`{line}` is missing:\n{text}");
    }
    let missing = hexforge_tests::Request::new(address, "GET", "/").send();
    assert_eq!(missing.status, 404);
}

/// Several processes share a file and a folder, and each takes one build.
#[test]
fn processes_that_share_a_folder_do_not_share_working_copies() {
    let scene = Scene::new();
    scene.register(&[]);
    let job = "echo $CI_BUILD_NAME > own; sleep 0.7; test \"$(cat own)\" = $CI_BUILD_NAME";
    let jobs: String = (1..=3).map(|n| format!("job{n}: {{script: ['{job}']}}\n")).collect();
    scene.push(&jobs);
    let mut runners: Vec<_> = (0..3).map(|_| scene.start_runner(&["--once"])).collect();
    for runner in &mut runners {
        assert!(runner.wait().success());
    }
    for n in 1..=3 {
        assert_eq!(scene.status(&format!("job{n}")), "success");
    }
}
