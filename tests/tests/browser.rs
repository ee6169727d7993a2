//! The pages in a real Chromium, with scripts and without. Each step finds things by the names that people see.
//!
//! The tests need `chromium` and `chromedriver`. Without them they are passed over, unless
//! `HEXFORGE_REQUIRE_CHROMIUM` is set.

#[path = "browser/accessibility.rs"]
mod accessibility;
#[path = "browser/chromium.rs"]
mod chromium;
#[path = "browser/journeys.rs"]
mod journeys;
#[path = "browser/keyboard.rs"]
mod keyboard;
#[path = "browser/site.rs"]
mod site;
