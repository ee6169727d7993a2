//! Measures the processor time of requests, and charges it to their callers.

use std::cell::Cell;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use hexforge_application::limiter::Limiter;
use hexforge_domain::limiter::{Caller, Holder};

tokio::task_local!(static CURRENT: Meter);

/// The meter of a connection. It charges the caller of the current request.
#[derive(Clone)]
pub struct Meter(Rc<State>);

struct State {
    limiter: Arc<Limiter>,
    holder: Cell<Holder>,
    /// The time that is not charged yet.
    used: Cell<Duration>,
}

impl Meter {
    /// Shorter times are added up before they are charged.
    const ENOUGH: Duration = Duration::from_millis(1);

    /// Creates the meter of a connection. It charges the address until a request identifies the caller.
    pub fn new(limiter: &Arc<Limiter>, peer: Option<SocketAddr>) -> Self {
        let holder = Caller::anonymous(peer.map(|peer| peer.ip())).holder();
        let (holder, used) = (Cell::new(holder), Cell::default());
        Self(Rc::new(State { limiter: Arc::clone(limiter), holder, used }))
    }

    /// The meter of the connection whose request is served on this thread.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Self::clone).ok()
    }

    /// The limiter and the caller that is charged.
    pub fn account(&self) -> (Arc<Limiter>, Holder) {
        (Arc::clone(&self.0.limiter), self.0.holder.get())
    }

    /// Sets the caller that is charged from now on.
    pub fn set_holder(&self, holder: Holder) {
        if self.0.holder.get() != holder {
            self.charge();
            self.0.holder.set(holder);
        }
    }

    /// Runs a future of the connection, and charges the processor time that it uses on this thread.
    pub async fn measure<F: Future>(&self, work: F) -> F::Output {
        let mut work = pin!(work);
        let measured = poll_fn(|cx| {
            let (polled, used) = self.0.limiter.measure(|| work.as_mut().poll(cx));
            self.add(used);
            polled
        });
        let outcome = CURRENT.scope(self.clone(), measured).await;
        self.charge();
        outcome
    }

    fn add(&self, used: Duration) {
        self.0.used.set(self.0.used.get() + used);
        if self.0.used.get() >= Self::ENOUGH {
            self.charge();
        }
    }

    fn charge(&self) {
        self.0.limiter.charge(self.0.holder.get(), self.0.used.take());
    }
}
