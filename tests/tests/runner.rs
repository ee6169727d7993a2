//! `hexforge runner` against `hexforge serve`: both are the real program.

mod runner {
    mod commands;
    mod executors;
    mod faults;
    mod jobs;
    mod logs;
    mod scene;
}
