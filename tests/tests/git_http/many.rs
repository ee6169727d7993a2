//! Pushes of many refs and of large files.

use std::time::{Duration, Instant};

use hexforge_tests::{Forge, on_every_store};

use super::support::Scene;

on_every_store!(
    a_thousand_refs_are_one_change,
    large_packs_come_in_pieces,
    pushes_at_the_same_time,
);

fn a_thousand_refs_are_one_change(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tip = scene.tree.commit("More\n");
    let mut input = String::new();
    for number in 0..1000 {
        input.push_str(&format!("create refs/heads/many/{number} {tip}\n"));
    }
    scene.tree.write(".git/updates", &input);
    let updates = scene.tree.path().join(".git/updates");
    let file = std::fs::File::open(updates).expect("it was written");
    let status = scene.tree.command(&["update-ref", "--stdin"]).stdin(file).status();
    assert!(status.expect("git can be started").success());
    let started = Instant::now();
    scene.push("ada", &["refs/heads/many/*:refs/heads/many/*"]).ok();
    let took = started.elapsed();
    let listed = scene.on_server(&["for-each-ref", "refs/heads/many/"]);
    assert_eq!(listed.lines().count(), 1000);
    let path = format!("/projects/{}/repository/branches?per_page=1", scene.project);
    let branches = forge.get(&path).token(&scene.ada).send();
    assert_eq!(branches.header("x-total"), Some("1001"));
    assert!(took < Duration::from_secs(60), "{took:?}");
    // All refs are removed again.
    let names: Vec<String> = (0..1000).map(|number| format!(":refs/heads/many/{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    scene.push("ada", &names).ok();
    assert_eq!(scene.on_server(&["for-each-ref"]).lines().count(), 1);
    scene.assert_sound();
}

/// Git sends packs of more than a megabyte in chunks, after a probe request.
fn large_packs_come_in_pieces(forge: &Forge) {
    let scene = Scene::new(forge);
    let mut state = 1_u64;
    let noise: Vec<u8> = (0..3_000_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    let tip = scene.tree.write("noise", &noise).commit("Make noise\n");
    scene.push("ada", &["master"]).ok();
    assert_eq!(scene.server_ref("refs/heads/master"), Some(tip));
    let path = format!("/projects/{}/repository/blobs/master?filepath=noise", scene.project);
    let blob = forge.get(&path).token(&scene.ada).send();
    assert_eq!(blob.header("content-length"), Some("3000000"));
    scene.assert_sound();
}

/// Concurrent pushes to different branches all succeed. Of those to one branch, the first succeeds.
fn pushes_at_the_same_time(forge: &Forge) {
    let scene = Scene::filled(forge);
    let token = scene.ada.clone();
    let mut tips = Vec::new();
    for number in 0..8 {
        scene.tree.git(&["checkout", "-q", "-B", &format!("b{number}"), "master"]);
        tips.push(scene.tree.write("n", number.to_string()).commit("One of many\n"));
    }
    let push = |target: fn(usize) -> String| -> Vec<bool> {
        std::thread::scope(|scope| {
            let pushes: Vec<_> = (0..8)
                .map(|number| {
                    let refs = format!("b{number}:refs/heads/{}", target(number));
                    let address = scene.address("ada", &token);
                    let mut command = scene.tree.command(&["push", "-q", &address, &refs]);
                    scope.spawn(move || {
                        let output = command.output().expect("git can be started");
                        output.status.success()
                    })
                })
                .collect();
            pushes.into_iter().map(|push| push.join().expect("no thread panics")).collect()
        })
    };
    assert_eq!(push(|number| format!("own/{number}")), [true; 8]);
    for (number, tip) in tips.iter().enumerate() {
        assert_eq!(scene.server_ref(&format!("refs/heads/own/{number}")).as_ref(), Some(tip));
    }
    let taken = push(|_| "shared".to_owned());
    assert_eq!(taken.iter().filter(|taken| **taken).count(), 1, "{taken:?}");
    let winner = taken.iter().position(|taken| *taken).expect("one");
    assert_eq!(scene.server_ref("refs/heads/shared").as_ref(), Some(&tips[winner]));
    assert_eq!(scene.events().len(), 10);
    scene.assert_sound();
}
