//! Git over HTTP, with the real git as the client.

mod git_http {
    mod access;
    mod closing;
    mod hostile;
    mod lfs;
    mod lfs_clients;
    mod lfs_transfer;
    mod many;
    mod push;
    mod reserved;
    mod rules;
    mod support;
    mod wire;
}
