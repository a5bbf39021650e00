//! The environment, and the inputs of networks.

mod opponents;
mod threats;
mod stream;
mod vec_env;
