//! Trees and evaluators for the tests of search.

use jarmo::eval::{Evaluation, Evaluator, ScriptedEvaluator, Value};
use jarmo::game::{Game, Player};
use jarmo::games::scripted::Node;
use jarmo::random::stream;
use jarmo::search::{Batch, GumbelSettings, PuctSettings, SearchPlan, SearchRule, Tree, TreeSize};
use rand::Rng;

pub(crate) const GUMBEL: SearchRule =
    SearchRule::Gumbel(GumbelSettings { considered: 16, value_scale: 0.1, visit_offset: 50.0, least_range: 0.0 });

pub(crate) fn search_rules() -> [SearchRule; 2] {
    [GUMBEL, SearchRule::Puct(PuctSettings::default())]
}

/// A tree from the start of a game after this many simulations with `evaluator`.
pub(crate) fn grown<G: Game>(
    game: &G,
    rule: SearchRule,
    simulations: u32,
    evaluator: &mut impl Evaluator<G>,
) -> Tree<G> {
    let limit = TreeSize::for_simulations(game, simulations);
    let mut tree = Tree::new(game.clone(), rule, limit, game.start());
    tree.plan(SearchPlan::new(simulations).seed(7));
    Batch::new(game).search(std::slice::from_mut(&mut tree), evaluator, |_| false);
    tree
}

/// A long corridor in which `mover` never has a choice, so that nothing is proven early.
pub(crate) fn corridor(mover: Player, length: usize) -> Node {
    let mut node = Node::end(1, 1);
    for _ in 0..length {
        node = Node::Choice(mover, vec![node]);
    }
    node
}

/// An evaluator with pseudorandom logits and values that depend on the position alone.
pub(crate) fn opinionated<G: Game>(
    game: &G,
    batch: usize,
) -> ScriptedEvaluator<impl FnMut(&G::Position, &mut [f32]) -> Evaluation + use<G>> {
    let rules = game.clone();
    ScriptedEvaluator::new(game, batch, move |position: &G::Position, logits| {
        let text = rules.position_text(position);
        let seed = text.bytes().fold(1_u64, |sum, byte| sum.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte));
        let mut bits = stream(seed, 0);
        let mut uniform = || (bits.next_u64() >> 40) as f32 / (1 << 24) as f32;
        logits.iter_mut().for_each(|logit| *logit = 4.0 * uniform());
        let win = uniform();
        Evaluation::of(Value { win: 0.9 * win, draw: 0.1, loss: 0.9 * (1.0 - win), score: 6.0 * win - 3.0 })
    })
}

/// A text that is equal for equal trees.
pub(crate) fn summary<G: Game>(tree: &Tree<G>) -> String {
    format!("{:?} {:?} {:?}", tree.root_actions(), tree.best(), tree.size())
}
