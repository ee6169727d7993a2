//! The contract of the port to uploaded files, kept by the fake.

use hexforge_domain_testing::fakes::FakeUploads;
use hexforge_domain_testing::uploads_contract::CASES;

#[test]
fn the_fake_keeps_the_contract() {
    for case in CASES {
        case(&FakeUploads::default());
    }
}
