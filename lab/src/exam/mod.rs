//! Draws exams: positions with the exact result of every action.

mod bitbully;
mod draw;
mod games;

pub use bitbully::BitBully;
pub use draw::{Draw, MOST_OPENING_PLIES, Mix, Solve, Source};
pub use games::{HasExam, random_of_tables, solve_by_tables};
