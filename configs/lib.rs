//! The settings of training runs, as texts that are part of the program.

/// The default of every setting.
pub const DEFAULT: &str = include_str!("default.toml");

/// What differs from the defaults in a game without an evaluation: opponents that have none.
pub const BARE: &str = include_str!("bare.toml");

/// What differs from the defaults, by game.
pub const GAMES: [(&str, &str); 4] = [
    ("jarmo", include_str!("jarmo.toml")),
    ("guard", include_str!("guard.toml")),
    ("tammi", include_str!("tammi.toml")),
    ("connect_four", include_str!("connect_four.toml")),
];
