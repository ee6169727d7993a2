//! Several machines of one installation.

use std::collections::BTreeSet;

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::ROOT;

use crate::support::{Site, output_text};

#[test]
fn pushes_to_one_branch_through_different_machines_have_one_winner() {
    let Some(site) = Site::several(3) else { return };
    site.project("ship");
    let base = site.tree.git(&["rev-parse", "master"]);
    for round in 0..5 {
        let tips: Vec<String> = (0..3)
            .map(|machine| {
                let message = format!("{round} {machine}");
                site.tree.git(&["commit-tree", "-p", &base, "-m", &message, "HEAD^{tree}"])
            })
            .collect();
        let branch = format!("race-{round}");
        let pushed = std::thread::scope(|scope| {
            let pushes: Vec<_> = tips
                .iter()
                .enumerate()
                .map(|(machine, tip)| {
                    let (site, what) = (&site, format!("{tip}:refs/heads/{branch}"));
                    scope.spawn(move || site.push(machine, "ship", &what))
                })
                .collect();
            pushes.into_iter().map(|push| push.join().expect("no panic")).collect::<Vec<_>>()
        });
        let winners: Vec<usize> =
            (0..3).filter(|machine| pushed[*machine].status.success()).collect();
        let texts: Vec<String> = pushed.iter().map(output_text).collect();
        let [winner] = winners.as_slice() else { panic!("{texts:?}") };
        for (machine, text) in texts.iter().enumerate().filter(|(machine, _)| machine != winner) {
            let usual =
                ["fetch first", "non-fast-forward", "already exists", "failed to update ref"];
            assert!(usual.iter().any(|words| text.contains(words)), "{machine}: {text}");
        }
        for machine in 0..3 {
            let refs = site.tree.refs_at(&site.address(machine, "ship"));
            assert_eq!(refs[&format!("refs/heads/{branch}")], tips[*winner]);
        }
    }
}

/// The packs of both projects have the same bytes, and so the same name.
#[test]
fn the_same_commits_are_pushed_to_two_projects_at_once() {
    let Some(site) = Site::several(2) else { return };
    for name in ["ship", "boat"] {
        let made = site.servers[0].request("POST", "/projects").form(&[("name", name)]);
        made.token(ROOT).send().expect(201);
    }
    for round in 0..3 {
        site.tree.write("file", format!("{round}\n")).commit("More");
        std::thread::scope(|scope| {
            for (machine, name) in ["ship", "boat"].into_iter().enumerate() {
                let site = &site;
                scope.spawn(move || {
                    let pushed = site.push(machine, name, "master");
                    assert!(pushed.status.success(), "{}", output_text(&pushed));
                });
            }
        });
        for (machine, name) in [(0, "boat"), (1, "ship")] {
            site.clone_and_compare(machine, name);
        }
    }
}

#[test]
fn all_machines_show_what_one_of_them_was_told() {
    let Some(site) = Site::several(3) else { return };
    site.project("ship");
    for machine in 0..3 {
        let (server, next) = (&site.servers[machine], &site.servers[(machine + 1) % 3]);
        let file = server.request("POST", "/projects/1/uploads").token(ROOT);
        let url = file.file("a.txt", b"text").send().expect(201)["url"].clone();
        let url = format!("/root/ship{}", url.as_str().unwrap_or_default());
        let answer = hexforge_tests::Request::new(next.address, "GET", &url).token(ROOT).send();
        assert_eq!((answer.status, answer.body.as_slice()), (200, &b"text"[..]));
        let name = format!("of-{machine}");
        let fork = [("branch_name", name.as_str()), ("ref", "master")];
        let made = server.request("POST", "/projects/1/repository/branches").form(&fork);
        made.token(ROOT).send().expect(200);
        let path = format!("/projects/1/repository/branches/{name}");
        next.request("GET", &path).token(ROOT).send().expect(200);
    }
    // All machines have the same host keys.
    let keys: BTreeSet<Vec<String>> = site.servers.iter().map(host_keys).collect();
    assert_eq!(keys.len(), 1, "{keys:?}");
    assert!(!site.installation.folder(0).join("ssh").exists());
    assert!(!site.installation.folder(0).join("secret.key").exists());
}

/// Another database would let the sweep remove all packs, because it does not know them. Another key decrypts nothing.
#[test]
fn a_store_belongs_to_one_installation_and_its_key() {
    let Some(site) = Site::several(1) else { return };
    site.project("ship");
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let other = TestDatabase::sqlite();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--ssh-listen", "off"];
    let ended = site.run_in(&folder.path().join("one"), &other, &serve);
    let text = output_text(&ended);
    assert!(!ended.status.success() && text.contains("belongs to another installation"), "{text}");
    let file = folder.path().join("backup").to_string_lossy().into_owned();
    assert!(site.run(0, &["backup", &file]).status.success());
    let Some(empty) = TestDatabase::postgres() else { return };
    let ended = site.run_in(&folder.path().join("two"), &empty, &["restore", &file]);
    let text = output_text(&ended);
    assert!(!ended.status.success() && text.contains("restore into an empty prefix"), "{text}");
    let key = "1".repeat(64);
    let arguments = [&serve[..], &["--secret-key", &key]].concat();
    let ended = site.run_in(&folder.path().join("three"), &site.database, &arguments);
    let text = output_text(&ended);
    assert!(!ended.status.success() && text.contains("sealed with another key"), "{text}");
    site.clone_and_compare(0, "ship");
}

/// The public host keys of a server.
fn host_keys(server: &hexforge_tests::program::Program) -> Vec<String> {
    let address = server.ssh.expect("it serves SSH");
    let mut command = std::process::Command::new("ssh-keyscan");
    command.args(["-p", &address.port().to_string(), &address.ip().to_string()]);
    let output = command.output().expect("ssh-keyscan is installed with ssh");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut keys: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(_, key)| key.to_owned())
        .collect();
    keys.sort();
    assert!(!keys.is_empty(), "{}", output_text(&output));
    keys
}
