//! `hexforge runners`: the details, the changes and the projects of a runner.

use hexforge_tests::Runner;
use hexforge_tests::program::{self, Program, ROOT};
use serde_json::json;

use super::{installations, text};

#[test]
fn runners_are_shown_changed_and_assigned_at_the_command_line() {
    for installation in installations() {
        let (folder, database) = (installation.data_dir(), &installation.database.url);
        let server = Program::start(&program::executable(), &folder, database).expect("it serves");
        let add_project = |name: &str| {
            let form = [("name", name)];
            server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201)
        };
        let (ship, _) = (add_project("ship"), add_project("boat"));
        let registration = ship["runners_token"].as_str().expect("shown to owners");
        let fields = [
            ("description", "bound\u{1b}[31m"),
            ("tag_list", "rust,linux"),
            ("info[name]", "agent"),
        ];
        let runner = Runner::register(server.address, registration, &fields);
        let shared = Runner::register(server.address, program::RUNNERS, &[]);
        let (id, shared) = (runner.id.to_string(), shared.id.to_string());

        let run = |arguments: &[&str]| installation.run_successfully(arguments);
        let refuse = |arguments: &[&str], problem: &str| {
            let refused = installation.run(arguments, "");
            assert!(!refused.status.success(), "{arguments:?}");
            let shown = text(&refused.stderr);
            assert!(shown.contains(problem), "{arguments:?}: {shown}");
        };
        let values = |name: &str| {
            let shown = run(&["runners", "show", &id]);
            assert!(!shown.contains(&runner.token), "the token is never shown");
            let start = format!("{name}\t");
            let lines = shown.lines().filter_map(|line| line.strip_prefix(&start));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        for (name, value) in [
            ("id", id.as_str()),
            ("description", "bound[31m"),
            ("state", "active"),
            ("scope", "projects"),
            ("tags", "linux,rust"),
            ("run_untagged", "true"),
            ("locked", "false"),
            ("program", "agent"),
            ("version", "-"),
            ("contact", "never"),
            ("project", "1 root/ship"),
        ] {
            assert_eq!(values(name), [value], "{name}");
        }
        assert!(run(&["runners", "show", &shared]).contains("scope\tshared\n"));
        refuse(&["runners", "show", "99"], "runner 99 cannot be shown");

        let update = ["runners", "update", &id];
        let new = ["--description", "Builder", "--tags", "arm, arm64,", "--run-untagged", "false"];
        let changed = run(&[&update[..], &new[..]].concat());
        assert!(changed.contains("description\tBuilder\n"), "{changed}");
        assert!(!changed.contains(&runner.token), "the token is never shown");
        let path = format!("/runners/{id}");
        let shown = server.request("GET", &path).token(ROOT).send().expect(200);
        assert_eq!(shown["description"], "Builder");
        assert_eq!(shown["tag_list"], json!(["arm", "arm64"]));
        assert_eq!((&shown["run_untagged"], &shown["locked"]), (&json!(false), &json!(false)));
        refuse(&[&update[..], &["--tags", ""]].concat(), "can not be empty");
        run(&[&update[..], &["--tags", "", "--run-untagged", "true"]].concat());
        assert_eq!([values("tags"), values("run_untagged")], [[""], ["true"]]);
        refuse(&update, "required");
        refuse(&["runners", "update", "99", "--locked", "true"], "runner 99 cannot be changed");

        let assign = ["runners", "assign", &id, "--project"];
        let unassign = ["runners", "unassign", &id, "--project"];
        let assigned = run(&[&assign[..], &["root/boat"]].concat());
        assert_eq!(assigned, format!("runner {id} is assigned to `root/boat`\n"));
        assert_eq!(values("project"), ["1 root/ship", "2 root/boat"]);
        refuse(&[&assign[..], &["2"]].concat(), "enabled for the project already");
        refuse(&[&assign[..], &["root/none"]].concat(), "cannot be assigned to `root/none`");
        refuse(&["runners", "assign", &shared, "--project", "2"], "the runner is shared");
        let taken = run(&[&unassign[..], &["1"]].concat());
        assert_eq!(taken, format!("runner {id} is no longer assigned to `1`\n"));
        assert_eq!(values("project"), ["2 root/boat"]);
        refuse(&[&unassign[..], &["1"]].concat(), "cannot be taken from `1`");
        refuse(&[&unassign[..], &["root/boat"]].concat(), "the runner has no other project");
        run(&[&update[..], &["--locked", "true"]].concat());
        refuse(&[&assign[..], &["1"]].concat(), "the runner is locked to its projects");
    }
}
