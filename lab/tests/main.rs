//! What makes the shipped files.

mod balance;
mod exam;
mod explorer;
mod numbers;
mod pictures;
mod proof;
mod puzzles;
mod real;
mod shuttle;
mod signature;
mod tables;
