//! How self-play explores: which rule shares out the simulations, with what noise, and which action is
//! played in the end.

use std::fmt;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::settings::SelfPlaySettings;
use crate::game::{Action, Game};
use crate::random::Stream;
use crate::search::{GumbelSettings, PuctSettings, SearchRule, Tree, dirichlet, gumbel_noise};

/// How simulations are shared out, and with that how self-play explores and what it teaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Root {
    /// Gumbel noise and sequential halving; the best by noise and search is played, and the improved
    /// policy is learned.
    Gumbel,
    /// AlphaZero's rule with Dirichlet noise; the share of its visits is how likely an action is to be
    /// played, and is learned.
    Puct,
}

impl fmt::Display for Root {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Root::Gumbel => "gumbel",
            Root::Puct => "puct",
        })
    }
}

/// The concentration of Dirichlet noise times the number of legal actions, as in AlphaZero: a few
/// actions get most of the noise, however many there are.
const CONCENTRATION: f64 = 10.0;

impl Root {
    pub(super) fn rule(self, settings: &SelfPlaySettings) -> SearchRule {
        match self {
            Root::Gumbel => SearchRule::Gumbel(GumbelSettings {
                least_range: settings.least_range,
                ..GumbelSettings::default()
            }),
            Root::Puct => SearchRule::Puct(PuctSettings::default()),
        }
    }

    /// Writes the noise for a root with this many legal actions.
    pub(super) fn draw_noise(self, actions: usize, stream: &mut Stream, out: &mut Vec<f32>) {
        out.clear();
        match self {
            Root::Gumbel => out.extend((0..actions).map(|_| gumbel_noise(stream.next_u64()))),
            Root::Puct => {
                out.resize(actions, 0.0);
                dirichlet(CONCENTRATION / actions as f64, out, || stream.next_u64());
            }
        }
    }

    /// The action to play after the search. `policy` is what it came to, over all actions of the game.
    pub(super) fn choose<G: Game>(
        self,
        tree: &Tree<G>,
        policy: &[f32],
        stream: &mut Stream,
    ) -> Action {
        match self {
            Root::Gumbel => tree.best().expect("a position under way was judged"),
            Root::Puct => drawn(policy, stream.random()),
        }
    }
}

/// The action at this place, from 0 to 1, of the probabilities laid end to end.
fn drawn(policy: &[f32], place: f32) -> Action {
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
