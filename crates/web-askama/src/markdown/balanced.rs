//! Rewrites HTML so that it is balanced, before the cleaner parses it.
//!
//! Users may write raw HTML in markdown. A parser of HTML repairs unbalanced elements, and hostile ones make it repeat
//! them over and over: the work would grow with the square of the text. Here every element of the list is closed before
//! its parent is, the nesting is bounded, and other elements are dropped. What can do harm is the business of the
//! cleaner, which runs after this.

use std::borrow::Cow;

use super::links::{self, Rules, Target};

/// The deepest nesting. The work of the cleaner grows with it.
const MAX_DEPTH: usize = 100;

/// How an element behaves beside others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Part of a line.
    Inline,
    /// Ends a paragraph.
    Block,
    /// An item of a list: ends the item before it.
    Item,
    /// A part of a table that has rows, or a caption.
    Rows,
    /// A row of a table.
    Row,
    /// A cell of a table. Elements outside of it are not closed inside of it.
    Cell,
    /// Has no content and belongs to a line.
    Void,
    /// Has no content and ends a paragraph.
    Rule,
}

/// The elements that stay. Headings are lowered.
const ELEMENTS: [(&str, Kind); 57] = [
    ("a", Kind::Inline),
    ("abbr", Kind::Inline),
    ("b", Kind::Inline),
    ("blockquote", Kind::Block),
    ("br", Kind::Void),
    ("caption", Kind::Rows),
    ("cite", Kind::Inline),
    ("code", Kind::Inline),
    ("dd", Kind::Item),
    ("del", Kind::Inline),
    ("details", Kind::Block),
    ("dfn", Kind::Inline),
    ("div", Kind::Block),
    ("dl", Kind::Block),
    ("dt", Kind::Item),
    ("em", Kind::Inline),
    ("figcaption", Kind::Block),
    ("figure", Kind::Block),
    ("h1", Kind::Block),
    ("h2", Kind::Block),
    ("h3", Kind::Block),
    ("h4", Kind::Block),
    ("h5", Kind::Block),
    ("h6", Kind::Block),
    ("hr", Kind::Rule),
    ("i", Kind::Inline),
    ("img", Kind::Void),
    ("input", Kind::Void),
    ("ins", Kind::Inline),
    ("kbd", Kind::Inline),
    ("li", Kind::Item),
    ("mark", Kind::Inline),
    ("ol", Kind::Block),
    ("p", Kind::Block),
    ("pre", Kind::Block),
    ("q", Kind::Inline),
    ("s", Kind::Inline),
    ("samp", Kind::Inline),
    ("small", Kind::Inline),
    ("span", Kind::Inline),
    ("strike", Kind::Inline),
    ("strong", Kind::Inline),
    ("sub", Kind::Inline),
    ("summary", Kind::Block),
    ("sup", Kind::Inline),
    ("table", Kind::Block),
    ("tbody", Kind::Rows),
    ("td", Kind::Cell),
    ("tfoot", Kind::Rows),
    ("th", Kind::Cell),
    ("thead", Kind::Rows),
    ("tr", Kind::Row),
    ("tt", Kind::Inline),
    ("u", Kind::Inline),
    ("ul", Kind::Block),
    ("var", Kind::Inline),
    ("wbr", Kind::Void),
];

/// The names of all elements that stay.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ELEMENTS.iter().map(|(name, _)| *name)
}

/// Balances HTML. Returns `None` if it is nested too deeply.
pub(super) fn balance(html: &str, rules: &Rules<'_>) -> Option<String> {
    let mut writer = Writer {
        out: String::with_capacity(html.len() * 5 / 4),
        open: Vec::new(),
        deepest: 0,
        has_right_to_left: html.chars().any(is_right_to_left),
        rules,
    };
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let (text, from) = rest.split_at(start);
        writer.text(text);
        rest = writer.tag(from);
        if writer.deepest > MAX_DEPTH {
            return None;
        }
    }
    writer.text(rest);
    writer.close_to(0);
    Some(writer.out)
}

/// A tag, as it was written.
struct Tag<'a> {
    name: String,
    is_end: bool,
    attributes: Vec<(String, &'a str)>,
}

impl<'a> Tag<'a> {
    /// The value of an attribute, still with its entities. The first one counts.
    fn get(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

struct Writer<'r> {
    out: String,
    open: Vec<&'static str>,
    deepest: usize,
    /// Whether the text has letters that are written from right to left.
    has_right_to_left: bool,
    rules: &'r Rules<'r>,
}

impl Writer<'_> {
    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !text.trim().is_empty() {
            self.leave_rows();
        }
        push_escaped(&mut self.out, text);
    }

    /// Reads what begins with `<`, and returns what comes after it.
    fn tag<'a>(&mut self, from: &'a str) -> &'a str {
        let after = &from[1..];
        if let Some(comment) = after.strip_prefix("!--") {
            // `<!-->` and `<!--->` are comments as well.
            let end = ["->", ">"].iter().find_map(|end| comment.strip_prefix(end));
            return end.or_else(|| Some(comment.split_once("-->")?.1)).unwrap_or("");
        }
        let name = after.strip_prefix('/').unwrap_or(after);
        match name.bytes().next() {
            Some(byte) if byte.is_ascii_alphabetic() => (),
            // A comment of another kind.
            _ if after.starts_with(['!', '?', '/']) => {
                return after.split_once('>').map_or("", |(_, rest)| rest);
            }
            _ => {
                self.text("<");
                return after;
            }
        }
        let (tag, rest) = read_tag(after);
        if tag.is_end {
            self.end(&tag.name);
            return rest;
        }
        // The renderer adds an empty link to each heading.
        if tag.name == "a" && tag.get("data-heading-content").is_some() {
            return rest.strip_prefix("</a>").unwrap_or(rest);
        }
        let has_code = matches!(tag.name.as_str(), "script" | "style");
        self.start(&tag);
        if has_code { after_end_of(&tag.name, rest) } else { rest }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let Some((name, kind)) = known(&tag.name) else { return };
        match kind {
            Kind::Inline | Kind::Void => self.leave_rows(),
            Kind::Block | Kind::Rule => {
                self.leave_rows();
                self.close("p");
                if self.open.last().is_some_and(|open| is_heading(open)) && is_heading(name) {
                    self.close_to(self.open.len() - 1);
                }
            }
            Kind::Item => {
                self.leave_rows();
                self.close("p");
                self.close_item(name);
            }
            Kind::Rows if !self.reaches_table(&["table"]) => return,
            Kind::Row if !self.reaches_table(&["tbody", "thead", "tfoot", "table"]) => return,
            Kind::Cell if !self.reaches_table(&["tr", "tbody", "thead", "tfoot", "table"]) => {
                return;
            }
            Kind::Rows | Kind::Row | Kind::Cell => (),
        }
        if matches!(kind, Kind::Row | Kind::Cell) && self.open.last() == Some(&"table") {
            self.push("tbody");
        }
        if kind == Kind::Cell && self.open.last() != Some(&"tr") {
            self.push("tr");
        }
        match name {
            "a" => {
                self.close("a");
                self.link(tag);
            }
            "img" => self.image(tag),
            "input" => self.checkbox(tag),
            name => {
                let shown = self.rules.lowered(name);
                self.out.push('<');
                self.out.push_str(shown);
                self.attributes(name, tag);
                self.out.push('>');
                if !matches!(kind, Kind::Void | Kind::Rule) {
                    self.opened(shown);
                }
            }
        }
    }

    fn opened(&mut self, name: &'static str) {
        self.open.push(name);
        self.deepest = self.deepest.max(self.open.len());
    }

    fn push(&mut self, name: &'static str) {
        self.out.push('<');
        self.out.push_str(name);
        self.out.push('>');
        self.opened(name);
    }

    fn end(&mut self, name: &str) {
        let Some((name, kind)) = known(name) else { return };
        let name = self.rules.lowered(name);
        match kind {
            Kind::Void | Kind::Rule => (),
            Kind::Rows | Kind::Row | Kind::Cell => self.close_up_to(name, &["table"]),
            _ if name == "table" => self.close_up_to(name, &[]),
            _ => self.close(name),
        }
    }

    /// Closes the innermost element of this name, unless it is outside of the cell.
    fn close(&mut self, name: &str) {
        self.close_up_to(name, &["td", "th", "caption", "table"]);
    }

    /// Closes the item before another one of the same list.
    fn close_item(&mut self, name: &str) {
        let (items, lists): (&[&str], &[&str]) = match name {
            "li" => (&["li"], &["ul", "ol", "td", "th", "caption", "table"]),
            _ => (&["dd", "dt"], &["dl", "td", "th", "caption", "table"]),
        };
        for at in (0..self.open.len()).rev() {
            if items.contains(&self.open[at]) {
                return self.close_to(at);
            }
            if lists.contains(&self.open[at]) {
                return;
            }
        }
    }

    fn close_up_to(&mut self, name: &str, limits: &[&str]) {
        for at in (0..self.open.len()).rev() {
            if self.open[at] == name {
                return self.close_to(at);
            }
            if limits.contains(&self.open[at]) {
                return;
            }
        }
    }

    /// Closes elements until the innermost one has one of these names, and returns whether there is one in the innermost
    /// table.
    fn reaches_table(&mut self, names: &[&str]) -> bool {
        for at in (0..self.open.len()).rev() {
            if names.contains(&self.open[at]) {
                self.close_to(at + 1);
                return true;
            }
            if self.open[at] == "table" {
                return false;
            }
        }
        false
    }

    /// Leaves a table whose rows hold something that is no row or cell. A parser would put it before the table.
    fn leave_rows(&mut self) {
        let is_outside =
            |name: &&str| matches!(*name, "table" | "tbody" | "thead" | "tfoot" | "tr");
        if self.open.last().is_some_and(is_outside) {
            self.close_up_to("table", &[]);
        }
    }

    fn close_to(&mut self, length: usize) {
        while self.open.len() > length {
            if let Some(name) = self.open.pop() {
                self.out.push_str("</");
                self.out.push_str(name);
                self.out.push('>');
            }
        }
    }

    fn attributes(&mut self, name: &str, tag: &Tag<'_>) {
        let own: &[&str] = match name {
            "td" => &["align", "colspan", "rowspan"],
            "th" => &["align", "colspan", "rowspan", "scope"],
            "p" | "div" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => &["align"],
            "ol" => &["start"],
            "details" => &["open"],
            _ => &[],
        };
        for name in ["title", "lang", "dir", "id"].iter().chain(own) {
            if let Some(value) = tag.get(name) {
                self.attribute(name, value);
            }
        }
        // The direction of a line does not move the bullets of a list, the bar of a quote or the columns of a table.
        let has_sides = matches!(name, "blockquote" | "dl" | "ol" | "table" | "ul");
        if has_sides && self.has_right_to_left && tag.get("dir").is_none() {
            self.attribute("dir", "auto");
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push_str("=\"");
        push_value(&mut self.out, value);
        self.out.push('"');
    }

    fn link(&mut self, tag: &Tag<'_>) {
        self.out.push_str("<a");
        if let Some(href) = tag.get("href") {
            let target = links::of_link(href, self.rules);
            self.attribute("href", &target.address);
            if !target.is_own {
                self.attribute("rel", links::FOREIGN);
            }
        }
        for name in ["title", "id", "name", "aria-label"] {
            if let Some(value) = tag.get(name) {
                self.attribute(name, value);
            }
        }
        self.out.push('>');
        self.opened("a");
    }

    /// A picture of this service, or a link to one of another host: pictures of other hosts would tell them who reads the
    /// page.
    fn image(&mut self, tag: &Tag<'_>) {
        let (source, alt) =
            (tag.get("src").unwrap_or_default(), tag.get("alt").unwrap_or_default());
        let Target { address, is_own } = links::of_image(source, self.rules);
        if is_own || (self.rules.remote_images && links::is_https(source)) {
            self.out.push_str("<img");
            self.attribute("src", &address);
            self.attribute("alt", alt);
            for name in ["title", "width", "height", "align"] {
                if let Some(value) = tag.get(name) {
                    self.attribute(name, value);
                }
            }
            self.out.push('>');
            return;
        }
        let text = if alt.trim().is_empty() { source } else { alt };
        let is_link = links::is_web(source) && !self.open.contains(&"a");
        if is_link {
            self.out.push_str("<a");
            self.attribute("href", source);
            self.attribute("rel", links::FOREIGN);
            self.out.push('>');
        }
        push_escaped(&mut self.out, text);
        if is_link {
            self.out.push_str("</a>");
        }
    }

    /// The box of an item of a task list. Nobody can change it.
    fn checkbox(&mut self, tag: &Tag<'_>) {
        if !tag.get("type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox")) {
            return;
        }
        let is_checked = tag.get("checked").is_some();
        self.out.push_str("<input type=\"checkbox\" disabled=\"\"");
        if is_checked {
            self.out.push_str(" checked=\"\"");
        }
        self.attribute("aria-label", if is_checked { "Done" } else { "To do" });
        self.out.push('>');
    }
}

/// Whether a character belongs to a script that is written from right to left, such as Arabic or Hebrew.
fn is_right_to_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}'
        | '\u{fb1d}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}')
}

fn known(name: &str) -> Option<(&'static str, Kind)> {
    let at = ELEMENTS.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    Some(ELEMENTS[at])
}

fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

/// Reads a tag after its `<`. Returns it, and what comes after it.
fn read_tag(text: &str) -> (Tag<'_>, &str) {
    let is_end = text.starts_with('/');
    let text = if is_end { &text[1..] } else { text };
    let length = text.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'));
    let (name, mut rest) = text.split_at(length.unwrap_or(text.len()));
    let mut tag = Tag { name: name.to_ascii_lowercase(), is_end, attributes: Vec::new() };
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if let Some(after) = rest.strip_prefix('>') {
            return (tag, after);
        }
        if rest.is_empty() {
            return (tag, "");
        }
        // A name may begin with `=`.
        let end = rest
            .char_indices()
            .skip(1)
            .find(|(_, c)| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '='));
        let (name, after) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        let (value, after) = read_value(after);
        tag.attributes.push((name.to_ascii_lowercase(), value));
        rest = after;
    }
}

/// Reads the value of an attribute, if there is one. Returns it, and what comes after it.
fn read_value(text: &str) -> (&str, &str) {
    let Some(value) = text.trim_start_matches(|c: char| c.is_ascii_whitespace()).strip_prefix('=')
    else {
        return ("", text);
    };
    let value = value.trim_start_matches(|c: char| c.is_ascii_whitespace());
    for quote in ['"', '\''] {
        if let Some(quoted) = value.strip_prefix(quote) {
            return quoted.split_once(quote).unwrap_or((quoted, ""));
        }
    }
    let end = value.find(|c: char| c.is_ascii_whitespace() || c == '>');
    value.split_at(end.unwrap_or(value.len()))
}

/// What comes after the end of an element whose content is no HTML.
fn after_end_of<'a>(name: &str, text: &'a str) -> &'a str {
    for (at, _) in text.match_indices("</") {
        let found = text.as_bytes().get(at + 2..at + 2 + name.len());
        if found.is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes())) {
            return &text[at..];
        }
    }
    ""
}

/// Text that has its entities already.
fn push_escaped(out: &mut String, text: &str) {
    if !text.contains(['<', '>']) {
        return out.push_str(text);
    }
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
}

/// A value that has its entities already.
fn push_value(out: &mut String, value: &str) {
    let quoted = match value.contains('"') {
        true => Cow::Owned(value.replace('"', "&quot;")),
        false => Cow::Borrowed(value),
    };
    push_escaped(out, &quoted);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balanced(html: &str) -> String {
        let rules = Rules { levels: 1, ..Rules::default() };
        balance(html, &rules).expect("it is not nested deeply")
    }

    #[test]
    fn the_elements_are_sorted() {
        assert!(ELEMENTS.is_sorted_by(|one, two| one.0 < two.0));
    }

    #[test]
    fn elements_are_closed_before_their_parents() {
        for (given, expected) in [
            ("<b><i>x</b>y", "<b><i>x</i></b>y"),
            ("<p><b>x<p>y", "<p><b>x</b></p><p>y</p>"),
            (
                "<ul><li>a<li>b<ul><li>c</ul></ul>",
                "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>",
            ),
            ("<dl><dt>a<dd>b</dl>", "<dl><dt>a</dt><dd>b</dd></dl>"),
            ("<a href=/x>a<a href=/y>b", "<a href=\"/x\">a</a><a href=\"/y\">b</a>"),
            ("<H1 Align=center>a", "<h2 align=\"center\">a</h2>"),
            ("</b></p>x</br>", "x"),
            (
                "<table><td>a<td>b<tr><td>c</table>d",
                "<table><tbody><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></tbody></table>d",
            ),
            ("<table>x<tr><td>y", "<table></table>xy"),
            (
                "<b><table><tr><td></b>x</table>y",
                "<b><table><tbody><tr><td>x</td></tr></tbody></table>y</b>",
            ),
            ("<tr><td>x", "x"),
            ("<!-- <b> -->x<!--->y<!x>z<?x>", "xyz"),
            ("<script>a<b></script>x<STYLE>p{}</style >y<style>", "xy"),
            ("a < b <> <3", "a &lt; b &lt;&gt; &lt;3"),
            ("<b title='a\"b' onclick=x style=\"y\">x</b>", "<b title=\"a&quot;b\">x</b>"),
            ("<video><blink>x</blink>", "x"),
            ("<b", "<b></b>"),
            ("<b title=\"x", "<b title=\"x\"></b>"),
            (
                "<input type=text><input type=checkbox checked>",
                "<input type=\"checkbox\" disabled=\"\" checked=\"\" aria-label=\"Done\">",
            ),
        ] {
            assert_eq!(balanced(given), expected, "{given}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let rules = Rules::default();
        assert!(balance(&"<b title=1>".repeat(100), &rules).is_some());
        assert!(balance(&"<b title=1>".repeat(101), &rules).is_none());
        assert!(balance(&"<p><b>".repeat(1_000), &rules).is_some(), "paragraphs end each other");
    }
}
