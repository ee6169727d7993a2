//! Files that are streamed by GET /projects/:id/repository/blobs/:sha and GET /projects/:id/repository/raw_blobs/:sha:
//! reference sections 4.2 and 4.3.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use crate::api::repositories::repository_support::Repo;

on_every_store!(large_files_come_whole, readers_who_leave_do_no_harm);

/// Incompressible bytes.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

fn large_files_come_whole(forge: &Forge) {
    let repo = Repo::new(forge);
    let large = noise(20 << 20);
    // One byte more than one read buffer.
    let middle = noise(256 * 1024 + 1);
    repo.tree.write("large", &large).write("middle", &middle).commit("Large");
    repo.fill();
    for (path, content) in [("large", &large), ("middle", &middle)] {
        let answer = repo.get("blobs/master", &[("filepath", path)]);
        assert_eq!(answer.status, 200);
        let length = content.len().to_string();
        assert_eq!(answer.header("Content-Length"), Some(length.as_str()));
        assert!(answer.body == *content, "{path} came with {} bytes", answer.body.len());
        let id = repo.tree.git(&["rev-parse", &format!("HEAD:{path}")]);
        assert!(repo.get(&format!("raw_blobs/{id}"), &[]).body == *content, "{path}");
        let target = format!("/projects/{}/repository/raw_blobs/{id}", repo.project);
        let head = forge.request("HEAD", &target).token(ROOT).send();
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_eq!(head.header("Content-Length"), Some(length.as_str()));
    }
}

fn readers_who_leave_do_no_harm(forge: &Forge) {
    let repo = Repo::new(forge);
    let large = noise(8 << 20);
    repo.tree.write("large", &large).commit("Large");
    repo.fill();
    let request = format!(
        "GET /api/v3/projects/{}/repository/blobs/master?filepath=large HTTP/1.1\r\nHost: x\r\n\
         PRIVATE-TOKEN: {ROOT}\r\n\r\n",
        repo.project
    );
    // All clients stop reading, then disconnect. Their number is one less than the share of a user.
    for _ in 0..2 {
        let mut readers = Vec::new();
        for _ in 0..7 {
            let mut reader = TcpStream::connect(forge.address).expect("the server listens");
            reader.set_read_timeout(Some(Duration::from_secs(30))).expect("it can be set");
            reader.write_all(request.as_bytes()).expect("the server reads");
            let mut begin = [0; 12];
            reader.read_exact(&mut begin).expect("the server answers");
            assert_eq!(&begin, b"HTTP/1.1 200");
            readers.push(reader);
        }
        // Meanwhile other requests are answered, even one for a large file.
        assert_eq!(repo.get("tree", &[]).status, 200);
        assert!(repo.get("blobs/master", &[("filepath", "large")]).body == large);
    }
    let begun = Instant::now();
    assert!(repo.get("blobs/master", &[("filepath", "large")]).body == large);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}
