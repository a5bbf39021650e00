//! A fingerprint of the search in fixed positions, the same on every machine. It changes if a change of
//! the code makes search grow other trees.

use rand::Rng;

use jarmo_core::checksum::digits;
use jarmo_core::eval::Uniform;
use jarmo_core::game::Game;
use jarmo_core::random::{any_of, stream};
use jarmo_core::search::{Batch, GumbelSettings, PuctSettings, SearchPlan, SearchRule, Tree, TreeSize};

/// Positions searched per game.
const POSITIONS: u64 = 12;

/// Position `index` comes after this many random plies times `index`.
const ACTIONS_PER_POSITION: u64 = 2;

/// Simulations per position and search rule.
const SIMULATIONS: u32 = 256;

/// Searches the fixed positions with both search rules and the uniform evaluator. The text has the size of all trees and
/// a hash of the visits at their roots.
pub fn signature<G: Game>(game: &G) -> String {
    let search_rules = [SearchRule::Gumbel(GumbelSettings::default()), SearchRule::Puct(PuctSettings::default())];
    let limit = TreeSize::for_simulations(game, SIMULATIONS);
    let mut trees = Vec::new();
    for index in 0..POSITIONS {
        let position = random_position(game, index);
        for rule in search_rules {
            let mut tree = Tree::new(game.clone(), rule, limit, position);
            tree.plan(SearchPlan::new(SIMULATIONS).seed(index));
            trees.push(tree);
        }
    }
    Batch::new(game).search(&mut trees, &mut Uniform, |_| false);
    let (mut nodes, mut edges, mut found) = (0, 0, Vec::new());
    for tree in &trees {
        let size = tree.size();
        nodes += u64::from(size.nodes);
        edges += u64::from(size.edges);
        for root in tree.root_actions() {
            found.extend((u64::from(root.action.0) << 32 | u64::from(root.visits)).to_le_bytes());
        }
        let best = tree.best().map_or(u64::MAX, |action| action.0.into());
        found.extend(best.to_le_bytes());
    }
    let (name, hash) = (game.id(), digits(&[&found]));
    format!("{name} {nodes} nodes {edges} edges {hash}")
}

/// The position after random actions, or the last one before the end of the game.
fn random_position<G: Game>(game: &G, index: u64) -> G::Position {
    let mut stream = stream(0, index);
    let mut position = game.start();
    for _ in 0..index * ACTIONS_PER_POSITION {
        let action = any_of(&game.legal(&position), stream.next_u64());
        let mut next = position;
        game.play(&mut next, action);
        if game.outcome(&next).is_some() {
            break;
        }
        position = next;
    }
    position
}
