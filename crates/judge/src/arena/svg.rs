//! The ratings as a picture: curves over training if there are checkpoints, otherwise one row per agent.

use super::report::{AgentRow, Report};
use crate::plot::{BOTTOM, COLOURS, GREY, INK, LEFT, PALE, PLOT, Point, Scale, Svg, TOP, WIDTH, number, room};

/// The height of one row.
const ROW: f64 = 30.0;

/// The horizontal axis of curves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Over {
    /// Training steps.
    #[default]
    Steps,
    /// Hours of CPU time. Checkpoints whose CPU time is unknown are left out.
    ProcessorTime,
}

impl Report {
    /// The ratings as SVG with 95% intervals. If there are checkpoints, each run has a curve over its training, and
    /// each other agent a horizontal line. Otherwise each agent has a row.
    pub fn to_svg(&self, title: &str, over: Over) -> String {
        let mut picture = Svg::default();
        let mut runs: Vec<&str> = Vec::new();
        for row in &self.agents {
            if let Some(checkpoint) = &row.checkpoint
                && !runs.contains(&checkpoint.run.as_str())
            {
                runs.push(&checkpoint.run);
            }
        }
        runs.sort_unstable();
        let height = if runs.is_empty() {
            rows(&mut picture, &self.agents);
            TOP + ROW * self.agents.len() as f64 + BOTTOM
        } else {
            curves(&mut picture, &self.agents, &runs, over);
            TOP + PLOT + BOTTOM
        };
        picture.text((LEFT, 30.0), title, "start", INK, 17);
        picture.finish(height)
    }
}

/// One row per agent, with its rating and interval.
fn rows(picture: &mut Svg, agents: &[AgentRow]) {
    let left = (24.0 + room(agents.iter().map(|row| row.name.as_str()))).clamp(LEFT, WIDTH / 2.0);
    let scale = around(agents, (left, WIDTH - 30.0));
    let bottom = TOP + ROW * agents.len() as f64;
    for tick in scale.ticks(100.0) {
        let x = scale.at(tick);
        picture.line((x, TOP - 6.0), (x, bottom), PALE, 1.0);
        picture.text((x, bottom + 20.0), &number(tick), "middle", GREY, 12);
    }
    let middle = 0.5 * (left + WIDTH - 30.0);
    picture.text((middle, bottom + 42.0), "Elo, with 95% intervals", "middle", GREY, 12);
    for (index, row) in agents.iter().enumerate() {
        let y = TOP + ROW * (index as f64 + 0.5);
        let (low, high) = row.rating.interval();
        picture.text((left - 12.0, y + 4.0), &row.name, "end", INK, 12);
        picture.line((scale.at(low), y), (scale.at(high), y), COLOURS[0], 2.0);
        picture.dot((scale.at(row.rating.elo), y), COLOURS[0]);
    }
}

/// One curve per run over its training, and a horizontal line for each other agent.
fn curves(picture: &mut Svg, agents: &[AgentRow], runs: &[&str], over: Over) {
    let others: Vec<&AgentRow> = agents.iter().filter(|row| row.checkpoint.is_none()).collect();
    let labels = others.iter().map(|row| row.name.as_str()).chain(runs.iter().copied());
    let right = (WIDTH - 24.0 - room(labels)).max(WIDTH / 2.0);
    let bottom = TOP + PLOT;
    let elo = around(agents, (bottom, TOP));
    let progress = |row: &AgentRow| progress(row, over);
    let last = agents.iter().filter_map(progress).fold(0.0, f64::max);
    let steps = Scale { values: (0.0, if last > 0.0 { last } else { 1.0 }), places: (LEFT, right) };
    let axis = match over {
        Over::Steps => "training step",
        Over::ProcessorTime => "hours of CPU time",
    };
    picture.axes((&elo, ""), (&steps, &steps.ticks(110.0), axis), right);
    picture.text((LEFT - 8.0, TOP - 10.0), "Elo", "end", GREY, 12);
    let mut labels = Vec::new();
    for row in others {
        let y = elo.at(row.rating.elo);
        let (low, high) = row.rating.interval();
        picture.band((LEFT, right), (elo.at(high), elo.at(low)));
        picture.stroke((LEFT, y), (right, y), GREY, format_args!(r#"stroke-dasharray="6 4""#));
        labels.push((y, row.name.as_str(), GREY));
    }
    let drawn = runs.iter().map(|&run| {
        let of_run = |row: &&AgentRow| row.checkpoint.as_ref().is_some_and(|c| c.run == run);
        let point = |row: &AgentRow| {
            let (low, high) = row.rating.interval();
            let x = steps.at(progress(row)?);
            Some(Point { x, y: elo.at(row.rating.elo), interval: (elo.at(low), elo.at(high)) })
        };
        let mut points: Vec<Point> = agents.iter().filter(of_run).filter_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        (run, points)
    });
    picture.curves(right, drawn, labels);
}

/// How far the run had come at a checkpoint, on the horizontal axis.
fn progress(row: &AgentRow, over: Over) -> Option<f64> {
    let checkpoint = row.checkpoint.as_ref()?;
    match over {
        Over::Steps => Some(checkpoint.step as f64),
        Over::ProcessorTime => checkpoint.cpu_seconds.map(|seconds| seconds as f64 / 3600.0),
    }
}

/// A scale that includes all intervals, except the ends of very wide ones.
fn around(agents: &[AgentRow], places: (f64, f64)) -> Scale {
    let span = |of: fn(&AgentRow) -> (f64, f64)| {
        agents.iter().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (l, h)| (low.min(l), high.max(h)))
    };
    let (low, high) = span(|row| (row.rating.elo, row.rating.elo));
    let (lowest, highest) = span(|row| row.rating.interval());
    let most = 0.5 * (high - low).max(100.0);
    let (low, high) = (lowest.max(low - most), highest.min(high + most));
    let margin = 0.04 * (high - low).max(10.0);
    Scale { values: (low - margin, high + margin), places }
}
