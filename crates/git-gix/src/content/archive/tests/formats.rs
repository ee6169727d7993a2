//! Tests of the archive formats.

use std::io::Cursor;

use super::*;

#[test]
fn tar_gz_and_tar_bz2_are_the_tar_archive_packed() {
    let (sandbox, commit) = everything();
    let tar = sandbox.archive(commit, ArchiveFormat::Tar);
    let gzip = sandbox.archive(commit, ArchiveFormat::TarGz);
    assert_eq!(gzip[..10], sandbox.git_archive(commit, "tar.gz")[..10], "no time, no system");
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&gzip[..]).read_to_end(&mut unpacked).expect("gzip");
    assert!(unpacked == tar);

    let bzip2 = sandbox.archive(commit, ArchiveFormat::TarBz2);
    assert_eq!(&bzip2[..4], b"BZh9");
    let mut unpacked = Vec::new();
    bzip2::read::BzDecoder::new(&bzip2[..]).read_to_end(&mut unpacked).expect("bzip2");
    assert!(unpacked == tar);
}

#[test]
fn the_same_archive_is_the_same_bytes() {
    let (sandbox, commit) = everything();
    for format in
        [ArchiveFormat::Tar, ArchiveFormat::TarGz, ArchiveFormat::TarBz2, ArchiveFormat::Zip]
    {
        let first = sandbox.archive(commit, format);
        sandbox.git(&["repack", "-adfq"]);
        assert!(sandbox.archive(commit, format) == first, "{format:?}");
    }
}

#[test]
fn the_first_bytes_come_at_once() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "a");
    let commit = sandbox.commit("Add a file");
    for format in [ArchiveFormat::Tar, ArchiveFormat::TarGz, ArchiveFormat::Zip] {
        let mut pieces = Pieces(Vec::new());
        let archive = Archive { commit, format, folder: "f".to_owned() };
        write(&sandbox.open(), &sandbox.refs(), &archive, &mut pieces).expect("an archive");
        assert!(pieces.0.len() > 1, "{format:?}: {:?}", pieces.0);
        assert!(pieces.0[0] <= 512, "{format:?}: {:?}", pieces.0);
    }
}

struct Pieces(Vec<usize>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.push(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The comment of a zip archive and its entries, one line each.
fn zip_listing(bytes: &[u8]) -> Vec<String> {
    let mut archive = ::zip::ZipArchive::new(Cursor::new(bytes)).expect("a zip archive");
    let comment = String::from_utf8_lossy(archive.comment()).into_owned();
    let mut lines = vec![comment];
    for at in 0..archive.len() {
        let mut file = archive.by_index(at).expect("an entry");
        let mut content = Vec::new();
        file.read_to_end(&mut content).expect("read, with the right checksum");
        lines.push(format!(
            "{:?} {:?} {:?} {} {:?} {} {:?}",
            file.name(),
            file.unix_mode().map(|mode| format!("{mode:o}")),
            file.last_modified(),
            file.size(),
            file.compression(),
            file.crc32(),
            String::from_utf8_lossy(&content[..content.len().min(40)]),
        ));
    }
    lines
}

#[test]
fn zip_has_what_the_one_of_git_has() {
    let (sandbox, commit) = everything();
    sandbox.file(".gitattributes", "*.sh export-ignore\n");
    for commit in [commit, sandbox.commit("Hide")] {
        let ours = sandbox.archive(commit, ArchiveFormat::Zip);
        assert_eq!(zip_listing(&ours), zip_listing(&sandbox.git_archive(commit, "zip")));
        check_with_unzip(&ours);
    }
}

/// Checks an archive with `unzip`, if that is installed.
fn check_with_unzip(bytes: &[u8]) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("written");
    let checked = std::process::Command::new("unzip").arg("-tqq").arg(file.path()).status();
    assert!(checked.is_err() || checked.is_ok_and(|status| status.success()));
}

#[test]
fn large_files_are_packed_as_they_are_read() {
    let sandbox = Sandbox::new();
    let noise = noise(5 << 20);
    let text = "line\n".repeat(2 << 20);
    sandbox.file("noise", &noise);
    sandbox.file("text", &text);
    let commit = sandbox.commit("Add large files");
    same_as_git(&sandbox, commit);
    let zip = sandbox.archive(commit, ArchiveFormat::Zip);
    assert!(zip.len() < 6 << 20);
    check_with_unzip(&zip);
    let mut archive = ::zip::ZipArchive::new(Cursor::new(&zip)).expect("a zip archive");
    for (name, content) in [("noise", noise.as_slice()), ("text", text.as_bytes())] {
        let mut file = archive.by_name(&format!("shop-master/{name}")).expect("an entry");
        let mut unpacked = Vec::new();
        file.read_to_end(&mut unpacked).expect("read");
        assert!(unpacked == content, "{name}");
    }
}

#[test]
fn zip_takes_more_files_than_it_was_made_for() {
    let sandbox = Sandbox::new();
    let blob = sandbox.blob(b"");
    let mut tree = Vec::new();
    for number in 0..70_000 {
        tree.extend_from_slice(format!("100644 blob {blob}\tfile-{number:05}\n").as_bytes());
    }
    let tree = String::from_utf8(sandbox.git_with(&["mktree"], &tree)).expect("text");
    let commit = sandbox.line(&["commit-tree", "-m", "Many", tree.trim_end()]);
    sandbox.git(&["update-ref", "refs/heads/master", &commit]);
    sandbox.git(&["repack", "-adq"]);
    let commit = ObjectId::parse(&commit).expect("a name");
    let zip = sandbox.archive(commit, ArchiveFormat::Zip);
    check_with_unzip(&zip);
    let archive = ::zip::ZipArchive::new(Cursor::new(&zip)).expect("a zip archive");
    assert_eq!(archive.len(), 70_001);
}
