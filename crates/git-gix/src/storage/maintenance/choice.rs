//! Selects the packs to merge.

/// Each remaining pack is to be at least this many times as large as the next smaller one.
const FACTOR: u64 = 2;

/// Returns how many packs to merge, counted from the smallest. Each remaining pack is then at least twice as large as
/// all smaller ones together, so n pushes leave about log n packs, and each object is copied about log n times. `sizes`
/// must be sorted in ascending order.
pub(super) fn count_to_merge(sizes: &[u64]) -> usize {
    let grows = |at: &usize| sizes[*at] >= FACTOR * sizes[at - 1];
    let fits = (1..sizes.len()).rev().take_while(grows).count();
    let mut count = sizes.len() - fits;
    if count < 2 {
        return 0;
    }
    let mut together: u64 = sizes[..count].iter().sum();
    while count < sizes.len() && sizes[count] < FACTOR * together {
        together += sizes[count];
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use hexforge_domain::pack::MERGE_THRESHOLD;

    use super::*;

    #[test]
    fn small_packs_become_one_and_large_ones_stay() {
        for (sizes, count) in [
            (&[][..], 0),
            (&[3], 0),
            (&[3, 6, 12], 0),
            (&[3, 3], 2),
            (&[3, 3, 3, 1000], 3),
            (&[3, 3, 3, 17, 1000], 4),
            (&[3, 3, 3, 18, 1000], 3),
            (&[1, 2, 4, 8, 9], 5),
            (&[1, 2, 400, 401, 10_000], 4),
            (&[1, 100, 150, 200, 800], 5),
        ] {
            assert_eq!(count_to_merge(sizes), count, "{sizes:?}");
        }
    }

    #[test]
    fn many_pushes_leave_few_packs() {
        let mut sizes: Vec<u64> = vec![100_000];
        let mut copied = 0;
        for _ in 0..10_000 {
            sizes.push(3);
            sizes.sort_unstable();
            if sizes.len() >= MERGE_THRESHOLD {
                let small: u64 = sizes.drain(..count_to_merge(&sizes)).sum();
                copied += small;
                sizes.push(small);
                sizes.sort_unstable();
            }
            assert!(sizes.len() <= MERGE_THRESHOLD, "{sizes:?}");
        }
        assert!(copied < 30_000 * 20, "{copied}");
    }
}
