//! The contract cases of labels, milestones, issues, notes and boards.

/// A part of [`store_contract!`](crate::store_contract).
#[doc(hidden)]
#[macro_export]
macro_rules! store_contract_of_trackers {
    ($open:path) => {
        $crate::store_contract! {
            @tests $open;
            labels::a_label_has_every_field,
            labels::labels_are_listed_by_title_byte_by_byte,
            labels::titles_of_labels_are_unique_in_a_project,
            labels::issues_keep_a_renamed_label,
            labels::a_deleted_label_is_gone_from_everything,
            labels::subscriptions_to_labels_are_those_of_one_user,
            labels::confidential_issues_with_a_label_are_counted_for_those_they_concern,
            group_labels::all_projects_of_a_group_have_its_labels,
            group_labels::a_renamed_label_of_a_group_is_renamed_everywhere,
            group_labels::a_deleted_label_of_a_group_is_gone_from_all_projects,
            group_labels::issues_with_a_label_of_a_group_are_counted_in_all_its_projects,
            group_labels::a_project_that_changes_groups_keeps_what_it_uses,
            milestones::a_milestone_has_every_field,
            milestones::milestones_are_listed_newest_first,
            milestones::titles_of_milestones_are_unique_in_a_project,
            issues::an_issue_has_every_field,
            issues::numbers_are_given_once_in_each_project,
            issues::issues_made_at_once_have_numbers_without_gaps,
            issues::open_issues_of_a_project_are_counted,
            issues::issues_with_a_label_are_counted_by_kind,
            issues::updating_a_project_does_not_overwrite_the_count_of_issues,
            issues::labels_of_issues_come_by_title,
            issues::subscriptions_to_issues_are_those_of_one_user,
            issues::authors_of_notes_and_mentioned_users_participate,
            issues::a_deleted_issue_takes_everything_along,
            issues::issues_and_notes_of_a_deleted_user_are_deleted_and_not_counted,
            issues::emoji_are_given_once_and_thumbs_are_votes,
            issues::issues_are_found_by_their_numbers,
            issue_lists::issues_are_listed_in_every_order,
            issue_lists::issues_are_found_by_state_label_milestone_and_number,
            issue_lists::confidential_issues_are_listed_for_those_who_may_see_them,
            issue_lists::issues_of_an_author_and_of_a_group_are_those_of_visible_projects,
            issue_recount::lists_by_labels_and_milestones_are_what_a_recount_gives,
            issue_events::events_about_confidential_issues_are_visible_to_few,
            notes::a_note_has_every_field,
            notes::notes_are_listed_oldest_first_and_counted,
            notes::a_deleted_note_takes_its_events_along,
            notes::mentions_are_visible_to_readers_of_their_source,
            outbox::events_of_projects_are_stored_unchanged,
            boards::a_project_has_one_board,
            boards::positions_of_lists_have_no_gaps,
            boards::a_label_has_one_list_at_a_time,
            boards::lists_moved_at_once_end_without_gaps,
        }
    };
}
