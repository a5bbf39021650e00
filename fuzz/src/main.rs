//! Feeds damaged inputs to everything that reads text or files from outside. See README.md beside this crate.

mod mutate;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use cpu_time::ProcessTime;

use fuzz::{TARGETS, Target, Tools, corpus};
use jarmo::numbers::{NODES, SEED};
use jarmo::random::stream;
use mutate::{draw, mutate};

/// Replay the corpus, then try damaged copies of it; stops at the first input that fails
#[derive(Parser)]
struct Options {
    /// Targets; all of them if none is named
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Damaged inputs, divided among the targets
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = NODES.or_zero().parser::<u64>())]
    inputs: u64,
    /// Seed of the damage
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = SEED.parser::<u64>())]
    seed: u64,
}

/// Reading a small input never takes this much CPU time.
const PATIENCE: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let options = Options::parse();
    for name in &options.targets {
        if TARGETS.iter().all(|target| target.name != name) {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            eprintln!("error: unknown target {name}; choose of {}", names.join(", "));
            return ExitCode::from(2);
        }
    }
    let mut tools = Tools::new();
    let named = |target: &&Target| options.targets.iter().any(|name| name == target.name);
    let chosen = |target: &&Target| options.targets.is_empty() || named(target);
    let shares: u64 = TARGETS.iter().filter(chosen).map(|target| target.share).sum();
    for target in TARGETS.iter().filter(chosen) {
        let count = options.inputs * target.share / shares;
        if !try_target(target, count, options.seed, &mut tools) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Whether all inputs were read as they should.
fn try_target(target: &Target, count: u64, seed: u64, tools: &mut Tools) -> bool {
    let corpus = corpus(target);
    let start = Instant::now();
    for (index, input) in corpus.iter().enumerate() {
        if !try_input(target, tools, input, index as u64) {
            return false;
        }
    }
    for index in 0..count {
        let mut stream = stream(seed, index);
        let input = mutate(&corpus[draw(&mut stream, corpus.len())], &corpus, &mut stream);
        if !try_input(target, tools, &input, index) {
            return false;
        }
    }
    let (size, seconds) = (corpus.len(), start.elapsed().as_secs_f64());
    println!("{:<10} corpus {size:>3}, damaged {count:>8}, {seconds:>7.1} s", target.name);
    true
}

/// Tries one input. One that fails is saved.
fn try_input(target: &Target, tools: &mut Tools, input: &[u8], index: u64) -> bool {
    let start = ProcessTime::now();
    let result = catch_unwind(AssertUnwindSafe(|| (target.run)(tools, input)));
    let slow = start.elapsed() > PATIENCE;
    if result.is_ok() && !slow {
        return true;
    }
    let path = std::env::temp_dir().join(format!("{}-{index}", target.name));
    let problem = if slow { "slow" } else { "panicked" };
    eprintln!("{}: input {index}: {problem}; see {}", target.name, path.display());
    if let Err(error) = fs::write(&path, input) {
        eprintln!("{}: {error}", path.display());
    }
    false
}
