//! `hexforge runner` against `hexforge serve`: both are the real program.

mod runner {
    mod built_in;
    mod clocks;
    mod commands;
    mod containers;
    mod disks;
    mod documented;
    mod executors;
    mod faults;
    mod hostile;
    mod jobs;
    mod kills;
    mod logs;
    mod lost;
    mod memory;
    mod outages;
    mod scene;
}
