//! `hexforge settings`, and the settings of the service that variables of the environment give.

use std::process::Stdio;

use hexforge_tests::program::{self, Program, ROOT};
use serde_json::json;

use super::{TestInstallation, installations, text};

#[test]
fn settings_are_managed_at_the_command_line() {
    for installation in installations() {
        let run = |arguments: &[&str]| installation.run_successfully(arguments);
        let value = |name: &str| {
            let shown = run(&["settings", "show"]);
            let line = shown.lines().find_map(|line| line.strip_prefix(&format!("{name}\t")));
            line.expect("every setting is shown").to_owned()
        };
        assert_eq!(value("default_projects_limit"), "100");
        assert_eq!(value("enabled_git_access_protocol"), "-");
        let set = ["settings", "set"];
        for (name, given, shown) in [
            ("default_projects_limit", &["7"][..], "7"),
            ("sign_in_text", &["Hello\u{1b}[31m you"], "Hello[31m you"),
            ("restricted_visibility_levels", &["20", "10"], "20 10"),
            ("domain_whitelist", &["example.com"], "example.com"),
            ("enabled_git_access_protocol", &["ssh"], "ssh"),
            ("gravatar_enabled", &["no"], "false"),
        ] {
            let made = run(&[&set[..], &[name], given].concat());
            assert_eq!(made, format!("{name}\t{shown}\n"));
            assert_eq!(value(name), format!("{shown}\tchanged"));
        }
        assert_eq!(run(&["settings", "set", "domain_whitelist"]), "domain_whitelist\t\n");
        assert_eq!(value("domain_whitelist"), "");
        for (arguments, problem) in [
            (&["settings", "set", "max_attachment_size", "0"][..], "must be greater than 0"),
            (&["settings", "set", "max_attachment_size", "-1"], "must be greater than 0"),
            (&["settings", "set", "max_attachment_size"], "needs one value"),
            (&["settings", "set", "sign_in_text", " "], "needs one value"),
            (&["settings", "set", "signup_enabled", "a", "b"], "needs one value"),
            (&["settings", "set", "colour", "red"], "there is no setting `colour`"),
            (&["settings", "reset", "colour"], "there is no setting `colour`"),
        ] {
            let refused = installation.run(arguments, "");
            assert!(!refused.status.success(), "{arguments:?}");
            let shown = text(&refused.stderr);
            assert!(shown.contains(problem), "{arguments:?}: {shown}");
        }
        let reset = ["settings", "reset", "enabled_git_access_protocol"];
        let name = "the setting `enabled_git_access_protocol`";
        assert_eq!(run(&reset), format!("{name} has its initial value again\n"));
        assert_eq!(run(&reset), format!("{name} has its initial value already\n"));
        assert_eq!(value("enabled_git_access_protocol"), "-");
    }
}

fn start(installation: &TestInstallation, more: &[(&str, &str)]) -> Program {
    let (folder, database) = (installation.data_dir(), &installation.database.url);
    Program::start_with(&program::executable(), &folder, database, Stdio::inherit(), more)
        .expect("it serves")
}

/// rest_of_v3.md 7.1: "A variable of the environment gives the value until the setting is first changed by PUT; from
/// then on the stored one counts, in every process, at the next request."
#[test]
fn variables_of_the_environment_count_until_a_setting_is_changed() {
    const NAMES: [&str; 2] = ["default_projects_limit", "max_attachment_size"];
    for installation in installations() {
        let of = |limit: &'static str, size: &'static str| {
            [("HEXFORGE_DEFAULT_PROJECTS_LIMIT", limit), ("HEXFORGE_MAX_UPLOAD_MB", size)]
        };
        let values = |server: &Program| {
            let shown = server.request("GET", "/application/settings").token(ROOT).send();
            let shown = shown.expect(200);
            json!(NAMES.map(|name| shown[name].clone()))
        };
        let projects_limit = |server: &Program, name: &str| {
            let email = format!("{name}@example.com");
            let user = [("username", name), ("name", name), ("email", email.as_str())];
            let form = [&user[..], &[("password", "correct horse battery")]].concat();
            let made = server.request("POST", "/users").token(ROOT).form(&form).send();
            made.expect(201)["projects_limit"].clone()
        };
        let mut first = start(&installation, &of("11", "3"));
        assert_eq!(values(&first), json!([11, 3]));
        assert_eq!(projects_limit(&first, "ada"), 11);
        first.stop().expect("it stops");
        // Two processes with other variables.
        let servers = [start(&installation, &of("12", "4")), start(&installation, &of("13", "5"))];
        assert_eq!(servers.each_ref().map(values), [json!([12, 4]), json!([13, 5])]);
        let change = servers[0].request("PUT", "/application/settings").token(ROOT);
        change.form(&[("default_projects_limit", "7")]).send().expect(200);
        assert_eq!(servers.each_ref().map(values), [json!([7, 4]), json!([7, 5])]);
        assert_eq!(projects_limit(&servers[1], "bob"), 7);
        for mut server in servers {
            server.stop().expect("it stops");
        }
        let last = start(&installation, &of("14", "6"));
        assert_eq!(values(&last), json!([7, 6]));
    }
}
