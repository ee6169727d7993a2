//! The contract of the store: what every implementation, the fake included, has to do.
//!
//! A case is a function that gets an empty store of its own. [`store_contract!`](crate::store_contract)
//! makes one test of each, for one way of opening a store:
//!
//! ```
//! use hexforge_domain::testing::OpenStore;
//! use hexforge_domain::testing::fakes::FakeStore;
//!
//! fn open() -> OpenStore {
//!     OpenStore::new(FakeStore::default())
//! }
//!
//! mod fake {
//!     hexforge_domain::store_contract!(super::open);
//! }
//! ```
//!
//! The cases rely neither on the values of ids nor on their being consecutive. A store needs at
//! least two connections, because some cases read while they write.

mod check;

pub mod concurrency;
pub mod emails;
pub mod events;
pub mod identities;
pub mod keys;
pub mod logins;
pub mod namespaces;
pub mod outbox;
pub mod sign_in_failures;
pub mod tokens;
pub mod transactions;
pub mod user_deletion;
pub mod user_lists;
pub mod user_search;
pub mod users;
pub mod values;

/// Makes one `#[test]` of each case of the [contract](crate::testing::contract). The argument is the
/// path of a function without arguments that opens an empty store as an
/// [`OpenStore`](crate::testing::OpenStore), or as an `Option` of one where the store may be missing on
/// the machine: a case without a store is passed over, which that function has to say. Every case opens its own; they run at the same time.
#[macro_export]
macro_rules! store_contract {
    ($open:path) => {
        $crate::store_contract! {
            @tests $open;
            transactions::an_open_store_is_ready,
            transactions::the_work_of_a_transaction_is_called_once,
            transactions::a_committed_write_is_seen_by_the_next_read,
            transactions::a_write_is_seen_by_its_own_transaction,
            transactions::rolling_back_keeps_nothing,
            transactions::an_error_of_the_work_keeps_nothing,
            transactions::committing_after_an_error_of_a_port_aborts,
            transactions::every_duplicate_aborts,
            transactions::a_store_works_on_after_an_aborted_transaction,
            transactions::a_reading_transaction_changes_nothing,
            concurrency::no_update_under_a_lock_is_lost,
            concurrency::a_locked_user_is_not_changed_by_others,
            concurrency::a_reader_does_not_wait_for_a_writer,
            concurrency::a_reader_sees_one_consistent_state,
            concurrency::a_username_claimed_at_once_goes_to_one,
            concurrency::an_address_claimed_at_once_goes_to_one,
            concurrency::a_path_claimed_at_once_goes_to_one,
            concurrency::no_failed_sign_in_is_lost,
            users::a_new_account_is_active_and_has_every_field,
            users::a_new_account_may_leave_much_unsaid,
            users::unknown_ids_and_names_find_nobody,
            users::locking_answers_with_the_user,
            users::usernames_are_found_in_exactly_their_case,
            users::exactly_the_same_username_is_taken_once,
            users::a_new_account_needs_an_address_that_nobody_has,
            users::ids_of_deleted_users_are_not_used_again,
            users::updating_stores_every_field_but_the_address,
            users::renaming_to_the_name_of_another_user_is_refused,
            users::another_password_takes_the_place_of_the_first,
            logins::a_login_finds_the_user_with_the_password,
            logins::a_username_signs_in_in_any_case,
            logins::a_primary_address_signs_in_in_any_case,
            logins::a_secondary_address_does_not_sign_in,
            logins::a_login_follows_a_renaming,
            logins::strange_texts_find_nobody,
            user_lists::users_are_listed_highest_id_first,
            user_lists::an_empty_store_lists_no_users,
            user_lists::filters_of_users_hold_together,
            user_lists::pages_are_cut_after_filtering,
            user_search::a_search_finds_parts_of_name_address_and_username,
            user_search::a_search_ignores_the_case_of_every_letter,
            user_search::a_search_takes_every_character_literally,
            user_search::a_search_works_with_one_or_two_characters,
            user_search::a_search_for_nothing_finds_everybody,
            user_search::a_search_for_what_nobody_can_have_finds_nobody,
            user_search::a_search_does_not_look_at_secondary_addresses,
            user_search::a_search_does_not_run_from_one_field_into_the_next,
            user_search::a_search_follows_every_change,
            user_deletion::deleting_a_user_takes_everything_along_and_nothing_of_others,
            user_deletion::what_a_deleted_user_had_is_free_again,
            user_deletion::deleting_a_user_leaves_the_outbox_alone,
            user_deletion::nothing_can_be_hung_on_a_user_who_is_gone,
            identities::identities_come_by_user_and_then_in_their_order,
            identities::identities_of_nobody_are_none,
            identities::an_identity_takes_the_place_of_the_one_at_its_provider,
            identities::an_identity_belongs_to_one_user_of_its_provider,
            identities::several_users_may_be_unnamed_at_a_provider,
            identities::an_identity_leads_to_its_user,
            keys::a_key_is_registered_with_every_field,
            keys::keys_of_a_user_are_listed_newest_first,
            keys::a_key_of_another_user_is_not_found,
            keys::a_key_is_found_by_its_fingerprint_whoever_has_it,
            keys::a_key_is_registered_once_in_all,
            keys::a_deleted_key_is_gone_and_may_be_registered_again,
            emails::a_secondary_address_is_added_with_every_field,
            emails::secondary_addresses_are_listed_newest_first,
            emails::an_address_of_another_user_is_not_found,
            emails::an_address_leads_to_its_holder_and_its_role,
            emails::an_address_that_anyone_has_cannot_be_added,
            emails::a_deleted_address_is_gone_and_may_be_claimed_again,
            emails::a_secondary_address_changes_places_with_the_primary,
            emails::a_new_primary_address_gives_up_the_old_one,
            emails::the_primary_address_may_be_made_primary,
            emails::an_address_of_somebody_else_cannot_become_primary,
            tokens::a_token_is_stored_with_every_field,
            tokens::a_token_leads_to_all_that_a_sign_in_needs,
            tokens::an_unknown_token_leads_to_nobody,
            tokens::tokens_of_a_user_are_listed_newest_first,
            tokens::a_token_is_revoked_once,
            tokens::there_is_nothing_to_revoke_under_an_unknown_id,
            namespaces::a_namespace_is_found_by_its_path_in_any_case,
            namespaces::a_path_is_taken_once_in_any_case,
            namespaces::a_renamed_namespace_stays_the_same_one,
            namespaces::a_namespace_may_change_the_case_of_its_path,
            namespaces::a_namespace_cannot_take_the_path_of_another,
            events::an_event_keeps_its_target_and_its_data,
            events::an_event_keeps_its_action,
            events::events_of_an_author_are_listed_newest_first,
            outbox::every_system_event_waits_as_it_was_recorded,
            outbox::the_oldest_entries_come_first_and_no_more_than_asked_for,
            outbox::entries_wait_until_they_are_sent,
            sign_in_failures::failures_are_found_by_their_subject,
            sign_in_failures::failures_take_the_place_of_what_was_known,
            sign_in_failures::a_cleared_subject_is_forgotten_alone,
            sign_in_failures::counts_that_began_before_a_moment_are_forgotten,
            values::moments_are_kept_to_the_microsecond,
            values::texts_are_kept_to_the_letter,
        }
    };
    (@tests $open:path; $($module:ident::$case:ident,)+) => {$(
        #[test]
        fn $case() {
            let opened: Option<$crate::testing::OpenStore> = $open().into();
            if let Some(opened) = opened {
                $crate::testing::contract::$module::$case(&*opened.store);
            }
        }
    )+};
}
