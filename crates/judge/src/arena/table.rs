//! The report as text that is not wider than the terminal.

use std::fmt::Write;

use super::mistakes::{AtForce, Decisions, PlyRange};
use super::report::{Report, Scores};
use super::sprt::Conclusion;
use super::standings::Results;

/// The names of agents are not shortened below this many characters.
const NARROWEST_NAME: usize = 12;

/// The width of the table of agents without names.
const AGENT_COLUMNS: usize = 64;

/// The width of the table of mistakes without names.
const MISTAKE_COLUMNS: usize = 31;

/// The width of the table of matches without names.
const MATCH_COLUMNS: usize = 48;

impl Report {
    /// The table of agents: a header and one line per agent.
    pub fn agents_table(&self, width: usize) -> String {
        let names = self.agents.iter().map(|row| row.name.chars().count());
        let room = name_room(names, width.saturating_sub(AGENT_COLUMNS));
        let mut text = format!(
            "{:>2} {:<room$} {:>5} {:>4} {:>6} {:>6} {:>17} {:>5} {:>5}{}\n",
            "#",
            "agent",
            "elo",
            "±",
            "games",
            "score",
            "won drawn  lost",
            "white",
            "black",
            self.difference_head()
        );
        for (row, rank) in self.agents.iter().zip(1..) {
            let Scores { games, results, score, as_white, as_black, mean_difference } = row.scores;
            let Results { wins, draws, losses } = results;
            let _ = writeln!(
                text,
                "{rank:>2} {:<room$} {} {:>4.0} {games:>6} {} {wins:>5} {draws:>5} {losses:>5} {} {}{}",
                shortened(&row.name, room),
                elo(row.rating.elo),
                row.rating.margin,
                percent(score),
                short_percent(as_white),
                short_percent(as_black),
                self.difference(mean_difference),
            );
        }
        text
    }

    /// The table of matches: a header and one line per match.
    pub fn matches_table(&self, width: usize) -> String {
        let names = self.matches.iter().flat_map(|row| [row.first.chars().count(), row.second.chars().count()]);
        let room = name_room(names, width.saturating_sub(MATCH_COLUMNS) / 2);
        let mut text = format!(
            "   {:<room$}   {:<room$} {:>6} {:>6} {:>5} {:>4} {:>9}{}\n",
            "first",
            "second",
            "games",
            "score",
            "elo",
            "±",
            "stronger",
            self.difference_head()
        );
        for row in &self.matches {
            let Scores { games, score, mean_difference, .. } = row.scores;
            let _ = writeln!(
                text,
                "   {:<room$} – {:<room$} {games:>6} {} {} {:>4.0} {:>9}{}",
                shortened(&row.first, room),
                shortened(&row.second, room),
                percent(score),
                elo(row.elo.elo),
                row.elo.margin,
                likelihood(row.superiority),
                self.difference(mean_difference),
            );
        }
        text
    }

    /// Whether the game has points, so that its games end with a difference.
    fn has_points(&self) -> bool {
        self.matches.iter().any(|row| row.scores.mean_difference.is_some())
    }

    /// The head of the column of differences, if the game has points.
    fn difference_head(&self) -> &'static str {
        if self.has_points() { "  diff" } else { "" }
    }

    /// A cell of that column.
    fn difference(&self, mean: Option<f64>) -> String {
        if self.has_points() { format!(" {}", difference(mean)) } else { String::new() }
    }

    /// The whole report.
    pub fn to_text(&self, width: usize) -> String {
        let mut text = self.headline() + "\n\n";
        text.push_str(&self.agents_table(width));
        text.push('\n');
        if self.lists_matches() {
            text.push_str(&self.matches_table(width));
            text.push('\n');
        }
        text.push_str(&self.mistakes_table(width));
        for note in self.notes() {
            text.push_str(&note);
            text.push('\n');
        }
        text
    }

    /// Whether the text has a table of matches. In a round robin of many agents it would be too long.
    fn lists_matches(&self) -> bool {
        self.matches.len() <= 2 * self.agents.len()
    }

    /// The mistakes of every agent, by ply and by force. Empty if no exact tables judged.
    fn mistakes_table(&self, width: usize) -> String {
        if !self.conditions.judged {
            return String::new();
        }
        let names = self.agents.iter().map(|row| row.name.chars().count());
        let room = name_room(names, width.saturating_sub(MISTAKE_COLUMNS)).max("mistakes".len());
        let mut text = format!("   {:<room$} {:>8} {:>8} {:>9}\n", "mistakes", "per game", "number", "decisions");
        for row in &self.agents {
            let Some(mistakes) = &row.mistakes else { continue };
            let games = f64::from(row.scores.games.max(1));
            let mut line = |what: &str, count: u32, known: &str| {
                let per_game = f64::from(count) / games;
                let _ = writeln!(text, "   {what:<room$} {per_game:>8.3} {count:>8} {known:>9}");
            };
            let all = mistakes.all;
            line(&shortened(&row.name, room), all.mistakes, &all.known.to_string());
            line("  games with any", mistakes.games, "");
            let mut part = |what: String, decisions: Decisions| {
                line(&what, decisions.mistakes, &decisions.known.to_string());
            };
            for PlyRange { from, to, decisions } in &mistakes.by_ply {
                let to = to.map_or_else(|| "on".to_owned(), |to| format!("to {to}"));
                part(format!("  from ply {from} {to}"), *decisions);
            }
            for AtForce { force, decisions } in &mistakes.by_force {
                part(format!("  at force {force}"), *decisions);
            }
        }
        text + "\n"
    }

    /// The conditions of the tournament in one line.
    fn headline(&self) -> String {
        let conditions = &self.conditions;
        let matches = match self.matches.len() {
            1 => "1 match".to_owned(),
            count => format!("{count} matches"),
        };
        let mut line = format!(
            "{}: {matches} of {} games, openings: {}, seed {}",
            conditions.game, conditions.games_per_match, conditions.openings, conditions.seed
        );
        if let Some(nodes) = conditions.budget.nodes {
            let _ = write!(line, ", {nodes} nodes per move");
        }
        if let Some(time) = conditions.budget.movetime_ms {
            let _ = write!(line, ", {time} ms per move");
        }
        line
    }

    /// Notes below the tables, one sentence per line.
    fn notes(&self) -> Vec<String> {
        let mut notes = vec![match &self.anchor {
            Some(anchor) => format!("Ratings are relative to {} = {}.", anchor.agent, anchor.elo),
            None => "Ratings are relative to the mean of the agents.".to_owned(),
        }];
        notes.push("± is half the 95% interval, computed from opening pairs.".into());
        if !self.lists_matches() {
            let count = self.matches.len();
            notes.push(format!("The {count} matches are left out; the JSON report has them."));
        }
        if let [row] = &self.matches[..] {
            let [worst, bad, even, good, best] = row.pairs;
            notes.push(format!(
                "Of the opening pairs, {} won {}, lost {} and tied {even}.",
                row.first,
                good + best,
                worst + bad,
            ));
        }
        if self.games > 0 {
            notes.push(format!(
                "White scored {}; equal agents would draw {} of their games.",
                percent(self.white_score).trim_start(),
                percent(self.draws_between_equals).trim_start()
            ));
        }
        if self.truncated > 0 {
            notes.push(format!("Truncated by the move limit and drawn: {}.", counted(self.truncated, "game")));
        }
        if self.repeated_pairs > 0 {
            notes.push(format!(
                "Repeated move for move and counted once in elo and ±: {}.",
                counted(self.repeated_pairs, "pair")
            ));
        }
        if self.conditions.judged {
            notes.push("A mistake turns a win into a draw or a loss, or a draw into a loss, by the tables.".into());
        }
        if let Some(state) = &self.sprt {
            let test = state.test;
            let ratio = format!("log-likelihood ratio {:.2}, bounds ±{:.2}", state.log_likelihood_ratio, state.bound);
            let (elo0, elo1) = (test.elo0, test.elo1);
            let conclusion = match state.conclusion {
                Conclusion::Elo1 => format!("{elo1} Elo rather than {elo0},"),
                Conclusion::Elo0 => format!("{elo0} Elo rather than {elo1},"),
                Conclusion::Undecided => format!("undecided between {elo0} and {elo1} Elo"),
            };
            notes.push(format!("Sequential test: {conclusion} after {} games ({ratio}).", state.games));
        }
        notes
    }
}

/// A rating with its sign, five characters wide.
fn elo(elo: f64) -> String {
    match elo.round() {
        0.0 => format!("{:>5}", 0),
        rounded => format!("{rounded:>+5.0}"),
    }
}

/// A dash that replaces a missing number, five characters wide.
fn nothing() -> String {
    format!("{:>5}", "–")
}

/// A percentage, six characters wide: `100.0%`.
fn percent(share: f64) -> String {
    format!("{:>5.1}%", 100.0 * share)
}

/// A point difference with its sign, five characters wide.
fn difference(mean: Option<f64>) -> String {
    match mean.map(|mean| (10.0 * mean).round() / 10.0) {
        None => nothing(),
        Some(0.0) => format!("{:>5}", "0.0"),
        Some(mean) => format!("{mean:>+5.1}"),
    }
}

fn counted(count: u32, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// The score as a percentage, five characters wide: ` 100%`.
fn short_percent(results: Results) -> String {
    match results.games() {
        0 => nothing(),
        _ => format!("{:>4.0}%", 100.0 * results.score()),
    }
}

/// A probability, which is never printed as 0% or 100%.
fn likelihood(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 99.95 {
        "> 99.9%".to_owned()
    } else if percent < 0.05 {
        "< 0.1%".to_owned()
    } else {
        format!("{percent:.1}%")
    }
}

/// The width of the column of names: that of the longest name, or less if there is not enough room.
fn name_room(lengths: impl Iterator<Item = usize>, room: usize) -> usize {
    lengths.max().unwrap_or(0).clamp("second".len(), room.max(NARROWEST_NAME))
}

/// A name that fits into `room`. If it is too long, its middle is left out, because names differ at their start and
/// end.
fn shortened(name: &str, room: usize) -> String {
    let length = name.chars().count();
    if length <= room {
        return name.to_owned();
    }
    let head = (room - 1) / 3;
    let tail = room - 1 - head;
    let start: String = name.chars().take(head).collect();
    let end: String = name.chars().skip(length - tail).collect();
    format!("{start}…{end}")
}
