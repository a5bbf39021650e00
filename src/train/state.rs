//! The learner as a file: everything that the next step depends on, bit by bit.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::adam::Adam;
use super::learner::{Learner, LearnerConfig, Numbers};
use crate::net::{NetConfig, NetShape};

/// The version of the file. Goes up when an older program would misread it.
const FORMAT: u32 = 1;

const KEY: &str = "jarmo_learner"; // of the header in the metadata

/// The four numbers that are kept for every weight.
const PARTS: [&str; 4] = ["weights", "average", "first", "second"];

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    net: NetConfig,
    shape: NetShape,
    steps: u64,
}

/// A file that holds no learner, or another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnerFileError(String);

impl fmt::Display for LearnerFileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for LearnerFileError {}

impl Learner {
    /// Everything that the next step depends on, but for the settings.
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = Header {
            format: FORMAT,
            net: self.net,
            shape: self.shape,
            steps: self.adam.steps,
        };
        let header = serde_json::to_string(&header).expect("a header is plain data");
        let parts = [
            &self.weights,
            &self.average,
            &self.adam.first,
            &self.adam.second,
        ];
        let mut bytes: Vec<(String, Vec<u8>)> = Vec::new();
        for (part, numbers) in PARTS.iter().zip(parts) {
            for (name, data) in numbers {
                let data = data.iter().flat_map(|number| number.to_le_bytes());
                bytes.push((format!("{part}/{name}"), data.collect()));
            }
        }
        let views = bytes.iter().map(|(name, data)| {
            let view = TensorView::new(Dtype::F32, vec![data.len() / 4], data);
            (name, view.expect("four bytes for every number"))
        });
        let metadata = HashMap::from([(KEY.to_owned(), header)]);
        safetensors::serialize(views, Some(metadata)).expect("tensors with different names")
    }

    /// A learner as it was when its bytes were written, with these settings.
    pub fn from_bytes(config: LearnerConfig, bytes: &[u8]) -> Result<Learner, LearnerFileError> {
        let broken = |error: safetensors::SafeTensorError| {
            LearnerFileError(format!("not a whole safetensors file: {error}"))
        };
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let text = metadata
            .metadata()
            .as_ref()
            .and_then(|metadata| metadata.get(KEY))
            .ok_or_else(|| LearnerFileError("it holds no learner".to_owned()))?;
        let header: Header = serde_json::from_str(text)
            .map_err(|error| LearnerFileError(format!("broken header: {error}")))?;
        if header.format != FORMAT {
            return Err(LearnerFileError(format!(
                "learner format {}, this program reads {FORMAT}; resume with the version that wrote it",
                header.format
            )));
        }
        header
            .net
            .validate()
            .and_then(|()| header.shape.validate())
            .map_err(|error| LearnerFileError(error.to_string()))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(broken)?;
        let [weights, average, first, second] =
            PARTS.map(|part| read_part(&tensors, part, &header));
        let adam = Adam {
            first: first?,
            second: second?,
            steps: header.steps,
        };
        Ok(Learner::from_parts(
            config,
            (header.net, header.shape),
            weights?,
            average?,
            adam,
        ))
    }
}

/// One of the four parts, every tensor of the architecture in it and all numbers finite.
fn read_part(
    tensors: &SafeTensors<'_>,
    part: &str,
    header: &Header,
) -> Result<Numbers, LearnerFileError> {
    let mut numbers = BTreeMap::new();
    for plan in header.net.tensors(&header.shape) {
        let name = format!("{part}/{}", plan.name);
        let view = tensors
            .tensor(&name)
            .map_err(|error| LearnerFileError(format!("tensor `{name}`: {error}")))?;
        let size: usize = plan.dims.iter().product();
        let data = view.data().as_chunks::<4>().0;
        let data: Vec<f32> = data
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        if view.dtype() != Dtype::F32 || data.len() != size {
            return Err(LearnerFileError(format!(
                "tensor `{name}` has {} numbers; a network {} needs {size}",
                data.len(),
                header.net
            )));
        }
        if data.iter().any(|number| !number.is_finite()) {
            return Err(LearnerFileError(format!(
                "tensor `{name}` holds a number that is not finite"
            )));
        }
        numbers.insert(plan.name, data);
    }
    Ok(numbers)
}
