//! Code as rows of a table, with its syntax highlighted.
//!
//! The work for one file is bounded: a number of lines, a length of lines and a time, after which the rest is plain. At
//! most two files are highlighted at once, because the expressions of each language take much memory. The first files of
//! a language have more time, because their expressions are compiled when they are first used.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use askama::FastWritable;
use askama::filters::HtmlSafe;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::visible;

/// The lines that are shown, and those that are highlighted.
const MAX_LINES: usize = 5_000;
const MAX_HIGHLIGHTED: usize = 2_000;

/// The longest line in bytes that is highlighted.
const MAX_LENGTH: usize = 1_000;

/// The time for one file, after which its lines stay plain.
const TIME: Duration = Duration::from_millis(150);

/// The time that one file has beyond [`TIME`] while expressions of its language are not compiled yet.
const EXTRA_TIME: Duration = Duration::from_millis(1_500);

/// The time that the files of one language have beyond [`TIME`] in this process, all together.
const COMPILE_TIME: Duration = Duration::from_secs(6);

/// The time that a file waits until it may be highlighted. After that it is shown without.
const WAIT: Duration = Duration::from_millis(300);

/// The longest start of a file that is searched for its language.
const FIRST_LINE: usize = 200;

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// The files that are highlighted at once.
static PLACES: Semaphore = Semaphore::const_new(2);

/// The right to highlight a file.
pub(crate) type Place = SemaphorePermit<'static>;

/// Waits a short time for the right to highlight a file.
pub(crate) async fn place() -> Option<Place> {
    tokio::time::timeout(WAIT, PLACES.acquire()).await.ok()?.ok()
}

/// The rows of a table with the lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeHtml {
    html: String,
    /// The number of lines of the file.
    pub(crate) lines: usize,
    /// The number of lines that are shown.
    pub(crate) shown: usize,
    /// Whether some of its characters change the direction of text.
    pub(crate) has_hidden: bool,
    /// Whether the time ended before the expressions of the language were compiled. The next attempt gets further.
    pub(crate) is_unfinished: bool,
}

impl CodeHtml {
    /// The length of the HTML in bytes.
    pub(crate) fn size(&self) -> usize {
        self.html.len()
    }
}

impl HtmlSafe for CodeHtml {}

impl fmt::Display for CodeHtml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.html)
    }
}

impl FastWritable for CodeHtml {
    fn write_into(&self, dest: &mut dyn fmt::Write, _: &dyn askama::Values) -> askama::Result<()> {
        Ok(dest.write_str(&self.html)?)
    }
}

/// The language of a file, by its name and its first line.
pub(crate) fn language(name: &str, text: &str) -> Option<&'static SyntaxReference> {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let first = text.lines().next().unwrap_or_default();
    let end = first.char_indices().nth(FIRST_LINE).map_or(first.len(), |(at, _)| at);
    SYNTAXES
        .find_syntax_by_extension(name)
        .or_else(|| SYNTAXES.find_syntax_by_extension(ending))
        .or_else(|| SYNTAXES.find_syntax_by_first_line(&first[..end]))
        .filter(|found| found.name != "Plain Text")
}

/// The time that files took beyond [`TIME`], by the name of their language.
static COMPILE_TIMES: LazyLock<Mutex<HashMap<&'static str, Duration>>> =
    LazyLock::new(Mutex::default);

/// Adds to the time that the files of a language took beyond [`TIME`]. Returns what is left of [`COMPILE_TIME`].
fn spend_compile_time(language: &'static str, spent: Duration) -> Duration {
    // A map of numbers is never half changed.
    let mut times = COMPILE_TIMES.lock().unwrap_or_else(PoisonError::into_inner);
    let total = times.entry(language).or_default();
    *total = total.saturating_add(spent);
    COMPILE_TIME.saturating_sub(*total)
}

/// The rows of a file. Without a place, they are plain.
pub(crate) fn rows(name: &str, text: &str, place: Option<Place>) -> CodeHtml {
    let found = place.as_ref().and_then(|_| language(name, text));
    let started = Instant::now();
    let left =
        found.map_or(Duration::ZERO, |language| spend_compile_time(&language.name, Duration::ZERO));
    let deadline = started + TIME + left.min(EXTRA_TIME);
    let mut painter = found.map(|language| Painter::new(language, deadline));
    let mut html = String::with_capacity(text.len() * 3);
    let (mut lines, mut shown) = (0, 0);
    for line in text.split_inclusive('\n') {
        lines += 1;
        if lines > MAX_LINES {
            continue;
        }
        shown = lines;
        // Writing to a string does not fail.
        let _ = write!(
            html,
            "<tr id=\"L{lines}\"><td class=\"number\"><a href=\"#L{lines}\">{lines}</a></td><td class=\"line\">"
        );
        let is_painted = lines <= MAX_HIGHLIGHTED
            && painter.as_mut().is_some_and(|painter| painter.paint(line, &mut html));
        if !is_painted {
            painter = None;
            plain(line.trim_end_matches(['\n', '\r']), &mut html);
        }
        html.push_str("</td></tr>\n");
    }
    if let Some(language) = found {
        spend_compile_time(&language.name, started.elapsed().saturating_sub(TIME));
    }
    let is_unfinished = !left.is_zero() && painter.is_none() && Instant::now() >= deadline;
    CodeHtml { html, lines, shown, has_hidden: visible::has_hidden(text), is_unfinished }
}

fn plain(line: &str, html: &mut String) {
    let (start, missing) = visible::cut(line);
    escape(start, html);
    if missing > 0 {
        let _ = write!(html, "<span class=\"cut\"> [{missing} more characters]</span>");
    }
}

fn escape(text: &str, html: &mut String) {
    for c in visible::reveal(text).chars() {
        match c {
            '<' => html.push_str("&#60;"),
            '>' => html.push_str("&#62;"),
            '&' => html.push_str("&#38;"),
            '"' => html.push_str("&#34;"),
            c => html.push(c),
        }
    }
}

/// The classes of highlighted code, and the scopes that have them. The first scope that fits decides.
const CLASSES: [(&str, &str); 24] = [
    ("comment", "h-comment"),
    ("constant.character.escape", "h-escape"),
    ("string", "h-string"),
    ("constant.numeric", "h-number"),
    ("constant", "h-constant"),
    ("keyword.operator", "h-operator"),
    ("keyword", "h-keyword"),
    ("storage.type", "h-type"),
    ("storage", "h-keyword"),
    ("entity.name.function", "h-function"),
    ("support.function", "h-function"),
    ("variable.function", "h-function"),
    ("entity.name.tag", "h-tag"),
    ("entity.other.attribute-name", "h-attribute"),
    ("entity.name", "h-type"),
    ("entity.other", "h-type"),
    ("support", "h-type"),
    ("variable.parameter", "h-variable"),
    ("variable.language", "h-keyword"),
    ("markup.heading", "h-heading"),
    ("markup.inserted", "h-string"),
    ("markup.deleted", "h-deleted"),
    ("markup.raw", "h-string"),
    ("meta.annotation", "h-attribute"),
];

static SCOPES: LazyLock<Vec<(Scope, &'static str)>> = LazyLock::new(|| {
    let scope = |(name, class): (&str, &'static str)| Some((Scope::new(name).ok()?, class));
    CLASSES.into_iter().filter_map(scope).collect()
});

/// Highlights the lines of a file one after the other.
struct Painter {
    state: ParseState,
    stack: ScopeStack,
    classes: HashMap<Scope, Option<&'static str>>,
    deadline: Instant,
}

impl Painter {
    fn new(language: &SyntaxReference, deadline: Instant) -> Self {
        let (state, stack) = (ParseState::new(language), ScopeStack::new());
        Self { state, stack, classes: HashMap::new(), deadline }
    }

    /// Writes a highlighted line. Returns `false` and writes nothing if the rest of the file has to stay plain.
    fn paint(&mut self, line: &str, html: &mut String) -> bool {
        if line.len() > MAX_LENGTH || Instant::now() >= self.deadline {
            return false;
        }
        let Ok(ops) = self.state.parse_line(line, &SYNTAXES) else { return false };
        let start = html.len();
        let (mut at, mut open) = (0, None);
        for (next, op) in ops {
            if let Some(text) = line.get(at..next) {
                self.write(text, &mut open, html);
            }
            at = next;
            if self.stack.apply(&op).is_err() {
                html.truncate(start);
                return false;
            }
        }
        self.write(line.get(at..).unwrap_or_default(), &mut open, html);
        if open.is_some() {
            html.push_str("</span>");
        }
        true
    }

    /// Writes text with the class of its scopes. Neighbours of the same class share an element.
    fn write(&mut self, text: &str, open: &mut Option<&'static str>, html: &mut String) {
        let text = text.trim_end_matches(['\n', '\r']);
        if text.is_empty() {
            return;
        }
        let class = self.class();
        // White space looks the same in every class.
        if class != *open && !text.trim().is_empty() {
            if open.is_some() {
                html.push_str("</span>");
            }
            if let Some(class) = class {
                let _ = write!(html, "<span class=\"{class}\">");
            }
            *open = class;
        }
        escape(text, html);
    }

    /// The class of the innermost scope that has one.
    fn class(&mut self) -> Option<&'static str> {
        let Self { stack, classes, .. } = self;
        stack.as_slice().iter().rev().find_map(|scope| {
            *classes.entry(*scope).or_insert_with(|| {
                SCOPES
                    .iter()
                    .find(|(prefix, _)| prefix.is_prefix_of(*scope))
                    .map(|(_, class)| *class)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn highlighted(name: &str, text: &str) -> String {
        let place = PLACES.try_acquire().ok();
        let rows = rows(name, text, place).to_string();
        rows.split("class=\"line\">").skip(1).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn code_is_highlighted_in_few_classes() {
        // Loading the expressions of a language takes longer than the time for a file in a debug build, so the second
        // attempt counts.
        highlighted("a.rs", "fn main() {}\n");
        let html = highlighted("a.rs", "// <b>\nlet x = \"y\";\n");
        assert!(html.contains("<span class=\"h-comment\">// &#60;b&#62;</span></td>"), "{html}");
        assert!(html.contains("<span class=\"h-string\">&#34;y&#34;</span>"), "{html}");
        let mut classes: Vec<&str> = CLASSES.iter().map(|(_, class)| *class).collect();
        classes.sort_unstable();
        classes.dedup();
        assert!(classes.len() <= 14, "{classes:?}");
    }

    #[test]
    fn files_of_a_language_share_the_time_for_compiling_it() {
        let half = COMPILE_TIME / 2;
        assert_eq!(spend_compile_time("A", Duration::ZERO), COMPILE_TIME);
        assert_eq!(spend_compile_time("A", half), half);
        assert_eq!(spend_compile_time("A", COMPILE_TIME), Duration::ZERO);
        assert_eq!(spend_compile_time("A", Duration::MAX), Duration::ZERO);
        assert_eq!(spend_compile_time("B", Duration::ZERO), COMPILE_TIME);
    }

    #[test]
    fn short_files_are_highlighted_to_their_end() {
        let text = "export interface Load { name?: string }\nconst x = `a-${1}`;\nreturn \"z\";\n";
        // Compiling the expressions of this language takes seconds in a debug build.
        let is_whole =
            |html: String| html.matches("<span").count() >= 3 && html.contains("z&#34;</span>");
        assert!((0..100).any(|_| is_whole(highlighted("a.ts", text))));
    }

    #[test]
    fn languages_are_found_by_names_and_first_lines() {
        for (name, text, language) in [
            ("main.rs", "", Some("Rust")),
            ("Makefile", "", Some("Makefile")),
            ("run", "#!/bin/sh\n", Some("Bourne Again Shell (bash)")),
            ("a.toml", "", Some("TOML")),
            ("a.txt", "x", None),
            ("unknown", "x", None),
        ] {
            let found = super::language(name, text).map(|found| found.name.as_str());
            assert_eq!(found, language, "{name}");
        }
    }

    #[test]
    fn long_files_and_lines_are_cut_and_stay_plain() {
        let long = "x".repeat(3_000);
        let rows = rows("a.rs", &format!("{long}\n{}", "let\n".repeat(6_000)), None);
        assert_eq!((rows.lines, rows.shown), (6_001, 5_000));
        assert!(rows.html.contains("[1000 more characters]"));
        assert!(!rows.html.contains("h-keyword") && !rows.html.contains("L5001"));
        assert_eq!(super::rows("a", "a\r\nb", None).lines, 2);
        assert!(super::rows("a", "<\u{202e}>", None).html.contains("&#60;[U+202E]&#62;"));
    }
}
