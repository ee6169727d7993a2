//! Git objects in memory and the links between them: the independent model with which answers are compared.

use std::collections::{BTreeMap, BTreeSet};

use gix::ObjectId;
use gix::object::Kind;

/// A set of object ids, in an order that is the same in each run.
pub type Ids = BTreeSet<ObjectId>;

/// One object and the objects it refers to.
pub struct Object {
    pub kind: Kind,
    pub data: Vec<u8>,
    /// The tree of a commit, the entries of a tree, the target of a tag. Submodules are not among them.
    pub links: Vec<ObjectId>,
    pub parents: Vec<ObjectId>,
}

/// All objects of a history by id.
#[derive(Default)]
pub struct Objects(pub BTreeMap<ObjectId, Object>);

impl Objects {
    /// Adds an object and returns its id.
    pub fn add(
        &mut self,
        kind: Kind,
        data: Vec<u8>,
        links: Vec<ObjectId>,
        parents: Vec<ObjectId>,
    ) -> ObjectId {
        let id = hash(kind, &data);
        self.0.entry(id).or_insert(Object { kind, data, links, parents });
        id
    }

    pub fn get(&self, id: ObjectId) -> &Object {
        self.0.get(&id).unwrap_or_else(|| panic!("the history made no object {id}"))
    }

    pub fn is_commit(&self, id: ObjectId) -> bool {
        self.0.get(&id).is_some_and(|object| object.kind == Kind::Commit)
    }

    /// Returns all objects reachable from `tips`. Commits in `cut` count as commits without parents.
    pub fn closure(&self, tips: impl IntoIterator<Item = ObjectId>, cut: &Ids) -> Ids {
        let mut found = Ids::new();
        let mut stack: Vec<ObjectId> = tips.into_iter().collect();
        while let Some(id) = stack.pop() {
            if !found.insert(id) {
                continue;
            }
            let object = self.get(id);
            stack.extend(&object.links);
            if !cut.contains(&id) {
                stack.extend(&object.parents);
            }
        }
        found
    }

    /// Peels a chain of tags.
    pub fn peel(&self, mut id: ObjectId) -> ObjectId {
        while self.get(id).kind == Kind::Tag {
            id = self.get(id).links[0];
        }
        id
    }

    /// Returns the commits among these, in the order of their ids.
    pub fn commits(&self, ids: &Ids) -> Vec<ObjectId> {
        ids.iter().copied().filter(|&id| self.is_commit(id)).collect()
    }

    /// The kind and id of an object, for messages.
    pub fn describe(&self, id: ObjectId) -> String {
        match self.0.get(&id) {
            Some(object) => format!("{} {id}", object.kind),
            None => format!("unknown {id}"),
        }
    }

    pub fn describe_all(&self, ids: &Ids) -> String {
        let lines: Vec<String> =
            ids.iter().map(|&id| format!("    {}", self.describe(id))).collect();
        lines.join("\n")
    }
}

/// Computes the id of an object.
pub fn hash(kind: Kind, data: &[u8]) -> ObjectId {
    gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, data).expect("no colliding objects")
}
