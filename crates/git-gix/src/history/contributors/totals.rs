//! Totals by author.

use std::collections::HashMap;

use hexforge_domain::repository::{Contributor, Contributors};

use super::lines::Lines;
use crate::text;

/// An author with their totals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Author {
    /// The raw bytes of the email address.
    pub(crate) email: Vec<u8>,
    /// Empty as long as no commit has a name.
    pub(crate) name: String,
    pub(crate) commits: u64,
    pub(crate) lines: Lines,
}

/// Authors in the order in which they were first seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    authors: Vec<Author>,
    by_email: HashMap<Vec<u8>, usize>,
}

impl Totals {
    pub(crate) fn authors(&self) -> &[Author] {
        &self.authors
    }

    /// Adds to the totals of an author. The first non-empty name stays.
    pub(crate) fn add(&mut self, more: Author) {
        let Some(&index) = self.by_email.get(&more.email) else {
            self.by_email.insert(more.email.clone(), self.authors.len());
            self.authors.push(more);
            return;
        };
        let author = &mut self.authors[index];
        if author.name.is_empty() {
            author.name = more.name;
        }
        author.commits += more.commits;
        author.lines.add(more.lines);
    }

    /// Adds all these authors. New ones follow the known ones, in their order.
    pub(crate) fn add_all(&mut self, more: &Self) {
        for author in &more.authors {
            self.add(author.clone());
        }
    }

    pub(crate) fn contributors(&self, complete: bool) -> Contributors {
        let counted = self.authors.iter().filter(|author| author.commits > 0);
        let authors = counted.map(|author| Contributor {
            name: author.name.clone(),
            email: text::decode(&author.email),
            commits: author.commits,
            additions: author.lines.added,
            deletions: author.lines.removed,
        });
        Contributors { authors: authors.collect(), complete }
    }
}

impl PartialEq for Totals {
    fn eq(&self, other: &Self) -> bool {
        self.authors == other.authors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn author(email: &str, name: &str, commits: u64) -> Author {
        Author { email: email.into(), name: name.into(), commits, lines: Lines::default() }
    }

    #[test]
    fn the_first_name_stays_and_order_is_by_first_sight() {
        let mut totals = Totals::default();
        for more in
            [author("b", "", 0), author("a", "A", 1), author("b", "B", 2), author("a", "Z", 3)]
        {
            totals.add(more);
        }
        totals.add(author("c", "C", 0));
        let shown = totals.contributors(true).authors;
        let shown: Vec<_> = shown.iter().map(|a| (&*a.email, &*a.name, a.commits)).collect();
        assert_eq!(shown, [("b", "B", 2), ("a", "A", 4)]);
    }
}
