//! Contract tests of [`LfsFiles`]. Each case gets an empty storage.

use std::collections::BTreeSet;
use std::io::Read;

use hexforge_domain::id::ForkNetworkId;
use hexforge_domain::lfs::LfsOid;
use hexforge_domain::ports::files::FilesError;
use hexforge_domain::ports::lfs_files::LfsFiles;
use sha2::{Digest, Sha256};

/// All cases.
pub const CASES: [fn(&dyn LfsFiles); 6] = [
    an_object_is_seen_when_it_is_finished,
    an_object_is_read_from_any_offset,
    networks_have_objects_of_their_own,
    removing_a_network_takes_all_of_it,
    sizes_are_those_of_finished_files,
    all_finished_files_are_visited,
];

const ONE: ForkNetworkId = ForkNetworkId(0x1234);
const OTHER: ForkNetworkId = ForkNetworkId(7);

fn oid_of(content: &str) -> LfsOid {
    LfsOid::from_bytes(Sha256::digest(content).into())
}

/// Stores an object in two chunks.
fn store(files: &dyn LfsFiles, network: ForkNetworkId, content: &str) -> LfsOid {
    let oid = oid_of(content);
    let mut new = files.begin(network, oid).expect("an upload can be begun");
    let (first, second) = content.as_bytes().split_at(content.len() / 2);
    new.append(first).expect("it can be added to");
    new.append(second).expect("it can be added to");
    assert_eq!(new.seal().expect("it can be sealed"), oid);
    new.finish().expect("it can be finished");
    oid
}

fn read(files: &dyn LfsFiles, network: ForkNetworkId, oid: LfsOid) -> Option<String> {
    let mut found = files.open(network, oid, 0).expect("it can be looked for")?;
    let mut content = String::new();
    found.content.read_to_string(&mut content).expect("a file can be read");
    assert_eq!(found.size, content.len() as u64);
    Some(content)
}

fn an_object_is_seen_when_it_is_finished(files: &dyn LfsFiles) {
    let oid = oid_of("content");
    for (content, is_sealed) in [("content", false), ("other", true)] {
        let mut given_up = files.begin(ONE, oid).expect("an upload can be begun");
        given_up.append(content.as_bytes()).expect("it can be added to");
        if is_sealed {
            assert_eq!(given_up.seal().expect("it can be sealed"), oid_of(content));
        }
        drop(given_up);
        assert_eq!(read(files, ONE, oid), None);
    }
    for _ in 0..2 {
        assert_eq!(store(files, ONE, "content"), oid);
        assert_eq!(read(files, ONE, oid).as_deref(), Some("content"));
    }
    files.remove_leftovers().expect("it can be tidied");
    assert_eq!(read(files, ONE, oid).as_deref(), Some("content"));
    for _ in 0..2 {
        files.remove(ONE, oid).expect("it can be removed");
        assert_eq!(read(files, ONE, oid), None);
    }
}

fn an_object_is_read_from_any_offset(files: &dyn LfsFiles) {
    let text = "0123456789".repeat(300_000);
    let oid = store(files, ONE, &text);
    for from in [0, 1, 1_000_000, 2_000_001, 2_999_999, 3_000_000] {
        let mut found = files.open(ONE, oid, from).expect("it can be opened").expect("it is there");
        let mut content = String::new();
        found.content.read_to_string(&mut content).expect("a file can be read");
        assert_eq!(found.size, 3_000_000);
        assert!(content == text[from as usize..], "{from}");
    }
    let empty = store(files, ONE, "");
    assert_eq!(read(files, ONE, empty).as_deref(), Some(""));
}

fn networks_have_objects_of_their_own(files: &dyn LfsFiles) {
    let oid = store(files, ONE, "content");
    assert_eq!(read(files, OTHER, oid), None);
    store(files, OTHER, "content");
    files.remove(ONE, oid).expect("it can be removed");
    assert_eq!(read(files, OTHER, oid).as_deref(), Some("content"));
}

fn removing_a_network_takes_all_of_it(files: &dyn LfsFiles) {
    let all = ["a", "b", "c"].map(|content| store(files, ONE, content));
    let other = store(files, OTHER, "a");
    for _ in 0..2 {
        files.remove_network(ONE).expect("it can be removed");
        assert!(all.iter().all(|oid| read(files, ONE, *oid).is_none()));
    }
    assert_eq!(read(files, OTHER, other).as_deref(), Some("a"));
}

fn sizes_are_those_of_finished_files(files: &dyn LfsFiles) {
    let oids: Vec<LfsOid> = (0..40).map(|number| oid_of(&"x".repeat(number))).collect();
    let sizes = |network| files.sizes(network, &oids).expect("they can be looked for");
    assert_eq!(sizes(ONE), [None; 40]);
    for number in (0..40).step_by(3) {
        store(files, ONE, &"x".repeat(number));
    }
    let mut unfinished = files.begin(ONE, oids[1]).expect("an upload can be begun");
    unfinished.append(b"x").expect("it can be added to");
    let expected: Vec<Option<u64>> =
        (0..40).map(|number| (number % 3 == 0).then_some(number)).collect();
    assert_eq!(sizes(ONE), expected);
    assert_eq!(sizes(OTHER), [None; 40]);
    assert_eq!(files.sizes(ONE, &[]).expect("there is nothing to look for"), []);
    let twice = files.sizes(ONE, &[oids[3], oids[1], oids[3]]).expect("they can be looked for");
    assert_eq!(twice, [Some(3), None, Some(3)]);
}

fn all_finished_files_are_visited(files: &dyn LfsFiles) {
    let visited = || {
        let mut visited = BTreeSet::new();
        let mut count = 0;
        let all = files.for_each(&mut |network, oid| {
            count += 1;
            visited.insert((network, oid));
            Ok(())
        });
        all.expect("files can be listed");
        assert_eq!(visited.len(), count, "each is visited once");
        visited
    };
    assert_eq!(visited(), BTreeSet::new());
    let mut expected = BTreeSet::new();
    for number in 0..20 {
        let network = if number % 3 == 0 { OTHER } else { ONE };
        expected.insert((network, store(files, network, &format!("content {number}"))));
    }
    expected.insert((OTHER, store(files, OTHER, "content 1")));
    let mut unfinished = files.begin(ONE, oid_of("unfinished")).expect("an upload can be begun");
    unfinished.append(b"unfin").expect("it can be added to");
    assert_eq!(visited(), expected);
    let mut count = 0;
    let stopped = files.for_each(&mut |_, _| {
        count += 1;
        Err(FilesError("enough".to_owned(), "of them".into()))
    });
    assert_eq!((stopped.map_err(|error| error.0), count), (Err("enough".to_owned()), 1));
}
