//! Tests of the lane as a state machine: callers enter and leave, and a table says who holds a
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
    Caller::unknown(Some(address.parse().expect("an address")))
}

/// A request in a test, either waiting or with its permit.
struct Request(Waiting, Option<Permit>);

impl Request {
    fn new(lane: &Lane, caller: Caller) -> Self {
        let mut request = Self(lane.enter(caller), None);
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

fn lane(all: usize, one: usize, network: usize) -> Lane {
    Lane::new(Shares { all, one, network })
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
        let lane = lane(4, 2, 3);
        let mut requests: Vec<_> =
            callers.iter().map(|caller| Request::new(&lane, *caller)).collect();
        let seen: Vec<bool> = requests.iter_mut().map(Request::has_permit).collect();
        assert_eq!(seen, granted, "{what}");
        drop(requests);
        let state = lane.lock();
        let left =
            (state.taken, state.by_holder.len(), state.by_network.len(), state.tickets.len());
        assert_eq!(left, (0, 0, 0, 0), "{what}: who left is forgotten");
    }
}

#[test]
fn a_free_permit_goes_to_the_caller_who_holds_the_fewest() {
    let lane = lane(3, 2, 3);
    let mut held: Vec<_> =
        [user(ADA), user(ADA), user(BOB)].map(|caller| Request::new(&lane, caller)).into();
    // Many requests of one caller are queued first.
    let mut of_ada: Vec<_> = (0..50).map(|_| Request::new(&lane, user(ADA))).collect();
    let mut of_bob = Request::new(&lane, user(BOB));
    let mut of_cid = Request::new(&lane, user(CID));
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
    let lane = lane(1, 1, 1);
    let mut held = Some(Request::new(&lane, user(9)));
    let order = [ADA, ADA, ADA, BOB, CID, BOB];
    let mut waiting: Vec<_> =
        order.iter().map(|id| (*id, Request::new(&lane, user(*id)))).collect();
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
    let lane = lane(1, 1, 1);
    let held = Request::new(&lane, user(ADA));
    let (first, mut second) = (Request::new(&lane, user(BOB)), Request::new(&lane, user(CID)));
    drop(first);
    drop(held);
    assert!(second.has_permit());
    let granted = Request::new(&lane, user(BOB));
    let mut last = Request::new(&lane, user(ADA));
    drop(second);
    // The permit was granted, and the request dropped before it polled again.
    drop(granted);
    assert!(last.has_permit());
    assert_eq!(lane.free(), 0);
    drop(last);
    assert_eq!(lane.free(), 1);
}

#[test]
fn the_queue_of_a_caller_is_bounded() {
    let lane = lane(1, 1, 1);
    let _held = Request::new(&lane, user(ADA));
    let mut context = Context::from_waker(Waker::noop());
    let mut waiting: Vec<_> = (0..LONGEST_QUEUE).map(|_| lane.enter(user(ADA))).collect();
    for one in &mut waiting {
        assert!(Pin::new(one).poll(&mut context).is_pending());
    }
    let mut one_more = lane.enter(user(ADA));
    let refused = Pin::new(&mut one_more).poll(&mut context);
    assert!(matches!(refused, Poll::Ready(Err(QueueFull))));
    let mut other = lane.enter(user(BOB));
    assert!(Pin::new(&mut other).poll(&mut context).is_pending(), "others wait as before");
}

#[test]
fn several_callers_are_needed_to_take_all() {
    for all in [8, 16, 32, 64, 96] {
        let shares = Shares::quarters(all);
        let lane = Lane::new(shares);
        let hostile: Vec<_> = [ADA, BOB, CID]
            .iter()
            .flat_map(|id| std::iter::repeat_n(user(*id), all))
            .map(|caller| Request::new(&lane, caller))
            .collect();
        assert!(Request::new(&lane, user(9)).has_permit(), "{all}");
        drop(hostile);
    }
}
