//! The report of a tournament: ratings, scores and matches, for JSON and CSV.

use std::fmt::Write;

use serde::Serialize;

use super::mistakes::{MistakeRow, Mistakes};
use super::rating::{Estimate, Fit};
use super::sprt::PairCounts;
use super::standings::{Anchor, BoutTally, Checkpoint, Conditions, Results, SprtState, Standings};
use jarmo_core::game::Player;

/// The results of a tournament.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The conditions of the tournament.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// Games that count: those of complete pairs.
    pub games: u32,
    /// The planned number of games.
    pub planned_games: u32,
    /// The agent with a fixed rating; without it the mean rating is 0.
    pub anchor: Option<Anchor>,
    /// One row per agent, strongest first.
    pub agents: Vec<AgentRow>,
    /// One row per match, in the order in which the agents were named.
    pub matches: Vec<MatchRow>,
    /// White's points per game.
    pub white_score: f64,
    /// The estimated share of draws between equal agents.
    pub draws_between_equals: f64,
    /// Games truncated by the limit on their length; they count as draws.
    pub truncated: u32,
    /// Pairs that repeat an earlier one of their match move for move.
    pub repeated_pairs: u32,
    /// The sequential test, if there was one.
    pub sprt: Option<SprtState>,
}

/// An agent's row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentRow {
    /// The agent's name.
    pub name: String,
    /// Which checkpoint it is, if it is one.
    pub checkpoint: Option<Checkpoint>,
    /// The rating, with its 95 % interval.
    pub rating: Estimate,
    /// The probability that it is stronger than the agent of the next row.
    pub stronger_than_next: Option<f64>,
    /// The number of games.
    pub games: u32,
    /// The results of all games.
    #[serde(flatten)]
    pub results: Results,
    /// Points per game.
    pub score: f64,
    /// The results as White.
    pub as_white: Results,
    /// The results as Black.
    pub as_black: Results,
    /// The mean score difference at the end of the game; `None` for games without points.
    pub mean_difference: Option<f64>,
    /// Its mistakes; `None` unless exact tables judge.
    pub mistakes: Option<MistakeRow>,
}

/// The results of two agents against each other, for the first of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatchRow {
    /// The name of the first agent.
    pub first: String,
    /// The name of the second agent.
    pub second: String,
    /// The difference in Elo, from the fit to all matches.
    pub elo: Estimate,
    /// The probability that the first agent is stronger.
    pub superiority: f64,
    /// The number of games.
    pub games: u32,
    /// The results of all games.
    #[serde(flatten)]
    pub results: Results,
    /// Points per game.
    pub score: f64,
    /// The results as White.
    pub as_white: Results,
    /// The results as Black.
    pub as_black: Results,
    /// Pairs by the half points of the first agent, 0 to 4, without repetitions.
    pub pairs: PairCounts,
    /// The mean score difference at the end of the game; `None` for games without points.
    pub mean_difference: Option<f64>,
}

impl Report {
    /// The report of these standings.
    pub fn new(standings: &Standings) -> Report {
        let fit = standings.fit();
        let mut agents: Vec<(usize, AgentRow)> =
            (0..standings.entrants.len()).map(|agent| (agent, agent_row(standings, &fit, agent))).collect();
        agents.sort_by(|(_, a), (_, b)| b.rating.elo.total_cmp(&a.rating.elo));
        for rank in 1..agents.len() {
            let (upper, lower) = (agents[rank - 1].0, agents[rank].0);
            agents[rank - 1].1.stronger_than_next = Some(fit.difference(upper, lower).above_zero());
        }
        let white: Results = standings.tallies.iter().fold(Results::default(), |mut all, tally| {
            all.merge(tally.by_side[Player::White.index()]);
            all.merge(tally.by_side[Player::Black.index()].flip());
            all
        });
        let count = |of: fn(&BoutTally) -> u32| standings.tallies.iter().map(of).sum();
        Report {
            conditions: standings.conditions.clone(),
            games: standings.games(),
            planned_games: standings.planned_games(),
            anchor: standings.anchor.clone(),
            agents: agents.into_iter().map(|(_, row)| row).collect(),
            matches: standings.tallies.iter().map(|tally| match_row(standings, &fit, tally)).collect(),
            white_score: white.score(),
            draws_between_equals: fit.draws_between_equals(),
            truncated: count(|tally| tally.truncated),
            repeated_pairs: count(|tally| tally.repeated),
            sprt: standings.sprt(),
        }
    }

    /// The agents' rows as CSV with a header line.
    pub fn to_csv(&self) -> String {
        let mut csv = "agent,run,step,elo,elo_low,elo_high,games,wins,draws,losses,score,\
            white_wins,white_draws,white_losses,black_wins,black_draws,black_losses,\
            mean_difference,mistakes_per_game\n"
            .to_owned();
        for row in &self.agents {
            let (low, high) = row.rating.interval();
            let results = |Results { wins, draws, losses }| format!("{wins},{draws},{losses}");
            let [all, white, black] = [row.results, row.as_white, row.as_black].map(results);
            let (run, step) = row
                .checkpoint
                .as_ref()
                .map_or_else(Default::default, |checkpoint| (quoted(&checkpoint.run), checkpoint.step.to_string()));
            let difference = row.mean_difference.map_or(String::new(), |mean| format!("{mean:.3}"));
            let mistakes = row.mistakes.as_ref();
            let mistakes = mistakes.map_or(String::new(), |mistakes| format!("{:.3}", mistakes.per_game));
            writeln!(
                csv,
                "{},{run},{step},{:.1},{low:.1},{high:.1},{},{all},{:.4},{white},{black},{difference},{mistakes}",
                quoted(&row.name),
                row.rating.elo,
                row.games,
                row.score,
            )
            .expect("writing to a string cannot fail");
        }
        csv
    }
}

fn agent_row(standings: &Standings, fit: &Fit, agent: usize) -> AgentRow {
    let entrant = &standings.entrants[agent];
    let anchor = standings.anchor.as_ref();
    let fixed = anchor.and_then(|anchor| anchor.among(&standings.entrants));
    let rating = fit.rating(agent, fixed);
    let mut by_side = [Results::default(); 2];
    let (mut difference, mut scored_games) = (0, 0);
    let mut mistakes = Mistakes::default();
    for tally in &standings.tallies {
        if tally.first == agent {
            by_side[0].merge(tally.by_side[0]);
            by_side[1].merge(tally.by_side[1]);
            difference += tally.score_difference;
            mistakes.merge(&tally.mistakes[0]);
        } else if tally.second == agent {
            by_side[0].merge(tally.by_side[1].flip());
            by_side[1].merge(tally.by_side[0].flip());
            difference -= tally.score_difference;
            mistakes.merge(&tally.mistakes[1]);
        } else {
            continue;
        }
        scored_games += tally.scored_games;
    }
    let mut results = by_side[0];
    results.merge(by_side[1]);
    AgentRow {
        name: entrant.name.clone(),
        checkpoint: entrant.checkpoint.clone(),
        rating,
        stronger_than_next: None,
        games: results.games(),
        results,
        score: results.score(),
        as_white: by_side[0],
        as_black: by_side[1],
        mean_difference: mean(difference, scored_games),
        mistakes: standings.conditions.judged.then(|| MistakeRow::new(&mistakes, results.games())),
    }
}

fn match_row(standings: &Standings, fit: &Fit, tally: &BoutTally) -> MatchRow {
    let elo = fit.difference(tally.first, tally.second);
    MatchRow {
        first: standings.entrants[tally.first].name.clone(),
        second: standings.entrants[tally.second].name.clone(),
        elo,
        superiority: elo.above_zero(),
        games: tally.results().games(),
        results: tally.results(),
        score: tally.results().score(),
        as_white: tally.by_side[0],
        as_black: tally.by_side[1],
        pairs: tally.pairs,
        mean_difference: mean(tally.score_difference, tally.scored_games),
    }
}

fn mean(sum: i64, count: u32) -> Option<f64> {
    (count > 0).then(|| sum as f64 / f64::from(count))
}

/// A CSV field, quoted where it must be.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
