//! Whole pipelines from the push to the end, with scripted runners over HTTP.

mod pipelines_run {
    mod killed;
    mod race;
    mod script;
}
