//! Applies operations to a history.

use gix::ObjectId;
use gix::object::Kind;

use crate::files::{EXECUTABLE, File, Files, LINK, PLAIN, SUBMODULE};
use crate::history::{History, MAIN_BRANCH};
use crate::objects::Ids;
use crate::operation::{Action, Operation};

/// The maximum number of branches. More make requests longer and reveal no further bugs.
const MOST_BRANCHES: usize = 5;

impl History {
    pub fn apply(&mut self, operation: &Operation) {
        use Action as A;
        match operation.action {
            A::EditLine | A::AppendLine | A::AddFile | A::AddNestedFile | A::DeleteFile => {
                self.change_files(operation, change_one_file);
            }
            A::RenameFile | A::MoveFolder | A::CopyFolder | A::FileToFolder | A::FolderToFile => {
                self.change_files(operation, move_files);
            }
            A::AddSubmodule | A::AddLink | A::ChangeMode | A::EmptyCommit => {
                self.change_files(operation, add_special_file);
            }
            A::RestoreFile | A::ResetTree => self.go_back(operation),
            A::Revert | A::RevertRevert | A::CherryPick => self.apply_commit(operation),
            A::Merge | A::MergeOurs | A::Octopus | A::CrissCross => self.merge(operation),
            A::NewBranch | A::OrphanBranch | A::DeleteBranch | A::MoveBranch => {
                self.change_branch(operation);
            }
            A::TagCommit | A::TagTag | A::TagTree | A::TagBlob => self.make_tag(operation),
            A::PointAtTree | A::PointAtBlob | A::PointAtCommit => self.make_tag(operation),
            A::Push => self.pushed.push(self.refs()),
            A::Maintain(_) | A::StartClient | A::Fetch => {}
        }
    }

    fn change_files(
        &mut self,
        operation: &Operation,
        change: fn(&mut Files, &Operation, usize) -> Option<()>,
    ) {
        let branch = self.branch_of(operation);
        let mut files = self.files_of(&branch);
        let number = self.next_number();
        if change(&mut files, operation, number).is_none() {
            // There is no file to change: the history starts, or everything was deleted.
            files.put(&format!("file{number}"), File::text(number, 30 + operation.picks[1] % 120));
        }
        self.commit(&branch, &[], files, operation);
    }

    fn files_of(&self, branch: &str) -> Files {
        self.branches.get(branch).map(|&at| self.commits[at].files.clone()).unwrap_or_default()
    }

    /// Restores a file, or everything, from an older commit of the branch.
    fn go_back(&mut self, operation: &Operation) {
        let branch = self.branch_of(operation);
        let Some(&tip) = self.branches.get(&branch) else { return };
        let mut files = self.files_of(&branch);
        let ancestors = self.ancestors(tip);
        if matches!(operation.action, Action::ResetTree) {
            files = self.commits[ancestors[operation.picks[0] % ancestors.len()]].files.clone();
        } else if let Some(path) = pick(&files.texts(), operation.picks[0]) {
            let now = files.0.get(&path);
            let earlier = |&at: &usize| {
                let file = self.commits[at].files.0.get(&path);
                file.filter(|&file| Some(file) != now).cloned()
            };
            let earlier: Vec<File> = ancestors.iter().filter_map(earlier).collect();
            if let Some(file) = pick(&earlier, operation.picks[1] % 3) {
                files.put(&path, file);
            }
        }
        self.commit(&branch, &[], files, operation);
    }

    /// Reverts or cherry-picks a commit: each path that it changed gets the state before or after it.
    fn apply_commit(&mut self, operation: &Operation) {
        let branch = self.branch_of(operation);
        let Some(&tip) = self.branches.get(&branch) else { return };
        let candidates: Vec<usize> = match operation.action {
            Action::Revert => self.ancestors(tip).into_iter().take(6).collect(),
            Action::RevertRevert => {
                let ancestors = self.ancestors(tip).into_iter();
                ancestors.filter(|&at| self.commits[at].is_revert).take(2).collect()
            }
            _ => (0..self.commits.len()).collect(),
        };
        let Some(at) = pick(&candidates, operation.picks[0]) else { return };
        let commit = &self.commits[at];
        let before = commit.parents.first().map(|&at| self.commits[at].files.clone());
        let before = before.unwrap_or_default();
        let after = commit.files.clone();
        let to = if matches!(operation.action, Action::CherryPick) { &after } else { &before };
        let mut files = self.files_of(&branch);
        for path in after.changed_since(&before) {
            files.put_or_remove(&path, to.0.get(&path));
        }
        self.commit(&branch, &[], files, operation);
    }

    fn merge(&mut self, operation: &Operation) {
        let branch = self.branch_of(operation);
        let Some(&tip) = self.branches.get(&branch) else { return };
        let mut others: Vec<(String, usize)> =
            self.branches.iter().map(|(name, &at)| (name.clone(), at)).collect();
        others.retain(|(_, at)| *at != tip);
        if others.is_empty() {
            return;
        }
        let first = operation.picks[0] % others.len();
        others.rotate_left(first);
        let count = if matches!(operation.action, Action::Octopus) { 3 } else { 1 };
        others.truncate(count);
        let ours = self.files_of(&branch);
        let mut files = ours.clone();
        if !matches!(operation.action, Action::MergeOurs) {
            for (_, other) in &others {
                let theirs = self.commits[*other].files.clone();
                for (number, path) in theirs.changed_since(&ours).into_iter().enumerate() {
                    if !(number + operation.picks[1]).is_multiple_of(3) {
                        files.put_or_remove(&path, theirs.0.get(&path));
                    }
                }
            }
        }
        let positions: Vec<usize> = others.iter().map(|(_, at)| *at).collect();
        self.commit(&branch, &positions, files.clone(), operation);
        if matches!(operation.action, Action::CrissCross) {
            // The other branch merges the former tip of this one.
            self.commit(&others[0].0, &[tip], files, operation);
        }
    }

    fn change_branch(&mut self, operation: &Operation) {
        let branch = self.branch_of(operation);
        let any = operation.picks[0] % self.commits.len().max(1);
        let number = self.next_number();
        let name = format!("refs/heads/branch{number}");
        let is_full = self.branches.len() >= MOST_BRANCHES;
        match operation.action {
            _ if self.commits.is_empty() => {}
            Action::NewBranch if !is_full => drop(self.branches.insert(name, any)),
            Action::OrphanBranch if !is_full => {
                let mut files = Files::default();
                files.put("readme", File::text(number, 40));
                self.commit(&name, &[], files, operation);
            }
            Action::DeleteBranch | Action::OrphanBranch if branch != MAIN_BRANCH => {
                self.branches.remove(&branch);
            }
            _ => {
                let tip = self.branches[&branch];
                let back = self.ancestors(tip);
                self.branches.insert(branch, back[operation.picks[0] % back.len()]);
            }
        }
    }

    fn make_tag(&mut self, operation: &Operation) {
        use Action as A;
        let kind = match operation.action {
            A::TagCommit | A::PointAtCommit => Kind::Commit,
            A::TagTag => Kind::Tag,
            A::TagTree | A::PointAtTree => Kind::Tree,
            _ => Kind::Blob,
        };
        let objects = self.objects.0.iter().filter(|(_, object)| object.kind == kind);
        let ids: Vec<ObjectId> = objects.map(|(&id, _)| id).collect();
        let Some(target) = pick(&ids, operation.picks[0]) else { return };
        match operation.action {
            A::PointAtTree | A::PointAtBlob | A::PointAtCommit => self.point_at(target),
            _ => self.tag(target),
        }
    }

    /// The commits among these ids that have parents.
    pub fn with_parents(&self, ids: &Ids) -> Vec<ObjectId> {
        ids.iter().copied().filter(|&id| !self.objects.get(id).parents.is_empty()).collect()
    }
}

/// Picks one of these, if there is any.
fn pick<T: Clone>(from: &[T], number: usize) -> Option<T> {
    if from.is_empty() { None } else { Some(from[number % from.len()].clone()) }
}

fn change_one_file(files: &mut Files, operation: &Operation, number: usize) -> Option<()> {
    let [first, second, _] = operation.picks;
    match operation.action {
        Action::AddFile => {
            let folder = pick(&files.folders(), first).filter(|_| second % 3 != 0);
            let folder = folder.map(|folder| folder + "/").unwrap_or_default();
            files.put(&format!("{folder}file{number}"), File::text(number, 30 + second % 120));
        }
        Action::AddNestedFile => {
            let path = format!("a{}/b{}/c{}/file{number}", first % 2, second % 2, first % 3);
            files.put(&path, File::text(number, 30 + second % 120));
        }
        Action::DeleteFile => {
            let paths: Vec<String> = files.0.keys().cloned().collect();
            files.0.remove(&pick(&paths, first)?);
        }
        Action::AppendLine => {
            let path = pick(&files.texts(), first)?;
            let file = files.0.get_mut(&path).expect("it was listed");
            let text = [&file.content[..], format!("appended {number}\n").as_bytes()].concat();
            *file = File::new(file.mode, text);
        }
        _ => {
            let path = pick(&files.texts(), first)?;
            let file = files.0.get_mut(&path).expect("it was listed");
            *file = file.with_line(second, &format!("changed {number}"));
        }
    }
    Some(())
}

fn move_files(files: &mut Files, operation: &Operation, number: usize) -> Option<()> {
    let [first, second, _] = operation.picks;
    match operation.action {
        Action::RenameFile => {
            let paths: Vec<String> = files.0.keys().cloned().collect();
            let file = files.0.remove(&pick(&paths, first)?)?;
            let folder = pick(&files.folders(), second).map(|folder| folder + "/");
            files.put(&format!("{}renamed{number}", folder.unwrap_or_default()), file);
        }
        Action::FileToFolder => {
            let path = pick(&files.texts(), first)?;
            let file = files.0.remove(&path)?;
            files.put(&format!("{path}/inner{}", second % 3), file);
        }
        Action::FolderToFile => {
            let folder = pick(&files.folders(), first)?;
            files.put(&folder, File::text(number, 30));
        }
        _ => {
            let folder = pick(&files.folders(), first)?;
            let moved = files.in_folder(&folder);
            // The copy may be inside another folder.
            let place = pick(&files.folders(), second).filter(|_| second % 3 == 0);
            let place = place.map(|place| place + "/").unwrap_or_default();
            if matches!(operation.action, Action::MoveFolder) {
                files.remove_folder(&folder);
            }
            for (path, file) in moved {
                files.put(&format!("{place}folder{number}/{path}"), file);
            }
        }
    }
    Some(())
}

fn add_special_file(files: &mut Files, operation: &Operation, number: usize) -> Option<()> {
    let [first, second, _] = operation.picks;
    match operation.action {
        Action::AddSubmodule => {
            let id = format!("{:040x}", 0x1234_5678 + number);
            files.put(&format!("module{}", first % 3), File::new(SUBMODULE, id));
        }
        Action::AddLink => {
            let target = pick(&files.texts(), first)?;
            files.put(&format!("link{}", second % 3), File::new(LINK, target));
        }
        Action::ChangeMode => {
            let path = pick(&files.texts(), first)?;
            let file = files.0.get_mut(&path)?;
            file.mode = if file.mode == PLAIN { EXECUTABLE } else { PLAIN };
        }
        _ => {}
    }
    Some(())
}
