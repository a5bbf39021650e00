//! The users of a server: their keys, and what each may say and hear.

use serde::{Deserialize, Serialize};

use crate::places::{
    AGENTS, NETWORKS, PROGRESS, RUNS, blocks_subject, progress_subject, results_subject, samples_subject,
};

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything: learners, arenas, orders to workers.
    Learner,
    /// Playing.
    Worker,
    /// Looking at the status.
    Watcher,
}

impl Role {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Role::Learner => "learner",
            Role::Worker => "worker",
            Role::Watcher => "status",
        }
    }
}

/// A user of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The name. The secret half of the key is in the file NAME.key.
    pub name: String,
    /// The public half of the key.
    pub key: String,
    /// What it is for.
    pub role: Role,
}

impl User {
    /// The user in the server's configuration.
    pub(super) fn text(&self) -> String {
        let User { name, key, role } = self;
        let answers = format!("_INBOX_{key}.>"); // to its own requests
        let (publish, subscribe) = match role {
            Role::Learner => return format!("    # {name}\n    {{ nkey: {key} }}\n"),
            Role::Worker => (worker_may_publish(key), vec![answers, format!("$KV.{RUNS}.>")]),
            Role::Watcher => {
                let read = ["STREAM.INFO.*", &format!("DIRECT.GET.KV_{RUNS}"), &format!("DIRECT.GET.{PROGRESS}")];
                (read.map(|what| format!("$JS.API.{what}")).to_vec(), vec![answers])
            }
        };
        let [publish, subscribe] = [publish, subscribe].map(|subjects| {
            let subjects: Vec<_> = subjects.iter().map(|subject| format!("{subject:?}")).collect();
            format!("{{ allow: [\n        {}\n      ] }}", subjects.join(",\n        "))
        });
        format!(
            "    # {name}\n    {{ nkey: {key}, permissions: {{\n      publish: {publish}\n      subscribe: {subscribe}\n    \
             }} }}\n"
        )
    }
}

/// Files, games and progress under its own key, and requests to read settings, networks and agents. A worker may make no
/// consumer: the server sends what a consumer delivers to any subject.
fn worker_may_publish(key: &str) -> Vec<String> {
    let own = [
        samples_subject("*", key),
        blocks_subject(key),
        results_subject("*", key),
        progress_subject(key, "*"),
        format!("$JS.API.STREAM.INFO.KV_{RUNS}"),
    ];
    let read = [format!("KV_{RUNS}"), format!("OBJ_{NETWORKS}"), format!("OBJ_{AGENTS}")];
    let read = read.map(|stream| ["", ".>"].map(|part| format!("$JS.API.DIRECT.GET.{stream}{part}")));
    own.into_iter().chain(read.into_iter().flatten()).collect()
}
