//! The settings of a search by the names that users know: in agent specs, in the settings of a run, and in Python.

use serde::{Deserialize, Serialize};

use super::{GumbelSettings, PuctSettings, SearchRule};
use crate::numbers::{Bounds, TEMPERATURE};

/// The name of a search rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Root {
    /// [`SearchRule::Gumbel`]
    Gumbel,
    /// [`SearchRule::Puct`]
    Puct,
}

/// Settings of a search, which [`SearchSettings::rule`] turns into a rule. Settings that are not given keep their usual
/// values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchSettings {
    /// The search rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<Root>,
    /// Gumbel: see [`GumbelSettings::considered`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub considered: Option<u32>,
    /// Gumbel: see [`GumbelSettings::least_range`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_range: Option<f32>,
    /// PUCT: see [`PuctSettings::c_puct`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c_puct: Option<f32>,
    /// PUCT: see [`PuctSettings::fpu`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fpu: Option<f32>,
    /// PUCT: see [`PuctSettings::temperature`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// PUCT: see [`PuctSettings::min_visit_share`]. Self-play draws its actions by visits, so it has no use for this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_visit_share: Option<f32>,
}

impl SearchSettings {
    /// The bounds of the numbers.
    pub const BOUNDS: [(&str, Bounds); 6] = [
        ("considered", Bounds::whole(1, 1 << 16)),
        ("least_range", Bounds::SHARE),
        ("c_puct", Bounds::real(0.0, 100.0)),
        ("fpu", Bounds::real(0.0, 100.0)),
        ("temperature", Bounds::Real(TEMPERATURE)),
        ("min_visit_share", Bounds::real(0.001, 1.0)),
    ];

    /// The rule of this name, with its usual settings.
    pub const fn of(root: Root) -> SearchSettings {
        SearchSettings {
            root: Some(root),
            considered: None,
            least_range: None,
            c_puct: None,
            fpu: None,
            temperature: None,
            min_visit_share: None,
        }
    }

    /// The rule with these settings. Settings that are not given are taken from `usual`, if it is the same rule.
    pub fn rule(&self, usual: SearchRule) -> SearchRule {
        let usual = match (self.root, usual) {
            (Some(Root::Gumbel), SearchRule::Puct(_)) => SearchRule::Gumbel(GumbelSettings::DEFAULT),
            (Some(Root::Puct), SearchRule::Gumbel(_)) => SearchRule::Puct(PuctSettings::DEFAULT),
            (_, usual) => usual,
        };
        match usual {
            SearchRule::Gumbel(usual) => SearchRule::Gumbel(GumbelSettings {
                considered: self.considered.unwrap_or(usual.considered),
                least_range: self.least_range.unwrap_or(usual.least_range),
                ..usual
            }),
            SearchRule::Puct(usual) => SearchRule::Puct(PuctSettings {
                c_puct: self.c_puct.unwrap_or(usual.c_puct),
                fpu: self.fpu.unwrap_or(usual.fpu),
                temperature: self.temperature.unwrap_or(usual.temperature),
                min_visit_share: self.min_visit_share.unwrap_or(usual.min_visit_share),
                ..usual
            }),
        }
    }

    /// A number that is out of bounds, with its name.
    pub fn out_of_bounds(&self) -> Option<(&'static str, f32, Bounds)> {
        let considered = self.considered.map(|considered| considered as f32);
        let given = [considered, self.least_range, self.c_puct, self.fpu, self.temperature, self.min_visit_share];
        SearchSettings::BOUNDS.into_iter().zip(given).find_map(|((name, bounds), given)| {
            let (least, most) = match bounds {
                Bounds::Whole(range) => (range.least as f32, range.most as f32),
                Bounds::Real(range) => (range.least as f32, range.most as f32),
            };
            given.filter(|number| !(least..=most).contains(number)).map(|number| (name, number, bounds))
        })
    }

    /// A setting that is given although this rule does not have it, and the name of the rule that does.
    pub fn misplaced(&self, rule: SearchRule) -> Option<(&'static str, &'static str)> {
        let other = match rule {
            SearchRule::Gumbel(_) => "puct",
            SearchRule::Puct(_) => "gumbel",
        };
        let given = [
            (self.considered.is_some(), "considered", "gumbel"),
            (self.least_range.is_some(), "least_range", "gumbel"),
            (self.c_puct.is_some(), "c_puct", "puct"),
            (self.fpu.is_some(), "fpu", "puct"),
            (self.temperature.is_some(), "temperature", "puct"),
            (self.min_visit_share.is_some(), "min_visit_share", "puct"),
        ];
        let misplaced = given.into_iter().find(|(is_given, _, root)| *is_given && *root == other);
        misplaced.map(|(_, name, root)| (name, root))
    }
}
