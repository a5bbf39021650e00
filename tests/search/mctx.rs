//! Gumbel search against the numbers of DeepMind's mctx, made by `tools/mctx_cases.py`.

use std::fmt;
use std::sync::Arc;

use jarmo::eval::{Evaluation, ScriptedEvaluator, Value};
use jarmo::game::{Action, ActionError, ActionMask, Game, Mask, Outcome, Player, PositionError};
use jarmo::game::{Reason, Wording};
use jarmo::search::{Batch, GumbelSettings, SearchRule, Tree, TreeLimit};
use serde::Deserialize;

const NO_ACTION: Wording = Wording {
    key: "no_action",
    english: "the table has no such action",
};

const TOLERANCE: f32 = 1e-4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    actions: usize,
    simulations: u32,
    considered: u32,
    movers: Vec<u8>,
    legal: Vec<String>,
    logits: Vec<Vec<f32>>,
    values: Vec<f32>,
    following: Vec<Vec<usize>>,
    noise: Vec<f32>,
    action: u16,
    weights: Vec<f32>,
    visits: Vec<u32>,
    q: Vec<f32>,
    value: f32,
}

/// The endless game that a case's table of positions describes.
#[derive(Clone)]
struct TableGame(Arc<Case>);

impl Game for TableGame {
    type Position = usize;
    type Mask = ActionMask<1>;

    fn id(&self) -> &'static str {
        "table"
    }
    fn rules_version(&self) -> u32 {
        1
    }
    fn actions(&self) -> usize {
        self.0.actions
    }
    fn start(&self) -> usize {
        0
    }
    fn to_move(&self, position: &usize) -> Player {
        Player::BOTH[usize::from(self.0.movers[*position])]
    }
    fn ply(&self, _: &usize) -> u32 {
        0
    }
    fn max_plies(&self) -> u32 {
        0
    }
    fn with_max_plies(self, _: u32) -> TableGame {
        self
    }
    fn legal(&self, position: &usize) -> ActionMask<1> {
        let mut legal = ActionMask::default();
        for (index, one) in self.0.legal[*position].bytes().enumerate() {
            if one == b'1' {
                legal.insert(Action(index as u16));
            }
        }
        legal
    }
    fn play(&self, position: &mut usize, action: Action) {
        *position = self.0.following[*position][action.index()];
    }
    fn outcome(&self, _: &usize) -> Option<Outcome> {
        None
    }
    fn why_illegal(&self, _: &usize, _: Action) -> Reason {
        NO_ACTION.reason()
    }
    fn position_text(&self, position: &usize) -> String {
        position.to_string()
    }
    fn parse_position(&self, text: &str) -> Result<usize, PositionError> {
        text.parse()
            .map_err(|_| PositionError::new("position", text, "expected a number"))
    }
    fn action_text(&self, _: &usize, action: Action) -> String {
        action.0.to_string()
    }
    fn parse_action(&self, _: &usize, text: &str) -> Result<Action, ActionError> {
        text.parse()
            .map(Action)
            .map_err(|_| ActionError::new(text, NO_ACTION.reason()))
    }
    fn draw(&self, position: &usize, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{position}")
    }
}

fn cases() -> Vec<Arc<Case>> {
    let text = include_str!("../data/mctx/cases.json");
    serde_json::from_str::<Vec<Case>>(text)
        .unwrap()
        .into_iter()
        .map(Arc::new)
        .collect()
}

fn search(case: &Arc<Case>) -> Tree<TableGame> {
    let game = TableGame(case.clone());
    let settings = GumbelSettings {
        considered: case.considered,
        ..GumbelSettings::default()
    };
    let limit = TreeLimit::for_simulations(&game, case.simulations);
    let mut tree = Tree::new(
        game.clone(),
        SearchRule::Gumbel(settings),
        limit,
        game.start(),
    );
    let noise: Vec<f32> = game
        .legal(&game.start())
        .iter()
        .map(|action| case.noise[action.index()])
        .collect();
    tree.plan(case.simulations, case.simulations, &noise, 0);
    let table = case.clone();
    let mut evaluator = ScriptedEvaluator::new(&game, 1, move |position: &usize, logits| {
        logits.copy_from_slice(&table.logits[*position]);
        let result = table.values[*position];
        Evaluation::of(Value {
            win: (1.0 + result) / 2.0,
            draw: 0.0,
            loss: (1.0 - result) / 2.0,
            score: 0.0,
        })
    });
    let mut batch = Batch::new(&game);
    batch.search(std::slice::from_mut(&mut tree), &mut evaluator, |_| false);
    tree
}

#[test]
fn actions_weights_visits_and_values_are_those_of_mctx() {
    for (number, case) in cases().iter().enumerate() {
        let tree = search(case);
        let named = format!("case {number}");
        assert_eq!(tree.best(), Some(Action(case.action)), "{named}");
        let mut weights = vec![0.0; case.actions];
        tree.write_policy(&mut weights);
        for (action, (ours, theirs)) in weights.iter().zip(&case.weights).enumerate() {
            let apart = (ours - theirs).abs();
            assert!(
                apart < TOLERANCE,
                "{named}: action {action}: {ours} {theirs}"
            );
        }
        let value = tree.value().unwrap().expectation();
        assert!((value - case.value).abs() < TOLERANCE, "{named}: {value}");
        let roots = tree.root_actions();
        assert_eq!(
            roots.iter().map(|root| root.visits).sum::<u32>(),
            case.simulations,
            "{named}"
        );
        for root in roots {
            let index = root.action.index();
            assert_eq!(root.visits, case.visits[index], "{named}: action {index}");
            if let Some(value) = root.value {
                let apart = (value.expectation() - case.q[index]).abs();
                assert!(apart < TOLERANCE, "{named}: action {index}: {value:?}");
            }
        }
    }
}

#[test]
fn the_cases_cover_what_they_are_for() {
    let cases = cases();
    for simulations in [2, 8, 32] {
        assert!(cases.iter().any(|case| case.simulations == simulations));
    }
    let illegal = |case: &Case| case.legal.iter().any(|row| row.contains('0'));
    assert!(cases.iter().any(|case| illegal(case)));
    assert!(cases.iter().any(|case| !illegal(case)));
    let repeats = |case: &Case| {
        (0..case.movers.len()).any(|position| {
            (case.following[position].iter())
                .any(|&next| case.movers[next] == case.movers[position])
        })
    };
    assert!(cases.iter().any(|case| repeats(case)));
}
