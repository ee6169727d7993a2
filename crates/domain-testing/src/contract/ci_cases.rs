//! The contract cases of pipelines, builds, runners, triggers, variables, environments and deployments.

/// A part of [`store_contract!`](crate::store_contract).
#[doc(hidden)]
#[macro_export]
macro_rules! store_contract_of_pipelines {
    ($open:path) => {
        $crate::store_contract! {
            @tests $open;
            pipelines::a_pipeline_has_every_field,
            pipelines::pipelines_of_a_project_come_newest_first,
            pipelines::the_newest_pipelines_of_refs_and_commits_are_found,
            pipelines::the_newest_pipeline_of_each_ref_is_listed_while_the_ref_is_there,
            pipelines::pipelines_are_deleted_with_their_project_but_not_with_their_user,
            pipelines::events_of_pipelines_are_stored_unchanged,
            pipelines::a_locked_pipeline_is_changed_by_one_at_a_time,
            builds::a_build_has_every_field,
            builds::a_definition_is_stored_unchanged,
            builds::a_newer_build_of_a_name_supersedes_the_older,
            builds::stages_of_pipelines_have_the_statuses_of_their_builds,
            builds::builds_are_listed_by_status_and_commit,
            builds::statuses_of_a_commit_are_found_by_ref_stage_and_name,
            builds::silent_builds_are_found,
            builds::running_builds_of_a_runner_are_found,
            builds::expired_artifacts_are_found,
            runners::runners_are_listed_by_their_scope,
            runners::masters_and_owners_access_the_runners_of_their_projects,
            runners::a_runner_has_every_field,
            runners::runners_are_bound_to_projects,
            runners::the_newest_projects_of_a_runner_are_those_of_a_user,
            runners::projects_of_many_runners_are_found_together,
            runners::runners_are_listed_by_id,
            runners::rotations_of_the_registration_token_are_counted,
            runners::a_runners_token_finds_its_project_until_it_is_replaced,
            runners::builds_outlive_their_runner,
            runners::a_runner_gets_jobs_that_match_its_tags,
            runners::shared_runners_are_fair_between_projects,
            runners::assigned_runners_serve_their_projects,
            pipelines::a_locked_pipeline_is_skipped,
            triggers::triggers_are_listed_and_removed,
            triggers::the_trigger_request_of_a_pipeline_is_found,
            variables::variables_are_listed_changed_and_removed,
            variables::names_of_variables_are_unique_in_a_project,
            builds::builds_are_found_by_their_ids,
            environments::environments_are_listed_changed_and_removed,
            environments::names_and_urls_of_environments_are_unique_in_a_project,
            environments::environments_are_found_by_the_branch_that_stops_them,
            environments::deployments_are_numbered_and_listed,
            environments::deployments_outlive_their_user_but_not_their_project,
        }
    };
}
