//! Training and matches over several processes with a real server.
//!
//! The server is the program in the environment variable JARMO_NATS_SERVER. Without it, tests that need it say that they
//! are left out; with JARMO_FLEET=1 they fail.

mod files;
mod matches;
mod operations;
mod server;
mod training;
