//! Comments and descriptions: markdown in which names of issues, merge requests, commits, people, labels and milestones
//! are links to things that the reader may see.

use std::sync::{Arc, LazyLock};

use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::reference::{self, ResolvedReferences};
use hexforge_domain::issue::inline::{Named, Piece, split};
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::address;
use crate::markdown::{self, CleanHtml, FOREIGN};
use crate::visible;

/// The bytes of markdown that one page renders. What comes after that is shown as plain text.
const MAX_RENDERED: usize = 512 << 10;

/// A text as a page shows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prose {
    /// The rendered text; `None` if it is shown as plain text.
    pub(crate) html: Option<CleanHtml>,
    /// The text as it was written.
    pub(crate) text: String,
}

/// Renders the texts of one page of a project.
pub(crate) struct ProseRenderer {
    /// `/namespace/project`.
    base: String,
    external_url: String,
    references: ResolvedReferences,
    remote_images: bool,
    left: usize,
}

impl ProseRenderer {
    /// Looks up what the texts name. `path` is the path of the project.
    pub(crate) fn new(
        app: &App,
        actor: Actor,
        named: &ProjectRef,
        path: &str,
        texts: &[&str],
    ) -> Result<Self, Error> {
        let mut left = MAX_RENDERED;
        let is_rendered = |text: &&&str| {
            let fits = text.len() <= left;
            left = left.saturating_sub(text.len());
            fits
        };
        let rendered: Vec<&str> = texts.iter().filter(is_rendered).copied().collect();
        Ok(Self {
            base: format!("/{path}"),
            external_url: app.settings.external_url.clone(),
            references: reference::resolve(app, actor, named, &rendered)?,
            remote_images: app.settings.remote_images,
            left: MAX_RENDERED,
        })
    }

    /// Renders one text.
    pub(crate) fn render(&mut self, text: &str) -> Prose {
        let fits = text.len() <= self.left;
        self.left = self.left.saturating_sub(text.len());
        let html = match fits {
            true => self.rendered(text),
            false => None,
        };
        Prose { html, text: text.to_owned() }
    }

    /// The rendered text from the cache, if its names lead this reader to the same things; otherwise renders it.
    fn rendered(&self, text: &str) -> Option<CleanHtml> {
        let key = CacheKey {
            text: text.to_owned(),
            base: self.base.clone(),
            external_url: self.external_url.clone(),
            remote_images: self.remote_images,
        };
        if let Some(cached) = CACHE.get(&key)
            && cached.names.iter().all(|part| self.targets(&part.text) == part.targets)
        {
            return Some(cached.html.clone());
        }
        let mut names = Vec::new();
        let link = |html: String| self.linked(&html, &mut names);
        let html = markdown::render_comment(text, self.remote_images, link)?;
        CACHE.insert(key, Arc::new(CachedProse { html: html.clone(), names }));
        Some(html)
    }

    /// What the names in a part of a text lead this reader to.
    fn targets(&self, text: &str) -> Vec<Option<Target>> {
        let pieces = split(text, &self.external_url).into_iter();
        let named = pieces.filter_map(|piece| match piece {
            Piece::Plain(_) => None,
            Piece::Named(_, named) => Some(self.target(&named)),
        });
        named.collect()
    }

    /// Adds links to a text that is not markdown.
    pub(crate) fn link(&self, text: &str) -> CleanHtml {
        let (mut escaped, mut html) = (String::new(), String::new());
        push_escaped(&mut escaped, &visible::reveal(text));
        self.push_text(&mut html, &escaped, &mut Vec::new());
        markdown::clean(&html)
    }

    /// Adds links to balanced HTML: in it no text has a `<`, and no attribute has a `>`. Appends the parts that have
    /// names.
    fn linked(&self, html: &str, names: &mut Vec<NamesInText>) -> String {
        let mut out = String::with_capacity(html.len() * 2);
        let mut verbatim = 0_usize;
        let mut rest = html;
        while !rest.is_empty() {
            let start = rest.find('<').unwrap_or(rest.len());
            let (text, tag) = rest.split_at(start);
            if verbatim == 0 {
                self.push_text(&mut out, text, names);
            } else {
                out.push_str(text);
            }
            let end = tag.find('>').map_or(tag.len(), |end| end + 1);
            let (tag, after) = tag.split_at(end);
            if ["<a ", "<code", "<pre"].iter().any(|start| tag.starts_with(start)) {
                verbatim += 1;
            } else if ["</a>", "</code>", "</pre>"].contains(&tag) {
                verbatim = verbatim.saturating_sub(1);
            }
            self.push_tag(&mut out, tag);
            rest = after;
        }
        out
    }

    /// Uploads are written without the project to which they belong.
    fn push_tag(&self, out: &mut String, tag: &str) {
        for name in ["href=\"", "src=\""] {
            if let Some((before, after)) = tag.split_once(name)
                && after.starts_with("/uploads/")
            {
                out.push_str(before);
                out.push_str(name);
                out.push_str(&self.base);
                out.push_str(after);
                return;
            }
        }
        out.push_str(tag);
    }

    fn push_text(&self, out: &mut String, text: &str, names: &mut Vec<NamesInText>) {
        let text = unescaped(text);
        let mut targets = Vec::new();
        for piece in split(&text, &self.external_url) {
            let (text, named) = match piece {
                Piece::Plain(text) => (text, None),
                Piece::Named(text, named) => {
                    targets.push(self.target(&named));
                    (text, targets.last().and_then(Option::as_ref))
                }
            };
            match named {
                Some(Target { address, title, shown, is_foreign }) => {
                    out.push_str("<a href=\"");
                    push_escaped(out, address);
                    if *is_foreign {
                        out.push_str("\" rel=\"");
                        out.push_str(FOREIGN);
                    }
                    out.push_str("\" title=\"");
                    push_escaped(out, title);
                    out.push_str("\">");
                    push_escaped(out, shown.as_deref().unwrap_or(text));
                    out.push_str("</a>");
                }
                None => push_escaped(out, text),
            }
        }
        if !targets.is_empty() {
            names.push(NamesInText { text, targets });
        }
    }

    fn target(&self, named: &Named<'_>) -> Option<Target> {
        let base = |project: &Option<String>| match project {
            Some(path) => format!("/{}", address::path(path)),
            None => self.base.clone(),
        };
        match named {
            Named::Thing(reference) => {
                if let Some(address) = self.references.external_issue(reference) {
                    let title = "Issue in the issue tracker".to_owned();
                    return Some(Target { is_foreign: true, ..Target::new(address, title) });
                }
                let title = self.references.thing(reference)?.to_owned();
                let base = base(&reference.project);
                let address = format!("{base}{}{}", reference.kind.folder(), reference.iid);
                Some(Target::new(address, title))
            }
            Named::Commit(reference) => {
                let id = self.references.commit(reference)?.to_string();
                let address = format!("{}/commit/{id}", base(&reference.project));
                Some(Target::new(address, id))
            }
            Named::User(name) => self
                .references
                .has_user(name)
                .then(|| Target::new(format!("/{}", address::value(name)), (*name).to_owned())),
            Named::Label(named) => {
                let title = self.references.label(named)?.title.as_str().to_owned();
                let query = address::query([("label_name[]", title.as_str())]);
                let address = format!("{}/issues?{query}", self.base);
                Some(Target { shown: Some(format!("~{title}")), ..Target::new(address, title) })
            }
            Named::Milestone(named) => {
                let milestone = self.references.milestone(named)?;
                let title = milestone.title.as_str().to_owned();
                let address = format!("{}/milestones/{}", self.base, milestone.id);
                Some(Target { shown: Some(format!("%{title}")), ..Target::new(address, title) })
            }
        }
    }
}

/// A rendered text and the targets of its names. It is reused only for readers for whom every name has the same target.
struct CachedProse {
    html: CleanHtml,
    names: Vec<NamesInText>,
}

/// A part of a text with names, and what each of them leads to.
struct NamesInText {
    text: String,
    targets: Vec<Option<Target>>,
}

/// All that the HTML of a text depends on, apart from what its names lead to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct CacheKey {
    text: String,
    base: String,
    external_url: String,
    remote_images: bool,
}

#[derive(Clone)]
struct BySize;

impl Weighter<CacheKey, Arc<CachedProse>> for BySize {
    fn weight(&self, key: &CacheKey, cached: &Arc<CachedProse>) -> u64 {
        let target = |target: &Target| target.address.len() + target.title.len();
        let named = cached.names.iter().map(|part| {
            let targets = part.targets.iter().flatten().map(target).sum::<usize>();
            part.text.len() + targets + 100 * part.targets.len()
        });
        let size = key.text.len() + cached.html.size() + named.sum::<usize>();
        (size + key.base.len() + key.external_url.len() + 300) as u64
    }
}

/// The maximum size of all cached texts in bytes, and their expected number.
const MAX_CACHE_BYTES: u64 = 8 << 20;
const EXPECTED_TEXTS: usize = 4_000;

static CACHE: LazyLock<Cache<CacheKey, Arc<CachedProse>, BySize>> =
    LazyLock::new(|| Cache::with_weighter(EXPECTED_TEXTS, MAX_CACHE_BYTES, BySize));

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    address: String,
    title: String,
    /// The text of the link, if it is not the one that was written.
    shown: Option<String>,
    /// Whether it leads to another host.
    is_foreign: bool,
}

impl Target {
    fn new(address: String, title: String) -> Self {
        Self { address, title, shown: None, is_foreign: false }
    }
}

/// Stands for the `&` of an entity that stays.
const OTHER_ENTITY: char = '\u{1}';

/// The text behind the four entities that the markdown renderer writes. Others come from raw HTML.
fn unescaped(html: &str) -> String {
    if !html.contains('&') {
        return html.to_owned();
    }
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        let known = [("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&amp;", '&')];
        let found = known.into_iter().find(|(entity, _)| rest[at..].starts_with(entity));
        let (length, c) = found.map_or((1, OTHER_ENTITY), |(entity, c)| (entity.len(), c));
        text.push(c);
        rest = &rest[at + length..];
    }
    text + rest
}

fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            OTHER_ENTITY => out.push('&'),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        let mut renderer = ProseRenderer {
            base: "/ada/ship".to_owned(),
            external_url: "https://forge.test".to_owned(),
            references: ResolvedReferences::default(),
            remote_images: false,
            left: MAX_RENDERED,
        };
        let html = renderer.render(text).html.expect("it is short");
        html.to_string()
    }

    #[test]
    fn unknown_names_stay_text() {
        for (text, expected) in [
            ("see #7 & \"!8\" <@ada>", "<p>see #7 &amp; \"!8\" &lt;@ada&gt;</p>\n"),
            ("`#7`", "<p><code>#7</code></p>\n"),
            ("# A", "<h3>A</h3>\n"),
            ("<div>a&nbsp;b &amp;nbsp; &#64;x</div>", "<div>a&nbsp;b &amp;nbsp; @x</div>\n"),
            ("&amp;lt; &lt;script&gt;", "<p>&amp;lt; &lt;script&gt;</p>\n"),
        ] {
            assert_eq!(html(text), expected, "{text}");
        }
    }

    #[test]
    fn uploads_belong_to_the_project() {
        assert_eq!(
            html("[a](/uploads/1/a.txt)"),
            "<p><a href=\"/ada/ship/uploads/1/a.txt\">a</a></p>\n"
        );
    }

    #[test]
    fn long_texts_are_shown_as_they_are() {
        let mut renderer = ProseRenderer {
            base: String::new(),
            external_url: String::new(),
            references: ResolvedReferences::default(),
            remote_images: false,
            left: 10,
        };
        assert!(renderer.render("short").html.is_some());
        let long = renderer.render("longer text");
        assert!(long.html.is_none() && long.text == "longer text");
    }
}
