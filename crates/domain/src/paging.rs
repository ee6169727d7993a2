//! Pages of lists.

/// Which part of a list is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// The page of this number, counted from 1, where each has this many rows.
    Numbered {
        /// 1 for the first page.
        number: u64,
        /// Rows in a full page, at least 1.
        size: u64,
    },
    /// Everything: only for lists that hang on one entity and stay short, such as a user's keys.
    Whole,
}

impl Page {
    /// The first page of the same size.
    pub fn first(self) -> Page {
        match self {
            Page::Numbered { size, .. } => Page::Numbered { number: 1, size },
            Page::Whole => Page::Whole,
        }
    }

    /// How many rows come before this page.
    pub fn offset(self) -> u64 {
        match self {
            Page::Numbered { number, size } => number.saturating_sub(1).saturating_mul(size),
            Page::Whole => 0,
        }
    }

    /// How many rows the page holds at most, `None` for no bound.
    pub fn limit(self) -> Option<u64> {
        match self {
            Page::Numbered { size, .. } => Some(size),
            Page::Whole => None,
        }
    }

    /// Cuts the page out of a list that is already in memory.
    pub fn cut<T>(self, all: Vec<T>) -> Paged<T> {
        let total = all.len() as u64;
        let skip = usize::try_from(self.offset()).unwrap_or(usize::MAX);
        let take = self.limit().map_or(usize::MAX, |limit| limit as usize);
        Paged { items: all.into_iter().skip(skip).take(take).collect(), total }
    }
}

/// One page of a list, with the length of the whole list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paged<T> {
    /// The rows of the page.
    pub items: Vec<T>,
    /// Rows in all pages. Exact below 10,000; above, it may lag behind by seconds.
    pub total: u64,
}

impl<T> Paged<T> {
    /// The same page by reference.
    pub fn as_ref(&self) -> Paged<&T> {
        Paged { items: self.items.iter().collect(), total: self.total }
    }

    /// The same page with each row turned into something else.
    pub fn map<U>(self, turn: impl FnMut(T) -> U) -> Paged<U> {
        Paged { items: self.items.into_iter().map(turn).collect(), total: self.total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_an_offset_and_a_limit() {
        for (page, offset, limit) in [
            (Page::Numbered { number: 1, size: 20 }, 0, Some(20)),
            (Page::Numbered { number: 3, size: 7 }, 14, Some(7)),
            (Page::Numbered { number: u64::MAX, size: 100 }, u64::MAX, Some(100)),
            (Page::Whole, 0, None),
        ] {
            assert_eq!((page.offset(), page.limit()), (offset, limit), "{page:?}");
        }
    }

    #[test]
    fn a_page_past_the_end_is_empty_and_still_knows_the_total() {
        let cut = Page::Numbered { number: 9, size: 2 }.cut(vec!['a', 'b', 'c']);
        assert_eq!(cut, Paged { items: vec![], total: 3 });
    }
}
