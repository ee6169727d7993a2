//! Costly pages: strangers share few permits, and the operator may close the pages to them.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use hexforge_domain::limiter::Caller;
use hexforge_http_actix::Dialect;
use hexforge_tests::forge::{Backend, ForgeOptions, Restrictions};
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project, user};

on_every_store!(strangers_wait_for_few_permits, links_and_robots_keep_crawlers_away);

const COSTLY: [&str; 8] = [
    "/root/ship/blame/master/README.md",
    "/root/ship/compare/master...master~0",
    "/root/ship/commits/master/README.md",
    "/root/ship/commits/master?search=x",
    "/root/ship/graphs/master",
    "/root/ship/network/master",
    "/search?search=x&scope=blobs&project_id=root/ship",
    "/search?search=x&scope=commits&project_id=root/ship",
];

fn strangers_wait_for_few_permits(forge: &Forge) {
    forge.pin_to_first_server();
    project(forge, "ship", "20");
    user(forge, "ada");
    let (stranger, ada) = (Browser::stranger(forge), Browser::signed_in(forge, "ada"));
    // Other strangers hold all permits.
    let pool = &forge.limiter().stranger_pages;
    let mut context = Context::from_waker(Waker::noop());
    let mut permits = Vec::new();
    for number in 0..4 {
        let caller = Caller::anonymous(Some([10, number, 0, 1].into()));
        let Poll::Ready(permit) = pin!(pool.wait_for_permit(caller)).as_mut().poll(&mut context)
        else {
            panic!("permit {number} is free")
        };
        permits.push(permit.expect("the queue is empty"));
    }
    assert_eq!(pool.free(), 0);
    let busy = stranger.get(COSTLY[0]);
    let page = busy.page(503);
    assert_eq!(busy.0.header("Retry-After"), Some("10"));
    assert!(page.1.contains("sign in to go on"), "{}", page.1);
    assert!(page.attributes("main a", "href")[0].starts_with("/users/sign_in?return_to=%2Froot"));
    assert_eq!(ada.get(COSTLY[0]).0.status, 200, "others are not affected");
    assert_eq!(stranger.get("/root/ship").0.status, 200);
    drop(permits);
    for address in COSTLY {
        assert_eq!(stranger.get(address).0.status, 200, "{address}");
    }
}

#[test]
fn costly_pages_can_be_closed_to_strangers() {
    let restrictions = Restrictions { are_costly_pages_closed: true, ..Restrictions::default() };
    let options = ForgeOptions { backend: Backend::Fake, dialect: Dialect::Specification };
    let forge = Forge::start_restricted(options, restrictions).expect("the fake always runs");
    project(&forge, "ship", "20");
    project(&forge, "secret", "0");
    user(&forge, "ada");
    let (stranger, ada) = (Browser::stranger(&forge), Browser::signed_in(&forge, "ada"));
    for address in COSTLY {
        let closed = stranger.get(address).0;
        assert_eq!(closed.status, 302, "{address}");
        let target = closed.header("Location").unwrap_or_default();
        assert!(target.starts_with("/users/sign_in?return_to="), "{target}");
        assert_eq!(ada.get(address).0.status, 200, "{address}");
        let hidden = address.replace("ship", "secret");
        assert_eq!(stranger.get(&hidden).0.status, 404, "{hidden}");
    }
    for open in ["/root/ship", "/root/ship/blob/master/README.md", "/root/ship/commits/master"] {
        assert_eq!(stranger.get(open).0.status, 200, "{open}");
    }
}

fn links_and_robots_keep_crawlers_away(forge: &Forge) {
    project(forge, "ship", "20");
    let browser = Browser::stranger(forge);
    let robots = browser.get("/robots.txt").0;
    for page in
        ["blame/", "compare", "commits/", "graphs/", "network/", "find_file/", "repository/"]
    {
        assert!(robots.text().contains(&format!("Disallow: /*/*/{page}")), "{page}");
    }
    for address in ["/root/ship", "/root/ship/blob/master/README.md", "/root/ship/branches"] {
        let page = browser.get(address).page(200);
        for word in ["blame", "compare", "graphs", "network", "repository/archive"] {
            let link = format!("main a[href*='/{word}']");
            let followed = page.attributes(&link, "href").len();
            assert_eq!(page.attributes(&link, "rel").len(), followed, "{address} {word}");
        }
    }
}
