//! Fake of the triggers.

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{PipelineId, ProjectId, TriggerId, TriggerRequestId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::ports::vault::Sealed;
use hexforge_domain::trigger::port::Triggers;
use hexforge_domain::trigger::{Trigger, TriggerRequest};

impl Triggers for FakeTx {
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Trigger>, StoreError> {
        let all = self.tables.triggers.iter();
        Ok(page.slice(all.filter(|trigger| trigger.project == project).cloned().collect()))
    }

    fn find(&mut self, id: TriggerId) -> Result<Option<Trigger>, StoreError> {
        Ok(self.tables.triggers.iter().find(|trigger| trigger.id == id).cloned())
    }

    fn insert(&mut self, project: ProjectId, at: Timestamp) -> Result<Trigger, StoreError> {
        self.require_project(project)?;
        let id = TriggerId(self.next_id());
        let trigger = Trigger { id, project, created_at: at, updated_at: at, last_used_at: None };
        self.tables.triggers.push(trigger.clone());
        Ok(trigger)
    }

    fn delete(&mut self, id: TriggerId) -> Result<(), StoreError> {
        self.tables.triggers.retain(|trigger| trigger.id != id);
        for request in &mut self.tables.trigger_requests {
            request.trigger = request.trigger.filter(|trigger| *trigger != id);
        }
        Ok(())
    }

    fn record_use(
        &mut self,
        trigger: TriggerId,
        pipeline: PipelineId,
        variables: &Sealed,
        at: Timestamp,
    ) -> Result<TriggerRequest, StoreError> {
        for one in self.tables.triggers.iter_mut().filter(|one| one.id == trigger) {
            one.last_used_at = Some(at);
        }
        let request = TriggerRequest {
            id: TriggerRequestId(self.next_id()),
            pipeline,
            trigger: Some(trigger),
            variables: variables.clone(),
            created_at: at,
        };
        self.tables.trigger_requests.push(request.clone());
        Ok(request)
    }

    fn request_of(&mut self, pipeline: PipelineId) -> Result<Option<TriggerRequest>, StoreError> {
        let mut all = self.tables.trigger_requests.iter();
        Ok(all.find(|request| request.pipeline == pipeline).cloned())
    }
}
