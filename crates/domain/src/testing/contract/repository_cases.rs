//! The cases about what the store knows of repositories.

/// A part of [`store_contract!`](crate::store_contract).
#[doc(hidden)]
#[macro_export]
macro_rules! store_contract_of_repositories {
    ($open:path) => {
        $crate::store_contract! {
            @tests $open;
            default_branches::a_default_branch_is_set_alone,
            default_branches::a_coverage_expression_is_set_alone,
            default_branches::updating_does_not_turn_back_the_default_branch,
            protections::protections_of_a_project_come_by_pattern,
            protections::a_protection_is_found_by_exactly_its_pattern,
            protections::a_protection_takes_the_place_of_the_one_with_its_pattern,
            protections::a_removed_protection_is_gone_alone,
            releases::a_release_is_found_by_exactly_its_tag,
            releases::releases_of_several_tags_are_found_at_once,
            releases::a_tag_has_one_release,
            releases::a_release_is_changed_in_place,
            releases::a_removed_release_is_gone_alone,
            repository_tasks::a_task_is_given_out_with_every_field,
            repository_tasks::a_task_is_given_out_to_nobody_else_for_a_while,
            repository_tasks::the_task_that_waits_longest_comes_first,
            repository_tasks::a_user_has_a_few_imports_under_way_at_a_time,
            repository_tasks::what_needs_nobody_elsewhere_can_be_asked_for,
            repository_tasks::a_task_that_never_ends_is_given_up,
            repository_tasks::tasks_of_one_project_are_given_out_one_after_the_other,
            repository_tasks::a_task_can_be_asked_for,
            repository_tasks::a_failed_task_is_tried_again_when_it_is_time,
            repository_tasks::a_task_that_is_given_up_is_in_nobodys_way,
            repository_tasks::imports_are_known_until_they_are_done,
            repository_tasks::the_newest_import_of_a_project_counts,
            repository_tasks::a_task_outlives_what_it_copies_from,
            repository_tasks::a_task_goes_with_its_user,
            repository_tasks::ids_of_tasks_grow,
            repository_tasks::nothing_happens_to_a_task_that_is_gone,
            repository_concurrency::tasks_asked_for_at_once_go_to_one_each,
            repository_concurrency::tasks_added_at_once_are_given_out_one_after_the_other,
            repository_concurrency::a_change_recorded_at_once_is_recorded_once,
            repository_concurrency::a_release_made_at_once_is_made_once,
            settled_changes::a_change_is_recorded_once,
            settled_changes::changes_recorded_before_a_moment_are_forgotten,
        }
    };
}
