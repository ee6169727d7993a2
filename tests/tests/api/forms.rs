//! Cases about the format of requests, which do not depend on the store.

/// Creates one test of each case, a function `fn case(forge: &Forge)`, on the fake. It is for checks that run before
/// the store is used; all other cases belong into `on_every_store!`.
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
