//! What goes wrong around the program: its sudden end, a full disk, a database that is away, many writers, several
//! processes at once, and bytes that nobody should send. docs/reliability.md says how the full sizes are run.

mod faults {
    mod bytes;
    mod ci;
    mod database;
    mod disk;
    mod git;
    mod kills;
    mod lane;
    mod people;
    mod processes;
    mod removals;
    mod tracker;
    mod uploads;
}
