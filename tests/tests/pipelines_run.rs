//! Pipelines from the push to the end, run by scripted runners that speak plain HTTP.

mod pipelines_run {
    mod killed;
    mod race;
    mod script;
}
