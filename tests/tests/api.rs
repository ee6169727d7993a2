//! The interface over HTTP, one file for each group of calls.

mod api {
    mod authentication;
    mod bad_input;
    mod dialects;
    mod emails;
    mod forms;
    mod key_checks;
    mod keys;
    mod order_of_checks;
    mod paging;
    mod params;
    mod routes;
    mod session;
    mod sudo;
    mod support;
    mod user_events;
    mod users_block;
    mod users_create;
    mod users_create_checks;
    mod users_delete;
    mod users_list;
    mod users_read;
    mod users_update;
    mod users_update_checks;
    mod version;
}
