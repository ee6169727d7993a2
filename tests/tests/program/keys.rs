//! `hexforge user key`.

use hexforge_tests::an_ssh_key;
use hexforge_tests::program::{self, Program, ROOT};

use super::{installations, text};

/// GET /keys/:id
#[test]
fn the_owner_of_a_key_is_shown_at_the_command_line() {
    for installation in installations() {
        let (folder, database) = (installation.data_dir(), &installation.database.url);
        let server = Program::start(&program::executable(), &folder, database).expect("it serves");
        let form = [("name", "ship")];
        server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
        let keys = [("/user/keys", "root", 1), ("/projects/1/deploy_keys", "deploy key", 2)];
        for (path, owner, number) in keys {
            let form = [("title", "laptop"), ("key", &an_ssh_key(number))];
            let key = server.request("POST", path).token(ROOT).form(&form).send().expect(201);
            let id = key["id"].to_string();
            let shown = installation.run_successfully(&["user", "key", &id]);
            let fields: Vec<&str> = shown.trim_end().split('\t').collect();
            assert_eq!(fields[..3], [&id, owner, "laptop"]);
            assert_eq!(fields[3].split(':').count(), 16, "{shown}");
        }
        let missing = installation.run(&["user", "key", "99"], "");
        assert!(!missing.status.success());
        assert!(text(&missing.stderr).contains("SSH key 99 cannot be shown"));
    }
}
