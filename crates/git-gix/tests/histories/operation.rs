//! The operations of a scenario: changes of a history, pushes, fetches and maintenance.

use crate::support::Random;

/// One step of a scenario. It picks its subject by a number modulo the number of candidates at that moment, so a list
/// of operations stays valid when any of them is removed.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub action: Action,
    pub branch: usize,
    pub picks: [usize; 3],
    pub clock: Clock,
}

impl Operation {
    /// The random numbers of this operation, the same in each run.
    pub fn random(&self) -> Random {
        Random::new(1 + self.picks[0] as u64 * 10_000 + self.branch as u64)
    }
}

/// The date of a commit, compared with the commit made before.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    Later,
    Equal,
    HoursBack,
    YearsBack,
    Zero,
}

/// A way to reorganize the repository of the server.
#[derive(Clone, Copy, Debug)]
pub enum Maintenance {
    Repack,
    Gc,
    Bitmap,
    CommitGraph,
    Loose,
}

#[derive(Clone, Copy, Debug)]
pub enum Action {
    EditLine,
    AppendLine,
    AddFile,
    AddNestedFile,
    DeleteFile,
    RenameFile,
    MoveFolder,
    CopyFolder,
    /// Gives a file the content that it had in an older commit.
    RestoreFile,
    Revert,
    RevertRevert,
    CherryPick,
    /// Commits the whole tree of an older commit.
    ResetTree,
    Merge,
    MergeOurs,
    Octopus,
    CrissCross,
    EmptyCommit,
    AddSubmodule,
    AddLink,
    ChangeMode,
    FileToFolder,
    FolderToFile,
    NewBranch,
    OrphanBranch,
    DeleteBranch,
    MoveBranch,
    TagCommit,
    TagTag,
    TagTree,
    TagBlob,
    PointAtTree,
    PointAtBlob,
    PointAtCommit,
    /// The current refs are pushed to the server.
    Push,
    Maintain(Maintenance),
    /// The client is replaced by another one.
    StartClient,
    Fetch,
}

/// Actions on the history with their weights: edits and reverts are most frequent.
const ON_HISTORY: &[(usize, Action)] = &[
    (12, Action::EditLine),
    (4, Action::AppendLine),
    (5, Action::AddFile),
    (5, Action::AddNestedFile),
    (3, Action::DeleteFile),
    (2, Action::RenameFile),
    (2, Action::MoveFolder),
    (4, Action::CopyFolder),
    (6, Action::RestoreFile),
    (6, Action::Revert),
    (3, Action::RevertRevert),
    (3, Action::CherryPick),
    (3, Action::ResetTree),
    (4, Action::Merge),
    (1, Action::MergeOurs),
    (1, Action::Octopus),
    (2, Action::CrissCross),
    (1, Action::EmptyCommit),
    (1, Action::AddSubmodule),
    (1, Action::AddLink),
    (1, Action::ChangeMode),
    (1, Action::FileToFolder),
    (1, Action::FolderToFile),
    (4, Action::NewBranch),
    (1, Action::OrphanBranch),
    (1, Action::DeleteBranch),
    (2, Action::MoveBranch),
    (2, Action::TagCommit),
    (1, Action::TagTag),
    (1, Action::TagTree),
    (1, Action::TagBlob),
    (1, Action::PointAtTree),
    (1, Action::PointAtBlob),
    (1, Action::PointAtCommit),
];

const CLOCKS: &[(usize, Clock)] = &[
    (14, Clock::Later),
    (3, Clock::Equal),
    (2, Clock::HoursBack),
    (1, Clock::YearsBack),
    (1, Clock::Zero),
];

const MAINTENANCE: [Maintenance; 5] = [
    Maintenance::Repack,
    Maintenance::Gc,
    Maintenance::Bitmap,
    Maintenance::CommitGraph,
    Maintenance::Loose,
];

/// Generates a history that is pushed in one to four steps, with fetches in between and after the last.
pub fn generate(random: &mut Random) -> Vec<Operation> {
    let pushes = 1 + random.below(4);
    let length = 5 + random.below(36);
    // Half of the histories have right dates, because wrong ones hide other bugs.
    let is_skewed = random.one_in(2);
    let mut operations = Vec::new();
    for push in 0..pushes {
        let until = length * (push + 1) / pushes - length * push / pushes;
        for _ in 0..until {
            let action = pick_weighted(random, ON_HISTORY);
            operations.push(operation(random, action, is_skewed));
        }
        operations.push(operation(random, Action::Push, false));
        if random.one_in(3) {
            let maintenance = *random.pick(&MAINTENANCE);
            operations.push(operation(random, Action::Maintain(maintenance), false));
        }
        let fetches = if push + 1 == pushes { 4 } else { random.below(2) };
        for _ in 0..fetches {
            if random.one_in(3) {
                operations.push(operation(random, Action::StartClient, false));
            }
            operations.push(operation(random, Action::Fetch, false));
        }
    }
    operations
}

/// Generates a history that is pushed in so many steps that the server merges its packs, with fetches after the last.
pub fn generate_many_pushes(random: &mut Random) -> Vec<Operation> {
    let is_skewed = random.one_in(2);
    let mut operations = Vec::new();
    for _ in 0..26 + random.below(10) {
        let action = pick_weighted(random, ON_HISTORY);
        // Each push has a commit and so adds a pack.
        for action in [action, Action::EditLine] {
            operations.push(operation(random, action, is_skewed));
        }
        operations.push(operation(random, Action::Push, false));
    }
    for _ in 0..4 {
        operations.push(operation(random, Action::StartClient, false));
        operations.push(operation(random, Action::Fetch, false));
    }
    operations
}

fn operation(random: &mut Random, action: Action, is_skewed: bool) -> Operation {
    let clock = if is_skewed { pick_weighted(random, CLOCKS) } else { Clock::Later };
    let mut number = || random.below(10_000);
    Operation { action, branch: number(), picks: [number(), number(), number()], clock }
}

fn pick_weighted<T: Copy>(random: &mut Random, from: &[(usize, T)]) -> T {
    let mut at = random.below(from.iter().map(|(weight, _)| weight).sum());
    for &(weight, value) in from {
        if at < weight {
            return value;
        }
        at -= weight;
    }
    unreachable!("the number is below the sum of the weights")
}
