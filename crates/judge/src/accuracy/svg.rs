//! A picture of where results are lost: a curve for each number of simulations, over force or ply.

use super::report::Accuracy;
use super::tally::Stage;
use crate::plot::{BOTTOM, GREY, INK, LEFT, PLOT, Point, Scale, Svg, TOP, WIDTH, room};

/// The fraction of critical decisions that were wrong, over the stages of the game, as SVG. Each accuracy has a curve
/// with a label and 95% intervals. Only the [large stages](Accuracy::large_stages) are drawn.
pub fn draw_stages<P>(title: &str, curves: &[(String, &Accuracy<P>)]) -> String {
    let mut picture = Svg::default();
    let shares = |accuracy: &Accuracy<P>| -> Vec<(Stage, f64, f64)> {
        let stages = accuracy.large_stages();
        stages
            .map(|(stage, tally)| (stage, tally.critical_wrong()))
            .map(|(stage, (wrong, error))| (stage, 100.0 * wrong, 100.0 * error))
            .collect()
    };
    let shares: Vec<_> = curves.iter().map(|(_, accuracy)| shares(accuracy)).collect();
    let all = || shares.iter().flatten();
    let stages = || all().map(|(stage, ..)| f64::from(stage.number));
    let (first, last) = stages().fold((f64::INFINITY, 0.0_f64), |(low, high), stage| (low.min(stage), high.max(stage)));
    let highest = all().fold(1.0, |high: f64, (_, wrong, error)| high.max(wrong + error));
    let right = WIDTH - 24.0 - room(curves.iter().map(|(label, _)| label.as_str()));
    let bottom = TOP + PLOT;
    let along =
        Scale { values: (first.min(last), last.max(first.min(last) + 1.0)), places: (LEFT + 10.0, right - 10.0) };
    let up = Scale { values: (0.0, 1.05 * highest), places: (bottom, TOP) };
    let unit = all().next().map_or("", |(stage, ..)| stage.unit);
    let mut ticks = along.ticks(40.0);
    ticks.retain(|tick| tick.fract() == 0.0);
    picture.axes((&up, " %"), (&along, &ticks, unit), right);
    picture.text((LEFT, TOP - 10.0), "critical decisions wrong, with 95% intervals", "start", GREY, 12);
    let drawn = shares.iter().zip(curves).enumerate().map(|(index, (shares, (label, _)))| {
        // The curves are shifted sideways a little, so that their intervals do not overlap.
        let aside = 3.0 * (index as f64 - 0.5 * (curves.len() - 1) as f64);
        let point = |&(stage, wrong, error): &(Stage, f64, f64)| Point {
            x: along.at(f64::from(stage.number)) + aside,
            y: up.at(wrong),
            interval: (up.at(wrong - error), up.at(wrong + error)),
        };
        (label.as_str(), shares.iter().map(point).collect())
    });
    picture.curves(right, drawn, Vec::new());
    picture.text((LEFT, 30.0), title, "start", INK, 17);
    picture.finish(bottom + BOTTOM)
}
