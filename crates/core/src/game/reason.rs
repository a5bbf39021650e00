//! Why an action is illegal, as a value that can be worded in every language.

use std::fmt;

use super::Player;

/// The key and English text of a reason, before its facts are filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wording {
    /// The key in the language tables.
    pub key: &'static str,
    /// The English text, with placeholders for facts: `{place}`.
    pub english: &'static str,
}

impl Wording {
    /// A reason without facts.
    pub const fn reason(self) -> Reason {
        Reason { wording: self, facts: Vec::new() }
    }
}

/// Why an action is illegal or cannot be read. Displays in English.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    wording: Wording,
    facts: Vec<(&'static str, Fact)>,
}

/// A value for a placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fact {
    Player(Player),
    /// A circle, a move or a number: written the same in every language.
    Text(String),
}

impl Reason {
    /// Fills in `{player}`.
    #[must_use]
    pub fn player(mut self, player: Player) -> Reason {
        self.facts.push(("player", Fact::Player(player)));
        self
    }

    /// Fills in `{name}` with a value that is written the same in every language.
    #[must_use]
    pub fn with(mut self, name: &'static str, fact: impl fmt::Display) -> Reason {
        self.facts.push((name, Fact::Text(fact.to_string())));
        self
    }

    /// The key in the language tables.
    pub fn key(&self) -> &'static str {
        self.wording.key
    }

    /// The reason in the words of `pattern`, with the placeholders filled in.
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

    /// The reason in English, with the given player names.
    pub fn in_english<'a>(&self, player_name: impl Fn(Player) -> &'a str) -> String {
        self.worded(self.wording.english, player_name)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.in_english(Player::name))
    }
}
