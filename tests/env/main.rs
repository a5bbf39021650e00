//! The environment, and the inputs of networks.

mod threats;
mod vec_env;
