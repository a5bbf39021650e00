//! Positions → (policy, value).

mod value;

pub use value::Value;
