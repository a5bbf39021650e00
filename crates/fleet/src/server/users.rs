//! The users of a server: their keys, and what each can reach.
//!
//! A NATS server checks the subject of a request, but not the subject to which the reply goes. Every key except the
//! learner's therefore has its own account, which imports only the services that it needs from the learner's account. A
//! reply returns to the account that asked, where it can do no harm.

use serde::{Deserialize, Serialize};

use crate::places::{
    AGENTS, INFO, LIVES, NETWORKS, PROGRESS, RUNS, blocks_subject, progress_subject, results_subject, samples_subject,
};

/// The role of a key.
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

    /// The subjects of the learner's account that a key can send to.
    fn services(self, key: &str) -> Vec<String> {
        let read = |what: &str| format!("$JS.API.DIRECT.GET.{what}");
        match self {
            Role::Learner => Vec::new(),
            Role::Worker => vec![
                samples_subject("*", key),
                progress_subject(key, "*"),
                blocks_subject(key),
                results_subject("*", key),
                read(&format!("KV_{RUNS}.>")),
                read(&format!("OBJ_{NETWORKS}")),
                read(&format!("OBJ_{AGENTS}")),
            ],
            Role::Watcher => vec![STREAM_INFO.to_owned(), read(&format!("KV_{RUNS}")), read(PROGRESS), read(LIVES)],
        }
    }
}

/// The request for the state of a stream. The server itself answers it in every account, so other accounts use another
/// name for it.
const STREAM_INFO: &str = "$JS.API.STREAM.INFO.*";

/// A user of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The name. The secret half of the key is in the file NAME.key.
    pub name: String,
    /// The public half of the key.
    pub key: String,
    /// Its role.
    pub role: Role,
}

impl User {
    /// The account of the user in the server's configuration.
    pub(super) fn account(&self) -> String {
        let User { name, key, role } = self;
        let learner = Role::Learner.name();
        let (account, content) = match role {
            Role::Learner => (learner, format!("jetstream: enabled\n    exports: [{}]", exports())),
            Role::Worker | Role::Watcher => {
                let service = |subject: String| {
                    let to = if subject == STREAM_INFO { format!(", to: \"{INFO}.*\"") } else { String::new() };
                    format!("\n      {{ service: {{ account: {learner}, subject: {subject:?} }}{to} }}")
                };
                let mut imports: String = role.services(key).into_iter().map(service).collect();
                if *role == Role::Worker {
                    imports += &format!("\n      {{ stream: {{ account: {learner}, subject: \"$KV.{RUNS}.>\" }} }}");
                }
                (key.as_str(), format!("imports: [{imports}\n    ]"))
            }
        };
        format!("  # {name}\n  {account}: {{\n    users: [{{ nkey: {key} }}]\n    {content}\n  }}\n")
    }
}

/// The exports of the learner's account.
fn exports() -> String {
    let service = |role: Role, subject: String| {
        let is_list = role == Role::Watcher && subject != STREAM_INFO;
        let answers = if is_list { ", response: stream" } else { "" };
        format!("\n      {{ service: {subject:?}{answers} }}")
    };
    let roles = [Role::Worker, Role::Watcher];
    let services =
        roles.map(|role| role.services("*").into_iter().map(|subject| service(role, subject)).collect::<String>());
    services.concat() + &format!("\n      {{ stream: \"$KV.{RUNS}.>\" }}\n    ")
}
