//! Todos about builds of merge requests.

use hexforge_domain::Timestamp;
use hexforge_domain::merge_request::port::BranchEnd;
use hexforge_domain::merge_request::{MergeRequest, RequestBranch};
use hexforge_domain::pipeline::Pipeline;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::todo::{NewTodo, TodoAction};

/// The maximum number of requests from one branch whose authors get a todo.
const MAX_REQUESTS: u32 = 100;

/// Creates todos of the authors of the merge requests whose head the pipeline is for: a build of it failed. Call it in
/// the transaction that changes the build.
pub(crate) fn record_failure(
    tx: &mut dyn Tx,
    pipeline: &Pipeline,
    now: Timestamp,
) -> Result<(), StoreError> {
    let requests = requests_of(tx, pipeline)?;
    let todo = |request: &MergeRequest| NewTodo {
        user: request.author,
        project: request.project(),
        target: request.id.into(),
        author: request.author,
        action: TodoAction::BuildFailed,
        note: None,
        at: now,
    };
    let new: Vec<NewTodo> = requests.iter().map(todo).collect();
    tx.todos().insert(&new)
}

/// Marks the todos of the authors as done: a build of the pipeline is retried.
pub(crate) fn record_retry(tx: &mut dyn Tx, pipeline: &Pipeline) -> Result<(), StoreError> {
    for request in requests_of(tx, pipeline)? {
        tx.todos().mark_done(request.author, request.id.into())?;
    }
    Ok(())
}

/// Returns the open merge requests from the branch of a pipeline whose head is its commit.
fn requests_of(tx: &mut dyn Tx, pipeline: &Pipeline) -> Result<Vec<MergeRequest>, StoreError> {
    if pipeline.tag {
        return Ok(vec![]);
    }
    let branch = RequestBranch::stored(pipeline.reference.clone());
    let end = BranchEnd::Source(pipeline.project, &branch);
    let mut requests = tx.merge_requests().open_at(end, None, MAX_REQUESTS)?;
    requests.retain(|request| request.head == Some(pipeline.sha));
    Ok(requests)
}
