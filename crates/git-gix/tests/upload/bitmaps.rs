//! Clones of repositories with reachability bitmaps.

use std::path::Path;

use crate::clients::{Clones, check, grow, history, objects, transports};
use crate::server::{Server, run};
use crate::support::Random;

/// Repacks a repository and writes a bitmap.
const WITH_BITMAP: [&str; 5] = ["repack", "-q", "-a", "-d", "--write-bitmap-index"];

#[test]
fn bitmaps_find_the_same() {
    let scratch = history();
    grow(&scratch, &mut Random::new(6), 150);
    let server = Server::of(&scratch);
    server.run(&WITH_BITMAP);
    let pack = |folder: &Path| {
        let packs = folder.join("objects/pack").read_dir().expect("a folder");
        let files = packs.map(|file| file.expect("an entry").path());
        files.filter(|file| file.extension().is_some_and(|ext| ext == "pack")).collect::<Vec<_>>()
    };
    let bitmap = pack(&server.repository())[0].with_extension("bitmap");
    assert!(bitmap.exists());
    for round in ["whole", "newer", "unreachable", "damaged"] {
        match round {
            // Adds objects that are not in the bitmap.
            "newer" => {
                grow(&scratch, &mut Random::new(7), 4);
                scratch.git(&["tag", "-a", "-m", "note", "later"]);
                server.push(&scratch);
            }
            // Some objects of the pack become unreachable.
            "unreachable" => {
                server.run(&WITH_BITMAP);
                server.run(&["update-ref", "refs/heads/master", "master~5"]);
                server.run(&["tag", "-d", "later"]);
            }
            "damaged" => {
                let file = pack(&server.repository())[0].with_extension("bitmap");
                let bytes = std::fs::read(&file).expect("a bitmap");
                std::fs::remove_file(&file).expect("a bitmap");
                std::fs::write(&file, &bytes[..bytes.len() / 2]).expect("a bitmap");
            }
            _ => {}
        }
        let clones = Clones::new();
        for (name, version, url) in transports(&server) {
            let folder = clones.make(&name, version, &url, &["--mirror"]);
            check(&server, &folder);
            let name_of = |folder: &Path| pack(folder)[0].file_name().expect("a name").to_owned();
            let same = name_of(&folder) == name_of(&server.repository());
            assert_eq!(same, round == "whole", "{name} {round}");
            let one = format!("{name}.one");
            let options = ["--bare", "--single-branch", "--branch", "topic"];
            let folder = clones.make(&one, version, &url, &options);
            run(&folder, &["fsck", "--strict"]);
            let ours = objects(&folder, &["topic"]);
            assert_eq!(ours, objects(&server.repository(), &["topic"]), "{name} {round}");
            if version == "2" {
                let partial = format!("{name}.partial");
                clones.make(&partial, version, &url, &["--filter=blob:none"]);
            }
        }
    }
}
