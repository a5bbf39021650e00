//! Files that outlive a run: agents, networks in them, samples.

#[cfg(feature = "cli")]
#[path = "../common/nets.rs"]
mod nets;

#[cfg(feature = "cli")]
mod agent_file;
#[cfg(all(unix, feature = "cli"))]
mod inputs;
mod net;
mod replay;
