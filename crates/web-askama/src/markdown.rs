//! Markdown of users, as HTML that cannot do harm. Raw HTML is shown as text. The cleaner decides what stays of the
//! rest.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::LazyLock;

use ammonia::Builder;
use askama::FastWritable;
use askama::filters::HtmlSafe;
use comrak::Options;

/// HTML that this module made and cleaned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CleanHtml(String);

impl CleanHtml {
    /// The length of the HTML in bytes.
    pub(crate) fn size(&self) -> usize {
        self.0.len()
    }
}

impl HtmlSafe for CleanHtml {}

impl fmt::Display for CleanHtml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FastWritable for CleanHtml {
    fn write_into(&self, dest: &mut dyn fmt::Write, _: &dyn askama::Values) -> askama::Result<()> {
        Ok(dest.write_str(&self.0)?)
    }
}

/// The elements that stay.
const ELEMENTS: [&str; 47] = [
    "a",
    "abbr",
    "b",
    "blockquote",
    "br",
    "caption",
    "cite",
    "code",
    "dd",
    "del",
    "details",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "input",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

/// The deepest nesting that is rendered. The work of the cleaner grows with it.
const MAX_DEPTH: usize = 100;

/// Renders markdown; `None` if it is nested too deeply. The caller bounds the length of the text, and so the work.
pub(crate) fn render(text: &str) -> Option<CleanHtml> {
    render_with(text, 1, |html| html)
}

/// Like [`render`], for a comment or a description: `link` adds links to the HTML before it is cleaned. The headings are
/// lowered by two levels, because the page has a heading above each text.
pub(crate) fn render_comment(text: &str, link: impl FnOnce(String) -> String) -> Option<CleanHtml> {
    render_with(text, 2, link)
}

fn render_with(text: &str, levels: u8, change: impl FnOnce(String) -> String) -> Option<CleanHtml> {
    let html = comrak::markdown_to_html(text, &OPTIONS);
    (depth(&html) <= MAX_DEPTH)
        .then(|| CleanHtml(CLEANER.clean(&lowered(&change(html), levels)).to_string()))
}

/// The depth of the elements that the renderer made. All of its elements are closed, and no text has a `<`.
fn depth(html: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let is_void = ["br", "hr", "img", "input"].iter().any(|name| tag.starts_with(name));
        if tag.starts_with('/') {
            depth = depth.saturating_sub(1);
        } else if !is_void {
            depth += 1;
            deepest = deepest.max(depth);
        }
    }
    deepest
}

static OPTIONS: LazyLock<Options<'static>> = LazyLock::new(|| {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.render.escape = true;
    options
});

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::default();
    let set = |names: &[&'static str]| names.iter().copied().collect::<HashSet<_>>();
    builder
        .tags(set(&ELEMENTS))
        .clean_content_tags(set(&["script", "style"]))
        .generic_attributes(set(&["title", "lang", "dir"]))
        .tag_attributes(HashMap::from([
            ("a", set(&["href", "id", "name"])),
            ("img", set(&["src", "alt", "width", "height"])),
            ("input", set(&["type", "checked", "disabled"])),
            ("ol", set(&["start"])),
            ("th", set(&["align", "colspan", "rowspan", "scope"])),
            ("td", set(&["align", "colspan", "rowspan"])),
            ("details", set(&["open"])),
            ("li", set(&["id"])),
        ]))
        .id_prefix(Some("user-content-"))
        .url_schemes(set(&["http", "https", "mailto"]))
        .link_rel(Some("nofollow noopener"))
        .attribute_filter(|element, attribute, value| match (element, attribute) {
            // Only the checkboxes of task lists: other fields would look like those of the page.
            ("input", "type") => (value == "checkbox").then(|| value.into()),
            ("a", "name") => Some(format!("user-content-{value}").into()),
            // Images of other hosts would tell them who reads the page.
            ("img", "src") if value.contains("//") || value.contains([':', '\\']) => None,
            _ => Some(value.into()),
        });
    builder
});

/// Lowers the headings, because a page has one heading of the first level. The cleaner removes `h1`, and everything that was not made by the renderer is cleaned after.
fn lowered(html: &str, levels: u8) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let name = from.strip_prefix("</").or_else(|| from.strip_prefix('<')).unwrap_or(from);
        let start = from.len() - name.len();
        let level = match name.as_bytes() {
            [b'h' | b'H', level @ b'1'..=b'6', b'>' | b' ' | b'\t' | b'\n' | b'/', ..] => {
                level - b'0'
            }
            _ => 0,
        };
        if level == 0 {
            out.push('<');
            rest = &from[1..];
            continue;
        }
        out.push_str(&from[..start]);
        out.push('h');
        out.push(char::from(b'0' + (level + levels).min(6)));
        rest = &from[start + 2..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        render(text).expect("it is not nested deeply").to_string()
    }

    #[test]
    fn markdown_becomes_html() {
        for (text, expected) in [
            ("# A\n\n## B", "<h2>A</h2>\n<h3>B</h3>\n"),
            ("**b** `c` ~~d~~", "<p><strong>b</strong> <code>c</code> <del>d</del></p>\n"),
            (
                "[x](https://e.test)",
                "<p><a href=\"https://e.test\" rel=\"nofollow noopener\">x</a></p>\n",
            ),
            ("a < b & c", "<p>a &lt; b &amp; c</p>\n"),
        ] {
            assert_eq!(html(text), expected, "{text}");
        }
        assert_eq!(html("###### A"), "<h6>A</h6>\n");
    }

    #[test]
    fn deeply_nested_texts_are_not_rendered() {
        assert!(render(&">".repeat(90)).is_some());
        assert!(render(&">".repeat(250_000)).is_none());
        assert!(render(&"<b title=1>".repeat(10_000)).is_some(), "raw HTML is text");
    }

    #[test]
    fn nothing_of_a_text_can_run() {
        for text in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "[x](javascript:alert(1))",
            "<a href=\"java\tscript:alert(1)\">x</a>",
            "<svg onload=alert(1)><script>1</script></svg>",
            "<iframe src=\"https://e.test\"></iframe>",
            "<p style=\"position:fixed\">x</p>",
            "<form action=/users/sign_out><input type=text name=authenticity_token></form>",
            "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
            "![x](https://e.test/track.png)",
            "![x](//e.test/track.png)",
            "<img src=\"data:text/html,x\">",
            "<h1 id=content>x</h1>",
            "<a id=content name=content>x</a>",
        ] {
            let shown = html(text);
            for bad in [
                "<script",
                "<iframe",
                "<form",
                "<svg",
                "<math",
                "<p style",
                "<input type=\"text\"",
                "<a href=\"java",
                "<img src=\"http",
                "<img src=\"//",
                "<img src=\"data:",
                "<a id=\"content\"",
            ] {
                assert!(!shown.contains(bad), "{text}: {shown}");
            }
        }
    }
}
