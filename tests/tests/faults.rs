//! Faults around the program: kills, a full disk, an unavailable database, many writers, several processes, and invalid
//! bytes. docs/reliability.md describes runs at full size.

mod faults {
    mod bytes;
    mod ci;
    mod database;
    mod disk;
    mod git;
    mod kills;
    mod merges;
    mod people;
    mod processes;
    mod removals;
    mod tracker;
    mod uploads;
    mod worker;
}
