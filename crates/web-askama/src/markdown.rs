//! Markdown of users, as HTML that cannot do harm. Raw HTML in it is let through, balanced, and then cleaned: the
//! cleaner decides what stays.

mod balanced;
mod links;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::LazyLock;

use ammonia::Builder;
use askama::FastWritable;
use askama::filters::HtmlSafe;
use comrak::nodes::{NodeShortCode, NodeValue};
use comrak::{Arena, Node, Options};

use links::Rules;
pub(crate) use links::{FOREIGN, Place};

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

/// Renders a text that belongs to no file, such as release notes; `None` if it is nested too deeply. The caller bounds
/// the length of the text, and so the work.
pub(crate) fn render(text: &str, remote_images: bool) -> Option<CleanHtml> {
    let rules = Rules { levels: 1, has_anchors: false, place: None, remote_images };
    render_with(text, &rules, |html| html)
}

/// Renders a file of a repository, to which its relative links lead.
pub(crate) fn render_file(text: &str, place: &Place, remote_images: bool) -> Option<CleanHtml> {
    let rules = Rules { levels: 1, has_anchors: true, place: Some(place), remote_images };
    render_with(text, &rules, |html| html)
}

/// Like [`render`], for a comment or a description: `link` adds links to the HTML before it is cleaned. No text in that
/// HTML has a `<`, and no attribute has a `>`. The headings are lowered by two levels, because the page has a heading
/// above each text.
pub(crate) fn render_comment(
    text: &str,
    remote_images: bool,
    link: impl FnOnce(String) -> String,
) -> Option<CleanHtml> {
    let rules = Rules { levels: 2, has_anchors: false, place: None, remote_images };
    render_with(text, &rules, link)
}

/// The character of an emoji, by a name that GitHub publishes, such as `tada`.
pub(crate) fn emoji(name: &str) -> Option<String> {
    NodeShortCode::resolve(name).map(|found| found.emoji)
}

/// Cleans HTML that has links to things of this service and is not markdown, such as the message of a commit.
pub(crate) fn clean(html: &str) -> CleanHtml {
    CleanHtml(CLEANER.clean(html).to_string())
}

fn render_with(
    text: &str,
    rules: &Rules<'_>,
    change: impl FnOnce(String) -> String,
) -> Option<CleanHtml> {
    let options = if rules.has_anchors { &WITH_ANCHORS } else { &WITHOUT_ANCHORS };
    let balanced = balanced::balance(&html_of(text, options), rules)?;
    let cleaner = if rules.remote_images { &OPEN_CLEANER } else { &CLEANER };
    Some(CleanHtml(cleaner.clean(&change(balanced)).to_string()))
}

/// Renders markdown, with raw HTML as it was written. Shortcodes become emoji, except in code and inside of words.
fn html_of(text: &str, options: &Options<'_>) -> String {
    let arena = Arena::new();
    let root = comrak::parse_document(&arena, text, options);
    // The parser knows the code of markdown, but not the elements of raw HTML.
    let mut is_raw_code = false;
    for node in root.descendants() {
        let written = match &node.data().value {
            NodeValue::HtmlInline(tag) => {
                is_raw_code = match is_raw_code {
                    true => !tag.starts_with("</code"),
                    false => tag.starts_with("<code"),
                };
                continue;
            }
            NodeValue::ShortCode(found) if is_raw_code || is_inside_word(node) => {
                format!(":{}:", found.code)
            }
            _ => continue,
        };
        node.data_mut().value = NodeValue::Text(written.into());
    }
    let mut html = String::with_capacity(text.len() * 5 / 4);
    comrak::format_html(root, options, &mut html).expect("a `String` accepts all text");
    html
}

/// Returns whether a letter, a digit or a colon is next to a shortcode, as in `root:x:0` or `a::on::b`. Scripts that do
/// not separate words by spaces do not count.
fn is_inside_word(shortcode: Node<'_>) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == ':');
    let before = shortcode.previous_sibling();
    let before = before.and_then(|node| node.data().value.text()?.chars().next_back());
    let after = shortcode.next_sibling();
    let after = after.and_then(|node| node.data().value.text()?.chars().next());
    is_word(before) || is_word(after)
}

static WITH_ANCHORS: LazyLock<Options<'static>> = LazyLock::new(|| options(true));
static WITHOUT_ANCHORS: LazyLock<Options<'static>> = LazyLock::new(|| options(false));

/// All of GitHub's markdown. Raw HTML is let through: the cleaner decides what stays of it.
fn options(has_anchors: bool) -> Options<'static> {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.shortcodes = true;
    options.extension.header_id_prefix = has_anchors.then(String::new);
    options.render.r#unsafe = true;
    options
}

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| cleaner(is_own_image));
static OPEN_CLEANER: LazyLock<Builder<'static>> =
    LazyLock::new(|| cleaner(|source| is_own_image(source) || source.starts_with("https://")));

/// Images of other hosts would tell them who reads the page.
fn is_own_image(source: &str) -> bool {
    !source.contains("//") && !source.contains([':', '\\'])
}

fn cleaner(is_image: fn(&str) -> bool) -> Builder<'static> {
    let mut builder = Builder::default();
    let set = |names: &[&'static str]| names.iter().copied().collect::<HashSet<_>>();
    let aligned = |name| (name, set(&["align"]));
    builder
        // A page has one heading of the first level.
        .tags(balanced::names().filter(|name| *name != "h1").collect())
        .clean_content_tags(set(&["script", "style"]))
        .generic_attributes(set(&["title", "lang", "dir", "id"]))
        .tag_attributes(
            HashMap::from([
                ("a", set(&["href", "name", "rel", "aria-label"])),
                ("img", set(&["src", "alt", "width", "height", "align"])),
                ("input", set(&["type", "checked", "disabled", "aria-label"])),
                ("ol", set(&["start"])),
                ("th", set(&["align", "colspan", "rowspan", "scope"])),
                ("td", set(&["align", "colspan", "rowspan"])),
                ("details", set(&["open"])),
            ])
            .into_iter()
            .chain(["p", "div", "h2", "h3", "h4", "h5", "h6"].map(aligned))
            .collect(),
        )
        // Makes scrollable blocks focusable by keyboard.
        .set_tag_attribute_value("pre", "tabindex", "0")
        .set_tag_attribute_value("table", "tabindex", "0")
        .id_prefix(Some(links::ID_PREFIX))
        .url_schemes(set(&["http", "https", "mailto"]))
        // Links to other hosts have it already.
        .link_rel(None)
        .attribute_filter(move |element, attribute, value| match (element, attribute) {
            // Only the checkboxes of task lists: other fields would look like those of the page.
            ("input", "type") => (value == "checkbox").then(|| value.into()),
            ("a", "rel") => (value == links::FOREIGN).then(|| value.into()),
            ("a", "name") if !value.starts_with(links::ID_PREFIX) => {
                Some(format!("{}{value}", links::ID_PREFIX).into())
            }
            ("img", "src") if !is_image(value) => None,
            _ => Some(value.into()),
        });
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        render(text, false).expect("it is not nested deeply").to_string()
    }

    #[test]
    fn markdown_becomes_html() {
        for (text, expected) in [
            ("# A\n\n## B", "<h2>A</h2>\n<h3>B</h3>\n"),
            ("    a", "<pre tabindex=\"0\"><code>a\n</code></pre>\n"),
            ("**b** `c` ~~d~~", "<p><strong>b</strong> <code>c</code> <del>d</del></p>\n"),
            (
                "[x](https://e.test)",
                "<p><a href=\"https://e.test\" rel=\"nofollow noopener\">x</a></p>\n",
            ),
            ("[x](/ada/ship)", "<p><a href=\"/ada/ship\">x</a></p>\n"),
            ("a < b & c", "<p>a &lt; b &amp; c</p>\n"),
        ] {
            assert_eq!(html(text), expected, "{text}");
        }
        assert_eq!(html("###### A"), "<h6>A</h6>\n");
    }

    #[test]
    fn lists_quotes_and_tables_have_the_direction_of_their_text() {
        for (text, expected) in [
            ("- سلام", "<ul dir=\"auto\">\n<li>سلام</li>\n</ul>\n"),
            ("1. שלום", "<ol dir=\"auto\">\n<li>שלום</li>\n</ol>\n"),
            ("> سلام", "<blockquote dir=\"auto\">\n<p>سلام</p>\n</blockquote>\n"),
            ("<ul dir=\"ltr\"><li>سلام</ul>", "<ul dir=\"ltr\"><li>سلام</li></ul>\n"),
            ("- a", "<ul>\n<li>a</li>\n</ul>\n"),
        ] {
            assert_eq!(html(text), expected, "{text}");
        }
    }

    #[test]
    fn shortcodes_become_emoji() {
        for (text, expected) in [
            (":tada: done :+1:", "<p>🎉 done 👍</p>\n"),
            ("**:tada:**, (:tada:) :tada::tada:", "<p><strong>🎉</strong>, (🎉) 🎉🎉</p>\n"),
            ("<b>:tada:</b>", "<p><b>🎉</b></p>\n"),
            ("`:tada:`", "<p><code>:tada:</code></p>\n"),
            (
                "```\n:tada:\n```\n\n    :tada:",
                "<pre tabindex=\"0\"><code>:tada:\n</code></pre>\n\
                 <pre tabindex=\"0\"><code>:tada:\n</code></pre>\n",
            ),
            ("<code>:tada:</code> :tada:", "<p><code>:tada:</code> 🎉</p>\n"),
            ("完成:tada:", "<p>完成🎉</p>\n"),
            ("\\:tada:", "<p>:tada:</p>\n"),
            (":no_such_emoji: 10:30:45 ::", "<p>:no_such_emoji: 10:30:45 ::</p>\n"),
            ("root:x:0:0 a::on::b 1:100:2", "<p>root:x:0:0 a::on::b 1:100:2</p>\n"),
            (
                "https://e.test/:tada:/",
                "<p><a href=\"https://e.test/:tada:/\" rel=\"nofollow noopener\">\
                 https://e.test/:tada:/</a></p>\n",
            ),
        ] {
            assert_eq!(html(text), expected, "{text}");
        }
        assert_eq!(emoji("rocket").as_deref(), Some("🚀"));
        assert_eq!(emoji("nothing"), None);
    }

    #[test]
    fn raw_html_stays_as_far_as_it_is_allowed() {
        for (text, expected) in [
            ("a <b>c</b> <sub>d</sub>", "<p>a <b>c</b> <sub>d</sub></p>\n"),
            ("<h1 align=\"center\">A</h1>", "<h2 align=\"center\">A</h2>\n"),
            (
                "<details open>\n<summary>S</summary>\n\n**b**\n\n</details>",
                "<details open=\"\">\n<summary>S</summary>\n<p><strong>b</strong></p>\n</details>\n",
            ),
            ("<p style=\"color:red\" class=\"x\">y</p>", "<p>y</p>\n"),
            ("x<img src=\"a.png\" onerror=\"alert(1)\">", "<p>x<img src=\"a.png\" alt=\"\"></p>\n"),
            ("<i id=\"content\">x</i>", "<p><i id=\"user-content-content\">x</i></p>\n"),
            ("<script>alert(1)</script>x", "x\n"),
        ] {
            assert_eq!(html(text), expected, "{text}");
        }
    }

    #[test]
    fn files_have_anchors_and_relative_links() {
        let place = Place {
            base: "/ada/ship".to_owned(),
            revision: "master".to_owned(),
            folder: String::new(),
        };
        let html = |text: &str| render_file(text, &place, false).expect("shallow").to_string();
        assert_eq!(html("# A b"), "<h2 id=\"user-content-a-b\">A b</h2>\n");
        assert_eq!(html("[x](#a-b)"), "<p><a href=\"#user-content-a-b\">x</a></p>\n");
        assert_eq!(
            html("![p](p.png)"),
            "<p><img src=\"/ada/ship/raw/master/p.png\" alt=\"p\"></p>\n"
        );
        let note = html("x[^1]\n\n[^1]: y");
        assert!(
            note.contains("id=\"user-content-fn-1\"")
                && note.contains("href=\"#user-content-fn-1\""),
            "{note}"
        );
        let named = html("<a name=\"x\" id=\"y\">z</a>");
        assert!(
            named.contains("name=\"user-content-x\"") && named.contains("id=\"user-content-y\""),
            "{named}"
        );
    }

    #[test]
    fn pictures_of_other_hosts_are_links() {
        for source in ["https://e.test/a.png", "http://e.test/a.png"] {
            let link = format!("<a href=\"{source}\" rel=\"nofollow noopener\">pic</a>");
            assert_eq!(html(&format!("![pic]({source})")), format!("<p>{link}</p>\n"));
            assert_eq!(html(&format!("<img alt=pic src={source}>")), format!("{link}\n"));
        }
        assert_eq!(html("![pic](//e.test/a.png)"), "<p>pic</p>\n");
        assert_eq!(
            html("[![ok](https://e.test/badge.svg)](https://e.test)"),
            "<p><a href=\"https://e.test\" rel=\"nofollow noopener\">ok</a></p>\n"
        );
        let open = render("![pic](https://e.test/a.png)", true).expect("shallow").to_string();
        assert_eq!(open, "<p><img src=\"https://e.test/a.png\" alt=\"pic\"></p>\n");
        let plain = render("![pic](http://e.test/a.png)", true).expect("shallow").to_string();
        assert!(!plain.contains("<img"), "{plain}");
    }

    #[test]
    fn deeply_nested_texts_are_not_rendered() {
        assert!(render(&">".repeat(90), false).is_some());
        assert!(render(&">".repeat(250_000), false).is_none());
        assert!(render(&"<b title=1>".repeat(10_000), false).is_none());
    }

    #[test]
    fn hostile_html_does_not_grow_faster_than_its_length() {
        for text in [
            "<b a=1><i a=2><s a=3>".repeat(30) + &"x\n\n".repeat(5_000),
            "<b><i><s><u>".to_owned() + &"<p>x".repeat(5_000),
            "<table>".to_owned() + &"x<b></b>".repeat(3_000),
            format!("<b {}>x", "title ".repeat(6_000)),
            "<a href=x>".repeat(3_000),
            "<p><b><li>".repeat(2_000),
            "</b></p>".repeat(4_000),
            "<!--".repeat(5_000),
            "<".repeat(20_000),
            ":us:".repeat(5_000),
            ":x".repeat(10_000),
            "a:x:".repeat(5_000),
            ":".repeat(20_000),
        ] {
            let size = render(&text, false).map_or(0, |html| html.size());
            assert!(size <= 20 * text.len(), "{size} bytes of {}", &text[..20]);
        }
    }

    #[test]
    fn nothing_of_a_text_can_run() {
        for text in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "[x](javascript:alert(1))",
            "<a href=\"java\tscript:alert(1)\">x</a>",
            "<a href=\"javascript&colon;alert(1)\">x</a>",
            "<a href=\"java&#115;cript:alert(1)\">x</a>",
            "<svg onload=alert(1)><script>1</script></svg>",
            "<iframe src=\"https://e.test\"></iframe>",
            "<p style=\"position:fixed\">x</p>",
            "<form action=/users/sign_out><input type=text name=authenticity_token></form>",
            "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
            "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\"></noscript>",
            "<textarea></textarea><img src=x onerror=alert(1)>",
            "![x](https://e.test/track.png)",
            "![x](//e.test/track.png)",
            "<img src=\"data:text/html,x\">",
            "<img src=\"https&#58//e.test/x\">",
            "<h1 id=content>x</h1>",
            "<a id=content name=content>x</a>",
        ] {
            for levels_of_files in [false, true] {
                let place = Place::default();
                let shown = match levels_of_files {
                    true => render_file(text, &place, false).expect("shallow").to_string(),
                    false => html(text),
                };
                for bad in [
                    "<script",
                    "<iframe",
                    "<form",
                    "<svg",
                    "<math",
                    "<p style",
                    "<input type=\"text\"",
                    "href=\"java",
                    "<img src=\"http",
                    "<img src=\"//",
                    "<img src=\"data:",
                    "id=\"content\"",
                    "name=\"content\"",
                    "onerror=\"",
                    "onload=\"",
                    "<h1",
                    "<style",
                    "<textarea",
                ] {
                    assert!(!shown.contains(bad), "{text}: {shown}");
                }
            }
        }
    }
}
