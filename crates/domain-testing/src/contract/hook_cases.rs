//! The contract cases of hook deliveries.

/// A part of [`store_contract!`](crate::store_contract).
#[doc(hidden)]
#[macro_export]
macro_rules! store_contract_of_hooks {
    ($open:path) => {
        $crate::store_contract! {
            @tests $open;
            outbox::entries_are_taken_out_once_they_are_told,
            project_hooks::hooks_of_several_projects_come_at_once,
            deliveries::a_delivery_has_everything_it_takes_to_send_it,
            deliveries::requests_are_read_together_up_to_a_size,
            deliveries::a_delivery_is_sent_where_its_hook_goes_now,
            deliveries::a_lane_is_given_out_to_nobody_else_for_a_while,
            deliveries::what_is_due_comes_oldest_first_and_no_more_than_asked_for,
            deliveries::lanes_that_fail_are_counted_apart,
            deliveries::what_was_sent_is_written_down,
            deliveries::what_fails_waits_for_its_time,
            deliveries::a_lane_that_rests_is_not_given_out,
            deliveries::what_comes_while_a_lane_is_claimed_is_not_forgotten,
            deliveries::a_claim_that_is_over_settles_nothing,
            deliveries::deliveries_go_with_their_hooks,
            deliveries::those_to_hooks_that_are_gone_are_left_out,
            deliveries::lanes_claimed_at_once_go_to_one_each,
            delivery_log::deliveries_of_a_hook_are_listed_newest_first,
            delivery_log::long_bodies_are_cut,
            delivery_log::a_delivery_can_be_sent_again,
            delivery_log::the_queue_is_counted,
            delivery_log::hooks_that_fail_are_named,
            delivery_log::old_deliveries_are_removed_with_what_they_said,
        }
    };
}
