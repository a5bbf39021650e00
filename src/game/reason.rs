//! Why an action is illegal, as a value that every language can word.

use std::fmt;

use super::Player;

/// A reason without its facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wording {
    /// What tables of other languages know it by.
    pub key: &'static str,
    /// The English sentence, with the names of facts in braces.
    pub english: &'static str,
}

impl Wording {
    /// A reason without facts.
    pub const fn reason(self) -> Reason {
        Reason {
            wording: self,
            facts: Vec::new(),
        }
    }
}

/// Why an action is illegal or cannot be read. It displays in English.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    wording: Wording,
    facts: Vec<(&'static str, Fact)>,
}

/// What a reason is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fact {
    Player(Player),
    /// A circle, a move, a number: the same in every language.
    Text(String),
}

impl Reason {
    /// The reason is about this player.
    #[must_use]
    pub fn player(mut self, player: Player) -> Reason {
        self.facts.push(("player", Fact::Player(player)));
        self
    }

    /// With a fact that is written the same in every language.
    #[must_use]
    pub fn with(mut self, name: &'static str, fact: impl fmt::Display) -> Reason {
        self.facts.push((name, Fact::Text(fact.to_string())));
        self
    }

    /// What tables of languages know it by.
    pub fn key(&self) -> &'static str {
        self.wording.key
    }

    /// The reason in another wording, with the facts in place of their names.
    pub fn worded<'a>(&self, pattern: &str, player_name: impl Fn(Player) -> &'a str) -> String {
        let mut text = pattern.to_owned();
        for (name, fact) in &self.facts {
            let fact = match fact {
                Fact::Player(player) => player_name(*player),
                Fact::Text(text) => text,
            };
            text = text.replace(&format!("{{{name}}}"), fact);
        }
        text
    }

    /// The reason in English, with these names of the players.
    pub fn in_english<'a>(&self, player_name: impl Fn(Player) -> &'a str) -> String {
        self.worded(self.wording.english, player_name)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.in_english(Player::name))
    }
}
