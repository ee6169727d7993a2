//! Logs of builds as HTML. Escape sequences become classes; nothing of a log is inserted without being escaped.
//!
//! A log is hostile input of any size. Its end is read by the use case; here the number of lines, the length of a line
//! and the number of changes of style are limited.

use std::fmt::{self, Write as _};

use anstyle_parse::{DefaultCharAccumulator, Params, Parser, Perform};
use askama::FastWritable;
use askama::filters::HtmlSafe;

/// The maximum number of lines. The last ones are kept.
const MAX_LINES: usize = 5_000;

/// The maximum length of a line, in characters. A longer one is broken.
const MAX_LINE: usize = 8_000;

/// The maximum number of changes of style in a line, and in all lines. The text after them has no style.
const MAX_SPANS_IN_LINE: usize = 200;
const MAX_SPANS: usize = 20_000;

/// HTML that this module made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogHtml(String);

impl LogHtml {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl HtmlSafe for LogHtml {}

impl fmt::Display for LogHtml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FastWritable for LogHtml {
    fn write_into(&self, dest: &mut dyn fmt::Write, _: &dyn askama::Values) -> askama::Result<()> {
        Ok(dest.write_str(&self.0)?)
    }
}

/// The style of text, by the escape sequences before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// One of 16 colors.
    foreground: Option<u8>,
    background: Option<u8>,
    bold: bool,
    italic: bool,
    underlined: bool,
}

impl Style {
    /// The style as a word, for the request that continues a log.
    pub(crate) fn word(self) -> String {
        self.classes().replace(' ', ".")
    }

    /// Reads a word that [`word`](Self::word) made. Unknown parts are ignored.
    pub(crate) fn parse(word: &str) -> Self {
        let mut style = Self::default();
        for class in word.split('.').take(5) {
            let color = |digits: &str| digits.parse().ok().filter(|color| *color < 16);
            match class {
                "bold" => style.bold = true,
                "italic" => style.italic = true,
                "under" => style.underlined = true,
                _ if class.starts_with('f') => style.foreground = color(&class[1..]),
                _ if class.starts_with('b') => style.background = color(&class[1..]),
                _ => (),
            }
        }
        style
    }

    /// The classes of the stylesheet, separated by spaces.
    fn classes(self) -> String {
        let color = |prefix: &str, color: Option<u8>| color.map(|color| format!("{prefix}{color}"));
        let flag = |name: &str, is_set: bool| is_set.then(|| name.to_owned());
        let all = [
            color("f", self.foreground),
            color("b", self.background),
            flag("bold", self.bold),
            flag("italic", self.italic),
            flag("under", self.underlined),
        ];
        all.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Applies the parameters of a sequence that selects a style.
    fn select(&mut self, params: &Params) {
        let mut values = params.iter().flat_map(|values| values.iter().copied());
        let mut is_empty = true;
        while let Some(value) = values.next() {
            is_empty = false;
            match value {
                0 => *self = Self::default(),
                1 => self.bold = true,
                3 => self.italic = true,
                4 => self.underlined = true,
                22 => self.bold = false,
                23 => self.italic = false,
                24 => self.underlined = false,
                30..=37 => self.foreground = Some((value - 30) as u8),
                38 => self.foreground = extended(&mut values),
                39 => self.foreground = None,
                40..=47 => self.background = Some((value - 40) as u8),
                48 => self.background = extended(&mut values),
                49 => self.background = None,
                90..=97 => self.foreground = Some((value - 82) as u8),
                100..=107 => self.background = Some((value - 92) as u8),
                _ => (),
            }
        }
        if is_empty {
            *self = Self::default();
        }
    }
}

/// One of the 16 colors that is near to one of 256 or of 16 million.
fn extended(values: &mut impl Iterator<Item = u16>) -> Option<u8> {
    match values.next()? {
        5 => match values.next()? {
            color @ 0..=15 => Some(color as u8),
            color @ 16..=231 => {
                let cube = color - 16;
                let level = |step: u16| step * 51;
                Some(nearest(level(cube / 36), level(cube / 6 % 6), level(cube % 6)))
            }
            gray @ 232..=243 => Some(if gray < 238 { 0 } else { 8 }),
            244..=255 => Some(7),
            _ => None,
        },
        2 => Some(nearest(values.next()?, values.next()?, values.next()?)),
        _ => None,
    }
}

fn nearest(red: u16, green: u16, blue: u16) -> u8 {
    let is_strong = |level: u16| u8::from(level >= 128);
    let color = is_strong(red) | is_strong(green) << 1 | is_strong(blue) << 2;
    let is_bright = red.max(green).max(blue) >= 200 && color != 7;
    if is_bright { color + 8 } else { color }
}

/// A part of a log as a page shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// The lines that are complete.
    pub(crate) lines: LogHtml,
    /// The last line, if it has no end yet.
    pub(crate) rest: LogHtml,
    /// The number of the next complete line.
    pub(crate) next_line: u64,
    /// The bytes that the complete lines take.
    pub(crate) complete: usize,
    /// The style at the end of the complete lines.
    pub(crate) style: Style,
    /// The bytes before the first line that is shown.
    pub(crate) skipped: usize,
}

/// Renders a part of a log. The numbers of its lines begin with `first`.
pub(crate) fn render(bytes: &[u8], first: u64, style: Style) -> Rendered {
    let mut parser = Parser::<DefaultCharAccumulator>::new();
    let mut screen = Screen { style, ..Screen::default() };
    for (at, byte) in bytes.iter().enumerate() {
        parser.advance(&mut screen, *byte);
        if screen.line.is_over {
            screen.end_line(at + 1);
        }
    }
    let Screen { lines, line, end_of_lines, style_of_lines, dropped, .. } = screen;
    let mut html = String::new();
    let mut number = first + dropped.0 as u64;
    for line in &lines {
        write_line(&mut html, number, line);
        number += 1;
    }
    let mut rest = String::new();
    if line.has_text() {
        write_line(&mut rest, number, &line);
    }
    Rendered {
        lines: LogHtml(html),
        rest: LogHtml(rest),
        next_line: number,
        complete: end_of_lines,
        style: style_of_lines,
        skipped: dropped.1,
    }
}

fn write_line(html: &mut String, number: u64, line: &Line) {
    // Writing to a string does not fail.
    let _ =
        write!(html, "<span class=\"ll\" id=\"L{number}\"><a href=\"#L{number}\">{number}</a> ");
    for (style, text) in &line.spans {
        let classes = style.classes();
        match classes.is_empty() {
            true => escape(html, text),
            false => {
                let _ = write!(html, "<span class=\"{classes}\">");
                escape(html, text);
                html.push_str("</span>");
            }
        }
    }
    html.push_str("\n</span>");
}

fn escape(html: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '&' => html.push_str("&amp;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            letter => html.push(letter),
        }
    }
}

/// A line of a log, in parts of one style.
#[derive(Default)]
struct Line {
    spans: Vec<(Style, String)>,
    length: usize,
    /// A carriage return came: the next character replaces the line.
    returns: bool,
    is_over: bool,
    /// The offset of its first byte.
    start: usize,
}

impl Line {
    fn has_text(&self) -> bool {
        self.length > 0
    }
}

/// What the escape sequences draw on.
#[derive(Default)]
struct Screen {
    style: Style,
    line: Line,
    lines: std::collections::VecDeque<Line>,
    span_count: usize,
    end_of_lines: usize,
    style_of_lines: Style,
    /// The number of lines that were dropped, and the bytes that they took.
    dropped: (usize, usize),
}

impl Screen {
    fn end_line(&mut self, end: usize) {
        let next = Line { start: end, ..Line::default() };
        self.lines.push_back(std::mem::replace(&mut self.line, next));
        (self.end_of_lines, self.style_of_lines) = (end, self.style);
        if self.lines.len() > MAX_LINES
            && let Some(first) = self.lines.pop_front()
        {
            self.span_count = self.span_count.saturating_sub(first.spans.len());
            self.dropped = (self.dropped.0 + 1, self.lines.front().map_or(end, |line| line.start));
        }
    }
}

impl Perform for Screen {
    fn print(&mut self, letter: char) {
        let line = &mut self.line;
        if std::mem::take(&mut line.returns) {
            self.span_count = self.span_count.saturating_sub(line.spans.len());
            line.spans.clear();
            line.length = 0;
        }
        let may_change = line.spans.len() < MAX_SPANS_IN_LINE && self.span_count < MAX_SPANS;
        let text = match line.spans.last_mut() {
            Some((style, text)) if *style == self.style || !may_change => text,
            _ => {
                let style = if may_change { self.style } else { Style::default() };
                line.spans.push((style, String::new()));
                self.span_count += 1;
                match line.spans.last_mut() {
                    Some((_, text)) => text,
                    None => return,
                }
            }
        };
        match letter {
            // Characters that change the direction of text could make a log look like another one.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => text.push('\u{fffd}'),
            letter => text.push(letter),
        }
        line.length += 1;
        line.is_over = line.length >= MAX_LINE;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.line.is_over = true,
            b'\r' => self.line.returns = true,
            b'\t' => self.print('\t'),
            _ => (),
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _: &[u8], is_ignored: bool, action: u8) {
        if action == b'm' && !is_ignored {
            self.style.select(params);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let Rendered { lines, rest, .. } = render(text.as_bytes(), 1, Style::default());
        let html = format!("{lines}{rest}");
        let text = |line: &str| line.split_once("</a> ").map(|(_, text)| text.to_owned());
        html.split("\n</span>").filter_map(text).collect()
    }

    #[test]
    fn escape_sequences_become_classes() {
        for (text, expected) in [
            ("plain", vec!["plain"]),
            ("a\nb\r\n\nc", vec!["a", "b", "", "c"]),
            (
                "\x1b[31mred\x1b[0m and \x1b[1;32mbold\x1b[m.",
                vec!["<span class=\"f1\">red</span> and <span class=\"f2 bold\">bold</span>."],
            ),
            (
                "\x1b[38;5;9mx\x1b[48;2;0;0;255my",
                vec!["<span class=\"f9\">x</span><span class=\"f9 b12\">y</span>"],
            ),
            ("10%\r20%\r30%\n", vec!["30%"]),
            ("\x1b[2J\x1b[H\x1b]0;title\x07x\x1b[31", vec!["x"]),
            ("<b onclick='x'>&\"", vec!["&lt;b onclick=&#39;x&#39;&gt;&amp;&quot;"]),
            ("\u{202e}x", vec!["\u{fffd}x"]),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_log_continues_where_it_ended() {
        let text = "\x1b[31mone\ntwo\n thr";
        let first = render(text.as_bytes(), 1, Style::default());
        assert_eq!((first.complete, first.next_line), (text.len() - 4, 3));
        let style = Style::parse(&first.style.word());
        assert_eq!(style, first.style);
        let more = render(b" three\n", first.next_line, style);
        let html = "<span class=\"ll\" id=\"L3\"><a href=\"#L3\">3</a> <span class=\"f1\"> three</span>\n</span>";
        assert_eq!(more.lines.as_str(), html);
        assert_eq!(Style::parse("f99.b3.bold.<x>.italic.under"), Style::parse("b3.bold.italic"));
    }

    #[test]
    fn a_hostile_log_stays_small() {
        let most = 512 << 10;
        let of = |piece: &str| piece.repeat(most / piece.len());
        for piece in
            ["x", "\n", "\x1b[1mx\x1b[31my", "\x1b[1m\x1b[31mx\n", "\x1b[", "\x1b]", "<\n", "\r"]
        {
            let rendered = render(of(piece).as_bytes(), 1, Style::default());
            let size = rendered.lines.as_str().len() + rendered.rest.as_str().len();
            assert!(size < 4 << 20, "{piece:?} {size}");
            assert!(rendered.lines.as_str().matches("class=\"ll\"").count() <= MAX_LINES);
        }
        let long = render(of("x").as_bytes(), 1, Style::default());
        assert!(long.complete > 0, "a line without an end is broken");
    }
}
