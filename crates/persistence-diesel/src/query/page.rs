//! Pagination and totals whose cost depends on the page, not on the length of the list.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::StoreError;

/// Totals up to this are counted at each request, and so are exact.
const EXACT: i64 = 10_000;
/// The same limit for lists that look up rows of other tables for each of their rows.
const EXACT_WITH_LOOKUPS: i64 = 1_000;
/// Totals up to this are not cached.
const MAX_UNCACHED: i64 = 10;
/// The maximum number of cached totals.
const REMEMBERED: usize = 4096;
/// The maximum number of lists whose ids are cached.
const MAX_CACHED_LISTS: usize = 1024;

/// Returns the `OFFSET` of a page.
pub(crate) fn offset(page: Page) -> i64 {
    i64::try_from(page.offset()).unwrap_or(i64::MAX)
}

/// Returns the `LIMIT` of a page.
pub(crate) fn limit(page: Page) -> i64 {
    page.limit().map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
}

/// Returns the total of a list if this page, with its number of rows, shows the end of the list.
pub(crate) fn length_at_end(page: Page, rows: usize) -> Option<u64> {
    let (offset, rows) = (page.offset(), rows as u64);
    let is_end = page.limit().is_none_or(|limit| rows < limit) && (rows > 0 || offset == 0);
    is_end.then(|| offset.saturating_add(rows))
}

/// The rows of a list to read, and the end to read them from. A page near the end of the list costs as little as
/// one near the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Read from the end, in reverse order.
    pub backward: bool,
    /// The number of rows to skip.
    pub offset: u64,
    /// The maximum number of rows to read.
    pub limit: u64,
}

impl Span {
    /// Reads the page from the beginning.
    pub fn forward(page: Page) -> Self {
        let limit = page.limit().unwrap_or(u64::MAX);
        Self { backward: false, offset: page.offset(), limit }
    }

    /// Reads the page from the end, if that is nearer. `total` must be exact.
    pub fn backward(page: Page, total: u64) -> Option<Self> {
        let Self { offset, limit, .. } = Self::forward(page);
        let rest = total.saturating_sub(offset);
        let limit = limit.min(rest);
        (offset > total / 2).then_some(Self { backward: true, offset: rest - limit, limit })
    }

    /// Returns the number of rows that the database reads.
    pub fn reach(self) -> u64 {
        self.offset.saturating_add(self.limit)
    }

    /// Restores the order of the list.
    pub fn restore<T>(self, rows: &mut [T]) {
        if self.backward {
            rows.reverse();
        }
    }
}

/// Sorts rows into the order of `ids`.
pub(crate) fn arrange<T>(rows: &mut [T], ids: &[i64], id: impl Fn(&T) -> i64) {
    let places: HashMap<i64, usize> =
        ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    rows.sort_by_key(|row| places.get(&id(row)).copied());
}

/// Cached totals of long lists. A short list is counted at each request. A long list is counted rarely, so that a
/// page does not cost a scan of the table. Losing the cache is harmless.
#[derive(Default)]
pub(crate) struct Totals(Mutex<HashMap<String, CachedTotal>>, Mutex<HashMap<String, CachedIds>>);

/// All ids of a list, with the change counter at the time of the query.
type CachedIds = (i64, Arc<[i64]>);

#[derive(Clone, Copy)]
struct CachedTotal {
    total: u64,
    /// The change counter at the time of counting, if known.
    changes: Option<i64>,
    /// The total is used until then, even if the list changes.
    until: Instant,
}

/// A query that [`Totals::tracked_total`] lets its caller run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountQuery {
    /// The number of rows of the list. Counting stops at the limit, if there is one.
    Rows(Option<i64>),
    /// The number of changes to all lists.
    Changes,
}

/// The cost of counting the rows of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountCost {
    /// The cost grows with the count.
    PerRow,
    /// The cost grows with the count, and each row needs several rows of other tables.
    PerRowWithLookups,
    /// The cost is high even if the count is small.
    High,
}

impl CountCost {
    /// Returns the highest count that is cheap enough for each request.
    fn exact(self) -> i64 {
        match self {
            Self::PerRow | Self::High => EXACT,
            Self::PerRowWithLookups => EXACT_WITH_LOOKUPS,
        }
    }
}

impl Totals {
    /// Returns the length of the list with this name. `count` counts its rows up to an optional limit.
    pub fn total(
        &self,
        name: &str,
        cost: CountCost,
        mut count: impl FnMut(Option<i64>) -> Result<i64, StoreError>,
    ) -> Result<u64, StoreError> {
        if let Some(total) = self.unexpired_total(name) {
            return Ok(total);
        }
        let bounded = count(Some(cost.exact() + 1))?;
        if bounded <= cost.exact() {
            return Ok(bounded.unsigned_abs());
        }
        let started = Instant::now();
        let total = count(None)?.unsigned_abs();
        let until = Instant::now() + cache_duration(started.elapsed());
        self.cache_total(name, CachedTotal { total, changes: None, until });
        Ok(total)
    }

    /// Returns the length of a list whose count reads more rows than the list has. The total is always counted
    /// without a limit and cached, however short the list is.
    pub fn expensive_total(
        &self,
        name: &str,
        count: impl FnOnce() -> Result<i64, StoreError>,
    ) -> Result<u64, StoreError> {
        if let Some(total) = self.unexpired_total(name) {
            return Ok(total);
        }
        let started = Instant::now();
        let total = count()?.unsigned_abs();
        let until = Instant::now() + cache_duration(started.elapsed());
        self.cache_total(name, CachedTotal { total, changes: None, until });
        Ok(total)
    }

    /// Returns the length of a list whose changes are counted. While the change counter stays the same, the cached
    /// total is exact and is not counted again, however short the list is.
    pub fn tracked_total(
        &self,
        name: &str,
        cost: CountCost,
        mut ask: impl FnMut(CountQuery) -> Result<i64, StoreError>,
    ) -> Result<u64, StoreError> {
        if let Some(cached) = self.cached_total(name)
            && (Instant::now() < cached.until || cached.changes == Some(ask(CountQuery::Changes)?))
        {
            return Ok(cached.total);
        }
        let exact = cost.exact();
        let bounded = ask(CountQuery::Rows(Some(exact + 1)))?;
        if bounded <= MAX_UNCACHED && cost != CountCost::High {
            return Ok(bounded.unsigned_abs());
        }
        let changes = Some(ask(CountQuery::Changes)?);
        let started = Instant::now();
        let (total, duration) = if bounded <= exact {
            (bounded, Duration::ZERO)
        } else {
            let total = ask(CountQuery::Rows(None))?;
            (total, cache_duration(started.elapsed()))
        };
        let total = total.unsigned_abs();
        self.cache_total(name, CachedTotal { total, changes, until: Instant::now() + duration });
        Ok(total)
    }

    /// Returns true if the cached total was counted at this value of the change counter, and so is exact.
    pub fn is_exact(&self, name: &str, changes: i64) -> bool {
        self.cached_total(name).is_some_and(|cached| cached.changes == Some(changes))
    }

    /// Returns true if the ids of a list are cached, even if they are outdated.
    pub fn has_cached_ids(&self, name: &str) -> bool {
        let remembered = self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        remembered.contains_key(name)
    }

    /// Returns the cached ids of a list, if they were read at this value of the change counter.
    pub fn cached_ids(&self, name: &str, changes: i64) -> Option<Arc<[i64]>> {
        let remembered = self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (since, ids) = remembered.get(name)?;
        (*since == changes).then(|| Arc::clone(ids))
    }

    /// Caches the ids of a list until the change counter changes.
    pub fn cache_ids(&self, name: String, changes: i64, ids: Arc<[i64]>) {
        let mut remembered = self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if remembered.len() >= MAX_CACHED_LISTS {
            remembered.retain(|_, (since, _)| *since == changes);
            if remembered.len() >= MAX_CACHED_LISTS {
                remembered.clear();
            }
        }
        remembered.insert(name, (changes, ids));
    }

    fn unexpired_total(&self, name: &str) -> Option<u64> {
        let cached = self.cached_total(name)?;
        (Instant::now() < cached.until).then_some(cached.total)
    }

    fn cached_total(&self, name: &str) -> Option<CachedTotal> {
        let remembered = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        remembered.get(name).copied()
    }

    fn cache_total(&self, name: &str, total: CachedTotal) {
        let mut remembered = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if remembered.len() >= REMEMBERED {
            let now = Instant::now();
            // Totals that are valid only by the change counter are evicted first: many of them are outdated.
            remembered.retain(|_, cached| now < cached.until);
            if remembered.len() >= REMEMBERED {
                remembered.clear();
            }
        }
        remembered.insert(name.to_owned(), total);
    }
}

/// Returns the time for which the total of a long list is cached. It is 200 times as long as counting took, so that
/// counting takes at most half a percent of the time.
fn cache_duration(counting_took: Duration) -> Duration {
    (counting_took * 200).clamp(Duration::from_secs(1), Duration::from_secs(60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lists_are_counted_each_time_and_long_ones_rarely() {
        for (cost, exact) in
            [(CountCost::PerRow, 10_000_u64), (CountCost::PerRowWithLookups, 1_000)]
        {
            let totals = Totals::default();
            let ask = |rows: u64| {
                let mut calls = Vec::new();
                let total = totals
                    .total("list", cost, |limit| {
                        calls.push(limit);
                        let rows = rows.cast_signed();
                        Ok(limit.map_or(rows, |limit| rows.min(limit)))
                    })
                    .expect("counting works");
                (total, calls)
            };
            let bound = Some(exact.cast_signed() + 1);
            assert_eq!(ask(exact), (exact, vec![bound]), "{cost:?}");
            assert_eq!(ask(exact + 5), (exact + 5, vec![bound, None]), "{cost:?}");
            assert_eq!(ask(exact + 6), (exact + 5, vec![]), "{cost:?}, remembered");
        }
    }

    #[test]
    fn the_total_of_an_expensive_list_is_cached_however_short_it_is() {
        let totals = Totals::default();
        let total = |name, counted| totals.expensive_total(name, || counted).ok();
        assert_eq!(total("list", Ok(3)), Some(3));
        assert_eq!(total("list", Ok(4)), Some(3), "remembered");
        assert_eq!(total("other", Err(StoreError::Busy)), None);
        assert_eq!(total("other", Ok(4)), Some(4), "an error is not");
    }

    #[test]
    fn a_total_is_cached_until_a_list_changes() {
        let totals = Totals::default();
        let ask = |name: &str, cost: CountCost, rows: i64, changes: i64| {
            let mut asked = Vec::new();
            let total = totals
                .tracked_total(name, cost, |question| {
                    asked.push(question);
                    Ok(match question {
                        CountQuery::Rows(limit) => limit.map_or(rows, |limit| rows.min(limit)),
                        CountQuery::Changes => changes,
                    })
                })
                .expect("counting works");
            (total, asked)
        };
        let counted = CountQuery::Rows(Some(10_001));
        assert_eq!(ask("short", CountCost::PerRow, 10, 7), (10, vec![counted]));
        assert_eq!(ask("short", CountCost::PerRow, 9, 7), (9, vec![counted]), "counted again");
        let both = vec![counted, CountQuery::Changes];
        assert_eq!(ask("dear", CountCost::High, 0, 7), (0, both.clone()));
        assert_eq!(ask("dear", CountCost::High, 1, 7), (0, vec![CountQuery::Changes]));
        assert_eq!(ask("long", CountCost::PerRow, 11, 7), (11, both));
        assert_eq!(ask("long", CountCost::PerRow, 12, 7), (11, vec![CountQuery::Changes]));
        let again = vec![CountQuery::Changes, counted, CountQuery::Changes];
        assert_eq!(ask("long", CountCost::PerRow, 12, 8), (12, again));
        let whole = vec![counted, CountQuery::Changes, CountQuery::Rows(None)];
        assert_eq!(ask("longer", CountCost::PerRow, 10_002, 8), (10_002, whole));
        assert!(totals.is_exact("longer", 8));
        assert_eq!(ask("longer", CountCost::PerRow, 10_003, 9), (10_002, vec![]), "may lag behind");
        assert!(!totals.is_exact("longer", 9));
        assert!(!totals.is_exact("unknown", 9));
    }

    #[test]
    fn the_end_of_a_list_tells_its_length() {
        let page = |number| Page::Numbered { number, size: 20 };
        for (page, rows, length) in [
            (page(1), 0, Some(0)),
            (page(1), 19, Some(19)),
            (page(1), 20, None),
            (page(3), 1, Some(41)),
            (page(3), 0, None),
            (Page::Whole, 0, Some(0)),
            (Page::Whole, 30, Some(30)),
        ] {
            assert_eq!(length_at_end(page, rows), length, "{page:?} {rows}");
        }
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
