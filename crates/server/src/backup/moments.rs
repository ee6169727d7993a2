//! The moments in a place that holds several.

use anyhow::{Result, bail};

use super::shelf::{Shelf, Target};

/// The names of all moments, the newest last.
pub fn moments(place: &str) -> Result<Vec<String>> {
    shelf(place)?.moments()
}

/// Removes all but the newest moments. Returns how many are removed.
pub fn keep_newest(place: &str, number: usize) -> Result<usize> {
    shelf(place)?.keep_newest(number)
}

fn shelf(place: &str) -> Result<Shelf> {
    match Target::parse(place)? {
        Target::Shelf(shelf) => Ok(shelf),
        Target::File(file) => {
            bail!("{} is one backup; a folder or an object store holds several", file.display())
        }
    }
}
