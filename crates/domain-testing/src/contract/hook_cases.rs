//! The contract cases of hook deliveries.

/// A part of [`store_contract!`](crate::store_contract).
#[doc(hidden)]
#[macro_export]
macro_rules! store_contract_of_hooks {
    ($open:path) => {
        $crate::store_contract! {
            @tests $open;
            outbox::entries_are_removed_after_their_deliveries_are_created,
            project_hooks::hooks_of_several_projects_come_at_once,
            deliveries::a_request_has_all_data_to_send_a_delivery,
            deliveries::requests_are_read_together_up_to_a_size,
            deliveries::a_delivery_uses_the_current_url_of_its_hook,
            deliveries::a_claimed_lane_is_not_claimed_again_before_it_expires,
            deliveries::due_deliveries_are_claimed_oldest_first_up_to_the_limit,
            deliveries::failing_lanes_have_their_own_limit,
            deliveries::results_of_deliveries_are_recorded,
            deliveries::a_failed_delivery_waits_until_it_is_due,
            deliveries::a_paused_lane_is_not_claimed,
            deliveries::deliveries_added_to_a_claimed_lane_are_sent_later,
            deliveries::an_expired_claim_settles_nothing,
            deliveries::deliveries_are_deleted_with_their_hooks,
            deliveries::deliveries_to_deleted_hooks_are_left_out,
            deliveries::lanes_claimed_at_once_go_to_one_each,
            services::services_are_stored_and_changed,
            services::receivers_are_active_and_have_a_url,
            services::active_trackers_are_found,
            services::links_are_those_of_active_services,
            services::services_receive_deliveries,
            services::deliveries_to_services_without_a_url_are_left_out,
            services::deliveries_wait_for_the_removal_of_a_url,
            delivery_log::deliveries_of_a_hook_are_listed_newest_first,
            delivery_log::long_bodies_are_cut,
            delivery_log::a_delivery_can_be_sent_again,
            delivery_log::the_queue_is_counted,
            delivery_log::failing_hooks_are_listed,
            delivery_log::old_deliveries_are_removed_with_their_payloads,
        }
    };
}
