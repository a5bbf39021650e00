//! The ceiling of a network size: how often a network without search keeps the best result after it learned exact
//! results and perfect policies. What an agent from self-play lacks of it is lost in training, not in the size.
//!
//! It learns the positions of exam files and is measured on the exam of the program, whose positions, and those one
//! action later, it never learns. For jarmo, exact tables make any number of positions; `sampling` keeps the agent from
//! repeating its games:
//!
//! ```sh
//! lab exam --tables packed --agent "checkpoints/jarmo.safetensors?sims=32&sampling=1" --positions 240000 \
//!   --seed 2 --out learn.exam
//! lab ceiling learn.exam --width 256 --blocks 2 --minutes 10 --out 256x2.safetensors
//! ```
//!
//! One line of a table is printed at the start and after every tenth of the steps; the columns are explained by
//! `--help`. The result depends on the seed and the number of steps alone, up to the rounding of the processor.

mod lessons;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use cpu_time::{ProcessTime, ThreadTime};
use jarmo_core::net::{
    AgentFile, FeatureBatch, FrozenNet, Logits, NetEvaluator, NetKind, NetSettings, NetShape, Network, Provenance,
    Weights,
};
use jarmo_core::numbers::{BATCH, CPU_MINUTES, NumberRange, SEED, STEPS};
use jarmo_core::random::stream;
use jarmo_exact::agent::{Agent, PolicyAgent};
use jarmo_exact::catalog::{CatalogGame, GameSettings, GameTask, with_game};
use jarmo_host::agent_file;
use jarmo_host::program::this_program;
use jarmo_judge::accuracy::{Exam, ExamHeader};
use jarmo_learn::config::Config;
use jarmo_learn::train::{Learner, LearnerSettings, OpenDevice, register_built_in};
use jarmo_selfplay::replay::Samples;

use self::lessons::{Errors, Excluded, Lessons};

/// Measure what a network of one size can learn from exact results
#[derive(clap::Args)]
#[command(after_help = "\
Columns: network (width x blocks); training steps and positions learned, repetitions counted; minutes of CPU time \
spent on learning; share of the exam's decisions that keep the best result, of all and of critical ones, by the \
network without search; share of the exam's positions whose result it predicts, and of positions after a random \
action in them; then, in nats, the loss of policy (minus the logarithm of the probability of all right actions \
together) and result, on the exam and on positions that it learned. If the last two are much lower than the two \
before, it memorised its positions.")]
pub struct Args {
    /// Exams to learn from, as `lab exam` writes them, all of one game
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The network
    #[arg(long, default_value = "mlp", value_parser = NetKind::BUILT_IN)]
    kind: String,
    /// Width of a layer (tower: numbers per cell), a multiple of 32
    #[arg(long, value_name = "N", default_value = "256", value_parser = NetSettings::WIDTH.parser::<usize>())]
    width: usize,
    /// Residual blocks
    #[arg(long, value_name = "N", default_value = "2", value_parser = NetSettings::BLOCKS.parser::<usize>())]
    blocks: usize,
    /// Start from the weights of this agent file, grown to the size
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// CPU time for learning, from which the number of steps is estimated
    #[arg(long, value_name = "M", default_value = "10", value_parser = CPU_MINUTES.parser::<f64>())]
    minutes: f64,
    /// Training steps, instead of --minutes; 0 only measures
    #[arg(long, value_name = "N", value_parser = STEPS.parser::<u64>())]
    steps: Option<u64>,
    /// Positions per step
    #[arg(long, value_name = "N", default_value = "512", value_parser = BATCH.parser::<usize>())]
    batch: usize,
    /// Highest learning rate; it falls to 5 % of it [default: as `jarmo train`]
    #[arg(long, value_name = "R", value_parser = RATE.parser::<f64>())]
    rate: Option<f64>,
    /// Share of each step's positions that are successors: positions after a random action, whose results are known and
    /// whose right actions are not. Search evaluates such positions
    #[arg(long, value_name = "SHARE", default_value = "0.5", value_parser = SHARE.parser::<f64>())]
    successors: f64,
    /// Seed of weights and batches
    #[arg(long, value_name = "N", default_value = "1", value_parser = SEED.parser::<u64>())]
    seed: u64,
    /// Write the averaged weights as an agent file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Learning rates.
const RATE: NumberRange<f64> = NumberRange::new(1e-9, 1.0);

/// Shares of successors.
const SHARE: NumberRange<f64> = NumberRange::new(0.0, 1.0);

/// The index of the random stream that draws the initial weights. The batches have the streams of their steps.
const WEIGHTS: u64 = u64::MAX;

/// The index of the random stream that draws the successors to learn.
const SUCCESSORS: u64 = u64::MAX - 1;

/// Lines of the table after the first.
const LINES: u64 = 10;

/// Steps that estimate the time of one.
const TRIAL_STEPS: u64 = 30;

/// Steps after which the policy to learn follows newer weights.
const REFRESH: u64 = 8;

/// Passes over the exam that measure the speed; the median counts.
const SPEED_PASSES: usize = 9;

/// Positions on which losses are measured, at most.
const MEASURED: usize = 20_000;

/// Measures what a network of this size learns, and writes it line by line.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let header = ExamHeader::load(&args.files[0])?;
    with_game(&header.game, &GameSettings::default(), Ceiling(args, out))?
}

struct Ceiling<'a>(&'a Args, &'a mut dyn Write);

impl GameTask for Ceiling<'_> {
    type Output = Result<(), Box<dyn Error>>;

    fn run<G: CatalogGame>(self, game: G) -> Self::Output {
        let Ceiling(args, out) = self;
        let exam = Exam::built_in(&game).ok_or_else(|| format!("this program has no exam for {}", game.id()))?;
        let mut lessons = Lessons::new(&game);
        let mut draws = stream(args.seed, SUCCESSORS);
        let (excluded, mut left_out) = (Excluded::of(&game, &exam), 0);
        for file in &args.files {
            left_out += lessons.add(&game, &Exam::load(&game, file)?, &excluded, &mut draws);
        }
        writeln!(
            out,
            "{} positions to learn and {} after a random action, {left_out} of the exam left out",
            lessons.questions().len(),
            lessons.successors().len()
        )?;
        if lessons.questions().is_empty() || lessons.successors().is_empty() {
            return Err("nothing to learn: give exams with other positions".into());
        }
        let weights = first_weights(args, &game)?;
        writeln!(
            out,
            "{}: {} parameters, {:.0} evaluations per second of one core",
            weights.net(),
            weights.parameters(),
            evaluations_per_s(&game, &exam, &weights)
        )?;
        let begin = |steps| Student::new(args, &lessons, weights.clone(), steps);
        let steps = match args.steps {
            Some(steps) => steps,
            None => estimate_steps(args, begin(TRIAL_STEPS))?,
        };
        let mut student = begin(steps);
        let mut unseen = Lessons::new(&game);
        let mut draws = stream(0, SUCCESSORS); // the same for all seeds
        unseen.add(&game, &exam, &Excluded::none(), &mut draws);
        let examiner = Examiner { game: &game, exam: &exam, unseen };
        writeln!(
            out,
            "network        steps  positions  minutes   right  critical  result   after | policy  result | learned: policy  result"
        )?;
        examiner.write(&student, out)?;
        for line in 1..=LINES.min(steps) {
            let lines = LINES.min(steps);
            while student.learner.steps() < steps * line / lines {
                student.step()?;
            }
            student.learner.end_turn()?;
            examiner.write(&student, out)?;
        }
        if let Some(path) = &args.out {
            let provenance = Provenance {
                program: this_program(),
                run: "ceiling".to_owned(),
                seed: args.seed,
                step: student.learner.steps(),
                games: 0,
            };
            let weights = student.learner.average().clone();
            let file = AgentFile::new(&game, weights, provenance, Vec::new());
            agent_file::save(&file, path)?;
        }
        Ok(())
    }
}

/// The weights before the first step.
fn first_weights<G: CatalogGame>(args: &Args, game: &G) -> Result<Weights, Box<dyn Error>> {
    let size = NetSettings { width: args.width, blocks: args.blocks };
    size.validate()?;
    register_built_in();
    let net = NetKind::named(&args.kind, size, game.cells());
    let mut stream = stream(args.seed, WEIGHTS);
    Ok(match &args.from {
        Some(file) => agent_file::load_for(file, game)?.weights().grown(size, &mut stream)?,
        None => Weights::random(net, NetShape::of(game), &mut stream),
    })
}

/// Evaluations of the exam's positions per second of CPU time, on one thread.
fn evaluations_per_s<G: CatalogGame>(game: &G, exam: &Exam<G>, weights: &Weights) -> f64 {
    const CHUNK: usize = 256;
    let batches: Vec<FeatureBatch> = exam
        .questions()
        .chunks(CHUNK)
        .map(|questions| {
            let mut batch = FeatureBatch::new();
            for question in questions {
                batch.push(game, &question.position);
            }
            batch
        })
        .collect();
    let mut net = FrozenNet::new(weights);
    let mut logits = Logits::new(*net.shape());
    let mut passes: Vec<Duration> = (0..SPEED_PASSES)
        .map(|_| {
            let begun = ThreadTime::now();
            for batch in &batches {
                net.evaluate(batch, &mut logits);
            }
            begun.elapsed()
        })
        .collect();
    passes.sort_unstable();
    exam.len() as f64 / passes[SPEED_PASSES / 2].as_secs_f64()
}

/// The steps that fit into the time, from the time of some steps of a student that is thrown away.
fn estimate_steps(args: &Args, mut student: Student<'_>) -> Result<u64, Box<dyn Error>> {
    student.step()?; // The first step allocates.
    student.time = Duration::ZERO;
    for _ in 0..TRIAL_STEPS {
        student.step()?;
    }
    let step = student.time.as_secs_f64() / TRIAL_STEPS as f64;
    Ok((args.minutes * 60.0 / step) as u64)
}

/// A network that learns, and the time it took.
struct Student<'a> {
    lessons: &'a Lessons,
    seed: u64,
    rows: [usize; 2], // positions per step: questions and successors
    learner: Learner,
    batch: Samples,
    own: FrozenNet, // with the learner's weights of at most `REFRESH` steps ago
    time: Duration,
}

impl<'a> Student<'a> {
    /// A student that will take this many steps.
    fn new(args: &Args, lessons: &'a Lessons, weights: Weights, steps: u64) -> Student<'a> {
        let successors = (args.successors * args.batch as f64).round() as usize;
        let default = Config::default().learner;
        let config = LearnerSettings {
            rate: args.rate.map_or(default.rate, |rate| rate as f32),
            decay: steps.saturating_sub(default.warm_up).max(1),
            ..default
        };
        Student {
            lessons,
            seed: args.seed,
            rows: [args.batch - successors, successors],
            batch: Samples::new(),
            own: FrozenNet::new(&weights),
            learner: Learner::new(config, weights, &OpenDevice::cpu()),
            time: Duration::ZERO,
        }
    }

    /// Learns one batch of positions, drawn uniformly.
    fn step(&mut self) -> Result<(), Box<dyn Error>> {
        let begun = ProcessTime::now();
        let step = self.learner.steps();
        if step.is_multiple_of(REFRESH) {
            self.own = FrozenNet::new(&self.learner.weights());
        }
        let mut draws = stream(self.seed, step);
        self.lessons.draw(self.rows, &mut self.own, &mut draws, &mut self.batch);
        self.learner.step(&self.batch)?;
        self.time += begun.elapsed();
        Ok(())
    }
}

/// Measures the averaged weights of a student.
struct Examiner<'a, G: CatalogGame> {
    game: &'a G,
    exam: &'a Exam<G>,
    unseen: Lessons, // the positions of the exam
}

impl<G: CatalogGame> Examiner<'_, G> {
    /// Writes a line of the table.
    fn write(&self, student: &Student<'_>, out: &mut dyn Write) -> io::Result<()> {
        let weights = student.learner.average();
        let net = NetEvaluator::new(self.game.clone(), weights);
        let agent = PolicyAgent::new(self.game.clone(), net);
        let mut agents: Vec<Box<dyn Agent<G>>> = vec![Box::new(agent)];
        let all = self.exam.take(&mut agents, None, 1).score().all;
        let mut net = FrozenNet::new(weights);
        let sets = [self.unseen.questions(), self.unseen.successors(), student.lessons.questions()];
        let [unseen, after, learned] = sets.map(|set| Errors::of(&mut net, set, MEASURED));
        let steps = student.learner.steps();
        writeln!(
            out,
            "{:13} {steps:6} {:10} {:8.2} {:6.2}% {:8.2}% {:6.2}% {:6.2}% | {:6.4} {:7.4} | {:15.4} {:7.4}",
            weights.net().to_string(),
            steps * student.rows.iter().sum::<usize>() as u64,
            student.time.as_secs_f64() / 60.0,
            100.0 * all.share(),
            100.0 * all.critical_share(),
            100.0 * unseen.predicted,
            100.0 * after.predicted,
            unseen.policy,
            unseen.result,
            learned.policy,
            learned.result,
        )
    }
}
