//! The files in the artifacts of a build.
//!
//! Artifacts are archives that users made. They are read within limits of size and number, and nothing of them runs.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION};
use askama::Template;
use hexforge_application::build;
use hexforge_application::error::{Entity, Error};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_domain::id::BuildId;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::files::FilesError;
use zip::ZipArchive;

use super::project::{frame_of, other_spelling};
use super::raw::{is_binary, picture_type};
use crate::address;
use crate::error::PageResult;
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/builds/{id}/artifacts/browse", browse);
    pages.get("/{namespace}/{project}/builds/{id}/artifacts/browse/{rest...}", browse);
    pages.get("/{namespace}/{project}/builds/{id}/artifacts/file/{rest...}", file);
}

/// The largest archive that is looked into, and the largest file that is shown, in bytes.
const MAX_ARCHIVE: u64 = 32 << 20;
const MAX_FILE: u64 = 10 << 20;

/// The maximum number of files in an archive, and of entries that one page shows.
const MAX_FILES: u16 = 20_000;
const MAX_SHOWN: usize = 1_000;

/// The end of an archive that has its directory: the record itself and the longest comment.
const END: usize = 22 + 0xffff;

/// An archive in memory.
type Archive = ZipArchive<Cursor<Vec<u8>>>;

/// Reads an archive. `None` if it is too large, has too many files, or is none.
fn read_archive(content: Box<dyn Read + Send>) -> Result<Option<Archive>, Error> {
    let mut bytes = Vec::new();
    content.take(MAX_ARCHIVE + 1).read_to_end(&mut bytes).map_err(|error| {
        let text = "stored artifacts cannot be read".to_owned();
        Error::Files(FilesError(text, error.into()))
    })?;
    if bytes.len() as u64 > MAX_ARCHIVE || !has_few_files(&bytes) {
        return Ok(None);
    }
    Ok(ZipArchive::new(Cursor::new(bytes)).ok())
}

/// Whether the directory at the end says that there are few files. Archives in the format for many files are refused:
/// the directory would take much more memory than the archive.
fn has_few_files(bytes: &[u8]) -> bool {
    let end = &bytes[bytes.len().saturating_sub(END + 20)..];
    let find = |mark: &[u8]| end.windows(mark.len()).rposition(|window| window == mark);
    if find(b"PK\x06\x07").is_some() {
        return false;
    }
    let count = find(b"PK\x05\x06").and_then(|at| end.get(at + 10..at + 12));
    count.is_some_and(|count| u16::from_le_bytes([count[0], count[1]]) <= MAX_FILES)
}

/// An entry of a folder in the archive.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    /// `None` for files that are too large to be shown.
    address: Option<String>,
    /// The size in words; folders have none.
    size: Option<String>,
}

/// The entries of a folder, folders first. `None` if there is no such folder.
fn entries(archive: &mut Archive, folder: &[u8], base: &str) -> Option<Vec<Entry>> {
    let prefix = if folder.is_empty() { vec![] } else { [folder, b"/"].concat() };
    let (mut folders, mut files) = (BTreeMap::new(), BTreeMap::new());
    let mut is_known = folder.is_empty();
    for index in 0..archive.len() {
        let Ok(entry) = archive.by_index_raw(index) else { continue };
        let Some(rest) = entry.name_raw().strip_prefix(prefix.as_slice()) else { continue };
        is_known = true;
        let (name, is_folder) = match rest.iter().position(|byte| *byte == b'/') {
            Some(end) => (&rest[..end], true),
            None => (rest, false),
        };
        if name.is_empty() {
            continue;
        }
        let path = address::path([prefix.as_slice(), name].concat());
        let shown = String::from_utf8_lossy(name).into_owned();
        if is_folder {
            let address = Some(format!("{base}/browse/{path}"));
            folders.insert(name.to_vec(), Entry { name: shown, address, size: None });
        } else {
            let is_shown = entry.size() <= MAX_FILE && !entry.is_symlink();
            let address = is_shown.then(|| format!("{base}/file/{path}"));
            let size = Some(format!("{} bytes", entry.size()));
            files.insert(name.to_vec(), Entry { name: shown, address, size });
        }
    }
    is_known.then(|| folders.into_values().chain(files.into_values()).collect())
}

/// The bytes of a file in the archive. `None` if there is no such file, or if it is too large.
fn read_file(archive: &mut Archive, path: &[u8]) -> Option<Vec<u8>> {
    let is_asked = |archive: &mut Archive, index: usize| {
        archive.by_index_raw(index).is_ok_and(|entry| entry.name_raw() == path && entry.is_file())
    };
    let index = (0..archive.len()).find(|index| is_asked(archive, *index))?;
    let entry = archive.by_index(index).ok()?;
    let mut bytes = Vec::new();
    // The size that the directory says may be wrong.
    entry.take(MAX_FILE + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_FILE).then_some(bytes)
}

/// The project, and the file with the artifacts.
async fn open(visit: &Visit) -> PageResult<(Viewer, ProjectPage, build::ArtifactsFile)> {
    let (named, id) = (visit.project(), BuildId(visit.id("id")));
    let (viewer, (project, artifacts)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            if !project.may_build(CiAbility::ReadBuilds) {
                return Err(Error::Forbidden(None));
            }
            Ok((project, build::artifacts(app, viewer.actor(), &named, id)?))
        })
        .await?;
    Ok((viewer, project, artifacts))
}

#[derive(Template)]
#[template(path = "artifacts.html")]
struct ArtifactsPage {
    frame: Frame,
    /// The address of the build.
    one: String,
    id: i64,
    /// The parents of the folder, with their addresses.
    crumbs: Vec<(String, String)>,
    /// The name of the folder.
    name: String,
    /// `None` if the archive cannot be looked into.
    entries: Option<Vec<Entry>>,
    /// The number of entries that are shown, if there are more.
    shown_of_more: Option<usize>,
}

async fn browse(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, project, artifacts) = open(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let id = visit.id("id");
    let one = format!("/{}/builds/{id}", project.path());
    let base = format!("{one}/artifacts");
    let folder = visit.bytes("rest").to_vec();
    let (path, addresses) = (folder.clone(), base.clone());
    let read = move || match read_archive(artifacts.content.content)? {
        Some(mut archive) => {
            let found = entries(&mut archive, &path, &addresses);
            found.map(Some).ok_or(Error::NotFound(Entity::Unnamed))
        }
        None if path.is_empty() => Ok(None),
        None => Err(Error::NotFound(Entity::Unnamed)),
    };
    let mut entries = visit.run_long(|limiter| &limiter.downloads, &viewer, read).await?;
    let is_cut = entries.as_ref().is_some_and(|entries| entries.len() > MAX_SHOWN);
    if let Some(entries) = &mut entries {
        entries.truncate(MAX_SHOWN);
    }
    let what = format!("Artifacts of build #{id}");
    let mut crumbs = vec![("artifacts".to_owned(), format!("{base}/browse"))];
    let ends = folder.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    let mut start = 0;
    for end in ends.chain([folder.len()]).filter(|end| *end > 0) {
        let name = String::from_utf8_lossy(&folder[start..end]).into_owned();
        crumbs.push((name, format!("{base}/browse/{}", address::path(&folder[..end]))));
        start = end + 1;
    }
    let (name, _) = crumbs.pop().unwrap_or_default();
    let page = ArtifactsPage {
        frame: Frame::of_project(&visit, &viewer, &what, frame_of(&project, "Builds")),
        one,
        id,
        crumbs,
        name,
        entries,
        shown_of_more: is_cut.then_some(MAX_SHOWN),
    };
    render::page(&visit, &viewer, &page)
}

async fn file(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, _, artifacts) = open(&visit).await?;
    let path = visit.bytes("rest").to_vec();
    let read = move || {
        let archive = read_archive(artifacts.content.content)?;
        let found = archive.and_then(|mut archive| read_file(&mut archive, &path));
        found.ok_or(Error::NotFound(Entity::Unnamed))
    };
    let bytes = visit.run_long(|limiter| &limiter.downloads, &viewer, read).await?;
    let (media_type, is_saved) = match picture_type(&bytes) {
        Some(picture) => (picture, false),
        None if is_binary(&bytes) => ("application/octet-stream", true),
        None => ("text/plain; charset=utf-8", false),
    };
    let mut response = render::foreign_bytes(media_type);
    response.insert_header((CACHE_CONTROL, "private, no-cache"));
    if is_saved {
        response.insert_header((CONTENT_DISPOSITION, "attachment"));
    }
    Ok(response.body(bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            zip.start_file(*name, SimpleFileOptions::default()).expect("a name");
            zip.write_all(bytes).expect("memory");
        }
        zip.finish().expect("memory").into_inner()
    }

    fn opened(bytes: Vec<u8>) -> Option<Archive> {
        read_archive(Box::new(Cursor::new(bytes))).expect("memory can be read")
    }

    #[test]
    fn folders_come_first_and_lead_to_their_files() {
        let files: [(&str, &[u8]); 3] = [("z.txt", b"z"), ("a/b/c.txt", b"c"), ("a/d <x>", b"d")];
        let mut archive = opened(packed(&files)).expect("an archive");
        let names = |archive: &mut Archive, folder: &str| {
            let entries = entries(archive, folder.as_bytes(), "/x").expect("a folder");
            let of = |entry: Entry| (entry.name, entry.address.unwrap_or_default());
            entries.into_iter().map(of).collect::<Vec<_>>()
        };
        let pair = |name: &str, address: &str| (name.to_owned(), address.to_owned());
        assert_eq!(
            names(&mut archive, ""),
            [pair("a", "/x/browse/a"), pair("z.txt", "/x/file/z.txt")]
        );
        assert_eq!(
            names(&mut archive, "a"),
            [pair("b", "/x/browse/a/b"), pair("d <x>", "/x/file/a/d%20%3Cx%3E")]
        );
        assert_eq!(entries(&mut archive, b"none", "/x"), None);
        assert_eq!(read_file(&mut archive, b"a/b/c.txt"), Some(b"c".to_vec()));
        for missing in ["a", "a/b/", "../z.txt", "none"] {
            assert_eq!(read_file(&mut archive, missing.as_bytes()), None, "{missing}");
        }
    }

    #[test]
    fn files_that_grow_too_large_are_not_read() {
        let zeros = vec![0; usize::try_from(MAX_FILE).expect("it is small") + 1];
        let mut archive = opened(packed(&[("bomb", &zeros)])).expect("an archive");
        assert_eq!(read_file(&mut archive, b"bomb"), None);
        let shown = entries(&mut archive, b"", "/x").expect("the root");
        assert_eq!(shown[0].address, None);
    }

    #[test]
    fn what_is_no_archive_is_not_looked_into() {
        for bytes in [vec![], b"PK".to_vec(), b"PK\x05\x06".to_vec(), vec![0; 100]] {
            assert!(opened(bytes.clone()).is_none(), "{bytes:?}");
        }
        let mut cut = packed(&[("a", b"a")]);
        cut.truncate(cut.len() - 10);
        assert!(opened(cut).is_none());
        let mut many = packed(&[("a", b"a")]);
        let end = many.len() - 12;
        many[end..end + 2].copy_from_slice(&[0xff, 0xff]);
        assert!(opened(many).is_none(), "it says that it has too many files");
    }
}
