//! The environment, and what networks see of a position.

mod threats;
mod vec_env;
