//! Signatures of commits. Git itself, with the registered keys as allowed signers, says which of them are good.

use std::process::Command;

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, WorkTree, on_every_store};

use super::support::{Browser, project, user};

on_every_store!(ssh_signatures_are_checked_with_registered_keys, other_signatures_are_only_named);

/// Creates a key pair beside the work tree, and returns its path.
fn key_pair(tree: &WorkTree, name: &str, options: &[&str]) -> String {
    let path = tree.path().join(".git").join(name).to_string_lossy().into_owned();
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-N", "", "-C", "", "-f", &path]).args(options);
    let made = command.status().expect("ssh-keygen can be started");
    assert!(made.success(), "{options:?}");
    path
}

fn public(path: &str) -> String {
    std::fs::read_to_string(format!("{path}.pub")).expect("the public key is there")
}

/// Registers a key of a user.
fn register(forge: &Forge, user: i64, title: &str, key: &str) {
    let add = forge.post(&format!("/users/{user}/keys")).token(ROOT);
    add.form(&[("title", title), ("key", key)]).send().expect(201);
}

/// Commits with a signature, and returns the id.
fn sign(tree: &WorkTree, key: &str, message: &str) -> String {
    let key = format!("user.signingkey={key}");
    let arguments = ["-c", "gpg.format=ssh", "-c", &key, "commit", "-q", "-S", "--allow-empty"];
    tree.git(&[&arguments[..], &["-m", message]].concat());
    let id = tree.git(&["rev-parse", "HEAD"]);
    // The branch may leave it, and commits that nothing reaches are not shown.
    tree.git(&["tag", &format!("at-{id}")]);
    id
}

/// Stores the last commit once more with a changed text, as the last commit.
fn rewrite(tree: &WorkTree, change: impl Fn(&str) -> String) -> String {
    let text = tree.git(&["cat-file", "commit", "HEAD"]) + "\n";
    tree.write(".git/commit.txt", change(&text));
    let arguments = ["hash-object", "-t", "commit", "-w", "--literally", ".git/commit.txt"];
    let id = tree.git(&arguments);
    tree.git(&["update-ref", "refs/heads/master", &id]);
    id
}

/// What git says about the signature of a commit.
fn is_good(tree: &WorkTree, id: &str) -> bool {
    let signers = "gpg.ssh.allowedSignersFile=.git/signers";
    let verified = tree.command(&["-c", signers, "verify-commit", id]).output();
    verified.expect("git can be started").status.success()
}

fn signature_of(forge: &Forge, id: &str) -> Vec<String> {
    let page = Browser::stranger(forge).get(&format!("/root/ship/commit/{id}")).page(200);
    assert_eq!(page.faults(), Vec::<String>::new());
    let terms = page.all("main dl.facts dt");
    let facts = page.all("main dl.facts dd");
    let pairs = terms.into_iter().zip(facts);
    pairs.filter(|(term, _)| term == "Signature").map(|(_, fact)| fact).collect()
}

fn ssh_signatures_are_checked_with_registered_keys(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    let unsigned = tree.git(&["rev-parse", "HEAD"]);
    // Commits of work trees are those of bob@example.com.
    let (bob, eve) = (user(forge, "bob"), user(forge, "eve"));
    let mut signers = String::new();
    let mut commits = vec![(unsigned, vec![])];
    for (name, options) in [
        ("ed25519", &["-t", "ed25519"][..]),
        ("rsa", &["-t", "rsa", "-b", "2048"]),
        ("ecdsa-256", &["-t", "ecdsa", "-b", "256"]),
        ("ecdsa-384", &["-t", "ecdsa", "-b", "384"]),
        ("ecdsa-521", &["-t", "ecdsa", "-b", "521"]),
    ] {
        let key = key_pair(&tree, name, options);
        register(forge, bob, name, &public(&key));
        signers += &format!("bob@example.com {}", public(&key));
        let expected = "SSH: made with a key of bob".to_owned();
        commits.push((sign(&tree, &key, &format!("Signed with {name}\n\nä")), vec![expected]));
    }
    let text = |text: &str| vec![text.to_owned()];
    let invalid = "SSH, invalid: the signature is not of this commit";
    let tampered = rewrite(&tree, |commit| commit.replace("Signed with", "Forged with"));
    commits.push((tampered, text(invalid)));
    let of_eve = key_pair(&tree, "eve", &["-t", "ed25519"]);
    register(forge, eve, "of eve", &public(&of_eve));
    let other = "SSH, not of the committer: made with a key of eve";
    commits.push((sign(&tree, &of_eve, "By another"), text(other)));
    let unknown = key_pair(&tree, "unknown", &["-t", "ed25519"]);
    let nobody = "SSH, not verified: no active user registered the key";
    commits.push((sign(&tree, &unknown, "By nobody"), text(nobody)));
    let cut = rewrite(&tree, |commit| commit.replace("U1NIU0lH", "U1NIU0lX"));
    commits.push((cut, text("SSH, not verified")));
    forge.fill(id, &tree);
    tree.write(".git/signers", &signers);
    for (id, expected) in &commits {
        assert_eq!(&signature_of(forge, id), expected);
        let is_verified = expected.iter().any(|text| text.starts_with("SSH: "));
        assert_eq!(is_good(&tree, id), is_verified, "{expected:?}");
    }
    let list = Browser::stranger(forge).get("/root/ship/commits/master").page(200);
    let items = list.all("ul[aria-label=Commits] li");
    let signed = items.iter().filter(|item| item.contains("signed (SSH)"));
    assert_eq!((signed.count(), items.len()), (7, 8));
    // A blocked user signs nothing.
    let state = |verb: &str| forge.put(&format!("/users/{eve}/{verb}")).token(ROOT).send();
    state("block").expect(200);
    let (of_other, shown) = &commits[7];
    assert_eq!(shown, &text(other));
    assert_eq!(signature_of(forge, of_other), [nobody]);
    state("unblock").expect(200);
    // The page changes with the keys.
    let (signed, _) = &commits[1];
    let address = format!("/root/ship/commit/{signed}");
    let stranger = Browser::stranger(forge);
    let tag = stranger.get(&address).0.header("ETag").expect("it has a tag").to_owned();
    let again = || forge.page("GET", &address).header("If-None-Match", &tag).send().status;
    assert_eq!(again(), 304);
    let keys = forge.get(&format!("/users/{bob}/keys")).token(ROOT).send().expect(200);
    let key = keys.as_array().into_iter().flatten().find(|key| key["title"] == "ed25519");
    let key = key.expect("it is registered")["id"].clone();
    forge.delete(&format!("/users/{bob}/keys/{key}")).token(ROOT).send().expect(200);
    assert_eq!(again(), 200);
    assert_eq!(signature_of(forge, signed), [nobody]);
}

fn other_signatures_are_only_named(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    let mut commits = Vec::new();
    for (signature, expected) in [
        ("-----BEGIN PGP SIGNATURE-----", "OpenPGP, not verified"),
        ("-----BEGIN SIGNED MESSAGE-----", "X.509, not verified"),
        ("-----BEGIN SSH SIGNATURE-----", "SSH, not verified"),
        ("<script>alert(1)</script>", "Unknown format, not verified"),
    ] {
        tree.commit(expected);
        let header = format!("gpgsig {signature}\n \n text\n -----END SIGNATURE-----\n");
        let add = |text: &str| text.replacen("\n\n", &format!("\n{header}\n"), 1);
        commits.push((rewrite(&tree, add), expected));
    }
    forge.fill(id, &tree);
    for (id, expected) in commits {
        assert_eq!(signature_of(forge, &id), [expected]);
    }
}
