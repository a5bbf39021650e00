//! Why an action is illegal, as a value that can be put into words in every language of the user interface.

use std::fmt;

use super::Player;

/// The key of a reason and its English text, with placeholders for facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wording {
    /// The key in the translation tables.
    pub key: &'static str,
    /// The English text. Placeholders such as `{place}` stand for facts.
    pub english: &'static str,
}

impl Wording {
    /// A reason that needs no facts.
    pub const fn reason(self) -> Reason {
        Reason { wording: self, facts: Vec::new() }
    }
}

/// Why an action is illegal or cannot be read. Its `Display` text is English.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    wording: Wording,
    facts: Vec<(&'static str, Fact)>,
}

/// The value of a placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fact {
    Player(Player),
    /// A circle, a move or a number, which all languages write the same way.
    Text(String),
}

impl Reason {
    /// Sets the value of `{player}`.
    #[must_use]
    pub fn player(mut self, player: Player) -> Reason {
        self.facts.push(("player", Fact::Player(player)));
        self
    }

    /// Sets the value of the placeholder `{name}` to something that all languages write the same way.
    #[must_use]
    pub fn with(mut self, name: &'static str, fact: impl fmt::Display) -> Reason {
        self.facts.push((name, Fact::Text(fact.to_string())));
        self
    }

    /// The key in the translation tables.
    pub fn key(&self) -> &'static str {
        self.wording.key
    }

    /// The reason in the language of `pattern`, whose placeholders are replaced by the facts.
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

    /// The reason in English, with these names for the players.
    pub fn in_english<'a>(&self, player_name: impl Fn(Player) -> &'a str) -> String {
        self.worded(self.wording.english, player_name)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.in_english(Player::name))
    }
}
