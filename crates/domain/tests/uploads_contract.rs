//! The contract of the port to uploaded files, kept by the fake.

use hexforge_domain::testing::fakes::FakeUploads;
use hexforge_domain::testing::uploads_contract::CASES;

#[test]
fn the_fake_keeps_the_contract() {
    for case in CASES {
        case(&FakeUploads::default());
    }
}
