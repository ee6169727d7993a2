//! Rendered files, cached by the ids of their blobs: the content of a blob never changes. Pages check permissions
//! before they read from here.

use std::fmt;
use std::sync::{Arc, LazyLock};

use askama::FastWritable;
use askama::filters::HtmlSafe;
use hexforge_domain::commit::ObjectId;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::highlight::CodeHtml;
use crate::markdown::{CleanHtml, Place};

/// The maximum size of all cached files in bytes, and their expected number.
const BYTES: u64 = 32 << 20;
const FILES: usize = 2_000;

/// A rendered file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rendered {
    Code(CodeHtml),
    Markdown(CleanHtml),
}

impl Rendered {
    /// The rows of a table, if this is code.
    pub(crate) fn code(&self) -> Option<&CodeHtml> {
        match self {
            Rendered::Code(code) => Some(code),
            Rendered::Markdown(_) => None,
        }
    }
}

impl HtmlSafe for Rendered {}

impl fmt::Display for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rendered::Code(html) => fmt::Display::fmt(html, f),
            Rendered::Markdown(html) => fmt::Display::fmt(html, f),
        }
    }
}

impl FastWritable for Rendered {
    fn write_into(
        &self,
        dest: &mut dyn fmt::Write,
        values: &dyn askama::Values,
    ) -> askama::Result<()> {
        match self {
            Rendered::Code(html) => html.write_into(dest, values),
            Rendered::Markdown(html) => html.write_into(dest, values),
        }
    }
}

/// A file as it is kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) html: Rendered,
    /// Whether the bytes are UTF-8, so that a form can show and save them.
    pub(crate) is_utf8: bool,
}

/// How a text of markdown is rendered: its links depend on the place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Prose {
    pub(crate) place: Place,
    pub(crate) remote_images: bool,
}

/// The blob, the name of the file, which decides how it is rendered, and how it is rendered if it is not shown as code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) id: ObjectId,
    pub(crate) name: String,
    pub(crate) prose: Option<Prose>,
}

#[derive(Clone)]
struct BySize;

impl Weighter<Key, Arc<Kept>> for BySize {
    fn weight(&self, key: &Key, kept: &Arc<Kept>) -> u64 {
        let size = match &kept.html {
            Rendered::Code(html) => html.size(),
            Rendered::Markdown(html) => html.size(),
        };
        let place = key.prose.as_ref().map(|prose| &prose.place);
        let place = place.map_or(0, |at| at.base.len() + at.revision.len() + at.folder.len());
        (size + key.name.len() + place + 300) as u64
    }
}

static CACHE: LazyLock<Cache<Key, Arc<Kept>, BySize>> =
    LazyLock::new(|| Cache::with_weighter(FILES, BYTES, BySize));

/// The rendered file, if it is cached.
pub(crate) fn find(key: &Key) -> Option<Arc<Kept>> {
    CACHE.get(key)
}

/// Caches a rendered file.
pub(crate) fn keep(key: Key, kept: Kept) -> Arc<Kept> {
    let kept = Arc::new(kept);
    CACHE.insert(key, Arc::clone(&kept));
    kept
}
