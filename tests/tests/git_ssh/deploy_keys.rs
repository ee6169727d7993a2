//! Deploy keys over SSH: section 4.6 of the reference of the rest of v3.

use hexforge_tests::forge::ROOT;
use hexforge_tests::ssh_client::{Identity, output_of};
use hexforge_tests::{Forge, on_every_store};

use super::support::{Scene, address, git, run};

on_every_store!(
    a_deploy_key_reads_its_projects_and_public_ones,
    a_deploy_key_never_pushes,
    a_deploy_key_is_refused_once_it_is_disabled,
);

const NOT_FOUND: &str = "The project you were looking for could not be found.";
const NO_PUSH: &str = "Deploy keys are not allowed to push code.";

/// Adds a deploy key to a project, and returns its id.
fn deploy(forge: &Forge, token: &str, project: i64, key: &Identity) -> i64 {
    let fields = [("title", "build server"), ("key", &key.public())];
    let path = format!("/projects/{project}/deploy_keys");
    let made = forge.post(&path).token(token).form(&fields).send().expect(201);
    made["id"].as_i64().expect("keys have ids")
}

fn a_deploy_key_reads_its_projects_and_public_ones(forge: &Forge) {
    let scene = Scene::filled(forge);
    let key = Identity::new();
    let id = deploy(forge, &scene.ada, scene.project, &key);
    let (status, out, _) = output_of(key.ssh(scene.ssh, &["-T"], &[]));
    assert_eq!((status, out.as_str()), (Some(0), "Welcome to hexforge, build server!\r\n"));
    let clone = |path: &str, to: &str| {
        run(&mut git(&scene.tree, &key, scene.ssh, &["clone", "-q", &address(scene.ssh, path), to]))
    };
    clone("ada/ship.git", "copy").ok();
    let archive = format!("--remote={}", scene.address());
    run(&mut git(&scene.tree, &key, scene.ssh, &["archive", &archive, "master"])).ok();
    // Another private project, an internal one, and a public one.
    for (name, level, visible) in [("boat", "0", false), ("raft", "10", false), ("log", "20", true)]
    {
        let fields = [("name", name), ("visibility_level", level)];
        let made = forge.post("/projects").token(&scene.ada).form(&fields).send().expect(201);
        let path = format!("ada/{name}.git");
        scene.git(&["push", "-q", &address(scene.ssh, &path), "master"]).ok();
        let cloned = clone(&path, name);
        if visible {
            cloned.ok();
            continue;
        }
        cloned.refused(&[NOT_FOUND]);
        let enable = format!("/projects/{}/deploy_keys/{id}/enable", made["id"]);
        forge.post(&enable).token(&scene.ada).send().expect(201);
        clone(&path, name).ok();
    }
    clone("ada/missing.git", "missing").refused(&[NOT_FOUND]);
}

fn a_deploy_key_never_pushes(forge: &Forge) {
    let scene = Scene::filled(forge);
    let key = Identity::new();
    deploy(forge, &scene.ada, scene.project, &key);
    let fields = [("name", "log"), ("visibility_level", "20")];
    forge.post("/projects").token(&scene.ada).form(&fields).send().expect(201);
    scene.tree.commit("More\n");
    for path in ["ada/ship.git", "ada/log.git", "ada/missing.git"] {
        let push = ["push", "-q", &address(scene.ssh, path), "master"];
        run(&mut git(&scene.tree, &key, scene.ssh, &push)).refused(&[NO_PUSH]);
        let (status, out, err) = key.run(scene.ssh, &format!("git-receive-pack '{path}'"));
        assert_eq!((status, out.as_str(), err.trim_end()), (Some(1), "", NO_PUSH), "{path}");
    }
}

fn a_deploy_key_is_refused_once_it_is_disabled(forge: &Forge) {
    let scene = Scene::filled(forge);
    let key = Identity::new();
    let id = deploy(forge, &scene.ada, scene.project, &key);
    let fetch = || run(&mut git(&scene.tree, &key, scene.ssh, &["ls-remote", &scene.address()]));
    fetch().ok();
    // It stays a key of another project.
    let other = forge.post("/projects").token(&scene.ada).form(&[("name", "boat")]).send();
    deploy(forge, &scene.ada, other.expect(201)["id"].as_i64().expect("an id"), &key);
    let disable = format!("/projects/{}/deploy_keys/{id}/disable", scene.project);
    forge.delete(&disable).token(ROOT).send().expect(200);
    fetch().refused(&[NOT_FOUND]);
    let disable = format!("/projects/ada%2Fboat/deploy_keys/{id}/disable");
    forge.delete(&disable).token(ROOT).send().expect(200);
    fetch().refused(&["Permission denied (publickey)"]);
}
