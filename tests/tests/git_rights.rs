//! Permissions for git: the tables of the reference, over both transports.
//!
//! The expected values are those of repository_ci_labels_boards.md 1.1, 2.9 and 2.10 and of projects_groups.md 1.11 and
//! 6.4, in the same format.

use std::collections::HashMap;
use std::process::Command;

use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::ssh_client::Identity;
use hexforge_tests::{Backend, Forge, ForgeOptions, WorkTree};

/// For each visibility: the outcome of a fetch and of a push. 401 asks for credentials, 404 hides the project, 403
/// forbids the operation.
const ACCESS: &str = "
             private      internal     public
  nobody     401  401     401  401     ok   401
  blocked    401  401     401  401     401  401
  outsider   404  404     ok   403     ok   403
  external   404  404     404  404     ok   403
  guest      403  403     ok   403     ok   403
  reporter   ok   403     ok   403     ok   403
  developer  ok   ok      ok   ok      ok   ok
  master     ok   ok      ok   ok      ok   ok
  owner      ok   ok      ok   ok      ok   ok
  admin      ok   ok      ok   ok      ok   ok
";

/// The kinds of pushes, and who may push: 2.10, and 2.9 for the first push. An owner has all permissions of a master.
const PUSHES: &str = "
                                developer  master  owner  admin
  first push                    no         yes     yes    no
  new branch                    yes        yes     yes    yes
  new tag                       yes        yes     yes    yes
  more on a branch              yes        yes     yes    yes
  force a branch                yes        yes     yes    yes
  delete a branch               yes        yes     yes    yes
  move a tag                    no         yes     yes    yes
  delete a tag                  no         yes     yes    yes
  more on protected             no         yes     yes    yes
  more on developers-push       yes        yes     yes    yes
  more on developers-merge      no         yes     yes    yes
  force protected               no         no      no     no
  force developers-push         no         no      no     no
  delete protected              no         no      no     no
  delete developers-push        no         no      no     no
";

#[test]
fn the_tables_hold_on_sqlite() {
    the_tables_hold(Backend::Sqlite);
}

#[test]
fn the_tables_hold_on_postgres() {
    the_tables_hold(Backend::Postgres);
}

fn the_tables_hold(backend: Backend) {
    let dialect = hexforge_http_actix::Dialect::Specification;
    let Some(forge) = Forge::start(ForgeOptions { backend, dialect }) else { return };
    let world = World::new(&forge);
    let mut wrong = Vec::new();
    world.check_access(&mut wrong);
    world.check_pushes(&mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Http,
    Ssh,
}

const TRANSPORTS: [Transport; 2] = [Transport::Http, Transport::Ssh];

struct World<'a> {
    forge: &'a Forge,
    owner: String,
    keys: HashMap<&'static str, Identity>,
    ids: HashMap<&'static str, i64>,
    tree: WorkTree,
    _elsewhere: tempfile::TempDir,
    /// Two commits; the second is a child of the first.
    tips: [String; 2],
}

const MEMBERS: [(&str, &str); 4] =
    [("guest", "10"), ("reporter", "20"), ("developer", "30"), ("master", "40")];

impl<'a> World<'a> {
    fn new(forge: &'a Forge) -> Self {
        let mut keys = HashMap::new();
        let mut ids = HashMap::new();
        // `nobody` has a key that is not registered.
        keys.insert("nobody", Identity::new());
        for name in
            ["blocked", "outsider", "external", "guest", "reporter", "developer", "master", "owner"]
        {
            let more: &[(&str, &str)] =
                if name == "external" { &[("external", "true")] } else { &[] };
            let made = forge.new_user(name, more);
            ids.insert(name, made["id"].as_i64().expect("users have ids"));
            keys.insert(name, register(forge, &forge.sign_in(name)));
        }
        keys.insert("admin", register(forge, ROOT));
        let blocked = format!("/users/{}/block", ids["blocked"]);
        forge.put(&blocked).token(ROOT).send().expect(200);
        let elsewhere = tempfile::tempdir().expect("a temporary folder can be made");
        let tree = WorkTree::new(&elsewhere.path().join("unused.git"));
        let tips = ["one", "two"].map(|text| tree.write("file", text).commit("Write\n"));
        let owner = forge.sign_in("owner");
        Self { forge, owner, keys, ids, tree, _elsewhere: elsewhere, tips }
    }

    /// Creates a project of the owner with all members.
    fn project(&self, name: &str, visibility: &str) -> i64 {
        let fields = [("name", name), ("visibility_level", visibility)];
        let made = self.forge.post("/projects").token(&self.owner).form(&fields).send().expect(201);
        let id = made["id"].as_i64().expect("projects have ids");
        for (name, level) in MEMBERS {
            let user = self.ids[name].to_string();
            let fields = [("user_id", user.as_str()), ("access_level", level)];
            let path = format!("/projects/{id}/members");
            self.forge.post(&path).token(ROOT).form(&fields).send().expect(201);
        }
        id
    }

    /// A git command, in whose arguments `@` is replaced by the URL of the project for this user.
    fn git(&self, who: &str, by: Transport, project: &str, arguments: &[&str]) -> Command {
        let address = match by {
            Transport::Ssh => format!("ssh://git@{}/owner/{project}.git", self.forge.ssh()),
            Transport::Http => {
                let name = if who == "admin" { "root" } else { who };
                let password = PASSWORD.replace(' ', "%20");
                let who =
                    if who == "nobody" { String::new() } else { format!("{name}:{password}@") };
                format!("http://{who}{}/owner/{project}.git", self.forge.address)
            }
        };
        let arguments: Vec<&str> =
            arguments.iter().map(|one| if *one == "@" { address.as_str() } else { one }).collect();
        let mut command = self.tree.command(&arguments);
        command.env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_SSH_COMMAND", self.keys[who].git_ssh_command(self.forge.ssh()));
        command
    }

    fn check_access(&self, wrong: &mut Vec<String>) {
        let rows: Vec<Vec<&str>> = rows(ACCESS).collect();
        for (column, (visibility, level)) in
            [("private", "0"), ("internal", "10"), ("public", "20")].into_iter().enumerate()
        {
            let id = self.project(visibility, level);
            let first = format!("{}:refs/heads/master", self.tips[0]);
            run(&mut self.git("owner", Transport::Ssh, visibility, &["push", "@", &first]))
                .0
                .then_some(())
                .expect("the first push is taken");
            for archived in [false, true] {
                if archived {
                    let path = format!("/projects/{id}/archive");
                    self.forge.post(&path).token(&self.owner).send().expect(201);
                }
                for row in &rows {
                    let (who, fetch, push) = (row[0], row[1 + 2 * column], row[2 + 2 * column]);
                    // Archived projects cannot be pushed to, not even by owners and administrators.
                    let push = if archived && push == "ok" { "403" } else { push };
                    for by in TRANSPORTS {
                        let fetch = match (who, by) {
                            // Every SSH connection has a user.
                            ("nobody", Transport::Ssh) => "401",
                            // git only sends a password after a 401.
                            ("blocked", Transport::Http) if visibility == "public" => "ok",
                            _ => fetch,
                        };
                        let seen = outcome(&mut self.git(who, by, visibility, &["ls-remote", "@"]));
                        let mut note = |what: &str, expected: &str, seen: &str| {
                            if seen != expected {
                                wrong.push(format!(
                                    "{visibility} archived={archived} {by:?} {who} {what}: {seen}, not {expected}"
                                ));
                            }
                        };
                        note("fetch", fetch, seen);
                        let to = format!("{}:refs/heads/{who}-{by:?}", self.tips[0]);
                        let seen = outcome(&mut self.git(who, by, visibility, &["push", "@", &to]));
                        note("push", push, seen);
                    }
                }
            }
        }
    }

    fn check_pushes(&self, wrong: &mut Vec<String>) {
        let who = ["developer", "master", "owner", "admin"];
        let id = self.project("rules", "0");
        let [one, two] = &self.tips;
        let first = format!("{one}:refs/heads/master");
        assert!(run(&mut self.git("owner", Transport::Ssh, "rules", &["push", "@", &first])).0);
        // Each cell has its own ref, so that no cell affects another.
        let mut made = Vec::new();
        let mut protected = Vec::new();
        for row in rows(PUSHES) {
            let what = row[..row.len() - who.len()].join(" ");
            for (who, by) in who.iter().flat_map(|who| TRANSPORTS.map(|by| (*who, by))) {
                let name = format!("{}-{who}-{by:?}", what.replace(' ', "-"));
                match before(&what) {
                    Some((kind, commit)) => {
                        made.push(format!("{}:{kind}/{name}", self.tips[commit]));
                    }
                    None => continue,
                }
                if what.ends_with("protected") || what.contains("developers-") {
                    let flags = [
                        ("developers_can_push", what.ends_with("-push").to_string()),
                        ("developers_can_merge", what.ends_with("-merge").to_string()),
                    ];
                    protected.push((name, flags));
                }
            }
        }
        let made: Vec<&str> = made.iter().map(String::as_str).collect();
        let (taken, output) = run(&mut self.git(
            "owner",
            Transport::Ssh,
            "rules",
            &[&["push", "-q", "@"], &made[..]].concat(),
        ));
        assert!(taken, "{output}");
        for (name, flags) in &protected {
            let flags: Vec<(&str, &str)> = flags.iter().map(|(n, v)| (*n, v.as_str())).collect();
            let path = format!("/projects/{id}/repository/branches/{name}/protect");
            self.forge.put(&path).token(ROOT).form(&flags).send().expect(200);
        }
        for row in rows(PUSHES) {
            let what = row[..row.len() - who.len()].join(" ");
            for (column, who) in who.into_iter().enumerate() {
                let expected = row[row.len() - 4 + column] == "yes";
                for by in TRANSPORTS {
                    let name = format!("{}-{who}-{by:?}", what.replace(' ', "-"));
                    let project = if what == "first push" {
                        self.project(&name, "0");
                        name.clone()
                    } else {
                        "rules".to_owned()
                    };
                    let change = match what.split(' ').next() {
                        Some("first") => format!("{one}:refs/heads/master"),
                        Some("new") if what == "new tag" => format!("{one}:refs/tags/{name}"),
                        Some("new") => format!("{one}:refs/heads/{name}"),
                        Some("more") => format!("{two}:refs/heads/{name}"),
                        Some("force") => format!("+{one}:refs/heads/{name}"),
                        Some("move") => format!("+{two}:refs/tags/{name}"),
                        Some("delete") if what == "delete a tag" => format!(":refs/tags/{name}"),
                        Some("delete") => format!(":refs/heads/{name}"),
                        _ => panic!("nobody knows what `{what}` is"),
                    };
                    let (taken, output) =
                        run(&mut self.git(who, by, &project, &["push", "@", &change]));
                    let told = output.contains("remote: GitLab: You are not allowed to");
                    if taken != expected || taken == told {
                        wrong.push(format!("{by:?} {who} {what}: taken={taken} {output}"));
                    }
                }
            }
        }
    }
}

/// The state before the push: the folder of the ref, and the index of its commit.
fn before(what: &str) -> Option<(&'static str, usize)> {
    match what.split(' ').next() {
        Some("more" | "delete") if what.ends_with("tag") => Some(("refs/tags", 0)),
        Some("move") => Some(("refs/tags", 0)),
        Some("more" | "delete") => Some(("refs/heads", 0)),
        Some("force") => Some(("refs/heads", 1)),
        _ => None,
    }
}

/// The rows of a table as words, without its header.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.trim().is_empty()).skip(1);
    lines.map(|line| line.split_whitespace().collect())
}

fn register(forge: &Forge, token: &str) -> Identity {
    let key = Identity::new();
    let fields = [("title", "key"), ("key", &key.public())];
    forge.post("/user/keys").token(token).form(&fields).send().expect(201);
    key
}

/// Whether the command succeeded, and its output.
fn run(command: &mut Command) -> (bool, String) {
    let output = command.output().expect("git can be started");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Maps the output of git over either transport to a cell of the table.
fn outcome(command: &mut Command) -> &'static str {
    let (success, output) = run(command);
    let any = |texts: &[&str]| texts.iter().any(|text| output.contains(text));
    if success {
        "ok"
    } else if any(&[
        "could not read Username",
        "Authentication failed",
        "Permission denied (publickey)",
    ]) {
        "401"
    } else if any(&["The project you were looking for could not be found.", "' not found"]) {
        "404"
    } else if any(&[
        "The requested URL returned error: 403",
        "You are not allowed to download code from this project.",
        "You are not allowed to push code to this project.",
    ]) {
        "403"
    } else {
        panic!("unknown output of git: {output}")
    }
}
