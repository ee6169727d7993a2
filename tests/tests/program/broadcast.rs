//! `hexforge broadcast`.

use super::{installations, text};

#[test]
fn broadcast_messages_are_managed_at_the_command_line() {
    for installation in installations() {
        let run = |arguments: &[&str]| installation.run_successfully(arguments);
        assert_eq!(run(&["broadcast", "list"]), "");
        let period =
            ["--starts-at", "2027-01-31T18:00:00Z", "--ends-at", "2027-01-31T20:00:00+01:00"];
        let create = ["broadcast", "create", "Back\u{1b}[31m soon", "--color", "#abc"];
        let made = run(&[&create[..], &period[..]].concat());
        let look = "2027-01-31 18:00 UTC\t2027-01-31 19:00 UTC\t#abc #FFFFFF";
        assert_eq!(made, format!("1\tinactive\t{look}\tBack[31m soon\n"));
        assert!(run(&["broadcast", "create", "now"]).starts_with("2\tactive\t"));
        let changed = run(&["broadcast", "update", "1", "--message", "Back"]);
        assert_eq!(changed, format!("1\tinactive\t{look}\tBack\n"));
        let listed = run(&["broadcast", "list"]);
        let lines: Vec<&str> = listed.lines().collect();
        assert_eq!((lines.len(), lines[1]), (2, changed.trim_end()));
        for (arguments, problem) in [
            (&["broadcast", "create", " "][..], "can't be blank"),
            (&["broadcast", "update", "1", "--font", "red"], "must be a valid color code"),
            (&["broadcast", "update", "9"], "message 9 cannot be changed"),
            (&["broadcast", "create", "x", "--ends-at", "tomorrow"], "tomorrow"),
        ] {
            let refused = installation.run(arguments, "");
            assert!(!refused.status.success(), "{arguments:?}");
            let shown = text(&refused.stderr);
            assert!(shown.contains(problem), "{arguments:?}: {shown}");
        }
        assert_eq!(run(&["broadcast", "remove", "2"]), "message 2 is removed\n");
        assert_eq!(run(&["broadcast", "list"]), changed);
        let again = installation.run(&["broadcast", "remove", "2"], "");
        assert!(text(&again.stderr).contains("message 2 cannot be removed"));
    }
}
