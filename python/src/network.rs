//! Networks as plain arrays: those of agent files, and agent files from networks that were trained elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jarmo_core::agent::FILE_ENDING;
use jarmo_core::net::{AgentFile, NetSettings, Provenance, Tensor, Weights};
use jarmo_facade::AnyGame;
use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::readable;
use crate::game::PyGame;
use crate::number;
use crate::refusal::Checked;

type Tensors = BTreeMap<String, Tensor>;

/// Writes an agent file, whose name must have the ending by which specs know it.
pub(crate) fn write(file: &AgentFile, path: &Path) -> Checked<()> {
    if !path.to_string_lossy().ends_with(FILE_ENDING) {
        return Err(format!("{}: the name of an agent file must end in {FILE_ENDING}", path.display()).into());
    }
    Ok(jarmo_host::agent_file::save(file, path)?)
}

fn save(game: &dyn AnyGame, path: &Path, mut tensors: Tensors, provenance: Provenance) -> Checked<()> {
    let version = game.facts().version.clone();
    let (all, without_threats) = (version.shape.features, game.facts().feature_shape(1, false).iter().product());
    if let Some(stem) = tensors.get_mut("stem.weight")
        && stem.dims.first() == Some(&without_threats)
    {
        stem.data.resize(stem.data.len() / without_threats * all, 0.0);
        stem.dims[0] = all;
    }
    let stem = tensors.get("stem.bias");
    let width = stem.ok_or("tensor `stem.bias` is missing")?.data.len();
    let blocks = tensors.keys().filter(|name| name.starts_with("blocks.") && name.ends_with(".bias"));
    let config = NetSettings { width, blocks: blocks.count() };
    let weights = Weights::new(config, version.shape, tensors)?;
    weights.check_range()?;
    let file = AgentFile::of_version(version, weights, provenance, Vec::new());
    write(&file, path)
}

/// Writes a network as an agent file, which ``jarmo.Agent``, ``jarmo arena`` and ``play`` accept.
///
/// With ``x`` the features of a position with threats, ``[inputs]``, and ``L.weight`` of shape ``[inputs, outputs]``,
/// the network is ``h = relu(x @ stem.weight + stem.bias)``, then ``h = relu(h + h @ blocks.I.weight + blocks.I.bias)``
/// for I from 0, and linear heads: ``policy`` (a logit per action), ``result`` (logits of win, draw and loss of the
/// player to move) and, in games with points, ``score`` (a logit for each point difference). The width is a multiple of
/// 32. A network without threats has fewer rows in ``stem.weight``; zeros take their place. docs/formats.md has more.
///
/// Args:
///     path: The file, whose name ends in ``.safetensors``.
///     game: A game or its name.
///     tensors: ``float32`` arrays by name.
///     run: A name for where it comes from.
///     seed: The seed of the training.
///     step: Training steps.
///     games: Self-play games.
#[pyfunction]
#[pyo3(signature = (path, game, tensors, *, run="", seed=0, step=0, games=0))]
pub(crate) fn save_agent(
    path: PathBuf,
    game: PyGame,
    tensors: &Bound<'_, PyDict>,
    run: &str,
    #[pyo3(from_py_with = number::SEED)] seed: u64,
    #[pyo3(from_py_with = number::STEP)] step: u64,
    #[pyo3(from_py_with = number::GAMES_PLAYED)] games: u64,
) -> PyResult<()> {
    let mut all = Tensors::new();
    for (name, array) in tensors.iter() {
        let name: String = name.extract()?;
        let array = array
            .cast::<PyArrayDyn<f32>>()
            .map_err(|_| PyTypeError::new_err(format!("tensors[{name:?}] must be an array of float32")))?;
        let dims = array.shape().to_vec();
        let data = readable(array)?.as_array().iter().copied().collect();
        all.insert(name, Tensor { dims, data });
    }
    let provenance = Provenance {
        program: format!("jarmo {} from Python", jarmo_host::program::VERSION),
        run: run.to_owned(),
        seed,
        step,
        games,
    };
    Ok(save(&*game.0, &path, all, provenance)?)
}
