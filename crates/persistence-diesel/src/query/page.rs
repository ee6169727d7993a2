//! Pages and totals that cost what they show.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::StoreError;

/// Up to here a total is counted each time, and so exact.
const EXACT: i64 = 10_000;
/// Up to here it is not worth remembering.
const CHEAP: i64 = 10;
/// How many totals are remembered at most.
const REMEMBERED: usize = 4096;
/// Of how many lists all ids are.
const LISTS: usize = 1024;

/// `OFFSET` of a page, for the database.
pub(crate) fn offset(page: Page) -> i64 {
    i64::try_from(page.offset()).unwrap_or(i64::MAX)
}

/// `LIMIT` of a page, for the database.
pub(crate) fn limit(page: Page) -> i64 {
    page.limit().map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
}

/// Which rows of a list are read, and from which of its ends: a page near the end is as near as one near the
/// beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// From the end, in the opposite order.
    pub backward: bool,
    /// So many are passed over.
    pub offset: u64,
    /// So many are read at most.
    pub limit: u64,
}

impl Span {
    /// The page from the beginning.
    pub fn forward(page: Page) -> Self {
        let limit = page.limit().unwrap_or(u64::MAX);
        Self { backward: false, offset: page.offset(), limit }
    }

    /// The page from the end, if that is nearer. The list has to have exactly so many rows.
    pub fn backward(page: Page, total: u64) -> Option<Self> {
        let Self { offset, limit, .. } = Self::forward(page);
        let rest = total.saturating_sub(offset);
        let limit = limit.min(rest);
        (offset > total / 2).then_some(Self { backward: true, offset: rest - limit, limit })
    }

    /// How many rows are looked at.
    pub fn reach(self) -> u64 {
        self.offset.saturating_add(self.limit)
    }

    /// Puts what was read in the order of the list.
    pub fn restore<T>(self, rows: &mut [T]) {
        if self.backward {
            rows.reverse();
        }
    }
}

/// Puts rows in the order in which a page names them.
pub(crate) fn arrange<T>(rows: &mut [T], ids: &[i64], id: impl Fn(&T) -> i64) {
    let places: HashMap<i64, usize> =
        ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    rows.sort_by_key(|row| places.get(&id(row)).copied());
}

/// Totals of long lists, remembered for a while. A short list is counted whenever it is shown; a long
/// one is counted rarely, so that its pages do not cost the table. Losing all of this is harmless.
#[derive(Default)]
pub(crate) struct Totals(Mutex<HashMap<String, Remembered>>, Mutex<HashMap<String, Members>>);

/// All ids of a list, and how often lists had changed when they were found.
type Members = (i64, Arc<[i64]>);

#[derive(Clone, Copy)]
struct Remembered {
    total: u64,
    /// How often lists had changed when it was counted, where that is known.
    changes: Option<i64>,
    /// For how long it serves even if something changes.
    until: Instant,
}

/// What has to be known about a list to tell its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// How many rows it has; counting stops at the limit, if there is one.
    Rows(Option<i64>),
    /// How often any list has changed.
    Changes,
}

/// How much it costs to count the rows of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    /// What is counted.
    ByRow,
    /// Much, even if little is counted.
    Dear,
}

impl Totals {
    /// The length of the list called `name`. `count` counts its rows, stopping at a limit if given.
    pub fn of(
        &self,
        name: &str,
        mut count: impl FnMut(Option<i64>) -> Result<i64, StoreError>,
    ) -> Result<u64, StoreError> {
        if let Some(total) = self.recall(name) {
            return Ok(total);
        }
        let bounded = count(Some(EXACT + 1))?;
        if bounded <= EXACT {
            return Ok(bounded.unsigned_abs());
        }
        let started = Instant::now();
        let total = count(None)?.unsigned_abs();
        let until = Instant::now() + keep(started.elapsed());
        self.remember(name, Remembered { total, changes: None, until });
        Ok(total)
    }

    /// The length of a list for which more rows are looked at than are in it: counted whole and remembered, however
    /// short the list.
    pub fn of_dear(
        &self,
        name: &str,
        count: impl FnOnce() -> Result<i64, StoreError>,
    ) -> Result<u64, StoreError> {
        if let Some(total) = self.recall(name) {
            return Ok(total);
        }
        let started = Instant::now();
        let total = count()?.unsigned_abs();
        let until = Instant::now() + keep(started.elapsed());
        self.remember(name, Remembered { total, changes: None, until });
        Ok(total)
    }

    /// The same for a list whose changes are counted: while there are none, its total is right and is
    /// not counted again, however short the list.
    pub fn of_counted(
        &self,
        name: &str,
        counting: Counting,
        mut ask: impl FnMut(Question) -> Result<i64, StoreError>,
    ) -> Result<u64, StoreError> {
        if let Some(known) = self.known(name)
            && (Instant::now() < known.until || known.changes == Some(ask(Question::Changes)?))
        {
            return Ok(known.total);
        }
        let bounded = ask(Question::Rows(Some(EXACT + 1)))?;
        if bounded <= CHEAP && counting == Counting::ByRow {
            return Ok(bounded.unsigned_abs());
        }
        let changes = Some(ask(Question::Changes)?);
        let started = Instant::now();
        let (total, keep) = if bounded <= EXACT {
            (bounded, Duration::ZERO)
        } else {
            let total = ask(Question::Rows(None))?;
            (total, keep(started.elapsed()))
        };
        let total = total.unsigned_abs();
        self.remember(name, Remembered { total, changes, until: Instant::now() + keep });
        Ok(total)
    }

    /// Whether the total of that name was counted after so many changes, and so is right.
    pub fn is_right(&self, name: &str, changes: i64) -> bool {
        self.known(name).is_some_and(|known| known.changes == Some(changes))
    }

    /// Whether the ids of a list are kept, be it as they were before some changes.
    pub fn keeps_members(&self, name: &str) -> bool {
        let remembered = self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        remembered.contains_key(name)
    }

    /// All ids of a list that was found after so many changes, as they were kept.
    pub fn members(&self, name: &str, changes: i64) -> Option<Arc<[i64]>> {
        let remembered = self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (since, ids) = remembered.get(name)?;
        (*since == changes).then(|| Arc::clone(ids))
    }

    /// Remembers them until something changes.
    pub fn keep_members(&self, name: String, changes: i64, ids: Arc<[i64]>) {
        let mut remembered = self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if remembered.len() >= LISTS {
            remembered.retain(|_, (since, _)| *since == changes);
            if remembered.len() >= LISTS {
                remembered.clear();
            }
        }
        remembered.insert(name, (changes, ids));
    }

    fn recall(&self, name: &str) -> Option<u64> {
        let known = self.known(name)?;
        (Instant::now() < known.until).then_some(known.total)
    }

    fn known(&self, name: &str) -> Option<Remembered> {
        let remembered = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        remembered.get(name).copied()
    }

    fn remember(&self, name: &str, total: Remembered) {
        let mut remembered = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if remembered.len() >= REMEMBERED {
            let now = Instant::now();
            // Those that depend on changes go first: many of them have changed.
            remembered.retain(|_, known| now < known.until);
            if remembered.len() >= REMEMBERED {
                remembered.clear();
            }
        }
        remembered.insert(name.to_owned(), total);
    }
}

/// For how long the total of a long list is remembered: counting takes at most half a percent of the
/// time, however long the list.
fn keep(counting_took: Duration) -> Duration {
    (counting_took * 200).clamp(Duration::from_secs(1), Duration::from_secs(60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lists_are_counted_each_time_and_long_ones_rarely() {
        let totals = Totals::default();
        let mut rows = 10_000;
        let ask = |rows: i64| {
            let mut calls = Vec::new();
            let total = totals
                .of("list", |limit| {
                    calls.push(limit);
                    Ok(limit.map_or(rows, |limit| rows.min(limit)))
                })
                .expect("counting works");
            (total, calls)
        };
        assert_eq!(ask(rows), (10_000, vec![Some(10_001)]));
        rows += 5;
        assert_eq!(ask(rows), (10_005, vec![Some(10_001), None]));
        assert_eq!(ask(rows + 1), (10_005, vec![]), "remembered");
    }

    #[test]
    fn the_total_of_a_dear_list_is_remembered_however_short_it_is() {
        let totals = Totals::default();
        let total = |name, counted| totals.of_dear(name, || counted).ok();
        assert_eq!(total("list", Ok(3)), Some(3));
        assert_eq!(total("list", Ok(4)), Some(3), "remembered");
        assert_eq!(total("other", Err(StoreError::Busy)), None);
        assert_eq!(total("other", Ok(4)), Some(4), "an error is not");
    }

    #[test]
    fn a_total_is_remembered_until_a_list_changes() {
        let totals = Totals::default();
        let ask = |name: &str, counting: Counting, rows: i64, changes: i64| {
            let mut asked = Vec::new();
            let total = totals
                .of_counted(name, counting, |question| {
                    asked.push(question);
                    Ok(match question {
                        Question::Rows(limit) => limit.map_or(rows, |limit| rows.min(limit)),
                        Question::Changes => changes,
                    })
                })
                .expect("counting works");
            (total, asked)
        };
        let counted = Question::Rows(Some(10_001));
        assert_eq!(ask("short", Counting::ByRow, 10, 7), (10, vec![counted]));
        assert_eq!(ask("short", Counting::ByRow, 9, 7), (9, vec![counted]), "counted again");
        let both = vec![counted, Question::Changes];
        assert_eq!(ask("dear", Counting::Dear, 0, 7), (0, both.clone()));
        assert_eq!(ask("dear", Counting::Dear, 1, 7), (0, vec![Question::Changes]));
        assert_eq!(ask("long", Counting::ByRow, 11, 7), (11, both));
        assert_eq!(ask("long", Counting::ByRow, 12, 7), (11, vec![Question::Changes]));
        let again = vec![Question::Changes, counted, Question::Changes];
        assert_eq!(ask("long", Counting::ByRow, 12, 8), (12, again));
        let whole = vec![counted, Question::Changes, Question::Rows(None)];
        assert_eq!(ask("longer", Counting::ByRow, 10_002, 8), (10_002, whole));
        assert!(totals.is_right("longer", 8));
        assert_eq!(ask("longer", Counting::ByRow, 10_003, 9), (10_002, vec![]), "may lag behind");
        assert!(!totals.is_right("longer", 9));
        assert!(!totals.is_right("unknown", 9));
    }

    #[test]
    fn a_page_near_the_end_is_read_from_there() {
        let page = |number, size| Page::Numbered { number, size };
        let span = |offset, limit| Some(Span { backward: true, offset, limit });
        assert_eq!(Span::backward(page(1, 20), 1000), None);
        assert_eq!(Span::backward(page(26, 20), 1000), None, "as near from both ends");
        assert_eq!(Span::backward(page(27, 20), 1000), span(460, 20));
        assert_eq!(Span::backward(page(50, 20), 1000), span(0, 20));
        assert_eq!(Span::backward(page(51, 20), 1001), span(0, 1), "the last one alone");
        assert_eq!(Span::backward(page(51, 20), 1000), span(0, 0), "beyond the end is nothing");
        assert_eq!(Span::backward(page(u64::MAX, 100), 1000), span(0, 0));
        assert_eq!(Span::backward(Page::Whole, 1000), None);
        let mut rows = [3, 2, 1];
        Span::forward(page(1, 3)).restore(&mut rows);
        assert_eq!(rows, [3, 2, 1]);
        Span { backward: true, offset: 0, limit: 3 }.restore(&mut rows);
        assert_eq!(rows, [1, 2, 3]);
    }

    #[test]
    fn a_page_beyond_all_numbers_is_still_a_page() {
        assert_eq!(offset(Page::Numbered { number: u64::MAX, size: 100 }), i64::MAX);
        assert_eq!((offset(Page::Whole), limit(Page::Whole)), (0, i64::MAX));
    }
}
