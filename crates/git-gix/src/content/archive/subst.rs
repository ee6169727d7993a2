//! Expands `$Format:…$` in files with the attribute `export-subst`.

use chrono::{DateTime, FixedOffset};
use gix::bstr::ByteSlice;
use gix::prelude::ObjectIdExt;
use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::{ObjectId, Signature};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::tag::TagName;

use super::entry::ArchivedCommit;
use crate::content::commit::{from_gix, to_gix};

const START: &[u8] = b"$Format:";
/// The maximum growth of a file in bytes. Further placeholders stay as they are.
const MOST_GROWTH: usize = 8 << 20;

/// Expands placeholders in the archive of one commit.
pub(super) struct Placeholders<'a> {
    repo: &'a gix::Repository,
    archived: &'a ArchivedCommit,
    depends_on_repository: bool,
}

impl<'a> Placeholders<'a> {
    pub(super) fn new(repo: &'a gix::Repository, archived: &'a ArchivedCommit) -> Self {
        Self { repo, archived, depends_on_repository: false }
    }

    /// Returns whether a value depended on the repository and not only on the commit.
    pub(super) fn depends_on_repository(&self) -> bool {
        self.depends_on_repository
    }

    /// Replaces all placeholders of a file.
    pub(super) fn replace(&mut self, content: &mut Vec<u8>) -> Result<(), GitError> {
        if content.find(START).is_none() {
            return Ok(());
        }
        let mut replaced = Vec::with_capacity(content.len());
        let mut rest = content.as_slice();
        let most = content.len() + MOST_GROWTH;
        while let Some((before, format, after)) = next_format(rest) {
            replaced.extend_from_slice(before);
            self.expand(format, most, &mut replaced)?;
            rest = after;
            if replaced.len() > most {
                break;
            }
        }
        replaced.extend_from_slice(rest);
        *content = replaced;
        Ok(())
    }

    fn expand(&mut self, format: &[u8], most: usize, to: &mut Vec<u8>) -> Result<(), GitError> {
        let mut rest = format;
        while let Some(percent) = rest.find_byte(b'%').filter(|_| to.len() <= most) {
            to.extend_from_slice(&rest[..percent]);
            rest = &rest[percent..];
            // The name of a placeholder has one or two characters, and no name is the prefix of another.
            let known = [3, 2].into_iter().find_map(|length| {
                let name = rest.get(1..length)?.to_str().ok()?;
                self.value(name).transpose().map(|value| (length, value))
            });
            match known {
                Some((length, value)) => {
                    to.extend_from_slice(value?.as_bytes());
                    rest = &rest[length..];
                }
                None => {
                    to.push(b'%');
                    rest = &rest[1..];
                }
            }
        }
        to.extend_from_slice(rest);
        Ok(())
    }

    /// Returns the value of a placeholder. An unknown placeholder yields `None` and stays as it is.
    fn value(&mut self, name: &str) -> Result<Option<String>, GitError> {
        let commit = &self.archived.commit;
        let (subject, body) = subject_and_body(&commit.message);
        Ok(Some(match name {
            "%" => "%".to_owned(),
            "n" => "\n".to_owned(),
            "H" => self.archived.id.to_string(),
            "h" => self.short(self.archived.id),
            "T" => self.archived.tree.to_string(),
            "t" => self.short(self.archived.tree),
            "P" => join_words(commit.parents.iter().map(ObjectId::to_string)),
            "p" => join_words(commit.parents.iter().map(|id| self.short(to_gix(*id)))),
            "s" => subject,
            "b" => body.to_owned(),
            "B" => commit.message.clone(),
            "D" => self.refs().join(", "),
            "d" => match self.refs() {
                refs if refs.is_empty() => String::new(),
                refs => format!(" ({})", refs.join(", ")),
            },
            _ => {
                let who = match name.as_bytes().first() {
                    Some(b'a') => &commit.author,
                    Some(b'c') => &commit.committer,
                    _ => return Ok(None),
                };
                return Ok(signature_value(who, &name[1..]));
            }
        }))
    }

    fn short(&mut self, id: gix::ObjectId) -> String {
        self.depends_on_repository = true;
        id.attach(self.repo).shorten_or_id().to_string()
    }

    /// The branches and tags of the commit, formatted like `git log --decorate`.
    fn refs(&mut self) -> Vec<String> {
        self.depends_on_repository = true;
        let refs = &self.archived.refs;
        let wanted = from_gix(&self.archived.id);
        let is_head = refs.find(refs.head()).is_some_and(|head| head.target == wanted);
        let mut names = Vec::new();
        for (folder, word) in [(BranchName::FOLDER, ""), (TagName::FOLDER, "tag: ")] {
            for one in refs.range(refs.folder(folder)) {
                let is_current = is_head && one.name == refs.head();
                if one.peeled.unwrap_or(one.target) == wanted && !is_current {
                    let name = one.name.strip_prefix(folder).unwrap_or(&one.name);
                    names.push(format!("{word}{name}"));
                }
            }
        }
        if is_head {
            let branch = refs.head().strip_prefix(BranchName::FOLDER).unwrap_or(refs.head());
            names.push(format!("HEAD -> {branch}"));
        }
        names.reverse();
        names
    }
}

/// Splits the content into the part before the next format, the format and the rest.
fn next_format(content: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let start = content.find(START)?;
    let format = &content[start + START.len()..];
    let end = format.find_byte(b'$')?;
    Some((&content[..start], &format[..end], &format[end + 1..]))
}

fn join_words(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(" ")
}

fn signature_value(who: &Signature, what: &str) -> Option<String> {
    let date = |format: &str| format_date(&who.at, format);
    Some(match what {
        "n" => who.name.clone(),
        "e" => who.email.clone(),
        "t" => who.at.timestamp().to_string(),
        "d" => date("%a %b %-d %H:%M:%S %Y %z"),
        "D" => date("%a, %-d %b %Y %H:%M:%S %z"),
        "i" => date("%Y-%m-%d %H:%M:%S %z"),
        "I" => date("%Y-%m-%dT%H:%M:%S%:z"),
        _ => return None,
    })
}

fn format_date(at: &DateTime<FixedOffset>, format: &str) -> String {
    at.format(format).to_string()
}

/// Returns the first paragraph as one line, and the rest of the message.
fn subject_and_body(message: &str) -> (String, &str) {
    let is_blank = |line: &str| line.trim_end().is_empty();
    let mut subject = Vec::new();
    let mut rest = message;
    while let Some(line) = rest.split_inclusive('\n').next() {
        let blank = is_blank(line);
        if blank && !subject.is_empty() {
            break;
        }
        if !blank {
            subject.push(line.trim_end());
        }
        rest = &rest[line.len()..];
    }
    while let Some(line) = rest.split_inclusive('\n').next().filter(|line| is_blank(line)) {
        rest = &rest[line.len()..];
    }
    (subject.join(" "), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_one_line() {
        for (message, subject, body) in [
            ("one\n", "one", ""),
            ("\n\none\ntwo \n\n\nthree\n\nfour\n", "one two", "three\n\nfour\n"),
            ("", "", ""),
        ] {
            assert_eq!(subject_and_body(message), (subject.to_owned(), body), "{message:?}");
        }
    }
}
