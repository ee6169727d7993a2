//! Sections of a log, which a page folds.
//!
//! A section begins with `section_start:TIME:NAME`, a carriage return and the sequence that clears the line, and ends
//! with `section_end:TIME:NAME` in the same form. The name may be followed by options such as `[collapsed=true]`.

/// The maximum number of markers in the lines of a log. Further ones are removed from the text and fold nothing.
pub(super) const MAX_MARKERS: usize = 2_000;

/// The maximum number of sections around a line. Sections inside of these are not folded.
const MAX_DEPTH: usize = 8;

/// The maximum length of a name, and that of the options.
const MAX_NAME: usize = 100;

/// The sections with the commands of the build. They are open at first, because people look for their output.
const OPEN: [&str; 2] = ["step_script", "build_script"];

/// How a page shows sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sections {
    /// Each section that ended can be folded.
    Folded,
    /// The markers are removed; for logs that grow.
    Flat,
}

/// The marker at the beginning or end of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Start { name: String, is_open: bool },
    End { name: String },
}

impl Marker {
    pub(super) fn is_start(&self) -> bool {
        match self {
            Self::Start { .. } => true,
            Self::End { .. } => false,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Start { name, .. } | Self::End { name } => name,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (is_start, rest) = match text.strip_prefix("section_start:") {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix("section_end:")?),
        };
        let (time, named) = rest.split_once(':')?;
        let is_time = (1..=20).contains(&time.len()) && time.bytes().all(|at| at.is_ascii_digit());
        let (name, options) = match named.split_once('[') {
            Some((name, options)) => (name, options.strip_suffix(']')?),
            None => (named, ""),
        };
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        let is_name = (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_word);
        if !is_time || !is_name || options.len() > MAX_NAME || options.contains(['[', ']']) {
            return None;
        }
        let option = |wanted: &str| options.split(',').any(|option| option.trim() == wanted);
        let is_open =
            option("collapsed=false") || OPEN.contains(&name) && !option("collapsed=true");
        let name = name.to_owned();
        Some(if is_start { Self::Start { name, is_open } } else { Self::End { name } })
    }
}

/// The marker at the end of a text, and where it begins.
pub(super) fn marker_at_end(text: &str) -> Option<(usize, Marker)> {
    // Markers are ASCII, so a text that ends with one has its parts within this many bytes of the end.
    let first = text.len().saturating_sub("section_start:".len() + 21 + 2 * MAX_NAME + 2);
    let first = (first..=text.len()).find(|at| text.is_char_boundary(*at))?;
    let at = first + text.get(first..)?.rfind("section_")?;
    Marker::parse(text.get(at..)?).map(|marker| (at, marker))
}

/// The sections of a log that begin and end in it.
pub(super) struct Folds<'a> {
    /// The markers before each line and after the last one, and whether the section is folded.
    markers: Vec<Vec<(&'a Marker, bool)>>,
    /// For each section around the line, whether it has an element.
    around: Vec<bool>,
}

impl<'a> Folds<'a> {
    /// Finds the sections by the markers before each line and after the last one.
    pub(super) fn new(markers: &[&'a [Marker]], sections: Sections) -> Self {
        let unfolded = |line: &&'a [Marker]| line.iter().map(|marker| (marker, false)).collect();
        let mut markers: Vec<Vec<(&Marker, bool)>> = markers.iter().map(unfolded).collect();
        if sections == Sections::Folded {
            for (line, at) in folded(&markers) {
                if let Some((_, is_folded)) = markers[line].get_mut(at) {
                    *is_folded = true;
                }
            }
        }
        Self { markers, around: Vec::new() }
    }

    /// Ends and begins the elements of sections before a line. Returns the name of the section if the line has to be
    /// its summary.
    pub(super) fn begin_line(&mut self, html: &mut String, line: usize) -> Option<&'a str> {
        let mut begun: Option<&'a str> = None;
        for (marker, is_folded) in self.markers.get(line).into_iter().flatten() {
            if !is_folded {
                continue;
            }
            match marker {
                Marker::Start { name, is_open } => {
                    let has_element = self.around.len() < MAX_DEPTH;
                    self.around.push(has_element);
                    if !has_element {
                        continue;
                    }
                    if let Some(outer) = begun.replace(name.as_str()) {
                        // Names have no characters that HTML escapes.
                        html.push_str("<summary>");
                        html.push_str(outer);
                        html.push_str("</summary>");
                    }
                    html.push_str(if *is_open { "<details open>" } else { "<details>" });
                }
                Marker::End { .. } => {
                    if self.around.pop() == Some(true) {
                        html.push_str("</details>");
                    }
                }
            }
        }
        begun
    }

    /// Ends the elements of sections after the last line.
    pub(super) fn end(&mut self, html: &mut String) {
        let last = self.markers.len().saturating_sub(1);
        self.begin_line(html, last);
    }
}

/// Returns line and index of both markers of each section that has an end and at least one line after its first.
/// Sections without an end are left out: it may be the command in them that failed. An end also ends the sections
/// inside of it, so the sections are nested.
fn folded(markers: &[Vec<(&Marker, bool)>]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut begun: Vec<(usize, usize, &str)> = Vec::new();
    for (line, markers) in markers.iter().enumerate() {
        for (at, (marker, _)) in markers.iter().enumerate() {
            if marker.is_start() {
                begun.push((line, at, marker.name()));
                continue;
            }
            let of_name = |(_, _, name): &(usize, usize, &str)| *name == marker.name();
            let Some(start) = begun.iter().rposition(of_name) else { continue };
            if let Some((first, position, _)) = begun.get(start).copied()
                && line > first + 1
            {
                found.extend([(first, position), (line, at)]);
            }
            begun.truncate(start);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{MAX_LINES, Style, render};
    use super::*;

    fn start(name: &str) -> String {
        format!("\x1b[0Ksection_start:1600000000:{name}\r\x1b[0K")
    }

    fn end(name: &str) -> String {
        format!("\x1b[0Ksection_end:1600000009:{name}\r\x1b[0K")
    }

    /// The lines of a log: `+` for each section that begins, `*` if it is open, `-` for each that ends.
    fn shown(log: &str, sections: Sections) -> String {
        let rendered = render(log.as_bytes(), 1, Style::default(), sections);
        let mut html = format!("{}{}", rendered.lines, rendered.rest);
        for (from, to) in [
            ("<details open>", "*"),
            ("<details>", "+"),
            ("</details>", "-"),
            ("<summary>", "("),
            ("</summary>", ")"),
            ("\n</span>", ";"),
        ] {
            html = html.replace(from, to);
        }
        let mut text = String::new();
        for (at, part) in html.split('<').enumerate() {
            let shown =
                if at == 0 { part } else { part.split_once('>').map_or("", |(_, rest)| rest) };
            text.push_str(shown);
        }
        text
    }

    #[test]
    fn sections_that_ended_are_folded() {
        let (s, e) = (start, end);
        for (log, expected) in [
            (format!("{}Get\none\n{}two\n", s("get"), e("get")), "+(1 Get;)2 one;-3 two;"),
            // A runner writes the end of a section and the beginning of the next one into one line.
            (
                format!("{}A\n1\n{}{}B\n2\n{}", s("a"), e("a"), s("b"), e("b")),
                "+(1 A;)2 1;-+(3 B;)4 2;-",
            ),
            (
                format!("{}A\n{}B\nx\n{}y\n{}z", s("a"), s("b"), e("b"), e("a")),
                "+(1 A;)+(2 B;)3 x;-4 y;-5 z;",
            ),
            // The first line of both.
            (format!("{}{}A\nx\n{}\n{}\n", s("a"), s("b"), e("b"), e("a")), "+(a)+(1 A;)2 x;--"),
            // Text without an end of its line before the end of the section.
            (format!("{}A\nx{}y\n", s("a"), e("a")), "+(1 A;)2 x;-3 y;"),
            (format!("{}\nx\n{}", s("a.b-c_1"), e("a.b-c_1")), "+(1 a.b-c_1;)2 x;-"),
            (format!("{}A\nx\n{}", s("step_script"), e("step_script")), "*(1 A;)2 x;-"),
            (format!("{}A\nx\n{}", s("a[collapsed=false]"), e("a")), "*(1 A;)2 x;-"),
            (
                format!("{}A\nx\n{}", s("step_script[a=b,collapsed=true]"), e("step_script")),
                "+(1 A;)2 x;-",
            ),
            // Without an end or a beginning, without lines, or in the wrong order.
            (format!("{}A\nx\n", s("a")), "1 A;2 x;"),
            (format!("x\n{}y\n", e("a")), "1 x;2 y;"),
            (format!("{}A\n{}x\n", s("a"), e("a")), "1 A;2 x;"),
            (format!("{}{}x\n", s("a"), e("a")), "1 x;"),
            (
                format!("{}A\n{}B\nx\n{}y\n{}z\n", s("a"), s("b"), e("a"), e("b")),
                "+(1 A;)2 B;3 x;-4 y;5 z;",
            ),
            (format!("{}A\n{}B\nx\n{}", s("a"), s("a"), e("a")), "1 A;+(2 B;)3 x;-"),
        ] {
            assert_eq!(shown(&log, Sections::Folded), expected, "{log:?}");
        }
        let log = format!("{}Get\none\n{}two\n", s("get"), e("get"));
        assert_eq!(shown(&log, Sections::Flat), "1 Get;2 one;3 two;");
    }

    #[test]
    fn only_markers_are_taken_for_markers() {
        for text in [
            "section_start:1:a",
            "section_start:1:a\rx",
            "section_start:x:a\r\x1b[K",
            "section_start::a\r\x1b[K",
            "section_start:123456789012345678901:a\r\x1b[K",
            "section_start:1:\r\x1b[K",
            "section_start:1:<b>\r\x1b[K",
            "section_start:1:a b\r\x1b[K",
            "section_start:1:a[\r\x1b[K",
            "section_start:1:a[]]\r\x1b[K",
            "section_begin:1:a\r\x1b[K",
        ] {
            let html = shown(&format!("{text}\nx\n{}", end("a")), Sections::Folded);
            assert!(!html.contains('+') && !html.contains('*'), "{text:?} {html}");
        }
        let long = format!("section_start:1:{}\r\x1b[K", "a".repeat(MAX_NAME + 1));
        assert!(shown(&long, Sections::Folded).contains("section_start"));
        let text = "Ein längerer Text mit Umlauten: äöü";
        let log = format!("{}\nx\n", text.to_owned() + &start("a"));
        assert_eq!(shown(&log, Sections::Folded), format!("1 {text};2 ;3 x;"));
    }

    #[test]
    fn hostile_sections_stay_few_flat_and_nested() {
        let names = || (0..20_000).map(|at| format!("s{at}"));
        let nested: String = names().map(|name| start(&name) + "x\n").collect();
        let ends: String = (0..20_000).rev().map(|at| end(&format!("s{at}")) + "\n").collect();
        let in_turns: String =
            names().map(|name| start(&name) + "x\ny\n" + &end(&name) + "\n").collect();
        let same: String = names().map(|_| start("a") + "x\ny\n" + &end("b")).collect();
        let few = |count: usize| (0..count).map(|at| start(&format!("s{at}")) + "x\n");
        let deep: String =
            few(50).chain((0..50).rev().map(|at| end(&format!("s{at}")) + "y\n")).collect();
        let ends_and_empty: String = names().take(MAX_MARKERS).map(|name| end(&name)).collect();
        for (log, at_most) in [
            (ends_and_empty + &"\n".repeat(200_000), 0),
            (format!("{nested}{ends}"), 0),
            (in_turns, MAX_MARKERS / 2),
            (same, 0),
            (deep, MAX_DEPTH),
        ] {
            let rendered = render(log.as_bytes(), 1, Style::default(), Sections::Folded);
            let html = rendered.lines.as_str();
            let (mut depth, mut deepest, mut count) = (0_usize, 0, 0);
            for tag in html.split('<') {
                if tag.starts_with("details") {
                    (depth, count) = (depth + 1, count + 1);
                    deepest = deepest.max(depth);
                } else if tag.starts_with("/details") {
                    depth = depth.checked_sub(1).expect("each end has a beginning");
                }
            }
            assert_eq!(depth, 0);
            assert!(deepest <= MAX_DEPTH && count <= at_most, "{deepest} {count} {at_most}");
            assert!(html.matches("class=\"ll\"").count() <= MAX_LINES);
        }
    }
}
