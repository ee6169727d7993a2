//! Checks `.gitmodules` files, which name the URLs of the submodules.

use gix::bstr::{BStr, ByteSlice};
use gix::config::File;
use gix::url::Scheme;
use percent_encoding::percent_decode;

use super::Fault;

/// Returns all faults of a `.gitmodules` file. A file that cannot be parsed has none: git does not use it either.
pub(super) fn faults(data: &[u8]) -> Vec<Fault> {
    let metadata = gix::config::file::Metadata::api();
    let options = gix::config::file::init::Options::default();
    let Ok(file) = File::from_bytes_no_includes(data, metadata, options) else {
        return Vec::new();
    };
    let mut faults = Vec::new();
    let sections = file.sections_by_name("submodule").into_iter().flatten();
    for section in sections {
        let Some(name) = section.header().subsection_name() else { continue };
        if !is_good_name(name) {
            faults.push(Fault::GitmodulesName);
        }
        let has = |key: &str, is_bad: fn(&BStr) -> bool| {
            section.values(key).iter().any(|value| is_bad(value.as_ref()))
        };
        if has("url", |url| !is_good_url(url)) {
            faults.push(Fault::GitmodulesUrl);
        }
        if has("path", looks_like_option) {
            faults.push(Fault::GitmodulesPath);
        }
        if has("update", |update| update.starts_with(b"!")) {
            faults.push(Fault::GitmodulesUpdate);
        }
    }
    faults
}

/// Whether the submodule name stays below `.git/modules`, where git uses it as a path.
fn is_good_name(name: &BStr) -> bool {
    !name.is_empty() && name.split(|byte| matches!(byte, b'/' | b'\\')).all(|part| part != b"..")
}

fn looks_like_option(text: &BStr) -> bool {
    text.starts_with(b"-")
}

/// Whether no program can mistake this URL for an option, for another host or for several lines.
fn is_good_url(url: &BStr) -> bool {
    if looks_like_option(url) {
        return false;
    }
    let has_line_end = || percent_decode(url).any(|byte| byte == b'\n');
    let is_relative = url.starts_with(b"./") || url.starts_with(b"../");
    if is_relative || url.starts_with(b"git://") {
        return !has_line_end() && !escapes_its_root(url);
    }
    let schemes: [&[u8]; 4] = [b"http", b"https", b"ftp", b"ftps"];
    let named = schemes.iter().find_map(|scheme| {
        let rest = url.strip_prefix(*scheme)?;
        // `http::URL` names the remote helper that fetches.
        rest.strip_prefix(b"::").or_else(|| rest.starts_with(b"://").then_some(url))
    });
    let Some(address) = named else { return true };
    let parsed = gix::url::parse(address.as_bstr());
    let has_host = parsed.is_ok_and(|parsed| {
        parsed.scheme != Scheme::File && parsed.host().is_some_and(|host| !host.is_empty())
    });
    has_host && !has_line_end()
}

/// Whether the leading `../` lead to another host: `../../:example.com` or `..//example.com`.
fn escapes_its_root(url: &BStr) -> bool {
    let mut rest: &[u8] = url;
    let mut climbs = false;
    loop {
        if let Some(next) = rest.strip_prefix(b"../").or_else(|| rest.strip_prefix(b"..\\")) {
            climbs = true;
            rest = next;
        } else if let Some(next) = rest.strip_prefix(b"./").or_else(|| rest.strip_prefix(b".\\")) {
            rest = next;
        } else {
            return climbs && matches!(rest.first(), Some(b':' | b'/' | b'\\'));
        }
    }
}
