//! A queue in which callers take turns, however many items each of them has queued.

use std::collections::VecDeque;

/// The items of several callers. Items of one caller are first in, first out; callers take turns.
#[derive(Clone, Debug)]
pub struct FairQueue<K, T> {
    /// The caller whose turn is next is at the front. No caller has an empty queue.
    callers: VecDeque<(K, VecDeque<T>)>,
}

impl<K, T> Default for FairQueue<K, T> {
    fn default() -> Self {
        Self { callers: VecDeque::new() }
    }
}

impl<K: PartialEq + Copy, T> FairQueue<K, T> {
    /// Adds an item behind those of the same caller.
    pub fn push(&mut self, caller: K, item: T) {
        match self.callers.iter_mut().find(|(other, _)| *other == caller) {
            Some((_, items)) => items.push_back(item),
            None => self.callers.push_back((caller, VecDeque::from([item]))),
        }
    }

    /// Removes and returns the oldest item of the caller whose turn it is.
    pub fn pop(&mut self) -> Option<(K, T)> {
        self.pop_least(|_| Some(0))
    }

    /// Removes and returns the oldest item of the caller with the smallest load. Among equal loads,
    /// the caller whose turn it is wins. Callers for which `load` returns `None` are skipped.
    pub fn pop_least(&mut self, load: impl Fn(&K) -> Option<usize>) -> Option<(K, T)> {
        let loads = self.callers.iter().enumerate();
        let loads = loads.filter_map(|(at, (caller, _))| Some((load(caller)?, at)));
        let (_, at) = loads.min()?;
        let (caller, mut items) = self.callers.remove(at)?;
        let item = items.pop_front()?;
        if !items.is_empty() {
            self.callers.push_back((caller, items));
        }
        Some((caller, item))
    }

    /// Removes the items of a caller that match a predicate.
    pub fn remove(&mut self, caller: K, matches: impl Fn(&T) -> bool) {
        let Some(at) = self.callers.iter().position(|(other, _)| *other == caller) else { return };
        let (_, items) = &mut self.callers[at];
        items.retain(|item| !matches(item));
        if items.is_empty() {
            self.callers.remove(at);
        }
    }

    /// Returns the number of queued items of a caller.
    pub fn len_of(&self, caller: K) -> usize {
        let own = self.callers.iter().find(|(other, _)| *other == caller);
        own.map_or(0, |(_, items)| items.len())
    }

    /// Returns the number of queued items.
    pub fn len(&self) -> usize {
        self.callers.iter().map(|(_, items)| items.len()).sum()
    }

    /// Returns whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.callers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(items: &[(char, u32)]) -> FairQueue<char, u32> {
        let mut queue = FairQueue::default();
        items.iter().for_each(|(caller, item)| queue.push(*caller, *item));
        queue
    }

    #[test]
    fn callers_take_turns() {
        let mut queue = filled(&[('a', 1), ('a', 2), ('a', 3), ('b', 4), ('c', 5), ('b', 6)]);
        assert_eq!((queue.len(), queue.len_of('a'), queue.len_of('x')), (6, 3, 0));
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|(_, item)| item).collect();
        assert_eq!(order, [1, 4, 5, 2, 6, 3]);
        assert!(queue.is_empty());
    }

    #[test]
    fn the_caller_with_the_smallest_load_is_first() {
        let mut queue = filled(&[('a', 1), ('b', 2), ('c', 3), ('d', 4)]);
        let load = |caller: &char| match caller {
            'a' => None,
            'b' => Some(2),
            _ => Some(1),
        };
        let order: Vec<_> = std::iter::from_fn(|| queue.pop_least(load)).collect();
        assert_eq!(order, [('c', 3), ('d', 4), ('b', 2)]);
        assert_eq!(queue.len(), 1, "`a` is passed over");
    }

    #[test]
    fn removed_items_leave_nothing() {
        let mut queue = filled(&[('a', 1), ('a', 2)]);
        queue.remove('a', |item| *item == 1);
        queue.remove('b', |_| true);
        assert_eq!(queue.len_of('a'), 1);
        queue.remove('a', |item| *item == 2);
        assert!(queue.is_empty());
    }
}
