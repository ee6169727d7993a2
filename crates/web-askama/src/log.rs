//! Logs of builds as HTML. Escape sequences become classes; nothing of a log is inserted without being escaped.
//!
//! A log is hostile input of any size. Its end is read by the use case; here the number of lines, the length of a line
//! and the number of changes of style are limited.

mod screen;
mod section;
mod style;

use std::fmt::{self, Write as _};

use anstyle_parse::{DefaultCharAccumulator, Parser};
use askama::FastWritable;
use askama::filters::HtmlSafe;

use screen::{Line, Screen};
pub(crate) use section::Sections;
use section::{Folds, Marker};
pub(crate) use style::Style;

/// The maximum number of lines. The last ones are kept.
const MAX_LINES: usize = 5_000;

/// The usual length of the HTML around a line.
const MARKUP: usize = 64;

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
pub(crate) fn render(bytes: &[u8], first: u64, style: Style, sections: Sections) -> Rendered {
    let mut parser = Parser::<DefaultCharAccumulator>::new();
    let mut screen = Screen::new(style);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let plain = screen.plain_prefix(&bytes[at..]);
        if plain.is_empty() {
            // Only these control characters keep the parser in its ground state.
            screen.is_plain &= matches!(byte, b'\n' | b'\r' | b'\t');
            parser.advance(&mut screen, *byte);
            at += 1;
        } else {
            screen.print_text(plain);
            at += plain.len();
        }
        if screen.line.is_over {
            screen.end_line(at);
        }
    }
    let Screen { lines, line, end_of_lines, style_of_lines, dropped, .. } = screen;
    let mut html = String::with_capacity(bytes.len() + lines.len() * MARKUP);
    let mut number = first + dropped.0 as u64;
    let markers: Vec<&[Marker]> =
        lines.iter().chain([&line]).map(|line| line.markers.as_slice()).collect();
    let mut folds = Folds::new(&markers, sections);
    for (at, line) in lines.iter().enumerate() {
        match folds.begin_line(&mut html, at) {
            Some(name) => write_summary(&mut html, number, line, name),
            None => write_line(&mut html, number, line),
        }
        number += 1;
    }
    folds.end(&mut html);
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
    write_spans(html, line);
    html.push_str("\n</span>");
}

/// Writes the line that begins a section. Without text it shows the name of the section.
fn write_summary(html: &mut String, number: u64, line: &Line, name: &str) {
    let _ = write!(
        html,
        "<summary><span class=\"ll\" id=\"L{number}\"><span class=\"ln\">{number}</span> "
    );
    match line.has_text() {
        true => write_spans(html, line),
        false => escape(html, name),
    }
    html.push_str("\n</span></summary>");
}

fn write_spans(html: &mut String, line: &Line) {
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
}

fn escape(html: &mut String, text: &str) {
    let mut written = 0;
    for (at, byte) in text.bytes().enumerate() {
        let entity = match byte {
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'&' => "&amp;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            _ => continue,
        };
        html.push_str(&text[written..at]);
        html.push_str(entity);
        written = at + 1;
    }
    html.push_str(&text[written..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let Rendered { lines, rest, .. } =
            render(text.as_bytes(), 1, Style::default(), Sections::Flat);
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
        let first = render(text.as_bytes(), 1, Style::default(), Sections::Flat);
        assert_eq!((first.complete, first.next_line), (text.len() - 4, 3));
        let style = Style::parse(&first.style.word());
        assert_eq!(style, first.style);
        let more = render(b" three\n", first.next_line, style, Sections::Flat);
        let html = "<span class=\"ll\" id=\"L3\"><a href=\"#L3\">3</a> <span class=\"f1\"> three</span>\n</span>";
        assert_eq!(more.lines.as_str(), html);
        assert_eq!(Style::parse("f99.b3.bold.<x>.italic.under"), Style::parse("b3.bold.italic"));
    }

    #[test]
    fn a_hostile_log_stays_small() {
        let most = 512 << 10;
        let of = |piece: &str| piece.repeat(most / piece.len());
        for piece in [
            "x",
            "\n",
            "\x1b[1mx\x1b[31my",
            "\x1b[1m\x1b[31mx\n",
            "\x1b[",
            "\x1b]",
            "<\n",
            "\r",
            "section_start:1:a\r\x1b[K",
            "section_start:1:a\r\x1b[Kx\n",
            "section_end:1:a\r\x1b[K",
            "section_start:1:a\r\x1b[K\nsection_end:1:a\r\x1b[K",
            "section_start:1:a\r\x1b[Ksection_end:1:b\r\x1b[K\n",
            "section_start:1:\n",
        ] {
            let rendered = render(of(piece).as_bytes(), 1, Style::default(), Sections::Folded);
            let size = rendered.lines.as_str().len() + rendered.rest.as_str().len();
            assert!(size < 4 << 20, "{piece:?} {size}");
            assert!(rendered.lines.as_str().matches("class=\"ll\"").count() <= MAX_LINES);
        }
        let long = render(of("x").as_bytes(), 1, Style::default(), Sections::Flat);
        assert!(long.complete > 0, "a line without an end is broken");
    }
}
