//! `hexforge settings`.

use super::{installations, text};

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
