//! Pages and totals that cost what they show.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::StoreError;

/// Up to here a total is counted each time, and so exact.
const EXACT: i64 = 10_000;
/// How many totals are remembered at most.
const REMEMBERED: usize = 1024;

/// `OFFSET` of a page, for the database.
pub(crate) fn offset(page: Page) -> i64 {
    i64::try_from(page.offset()).unwrap_or(i64::MAX)
}

/// `LIMIT` of a page, for the database.
pub(crate) fn limit(page: Page) -> i64 {
    page.limit().map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
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
pub(crate) struct Totals(Mutex<HashMap<String, Remembered>>);

struct Remembered {
    total: u64,
    until: Instant,
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
        // Counting takes at most half a percent of the time, however long the list.
        let keep = (started.elapsed() * 200).clamp(Duration::from_secs(1), Duration::from_secs(60));
        self.remember(name, Remembered { total, until: Instant::now() + keep });
        Ok(total)
    }

    fn recall(&self, name: &str) -> Option<u64> {
        let remembered = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let known = remembered.get(name)?;
        (Instant::now() < known.until).then_some(known.total)
    }

    fn remember(&self, name: &str, total: Remembered) {
        let mut remembered = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if remembered.len() >= REMEMBERED {
            let now = Instant::now();
            remembered.retain(|_, known| now < known.until);
            if remembered.len() >= REMEMBERED {
                remembered.clear();
            }
        }
        remembered.insert(name.to_owned(), total);
    }
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
    fn a_page_beyond_all_numbers_is_still_a_page() {
        assert_eq!(offset(Page::Numbered { number: u64::MAX, size: 100 }), i64::MAX);
        assert_eq!((offset(Page::Whole), limit(Page::Whole)), (0, i64::MAX));
    }
}
