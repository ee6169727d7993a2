//! Tests of the permit pool as a state machine: callers enter and leave, and a table says who holds a
//! permit.

use super::*;

const ADA: u8 = 1;
const BOB: u8 = 2;
const CID: u8 = 3;

/// A signed-in user; each user has its own address.
fn user(id: u8) -> Caller {
    let address = IpAddr::from([192, 0, 2, id]);
    Caller { user: Some(UserId(id.into())), network: Some(address) }
}

fn at(address: &str) -> Caller {
    Caller::anonymous(Some(address.parse().expect("an address")))
}

/// A request in a test, either waiting or with its permit.
struct Request(PermitFuture, Option<Permit>);

impl Request {
    fn new(pool: &PermitPool, caller: Caller) -> Self {
        let mut request = Self(pool.wait_for_permit(caller), None);
        request.has_permit();
        request
    }

    fn has_permit(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        if self.1.is_none()
            && let Poll::Ready(permit) = Pin::new(&mut self.0).poll(&mut context)
        {
            self.1 = permit.ok();
        }
        self.1.is_some()
    }
}

fn pool(total: usize, per_holder: usize, per_network: usize) -> PermitPool {
    PermitPool::new(PermitLimits { total, per_holder, per_network })
}

#[test]
fn permits_are_shared_by_user_and_by_address() {
    let [nat_one, nat_two, nat_three] = [1, 2, 3].map(|id| Caller {
        user: Some(UserId(id)),
        network: Some(IpAddr::from([198, 51, 100, 1])),
    });
    let (here, neighbour, elsewhere) =
        (at("2001:db8::1"), at("2001:db8::2"), at("2001:db8:0:1::1"));
    let both = [true, true];
    for (what, callers, granted) in [
        ("one user has a share", vec![user(ADA); 3], vec![true, true, false]),
        (
            "others have theirs",
            vec![user(ADA), user(ADA), user(ADA), user(BOB)],
            vec![true, true, false, true],
        ),
        ("an address has a share", vec![here, neighbour, here], vec![true, true, false]),
        ("another network has its own", vec![here, here, elsewhere], [&both[..], &[true]].concat()),
        (
            "users of one address share it",
            vec![nat_one, nat_one, nat_two, nat_two, nat_three],
            vec![true, true, true, false, false],
        ),
        (
            "all permits are taken",
            vec![user(ADA), user(ADA), user(BOB), user(BOB), user(CID)],
            vec![true, true, true, true, false],
        ),
    ] {
        let pool = pool(4, 2, 3);
        let mut requests: Vec<_> =
            callers.iter().map(|caller| Request::new(&pool, *caller)).collect();
        let seen: Vec<bool> = requests.iter_mut().map(Request::has_permit).collect();
        assert_eq!(seen, granted, "{what}");
        drop(requests);
        let state = pool.lock();
        let left =
            (state.taken, state.by_holder.len(), state.by_network.len(), state.tickets.len());
        assert_eq!(left, (0, 0, 0, 0), "{what}: who left is forgotten");
    }
}

#[test]
fn a_free_permit_goes_to_the_caller_who_holds_the_fewest() {
    let pool = pool(3, 2, 3);
    let mut held: Vec<_> =
        [user(ADA), user(ADA), user(BOB)].map(|caller| Request::new(&pool, caller)).into();
    // Many requests of one caller are queued first.
    let mut of_ada: Vec<_> = (0..50).map(|_| Request::new(&pool, user(ADA))).collect();
    let mut of_bob = Request::new(&pool, user(BOB));
    let mut of_cid = Request::new(&pool, user(CID));
    assert!(!of_bob.has_permit() && !of_cid.has_permit());
    held.remove(0);
    assert!(of_cid.has_permit() && !of_bob.has_permit() && !of_ada[0].has_permit());
    held.remove(0);
    assert!(of_ada[0].has_permit(), "now Ada holds the fewest");
    assert!(!of_bob.has_permit());
    drop(of_cid);
    assert!(!of_ada[1].has_permit() && of_bob.has_permit(), "equals take turns");
}

#[test]
fn callers_with_equal_loads_take_turns() {
    let pool = pool(1, 1, 1);
    let mut held = Some(Request::new(&pool, user(9)));
    let order = [ADA, ADA, ADA, BOB, CID, BOB];
    let mut waiting: Vec<_> =
        order.iter().map(|id| (*id, Request::new(&pool, user(*id)))).collect();
    let mut served = Vec::new();
    while !waiting.is_empty() {
        drop(held.take());
        let next = waiting.iter_mut().position(|(_, request)| request.has_permit());
        let (id, request) = waiting.remove(next.expect("a free permit is given to somebody"));
        served.push(id);
        held = Some(request);
    }
    assert_eq!(served, [ADA, BOB, CID, ADA, BOB, ADA]);
}

#[test]
fn a_request_that_is_given_up_leaves_its_place() {
    let pool = pool(1, 1, 1);
    let held = Request::new(&pool, user(ADA));
    let (first, mut second) = (Request::new(&pool, user(BOB)), Request::new(&pool, user(CID)));
    drop(first);
    drop(held);
    assert!(second.has_permit());
    let granted = Request::new(&pool, user(BOB));
    let mut last = Request::new(&pool, user(ADA));
    drop(second);
    // The permit was granted, and the request dropped before it polled again.
    drop(granted);
    assert!(last.has_permit());
    assert_eq!(pool.free(), 0);
    drop(last);
    assert_eq!(pool.free(), 1);
}

#[test]
fn the_queue_of_a_caller_is_bounded() {
    let pool = pool(1, 1, 1);
    let _held = Request::new(&pool, user(ADA));
    let mut context = Context::from_waker(Waker::noop());
    let mut waiting: Vec<_> = (0..LONGEST_QUEUE).map(|_| pool.wait_for_permit(user(ADA))).collect();
    for one in &mut waiting {
        assert!(Pin::new(one).poll(&mut context).is_pending());
    }
    let mut one_more = pool.wait_for_permit(user(ADA));
    let refused = Pin::new(&mut one_more).poll(&mut context);
    assert!(matches!(refused, Poll::Ready(Err(QueueFull))));
    let mut other = pool.wait_for_permit(user(BOB));
    assert!(Pin::new(&mut other).poll(&mut context).is_pending(), "others wait as before");
}

#[test]
fn several_callers_are_needed_to_take_all() {
    for all in [8, 16, 32, 64, 96] {
        let limits = PermitLimits::quarters(all);
        let pool = PermitPool::new(limits);
        let hostile: Vec<_> = [ADA, BOB, CID]
            .iter()
            .flat_map(|id| std::iter::repeat_n(user(*id), all))
            .map(|caller| Request::new(&pool, caller))
            .collect();
        assert!(Request::new(&pool, user(9)).has_permit(), "{all}");
        drop(hostile);
    }
}
