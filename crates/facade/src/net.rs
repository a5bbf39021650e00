//! Evaluators for an erased game.

use std::sync::Arc;

use jarmo_core::eval::{EvalBatch, Evaluation, Evaluator, Value};
use jarmo_core::ndarray::{Array2, Array4};
use jarmo_core::net::{FrozenNet, NetEvaluator};
use jarmo_exact::catalog::CatalogGame;

use crate::erased::{Facts, features, masks};

/// A network or a function that evaluates positions.
#[derive(Clone)]
pub enum Net {
    /// A network.
    Frozen(FrozenNet),
    /// A function.
    Function(Arc<NetFunction>),
}

impl From<FrozenNet> for Net {
    fn from(net: FrozenNet) -> Net {
        Net::Frozen(net)
    }
}

/// A function that is used like a network.
pub struct NetFunction {
    /// The batch size at which it is most efficient.
    pub batch: usize,
    /// Whether the features have the planes of threats.
    pub threats: bool,
    /// Gets the features, [`Facts::feature_shape`], and the legal actions, `[positions, actions]`, of positions that
    /// are not over. Returns a logit for each action, `[positions, actions]`, and the value of each position for the
    /// player to move. Logits of illegal actions are ignored.
    pub evaluate: Box<Evaluate>,
}

/// See [`NetFunction::evaluate`].
pub type Evaluate = dyn Fn(Array4<f32>, Array2<bool>) -> (Vec<f32>, Vec<Value>) + Send + Sync;

/// Any evaluator, so that search and self-play are compiled once for all of them.
pub(crate) type AnyEvaluator<G> = Box<dyn Evaluator<G>>;

impl Net {
    /// Evaluators for this many threads: see [`FrozenNet::for_threads`].
    pub(crate) fn evaluators<G: CatalogGame>(&self, game: &G, facts: &Facts, threads: usize) -> Vec<AnyEvaluator<G>> {
        let nets = match self {
            Net::Frozen(net) => net.for_threads(threads).into_iter().map(Net::Frozen).collect(),
            Net::Function(_) => vec![self.clone(); threads],
        };
        nets.iter().map(|net| net.evaluator(game, facts)).collect()
    }

    pub(crate) fn evaluator<G: CatalogGame>(&self, game: &G, facts: &Facts) -> AnyEvaluator<G> {
        match self {
            Net::Frozen(net) => Box::new(NetEvaluator::with_net(game.clone(), net.clone())),
            Net::Function(function) => {
                Box::new(Asking { game: game.clone(), facts: facts.clone(), function: function.clone() })
            }
        }
    }
}

/// A function as an evaluator.
struct Asking<G> {
    game: G,
    facts: Facts,
    function: Arc<NetFunction>,
}

impl<G: CatalogGame> Evaluator<G> for Asking<G> {
    fn batch(&self) -> usize {
        self.function.batch
    }

    fn evaluate(&mut self, batch: &mut EvalBatch<G::Position>) {
        let Asking { game, facts, function } = self;
        let positions = batch.positions();
        let features = features(game, facts, positions.iter().copied(), function.threats);
        let (answered, values) = (function.evaluate)(features, masks(game, positions.iter()));
        let answers = answered.chunks_exact(game.actions()).zip(values);
        for (row, (logits, value)) in batch.rows().zip(answers) {
            row.logits.copy_from_slice(logits);
            *row.evaluation = Evaluation::of(value);
        }
    }
}
