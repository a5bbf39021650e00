//! Exploration in self-play: the noise at the root, and the choice of the action.

use rand::{Rng, RngExt};

use jarmo_core::game::{Action, Game};
use jarmo_core::random::Stream;
use jarmo_core::search::{SearchRule, Tree, dirichlet, gumbel_noise};

/// Dirichlet noise has the concentration α = CONCENTRATION / number of legal actions, as in AlphaZero. For any number
/// of actions, a few of them then get most of the noise.
const CONCENTRATION: f64 = 10.0;

/// Writes the noise for a root with this many legal actions: Gumbel variables, or a Dirichlet sample.
pub fn draw_noise(rule: SearchRule, actions: usize, stream: &mut Stream, out: &mut Vec<f32>) {
    out.clear();
    match rule {
        SearchRule::Gumbel(_) => out.extend((0..actions).map(|_| gumbel_noise(stream.next_u64()))),
        SearchRule::Puct(_) => {
            out.resize(actions, 0.0);
            dirichlet(CONCENTRATION / actions as f64, out, || stream.next_u64());
        }
    }
}

/// The action to play: with Gumbel the best one of the search, with PUCT one drawn from `policy`, the policy after
/// search over all actions of the game.
pub(super) fn choose<G: Game>(rule: SearchRule, tree: &Tree<G>, policy: &[f32], stream: &mut Stream) -> Action {
    match rule {
        SearchRule::Gumbel(_) => tree.best().expect("the search evaluated the root"),
        SearchRule::Puct(_) => draw_action(policy, stream.random()),
    }
}

/// The action at `place` (0 to 1) in the cumulative distribution of a policy.
fn draw_action(policy: &[f32], place: f32) -> Action {
    let mut left = place * policy.iter().sum::<f32>();
    let mut last = 0;
    for (action, share) in policy.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        last = action;
        left -= share;
        if left < 0.0 {
            break;
        }
    }
    Action(last as u16)
}
