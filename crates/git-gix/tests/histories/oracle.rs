//! Compares an answer with the answer of git to the same bytes, and with the output of `git rev-list`.

use gix::ObjectId;
use gix::object::Kind;

use crate::answer::Answer;
use crate::client::Client;
use crate::depth::{exact_ends, has_wrong_dates};
use crate::history::History;
use crate::objects::Ids;
use crate::pack::{self, Limits};
use crate::request::{Acks, Depth, Request, Wire};
use crate::server::Server;
use crate::support::Random;

/// The implementation whose answers are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderTest {
    Hexforge,
    /// Checks the oracle itself: git must never differ from git.
    Git,
}

/// A wrong answer.
#[derive(Debug)]
pub struct Failure {
    pub request: String,
    pub difference: String,
    /// Shell commands that create the repository and send the request.
    pub script: String,
}

impl Failure {
    /// Creates the failure for a wrong answer to a question about the repository of the server.
    pub fn of(server: &Server, question: &str, difference: String) -> Self {
        let script = format!("{}# then {question}\n", server.script);
        Self { request: question.to_owned(), difference, script }
    }
}

/// One client of one server.
pub struct Oracle<'a> {
    pub history: &'a History,
    pub server: &'a Server,
    pub under_test: UnderTest,
}

impl Oracle<'_> {
    /// Sends a request to both servers, compares the answers and adds the sent objects to the client.
    pub fn fetch(
        &self,
        client: &mut Client,
        request: &Request,
        random: &mut Random,
    ) -> Result<(), Failure> {
        let before = client.clone();
        self.try_fetch(client, request, random).map_err(|difference| Failure {
            request: describe(request, &before),
            difference,
            script: format!("{}{}", self.server.script, request_script(request)),
        })
    }

    fn try_fetch(
        &self,
        client: &mut Client,
        request: &Request,
        random: &mut Random,
    ) -> Result<(), String> {
        let (git_result, bytes) = self.server.ask_git(request);
        let git = Answer::parse(request, &bytes).map_err(|error| format!("git: {error}"))?;
        let (result, answer) = match self.under_test {
            UnderTest::Hexforge => {
                let (result, bytes) = self.server.ask_hexforge(request);
                (result, Answer::parse(request, &bytes)?)
            }
            UnderTest::Git => (git_result.clone(), Answer::parse(request, &bytes)?),
        };
        let git_failed = git_result.is_err() || git.error.is_some();
        let failed = result.is_err() || answer.error.is_some();
        if failed && !git_failed && !request.done && git.pack.is_none() {
            // Git checks the depth only when it sends the pack.
            let request = Request { done: true, ..request.clone() };
            return self.try_fetch(client, &request, random);
        }
        if git_failed != failed {
            if self.has_no_right_answer(request) {
                return Ok(());
            }
            let (git, ours) = ((git_result, git.error), (result, answer.error));
            return Err(format!("git says {git:?}, the server says {ours:?}"));
        }
        if failed {
            return Ok(());
        }
        // In version 2 git also follows the parents of shallow commits to decide whether it is ready, so it is ready
        // sooner. A server that negotiates longer learns of more common commits and sends less.
        let is_git_hasty = !client.shallow.is_empty() || request.depth != Depth::default();
        if answer.pack.is_none() && !request.done && (git.pack.is_none() || is_git_hasty) {
            if git.pack.is_none() {
                self.compare_lines(request, &git, &answer)?;
            }
            let request = Request { done: true, ..request.clone() };
            return self.try_fetch(client, &request, random);
        }
        if git.pack.is_none() && answer.pack.is_some() {
            // For git, a commit of 1970 has no date. And git is not ready in a round with a have that it lacks.
            let is_unknown = |id: &ObjectId| !self.server.stored.contains(id);
            if !self.history.dates.contains(&0) && !request.haves.iter().any(is_unknown) {
                return Err("the server is ready, though git is not".to_owned());
            }
            let request = Request { done: true, ..request.clone() };
            return self.try_fetch(client, &request, random);
        }
        self.compare_lines(request, &git, &answer)?;
        let (pack, git_pack) = (answer.pack.ok_or("no pack")?, git.pack.ok_or("git: no pack")?);
        let sent = self.read_pack(client, request, &pack)?;
        let by_git = self.read_git_pack(client, request, &git_pack)?;
        let shallow = (&answer.shallow, &answer.unshallow);
        // If the server sends the same objects as git, the comparison with the list adds nothing.
        let is_same = sent == by_git && self.under_test == UnderTest::Hexforge;
        let listed = if is_same { Ids::new() } else { self.listed(request, shallow) };
        let had = self.had(client, request, &answer.unshallow);
        let mut extra = self.compare_objects(request, &sent, &by_git, &listed, &had)?;
        if has_wrong_dates(self.history) {
            // Because of its order, git then visits commits before it learns that the client has them, and excludes the
            // objects in their trees too. Only the boundary commits count.
            let at_edge = self.trees_at_edge(&sent);
            extra.retain(|id| at_edge.contains(id));
        }
        if !extra.is_empty() {
            let list = self.history.objects.describe_all(&extra);
            return Err(format!("sent, though neither git sends nor lists it:\n{list}"));
        }
        client.take_over(self.history, request, &sent, shallow, random)
    }

    /// Returns the objects in the trees of the boundary commits: parents of sent commits that are not sent themselves.
    fn trees_at_edge(&self, sent: &Ids) -> Ids {
        let objects = &self.history.objects;
        let commits = objects.commits(sent).into_iter();
        let parents = commits.flat_map(|commit| objects.get(commit).parents.clone());
        let edge = parents.filter(|parent| !sent.contains(parent));
        let trees: Vec<ObjectId> = edge.map(|commit| objects.get(commit).links[0]).collect();
        objects.closure(trees, &Ids::new())
    }

    /// Whether git's answer depends on wrong dates.
    fn has_no_right_answer(&self, request: &Request) -> bool {
        let depth = &request.depth;
        // Git deepens a shallow commit if a ref reaches it, and decides that by a walk by date.
        let is_by_date = depth.since.is_some() || !depth.not.is_empty() || depth.is_relative;
        is_by_date && has_wrong_dates(self.history)
    }

    fn compare_lines(&self, request: &Request, git: &Answer, ours: &Answer) -> Result<(), String> {
        let compare = |what: &str, git: &Ids, ours: &Ids| match git == ours {
            true => Ok(()),
            false => Err(format!("{what}: git {git:?}, the server {ours:?}")),
        };
        // For `--unshallow`, git also deepens an unreachable shallow commit if the client names it.
        let reachable = self.history.reachable(&self.server.refs);
        let ends = |answer: &Answer| (answer.shallow.clone(), &answer.unshallow & &reachable);
        if ends(git) != ends(ours)
            && !(self.has_no_right_answer(request)
                && exact_ends(self.history, self.server, request).contains(&ends(ours)))
        {
            let (git, ours) = (ends(git), ends(ours));
            return Err(format!("shallow and unshallow: git {git:?}, the server {ours:?}"));
        }
        if request.wire == Wire::V2 {
            compare("acknowledged", &git.acks, &ours.acks)?;
        } else if request.acks != Acks::One {
            // Once git is ready it acknowledges every have, also of commits that it lacks.
            let known = |acks: &Ids| acks.intersection(&self.server.stored).copied().collect();
            compare("acknowledged", &known(&git.acks), &known(&ours.acks))?;
        }
        let git_last = (git.pack.is_some(), &git.last_ack);
        let our_last = (ours.pack.is_some(), &ours.last_ack);
        if git_last != our_last {
            return Err(format!("git sends a pack, last line: {git_last:?}, server: {our_last:?}"));
        }
        Ok(())
    }

    fn read_pack(&self, client: &Client, request: &Request, pack: &[u8]) -> Result<Ids, String> {
        match self.under_test {
            UnderTest::Git => self.read_git_pack(client, request, pack),
            UnderTest::Hexforge => self.read_pack_with(request, pack, &client.has),
        }
    }

    /// Reads a pack of git. Its deltas may be based on objects that a partial clone lacks and then fetches.
    fn read_git_pack(
        &self,
        client: &Client,
        request: &Request,
        pack: &[u8],
    ) -> Result<Ids, String> {
        let mut bases = client.has.clone();
        if client.filter.is_some() {
            bases.extend(client.promised(self.history));
        }
        self.read_pack_with(request, pack, &bases)
    }

    fn read_pack_with(&self, request: &Request, pack: &[u8], bases: &Ids) -> Result<Ids, String> {
        let base = |id: ObjectId| {
            let object = self.history.objects.0.get(&id);
            let object = object.filter(|_| request.thin && bases.contains(&id))?;
            Some((object.kind, object.data.as_slice()))
        };
        let limits = Limits { offset_deltas: request.offset_deltas, base: &base };
        let sent = pack::read(pack, &limits)?;
        match sent.iter().find(|id| !self.history.objects.0.contains_key(*id)) {
            Some(id) => Err(format!("the history has no object {id}")),
            None => Ok(sent),
        }
    }

    /// Returns the haves that the server has too.
    fn common(&self, request: &Request) -> Vec<ObjectId> {
        let haves = request.haves.iter().copied();
        haves.filter(|id| self.server.stored.contains(id)).collect()
    }

    /// Returns the objects that git lists for the request, as `git upload-pack` passes it to `git pack-objects`: the
    /// parents of unshallowed commits are wants too, these commits are haves, and all shallow commits are cut.
    fn listed(&self, request: &Request, (shallow, unshallow): (&Ids, &Ids)) -> Ids {
        let stored = |id: &ObjectId| self.server.stored.contains(id);
        let old = request.shallow.iter().copied().filter(stored);
        let cut: Ids = old.chain(shallow.iter().copied()).collect();
        let mut arguments: Vec<String> = Vec::new();
        arguments.extend(request.filter.iter().map(|filter| format!("--filter={filter}")));
        arguments.extend(request.wants.iter().map(ToString::to_string));
        for &id in unshallow {
            arguments.extend(self.history.objects.get(id).parents.iter().map(ToString::to_string));
            arguments.push(format!("^{id}"));
        }
        arguments.extend(self.common(request).iter().map(|id| format!("^{id}")));
        self.server.rev_list(&cut, &arguments)
    }

    /// Returns all objects that the client has according to its request: those reachable from the common commits, and
    /// the commits that were shallow until now.
    fn had(&self, client: &Client, request: &Request, unshallow: &Ids) -> Ids {
        let commits = self.common(request).into_iter().chain(unshallow.iter().copied());
        self.history.objects.closure(commits, &client.shallow)
    }

    /// Checks `listed - had ⊆ sent`, and returns the objects that are sent and neither listed nor sent by git.
    ///
    /// Git lists more than needed: it reads only the newest common commits, and none that a cut commit hides. With a
    /// bitmap it sends less than it lists. So the server may leave out objects that the client certainly has.
    ///
    /// With a filter, git leaves out a blob that is wanted by id if an earlier wanted tree contains the blob. That is a
    /// bug of git: the client asked for the blob.
    fn compare_objects(
        &self,
        request: &Request,
        sent: &Ids,
        by_git: &Ids,
        listed: &Ids,
        had: &Ids,
    ) -> Result<Ids, String> {
        let objects = &self.history.objects;
        let mut needed: Ids = listed.difference(had).copied().collect();
        let mut allowed: Ids = listed.union(by_git).copied().collect();
        if request.filter.is_none() || !had.is_empty() {
            let roots = request.wants.iter().map(|&want| objects.peel(want));
            let roots = roots.filter(|&root| !objects.is_commit(root));
            // A wanted tree or blob may be sent even if the client has it.
            allowed.extend(objects.closure(roots, &Ids::new()));
        }
        allowed.extend(&request.wants);
        if self.under_test == UnderTest::Hexforge {
            needed.extend(request.wants.iter().filter(|want| !had.contains(*want)));
        }
        if request.include_tag {
            // Tags are sent with their targets.
            let is_about_sent = |id: ObjectId| sent.contains(&objects.peel(id));
            let is_tag = |id: &ObjectId| objects.get(*id).kind == Kind::Tag;
            needed.extend(by_git.iter().filter(|id| is_tag(id) && is_about_sent(**id)));
            let tags = self.history.reachable(&self.server.refs).into_iter().filter(is_tag);
            allowed.extend(tags.filter(|&id| is_about_sent(id)));
        }
        let missing: Ids = needed.difference(sent).copied().collect();
        if !missing.is_empty() {
            return Err(format!("not sent, though needed:\n{}", objects.describe_all(&missing)));
        }
        Ok(sent.difference(&allowed).copied().collect())
    }
}

fn describe(request: &Request, client: &Client) -> String {
    let Client { has, tips, shallow, filter } = client;
    let count = has.len();
    format!(
        "{request:#?}\nof a client with {count} objects, filter {filter:?}\n\
         tips {tips:?}\nshallow {shallow:?}"
    )
}

/// Shell commands that send the same bytes to git.
fn request_script(request: &Request) -> String {
    let bytes = String::from_utf8_lossy(&request.encode()).into_owned();
    let bytes = bytes.replace('\n', "\\n\\\n");
    let (protocol, option) = match request.wire {
        Wire::V2 => ("version=2", "--stateless-rpc "),
        Wire::V0Stateless => ("version=0", "--stateless-rpc "),
        Wire::V0Stateful => ("version=0", ""),
        Wire::V1Stateful => ("version=1", ""),
    };
    // Escaped line breaks keep the request readable.
    let bytes = bytes.replace("\\\n", "'\\\n'");
    format!(
        "printf '{bytes}' > request\n\
         GIT_PROTOCOL={protocol} git -c uploadpack.allowAnySHA1InWant=true \
         -c uploadpack.allowFilter=true upload-pack {option}server < request > answer\n"
    )
}
