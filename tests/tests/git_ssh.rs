//! Git over SSH, with the real git and the real ssh as clients.

mod git_ssh {
    mod access;
    mod deploy_keys;
    mod hostile;
    mod program;
    mod shares;
    mod stop;
    mod support;
}
