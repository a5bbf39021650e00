//! What makes the shipped files.

mod balance;
mod exam;
mod numbers;
mod proof;
mod puzzles;
mod real;
mod shuttle;
mod signature;
mod tables;
