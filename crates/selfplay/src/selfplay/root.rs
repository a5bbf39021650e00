//! Exploration in self-play: the search rule at the root, its noise, and the choice of the action.

use std::fmt;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::settings::SelfPlaySettings;
use jarmo_core::game::{Action, Game};
use jarmo_core::random::Stream;
use jarmo_core::search::{GumbelSettings, PuctSettings, SearchRule, Tree, dirichlet, gumbel_noise};

/// The search rule at the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Root {
    /// Gumbel noise and sequential halving. The remaining action is played; the policy target is the
    /// improved policy.
    Gumbel,
    /// AlphaZero's PUCT with Dirichlet noise. The action is drawn by visit counts, which are also the
    /// policy target.
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

/// The concentration of Dirichlet noise times the number of legal actions, as in AlphaZero. A few
/// actions get most of the noise, whatever their number.
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

    /// The action to play. `policy` is the policy after search, over all actions of the game.
    pub(super) fn choose<G: Game>(
        self,
        tree: &Tree<G>,
        policy: &[f32],
        stream: &mut Stream,
    ) -> Action {
        match self {
            Root::Gumbel => tree.best().expect("the search evaluated the root"),
            Root::Puct => draw_action(policy, stream.random()),
        }
    }
}

/// The action at `place`, 0 to 1, in the cumulative distribution of a policy.
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
