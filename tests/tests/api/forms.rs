//! Cases about the form of requests, which are the same on every store.

/// Makes one test of each case, `fn case(forge: &Forge)`, on the fake. For what is decided before a
/// store is asked; everything else belongs into `on_every_store!`.
macro_rules! on_the_fake {
    ($($case:ident),+ $(,)?) => {
        mod forms {
            $(
                #[test]
                fn $case() {
                    hexforge_tests::forge::run(hexforge_tests::Backend::Fake, super::$case);
                }
            )+
        }
    };
}

pub(super) use on_the_fake;
