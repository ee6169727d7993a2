//! The system note about commits that were pushed to the source branch of a merge request.

use crate::commit::ObjectId;

/// The maximum number of commits that a note lists.
pub const MAX_LISTED: usize = 500;

/// The commits of a push to the source branch of a merge request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedCommits<'a> {
    /// The number of pushed commits that the target branch has already, with the first and the last of them.
    pub existing: Option<ExistingCommits>,
    /// The target branch; for a request from a fork with the path of its namespace, `namespace:master`.
    pub target: &'a str,
    /// The number of new commits.
    pub total_new: u64,
    /// The newest of the new commits with their titles, oldest first; at most [`MAX_LISTED`].
    pub new: &'a [(ObjectId, String)],
    /// The tip of the source branch before the push; zeros when the branch was created.
    pub old: ObjectId,
    /// The URL that compares the versions.
    pub compare_url: &'a str,
}

/// The pushed commits that the target branch has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExistingCommits {
    /// Their number, at least 1.
    pub count: u64,
    /// The oldest of them.
    pub first: ObjectId,
    /// The newest of them.
    pub last: ObjectId,
}

impl PushedCommits<'_> {
    /// The text of the note.
    pub(super) fn describe(&self) -> String {
        let total = self.total_new + self.existing.map_or(0, |existing| existing.count);
        let summary = self.existing.map(|existing| self.summarize(existing));
        let listed =
            self.new.iter().map(|(id, title)| format!("* {} - {}", short(*id), escape(title)));
        let lines = summary.into_iter().chain(listed).collect::<Vec<_>>().join("\n");
        let (total, link) = (count(total), self.compare_url);
        format!("added {total}\n\n{lines}\n\n[Compare with previous version]({link})")
    }

    /// The line about the commits that the target branch has already.
    fn summarize(
        &self,
        ExistingCommits { count: existing, first, last }: ExistingCommits,
    ) -> String {
        let (first, last) = (short(first), short(last));
        let range = match existing {
            1 => last,
            _ if self.old == ObjectId::ZERO => format!("{first}..{last}"),
            _ => format!("{}...{last}", short(self.old)),
        };
        format!("* {range} - {} from branch `{}`", count(existing), self.target)
    }
}

fn count(commits: u64) -> String {
    if commits == 1 { "1 commit".to_owned() } else { format!("{commits} commits") }
}

/// The first eight digits of an id.
fn short(id: ObjectId) -> String {
    let mut text = id.to_string();
    text.truncate(8);
    text
}

/// Escapes the characters with a meaning in HTML, because notes are shown as Markdown.
fn escape(title: &str) -> String {
    let mut escaped = String::with_capacity(title.len());
    for c in title.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(byte: u8) -> ObjectId {
        ObjectId::from_bytes([byte; 20])
    }

    #[test]
    fn existing_commits_are_summed_up_and_new_ones_listed() {
        let new = [(id(0xaa), "Add <a>".to_owned()), (id(0xbb), "Add \"b\" & 'c'".to_owned())];
        let existing = |count| Some(ExistingCommits { count, first: id(1), last: id(2) });
        let old = id(9);
        for (existing, new, old, expected) in [
            (None, &new[..1], old, "added 1 commit\n\n* aaaaaaaa - Add &lt;a&gt;\n\n"),
            (
                None,
                &new[..],
                old,
                "added 2 commits\n\n* aaaaaaaa - Add &lt;a&gt;\n\
                 * bbbbbbbb - Add &quot;b&quot; &amp; &#39;c&#39;\n\n",
            ),
            (
                existing(3),
                &new[..1],
                old,
                "added 4 commits\n\n* 09090909...02020202 - 3 commits from branch `master`\n\
                 * aaaaaaaa - Add &lt;a&gt;\n\n",
            ),
            (
                existing(1),
                &[][..],
                old,
                "added 1 commit\n\n* 02020202 - 1 commit from branch `master`\n\n",
            ),
            (
                existing(2),
                &[][..],
                ObjectId::ZERO,
                "added 2 commits\n\n* 01010101..02020202 - 2 commits from branch `master`\n\n",
            ),
        ] {
            let total_new = new.len() as u64;
            let (target, compare_url) = ("master", "https://forge.test/x");
            let pushed = PushedCommits { existing, target, total_new, new, old, compare_url };
            let link = "[Compare with previous version](https://forge.test/x)";
            assert_eq!(pushed.describe(), format!("{expected}{link}"));
        }
    }
}
