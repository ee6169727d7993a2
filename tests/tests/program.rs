//! The program as operators use it: first start, command line, settings, stop.

#[path = "program/access_log.rs"]
mod access_log;
#[path = "program/background.rs"]
mod background;
#[path = "program/broadcast.rs"]
mod broadcast;
#[path = "program/environments.rs"]
mod environments;
#[path = "program/keys.rs"]
mod keys;
#[path = "program/runners.rs"]
mod runners;
#[path = "program/settings.rs"]
mod settings;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use hexforge_domain::id::ProjectId;
use hexforge_domain::pack::MERGE_THRESHOLD;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_git_gix::Layout;
use hexforge_http_actix::{Dialect, openapi};
use hexforge_persistence_diesel::DatabaseUrl;
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::damage::{Damage, damage};
use hexforge_tests::program::{self, Program, ROOT, url_with_password};
use hexforge_tests::{Request, WorkTree};

/// A data folder and a database for one test.
struct TestInstallation {
    folder: tempfile::TempDir,
    database: TestDatabase,
}

impl TestInstallation {
    fn on(database: TestDatabase) -> Self {
        Self { folder: tempfile::tempdir().expect("a folder for temporary files exists"), database }
    }

    fn data_dir(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    fn run(&self, arguments: &[&str], input: &str) -> Output {
        run(&self.data_dir(), &self.database.url, arguments, input)
    }

    fn run_successfully(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments, "");
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }
}

fn run(data_dir: &Path, database: &DatabaseUrl, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(program::executable())
        .args(arguments)
        .env("HEXFORGE_DATA_DIR", data_dir)
        .env("HEXFORGE_DATABASE_URL", url_with_password(database))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut stdin = child.stdin.take().expect("the input is ours");
    stdin.write_all(input.as_bytes()).expect("the program reads its input");
    drop(stdin);
    child.wait_with_output().expect("the program ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// One installation per available database.
fn installations() -> Vec<TestInstallation> {
    let databases = [Some(TestDatabase::sqlite()), TestDatabase::postgres()];
    databases.into_iter().flatten().map(TestInstallation::on).collect()
}

#[test]
fn accounts_and_tokens_are_managed_at_the_command_line_while_the_server_runs() {
    for installation in installations() {
        let server = Program::start(
            &program::executable(),
            &installation.data_dir(),
            &installation.database.url,
        )
        .expect("it serves");
        let made = installation.run(
            &["user", "create", "ada", "--email", "ada@example.com", "--password-stdin"],
            "correct horse\n",
        );
        assert!(made.status.success(), "{}", text(&made.stderr));
        assert!(!text(&made.stdout).contains("horse"), "a given password is not shown");
        let form = [("login", "ada"), ("password", "correct horse")];
        server.request("POST", "/session").form(&form).send().expect(201);

        let token =
            installation.run_successfully(&["token", "create", "--user", "ada", "--name", "robot"]);
        let who = || server.request("GET", "/user").token(token.trim()).send();
        assert_eq!(who().expect(200)["username"], "ada");
        // It is a personal token, so sudo is refused even for administrators.
        let id = installation.run_successfully(&["token", "list", "--user", "ada"]);
        assert!(id.contains("\tpersonal\tactive\trobot\n"), "{id}");
        assert!(!id.contains(token.trim()), "secrets are shown once");

        assert_eq!(
            installation.run_successfully(&["user", "block", "ada"]),
            "`ada` is now blocked\n"
        );
        assert_eq!(who().status, 401);
        assert_eq!(
            installation.run_successfully(&["user", "unblock", "ada"]),
            "`ada` is now active\n"
        );
        assert_eq!(
            installation.run_successfully(&["user", "block", "--directory", "ada"]),
            "`ada` is now blocked by the directory\n"
        );
        let refused = server.request("PUT", "/users/2/unblock").token(ROOT).send().expect(403);
        assert_eq!(
            refused["message"],
            "403 Forbidden  - LDAP blocked users cannot be unblocked by the API"
        );
        assert!(!installation.run(&["user", "unblock", "ada"], "").status.success());
        installation.run_successfully(&["user", "unblock", "--directory", "ada"]);
        assert_eq!(who().status, 200);

        let number = id.lines().find(|line| line.contains("robot")).expect("listed");
        let number = number.split('\t').next().expect("a line has fields");
        installation.run_successfully(&["token", "revoke", number]);
        assert_eq!(who().status, 401);

        let password = installation.run_successfully(&["user", "password", "ada"]);
        let password = password.lines().find_map(|line| line.strip_prefix("password: "));
        let form = [("login", "ada"), ("password", password.expect("a made password is shown"))];
        server.request("POST", "/session").form(&form).send().expect(201);
        let list = installation.run_successfully(&["user", "list"]);
        assert!(list.contains("\tada\tada@example.com\tactive\n"), "{list}");
        assert!(list.contains("1\troot\tadmin@example.com\tactive admin\n"), "{list}");
    }
}

#[test]
fn mistakes_at_the_command_line_are_told_in_a_sentence() {
    let installation = TestInstallation::on(TestDatabase::sqlite());
    for (arguments, sentence) in [
        (&["user", "block", "ghost"][..], "hexforge: User not found\n"),
        (&["token", "create", "--user", "ghost"], "hexforge: User not found\n"),
        (
            &["user", "create", "admin", "--email", "nonsense"],
            "hexforge: invalid: email is invalid; username admin is a reserved name\n",
        ),
        (
            &["serve", "--listen", "here"],
            "hexforge: listen is `here` and has to be an address such as 127.0.0.1:8080\n",
        ),
    ] {
        let output = installation.run(arguments, "");
        assert_eq!(text(&output.stderr), sentence);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    }
}

#[test]
fn migrations_are_checked_and_applied() {
    for installation in installations() {
        let check = installation.run(&["migrate", "--check"], "");
        let pending = text(&check.stdout);
        assert_eq!(check.status.code(), Some(1), "{pending}{}", text(&check.stderr));
        assert!(pending.starts_with("pending "), "{pending}");
        let applied = installation.run_successfully(&["migrate"]);
        assert!(applied.ends_with("the database is up to date\n"), "{applied}");
        assert_eq!(installation.run_successfully(&["migrate", "--check"]), "");
    }
}

/// The stored packs in a data folder.
fn stored_packs(data: &Path) -> Vec<PathBuf> {
    let shelves = std::fs::read_dir(data.join("packs")).expect("there are packs").flatten();
    let files = shelves.flat_map(|shelf| std::fs::read_dir(shelf.path()).expect("a folder"));
    let files = files.flatten().map(|file| file.path());
    files.filter(|file| file.extension() == Some("pack".as_ref())).collect()
}

/// design.md section 2: checks database, migrations, repositories and disk, and reports problems.
#[test]
fn the_doctor_says_what_is_wrong() {
    for installation in installations() {
        let look_with = |arguments: &[&str]| {
            let output = installation.run(arguments, "");
            assert_eq!(text(&output.stderr), "");
            (output.status.code(), text(&output.stdout))
        };
        let look = || look_with(&["doctor"]);
        let (code, found) = look();
        assert_eq!(code, Some(1), "there is nothing yet: {found}");
        assert!(found.starts_with("wrong  database: "), "{found}");
        let server = Program::start(
            &program::executable(),
            &installation.data_dir(),
            &installation.database.url,
        )
        .expect("it serves");
        for name in ["ship", "empty", "boat"] {
            let form = [("name", name)];
            server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
        }
        let tree = WorkTree::new(&installation.folder.path().join("unused.git"));
        tree.write("file", "x").commit("A file");
        for name in ["ship", "boat"] {
            let url = format!("http://root:{ROOT}@{}/root/{name}.git", server.address);
            tree.git(&["push", "-q", &url, "master", "master:other"]);
        }
        let (code, found) = look();
        assert_eq!(code, Some(0), "{found}");
        assert_eq!(found.lines().filter(|line| line.starts_with("ok     ")).count(), 7, "{found}");
        assert!(found.contains("ok     repositories: 2 of 3 projects, all whole\n"), "{found}");
        // The check works with a running server and without one.
        drop(server);
        let of = |id: i64| Layout::new(installation.data_dir()).repository(ProjectId(id));
        let index = stored_packs(&installation.data_dir()).remove(0).with_extension("idx");
        let aside = installation.folder.path().join("aside");
        let swap = |from: &Path, to: &Path| std::fs::rename(from, to).expect("it can be moved");
        let wrong = |expected: &str| {
            let (code, found) = look();
            assert_eq!(code, Some(1), "{found}");
            assert!(found.contains(&format!("wrong  repositories: {expected}")), "{found}");
        };
        swap(&index, &aside);
        wrong("repository of project 1: the index of the pack ");
        swap(&aside, &index);
        let pack = index.with_extension("pack");
        swap(&pack, &aside);
        wrong("repository of project 1: the pack ");
        let mut bytes = std::fs::read(&aside).expect("it is there");
        let last = bytes.len() - 1;
        std::fs::write(&pack, &bytes[..last]).expect("it can be written");
        wrong("repository of project 1: the pack ");
        // Changed bytes of the same length are only found when the pack is read.
        bytes[last / 2] ^= 1;
        std::fs::write(&pack, &bytes).expect("it can be written");
        assert_eq!(look().0, Some(0));
        let (code, found) = look_with(&["doctor", "--deep"]);
        assert_eq!(code, Some(1), "{found}");
        assert!(found.contains("is damaged: its SHA-256 is"), "{found}");
        swap(&aside, &pack);
        assert_eq!(look_with(&["doctor", "--deep"]).0, Some(0));
        // Folders of repositories are created again from rows and packs.
        std::fs::remove_dir_all(of(1)).expect("it is there");
        let stray = "ab".repeat(32);
        let stray = installation.data_dir().join("packs/ab").join(format!("{stray}.pack"));
        std::fs::create_dir_all(stray.parent().expect("a folder")).expect("it can be made");
        std::fs::write(&stray, "").expect("it can be written");
        let (code, found) = look();
        assert_eq!(code, Some(0), "{found}");
        assert!(found.contains("1 belong to no repository"), "{found}");
        assert!(found.contains(&"ab".repeat(32)), "{found}");
        let set_head = |name: &str| {
            let store = installation.database.open(Options::default());
            let store: &dyn Store = &store;
            let set = store.write::<_, StoreError>(|tx| tx.refs().set_head(ProjectId(3), name));
            set.expect("it can be written");
        };
        set_head("refs/heads/other");
        wrong(
            "repository of project 3: its default branch is `other`, its project says `master`\n",
        );
        set_head("refs/heads/master");
        std::fs::create_dir_all(of(99).parent().expect("a folder")).expect("it can be made");
        swap(&of(3), &of(99));
        wrong("there is a repository of project 99, which does not exist\n");
        swap(&of(99), &of(3));
        assert_eq!(look().0, Some(0));
    }
}

#[test]
fn settings_are_printed_without_secrets() {
    let installation = TestInstallation::on(TestDatabase::sqlite());
    let mut program = Command::new(program::executable());
    program.args(["serve", "--print-config"]).env("HEXFORGE_DATA_DIR", installation.data_dir());
    program.env("HEXFORGE_DATABASE_URL", "postgres://me:hunter22@db/forge");
    program
        .env("HEXFORGE_ROOT_PASSWORD", "hunter22")
        .env("HEXFORGE_ROOT_TOKEN", "hunter22hunter22");
    let printed = text(&program.output().expect("the program runs").stdout);
    assert!(printed.contains("listen = \"127.0.0.1:8080\"\n"), "{printed}");
    assert!(printed.contains("database_url = \"postgres://db/forge\"\n"), "{printed}");
    assert!(!printed.contains("hunter22"), "{printed}");
}

#[test]
fn the_description_of_the_interface_is_printed() {
    let installation = TestInstallation::on(TestDatabase::sqlite());
    let printed = installation.run_successfully(&["openapi", "--dialect", "original"]);
    let printed: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(printed, openapi::document(Dialect::Original));
    assert!(!installation.data_dir().exists(), "no data folder is created");
}

#[test]
fn a_first_start_says_how_to_get_in_and_the_next_one_does_not() {
    let installation = TestInstallation::on(TestDatabase::sqlite());
    let mut start = Command::new(program::executable());
    start.env("HEXFORGE_DATA_DIR", installation.data_dir()).env("HEXFORGE_LISTEN", "127.0.0.1:0");
    start.env("HEXFORGE_SSH_LISTEN", "127.0.0.1:0");
    start.env("HEXFORGE_DATABASE_URL", url_with_password(&installation.database.url));
    let first = started_and_stopped(&mut start);
    let value = |name: &str| {
        let line = first.lines().find_map(|line| line.trim().strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name} in {first}")).trim().to_owned()
    };
    let (password, token) = (value("password:"), value("private token:"));
    assert!(password.len() >= 20 && token.len() >= 20 && password != token);
    let second = started_and_stopped(&mut start);
    assert!(!second.contains("password") && second.contains("listening on"), "{second}");
    // The host keys are created once, and shown at each start.
    let host_keys = |printed: &str| -> Vec<String> {
        let lines = printed.lines().filter(|line| line.trim().starts_with("SHA256:"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(host_keys(&first).len(), 2, "{first}");
    assert_eq!(host_keys(&first), host_keys(&second));

    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(installation.data_dir()).expect("made").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);

    let server = Program::start(
        &program::executable(),
        &installation.data_dir(),
        &installation.database.url,
    )
    .expect("it serves");
    assert_eq!(server.request("GET", "/user").token(&token).send().expect(200)["id"], 1);
    let form = [("login", "root"), ("password", password.as_str())];
    server.request("POST", "/session").form(&form).send().expect(201);
}

/// The output of the program from its start until it serves.
fn started_and_stopped(start: &mut Command) -> String {
    use std::io::{BufRead, BufReader};
    let mut child =
        start.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program starts");
    let mut printed = String::new();
    for line in BufReader::new(child.stdout.take().expect("the output is ours")).lines() {
        let line = line.expect("the output is text");
        printed.push_str(&line);
        printed.push('\n');
        if line.contains("listening on") {
            break;
        }
    }
    child.kill().expect("a running process can be killed");
    child.wait().expect("a killed process ends");
    printed
}

#[test]
fn a_stop_finishes_running_requests_and_succeeds() {
    for installation in installations() {
        let mut server = Program::start(
            &program::executable(),
            &installation.data_dir(),
            &installation.database.url,
        )
        .expect("it serves");
        // A sign-in takes long enough to be running when the stop signal arrives.
        let form = [("login", "root"), ("password", "correct horse")];
        let request = server.request("POST", "/session").form(&form);
        let running =
            std::thread::spawn(move || request.try_send().map(|response| response.status));
        std::thread::sleep(Duration::from_millis(5));
        let asked = Instant::now();
        let status = server.stop().expect("a running process can be told to stop");
        assert_eq!(status.code(), Some(0));
        assert!(asked.elapsed() < Duration::from_secs(25), "{:?}", asked.elapsed());
        let answered = running.join().expect("the request does not panic");
        assert!(matches!(answered, Some(201) | None), "{answered:?}");
    }
}

#[test]
fn uploads_survive_a_sudden_end_and_a_start_finishes_what_was_interrupted() {
    for installation in installations() {
        let start = || {
            Program::start(
                &program::executable(),
                &installation.data_dir(),
                &installation.database.url,
            )
        };
        let mut server = start().expect("it serves");
        let project = server.request("POST", "/projects").token(ROOT).form(&[("name", "Ship")]);
        let project = project.send().expect(201);
        let path = format!("/projects/{}", project["id"]);
        let upload = server.request("POST", &format!("{path}/uploads")).token(ROOT);
        let upload = upload.file("a.png", b"a picture").send().expect(201);
        server.kill().expect("a running process can be killed");

        // Restores the state after a kill between the commit and the removal of files, and during the removal.
        let removed = installation.data_dir().join("uploads/ff/ff/65535/0123");
        let trashed = installation.data_dir().join("trash/4567");
        for folder in [&removed, &trashed] {
            std::fs::create_dir_all(folder).expect("the folder can be made");
            std::fs::write(folder.join("content"), b"x").expect("a file can be written");
        }
        let server = start().expect("it serves again");
        let url = upload["url"].as_str().expect("an upload has an address");
        let target = format!("/root/ship{url}");
        let file = hexforge_tests::Request::new(server.address, "GET", &target).token(ROOT).send();
        assert_eq!((file.status, file.text()), (200, "a picture"));
        let asked = Instant::now();
        while removed.exists() || trashed.exists() {
            assert!(
                asked.elapsed() < Duration::from_secs(30),
                "the interrupted removal is not finished"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        let own = installation.data_dir().join("uploads").join(upload_folder(&project["id"]));
        assert!(own.exists());
        server.request("DELETE", &path).token(ROOT).send().expect(200);
        assert!(!own.exists());
    }
}

/// The folder of a project's uploads.
fn upload_folder(id: &serde_json::Value) -> String {
    let id = id.as_i64().expect("a project has an id");
    format!("{:02x}/{:02x}/{id}", id & 255, id >> 8 & 255)
}

#[test]
fn memberships_that_have_expired_are_ended_by_the_program() {
    const LONG: Duration = Duration::from_secs(20);
    for installation in installations() {
        let start = || {
            Program::start(
                &program::executable(),
                &installation.data_dir(),
                &installation.database.url,
            )
            .expect("it serves")
        };
        let mut server = start();
        let post = |server: &Program, path: &str, form: &[(&str, &str)]| {
            let made = server.request("POST", path).token(ROOT).form(form).send().expect(201);
            made["id"].as_i64().expect("created objects have an id")
        };
        let account = [
            ("username", "ada"),
            ("name", "Ada"),
            ("email", "ada@example.com"),
            ("password", "correct horse"),
        ];
        let ada = post(&server, "/users", &account).to_string();
        let ship = post(&server, "/projects", &[("name", "Ship")]);
        let member =
            [("user_id", ada.as_str()), ("access_level", "30"), ("expires_at", "2001-01-01")];
        post(&server, &format!("/projects/{ship}/members"), &member);
        assert_eq!(server.stop().expect("it can be told to stop").code(), Some(0));

        let server = start();
        let begun = Instant::now();
        let read = |path: &str| {
            let path = format!("/projects/{ship}/{path}");
            server.request("GET", &path).token(ROOT).send().expect(200)
        };
        while read("members").as_array().is_some_and(|members| members.len() > 1) {
            assert!(begun.elapsed() < LONG, "it looks for them when it starts");
            std::thread::sleep(Duration::from_millis(20));
        }
        let newest = &read("events")[0];
        assert_eq!(newest["action_name"], "removed due to membership expiration from");
        assert_eq!(newest["author_username"], "ada");
    }
}

#[test]
fn a_damaged_repository_is_logged_once_for_each_request_and_hurts_no_other() {
    let installation = TestInstallation::on(TestDatabase::sqlite());
    let log = installation.folder.path().join("log");
    let file = std::fs::File::create(&log).expect("the log can be made");
    let (program, database) = (program::executable(), &installation.database.url);
    let server = Program::start_logging(&program, &installation.data_dir(), database, file.into())
        .expect("it serves");
    let made = server.request("POST", "/projects").token(ROOT).form(&[("name", "shop")]).send();
    let id = made.expect(201)["id"].as_i64().expect("a project has an id");
    let layout = hexforge_git_gix::Layout::new(installation.data_dir());
    let bare = layout.repository(ProjectId(id));
    let tree = hexforge_tests::WorkTree::new(&installation.folder.path().join("unused.git"));
    // More bytes than one read buffer.
    tree.write("large", vec![b'x'; 300_000]).write("small", "x").write("well", "well");
    tree.commit("Begin");
    let address = format!("http://root:{ROOT}@{}/root/shop.git", server.address);
    tree.git(&["push", "-q", &address, "master"]);
    let ask = |path: &str| {
        let call = format!("/projects/{id}/repository/blobs/master?filepath={path}");
        server.request("GET", &call).token(ROOT).send()
    };
    assert_eq!(ask("well").text(), "well");
    for path in ["large", "small"] {
        let blob = tree.git(&["rev-parse", &format!("HEAD:{path}")]);
        damage(&bare, &blob, Damage::Garbage);
    }
    let logged = || std::fs::read_to_string(&log).expect("the log can be read");
    let told = |log: &str| log.lines().filter(|line| line.contains("ERROR")).count();
    for (number, path) in ["small", "large", "small"].into_iter().enumerate() {
        let answer = ask(path);
        assert!(answer.status == 500 || answer.body.len() < 300_000, "{path}: {}", answer.status);
        assert_eq!(told(&logged()), number + 1, "{path}: {}", logged());
        assert_eq!(ask("well").text(), "well");
    }
    assert_eq!(told(&logged()), 3);
    // A server that has not used the pack yet verifies its checksum, and names the pack.
    let form = [("name", "well")];
    server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
    let other = format!("http://root:{ROOT}@{}/root/well.git", server.address);
    tree.write("other", "well").commit("Go on");
    tree.git(&["checkout", "-q", "--orphan", "alone"]);
    tree.commit("Alone");
    tree.git(&["push", "-q", &other, "alone:master"]);
    drop(server);
    let file = std::fs::File::options().append(true).open(&log).expect("it is there");
    let server = Program::start_logging(&program, &installation.data_dir(), database, file.into())
        .expect("it serves");
    let branches = |id: i64| {
        let call = format!("/projects/{id}/repository/branches");
        server.request("GET", &call).token(ROOT).send().status
    };
    assert_eq!((branches(id), branches(id + 1)), (500, 200));
    let packs = std::fs::read_dir(bare.join("objects/pack")).expect("it has packs");
    let name = packs.flatten().find_map(|file| {
        let name = file.file_name().into_string().ok()?;
        Some(name.strip_prefix("pack-")?.strip_suffix(".pack")?.to_owned())
    });
    let name = name.expect("it has a pack");
    assert!(logged().contains(&format!("the pack {name} is damaged")), "{}", logged());
}

#[test]
fn many_pushes_leave_few_packs_and_a_fork_shares_them() {
    for installation in installations() {
        let server = Program::start(
            &program::executable(),
            &installation.data_dir(),
            &installation.database.url,
        )
        .expect("it serves");
        let ask = |method: &str, path: &str| server.request(method, path).token(ROOT);
        ask("POST", "/projects").form(&[("name", "ship")]).send().expect(201);
        ask("POST", "/groups").form(&[("name", "fleet"), ("path", "fleet")]).send().expect(201);
        let tree = WorkTree::new(&installation.folder.path().join("unused.git"));
        let address = |path: &str| format!("http://root:{ROOT}@{}/{path}.git", server.address);
        for number in 0..MERGE_THRESHOLD + 6 {
            tree.write("file", format!("{number}\n")).commit(&format!("Change {number}"));
            tree.git(&["push", "-q", &address("root/ship"), "master"]);
        }
        let live = |project: i64| {
            let condition = format!("project_id = {project} AND retired_at IS NULL");
            installation.database.number(&format!("SELECT count(*) FROM packs WHERE {condition}"))
        };
        let end = Instant::now() + Duration::from_secs(60);
        while live(1) >= MERGE_THRESHOLD as i64 {
            assert!(Instant::now() < end, "{} packs are left", live(1));
            std::thread::sleep(Duration::from_millis(20));
        }
        tree.assert_sound_at(&address("root/ship"));
        let stored = || stored_packs(&installation.data_dir()).len();
        let before = stored();
        ask("POST", "/projects/fork/1").form(&[("namespace", "fleet")]).send().expect(201);
        assert_eq!((stored(), live(2)), (before, live(1)), "a fork copies no file");
        tree.assert_sound_at(&address("fleet/ship"));
        assert_eq!(tree.refs_at(&address("fleet/ship")), tree.refs_at(&address("root/ship")));
        // Each project gets its own new commits.
        ask("DELETE", "/projects/1").send().expect(200);
        tree.write("file", "of the fork").commit("More");
        tree.git(&["push", "-q", &address("fleet/ship"), "master"]);
        tree.assert_sound_at(&address("fleet/ship"));
    }
}

#[test]
fn each_start_removes_access_of_others_to_the_data_folder() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let data = folder.path().join("data");
    let database = DatabaseUrl::Sqlite(data.join("hexforge.db"));
    let mode =
        |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    let open = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    std::fs::create_dir(&data).expect("writable");
    open(&data, 0o755);
    let server = Program::start(&program::executable(), &data, &database).expect("it serves");
    assert_eq!(mode(&data), 0o700);
    for file in ["hexforge.db", "hexforge.db-wal", "hexforge.db-shm", "secret.key"] {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
    drop(server);
    open(&data, 0o755);
    for (name, mode) in [("hexforge.db", 0o644), ("secret.key", 0o640)] {
        open(&data.join(name), mode);
    }
    let listed = run(&data, &database, &["user", "list"], "");
    assert!(listed.status.success(), "{}", text(&listed.stderr));
    assert_eq!(mode(&data), 0o700);
    for file in ["hexforge.db", "secret.key"] {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
}

#[test]
fn a_start_with_another_key_stops_and_says_so() {
    for installation in installations() {
        installation.run_successfully(&["user", "list"]);
        std::fs::write(installation.data_dir().join("secret.key"), [7; 32]).expect("writable");
        let refused = installation.run(&["user", "list"], "");
        assert!(!refused.status.success());
        let said = text(&refused.stderr);
        assert!(said.contains("sealed with another key"), "{said}");
        assert!(said.contains("secret.key"), "{said}");
    }
}

/// POST /ci/api/v1/runners/register
#[test]
fn runners_and_their_tokens_are_managed_at_the_command_line() {
    for installation in installations() {
        let server = Program::start(
            &program::executable(),
            &installation.data_dir(),
            &installation.database.url,
        )
        .expect("it serves");
        let register = |token: &str, description: &str| {
            let form = [("token", token), ("description", description)];
            hexforge_tests::Request::new(server.address, "POST", "/ci/api/v1/runners/register")
                .form(&form)
                .send()
        };
        let made = server.request("POST", "/projects").token(ROOT).form(&[("name", "ship")]).send();
        let project = made.expect(201);
        let old = project["runners_token"].as_str().expect("shown to owners").to_owned();
        let bound = register(&old, "bound\u{1b}[31m").expect(201);
        let shared = register(program::RUNNERS, "shared").expect(201);

        let listed = installation.run_successfully(&["runners", "list"]);
        assert!(
            listed.contains(&format!("{}\tactive\tprojects 1\tnever\tbound[31m\n", bound["id"]))
        );
        assert!(listed.contains(&format!("{}\tactive\tshared\tnever\tshared\n", shared["id"])));
        assert!(!listed.contains(&old));

        // With a token in the settings there is nothing to rotate.
        let made: Vec<String> =
            (0..2).map(|_| installation.run_successfully(&["token", "rotate"])).collect();
        assert!(made[0].trim().len() >= 20 && made[0] != made[1], "{made:?}");
        let refused =
            installation.run(&["token", "rotate", "--runners-token", "of the settings"], "");
        assert!(text(&refused.stderr).contains("runners_token"), "{}", text(&refused.stderr));

        // A rotated token registers no runners; registered runners stay.
        let new = installation.run_successfully(&["token", "rotate", "--project", "root/ship"]);
        assert_eq!(register(&old, "late").status, 403);
        register(new.trim(), "in time").expect(201);
        let shown = server.request("GET", "/projects/1").token(ROOT).send().expect(200);
        assert_eq!(shown["runners_token"], new.trim());
        assert!(
            !installation.run(&["token", "rotate", "--project", "root/none"], "").status.success()
        );

        let id = shared["id"].to_string();
        assert_eq!(
            installation.run_successfully(&["runners", "pause", &id]),
            format!("runner {id} is paused\n")
        );
        assert_eq!(
            installation.run_successfully(&["runners", "pause", &id]),
            format!("runner {id} was paused already\n")
        );
        assert!(
            installation
                .run_successfully(&["runners", "list"])
                .contains(&format!("{id}\tpaused\t"))
        );
        assert_eq!(
            installation.run_successfully(&["runners", "resume", &id]),
            format!("runner {id} is active\n")
        );
        assert_eq!(
            installation.run_successfully(&["runners", "remove", &id]),
            format!("runner {id} is removed\n")
        );
        let form = [("token", shared["token"].as_str().expect("its own"))];
        let asks =
            hexforge_tests::Request::new(server.address, "POST", "/ci/api/v1/builds/register");
        assert_eq!(asks.form(&form).send().status, 403);
        for command in ["pause", "resume", "remove"] {
            let refused = installation.run(&["runners", command, &id], "");
            assert!(!refused.status.success());
            assert!(text(&refused.stderr).contains(&format!("runner {id} cannot be")));
        }
    }
}

#[test]
fn the_log_has_no_secret_of_a_path() {
    let installation = TestInstallation::on(TestDatabase::sqlite());
    let log = installation.folder.path().join("log");
    let file = std::fs::File::create(&log).expect("the log can be made");
    let settings = [("HEXFORGE_LOG", "info")];
    let (program, database) = (program::executable(), &installation.database.url);
    let server =
        Program::start_with(&program, &installation.data_dir(), database, file.into(), &settings)
            .expect("it serves");
    let form = [("name", "shop")];
    let made = server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
    let id = &made["id"];
    let triggers = format!("/projects/{id}/triggers");
    let trigger = server.request("POST", &triggers).token(ROOT).send().expect(201);
    let token = trigger["token"].as_str().expect("a trigger has a token");
    let upload = server.request("POST", &format!("/projects/{id}/uploads")).token(ROOT);
    let upload = upload.file("plan.pdf", b"secret plan").send().expect(201);
    let url = upload["url"].as_str().expect("an upload has an address");
    let secret = url.split('/').nth(2).expect("a secret is part of it");
    server.request("GET", &format!("{triggers}/{token}")).token(ROOT).send().expect(200);
    server.request("DELETE", &format!("{triggers}/1-wrong")).token(ROOT).send().expect(404);
    server.request("PUT", &format!("{triggers}/{token}")).token(ROOT).send().expect(404);
    server.request("GET", &format!("/projects/{id}/trigger/{token}")).token(ROOT).send();
    let outside = |path: &str| Request::new(server.address, "GET", path).token(ROOT).send();
    assert_eq!(outside(&format!("/root/shop{url}")).status, 200);
    assert_eq!(outside(&format!("/root//shop{url}/")).status, 200);
    assert_eq!(outside(&format!("/{token}/{secret}")).status, 404);
    let logged = std::fs::read_to_string(&log).expect("the log can be read");
    for shown in [
        format!("/api/v3/projects/{id}/triggers/{{token}}"),
        "/root/shop/uploads/{secret}/{name}".to_owned(),
        "/api/v3/{…}".to_owned(),
    ] {
        assert!(logged.contains(&shown), "{shown}: {logged}");
    }
    for hidden in [token, secret, "1-wrong", "plan.pdf"] {
        assert!(!logged.contains(hidden), "{hidden}: {logged}");
    }
}

/// The documented access log of nginx must hide what that of hexforge hides: it contains no variable with a path, a
/// query or a header of the caller.
#[test]
fn the_documented_log_format_of_nginx_has_no_paths() {
    let docs = include_str!("../../docs/operations.md");
    let formats: Vec<&str> = docs.lines().filter(|line| line.contains("log_format ")).collect();
    let [format] = formats[..] else { panic!("one format is documented: {formats:?}") };
    let (head, format) = format.split_once('\'').expect("a format is quoted");
    let name = head.trim_end().rsplit(' ').next().expect("a format has a name");
    let named = |line: &&str| line.trim().starts_with("access_log ");
    let logs: Vec<&str> = docs.lines().filter(named).collect();
    assert!(!logs.is_empty() && logs.iter().all(|log| log.trim().ends_with(&format!(" {name};"))));
    let variables = format.split('$').skip(1).map(|text| {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &text[..end.unwrap_or(text.len())]
    });
    let harmless = [
        "remote_addr",
        "time_local",
        "request_method",
        "status",
        "body_bytes_sent",
        "request_time",
        "upstream_http_x_request_id",
    ];
    assert_eq!(variables.collect::<Vec<_>>(), harmless);
    let errors: Vec<&str> = docs.lines().filter(|line| line.contains("error_log ")).collect();
    assert!(errors.iter().all(|line| line.contains(" crit;")), "{errors:?}");
}
