//! The report of a tournament: ratings, scores and matches, as JSON and CSV. Also reads results back from such a
//! report.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::mistakes::{MistakeRow, Mistakes};
use super::rating::{Estimate, Fit};
use super::sprt::PairCounts;
use super::standings::{Anchor, BoutTally, Checkpoint, Conditions, Results, Sides, SprtState, Standings};
use crate::JudgeError;
use jarmo_core::agent::AgentSpec;
use jarmo_core::game::shorten;
use jarmo_core::net::MatchResult;

/// The results of a tournament.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The conditions of the tournament.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// The number of games that count: only those of complete pairs.
    pub games: u32,
    /// The planned number of games.
    pub planned_games: u32,
    /// The agent with a fixed rating. Without one, the mean rating is 0.
    pub anchor: Option<Anchor>,
    /// One row per agent, strongest first.
    pub agents: Vec<AgentRow>,
    /// One row per match, in the order in which the agents were given.
    pub matches: Vec<MatchRow>,
    /// Points per game of White.
    pub white_score: f64,
    /// The estimated fraction of draws between equal agents.
    pub draws_between_equals: f64,
    /// The number of games that were truncated by the move limit. They count as draws.
    pub truncated: u32,
    /// The number of pairs that repeat an earlier pair of their match move for move.
    pub repeated_pairs: u32,
    /// The sequential test, if there was one.
    pub sprt: Option<SprtState>,
}

/// The row of an agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentRow {
    /// The agent's name.
    pub name: String,
    /// Which checkpoint it is, if it is one.
    pub checkpoint: Option<Checkpoint>,
    /// The rating with its 95% interval.
    pub rating: Estimate,
    /// The probability that it is stronger than the agent in the next row.
    pub stronger_than_next: Option<f64>,
    /// Its results.
    #[serde(flatten)]
    pub scores: Scores,
    /// Its mistakes; `None` unless exact tables judged the games.
    pub mistakes: Option<MistakeRow>,
}

/// The results of two agents against each other, from the first one's point of view.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatchRow {
    /// The name of the first agent.
    pub first: String,
    /// The name of the second agent.
    pub second: String,
    /// The difference in Elo, from the fit to all matches of the tournament.
    pub elo: Estimate,
    /// The probability that the first agent is stronger.
    pub superiority: f64,
    /// The first agent's results.
    #[serde(flatten)]
    pub scores: Scores,
    /// The number of pairs in which the first agent got 0, 1, 2, 3 and 4 half points, without repeated pairs.
    pub pairs: PairCounts,
}

/// The results of an agent in some games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scores {
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
    /// The mean point difference at the end of the game; `None` for games without points.
    pub mean_difference: Option<f64>,
}

impl Report {
    /// Makes the report of these standings.
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
            let [white, black] = tally.sides.results;
            all.merge(white);
            all.merge(black.flip());
            all
        });
        let match_row = |tally: &BoutTally| {
            let elo = fit.difference(tally.first, tally.second);
            MatchRow {
                first: standings.entrants[tally.first].name.clone(),
                second: standings.entrants[tally.second].name.clone(),
                elo,
                superiority: elo.above_zero(),
                scores: Scores::of(tally.sides),
                pairs: tally.pairs,
            }
        };
        let count = |of: fn(&BoutTally) -> u32| standings.tallies.iter().map(of).sum();
        Report {
            conditions: standings.conditions.clone(),
            games: standings.games(),
            planned_games: standings.planned_games(),
            anchor: standings.anchor.clone(),
            agents: agents.into_iter().map(|(_, row)| row).collect(),
            matches: standings.tallies.iter().map(match_row).collect(),
            white_score: white.score(),
            draws_between_equals: fit.draws_between_equals,
            truncated: count(|tally| tally.truncated),
            repeated_pairs: count(|tally| tally.repeated),
            sprt: standings.sprt,
        }
    }

    /// The rows of the agents as CSV, with a header line.
    pub fn to_csv(&self) -> String {
        let mut csv = "agent,run,step,elo,elo_low,elo_high,games,wins,draws,losses,score,\
            white_wins,white_draws,white_losses,black_wins,black_draws,black_losses,\
            mean_difference,mistakes_per_game\n"
            .to_owned();
        for row in &self.agents {
            let (low, high) = row.rating.interval();
            let results = |Results { wins, draws, losses }| format!("{wins},{draws},{losses}");
            let scores = &row.scores;
            let [all, white, black] = [scores.results, scores.as_white, scores.as_black].map(results);
            let (run, step) = row
                .checkpoint
                .as_ref()
                .map_or_else(Default::default, |checkpoint| (quoted(&checkpoint.run), checkpoint.step.to_string()));
            let difference = scores.mean_difference.map_or(String::new(), |mean| format!("{mean:.3}"));
            let mistakes = row.mistakes.as_ref();
            let mistakes = mistakes.map_or(String::new(), |mistakes| format!("{:.3}", mistakes.per_game));
            writeln!(
                csv,
                "{},{run},{step},{:.1},{low:.1},{high:.1},{},{all},{:.4},{white},{black},{difference},{mistakes}",
                quoted(&row.name),
                row.rating.elo,
                scores.games,
                scores.score,
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
    let (mut sides, mut mistakes) = (Sides::default(), Mistakes::default());
    for tally in &standings.tallies {
        if tally.first == agent {
            sides.merge(tally.sides);
            mistakes.merge(&tally.mistakes[0]);
        } else if tally.second == agent {
            sides.merge(tally.sides.flip());
            mistakes.merge(&tally.mistakes[1]);
        }
    }
    let scores = Scores::of(sides);
    AgentRow {
        name: entrant.name.clone(),
        checkpoint: entrant.checkpoint.clone(),
        rating,
        stronger_than_next: None,
        mistakes: standings.conditions.judged.then(|| MistakeRow::new(&mistakes, scores.games)),
        scores,
    }
}

impl Scores {
    fn of(sides: Sides) -> Scores {
        let results = sides.all();
        let [as_white, as_black] = sides.results;
        let mean = || sides.difference as f64 / f64::from(sides.scored_games);
        Scores {
            games: results.games(),
            results,
            score: results.score(),
            as_white,
            as_black,
            mean_difference: (sides.scored_games > 0).then(mean),
        }
    }
}

/// A field of a CSV file, in quotes if it needs them.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[derive(Deserialize)]
struct ReportJson {
    game: String,
    agents: Vec<AgentJson>,
    matches: Vec<MatchJson>,
}

#[derive(Deserialize)]
struct AgentJson {
    name: String,
    checkpoint: Option<Checkpoint>,
}

#[derive(Deserialize)]
struct MatchJson {
    first: String,
    second: String,
    wins: u64,
    draws: u64,
    losses: u64,
}

/// The matches of the first agent in a tournament's JSON report, for the header of an agent file. Fails if they cannot be
/// those of an agent of this game and this training step.
pub fn read_results(json: &str, game: &str, step: u64) -> Result<Vec<MatchResult>, JudgeError> {
    let report: ReportJson = serde_json::from_str(json)
        .map_err(|error| JudgeError::new(format!("not a tournament's report in JSON: {error}")))?;
    let Some(agent) = report.matches.first().map(|played| played.first.clone()) else {
        return Err(JudgeError::new("it contains no matches"));
    };
    if report.game != game {
        return Err(JudgeError::new(format!("its games are of {}, and the agent plays {game}", shorten(&report.game))));
    }
    let row = report.agents.iter().find(|row| row.name == agent);
    match row.and_then(|row| row.checkpoint.as_ref()) {
        Some(checkpoint) if checkpoint.step != step => {
            let other = checkpoint.step;
            return Err(JudgeError::new(format!("its first agent is of step {other}, and this agent of step {step}")));
        }
        None if agent.parse().is_ok_and(|spec| !matches!(spec, AgentSpec::Network(..))) => {
            let agent = shorten(&agent);
            return Err(JudgeError::new(format!(
                "its first agent is {agent}, which has no file; give it as the second"
            )));
        }
        _ => {}
    }
    let settings = agent.split_once('?').map_or("", |(_, settings)| settings);
    let results = report.matches.into_iter().filter(|played| played.first == agent).map(|played| MatchResult {
        settings: settings.to_owned(),
        opponent: played.second,
        wins: played.wins,
        draws: played.draws,
        losses: played.losses,
    });
    Ok(results.collect())
}
