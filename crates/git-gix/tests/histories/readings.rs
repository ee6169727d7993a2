//! Reads the repository of the server by all calls that prune a walk, and compares the answers with git.

use std::fmt::Debug;

use gix::ObjectId;
use hexforge_domain::commit;
use hexforge_domain::ports::git::{GitError, Repository};

use crate::history::{History, MAIN_BRANCH};
use crate::operation::{Action, Operation};
use crate::oracle::Failure;
use crate::server::Server;
use crate::support::Random;

/// Pushes a history step by step. In place of each fetch, two commits are read and compared.
pub fn run_readings(operations: &[Operation]) -> Result<(), Failure> {
    let history = History::of(operations);
    let mut server = Server::new(&history);
    let mut pushes = history.pushed.iter();
    for operation in operations {
        match operation.action {
            Action::Push => server.push(&history, pushes.next().expect("one for each push")),
            Action::Maintain(how) => server.maintain(how, operation.branch % 2 == 0),
            Action::Fetch => read(&history, &server, &mut operation.random())?,
            _ => {}
        }
    }
    Ok(())
}

/// Reads two commits by all calls.
pub fn read(history: &History, server: &Server, random: &mut Random) -> Result<(), Failure> {
    // Unreachable commits can be read as well.
    let commits = history.objects.commits(&server.stored);
    if commits.is_empty() {
        return Ok(());
    }
    let reader = Reader { history, server, repository: server.open() };
    let tip = server.refs.get(MAIN_BRANCH).copied().filter(|_| random.one_in(3));
    let (from, to) = (*random.pick(&commits), tip.unwrap_or_else(|| *random.pick(&commits)));
    reader.check_commits(from, to, &commits, random)?;
    reader.check_contents(to, random)?;
    // The count for one commit is used for the next.
    reader.check_contributors(from)?;
    reader.check_contributors(to)
}

/// An open repository and the history that it should have.
pub struct Reader<'a> {
    pub history: &'a History,
    pub server: &'a Server,
    pub repository: Box<dyn Repository>,
}

impl Reader<'_> {
    pub fn fail(&self, question: &str, difference: &str) -> Failure {
        Failure::of(self.server, question, format!("{question}: {difference}"))
    }

    /// Returns the answer of the server, or a failure.
    pub fn answer<T>(&self, question: &str, answer: Result<T, GitError>) -> Result<T, Failure> {
        answer.map_err(|error| self.fail(question, &format!("{error:?}")))
    }

    /// Compares an answer with the expected one.
    pub fn check<T: Debug + PartialEq>(
        &self,
        question: &str,
        answer: Result<T, GitError>,
        expected: &T,
    ) -> Result<(), Failure> {
        let answer = self.answer(question, answer)?;
        match answer == *expected {
            true => Ok(()),
            false => Err(self.fail(question, &format!("{answer:#?} instead of {expected:#?}"))),
        }
    }

    /// Runs git in the repository and returns its output by line.
    pub fn git_lines(&self, arguments: &[&str]) -> Vec<String> {
        let output = self.server.git(arguments);
        String::from_utf8_lossy(&output).lines().map(str::to_owned).collect()
    }
}

/// Converts an id to the type of the ports.
pub fn to_domain(id: ObjectId) -> commit::ObjectId {
    commit::ObjectId::parse(&id.to_string()).expect("ids are hexadecimal")
}
