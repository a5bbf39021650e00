//! A game that is given as an explicit tree, for tests.

use std::fmt;
use std::sync::Arc;

use super::text::{fields, parse_number};
use crate::game::{Action, ActionError, ActionMask, Game, Mask, Outcome, Player, PositionError, Reason, Wording};
use crate::games::reasons::GAME_OVER;

/// The largest number of branches of a node.
pub const MAX_BRANCHES: usize = 8;

const NO_BRANCH: Wording = Wording { key: "no_branch", english: "this node has {branches} branches" };
const NO_NUMBER: Wording = Wording { key: "no_number", english: "expected a number below {limit}" };

const FIELDS: [&str; 2] = ["node", "ply"];

/// A node of a scripted game.
#[derive(Clone, Debug)]
pub enum Node {
    /// This player selects a branch. Consecutive nodes may have the same player.
    Choice(Player, Vec<Node>),
    /// The game is over.
    End(Outcome),
}

impl Node {
    /// A node in which White selects a branch.
    pub fn white(branches: impl Into<Vec<Node>>) -> Node {
        Node::Choice(Player::White, branches.into())
    }

    /// A node in which Black selects a branch.
    pub fn black(branches: impl Into<Vec<Node>>) -> Node {
        Node::Choice(Player::Black, branches.into())
    }

    /// The end of the game, with the points of both players.
    pub fn end(white: u8, black: u8) -> Node {
        Node::End(Outcome::by_score([white, black]))
    }
}

/// A game that is given as a tree: action `i` leads to branch `i`.
#[derive(Clone, Debug)]
pub struct Scripted {
    nodes: Arc<[Flat]>,
    max_plies: u32,
}

/// A node of the tree and the ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScriptedPosition {
    node: u32,
    ply: u32,
}

impl ScriptedPosition {
    /// The index of the node.
    pub(crate) fn node(&self) -> usize {
        self.node as usize
    }
}

#[derive(Clone, Debug)]
struct Flat {
    to_move: Player,
    branches: Vec<u32>,
    outcome: Option<Outcome>,
}

impl Scripted {
    /// The game on this tree.
    ///
    /// # Panics
    /// Panics if a choice has no branch or more than [`MAX_BRANCHES`].
    pub fn new(root: &Node) -> Scripted {
        let mut nodes = Vec::new();
        flatten(root, Player::White, &mut nodes);
        Scripted { nodes: nodes.into(), max_plies: 0 }
    }

    /// The number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn node(&self, position: &ScriptedPosition) -> &Flat {
        &self.nodes[position.node()]
    }
}

/// Appends the subtree to `nodes` and returns the index of its root. At the end of the game, the player to move is
/// the opponent of the one who moved last.
fn flatten(node: &Node, parent: Player, nodes: &mut Vec<Flat>) -> u32 {
    let index = nodes.len();
    match node {
        Node::End(outcome) => nodes.push(Flat { to_move: !parent, branches: Vec::new(), outcome: Some(*outcome) }),
        Node::Choice(to_move, branches) => {
            assert!((1..=MAX_BRANCHES).contains(&branches.len()), "a choice has 1 to {MAX_BRANCHES} branches");
            nodes.push(Flat { to_move: *to_move, branches: Vec::new(), outcome: None });
            for branch in branches {
                let child = flatten(branch, *to_move, nodes);
                nodes[index].branches.push(child);
            }
        }
    }
    index as u32
}

impl Game for Scripted {
    type Position = ScriptedPosition;
    type Mask = ActionMask<1>;

    fn id(&self) -> &'static str {
        "scripted"
    }

    fn actions(&self) -> usize {
        MAX_BRANCHES
    }

    fn start(&self) -> ScriptedPosition {
        ScriptedPosition { node: 0, ply: 0 }
    }

    fn to_move(&self, position: &ScriptedPosition) -> Player {
        self.node(position).to_move
    }

    fn ply(&self, position: &ScriptedPosition) -> u32 {
        position.ply
    }

    fn max_plies(&self) -> u32 {
        self.max_plies
    }

    fn with_max_plies(self, max_plies: u32) -> Scripted {
        Scripted { max_plies, ..self }
    }

    fn legal(&self, position: &ScriptedPosition) -> ActionMask<1> {
        if self.is_cut_off(position) {
            return ActionMask::default();
        }
        ActionMask([(1 << self.node(position).branches.len()) - 1])
    }

    fn play(&self, position: &mut ScriptedPosition, action: Action) {
        debug_assert!(self.legal(position).contains(action), "illegal action");
        position.node = self.node(position).branches[action.index()];
        position.ply += 1;
    }

    fn outcome(&self, position: &ScriptedPosition) -> Option<Outcome> {
        let cut_off = self.is_cut_off(position);
        self.node(position).outcome.or_else(|| cut_off.then_some(Outcome::truncated(None)))
    }

    fn why_illegal(&self, position: &ScriptedPosition, _: Action) -> Reason {
        match self.outcome(position) {
            Some(_) => GAME_OVER.reason(),
            None => {
                let branches = self.node(position).branches.len();
                NO_BRANCH.reason().with("branches", branches)
            }
        }
    }

    fn position_text(&self, position: &ScriptedPosition) -> String {
        format!("{} {}", position.node, position.ply)
    }

    fn parse_position(&self, text: &str) -> Result<ScriptedPosition, PositionError> {
        let [node, ply] = fields(text, &FIELDS)?;
        let position = ScriptedPosition { node: parse_number("node", node)?, ply: parse_number("ply", ply)? };
        if position.node() >= self.nodes.len() {
            return Err(PositionError::new("node", node, format!("there are {} nodes", self.nodes.len())));
        }
        Ok(position)
    }

    fn action_text(&self, _: &ScriptedPosition, action: Action) -> String {
        action.0.to_string()
    }

    fn parse_action(&self, _: &ScriptedPosition, text: &str) -> Result<Action, ActionError> {
        text.parse()
            .ok()
            .filter(|&index| usize::from(index) < MAX_BRANCHES)
            .map(Action)
            .ok_or_else(|| ActionError::unreadable(text, NO_NUMBER.reason().with("limit", MAX_BRANCHES)))
    }

    fn draw(&self, position: &ScriptedPosition, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "node {}, ply {}", position.node, position.ply)
    }
}
