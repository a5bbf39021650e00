//! Files that outlive a run: agents, networks in them, samples.

#[path = "../common/nets.rs"]
mod nets;

mod agent_file;
#[cfg(unix)]
mod inputs;
#[cfg(unix)]
mod outputs;
mod net;
mod replay;
