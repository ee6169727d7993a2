//! Slash commands in notes and descriptions: lines such as `/close` change the issue or merge request
//! and are removed from the text.

use chrono::{Days, Months, NaiveDate};

/// A slash command. Names of users, labels and milestones are kept as written; the use case looks
/// them up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Close the issue.
    Close,
    /// Reopen the issue.
    Reopen,
    /// Change the title.
    Title(String),
    /// Assign the issue to the user with this username.
    Assign(String),
    /// Remove the assignee.
    Unassign,
    /// Add these labels.
    Label(Vec<String>),
    /// Remove these labels; an empty list removes all.
    Unlabel(Vec<String>),
    /// Replace all labels with these.
    Relabel(Vec<String>),
    /// Set the milestone with this title or number.
    Milestone(String),
    /// Remove the milestone.
    RemoveMilestone,
    /// Subscribe the caller to the issue.
    Subscribe,
    /// Unsubscribe the caller from the issue.
    Unsubscribe,
    /// Set the due date.
    Due(NaiveDate),
    /// Remove the due date.
    RemoveDueDate,
    /// Create a todo of the caller.
    Todo,
    /// Mark the todo of the caller as done.
    Done,
    /// Set or remove the mark for work in progress in the title of a merge request.
    WorkInProgress,
    /// A known command without effect, because its argument is missing or invalid.
    Nothing,
}

/// Splits a text into the remaining text and its commands, in order. Lines inside code fences, quotes and
/// HTML blocks are never commands. A text without commands is returned unchanged.
pub fn extract(text: &str, today: NaiveDate) -> (String, Vec<Command>) {
    let mut commands = Vec::new();
    let mut remaining = String::with_capacity(text.len());
    let mut block = None;
    for line in text.split_inclusive('\n') {
        let line_end = line.trim_end();
        let was_inside = block.is_some();
        block = Block::after(block, line_end);
        let is_inside = was_inside || block.is_some();
        let command = if is_inside { None } else { parse_line(line_end, today) };
        match command {
            Some(command) => commands.push(command),
            None => remaining.push_str(line),
        }
    }
    if commands.is_empty() {
        return (text.to_owned(), commands);
    }
    (remaining.trim().to_owned(), commands)
}

/// A block of lines that are not read as commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    /// Code between two lines that begin with three backticks.
    Code,
    /// A quote between two lines `>>>`.
    Quote,
    /// HTML between a line with a tag and a line with an end tag.
    Html,
}

impl Block {
    /// Returns the block after a line.
    fn after(block: Option<Self>, line: &str) -> Option<Self> {
        let is_tag = |open: &str| {
            let inner = line.strip_prefix(open).and_then(|rest| rest.strip_suffix('>'));
            inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(['<', '>']))
        };
        let (is_fence, is_quote) = (is_code_fence(line), line == ">>>");
        match block {
            Some(Block::Code) => block.filter(|_| !is_fence),
            Some(Block::Quote) => block.filter(|_| !is_quote),
            Some(Block::Html) => block.filter(|_| !is_tag("</")),
            None if is_fence => Some(Block::Code),
            None if is_quote => Some(Block::Quote),
            None if is_tag("<") && !is_tag("</") => Some(Block::Html),
            None => None,
        }
    }
}

/// Whether a line begins or ends a block of code.
pub(crate) fn is_code_fence(line: &str) -> bool {
    line.starts_with("```")
}

/// Parses a line as a command.
fn parse_line(line: &str, today: NaiveDate) -> Option<Command> {
    let line = line.strip_prefix('/')?;
    let (word, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let rest = rest.trim();
    // A known command with a missing or invalid argument is still removed from the text.
    let or_nothing = |command: Option<Command>| Some(command.unwrap_or(Command::Nothing));
    let labels = || parse_names(rest, '~');
    let non_empty = |names: Vec<String>| if names.is_empty() { None } else { Some(names) };
    match word {
        "close" => Some(Command::Close),
        "reopen" => Some(Command::Reopen),
        "title" => or_nothing((!rest.is_empty()).then(|| Command::Title(rest.to_owned()))),
        "assign" => or_nothing(parse_names(rest, '@').into_iter().next().map(Command::Assign)),
        "unassign" | "remove_assignee" => Some(Command::Unassign),
        "label" => or_nothing(non_empty(labels()).map(Command::Label)),
        "unlabel" | "remove_label" => Some(Command::Unlabel(labels())),
        "relabel" => or_nothing(non_empty(labels()).map(Command::Relabel)),
        "milestone" => {
            or_nothing(parse_names(rest, '%').into_iter().next().map(Command::Milestone))
        }
        "remove_milestone" => Some(Command::RemoveMilestone),
        "subscribe" => Some(Command::Subscribe),
        "unsubscribe" => Some(Command::Unsubscribe),
        "due" | "due_date" => or_nothing(parse_day(rest, today).map(Command::Due)),
        "remove_due_date" => Some(Command::RemoveDueDate),
        "wip" => Some(Command::WorkInProgress),
        "todo" => Some(Command::Todo),
        "done" => Some(Command::Done),
        _ => None,
    }
}

/// Parses names with a prefix character. Names with blanks are in quotes: `~bug ~"to do"`.
fn parse_names(text: &str, sign: char) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(sign) {
        let name = &rest[start + sign.len_utf8()..];
        let (name, after) = match name.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => name.split_at(name.find(char::is_whitespace).unwrap_or(name.len())),
        };
        if !name.is_empty() {
            names.push(name.to_owned());
        }
        rest = after;
    }
    names
}

/// Parses a date: `2016-12-31`, `today`, `tomorrow`, `in 3 days`, `in 2 weeks`, `in 1 month`.
fn parse_day(text: &str, today: NaiveDate) -> Option<NaiveDate> {
    match text {
        "today" => return Some(today),
        "tomorrow" => return today.succ_opt(),
        _ => {}
    }
    let mut words = text.split_whitespace();
    if let (Some("in"), Some(count), Some(unit), None) =
        (words.next(), words.next(), words.next(), words.next())
    {
        let count: u16 = count.parse().ok()?;
        return match unit {
            "day" | "days" => today.checked_add_days(Days::new(count.into())),
            "week" | "weeks" => today.checked_add_days(Days::new(7 * u64::from(count))),
            "month" | "months" => today.checked_add_months(Months::new(count.into())),
            _ => None,
        };
    }
    let is_full_date = text.len() == 10 && text.is_ascii();
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| is_full_date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_day(text: &str) -> NaiveDate {
        NaiveDate::parse_from_str(text, "%Y-%m-%d").expect("a day")
    }

    #[test]
    fn every_command_is_read() {
        use Command::*;
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let today = a_day("2016-12-30");
        for (line, command) in [
            ("/close", Some(Close)),
            ("/close now", Some(Close)),
            ("/reopen", Some(Reopen)),
            ("/title  A better one ", Some(Title("A better one".into()))),
            ("/title", Some(Nothing)),
            ("/assign @ada", Some(Assign("ada".into()))),
            ("/assign ada", Some(Nothing)),
            ("/unassign", Some(Unassign)),
            ("/remove_assignee", Some(Unassign)),
            ("/label ~bug ~\"to do\" ~7", Some(Label(list(&["bug", "to do", "7"])))),
            ("/label bug", Some(Nothing)),
            ("/unlabel ~bug", Some(Unlabel(list(&["bug"])))),
            ("/unlabel", Some(Unlabel(vec![]))),
            ("/remove_label ~bug", Some(Unlabel(list(&["bug"])))),
            ("/relabel ~bug", Some(Relabel(list(&["bug"])))),
            ("/relabel", Some(Nothing)),
            ("/milestone %\"1.0 final\"", Some(Milestone("1.0 final".into()))),
            ("/milestone %1.0", Some(Milestone("1.0".into()))),
            ("/remove_milestone", Some(RemoveMilestone)),
            ("/subscribe", Some(Subscribe)),
            ("/unsubscribe", Some(Unsubscribe)),
            ("/due 2017-01-31", Some(Due(a_day("2017-01-31")))),
            ("/due today", Some(Due(today))),
            ("/due tomorrow", Some(Due(a_day("2016-12-31")))),
            ("/due in 2 days", Some(Due(a_day("2017-01-01")))),
            ("/due in 1 week", Some(Due(a_day("2017-01-06")))),
            ("/due in 2 months", Some(Due(a_day("2017-02-28")))),
            ("/due someday", Some(Nothing)),
            ("/due", Some(Nothing)),
            ("/remove_due_date", Some(RemoveDueDate)),
            ("/wip", Some(WorkInProgress)),
            ("/todo", Some(Todo)),
            ("/done", Some(Done)),
            ("/unknown", None),
            ("/closed", None),
            ("/etc/hosts", None),
            (" /close", None),
            ("close", None),
            ("/", None),
        ] {
            assert_eq!(parse_line(line, today), command, "{line}");
        }
    }

    #[test]
    fn commands_are_removed_from_the_text() {
        let today = a_day("2016-12-30");
        for (text, left, count) in [
            ("", "", 0),
            ("  just a text\n", "  just a text\n", 0),
            ("/close", "", 1),
            ("Done.\r\n/close\r\n", "Done.", 1),
            ("one\n/close\ntwo\n/label ~a\n", "one\ntwo", 2),
            ("```\n/close\n```\n", "```\n/close\n```\n", 0),
            ("```\n/close\n```\n/close", "```\n/close\n```", 1),
            (">>>\n/close\n>>>\n/close", ">>>\n/close\n>>>", 1),
            ("<p>\n/close\n</p>\n/close", "<p>\n/close\n</p>", 1),
            ("<3\n/close", "<3", 1),
        ] {
            let (remains, commands) = extract(text, today);
            assert_eq!((remains.as_str(), commands.len()), (left, count), "{text:?}");
        }
        let (left, commands) = extract(&"/close\n".repeat(100_000), today);
        assert_eq!((left.as_str(), commands.len()), ("", 100_000));
    }
}
