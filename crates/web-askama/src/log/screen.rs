//! The lines that text and escape sequences of a log draw.

use std::collections::VecDeque;

use anstyle_parse::{Params, Perform};

use super::section::{self, Marker};
use super::{MAX_LINES, Style};

/// The maximum length of a line, in characters. A longer one is broken.
const MAX_LINE: usize = 8_000;

/// The maximum number of changes of style in a line, and in all lines. The text after them has no style.
const MAX_SPANS_IN_LINE: usize = 200;
const MAX_SPANS: usize = 20_000;

/// A line of a log, in parts of one style.
#[derive(Default)]
pub(super) struct Line {
    pub(super) spans: Vec<(Style, String)>,
    length: usize,
    /// A carriage return came: the next character replaces the line.
    returns: bool,
    pub(super) is_over: bool,
    /// The offset of its first byte.
    start: usize,
    /// The markers of sections before its text.
    pub(super) markers: Vec<Marker>,
    /// The number of these markers that come from lines without text.
    moved_markers: usize,
}

impl Line {
    /// Removes a marker from the end of the text, and returns it.
    fn take_marker(&mut self) -> Option<Marker> {
        let (_, text) = self.spans.last_mut()?;
        let (at, marker) = section::marker_at_end(text)?;
        self.length = self.length.saturating_sub(text.len() - at);
        text.truncate(at);
        if text.is_empty() {
            self.spans.pop();
        }
        Some(marker)
    }

    pub(super) fn has_text(&self) -> bool {
        self.length > 0
    }
}

/// What the escape sequences draw on.
#[derive(Default)]
pub(super) struct Screen {
    style: Style,
    pub(super) line: Line,
    pub(super) lines: VecDeque<Line>,
    span_count: usize,
    pub(super) end_of_lines: usize,
    pub(super) style_of_lines: Style,
    /// The number of lines that were dropped, and the bytes that they took.
    pub(super) dropped: (usize, usize),
    /// The number of markers in the lines.
    marker_count: usize,
    /// A marker that ends the section of the text before it.
    next_marker: Option<Marker>,
    /// Whether the next character is certainly not a part of an escape sequence or of a character of several bytes.
    pub(super) is_plain: bool,
}

impl Screen {
    pub(super) fn new(style: Style) -> Self {
        Self { style, is_plain: true, ..Self::default() }
    }

    /// The start of some bytes that prints as it is, as far as the line has room. It needs no parser.
    pub(super) fn plain_prefix<'a>(&self, bytes: &'a [u8]) -> &'a str {
        if !self.is_plain {
            return "";
        }
        let room = MAX_LINE - self.line.length.min(MAX_LINE);
        let bytes = &bytes[..room.min(bytes.len())];
        let end = bytes.iter().position(|byte| !matches!(byte, b' '..=b'~'));
        std::str::from_utf8(&bytes[..end.unwrap_or(bytes.len())]).unwrap_or_default()
    }

    /// Prints text of the current style.
    pub(super) fn print_text(&mut self, printed: &str) {
        let line = &mut self.line;
        if std::mem::take(&mut line.returns) {
            self.span_count = self.span_count.saturating_sub(line.spans.len());
            line.spans.clear();
            line.length = 0;
        }
        let may_change = line.spans.len() < MAX_SPANS_IN_LINE && self.span_count < MAX_SPANS;
        match line.spans.last_mut() {
            Some((style, text)) if *style == self.style || !may_change => text.push_str(printed),
            _ => {
                let style = if may_change { self.style } else { Style::default() };
                line.spans.push((style, printed.to_owned()));
                self.span_count += 1;
            }
        }
        line.length += printed.chars().count();
        line.is_over = line.length >= MAX_LINE;
    }

    pub(super) fn end_line(&mut self, end: usize) {
        let mut next = Line { start: end, ..Line::default() };
        next.markers.extend(self.next_marker.take());
        (self.end_of_lines, self.style_of_lines) = (end, self.style);
        // Markers move on once for each new one, so an empty line stays and the cost is bounded by their number.
        let has_own_marker = self.line.markers.len() > self.line.moved_markers;
        if has_own_marker
            && !self.line.has_text()
            && !self.line.markers.iter().any(Marker::is_start)
        {
            // The line had nothing but markers that end sections.
            let mut markers = std::mem::take(&mut self.line.markers);
            next.moved_markers = markers.len();
            markers.append(&mut next.markers);
            self.line = Line { markers, ..next };
            return;
        }
        self.lines.push_back(std::mem::replace(&mut self.line, next));
        if self.lines.len() > MAX_LINES
            && let Some(first) = self.lines.pop_front()
        {
            self.span_count = self.span_count.saturating_sub(first.spans.len());
            self.marker_count = self.marker_count.saturating_sub(first.markers.len());
            self.dropped = (self.dropped.0 + 1, self.lines.front().map_or(end, |line| line.start));
        }
    }

    /// Takes the marker of a section out of the line, if the line ends with one.
    fn take_section_marker(&mut self) {
        let Some(marker) = self.line.take_marker() else { return };
        self.line.returns = false;
        if self.marker_count >= section::MAX_MARKERS {
            return;
        }
        self.marker_count += 1;
        match self.line.has_text() {
            // The text before the marker is a line of its own.
            true => {
                self.next_marker = Some(marker);
                self.line.is_over = true;
            }
            false => self.line.markers.push(marker),
        }
    }
}

impl Perform for Screen {
    fn print(&mut self, letter: char) {
        self.is_plain = true;
        let letter = match letter {
            // Characters that change the direction of text could make a log look like another one.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            letter => letter,
        };
        self.print_text(letter.encode_utf8(&mut [0; 4]));
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.line.is_over = true,
            b'\r' => self.line.returns = true,
            b'\t' => self.print('\t'),
            _ => (),
        }
    }

    fn esc_dispatch(&mut self, _: &[u8], _: bool, _: u8) {
        self.is_plain = true;
    }

    fn csi_dispatch(&mut self, params: &Params, _: &[u8], is_ignored: bool, action: u8) {
        self.is_plain = true;
        match action {
            b'm' if !is_ignored => self.style.select(params),
            // A marker of a section ends with a carriage return and the sequence that clears the line.
            b'K' if self.line.returns => self.take_section_marker(),
            _ => (),
        }
    }
}
