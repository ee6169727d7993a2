//! Pagination of lists.

/// The requested part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// One page of a fixed size.
    Numbered {
        /// 1 for the first page.
        number: u64,
        /// Rows in a full page, at least 1.
        size: u64,
    },
    /// The whole list. Only for short lists of one entity, such as the keys of a user.
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

    /// The number of rows before this page.
    pub fn offset(self) -> u64 {
        match self {
            Page::Numbered { number, size } => number.saturating_sub(1).saturating_mul(size),
            Page::Whole => 0,
        }
    }

    /// The maximum number of rows of the page; `None` for no limit.
    pub fn limit(self) -> Option<u64> {
        match self {
            Page::Numbered { size, .. } => Some(size),
            Page::Whole => None,
        }
    }

    /// Takes the page out of a list in memory.
    pub fn slice<T>(self, all: Vec<T>) -> Paged<T> {
        let total = all.len() as u64;
        let skip = usize::try_from(self.offset()).unwrap_or(usize::MAX);
        let take = self.limit().map_or(usize::MAX, |limit| limit as usize);
        Paged { items: all.into_iter().skip(skip).take(take).collect(), total }
    }
}

/// One page of a list, with the number of rows of the whole list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paged<T> {
    /// The rows of the page.
    pub items: Vec<T>,
    /// The number of rows in all pages. Of a long list it may be some seconds old.
    pub total: u64,
}

impl<T> Paged<T> {
    /// The same page by reference.
    pub fn as_ref(&self) -> Paged<&T> {
        Paged { items: self.items.iter().collect(), total: self.total }
    }

    /// Converts each row of the page.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Paged<U> {
        Paged { items: self.items.into_iter().map(convert).collect(), total: self.total }
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
        let cut = Page::Numbered { number: 9, size: 2 }.slice(vec!['a', 'b', 'c']);
        assert_eq!(cut, Paged { items: vec![], total: 3 });
    }
}
