//! The environment, and the inputs of networks.

mod threats;
mod stream;
mod vec_env;
