//! `hexforge environments` and `hexforge deployments`.

use std::time::{Duration, Instant};

use hexforge_tests::program::{self, Program, ROOT};
use hexforge_tests::{Runner, WorkTree};

use super::{TestInstallation, installations, text};

/// Starts the server, and creates the project `root/ship` with the id 1. Returns its runners token.
fn start_with_project(installation: &TestInstallation) -> (Program, String) {
    let (folder, database) = (installation.data_dir(), &installation.database.url);
    let server = Program::start(&program::executable(), &folder, database).expect("it serves");
    let form = [("name", "ship")];
    let made = server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
    let token = made["runners_token"].as_str().expect("shown to owners").to_owned();
    (server, token)
}

fn assert_refused(installation: &TestInstallation, arguments: &[&str], problem: &str) {
    let refused = installation.run(arguments, "");
    assert!(!refused.status.success(), "{arguments:?}");
    let shown = text(&refused.stderr);
    assert!(shown.contains(problem), "{arguments:?}: {shown}");
}

#[test]
fn environments_are_managed_at_the_command_line() {
    for installation in installations() {
        let (server, _) = start_with_project(&installation);
        let ship = ["--project", "root/ship"];
        let arguments = |words: &[&'static str]| [&["environments"], words, &ship[..]].concat();
        let run = |words: &[&'static str]| installation.run_successfully(&arguments(words));
        assert_eq!(run(&["list"]), "");
        let url = "https://a.example.com";
        let first = format!("1\tavailable\tproduction\t{url}\n");
        assert_eq!(run(&["create", "production", "--url", url]), first);
        assert_eq!(run(&["create", "review/x"]), "2\tavailable\treview/x\t-\n");
        let changed = run(&["update", "2", "--name", "staging", "--url", "https://b.example.com"]);
        assert_eq!(changed, "2\tavailable\tstaging\thttps://b.example.com\n");
        let second = "2\tavailable\tstaging\t-\n";
        assert_eq!(run(&["update", "2", "--url", ""]), second);
        assert_eq!(run(&["list"]), format!("{first}{second}"));
        let by_id = ["environments", "list", "--project", "1"];
        assert_eq!(installation.run_successfully(&by_id), format!("{first}{second}"));

        for (words, problem) in [
            (&["create", "a,b"][..], "the environment `a,b` cannot be created in `root/ship`"),
            (&["create", "production"], "has already been taken"),
            (&["update", "2", "--url", "nowhere"], "must be a valid URL"),
            (&["update", "2"], "required"),
            (&["update", "9", "--name", "x"], "environment 9 of `root/ship` cannot be changed"),
            (&["remove", "9"], "environment 9 of `root/ship` cannot be removed"),
        ] {
            assert_refused(&installation, &arguments(words), problem);
        }
        assert_refused(&installation, &["environments", "list"], "--project");
        let elsewhere = ["environments", "list", "--project", "root/none"];
        assert_refused(&installation, &elsewhere, "environments of `root/none` cannot be listed");

        // A list of several pages.
        for number in 0..100 {
            let form = [("name", format!("review/{number}"))];
            let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
            let path = "/projects/1/environments";
            server.request("POST", path).token(ROOT).form(&form).send().expect(201);
        }
        assert_eq!(run(&["list"]).lines().count(), 102);
        assert_eq!(run(&["remove", "2"]), "environment 2 is removed\n");
        let listed = run(&["list"]);
        assert!(!listed.contains("\tstaging\t"), "{listed}");
        assert_eq!(listed.lines().count(), 101);
    }
}

#[test]
fn deployments_are_shown_at_the_command_line() {
    for installation in installations() {
        let (server, registration) = start_with_project(&installation);
        let ship = ["--project", "root/ship"];
        let list = [&["deployments", "list"], &ship[..]].concat();
        assert_eq!(installation.run_successfully(&list), "");

        let tree = WorkTree::new(&installation.folder.path().join("unused.git"));
        let configuration = "deploy: {script: ship, environment: production}";
        let sha = tree.write(".gitlab-ci.yml", configuration).commit("Ship it\n\nSoon.");
        let address = format!("http://root:{ROOT}@{}/root/ship.git", server.address);
        tree.git(&["push", "-q", &address, "master"]);
        let runner = Runner::register(server.address, &registration, &[("description", "builder")]);
        let end = Instant::now() + Duration::from_secs(60);
        let build = loop {
            assert!(Instant::now() < end, "no build waits for the runner");
            match runner.take() {
                Some(build) => break build,
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        runner.end(&build, "success");

        let listed = installation.run_successfully(&list);
        let fields: Vec<&str> = listed.trim_end().split('\t').collect();
        let build = build["id"].to_string();
        assert_eq!(fields[..1], ["1"], "{listed}");
        assert_eq!(fields[2..], ["production", "master", &sha, &build, "root"], "{listed}");
        let show = |id: &'static str| [&["deployments", "show", id], &ship[..]].concat();
        let shown = installation.run_successfully(&show("1"));
        for line in [
            "id\t1".to_owned(),
            "iid\t1".to_owned(),
            format!("time\t{}", fields[1]),
            "environment\t1 production".to_owned(),
            "ref\tmaster".to_owned(),
            format!("commit\t{sha}"),
            "title\tShip it".to_owned(),
            format!("build\t{build} deploy"),
            "status\tsuccess".to_owned(),
            "runner\tbuilder".to_owned(),
            "on_stop\t-".to_owned(),
            "user\troot".to_owned(),
        ] {
            assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
        }
        assert_refused(&installation, &show("9"), "deployment 9 of `root/ship` cannot be shown");
        let elsewhere = ["deployments", "list", "--project", "root/none"];
        assert_refused(&installation, &elsewhere, "deployments of `root/none` cannot be listed");
        let remove = [&["environments", "remove", "1"], &ship[..]].concat();
        installation.run_successfully(&remove);
        assert_eq!(installation.run_successfully(&list), "");
    }
}
