//! Pauses of callers whose calls use more than their share of the processors.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hexforge_domain::limiter::{Holder, ProcessorTimeAccounts};
use hexforge_domain::ports::work::{Job, WorkThreads};
use hexforge_http_actix::Dialect;
use hexforge_tests::forge::{ROOT, Restrictions};
use hexforge_tests::{Backend, Forge, ForgeOptions};

/// Processors whose use the test controls.
#[derive(Debug, Default)]
struct SetProcessors {
    are_busy: AtomicBool,
    /// The milliseconds of processor time that all work seems to use.
    milliseconds: AtomicU64,
}

impl WorkThreads for SetProcessors {
    fn start(&self, _: Holder, job: Job) -> io::Result<()> {
        std::thread::Builder::new().spawn(job).map(drop)
    }

    fn are_processors_busy(&self) -> bool {
        self.are_busy.load(Ordering::Relaxed)
    }

    fn time_of_work(&self, _: Duration) -> Duration {
        Duration::from_millis(self.milliseconds.load(Ordering::Relaxed))
    }
}

/// The milliseconds of a call that exceeds any share.
const MUCH: u64 = 3_600_000;

#[test]
fn callers_who_use_more_than_their_share_pause_while_processors_are_busy() {
    let processors = Arc::<SetProcessors>::default();
    let restrictions =
        Restrictions { threads: Some(Arc::clone(&processors) as _), ..Restrictions::default() };
    let options = ForgeOptions { backend: Backend::Fake, dialect: Dialect::Specification };
    let forge = Forge::start_restricted(options, restrictions).expect("the fake is always there");
    let [(_, ada), (_, bob)] = ["ada", "bob"].map(|name| forge.user(name));
    let paused = |token: &str, milliseconds: u64| {
        processors.milliseconds.store(milliseconds, Ordering::Relaxed);
        let begin = Instant::now();
        forge.get("/user").token(token).send().expect(200);
        begin.elapsed() >= ProcessorTimeAccounts::LONGEST_PAUSE / 2
    };
    for caller in [&*ada, &*bob, ROOT] {
        assert!(!paused(caller, 1), "nobody has used anything");
    }
    assert!(!paused(ROOT, MUCH) && !paused(ROOT, MUCH), "processors are free");
    processors.are_busy.store(true, Ordering::Relaxed);
    assert!(!paused(&ada, 1), "she has used little");
    assert!(paused(ROOT, MUCH));
    assert!(!paused(&ada, MUCH), "she has still used little");
    assert!(!paused(&bob, 1) && paused(&ada, MUCH), "that call was counted");
    let begin = Instant::now();
    assert_eq!(forge.page("GET", "/-/liveness").send().status, 200);
    assert!(begin.elapsed() < ProcessorTimeAccounts::LONGEST_PAUSE);
}
