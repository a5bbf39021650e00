//! The contents of an agent file, and its network's output for a position, as text and JSON.

use std::fmt;

use serde::Serialize;

use super::{AgentFile, AgentHeader, FeatureBatch, FrozenNet, KernelKind, Logits, Network, softmax};
use crate::encode::Encode;
use crate::game::Mask;

/// The contents of an agent file.
#[derive(Clone, Debug, Serialize)]
pub struct Inspection {
    header: AgentHeader,
    parameters: usize,
    tensors: Vec<TensorLine>,
    /// The output of its network for a position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<NetOutput>,
}

#[derive(Clone, Debug, Serialize)]
struct TensorLine {
    name: String,
    dims: Vec<usize>,
    mean: f32,
    deviation: f32, // from the mean, root mean square
}

/// The output of a network for one position, computed with the portable kernel.
#[derive(Clone, Debug, Serialize)]
pub struct NetOutput {
    position: String,
    features: Vec<u32>,
    policy_logits: Vec<f32>, // by action index, unmasked
    result_logits: Vec<f32>,
    score_logits: Vec<f32>,
    /// The legal actions with their probabilities, likeliest first.
    pub policy: Vec<(String, f32)>,
    /// The chances of the player to move: win, draw, loss.
    pub result: Vec<f32>,
}

impl Inspection {
    /// Lists the contents of a file.
    pub fn new(file: &AgentFile) -> Inspection {
        let tensors = file.weights().tensors().iter().map(|(name, tensor)| {
            let count = tensor.data.len() as f32;
            let mean = tensor.data.iter().sum::<f32>() / count;
            let square = |number: &f32| (number - mean) * (number - mean);
            TensorLine {
                name: name.clone(),
                dims: tensor.dims.clone(),
                mean,
                deviation: (tensor.data.iter().map(square).sum::<f32>() / count).sqrt(),
            }
        });
        Inspection {
            header: file.header().clone(),
            parameters: file.weights().parameters(),
            tensors: tensors.collect(),
            output: None,
        }
    }
}

impl NetOutput {
    /// Evaluates a position of the network's game.
    pub fn new<G: Encode>(file: &AgentFile, game: &G, position: &G::Position) -> NetOutput {
        let mut batch = FeatureBatch::new();
        batch.push(game, position);
        let mut net = FrozenNet::with_kernel(file.weights(), KernelKind::Portable);
        let mut logits = Logits::new(*net.shape());
        net.evaluate(&batch, &mut logits);
        let legal = game.legal(position);
        let actions: Vec<_> = legal.iter().collect();
        let mut policy: Vec<f32> = actions.iter().map(|action| logits.policy(0)[action.index()]).collect();
        softmax(&mut policy);
        let texts = actions.iter().map(|&action| game.action_text(position, action));
        let mut policy: Vec<(String, f32)> = texts.zip(policy).collect();
        policy.sort_by(|left, right| right.1.total_cmp(&left.1));
        let mut result = logits.result(0).to_vec();
        softmax(&mut result);
        NetOutput {
            position: game.position_text(position),
            features: batch.row(0).to_vec(),
            policy_logits: logits.policy(0).to_vec(),
            result_logits: logits.result(0).to_vec(),
            score_logits: logits.score(0).to_vec(),
            policy,
            result,
        }
    }
}

/// Texts of the header are escaped, so that they cannot control a terminal.
impl fmt::Display for Inspection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = &self.header;
        let version = &header.version;
        writeln!(
            out,
            "{}, rules version {}, encoder version {}",
            version.game.escape_debug(),
            version.rules_version,
            version.encoder_version
        )?;
        if !version.board.is_empty() {
            writeln!(out, "board: {}", version.board.escape_debug())?;
        }
        writeln!(
            out,
            "network: {}, {} parameters, {} features in, {} actions out",
            header.net, self.parameters, version.shape.features, version.shape.actions
        )?;
        let from = &header.provenance;
        let run = if from.run.is_empty() { "no run" } else { &from.run };
        writeln!(
            out,
            "from: {}, {}, seed {}, step {}, {} games",
            from.program.escape_debug(),
            run.escape_debug(),
            from.seed,
            from.step,
            from.games
        )?;
        for result in &header.results {
            writeln!(
                out,
                "result: {} against {}: {} won, {} drawn, {} lost",
                result.settings.escape_debug(),
                result.opponent.escape_debug(),
                result.wins,
                result.draws,
                result.losses
            )?;
        }
        for tensor in &self.tensors {
            writeln!(
                out,
                "tensor {:24} {:16} mean {:+.5}, deviation {:.5}",
                tensor.name,
                format!("{:?}", tensor.dims),
                tensor.mean,
                tensor.deviation
            )?;
        }
        if let Some(output) = &self.output {
            writeln!(out, "position: {}", output.position)?;
            let [win, draw, loss] = [0, 1, 2].map(|index| 100.0 * output.result[index]);
            writeln!(out, "the player to move wins {win:.1} %, draws {draw:.1} %, loses {loss:.1} %")?;
            for (action, share) in &output.policy {
                writeln!(out, "{action:>8} {:5.1} %", 100.0 * share)?;
            }
        }
        Ok(())
    }
}
