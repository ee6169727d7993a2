//! Real histories are pushed to the program, fetched and read, and compared with git.
//!
//! Every client command runs twice: against hexforge, and against a bare repository that git serves and that received
//! the same pushes. Both clients must end up with the same refs, the same shallow boundary and the same objects.
//! Responses of the REST API are compared with the output of git for the same repository.
//!
//! | Variable | Meaning |
//! |---|---|
//! | `HEXFORGE_TEST_REPOSITORIES` | Git repositories to use, separated by `:`. Default: the one that holds this file, with fewer kinds of clients. |
//! | `HEXFORGE_TEST_REPOSITORY_SEED` | Seed of the random commits. |
//! | `HEXFORGE_TEST_REPOSITORY_CLIENTS` | Only clients are run whose name contains this text, and no other checks. |
//! | `HEXFORGE_TEST_REPOSITORIES_BACKEND` | `sqlite` (default), `postgres`, or `object-store`: three machines on PostgreSQL. |
//! | `HEXFORGE_VERIFY_FETCHES` | `0` leaves out the check that the server makes of each of its answers, which takes long for long histories. |
//!
//! `--nocapture` shows each check with the time it took.

mod real_histories {
    mod archives;
    mod checks;
    mod client;
    mod compare;
    mod contributors;
    mod copies;
    mod fetches;
    mod git;
    mod oracle;
    mod pack_trace;
    mod pushes;
    mod recipes;
    mod server;
    mod settings;
    mod source;
    mod trees;

    use hexforge_tests::RandomNumbers;

    use checks::Checks;
    use git::Git;
    use oracle::Oracle;
    use server::Server;
    use settings::{Settings, print_progress};

    #[test]
    fn clients_get_from_hexforge_what_they_get_from_git() {
        let Some(settings) = Settings::read() else { return };
        let mut checks = Checks::default();
        for repository in &settings.repositories {
            checks.begin(&repository.display().to_string());
            let git = Git::new();
            let oracle = Oracle::copy(&git, repository);
            let Some(server) = Server::start(&git, settings.backend) else {
                print_progress("SKIPPED: there is no PostgreSQL for real histories");
                return;
            };
            let mut random = RandomNumbers(settings.seed);
            pushes::push_in_steps(&server, &oracle, &mut checks);
            fetches::check(&server, &oracle, &settings, &mut random, &mut checks);
            if settings.clients.is_some() {
                continue;
            }
            trees::check(&server, &oracle, &mut random, &mut checks);
            compare::check(&server, &oracle, &mut random, &mut checks);
            archives::check(&server, &oracle, &mut random, &mut checks);
            contributors::check(&server, &oracle, &mut checks);
            copies::check_fork(&server, &oracle, &mut checks);
            copies::check_merged_branches(&server, &oracle, &mut random, &mut checks);
        }
        checks.finish();
    }
}
