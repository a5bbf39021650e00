//! What jarmo learned and is examined with, as bytes that are part of the program. Each pair begins with the name of its
//! game.

/// Trained agents, as agent files.
pub const AGENTS: [(&str, &[u8]); 4] = [
    ("jarmo", include_bytes!("jarmo.safetensors")),
    ("guard", include_bytes!("guard.safetensors")),
    ("tammi", include_bytes!("tammi.safetensors")),
    ("connect_four", include_bytes!("connect_four.safetensors")),
];

/// Exams.
pub const EXAMS: [(&str, &[u8]); 3] = [
    ("jarmo", include_bytes!("jarmo.exam")),
    ("connect_four", include_bytes!("connect_four.exam")),
    ("tammi", include_bytes!("tammi.exam")),
];

/// What the opening explorer of the page knows, as JSON compressed by gzip.
pub const EXPLORERS: [(&str, &[u8]); 2] =
    [("jarmo", include_bytes!("jarmo.explorer")), ("connect_four", include_bytes!("connect_four.explorer"))];

/// Balanced openings, a line each; a comment names the board.
pub const OPENINGS: [(&str, &str); 1] = [("jarmo", include_str!("jarmo.openings"))];

/// Puzzles, a line each, the easiest first.
pub const PUZZLES: [(&str, &str); 3] = [
    ("jarmo", include_str!("jarmo.puzzles")),
    ("tammi", include_str!("tammi.puzzles")),
    ("connect_four", include_str!("connect_four.puzzles")),
];
