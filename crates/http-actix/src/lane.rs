//! Places for long work, of which no caller takes all.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hexforge_domain::id::UserId;
use hexforge_domain::policy::Actor;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long whoever wants a place waits for one.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whose places are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    User(UserId),
    Address(Option<IpAddr>),
}

impl Who {
    pub(crate) fn of(actor: Actor, address: Option<IpAddr>) -> Self {
        actor.user().map_or(Who::Address(address.map(network)), Who::User)
    }
}

/// An address as far as it tells callers apart: whoever has one of IPv6 has all of its network.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6([a, b, c, d, 0, 0, 0, 0].into())
        }
    }
}

/// So many places for all, and so many for one.
pub(crate) struct Lane {
    all: Arc<Semaphore>,
    for_one: usize,
    taken: Arc<Mutex<HashMap<Who, Arc<Semaphore>>>>,
}

/// A place, until it is dropped.
pub(crate) struct Place {
    all: Option<OwnedSemaphorePermit>,
    one: Option<OwnedSemaphorePermit>,
    who: Who,
    for_one: usize,
    taken: Arc<Mutex<HashMap<Who, Arc<Semaphore>>>>,
}

impl Lane {
    pub(crate) fn new(all: usize, for_one: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), for_one, taken: Arc::default() }
    }

    /// The places for all, for who counts those of one by itself.
    pub(crate) fn all(&self) -> Arc<Semaphore> {
        Arc::clone(&self.all)
    }

    /// Waits for a place; `None` when there is none for too long.
    pub(crate) async fn enter(&self, who: Who) -> Option<Place> {
        let (for_one, taken) = (self.for_one, Arc::clone(&self.taken));
        // Here already, so that whoever goes away while it waits is forgotten.
        let mut place = Place { all: None, one: None, who, for_one, taken };
        let own = {
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Semaphore::new(for_one));
            Arc::clone(taken.entry(who).or_insert_with(new))
        };
        let both = async {
            // First among one's own: who waits there takes no place of others.
            let one = own.acquire_owned().await.ok()?;
            Some((one, Arc::clone(&self.all).acquire_owned().await.ok()?))
        };
        let (one, all) = timeout(PATIENCE, both).await.ok().flatten()?;
        (place.one, place.all) = (Some(one), Some(all));
        Some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop((self.one.take(), self.all.take()));
        forget(&self.taken, self.who, self.for_one);
    }
}

/// Whoever has no place and wants none is not remembered.
fn forget(taken: &Mutex<HashMap<Who, Arc<Semaphore>>>, who: Who, for_one: usize) {
    let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
    let is_idle =
        |own: &Arc<Semaphore>| own.available_permits() == for_one && Arc::strong_count(own) == 1;
    if taken.get(&who).is_some_and(is_idle) {
        taken.remove(&who);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_full(lane: &Lane, who: Who) -> bool {
        use futures_util::FutureExt;
        lane.enter(who).now_or_never().is_none()
    }

    #[actix_web::test]
    async fn one_caller_does_not_take_the_places_of_others() {
        let lane = Lane::new(3, 2);
        let [ada, bob, cid] = [1, 2, 3].map(|id| Who::User(UserId(id)));
        let first = lane.enter(ada).await.expect("there is room");
        let _second = lane.enter(ada).await.expect("there is room");
        assert!(is_full(&lane, ada), "enough for one");
        let _third = lane.enter(bob).await.expect("there is room for others");
        assert!(is_full(&lane, cid), "enough for all");
        drop(first);
        drop(lane.enter(cid).await.expect("there is room again"));
        assert_eq!(lane.taken.lock().expect("nobody panics").len(), 2, "who left is forgotten");
    }

    #[test]
    fn networks_of_ipv6_count_as_one_caller() {
        let of = |text: &str| Who::of(Actor::Anonymous, Some(text.parse().expect("an address")));
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:3::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
