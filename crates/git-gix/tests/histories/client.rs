//! A simulated client: its objects, its requests, and its handling of the answers.

use gix::ObjectId;
use gix::object::Kind;

use crate::history::History;
use crate::objects::Ids;
use crate::request::{Acks, Bands, Depth, ENDLESS, Request, Wire};
use crate::server::Server;
use crate::support::Random;

const FILTERS: [&str; 6] =
    ["blob:none", "blob:limit=1500", "blob:limit=3000", "tree:0", "tree:1", "tree:2"];

/// The maximum number of refs. More make requests longer and reveal no further bugs.
const MOST_TIPS: usize = 8;

/// The state of a client.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// All objects of the client.
    pub has: Ids,
    /// The targets of its refs.
    pub tips: Ids,
    /// Its shallow commits: it lacks their parents.
    pub shallow: Ids,
    /// Whether this is a partial clone: the server promises the objects that a filter left out.
    pub filter: Option<String>,
}

impl Client {
    /// Creates an empty client, or one with some commits, which the server may lack.
    pub fn start(history: &History, random: &mut Random) -> Self {
        if history.commits.is_empty() || random.one_in(3) {
            return Self::default();
        }
        let mut tips = Ids::new();
        for _ in 0..=random.below(3) {
            tips.insert(random.pick(&history.commits).id);
        }
        let mut shallow = Ids::new();
        if random.one_in(4) {
            let all = history.objects.closure(tips.iter().copied(), &Ids::new());
            let candidates = history.with_parents(&all);
            for _ in 0..random.below(3).min(candidates.len()) {
                shallow.insert(*random.pick(&candidates));
            }
        }
        let has = history.objects.closure(tips.iter().copied(), &shallow);
        shallow.retain(|id| has.contains(id));
        Self { has, tips, shallow, filter: None }
    }

    /// Returns the next request of this client. The server must have refs.
    pub fn plan(&mut self, history: &History, server: &Server, random: &mut Random) -> Request {
        let wire = *random.pick(&[Wire::V2, Wire::V2, Wire::V2]);
        let wire = if random.one_in(2) { wire } else { *random.pick(&Wire::ALL) };
        let mut request = Request::clone_of(wire, Vec::new());
        request.thin = !random.one_in(3);
        request.offset_deltas = !random.one_in(3);
        request.include_tag = random.one_in(2);
        request.acks = *random.pick(&[Acks::One, Acks::Many, Acks::Detailed, Acks::Detailed]);
        request.bands = *random.pick(&[Bands::None, Bands::Small, Bands::Large]);
        request.shallow = self.shallow.iter().copied().collect();
        let reachable = history.reachable(&server.refs);
        if self.filter.is_some() && random.one_in(3) {
            let missing = self.promised(history).into_iter().filter(|id| reachable.contains(id));
            let missing: Vec<ObjectId> = missing.collect();
            if !missing.is_empty() {
                // Objects that were left out are fetched by id, without haves.
                request.wants = pick_some(&missing, 1 + random.below(6), random);
                request.filter = random.one_in(2).then(|| "blob:none".to_owned());
                return request;
            }
        }
        let chance = if self.filter.is_some() || self.has.is_empty() { 4 } else { 15 };
        if self.filter.is_none() && random.one_in(chance) {
            self.filter = Some((*random.pick(&FILTERS)).to_owned());
        }
        request.filter.clone_from(&self.filter);
        request.wants = self.choose_wants(history, server, &reachable, random);
        request.haves = self.choose_haves(history, random);
        request.depth = self.choose_depth(history, server, random);
        // In version 0 the server ends the negotiation by itself only with `multi_ack_detailed`.
        let may_ask = match wire {
            Wire::V2 => !request.haves.is_empty(),
            Wire::V0Stateless => !request.haves.is_empty() && request.acks == Acks::Detailed,
            Wire::V0Stateful | Wire::V1Stateful => false,
        };
        request.done = !(may_ask && random.one_in(2));
        request
    }

    fn choose_wants(
        &self,
        history: &History,
        server: &Server,
        reachable: &Ids,
        random: &mut Random,
    ) -> Vec<ObjectId> {
        let tips: Vec<ObjectId> = server.refs.values().copied().collect();
        let mut wants = match random.below(4) {
            0 => tips,
            1 => vec![*random.pick(&tips)],
            2 => pick_some(&tips, 1 + random.below(3), random),
            _ => {
                let mut all: Vec<ObjectId> = reachable.iter().copied().collect();
                if self.filter.is_some() || random.one_in(2) {
                    all = history.objects.commits(reachable);
                }
                match all.is_empty() {
                    true => tips,
                    false => pick_some(&all, 1 + random.below(3), random),
                }
            }
        };
        wants.sort();
        wants.dedup();
        wants
    }

    fn choose_haves(&self, history: &History, random: &mut Random) -> Vec<ObjectId> {
        let commits = history.objects.commits(&self.has);
        let mut haves = match random.below(6) {
            _ if commits.is_empty() => Vec::new(),
            0 => Vec::new(),
            1 => commits,
            2 | 3 => {
                let tips = self.tips.iter().map(|&tip| history.objects.peel(tip));
                tips.filter(|&tip| history.objects.is_commit(tip)).collect()
            }
            _ => pick_some(&commits, 1 + random.below(6), random),
        };
        if random.one_in(4) {
            let unknown = format!("{:040x}", 0xabcdef + random.below(1000));
            haves.push(crate::process::parse_id(&unknown));
        }
        haves.dedup();
        haves
    }

    fn choose_depth(&self, history: &History, server: &Server, random: &mut Random) -> Depth {
        let mut depth = Depth::default();
        let chance = if self.shallow.is_empty() { 4 } else { 2 };
        if !random.one_in(chance) {
            return depth;
        }
        let small = u32::try_from(1 + random.below(6)).expect("a small number");
        let commit_refs: Vec<&String> = server
            .refs
            .iter()
            .filter(|(_, id)| history.objects.is_commit(history.objects.peel(**id)))
            .map(|(name, _)| name)
            .collect();
        match random.below(7) {
            0 => depth.commits = Some(ENDLESS),
            1 if !self.shallow.is_empty() => {
                depth.commits = Some(small);
                depth.is_relative = true;
            }
            2 | 3 if !history.dates.is_empty() => {
                let date = *random.pick(&history.dates);
                depth.since = Some(date + [0, 1, -1][random.below(3)]).filter(|&date| date > 0);
                if depth.since.is_none() {
                    depth.commits = Some(small);
                } else if !commit_refs.is_empty() && random.one_in(3) {
                    depth.not.push((*random.pick(&commit_refs)).clone());
                }
            }
            4 if !commit_refs.is_empty() => {
                depth.not.push((*random.pick(&commit_refs)).clone());
            }
            _ => depth.commits = Some(small),
        }
        depth
    }

    /// Returns the objects that a filter left out and that the client may fetch later.
    pub fn promised(&self, history: &History) -> Ids {
        let all = history.objects.closure(self.tips.iter().copied(), &self.shallow);
        all.difference(&self.has).copied().collect()
    }

    /// Adds the sent objects, and checks that no object reachable from the refs is missing.
    pub fn take_over(
        &mut self,
        history: &History,
        request: &Request,
        sent: &Ids,
        new_shallow: (&Ids, &Ids),
        random: &mut Random,
    ) -> Result<(), String> {
        let objects = &history.objects;
        self.has.extend(sent);
        self.shallow.extend(new_shallow.0);
        self.shallow.retain(|id| !new_shallow.1.contains(id));
        let tags = sent.iter().copied().filter(|&id| objects.get(id).kind == Kind::Tag);
        self.tips.extend(request.wants.iter().copied().chain(tags));
        let needed = objects.closure(self.tips.iter().copied(), &self.shallow);
        // A partial clone may fetch trees and blobs later.
        let is_needed = |id: &ObjectId| {
            self.filter.is_none() || matches!(objects.get(*id).kind, Kind::Commit | Kind::Tag)
        };
        let missing: Ids =
            needed.difference(&self.has).copied().filter(|id| is_needed(id)).collect();
        if !missing.is_empty() {
            let missing = objects.describe_all(&missing);
            return Err(format!("the client is not connected, these are missing:\n{missing}"));
        }
        self.drop_unreachable(history, random);
        Ok(())
    }

    /// Drops surplus refs, and then unreachable objects, as `git gc` does.
    fn drop_unreachable(&mut self, history: &History, random: &mut Random) {
        while self.tips.len() > MOST_TIPS {
            let tips: Vec<ObjectId> = self.tips.iter().copied().collect();
            self.tips.remove(random.pick(&tips));
        }
        let kept = history.objects.closure(self.tips.iter().copied(), &self.shallow);
        self.has.retain(|id| kept.contains(id));
        self.shallow.retain(|id| kept.contains(id));
    }
}

fn pick_some(from: &[ObjectId], count: usize, random: &mut Random) -> Vec<ObjectId> {
    let mut picked: Vec<ObjectId> = Vec::new();
    for _ in 0..count {
        let one = *random.pick(from);
        if !picked.contains(&one) {
            picked.push(one);
        }
    }
    picked
}
