//! Permits for long-running work: a total for all callers, and a share of it for each caller.
//!
//! A [`PermitPool`] gives out permits of one kind. It knows neither a clock nor a runtime: waiting is a future, and the
//! code that awaits it decides for how long.

mod processor_time;
mod queue;
mod rate;

pub use processor_time::{ProcessorTimeAccounts, RecentTime};
pub use queue::FairQueue;
pub use rate::{TransferLimits, TransferRate};

use std::collections::HashMap;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::id::UserId;
use crate::network::caller_network;
use crate::policy::Actor;

/// A client that asks for permits: a user, or the address of a client that is not signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    user: Option<UserId>,
    network: Option<IpAddr>,
}

impl Caller {
    /// The caller of background work, which no client waits for.
    pub const BACKGROUND: Caller = Caller { user: None, network: None };

    /// The caller behind a request.
    pub fn new(actor: Actor, address: Option<IpAddr>) -> Self {
        Self::of_user(actor.user(), address)
    }

    /// The user on whose behalf work is done, for example the user whose build a runner executes.
    pub fn of_user(user: Option<UserId>, address: Option<IpAddr>) -> Self {
        Self { user, network: address.map(caller_network) }
    }

    /// An anonymous caller, known only by its address.
    pub fn anonymous(address: Option<IpAddr>) -> Self {
        Self::new(Actor::Anonymous, address)
    }

    /// The holder to which the permits of this caller are counted. A signed-in user is one holder from
    /// whatever address.
    pub fn holder(self) -> Holder {
        self.user.map_or(Holder::Network(self.network), Holder::User)
    }
}

/// A user or network whose permits are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// A user.
    User(UserId),
    /// All callers of a network that are not signed in.
    Network(Option<IpAddr>),
}

/// The maximum numbers of permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermitLimits {
    /// For all callers together.
    pub total: usize,
    /// For one user, or for all anonymous callers of one address.
    pub per_holder: usize,
    /// For all callers of one address together, signed in or not. Many people may share an address.
    pub per_network: usize,
}

impl PermitLimits {
    /// A quarter of the permits for each caller, and three quarters for each address. So at least four
    /// callers are needed to use all permits.
    pub const fn quarters(total: usize) -> Self {
        Self { total, per_holder: total.div_ceil(4), per_network: total - total / 4 }
    }
}

/// The maximum number of waiting requests per caller. Further requests are rejected.
const LONGEST_QUEUE: usize = 1024;

/// Permits of one kind. A free permit goes to the waiting caller that holds the fewest permits. Callers that hold
/// equally many take turns.
#[derive(Clone, Debug)]
pub struct PermitPool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    limits: PermitLimits,
    state: Mutex<State>,
}

/// The permits that are taken, and the callers that wait. A caller waits only while no permit is free for it.
#[derive(Debug, Default)]
struct State {
    taken: usize,
    by_holder: HashMap<Holder, usize>,
    by_network: HashMap<IpAddr, usize>,
    waiting: FairQueue<Caller, u64>,
    tickets: HashMap<u64, Ticket>,
    next_ticket: u64,
}

#[derive(Debug)]
enum Ticket {
    Waiting(Waker),
    Granted,
}

/// Error: too many requests of the same caller already wait for a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests of this caller are waiting")]
pub struct QueueFull;

/// The right to do the work. Dropping the permit returns it.
#[derive(Debug)]
pub struct Permit {
    pool: PermitPool,
    caller: Caller,
}

/// A future that resolves to a permit. Dropping it gives up the place in the queue.
#[derive(Debug)]
pub struct PermitFuture {
    pool: PermitPool,
    caller: Caller,
    ticket: Option<u64>,
}

impl PermitPool {
    /// Creates a permit pool with these permits. Each number is raised to at least 1.
    pub fn new(limits: PermitLimits) -> Self {
        let PermitLimits { total, per_holder, per_network } = limits;
        let limits = PermitLimits {
            total: total.max(1),
            per_holder: per_holder.max(1),
            per_network: per_network.max(1),
        };
        Self(Arc::new(Shared { limits, state: Mutex::default() }))
    }

    /// Returns a future that waits for a permit.
    pub fn wait_for_permit(&self, caller: Caller) -> PermitFuture {
        PermitFuture { pool: self.clone(), caller, ticket: None }
    }

    /// Returns the number of free permits.
    pub fn free(&self) -> usize {
        self.0.limits.total - self.lock().taken
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock, so a poisoned lock still protects valid state.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn permit(&self, caller: Caller) -> Permit {
        Permit { pool: self.clone(), caller }
    }

    /// Takes a permit back and hands free permits to waiting callers.
    fn release(&self, caller: Caller) {
        let mut state = self.lock();
        state.give_back(caller);
        let wakers = state.grant(&self.0.limits);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl State {
    /// Returns the number of permits that a caller holds, or `None` if it may not get another one.
    fn load(&self, limits: &PermitLimits, caller: Caller) -> Option<usize> {
        let held = self.by_holder.get(&caller.holder()).copied().unwrap_or(0);
        let network = caller.network.and_then(|network| self.by_network.get(&network));
        let is_within = self.taken < limits.total
            && held < limits.per_holder
            && network.is_none_or(|taken| *taken < limits.per_network);
        is_within.then_some(held)
    }

    fn take(&mut self, caller: Caller) {
        self.taken += 1;
        *self.by_holder.entry(caller.holder()).or_default() += 1;
        if let Some(network) = caller.network {
            *self.by_network.entry(network).or_default() += 1;
        }
    }

    fn give_back(&mut self, caller: Caller) {
        self.taken = self.taken.saturating_sub(1);
        decrease(&mut self.by_holder, caller.holder());
        if let Some(network) = caller.network {
            decrease(&mut self.by_network, network);
        }
    }

    /// Hands free permits to waiting callers; returns the wakers of their tasks.
    fn grant(&mut self, limits: &PermitLimits) -> Vec<Waker> {
        let mut wakers = Vec::new();
        loop {
            let mut waiting = std::mem::take(&mut self.waiting);
            let next = waiting.pop_least(|caller| self.load(limits, *caller));
            self.waiting = waiting;
            let Some((caller, ticket)) = next else { return wakers };
            self.take(caller);
            if let Some(Ticket::Waiting(waker)) = self.tickets.insert(ticket, Ticket::Granted) {
                wakers.push(waker);
            }
        }
    }
}

/// Decrements a counter, and removes it when it reaches zero.
fn decrease<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: K) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

impl Future for PermitFuture {
    type Output = Result<Permit, QueueFull>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (pool, caller) = (self.pool.clone(), self.caller);
        let mut state = pool.lock();
        if let Some(ticket) = self.ticket {
            return match state.tickets.get_mut(&ticket) {
                Some(Ticket::Waiting(waker)) => {
                    waker.clone_from(context.waker());
                    Poll::Pending
                }
                Some(Ticket::Granted) | None => {
                    state.tickets.remove(&ticket);
                    self.ticket = None;
                    Poll::Ready(Ok(pool.permit(caller)))
                }
            };
        }
        if state.load(&pool.0.limits, caller).is_some() {
            state.take(caller);
            return Poll::Ready(Ok(pool.permit(caller)));
        }
        if state.waiting.len_of(caller) >= LONGEST_QUEUE {
            return Poll::Ready(Err(QueueFull));
        }
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.tickets.insert(ticket, Ticket::Waiting(context.waker().clone()));
        state.waiting.push(caller, ticket);
        self.ticket = Some(ticket);
        Poll::Pending
    }
}

impl Drop for PermitFuture {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket.take() else { return };
        let mut state = self.pool.lock();
        match state.tickets.remove(&ticket) {
            Some(Ticket::Waiting(_)) => {
                state.waiting.remove(self.caller, |other| *other == ticket);
            }
            // The permit was granted and never taken, so it is returned.
            Some(Ticket::Granted) => {
                drop(state);
                self.pool.release(self.caller);
            }
            None => (),
        }
    }
}

impl Permit {
    /// The caller who holds the permit.
    pub fn caller(&self) -> Caller {
        self.caller
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.pool.release(self.caller);
    }
}

#[cfg(test)]
mod tests;
