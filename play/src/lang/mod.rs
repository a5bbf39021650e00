//! The texts that people read, one table per language.

use std::collections::BTreeMap;
use std::env;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use jarmo::game::{Player, Reason};

/// A language that `play` speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    En,
    /// German.
    De,
    /// Italian.
    It,
    /// Finnish.
    Fi,
    /// Esperanto.
    Eo,
}

impl Language {
    /// All languages, the one to fall back to first.
    pub const ALL: [Language; 5] = [
        Language::En,
        Language::De,
        Language::It,
        Language::Fi,
        Language::Eo,
    ];

    /// The two letters it is chosen by.
    pub const fn code(self) -> &'static str {
        match self {
            Language::En => "en",
            Language::De => "de",
            Language::It => "it",
            Language::Fi => "fi",
            Language::Eo => "eo",
        }
    }

    /// The language of a tag such as `de`, `de_AT.UTF-8` or `de-AT`.
    pub fn parse(tag: &str) -> Option<Language> {
        let code = tag.split(['_', '-', '.', '@']).next()?;
        Language::ALL
            .into_iter()
            .find(|language| language.code().eq_ignore_ascii_case(code))
    }

    /// The language that the environment asks for, else English.
    pub fn from_environment() -> Language {
        // The order in which programs look for the language of messages.
        let wished = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .filter_map(|name| env::var(name).ok())
            .find(|tag| !tag.is_empty());
        wished
            .and_then(|tag| Language::parse(&tag))
            .unwrap_or(Language::En)
    }

    /// Its table.
    pub fn texts(self) -> &'static Texts {
        static TABLES: OnceLock<Vec<Texts>> = OnceLock::new();
        let tables = TABLES.get_or_init(|| {
            let sources = [
                include_str!("en.toml"),
                include_str!("de.toml"),
                include_str!("it.toml"),
                include_str!("fi.toml"),
                include_str!("eo.toml"),
            ];
            let read =
                |source| toml::from_str(source).expect("the built-in tables are well-formed");
            sources.into_iter().map(read).collect()
        });
        &tables[self as usize]
    }
}

/// The table of one language.
#[derive(Debug, Serialize, Deserialize)]
pub struct Texts {
    /// The rules of each game, by its name.
    rulebook: BTreeMap<String, String>,
    /// Why moves are illegal, by the key of the reason. English is what a [`Reason`] says itself.
    #[serde(default, skip_serializing)]
    reasons: BTreeMap<String, String>,
    /// Everything else, by key.
    #[serde(flatten)]
    texts: BTreeMap<String, String>,
}

impl Texts {
    /// The text of a key.
    ///
    /// # Panics
    /// Panics if there is no such key: every table has every key that the program names.
    pub fn get(&self, key: &str) -> &str {
        match self.texts.get(key) {
            Some(text) => text,
            None => panic!("no text is called `{key}`"),
        }
    }

    /// The text of a key with its `{names}` filled in.
    pub fn fill(&self, key: &str, values: &[(&str, &str)]) -> String {
        let mut text = self.get(key).to_owned();
        for (name, value) in values {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        text
    }

    /// White or Black.
    pub fn player(&self, player: Player) -> &str {
        self.get(player.name())
    }

    /// The rules of a game, for people: lines, `# ` before a heading.
    pub fn rules(&self, game: &str) -> &str {
        &self.rulebook[game]
    }

    /// Why a move is illegal. A reason that the table does not have is told in English.
    pub fn reason(&self, reason: &Reason) -> String {
        let player = |player| self.player(player);
        match self.reasons.get(reason.key()) {
            Some(pattern) => reason.worded(pattern, player),
            None => reason.in_english(player),
        }
    }

    /// The keys of the reasons that the table words, and their texts.
    pub fn reasons(&self) -> &BTreeMap<String, String> {
        &self.reasons
    }

    /// All keys but those of reasons, those of rules after a slash.
    pub fn keys(&self) -> Vec<String> {
        let rules = self.rulebook.keys().map(|key| format!("rulebook/{key}"));
        self.texts.keys().cloned().chain(rules).collect()
    }
}
