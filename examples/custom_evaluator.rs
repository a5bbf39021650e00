//! Search with a custom evaluator: the value of a position is its points on the board.
//!
//! `cargo run --release --example custom_evaluator`

use std::slice;

use jarmo::eval::{EvalBatch, EvalRow, Evaluation, Evaluator, Value};
use jarmo::game::Game;
use jarmo::games::{Jarmo, JarmoPosition};
use jarmo::search::{Batch, PuctSettings, SearchPlan, SearchRule, Tree, TreeSize};

const SIMULATIONS: u32 = 20_000;

/// A lead in points raises the win probability. No policy.
struct Points;

impl Evaluator<Jarmo> for Points {
    fn has_policy(&self) -> bool {
        false
    }

    fn evaluate(&mut self, batch: &mut EvalBatch<JarmoPosition>) {
        for EvalRow { position, evaluation, .. } in batch.rows() {
            let mover = position.to_move();
            let points = position.score().map(f32::from);
            let lead = points[mover.index()] - points[(!mover).index()];
            let win = 1.0 / (1.0 + (-0.8 * lead).exp());
            *evaluation = Evaluation::of(Value { win, draw: 0.0, loss: 1.0 - win, score: lead });
        }
    }
}

fn main() {
    let game = Jarmo::standard();
    let limit = TreeSize::for_simulations(&game, SIMULATIONS);
    let rule = SearchRule::Puct(PuctSettings::default());
    let mut tree = Tree::new(game.clone(), rule, limit, game.start());
    tree.plan(SearchPlan::new(SIMULATIONS).seed(1));
    Batch::new(&game).search(slice::from_mut(&mut tree), &mut Points, |_| false);

    let mut actions = tree.root_actions();
    actions.sort_by_key(|action| std::cmp::Reverse(action.visits));
    println!("move    visits  value");
    for action in &actions[..5] {
        let value = action.value.expect("visited").expectation();
        let text = game.action_text(&game.start(), action.action);
        println!("{text} {:>8} {value:>+6.3}", action.visits);
    }
}
