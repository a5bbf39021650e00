//! Rules: what is legal, what it leads to, and how it is written.

#[path = "../common/mod.rs"]
mod common;

mod contract;
mod naive_jarmo;
mod rulings;
mod text;
