//! The local cache of packs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::ROOT;

use crate::support::{Site, output_text};

/// How often each pack was requested, counted by requests for its first part.
fn fetched(site: &Site) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for request in site.installation.object_store().requests() {
        if let Some(key) = request.strip_prefix("GET ").filter(|key| key.ends_with(".pack")) {
            *all.entry(key.to_owned()).or_default() += 1;
        }
    }
    all
}

#[test]
fn a_new_machine_serves_a_clone_and_fetches_each_pack_once_for_all_who_wait() {
    let Some(site) = Site::several(2) else { return };
    site.project("ship");
    for number in 0..3 {
        site.tree.write("file", format!("{number}\n")).commit("More");
        assert!(site.push(0, "ship", "master").status.success());
    }
    site.installation.object_store().forget_requests();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| site.clone_and_compare(1, "ship"));
        }
    });
    let fetched = fetched(&site);
    assert_eq!(fetched.keys().cloned().collect::<Vec<_>>(), site.packs());
    assert!(fetched.values().all(|times| *times == 1), "{fetched:?}");
    // A cached pack is not requested again.
    site.installation.object_store().forget_requests();
    site.clone_and_compare(1, "ship");
    site.clone_and_compare(0, "ship");
    assert_eq!(site.installation.object_store().requests(), Vec::<String>::new());
}

/// The size of the packs of a machine, in its cache and as links in repositories.
fn bytes_of_packs(folder: &Path) -> u64 {
    fn add(folder: &Path, found: &mut BTreeMap<u64, u64>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            match kind {
                Ok(kind) if kind.is_dir() => add(&path, found),
                Ok(_) if path.extension().is_some_and(|end| end == "pack" || end == "idx") => {
                    if let Ok(file) = fs::metadata(&path) {
                        found.insert(file.ino(), file.len());
                    }
                }
                Ok(_) | Err(_) => (),
            }
        }
    }
    let mut found = BTreeMap::new();
    for part in ["cache", "repositories"] {
        add(&folder.join(part), &mut found);
    }
    found.values().sum()
}

#[test]
fn a_cache_that_is_smaller_than_the_repositories_works_and_stays_small() {
    let limit = 4 << 20;
    let gigabytes = format!("{}", f64::from(limit) / f64::from(1 << 30));
    let settings = [("HEXFORGE_CACHE_GB", gigabytes.as_str())];
    let site = Site::new(TestDatabase::sqlite(), 1, &settings);
    let names: Vec<String> = (0..5).map(|number| format!("ship-{number}")).collect();
    let mut number = 1_u64;
    for name in &names {
        let content: Vec<u8> = (0..3 << 19)
            .map(|_| {
                number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (number >> 56) as u8
            })
            .collect();
        fs::write(site.tree.path().join("large"), content).expect("it can be written");
        site.tree.commit("A large file");
        site.project(name);
    }
    let tips: Vec<String> = names.iter().map(|name| tip(&site, name)).collect();
    let folder = site.installation.folder(0);
    let is_small = || {
        let until = Instant::now() + Duration::from_secs(120);
        while bytes_of_packs(folder) > limit as u64 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(100));
        }
        bytes_of_packs(folder) <= limit as u64
    };
    assert!(is_small(), "{} bytes", bytes_of_packs(folder));
    for _ in 0..2 {
        std::thread::scope(|scope| {
            for (name, tip) in names.iter().zip(&tips) {
                let site = &site;
                scope.spawn(move || {
                    let target = tempfile::tempdir().expect("a folder");
                    let cloned = site.clone_to(0, name, target.path());
                    assert!(cloned.status.success(), "{}", output_text(&cloned));
                    let path = target.path().to_string_lossy().into_owned();
                    let checked = site.git(&["-C", &path, "fsck", "--full"]);
                    assert!(checked.status.success(), "{}", output_text(&checked));
                    let found = site.git(&["-C", &path, "rev-parse", "refs/heads/master"]);
                    assert_eq!(String::from_utf8_lossy(&found.stdout).trim(), tip);
                });
            }
        });
    }
    assert!(is_small(), "{} bytes", bytes_of_packs(folder));
}

fn tip(site: &Site, name: &str) -> String {
    let path = format!("/projects/root%2F{name}/repository/branches/master");
    let branch = site.servers[0].request("GET", &path).token(ROOT).send().expect(200);
    branch["commit"]["id"].as_str().unwrap_or_default().to_owned()
}
