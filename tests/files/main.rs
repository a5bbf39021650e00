//! Files that outlive a run: agents, networks in them, samples.

#[path = "../common/nets.rs"]
mod nets;

#[cfg(feature = "cli")]
mod agent_file;
mod net;
mod replay;
