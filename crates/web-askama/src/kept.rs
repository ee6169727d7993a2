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
use crate::markdown::CleanHtml;

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
    /// Whether these are rows of a table with code.
    pub(crate) fn is_code(&self) -> bool {
        matches!(self, Rendered::Code(_))
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

/// The blob, and the name of the file, which decides how it is rendered. Source code and rendered text of the
/// same file differ in the flag.
type Key = (ObjectId, String, bool);

#[derive(Clone)]
struct BySize;

impl Weighter<Key, Arc<Rendered>> for BySize {
    fn weight(&self, (_, name, _): &Key, rendered: &Arc<Rendered>) -> u64 {
        let size = match &**rendered {
            Rendered::Code(html) => html.size(),
            Rendered::Markdown(html) => html.size(),
        };
        (size + name.len() + 150) as u64
    }
}

static CACHE: LazyLock<Cache<Key, Arc<Rendered>, BySize>> =
    LazyLock::new(|| Cache::with_weighter(FILES, BYTES, BySize));

fn key(id: ObjectId, name: &str, is_source: bool) -> Key {
    (id, name.to_owned(), is_source)
}

/// The rendered file, if it is cached.
pub(crate) fn find(id: ObjectId, name: &str, is_source: bool) -> Option<Arc<Rendered>> {
    CACHE.get(&key(id, name, is_source))
}

/// Caches a rendered file.
pub(crate) fn keep(id: ObjectId, name: &str, is_source: bool, rendered: Rendered) -> Arc<Rendered> {
    let rendered = Arc::new(rendered);
    CACHE.insert(key(id, name, is_source), Arc::clone(&rendered));
    rendered
}
